//! A profile: who was seen where, when, for how long.

use serde::{Deserialize, Serialize};

use super::frames::{FrameId, Frames};
use super::stacks::{StackId, Stacks};
use crate::automata::Span;
use crate::ids::{CapId, Nanos, OsThreadId};

/// Everything that a log tells about where time went.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The functions.
    pub frames: Frames,
    /// The stacks made of them.
    pub stacks: Stacks,
    /// The frame `IDLE`, which fills gaps.
    pub idle: FrameId,
    /// The stack of `IDLE` alone.
    pub idle_stack: StackId,
    /// Capabilities by number, then OS threads by number, then the calls of
    /// which the OS thread is not known.
    pub tracks: Vec<Track>,
    /// How often the runtime takes a sample (`ProfBegin`), if the log says so.
    pub tick_interval: Option<Nanos>,
    /// From the first sample to the end of the log.
    pub span: Span,
}

impl Profile {
    /// The runtime's default for profiled programs (`+RTS -V0.001`).
    pub const DEFAULT_TICK: Nanos = Nanos(1_000_000);

    /// Up to which length a gap between the samples of `track` is no more than
    /// the timer's jitter: under two ticks. Foreign calls have exact times.
    #[must_use]
    pub fn jitter(&self, track: &Track) -> Nanos {
        let tick = self.tick_interval.unwrap_or(Self::DEFAULT_TICK);
        match track.source {
            TrackSource::Capability(_) => Nanos(tick.0.saturating_mul(2).saturating_sub(1)),
            TrackSource::OsThread(_) | TrackSource::UnknownThread { .. } => Nanos(0),
        }
    }

    /// The label of a frame, to sort by.
    pub(super) fn label(&self, frame: FrameId) -> (&str, &str) {
        let frame = self.frames.get(frame);
        frame.map_or(("", ""), |frame| (&frame.label, &frame.module))
    }
}

/// Whose time a track shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TrackSource {
    /// The cost-centre samples of a capability.
    Capability(CapId),
    /// The announced foreign calls of an OS thread.
    OsThread(OsThreadId),
    /// Announced foreign calls of unknown OS threads. Calls at the same time
    /// cannot be one thread's: they are on different lanes, from 0.
    UnknownThread {
        /// Which.
        lane: u32,
    },
}

impl std::fmt::Display for TrackSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Capability(cap) => write!(f, "Capability {cap}"),
            Self::OsThread(thread) => write!(f, "OS thread {thread}"),
            Self::UnknownThread { lane: 0 } => f.write_str("Unknown OS thread"),
            Self::UnknownThread { lane } => write!(f, "Unknown OS thread ({})", lane + 1),
        }
    }
}

/// Samples of one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track {
    /// Whose.
    pub source: TrackSource,
    /// The samples.
    pub samples: Samples,
    /// Which of them the end of the log cut off: foreign calls without a
    /// `STOP`. Ascending.
    pub open: Vec<u32>,
}

/// Samples in columns, sorted by time; no two overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// When each begins.
    pub start: Vec<Nanos>,
    /// How long it lasts.
    pub duration: Vec<Nanos>,
    /// What ran.
    pub stack: Vec<StackId>,
}

impl Samples {
    /// Appends a sample; what lies before the end of the one before is cut off.
    pub(super) fn push(&mut self, span: Span, stack: StackId) {
        let start = span.start.max(self.end());
        self.start.push(start);
        self.duration.push(span.end.since(start));
        self.stack.push(stack);
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// When the last one ends.
    #[must_use]
    pub fn end(&self) -> Nanos {
        let last = self.start.last().zip(self.duration.last());
        last.map_or(Nanos(0), |(start, duration)| Nanos(start.0 + duration.0))
    }

    /// From the first to the last.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        let &start = self.start.first()?;
        Some(Span::new(start, self.end()))
    }

    /// The samples that have a part in `range`, cut to it. A sample counts
    /// in the range in which it ends: that is where the tick was.
    pub fn in_range(&self, range: Span) -> impl Iterator<Item = Sample> + '_ {
        let from = self.start.partition_point(|&start| start < range.start);
        // The one before may reach into the range.
        let from = from.saturating_sub(1);
        let to = self.start.partition_point(|&start| start < range.end);
        (from..to.max(from)).filter_map(move |index| self.cut(index, range))
    }

    /// The samples that touch `range`, with the one before and the one after.
    #[must_use]
    pub fn indices_around(&self, range: Span) -> std::ops::Range<usize> {
        let from = self.start.partition_point(|&start| start < range.start);
        let to = self.start.partition_point(|&start| start < range.end);
        from.saturating_sub(2)..(to + 1).min(self.len())
    }

    /// When a sample was, and what ran.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<(Span, StackId)> {
        let (&start, &duration) = self.start.get(index).zip(self.duration.get(index))?;
        let end = Nanos(start.0.saturating_add(duration.0));
        Some((Span::new(start, end), *self.stack.get(index)?))
    }

    fn cut(&self, index: usize, range: Span) -> Option<Sample> {
        let (whole, stack) = self.get(index)?;
        let span = Span::new(whole.start.max(range.start), whole.end.min(range.end));
        (span.start < span.end).then_some(Sample {
            span,
            stack,
            ends: whole.end <= range.end,
        })
    }
}

/// A sample, or the part of one that lies in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub span: Span,
    /// What ran.
    pub stack: StackId,
    /// Whether it ends in the range, and so counts there.
    pub ends: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span::new(Nanos(start), Nanos(end))
    }

    #[test]
    fn samples_never_overlap() {
        let mut samples = Samples::default();
        samples.push(span(0, 10), StackId(1));
        samples.push(span(8, 18), StackId(2));
        samples.push(span(3, 5), StackId(3));
        assert_eq!(samples.start, [Nanos(0), Nanos(10), Nanos(18)]);
        assert_eq!(samples.duration, [Nanos(10), Nanos(8), Nanos(0)]);
    }

    #[test]
    fn a_sample_is_cut_at_the_range_and_counts_once() {
        let mut samples = Samples::default();
        samples.push(span(0, 10), StackId(1));
        samples.push(span(10, 20), StackId(2));
        let early: Vec<Sample> = samples.in_range(span(0, 15)).collect();
        let late: Vec<Sample> = samples.in_range(span(15, 99)).collect();
        assert_eq!(early.len(), 2);
        assert_eq!((early[1].span, early[1].ends), (span(10, 15), false));
        assert_eq!(late.len(), 1);
        assert_eq!((late[0].span, late[0].ends), (span(15, 20), true));
        assert_eq!(samples.in_range(span(20, 20)).count(), 0);
        assert_eq!(samples.in_range(span(9, 3)).count(), 0);
    }
}
