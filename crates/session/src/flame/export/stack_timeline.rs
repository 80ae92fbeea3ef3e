//! Gapless timeline of a track: every instant of a range has a stack.

use std::ops::Range;

use eventlog::ids::{Duration, Nanos};
use model::profile::samples::Samples;
use model::profile::stacks::StackId;
use model::profile::{Profile, Track};
use model::time::Interval;

/// Time interval with one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StackInterval {
    /// Length of the interval.
    pub(super) duration: Duration,
    /// Stack of the interval.
    pub(super) stack: StackId,
    /// Whether the interval is a sample or a part of one, not a gap.
    pub(super) is_sample: bool,
    /// Whether the interval is a sample that counts in the range: not a gap, not part of a sample that ends after
    /// the range, and not a further piece of a span.
    pub(super) counts: bool,
}

/// Intervals of a track in time order, as the time-order layout shows them: a gap is idle time, unless it is
/// within the timer's jitter and then belongs to the sample after it. The intervals fill the range. Only the
/// position in the track is kept between calls.
#[derive(Clone, Debug)]
pub(super) struct StackTimeline {
    range: Interval,
    jitter: Duration,
    /// Indexes of the remaining samples.
    samples: Range<usize>,
    /// End of the sample before the next one.
    previous_end: Option<Nanos>,
    /// Start of the next interval.
    at: Nanos,
    /// Sample that follows the gap just returned: its end, its stack, and whether it counts.
    next: Option<(Nanos, StackId, bool)>,
}

impl StackTimeline {
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

    /// Extends the timeline to `to`; returns `None` if that adds nothing. `counts` says whether a sample counts;
    /// `None` is a gap.
    fn stretch(
        &mut self,
        to: Nanos,
        stack: StackId,
        counts: Option<bool>,
    ) -> Option<StackInterval> {
        let duration = to.since(self.at);
        self.at = self.at.max(to);
        (duration > Duration::ZERO).then_some(StackInterval {
            duration,
            stack,
            is_sample: counts.is_some(),
            counts: counts.unwrap_or(false),
        })
    }

    /// Returns the first interval that a sample adds: the pause before it, if any, or the sample.
    fn sample(&mut self, profile: &Profile, track: &Track, index: usize) -> Option<StackInterval> {
        let (span, stack) = track.samples.get(index)?;
        let before = self.previous_end.replace(span.end());
        if span.end() <= self.range.start() {
            return None;
        }
        let first = before.is_none() && index == 0;
        let pause = first || before.is_some_and(|before| span.start().since(before) > self.jitter);
        let start = self.range.nearest(span.start());
        let end = span.end().min(self.range.end());
        let ends = span.start() < span.end() && span.end() <= self.range.end();
        let counts = ends && track.samples.counts(index);
        let idle = profile.idle_stack;
        if pause && let Some(gap) = self.stretch(start, idle, None) {
            self.next = Some((end, stack, counts));
            return Some(gap);
        }
        self.stretch(end, stack, Some(counts))
    }

    /// Returns the next interval. `profile` and `track` must be those passed to `new`.
    pub(super) fn next(&mut self, profile: &Profile, track: &Track) -> Option<StackInterval> {
        if let Some((to, stack, counts)) = self.next.take()
            && let Some(stretch) = self.stretch(to, stack, Some(counts))
        {
            return Some(stretch);
        }
        while let Some(index) = self.samples.next() {
            if let Some(stretch) = self.sample(profile, track, index) {
                return Some(stretch);
            }
        }
        self.stretch(self.range.end(), profile.idle_stack, None)
    }
}

/// Returns the samples of a range with one on each side, which decide whether a gap is a pause.
fn around(samples: &Samples, range: Interval) -> Range<usize> {
    let touching = samples.overlapping(range);
    touching.start.saturating_sub(1)..(touching.end + 1).min(samples.len())
}
