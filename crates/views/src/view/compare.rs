//! What the panel that compares two logs keeps in the view.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ca` | where the logs are aligned, if not at their starts: a marker or a span | `m:warm`, `s:request` |
//! | `cs` | sorted by this column, if not by importance; `.up` if the least come first | `before`, `ratio.up` |
//! | `cq` | filter of the numbers | `gc.` |
//! | `cw` | `1` if numbers without a difference are shown too | `1` |
//! | `cc` | the curve that is shown, if not that of the pauses: the name of a span | `request` |

use super::panel::{PanelSettings, Piece};
use session::alignment::Alignment;
use session::link_text::{cut, escape, escape_text, order_words, split_order, unescape};

/// A column of the table by which it can be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareColumn {
    /// What the number is about.
    Name,
    /// It in the log before.
    Before,
    /// It in the log after.
    After,
    /// By how much it is more.
    Change,
    /// How many times as much it is.
    Ratio,
}

impl CompareColumn {
    /// All of them, in their order.
    pub const ALL: [Self; 5] = [
        Self::Name,
        Self::Before,
        Self::After,
        Self::Change,
        Self::Ratio,
    ];

    /// Its name in links.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Before => "before",
            Self::After => "after",
            Self::Change => "change",
            Self::Ratio => "ratio",
        }
    }

    /// Whether the largest come first at first.
    #[must_use]
    pub const fn largest_first(self) -> bool {
        !matches!(self, Self::Name)
    }
}

/// How two logs are compared; a part of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareView {
    /// What stands at the same place in both.
    pub align: Alignment,
    /// By which column the numbers are sorted, and whether the largest come first; by
    /// importance if `None`.
    pub sort: Option<(CompareColumn, bool)>,
    /// What is looked for in their names.
    pub filter: String,
    /// Whether those without a difference are shown too.
    pub is_whole: bool,
    /// The spans whose curve is shown; that of the pauses if empty.
    pub curve: String,
}

impl CompareView {
    /// Sorted by a column; the other way round if it was sorted by that before, and then by
    /// importance again.
    #[must_use]
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
        let (name, direction) = split_order(text);
        let columns = CompareColumn::ALL.into_iter();
        let column = columns.into_iter().find(|column| column.name() == name)?;
        Some((column, direction.unwrap_or(Some(column.largest_first()))?))
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

    fn read(&mut self, key: &str, raw: &str) -> Piece {
        let known = ["ca", "cs", "cq", "cw", "cc"].contains(&key);
        let Some(value) = unescape(raw).filter(|_| known) else {
            return Piece::Foreign;
        };
        let value = cut(&value);
        match key {
            "ca" => match Alignment::parse(value) {
                Some(align) => self.align = align,
                None => return Piece::Newer,
            },
            "cs" => {
                self.sort = Self::read_sort(value);
                if self.sort.is_none() {
                    return Piece::Newer;
                }
            }
            "cq" => value.clone_into(&mut self.filter),
            "cw" => self.is_whole = value == "1",
            _ => value.clone_into(&mut self.curve),
        }
        Piece::Taken
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
        assert_eq!(view.read("cs", "colour"), Piece::Newer);
        assert_eq!(view.read("ca", "z:1"), Piece::Newer);
        assert_eq!(view.read("xx", "1"), Piece::Foreign);
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
