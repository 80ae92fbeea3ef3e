//! View state of the findings panel: the open finding, and which of its places was visited.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `io` | the open finding | `long-pause`, `lock-convoy:worker-#` |
//! | `ip` | the visited place of it | `1200u50` |
//! | `is` | the subject at that place | `thread12`, `cap0`, `gc31` |
//! | `iw` | the range that was analyzed, if not the whole log | `1s2` |

use super::panel::{PanelSettings, ParseResult};
use eventlog::ids::{CapId, ThreadId};
use insight::finding::{Evidence, Subject};
use model::time::Interval;
use session::link_text::{cut, escape_text, read_range, unescape, write_range};

/// Settings of the findings panel; part of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingsView {
    /// Identity of the open finding; empty if none is open.
    pub open: String,
    /// Visited place of the open finding.
    pub place: Option<Interval>,
    /// Subject at that place.
    pub subject: Option<Subject>,
    /// Range in which the finding was found; the whole log if `None`.
    pub within: Option<Interval>,
}

/// Formats a subject for a link.
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
    /// Returns settings with this finding open.
    pub fn opened(open: String) -> Self {
        Self {
            open,
            ..Self::default()
        }
    }

    /// Opens a finding, or closes it if it is open.
    pub fn toggled(&self, finding: &str) -> Self {
        let open = if self.open == finding { "" } else { finding };
        Self {
            open: open.to_owned(),
            ..self.clone()
        }
    }

    /// Returns settings for a visited place of a finding that was found in a range, or in the whole log.
    pub fn visited(finding: String, place: &Evidence, within: Option<Interval>) -> Self {
        Self {
            open: finding,
            place: Some(place.range),
            subject: place.subjects.first().copied(),
            within,
        }
    }

    /// Returns the subject of the place, if the place is selected.
    pub fn subject(&self, selected: Option<Interval>) -> Option<Subject> {
        self.subject.filter(|_| self.is_at_place(selected))
    }

    /// Returns the thread of the place, if the place is selected.
    pub fn thread(&self, selected: Option<Interval>) -> Option<ThreadId> {
        match self.subject(selected)? {
            Subject::Thread(thread) => Some(thread),
            _ => None,
        }
    }

    /// Returns whether the selection is the visited place of the open finding.
    pub fn is_at_place(&self, selected: Option<Interval>) -> bool {
        self.place.is_some() && self.place == selected
    }

    /// Returns the range to analyze: the selected one. If that is the visited place of a finding, the range in
    /// which the finding was found, so that the finding stays visible.
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

    fn read(&mut self, key: &str, raw: &str) -> ParseResult {
        let Some(value) = unescape(raw).filter(|_| ["io", "ip", "is", "iw"].contains(&key)) else {
            return ParseResult::UnknownKey;
        };
        if key == "io" {
            self.open = cut(&value).to_owned();
            return ParseResult::Applied;
        }
        if key == "is" {
            self.subject = read_subject(&value);
            return self
                .subject
                .map_or(ParseResult::Unsupported, |_| ParseResult::Applied);
        }
        let Some(range) = read_range(&value) else {
            return ParseResult::Invalid;
        };
        let place = if key == "ip" {
            &mut self.place
        } else {
            &mut self.within
        };
        *place = Some(range);
        ParseResult::Applied
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
            let view = FindingsView::visited("lock-convoy:a b #".to_owned(), &place, within);
            let mut pairs = view.write();
            if reversed {
                pairs.reverse();
            }
            assert_eq!(read_back::<FindingsView>(pairs), view);
        }
        let mut view = FindingsView::default();
        assert_eq!(view.read("ip", "soon"), ParseResult::Invalid);
        assert_eq!(view.read("is", "lock7"), ParseResult::Unsupported);
        assert_eq!(view.read("xx", "1s1"), ParseResult::UnknownKey);
        assert_eq!(view, FindingsView::default());
    }

    #[test]
    fn a_place_is_seen_with_its_finding_and_any_other_range_by_itself() {
        let (all, at, other) = (range(0, 100), range(10, 20), range(10, 30));
        let of = place(at, &[Subject::Thread(ThreadId(7))]);
        let view = FindingsView::visited("long-pause".to_owned(), &of, Some(all));
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
