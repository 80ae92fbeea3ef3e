//! Comparison of two logs: their roles, and the alignment of their times.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::link_text::cut;
use analysis::recording::Recording;
use analysis::timeline::messages::MessageKind;
use analysis::yielder::Yield;
use eventlog::hash::SeededSet;
use eventlog::ids::Nanos;
use model::sorting::CompactCollect;
use model::time::Interval;

model::named_enum! {
    /// Role of a log in a comparison.
    #[derive(Hash)]
    pub enum Role {
        /// The baseline, to which the other log is compared.
        Before: "Before", "before";
        /// The log that is compared with the baseline.
        After: "After", "after";
    }
    /// Returns the capitalized name, such as `Before`.
    fn title;
    /// Returns the lowercase name, such as `before`.
    fn name;
}

impl Role {
    /// Returns the role of the other log.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Before => Self::After,
            Self::After => Self::Before,
        }
    }
}

/// Kind of event at which two logs are aligned.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Alignment {
    /// Start of the log.
    #[default]
    Start,
    /// First marker (`traceMarker`) with that text.
    Marker(String),
    /// Start of the first user span with that name.
    Span(String),
}

impl Alignment {
    /// Formats the alignment for links: `m` or `s`, a colon and the name; empty for the start.
    pub fn to_text(&self) -> String {
        match self {
            Self::Start => String::new(),
            Self::Marker(name) => format!("m:{name}"),
            Self::Span(name) => format!("s:{name}"),
        }
    }

    /// Parses the output of [`to_text`](Self::to_text).
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None => text.is_empty().then_some(Self::Start),
            Some((_, "")) => None,
            Some(("m", name)) => Some(Self::Marker(name.to_owned())),
            Some(("s", name)) => Some(Self::Span(name.to_owned())),
            Some(_) => None,
        }
    }

    /// Returns a description for display.
    pub fn words(&self) -> String {
        match self {
            Self::Start => "start of the log".to_owned(),
            Self::Marker(name) => format!("marker “{name}”"),
            Self::Span(name) => format!("span “{name}”"),
        }
    }
}

/// Candidate for an alignment, with its time in one log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// Alignment that the anchor stands for.
    pub alignment: Alignment,
    /// Time of the first occurrence.
    pub time: Nanos,
}

/// Maximum number of anchors of each kind; a menu has no use for more.
const MAX_ANCHORS: usize = 500;
/// Messages between two yields.
const MESSAGES_PER_YIELD: usize = 1 << 14;

/// Returns the anchors of a log other than its start: user spans and markers by name, each at its first
/// occurrence.
pub async fn anchors(recording: &Recording, yielder: &dyn Yield) -> Vec<Anchor> {
    let spans = recording.tracks.spans.listed().iter();
    let mut anchors: Vec<Anchor> = spans
        .filter_map(|listed| {
            Some(Anchor {
                alignment: Alignment::Span(cut(&listed.info.name).to_owned()),
                time: Nanos(listed.spans.first()?.start),
            })
        })
        .take(MAX_ANCHORS)
        .collect();
    let messages = &recording.messages;
    let mut known = SeededSet::default();
    for index in 0..messages.len() {
        if index % MESSAGES_PER_YIELD == 0 {
            yielder.yield_if_due().await;
        }
        let marker = messages
            .get(index)
            .filter(|message| message.kind == MessageKind::Marker && !message.text.is_empty());
        let Some(marker) = marker else { continue };
        let text = cut(&marker.text).to_owned();
        if known.len() < MAX_ANCHORS && known.insert(text.clone()) {
            anchors.push(Anchor {
                alignment: Alignment::Marker(text),
                time: marker.time,
            });
        }
    }
    anchors
}

/// Returns the alignments that both logs have, in the order of the first.
pub fn common_alignments(one: &[Anchor], other: &[Anchor]) -> Vec<Alignment> {
    let there: BTreeSet<&Alignment> = other.iter().map(|anchor| &anchor.alignment).collect_small();
    let both = one.iter().map(|anchor| &anchor.alignment);
    both.filter(|at| there.contains(at)).cloned().collect()
}

/// Offset in nanoseconds that converts a time of one log into the aligned time of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shift(i64);

impl Shift {
    /// Returns the offset from one time to another, saturating.
    pub fn between(from: Nanos, to: Nanos) -> Self {
        let ns = i128::from(to.0) - i128::from(from.0);
        Self(ns.clamp(i128::from(i64::MIN + 1), i128::from(i64::MAX)) as i64)
    }

    /// Returns the offset in nanoseconds.
    pub const fn ns(self) -> i64 {
        self.0
    }

    /// Returns the inverse offset.
    #[must_use]
    pub const fn inverse(self) -> Self {
        // `between` never produces `i64::MIN`.
        Self(-self.0)
    }

    /// Converts a time; returns `None` if the result would be negative.
    pub const fn time(self, time: Nanos) -> Option<Nanos> {
        match time.0.checked_add_signed(self.0) {
            Some(time) => Some(Nanos(time)),
            None => None,
        }
    }

    /// Converts a range and clips it to the other log; returns `None` if they do not overlap.
    pub fn range(self, range: Interval, log: Interval) -> Option<Interval> {
        let end = self.time(range.end())?;
        let start = self.time(range.start()).unwrap_or(Nanos(0));
        Interval::new(start, end).intersection(log)
    }
}

/// Returns the offset between two logs at an alignment. If one of them lacks it, their starts are aligned.
pub fn shift(
    alignment: &Alignment,
    one: (Interval, &[Anchor]),
    other: (Interval, &[Anchor]),
) -> Shift {
    let place = |(_, anchors): (Interval, &[Anchor])| {
        let found = anchors.iter().find(|anchor| anchor.alignment == *alignment);
        found.map(|anchor| anchor.time)
    };
    match (place(one), place(other)) {
        (Some(from), Some(to)) => Shift::between(from, to),
        _ => Shift::between(one.0.start(), other.0.start()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn span(start: u64, end: u64) -> Interval {
        Interval::new(Nanos(start), Nanos(end))
    }

    fn marker(name: &str, time: u64) -> Anchor {
        Anchor {
            alignment: Alignment::Marker(name.to_owned()),
            time: Nanos(time),
        }
    }

    #[test]
    fn logs_are_aligned_at_what_both_have_and_else_at_their_starts() {
        let (one, other) = (
            [marker("warm", 30), marker("own", 5)],
            [marker("warm", 100)],
        );
        let logs = ((span(10, 90), &one[..]), (span(20, 400), &other[..]));
        let at = |name: &str| shift(&Alignment::Marker(name.to_owned()), logs.0, logs.1);
        assert_eq!(at("warm").ns(), 70);
        assert_eq!(at("own").ns(), 10, "only one has it");
        assert_eq!(shift(&Alignment::Start, logs.0, logs.1).ns(), 10);
        assert_eq!(common_alignments(&one, &other), [one[0].alignment.clone()]);
        assert_eq!(
            shift(&one[0].alignment, logs.1, logs.0),
            at("warm").inverse()
        );
    }

    #[test]
    fn a_range_is_cut_where_the_other_log_ends() {
        let to = Shift::between(Nanos(50), Nanos(20));
        assert_eq!(to.range(span(60, 80), span(0, 100)), Some(span(30, 50)));
        assert_eq!(to.range(span(10, 40), span(0, 100)), Some(span(0, 10)));
        assert_eq!(to.range(span(10, 30), span(0, 100)), None);
        assert_eq!(to.range(span(90, 500), span(0, 100)), Some(span(60, 100)));
        assert_eq!(to.range(span(200, 500), span(0, 100)), None);
    }

    #[test]
    fn alignments_are_read_as_they_were_written() {
        for at in [
            Alignment::Start,
            Alignment::Marker("a:b".to_owned()),
            Alignment::Span(" ".to_owned()),
        ] {
            assert_eq!(Alignment::parse(&at.to_text()), Some(at));
        }
        for odd in ["m:", "x:y", "warm"] {
            assert_eq!(Alignment::parse(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same_moment(from: u64, to: u64, time: u64) {
            let shift = Shift::between(Nanos(from), Nanos(to));
            if let Some(there) = shift.time(Nanos(time)) {
                prop_assert_eq!(shift.inverse().time(there), Some(Nanos(time)));
            }
        }
    }
}
