//! View state of the ticky counter table: its order and its filter.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ys` | sort column, with `.up` or `.down` if not in its default direction | `entries`, `name.down` |
//! | `yq` | filter | `kind:thunk entries>1000` |

use super::panel::table_settings;
use crate::columns::sorted_again;
use analysis::ticky::TickyColumn;

/// Settings of the table; part of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickyView {
    /// Filter in the syntax of [`analysis::ticky::Filter`]; empty for all counters.
    pub filter: String,
    /// Sort column.
    pub sort: TickyColumn,
    /// Whether the largest values come first.
    pub descending: bool,
}

impl Default for TickyView {
    fn default() -> Self {
        Self::sorted_by(TickyColumn::default())
    }
}

impl TickyView {
    /// Returns settings without a filter, sorted by a column in its default direction.
    pub const fn sorted_by(sort: TickyColumn) -> Self {
        Self {
            filter: String::new(),
            sort,
            descending: sort.largest_first(),
        }
    }

    /// Returns the settings after a click on a column: sorted by it, or in reverse if it was the sort column
    /// already.
    pub fn sorted_again(&self, sort: TickyColumn) -> Self {
        let order = (self.sort, self.descending);
        let (sort, descending) = sorted_again(order, sort, sort.largest_first());
        Self {
            filter: self.filter.clone(),
            sort,
            descending,
        }
    }
}

table_settings!(TickyView, TickyColumn::from_name, ["ys", "yq"]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::panel::{PanelSettings, ParseResult, read_back};

    #[test]
    fn what_a_link_says_is_read_as_it_was_written() {
        for sort in TickyColumn::ALL {
            for descending in [false, true] {
                let view = TickyView {
                    filter: "kind:thunk entries>1000 \"a b\"".to_owned(),
                    sort,
                    descending,
                };
                assert_eq!(read_back::<TickyView>(view.write()), view);
            }
        }
        let mut view = TickyView::sorted_by(TickyColumn::Name);
        assert_eq!(view.read("ys", "colour.up"), ParseResult::Unsupported);
        assert_eq!(view, TickyView::default());
        assert_eq!(view.read("ys", ""), ParseResult::Invalid);
        assert_eq!(view.read("xx", "name"), ParseResult::UnknownKey);
    }

    #[test]
    fn a_second_click_turns_the_order_round() {
        let by_entries = TickyView::default().sorted_again(TickyColumn::Entries);
        assert!(by_entries.descending);
        assert!(!by_entries.sorted_again(TickyColumn::Entries).descending);
        assert!(!by_entries.sorted_again(TickyColumn::Name).descending);
    }
}
