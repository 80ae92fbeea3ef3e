//! View state of the thread table: its order and its filter.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ts` | sort column, with `.up` or `.down` if not in its default direction | `ready`, `label.down` |
//! | `tq` | filter | `worker` |

use super::panel::{PanelSettings, ParseResult, read_table, write_order};
use analysis::timeline::thread_table::{ThreadColumn, ThreadTableSettings};
use session::link_text::{escape_text, read_order};

impl PanelSettings for ThreadTableSettings {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        let (order, name) = ((self.sort, self.descending), ThreadColumn::name);
        let sort = write_order(order, name, ThreadColumn::largest_first);
        vec![("ts", sort), ("tq", escape_text(&self.filter))]
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
