//! The time of a track without gaps: every moment of a range has a stack.

use std::ops::Range;

use eventlog::ids::{Duration, Nanos};
use model::profile::samples::Samples;
use model::profile::stacks::StackId;
use model::profile::{Profile, Track};
use model::time::Interval;

/// A stretch of time with one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// For how long.
    pub(super) duration: Duration,
    /// What ran.
    pub(super) stack: StackId,
    /// Whether it is a sample that counts in the range, not a gap or a part
    /// of one that ends later.
    pub(super) counts: bool,
}

/// The stretches of a track, by time, as the time order shows them: a gap is
/// idle time, but one that is no more than the timer's jitter belongs to the
/// sample at its end. Together they are as long as the range. The place in the
/// track is all that is kept of it from one to the next.
#[derive(Clone, Debug)]
pub(super) struct Stretches {
    range: Interval,
    jitter: Duration,
    /// The samples still to come.
    samples: Range<usize>,
    /// When the sample before the next one ends.
    previous_end: Option<Nanos>,
    /// Up to where the range is told.
    at: Nanos,
    /// What comes after a gap.
    next: Option<(Nanos, StackId, bool)>,
}

impl Stretches {
    pub(super) fn new(profile: &Profile, track: &Track, range: Interval) -> Self {
        Self {
            range,
            jitter: profile.jitter(track),
            samples: around(&track.samples, range),
            previous_end: None,
            at: range.start(),
            next: None,
        }
    }

    /// Goes on to `to`; nothing if that is where it is.
    fn stretch(&mut self, to: Nanos, stack: StackId, counts: bool) -> Option<Stretch> {
        let duration = to.since(self.at);
        self.at = self.at.max(to);
        (duration > Duration::ZERO).then_some(Stretch {
            duration,
            stack,
            counts,
        })
    }

    /// What a sample adds: the gap before it, if it is a pause, or else itself.
    fn sample(&mut self, profile: &Profile, track: &Track, index: usize) -> Option<Stretch> {
        let (span, stack) = track.samples.get(index)?;
        let before = self.previous_end.replace(span.end());
        if span.end() <= self.range.start() {
            return None;
        }
        let first = before.is_none() && index == 0;
        let pause = first || before.is_some_and(|before| span.start().since(before) > self.jitter);
        let start = self.range.nearest(span.start());
        let end = span.end().min(self.range.end());
        let counts = span.start() < span.end() && span.end() <= self.range.end();
        let idle = profile.idle_stack;
        if pause && let Some(gap) = self.stretch(start, idle, false) {
            self.next = Some((end, stack, counts));
            return Some(gap);
        }
        self.stretch(end, stack, counts)
    }

    /// The next one; profile and track are those that this was made for.
    pub(super) fn next(&mut self, profile: &Profile, track: &Track) -> Option<Stretch> {
        if let Some((to, stack, counts)) = self.next.take()
            && let Some(stretch) = self.stretch(to, stack, counts)
        {
            return Some(stretch);
        }
        while let Some(index) = self.samples.next() {
            if let Some(stretch) = self.sample(profile, track, index) {
                return Some(stretch);
            }
        }
        self.stretch(self.range.end(), profile.idle_stack, false)
    }
}

/// The samples of a range, with the one before and the one after: how they
/// lie tells whether a gap is a pause.
fn around(samples: &Samples, range: Interval) -> Range<usize> {
    let touching = samples.touching(range);
    touching.start.saturating_sub(1)..(touching.end + 1).min(samples.len())
}
