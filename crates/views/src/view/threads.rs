//! View state of the thread table: its order and its filter.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ts` | sort column, with `.up` or `.down` if not in its default direction | `ready`, `label.down` |
//! | `tq` | filter | `worker` |

use super::panel::{PanelSettings, ParseResult};
use analysis::timeline::thread_table::{ThreadColumn, ThreadView};
use session::link_text::{cut, escape_text, order_words, split_order, unescape};

impl PanelSettings for ThreadView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        vec![("ts", write_sort(self)), ("tq", escape_text(&self.filter))]
    }

    fn read(&mut self, key: &str, raw: &str) -> ParseResult {
        let Some(value) = unescape(raw).filter(|_| ["ts", "tq"].contains(&key)) else {
            return ParseResult::UnknownKey;
        };
        if key == "tq" {
            self.filter = cut(&value).to_owned();
            return ParseResult::Applied;
        }
        if value.is_empty() {
            return ParseResult::Invalid;
        }
        // An unknown value may come from a newer version: fall back to the default order.
        let sorted = read_sort(&value);
        let piece = sorted
            .as_ref()
            .map_or(ParseResult::Unsupported, |_| ParseResult::Applied);
        let sorted = sorted.unwrap_or_default();
        (self.sort, self.descending) = (sorted.sort, sorted.descending);
        piece
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

fn read_sort(text: &str) -> Option<ThreadView> {
    let (name, direction) = split_order(text);
    let mut view = ThreadView::sorted_by(ThreadColumn::named(name)?);
    view.descending = direction.unwrap_or(Some(view.descending))?;
    Some(view)
}
