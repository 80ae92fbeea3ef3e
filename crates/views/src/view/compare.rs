//! View state of the panel that compares two logs.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ca` | alignment of the logs, if not at their starts: a marker or a span | `m:warm`, `s:request` |
//! | `cs` | sort column, if not by importance; `.up` for ascending order | `before`, `ratio.up` |
//! | `cq` | filter of the numbers | `gc.` |
//! | `cw` | `1` if numbers without a difference are shown too | `1` |
//! | `cc` | curve, if not that of the pauses: the name of a span | `request` |

use super::panel::{PanelSettings, ParseResult};
use session::alignment::Alignment;
use session::link_text::{cut, escape, escape_text, order_words, read_order, unescape};

model::named_enum! {
    /// Sortable column of the comparison table.
    #[derive(Hash)]
    pub enum CompareColumn: from_name {
        /// Label of the number.
        Name: "name";
        /// Value in the log before.
        Before: "before";
        /// Value in the log after.
        After: "after";
        /// Difference: after minus before.
        Change: "change";
        /// Ratio of after to before.
        Ratio: "ratio";
    }
    /// Returns the name used in links.
    fn name;
}

impl CompareColumn {
    /// Returns whether the first click on the column sorts in descending order.
    pub const fn largest_first(self) -> bool {
        !matches!(self, Self::Name)
    }
}

/// Settings of the comparison; part of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareView {
    /// Event at which the times of both logs are aligned.
    pub align: Alignment,
    /// Sort column and whether the order is descending; by importance if `None`.
    pub sort: Option<(CompareColumn, bool)>,
    /// Filter of the names of the numbers.
    pub filter: String,
    /// Whether numbers without a difference are shown too.
    pub is_whole: bool,
    /// Name of the spans whose curve is shown; empty for the curve of the pauses.
    pub curve: String,
}

impl CompareView {
    /// Returns the settings after a click on a column: sorted by it, then in reverse, then by importance again.
    pub fn sorted_again(&self, column: CompareColumn) -> Self {
        let first = column.largest_first();
        let sort = match self.sort {
            Some((by, descending)) if by == column => {
                (descending == first).then_some((column, !first))
            }
            _ => Some((column, first)),
        };
        Self {
            sort,
            ..self.clone()
        }
    }

    fn read_sort(text: &str) -> Option<(CompareColumn, bool)> {
        read_order(text, CompareColumn::from_name, CompareColumn::largest_first)
    }
}

impl PanelSettings for CompareView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        let sort = self.sort.map(|(column, descending)| {
            escape(&order_words(
                column.name(),
                descending,
                column.largest_first(),
            ))
        });
        vec![
            ("ca", escape_text(&self.align.to_text())),
            ("cs", sort),
            ("cq", escape_text(&self.filter)),
            ("cw", self.is_whole.then(|| "1".to_owned())),
            ("cc", escape_text(&self.curve)),
        ]
    }

    fn read(&mut self, key: &str, raw: &str) -> ParseResult {
        let known = ["ca", "cs", "cq", "cw", "cc"].contains(&key);
        let Some(value) = unescape(raw).filter(|_| known) else {
            return ParseResult::UnknownKey;
        };
        let value = cut(&value);
        match key {
            "ca" => match Alignment::parse(value) {
                Some(align) => self.align = align,
                None => return ParseResult::Unsupported,
            },
            "cs" => {
                self.sort = Self::read_sort(value);
                if self.sort.is_none() {
                    return ParseResult::Unsupported;
                }
            }
            "cq" => value.clone_into(&mut self.filter),
            "cw" => self.is_whole = value == "1",
            _ => value.clone_into(&mut self.curve),
        }
        ParseResult::Applied
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::panel::read_back;

    #[test]
    fn what_a_link_says_is_read_as_it_was_written() {
        for column in CompareColumn::ALL {
            for descending in [false, true] {
                let view = CompareView {
                    align: Alignment::Marker("warm: 1".to_owned()),
                    sort: Some((column, descending)),
                    filter: "gc. +".to_owned(),
                    is_whole: true,
                    curve: "request".to_owned(),
                };
                assert_eq!(read_back::<CompareView>(view.write()), view);
            }
        }
        let mut view = CompareView::default();
        assert_eq!(view.read("cs", "colour"), ParseResult::Unsupported);
        assert_eq!(view.read("ca", "z:1"), ParseResult::Unsupported);
        assert_eq!(view.read("xx", "1"), ParseResult::UnknownKey);
        assert_eq!(view, CompareView::default());
    }

    #[test]
    fn a_third_click_sorts_by_importance_again() {
        let by = |view: &CompareView| view.sorted_again(CompareColumn::Change);
        let view = by(&CompareView::default());
        assert_eq!(view.sort, Some((CompareColumn::Change, true)));
        let view = by(&view);
        assert_eq!(view.sort, Some((CompareColumn::Change, false)));
        assert_eq!(by(&view).sort, None);
    }
}
