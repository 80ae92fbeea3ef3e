//! View state of the thread table: its order and its filter.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ts` | sort column, with `.up` or `.down` if not in its default direction | `ready`, `label.down` |
//! | `tq` | filter | `worker` |

use super::panel::{PanelSettings, ParseResult, read_table};
use analysis::timeline::thread_table::{ThreadColumn, ThreadView};
use session::link_text::{escape_text, order_words, read_order};

impl PanelSettings for ThreadView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        vec![("ts", write_sort(self)), ("tq", escape_text(&self.filter))]
    }

    fn read(&mut self, key: &str, raw: &str) -> ParseResult {
        read_table(["ts", "tq"], (key, raw), &mut self.filter, |words| {
            let order = read_order(words, ThreadColumn::named, ThreadColumn::largest_first);
            let usual = Self::default();
            (self.sort, self.descending) = order.unwrap_or((usual.sort, usual.descending));
            order.is_some()
        })
    }
}

/// Formats the sort column, with its direction if that is not the column's default.
fn write_sort(view: &ThreadView) -> Option<String> {
    let fresh = ThreadView::default();
    if (view.sort, view.descending) == (fresh.sort, fresh.descending) {
        return None;
    }
    let usual = view.sort.largest_first();
    Some(order_words(view.sort.name(), view.descending, usual))
}
