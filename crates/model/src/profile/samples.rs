//! Samples in columns of 16 bytes per sample, and their weights.

use std::sync::OnceLock;

use super::stacks::StackId;
use super::sums::WeightBlocks;
use super::weights::Weight;
use crate::saturating::saturating_u32;
use crate::time::Interval;
use eventlog::ids::{Duration, Nanos};

/// Samples in columns, in time order and without overlap.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// End of each sample.
    end: Vec<Nanos>,
    /// Duration of each sample in nanoseconds; `u32::MAX` marks an entry in `long`.
    duration: Vec<u32>,
    /// Index and duration of samples that last 4.3 s or more.
    long: Vec<(u32, Duration)>,
    /// Stack of each sample.
    stack: Vec<StackId>,
    /// Whether each sample counts; empty if all do.
    counts: Vec<bool>,
    /// Block sums, built on first use.
    sums: OnceLock<WeightBlocks>,
}

impl Samples {
    /// Creates timer samples. Each ends at its tick, and begins at the previous tick, but not more than
    /// `interval` earlier. Sorts the columns if necessary.
    pub fn from_ticks(mut end: Vec<Nanos>, mut stack: Vec<StackId>, interval: Duration) -> Self {
        if !end.is_sorted() {
            let mut both: Vec<_> = end.into_iter().zip(stack).collect();
            both.sort_by_key(|(at, _)| *at);
            (end, stack) = both.into_iter().unzip();
        }
        let mut samples = Self {
            duration: Vec::with_capacity(end.len()),
            stack,
            ..Self::default()
        };
        let mut last = Nanos(0);
        for &at in &end {
            samples.push_duration(at.since((at - interval).max(last)));
            last = at;
        }
        samples.end = end;
        samples
    }

    /// Appends a sample; the part before the end of the previous sample is cut off.
    pub fn push(&mut self, span: Interval, stack: StackId) {
        let last = self.end();
        self.push_duration(span.end().since(span.start().max(last)));
        self.end.push(span.end().max(last).max(span.start()));
        self.stack.push(stack);
        self.sums.take();
    }

    /// Makes only these samples count. The others are further pieces of what one of these ends.
    pub fn count_only(&mut self, indices: impl IntoIterator<Item = usize>) {
        self.counts = vec![false; self.len()];
        for index in indices {
            if let Some(counts) = self.counts.get_mut(index) {
                *counts = true;
            }
        }
        self.sums.take();
    }

    /// Returns whether a sample counts.
    pub fn counts(&self, index: usize) -> bool {
        self.counts.get(index).copied().unwrap_or(true)
    }

    /// Returns the number of samples that count.
    pub fn counted(&self) -> usize {
        self.len() - self.counts.iter().filter(|&&counts| !counts).count()
    }

    fn push_duration(&mut self, duration: Duration) {
        let short = u32::try_from(duration.0).unwrap_or(u32::MAX);
        if short == u32::MAX {
            let index = saturating_u32(self.duration.len());
            self.long.push((index, duration));
        }
        self.duration.push(short);
    }

    /// Returns the number of samples.
    pub const fn len(&self) -> usize {
        self.end.len()
    }

    /// Returns whether there are no samples.
    pub const fn is_empty(&self) -> bool {
        self.end.is_empty()
    }

    /// Returns the end of the last sample; 0 if there is none.
    pub fn end(&self) -> Nanos {
        self.end.last().copied().unwrap_or_default()
    }

    /// Returns the interval from the start of the first sample to the end of the last; `None` without samples.
    pub fn span(&self) -> Option<Interval> {
        let (first, _) = self.get(0)?;
        Some(Interval::new(first.start(), self.end()))
    }

    /// Returns the duration of a sample; zero beyond the last one.
    pub fn duration(&self, index: usize) -> Duration {
        let short = self.duration.get(index).copied().unwrap_or(0);
        if short < u32::MAX {
            return Duration(u64::from(short));
        }
        let place = self.long.binary_search_by_key(&index, |&(i, _)| i as usize);
        place.map_or(Duration::ZERO, |place| self.long[place].1)
    }

    /// Returns the stack of each sample, by sample index.
    pub fn stacks(&self) -> &[StackId] {
        &self.stack
    }

    /// Returns the interval and stack of a sample; `None` beyond the last one.
    pub fn get(&self, index: usize) -> Option<(Interval, StackId)> {
        let (&end, &stack) = self.end.get(index).zip(self.stack.get(index))?;
        let start = end - self.duration(index);
        Some((Interval::new(start, end), stack))
    }

    /// Returns the samples that overlap `range`, clipped to it. A sample is counted in the range in which it
    /// ends, as that is where its tick was.
    pub fn clipped_to(&self, range: Interval) -> impl Iterator<Item = Sample> + '_ {
        self.overlapping(range)
            .filter_map(move |index| self.clipped(index, range))
    }

    /// Returns the indices of the samples that overlap `range`; may include samples of zero length.
    pub fn overlapping(&self, range: Interval) -> std::ops::Range<usize> {
        let from = self.end.partition_point(|&end| end <= range.start());
        let last = self.end.partition_point(|&end| end < range.end());
        let begins = |index| {
            self.get(index)
                .is_some_and(|(span, _)| span.start() < range.end())
        };
        from..(last + usize::from(begins(last))).max(from)
    }

    /// Clips a sample to a range; `None` if they do not overlap.
    pub fn clipped(&self, index: usize, range: Interval) -> Option<Sample> {
        let (whole, stack) = self.get(index)?;
        Some(Sample {
            span: whole.intersection(range)?,
            stack,
            counts: whole.end() <= range.end() && self.counts(index),
        })
    }

    /// Adds the exact weights of the samples in a range to the weights of their stacks. Uses precomputed sums for
    /// whole blocks of samples.
    pub fn weigh(&self, range: Interval, own: &mut [Weight]) {
        let places = self.overlapping(range);
        let sums = self.sums.get_or_init(|| WeightBlocks::new(self));
        // Only the first and the last one can be clipped.
        let whole = places.start + 1..places.end.saturating_sub(1);
        if whole.start >= whole.end {
            places.for_each(|index| self.add(index, range, own));
            return;
        }
        self.add(places.start, range, own);
        sums.add(self, whole, own);
        self.add(places.end - 1, range, own);
    }

    fn add(&self, index: usize, range: Interval, own: &mut [Weight]) {
        if let Some(sample) = self.clipped(index, range)
            && let Some(weight) = own.get_mut(sample.stack.index())
        {
            weight.add(Weight {
                amount: sample.span.duration().0,
                count: u64::from(sample.counts),
            });
        }
    }
}

/// A sample, or the part of it within a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Interval that the sample represents.
    pub span: Interval,
    /// Stack of the sample.
    pub stack: StackId,
    /// Whether the sample is counted in the range: it counts, and ends there.
    pub counts: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Interval {
        Interval::new(Nanos(start), Nanos(end))
    }

    fn spans(samples: &Samples) -> Vec<(u64, u64)> {
        let spans = (0..samples.len()).filter_map(|index| samples.get(index));
        spans
            .map(|(span, _)| (span.start().0, span.end().0))
            .collect()
    }

    #[test]
    fn samples_never_overlap() {
        let mut samples = Samples::default();
        samples.push(span(0, 10), StackId(1));
        samples.push(span(8, 18), StackId(2));
        samples.push(span(3, 5), StackId(3));
        assert_eq!(spans(&samples), [(0, 10), (10, 18), (18, 18)]);
    }

    #[test]
    fn long_samples_last_as_long_as_they_do() {
        let mut samples = Samples::default();
        let limit = u64::from(u32::MAX);
        for (start, end) in [(0, 5), (5, limit + 4), (limit + 4, 2 * limit + 4)] {
            samples.push(span(start, end), StackId(1));
        }
        samples.push(span(3 * limit, 9 * limit), StackId(1));
        let durations: Vec<u64> = (0..5).map(|index| samples.duration(index).0).collect();
        assert_eq!(durations, [5, limit - 1, limit, 6 * limit, 0]);
    }

    #[test]
    fn ticks_are_put_in_order() {
        let times = [30, 12, 20, 20].map(Nanos).to_vec();
        let stacks = [1, 2, 3, 4].map(StackId).to_vec();
        let samples = Samples::from_ticks(times, stacks, Duration(10));
        assert_eq!(spans(&samples), [(2, 12), (12, 20), (20, 20), (20, 30)]);
        assert_eq!(samples.stacks(), [2, 3, 4, 1].map(StackId));
    }

    #[test]
    fn a_sample_is_cut_at_the_range_and_counts_once() {
        let mut samples = Samples::default();
        samples.push(span(0, 10), StackId(1));
        samples.push(span(10, 20), StackId(2));
        let early: Vec<Sample> = samples.clipped_to(span(0, 15)).collect();
        let late: Vec<Sample> = samples.clipped_to(span(15, 99)).collect();
        assert_eq!(early.len(), 2);
        assert_eq!((early[1].span, early[1].counts), (span(10, 15), false));
        assert_eq!(late.len(), 1);
        assert_eq!((late[0].span, late[0].counts), (span(15, 20), true));
        assert_eq!(samples.clipped_to(span(20, 20)).count(), 0);
        assert_eq!(samples.clipped_to(span(9, 3)).count(), 0);
    }
}
