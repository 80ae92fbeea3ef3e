//! What the table of threads keeps in the view: its order and its filter.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ts` | sorted by this, `.up` or `.down` if not in its usual direction | `ready`, `label.down` |
//! | `tq` | filter | `worker` |

use super::panel::{PanelSettings, Piece};
use analysis::timeline::thread_table::{ThreadColumn, ThreadView};
use session::link_text::{cut, escape_text, order_words, split_order, unescape};

impl PanelSettings for ThreadView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        vec![("ts", write_sort(self)), ("tq", escape_text(&self.filter))]
    }

    fn read(&mut self, key: &str, raw: &str) -> Piece {
        let Some(value) = unescape(raw).filter(|_| ["ts", "tq"].contains(&key)) else {
            return Piece::Foreign;
        };
        if key == "tq" {
            self.filter = cut(&value).to_owned();
            return Piece::Taken;
        }
        if value.is_empty() {
            return Piece::Damaged;
        }
        // A word from the future counts as the usual order.
        let sorted = read_sort(&value);
        let piece = sorted.as_ref().map_or(Piece::Newer, |_| Piece::Taken);
        let sorted = sorted.unwrap_or_default();
        (self.sort, self.descending) = (sorted.sort, sorted.descending);
        piece
    }
}

/// A column, and its direction if that is not the one it has at first.
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
