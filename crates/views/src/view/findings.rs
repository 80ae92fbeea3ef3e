//! What the panel of findings keeps in the view: which finding is open, and which of
//! its places was gone to.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `io` | the open finding | `long-pause`, `lock-convoy:worker-#` |
//! | `ip` | its place that was gone to | `1200u50` |
//! | `is` | what is meant at that place | `thread12`, `cap0`, `gc31` |
//! | `iw` | the range that it was found in, if not in the whole log | `1s2` |

use super::panel::{PanelSettings, Piece};
use eventlog::ids::{CapId, ThreadId};
use insight::finding::{Evidence, Subject};
use model::time::Interval;
use session::link_text::{cut, escape_text, read_range, unescape, write_range};

/// What is open; a part of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingsView {
    /// The open finding, by its identity; empty if none is.
    pub open: String,
    /// The place of it that was gone to.
    pub place: Option<Interval>,
    /// What is meant there.
    pub subject: Option<Subject>,
    /// The range that it was found in; the whole log if `None`.
    pub within: Option<Interval>,
}

/// What is meant, as a link says it.
fn write_subject(subject: Subject) -> String {
    match subject {
        Subject::Thread(thread) => format!("thread{thread}"),
        Subject::Capability(cap) => format!("cap{cap}"),
        Subject::Collection(number) => format!("gc{number}"),
    }
}

fn read_subject(text: &str) -> Option<Subject> {
    let number = |word| text.strip_prefix(word)?.parse::<u32>().ok();
    let thread = number("thread").map(|thread| Subject::Thread(ThreadId(thread)));
    let cap = || Some(Subject::Capability(CapId(number("cap")?.try_into().ok()?)));
    let collection = || number("gc").map(Subject::Collection);
    thread.or_else(cap).or_else(collection)
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
    pub fn gone_to(finding: String, place: &Evidence, within: Option<Interval>) -> Self {
        Self {
            open: finding,
            place: Some(place.range),
            subject: place.subjects.first().copied(),
            within,
        }
    }

    /// What is meant at the place that is selected.
    #[must_use]
    pub fn subject(&self, selected: Option<Interval>) -> Option<Subject> {
        self.subject.filter(|_| self.is_at_place(selected))
    }

    /// The thread that is meant at the place that is selected.
    #[must_use]
    pub fn thread(&self, selected: Option<Interval>) -> Option<ThreadId> {
        match self.subject(selected)? {
            Subject::Thread(thread) => Some(thread),
            _ => None,
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
            ("is", self.subject.map(write_subject)),
            ("iw", self.within.and_then(write_range)),
        ]
    }

    fn read(&mut self, key: &str, raw: &str) -> Piece {
        let Some(value) = unescape(raw).filter(|_| ["io", "ip", "is", "iw"].contains(&key)) else {
            return Piece::Foreign;
        };
        if key == "io" {
            self.open = cut(&value).to_owned();
            return Piece::Taken;
        }
        if key == "is" {
            self.subject = read_subject(&value);
            return self.subject.map_or(Piece::Newer, |_| Piece::Taken);
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
    use crate::view::panel::read_back;
    use eventlog::ids::Nanos;
    use insight::finding::Value;

    fn range(start: u64, end: u64) -> Interval {
        Interval::new(Nanos(start), Nanos(end))
    }

    fn place(range: Interval, subjects: &[Subject]) -> Evidence {
        Evidence {
            range,
            subjects: subjects.to_vec(),
            amount: Value::Count(1),
        }
    }

    #[test]
    fn what_a_link_says_is_read_as_it_was_written_in_any_order() {
        let within = Some(range(1_000, 9_000));
        let subjects = [
            Subject::Thread(ThreadId(12)),
            Subject::Capability(CapId(3)),
            Subject::Collection(31),
        ];
        for (subject, reversed) in subjects.into_iter().zip([false, true, false]) {
            let place = place(range(1_234, 5_678), &[subject]);
            let view = FindingsView::gone_to("lock-convoy:a b #".to_owned(), &place, within);
            let mut pairs = view.write();
            if reversed {
                pairs.reverse();
            }
            assert_eq!(read_back::<FindingsView>(pairs), view);
        }
        let mut view = FindingsView::default();
        assert_eq!(view.read("ip", "soon"), Piece::Damaged);
        assert_eq!(view.read("is", "lock7"), Piece::Newer);
        assert_eq!(view.read("xx", "1s1"), Piece::Foreign);
        assert_eq!(view, FindingsView::default());
    }

    #[test]
    fn a_place_is_seen_with_its_finding_and_any_other_range_by_itself() {
        let (all, at, other) = (range(0, 100), range(10, 20), range(10, 30));
        let of = place(at, &[Subject::Thread(ThreadId(7))]);
        let view = FindingsView::gone_to("long-pause".to_owned(), &of, Some(all));
        assert_eq!(view.thread(Some(at)), Some(ThreadId(7)));
        assert_eq!(view.thread(Some(other)), None);
        let place = at;
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
