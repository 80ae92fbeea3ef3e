//! What the panel of findings keeps in the view: which finding is open, and which of
//! its places was gone to.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `io` | the open finding | `long-pause`, `lock-convoy:worker-#` |
//! | `ip` | its place that was gone to | `1200u50` |
//! | `iw` | the range that it was found in, if not in the whole log | `1s2` |

use super::panel::{PanelSettings, Piece};
use super::text::{cut, escape_text, read_range, unescape, write_range};
use model::time::Interval;

/// What is open; a part of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingsView {
    /// The open finding, by its identity; empty if none is.
    pub open: String,
    /// The place of it that was gone to.
    pub place: Option<Interval>,
    /// The range that it was found in; the whole log if `None`.
    pub within: Option<Interval>,
}

impl FindingsView {
    /// With that finding open.
    #[must_use]
    pub fn opened(open: String) -> Self {
        Self {
            open,
            ..Self::default()
        }
    }

    /// Opens a finding, or closes it if it is the open one.
    #[must_use]
    pub fn toggled(&self, finding: &str) -> Self {
        let open = if self.open == finding { "" } else { finding };
        Self {
            open: open.to_owned(),
            ..self.clone()
        }
    }

    /// Goes to a place of a finding that was found in a range, or in the whole log.
    #[must_use]
    pub fn gone_to(finding: String, place: Interval, within: Option<Interval>) -> Self {
        Self {
            open: finding,
            place: Some(place),
            within,
        }
    }

    /// Whether what is selected is a place of the open finding.
    #[must_use]
    pub fn is_at_place(&self, selected: Option<Interval>) -> bool {
        self.place.is_some() && self.place == selected
    }

    /// What the findings are about: what is selected. A place that a finding led to is
    /// seen with that finding, and not looked at by itself.
    #[must_use]
    pub fn range(&self, selected: Option<Interval>) -> Option<Interval> {
        if self.is_at_place(selected) {
            self.within
        } else {
            selected
        }
    }
}

impl PanelSettings for FindingsView {
    fn write(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("io", escape_text(&self.open)),
            ("ip", self.place.and_then(write_range)),
            ("iw", self.within.and_then(write_range)),
        ]
    }

    fn read(&mut self, key: &str, raw: &str) -> Piece {
        let Some(value) = unescape(raw).filter(|_| ["io", "ip", "iw"].contains(&key)) else {
            return Piece::Foreign;
        };
        if key == "io" {
            self.open = cut(&value).to_owned();
            return Piece::Taken;
        }
        let Some(range) = read_range(&value) else {
            return Piece::Damaged;
        };
        let place = if key == "ip" {
            &mut self.place
        } else {
            &mut self.within
        };
        *place = Some(range);
        Piece::Taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::Nanos;

    fn range(start: u64, end: u64) -> Interval {
        Interval::new(Nanos(start), Nanos(end))
    }

    #[test]
    fn what_a_link_says_is_read_as_it_was_written_in_any_order() {
        let within = Some(range(1_000, 9_000));
        let view =
            FindingsView::gone_to("lock-convoy:a b #".to_owned(), range(1_234, 5_678), within);
        for reversed in [false, true] {
            let mut pairs = view.write();
            if reversed {
                pairs.reverse();
            }
            let mut read = FindingsView::default();
            for (key, value) in pairs {
                assert_eq!(read.read(key, &value.unwrap()), Piece::Taken, "{key}");
            }
            assert_eq!(read, view);
        }
        let mut view = FindingsView::default();
        assert_eq!(view.read("ip", "soon"), Piece::Damaged);
        assert_eq!(view.read("xx", "1s1"), Piece::Foreign);
        assert_eq!(view, FindingsView::default());
    }

    #[test]
    fn a_place_is_seen_with_its_finding_and_any_other_range_by_itself() {
        let (all, place, other) = (range(0, 100), range(10, 20), range(10, 30));
        let view = FindingsView::gone_to("long-pause".to_owned(), place, Some(all));
        assert_eq!(view.range(Some(place)), Some(all));
        assert_eq!(view.range(Some(other)), Some(other));
        assert_eq!(view.range(None), None);
        assert_eq!(FindingsView::default().range(None), None);
        assert_eq!(
            FindingsView::opened(String::new()).range(Some(place)),
            Some(place)
        );
    }

    #[test]
    fn a_second_click_closes_a_finding() {
        let open = FindingsView::default().toggled("a");
        assert_eq!(open.open, "a");
        assert_eq!(open.toggled("b").open, "b");
        assert_eq!(open.toggled("a"), FindingsView::default());
    }
}
