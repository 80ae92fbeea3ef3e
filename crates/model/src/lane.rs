//! Lanes: sequences of non-overlapping spans, and their marks at any zoom.

use super::class::{CLASSES, Class, ClassTimes};
use super::forest::{Forest, Longest};
use crate::saturating::saturating_u32;
use crate::time::Interval;
use eventlog::ids::Nanos;
use std::ops::Range;

/// Spans per entry of an index.
pub const BLOCK: usize = 32;

/// A sequence of non-overlapping spans in time order.
pub trait Lane {
    /// Returns the number of spans.
    fn len(&self) -> usize;
    /// Returns whether there are no spans.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the start and end of a span, in nanoseconds.
    fn span(&self, index: usize) -> (u64, u64);
    /// Returns the start of a span, in nanoseconds.
    fn start(&self, index: usize) -> u64 {
        self.span(index).0
    }
    /// Returns the start and end of a span as an interval.
    fn interval(&self, index: usize) -> Interval {
        let (start, end) = self.span(index);
        Interval::new(Nanos(start), Nanos(end))
    }
    /// Returns the state class of a span.
    fn class(&self, index: usize) -> Class;
    /// Returns the total time by class of all spans before `index` (a prefix sum).
    fn times_before_index(&self, index: usize) -> ClassTimes;
    /// Returns the index of the longest span in `from..to`, the first of equals.
    fn longest(&self, from: usize, to: usize) -> Option<usize>;
    /// Returns the span that represents the spans `from..to` merged into one mark: the longest. `None` for lanes
    /// whose merged marks show shares of time only.
    fn representative(&self, from: usize, to: usize) -> Option<usize> {
        self.longest(from, to)
    }

    /// Returns bounds for a binary search: the range of indices of the spans that begin or end around `time`, taken
    /// from an index without reading spans.
    fn search_bounds(&self, _time: u64) -> Range<usize> {
        0..self.len()
    }
    /// Returns a fast approximation of the first span of the bucket that begins at `time`, from the index alone.
    ///
    /// Applies where very many spans, all shorter than the bucket, begin in the preceding bucket; a few that
    /// begin slightly after `time` may then count in that bucket. `None` if spans must be read.
    fn approx_first_of_bucket(&self, _time: u64, _bucket_ns: u64) -> Option<usize> {
        None
    }

    /// Returns the time by class of at most [`BLOCK`] spans, by a linear scan.
    fn scan_times(&self, from: usize, to: usize) -> ClassTimes {
        let mut times = ClassTimes::default();
        for i in from..to {
            let (start, end) = self.span(i);
            let time = &mut times[self.class(i) as usize];
            *time = time.saturating_add(end - start);
        }
        times
    }

    /// Returns the time by class of the spans `from..to`.
    fn times_between(&self, from: usize, to: usize) -> ClassTimes {
        if to - from <= BLOCK {
            return self.scan_times(from, to);
        }
        let mut times = ClassTimes::default();
        let (before, all) = (self.times_before_index(from), self.times_before_index(to));
        for class in 0..CLASSES {
            times[class] = all[class].saturating_sub(before[class]);
        }
        times
    }

    /// Returns the number of spans in `from..to` to display as the count of a mark; a lane may leave out spans
    /// such as waits.
    fn count(&self, from: usize, to: usize) -> usize {
        to - from
    }

    /// Returns the index of the first span that ends after `time`.
    fn first_ending_after(&self, time: u64) -> usize {
        partition_in(self.search_bounds(time), |i| self.span(i).1 <= time)
    }

    /// Returns the index of the first span that begins at or after `time`.
    fn first_starting_at(&self, time: u64) -> usize {
        partition_in(self.search_bounds(time), |i| self.start(i) < time)
    }

    /// Returns the index of the span with exactly this start and end.
    fn find_exact(&self, time: Interval) -> Option<usize> {
        let from = self.first_starting_at(time.start().0);
        let here = (from..self.len()).take_while(|&i| self.span(i).0 == time.start().0);
        let mut here = here.filter(|&i| self.span(i).1 == time.end().0);
        here.next()
    }

    /// Returns the time by class before `time`, including part of a span that reaches beyond it.
    fn time_before(&self, time: u64) -> ClassTimes {
        let index = self.first_ending_after(time);
        let mut times = self.times_before_index(index);
        if index < self.len() {
            let (start, end) = self.span(index);
            let sum = &mut times[self.class(index) as usize];
            *sum = sum.saturating_add(time.min(end).saturating_sub(start));
        }
        times
    }

    /// Returns the time by class within a range; exact at any zoom.
    fn time_in(&self, range: Interval) -> ClassTimes {
        let (mut to, from) = (
            self.time_before(range.end().0),
            self.time_before(range.start().0),
        );
        for class in 0..CLASSES {
            to[class] = to[class].saturating_sub(from[class]);
        }
        to
    }
}

/// Returns the first index in `0..len` for which `times_before_index` does not hold, or `len`, by binary search.
pub fn partition(len: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns the first index in `range` for which `times_before_index` does not hold, or its end, by binary search.
pub fn partition_in(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    range.start + partition(range.len(), |i| before(range.start + i))
}

/// Returns the index of the first span that counts in the bucket that begins at `time`.
pub fn first_of_bucket(lane: &impl Lane, time: u64, bucket_ns: u64) -> usize {
    let approximate = lane.approx_first_of_bucket(time, bucket_ns);
    approximate.unwrap_or_else(|| lane.first_starting_at(time))
}

/// What a lane draws at one place.
#[cfg_attr(
    target_pointer_width = "64",
    expect(
        clippy::large_enum_variant,
        reason = "a mark is written at once, and never kept"
    )
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// One span at least as long as a bucket.
    One {
        /// Index of the span in the lane.
        index: usize,
    },
    /// Spans shorter than a bucket, merged because they begin in the same one.
    Many {
        /// Start of the bucket, in nanoseconds.
        start: u64,
        /// Number of spans according to [`Lane::count`].
        count: u32,
        /// The span that [represents](Lane::representative) the mark.
        representative: Option<usize>,
        /// Total time by class of these spans, in nanoseconds.
        times: ClassTimes,
    },
}

/// Emits the marks of `lane` in `view` for buckets of `bucket_ns`, a power of two that is about a pixel wide.
///
/// Each span at least as long as a bucket is a mark of its own; the others are merged by the bucket in which they
/// begin. There are at most two marks per bucket.
///
/// A span that straddles the end of a bucket counts in the bucket where it begins; it is shorter than a bucket,
/// so the error is less than one bucket. Where very many spans share a bucket and the lane
/// [approximates](Lane::approx_first_of_bucket), spans that begin less than a quarter of a bucket after its end may count in it
/// too.
pub fn marks(lane: &impl Lane, view: Interval, bucket_ns: u64, mut emit: impl FnMut(Mark)) {
    let mut at = lane.first_ending_after(view.start().0);
    // The first bucket of the view is emitted whole, so that panning does not change how it looks.
    let aligned = view.start().0 / bucket_ns * bucket_ns;
    at = at.min(first_of_bucket(lane, aligned, bucket_ns));
    // Neighboring buckets often have similar numbers of spans.
    let mut guess = 0;
    let mut sums = PrefixSumCache::default();
    while at < lane.len() {
        let (start, end) = lane.span(at);
        if start > view.end().0 {
            break;
        }
        if end.saturating_sub(start) >= bucket_ns {
            if end >= view.start().0 {
                emit(Mark::One { index: at });
            }
            at += 1;
            continue;
        }
        let bucket = start / bucket_ns * bucket_ns;
        let next_bucket = bucket.saturating_add(bucket_ns);
        let approximate = lane.approx_first_of_bucket(next_bucket, bucket_ns);
        if let Some(to) = approximate.filter(|&to| to > at) {
            let times = sums.times_between(lane, at, to);
            if let Some(mark) = merged_mark(lane, at, to, bucket, times) {
                emit(mark);
            }
            at = to;
            continue;
        }
        let starts_here = |i: usize| lane.start(at + i) < next_bucket;
        let mut to = at + gallop(lane.len() - at, guess, starts_here);
        guess = to - at;
        // Spans do not overlap, so only the last one of this bucket can be long.
        let (last_start, last_end) = lane.span(to - 1);
        if to - 1 > at && last_end.saturating_sub(last_start) >= bucket_ns {
            to -= 1;
        }
        let times = sums.times_between(lane, at, to);
        if let Some(mark) = merged_mark(lane, at, to, bucket, times) {
            emit(mark);
        }
        at = to;
    }
}

/// Caches the prefix sums at the end of one bucket for the next one.
#[derive(Default)]
struct PrefixSumCache {
    index: usize,
    before: ClassTimes,
}

impl PrefixSumCache {
    /// [`Lane::times_between`], which reads the prefix sums once instead of twice for consecutive runs of spans.
    fn times_between(&mut self, lane: &impl Lane, from: usize, to: usize) -> ClassTimes {
        if to - from <= BLOCK {
            return lane.times_between(from, to);
        }
        if self.index != from {
            self.before = lane.times_before_index(from);
        }
        let before = std::mem::replace(&mut self.before, lane.times_before_index(to));
        self.index = to;
        let mut times = self.before;
        for (time, before) in times.iter_mut().zip(before) {
            *time = time.saturating_sub(before);
        }
        times
    }
}

/// Merges the spans `from..to` into one mark; `None` if it would show neither a count nor time.
fn merged_mark(
    lane: &impl Lane,
    from: usize,
    to: usize,
    bucket: u64,
    times: ClassTimes,
) -> Option<Mark> {
    let count = lane.count(from, to);
    if count == 0 && times == ClassTimes::default() {
        return None;
    }
    Some(Mark::Many {
        start: bucket,
        count: saturating_u32(count),
        representative: lane.representative(from, to),
        times,
    })
}

/// Returns how many of the first `len` items satisfy `holds`, by galloping search; fast if the result is close to
/// `guess`.
fn gallop(len: usize, guess: usize, holds: impl Fn(usize) -> bool) -> usize {
    // Invariant: `holds` is true before `low`, and false from `high` on.
    let (mut low, mut high, mut step) = (0, len, 1);
    let at = guess.min(len.saturating_sub(1));
    if at < len && holds(at) {
        low = at + 1;
        while low + step <= len && holds(low + step - 1) {
            low += step;
            step *= 2;
        }
        high = len.min(low + step - 1);
    } else {
        high = high.min(at);
        while high > step && !holds(high - step) {
            high -= step;
            step *= 2;
        }
        if high > step {
            low = high - step + 1;
        }
    }
    low + partition(high - low, |i| holds(low + i))
}

/// Prefix sums and a forest over blocks of spans, for fast [`Lane::times_before_index`] and [`Lane::longest`].
///
/// It has sums only for the `N` classes of its lane.
#[derive(Clone, Debug)]
pub struct LaneIndex<const N: usize> {
    classes: [Class; N],
    /// Total time by class before each block.
    before: Vec<[u64; N]>,
    total: [u64; N],
    longest: Forest<Longest>,
    in_block: Option<Longest>,
    len: usize,
}

impl<const N: usize> LaneIndex<N> {
    /// Creates an empty index for spans of these classes.
    pub const fn new(classes: [Class; N]) -> Self {
        Self {
            classes,
            before: Vec::new(),
            total: [0; N],
            longest: Forest::new(),
            in_block: None,
            len: 0,
        }
    }

    #[inline]
    fn add(&self, times: &mut [u64; N], class: Class, duration_ns: u64) {
        let slot = self.classes.iter().position(|&one| one == class);
        debug_assert!(slot.is_some(), "{class:?} is a class of the lane");
        if let Some(time) = slot.and_then(|slot| times.get_mut(slot)) {
            // In damaged logs spans may be of any length, so the sum saturates.
            *time = time.saturating_add(duration_ns);
        }
    }

    /// Returns the number of spans pushed.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no span was pushed.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the next span.
    #[inline]
    pub fn push(&mut self, class: Class, duration_ns: u64) {
        if self.len.is_multiple_of(BLOCK) {
            self.before.push(self.total);
        }
        let mut total = self.total;
        self.add(&mut total, class, duration_ns);
        self.total = total;
        let this = Longest {
            duration_ns,
            index: saturating_u32(self.len),
        };
        let longest = self.in_block.map_or(this, |block| {
            if duration_ns > block.duration_ns {
                this
            } else {
                block
            }
        });
        self.in_block = Some(longest);
        self.len += 1;
        if self.len.is_multiple_of(BLOCK) {
            self.longest.push(longest);
            self.in_block = None;
        }
    }

    /// Implements [`Lane::times_before_index`] for the lane whose spans were pushed here; `span` returns class and duration.
    pub fn times_before_index(
        &self,
        index: usize,
        span: impl Fn(usize) -> (Class, u64),
    ) -> ClassTimes {
        let block = (index / BLOCK).min(self.before.len().saturating_sub(1));
        let Some(mut times) = self.before.get(block).copied() else {
            return ClassTimes::default();
        };
        for i in block * BLOCK..index {
            let (class, duration) = span(i);
            self.add(&mut times, class, duration);
        }
        let mut by_class = ClassTimes::default();
        for (class, time) in self.classes.iter().zip(times) {
            by_class[*class as usize] = time;
        }
        by_class
    }

    /// Implements [`Lane::longest`] for the lane whose spans were pushed here.
    pub fn longest(
        &self,
        from: usize,
        to: usize,
        duration: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        let scan = |from: usize, to: usize| {
            (from..to).max_by_key(|&i| (duration(i), std::cmp::Reverse(i)))
        };
        let (first, last) = (from.div_ceil(BLOCK), to / BLOCK);
        if first >= last {
            return scan(from, to);
        }
        let inner = self
            .longest
            .query(first, last)
            .map(|longest| longest.index as usize);
        let edges = [scan(from, first * BLOCK), inner, scan(last * BLOCK, to)];
        edges
            .into_iter()
            .flatten()
            .max_by_key(|&i| (duration(i), std::cmp::Reverse(i)))
    }
}

/// A lane of spans of one class without payload, such as the collections of a capability.
#[derive(Clone, Debug)]
pub struct PlainLane {
    class: Class,
    starts: Vec<u64>,
    ends: Vec<u64>,
    index: LaneIndex<1>,
    sorted: bool,
}

impl PlainLane {
    /// Creates an empty lane whose spans are all of `class`.
    pub fn new(class: Class) -> Self {
        Self {
            class,
            starts: Vec::new(),
            ends: Vec::new(),
            index: LaneIndex::new([class]),
            sorted: true,
        }
    }

    /// Appends a span. In damaged logs spans may overlap or be out of order until [`sort_and_clip`](Self::sort_and_clip) is
    /// called.
    pub fn push(&mut self, span: Interval) {
        let (start, end) = (span.start().0, span.end().0.max(span.start().0));
        self.sorted &= self.ends.last().is_none_or(|&last| last <= start);
        self.starts.push(start);
        self.ends.push(end);
        self.index.push(self.class, end - start);
    }

    /// Sorts the spans if necessary, and clips overlaps; the covered time stays the same.
    pub fn sort_and_clip(&mut self) {
        if self.sorted {
            return;
        }
        let mut spans: Vec<(u64, u64)> = self
            .starts
            .iter()
            .copied()
            .zip(self.ends.iter().copied())
            .collect();
        spans.sort_unstable();
        *self = Self::new(self.class);
        let mut covered = 0;
        for (start, end) in spans {
            let start = start.max(covered);
            let end = end.max(start);
            covered = end;
            self.push(Interval::new(Nanos(start), Nanos(end)));
        }
    }
}

impl Lane for PlainLane {
    fn len(&self) -> usize {
        self.starts.len()
    }
    fn span(&self, index: usize) -> (u64, u64) {
        (self.starts[index], self.ends[index])
    }
    fn class(&self, _: usize) -> Class {
        self.class
    }
    fn times_before_index(&self, index: usize) -> ClassTimes {
        self.index
            .times_before_index(index, |i| (self.class, self.ends[i] - self.starts[i]))
    }
    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        self.index
            .longest(from, to, |i| self.ends[i] - self.starts[i])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lane(gaps: &[(u64, u64)]) -> PlainLane {
        let mut lane = PlainLane::new(Class::Gc);
        let mut at = 0;
        for &(gap, duration) in gaps {
            let start = at + gap;
            at = start + duration;
            lane.push(Interval::new(Nanos(start), Nanos(at)));
        }
        lane
    }

    fn gaps() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0u64..50, 0u64..400), 0..200)
    }

    proptest! {
        #[test]
        fn gallops_to_the_same_place(len in 0usize..200, holding in 0usize..210, guess in 0usize..220) {
            let found = gallop(len, guess, |i| i < holding);
            prop_assert_eq!(found, len.min(holding));
        }

        #[test]
        fn time_in_a_range_is_exact(gaps in gaps(), a in 0u64..40_000, b in 0u64..40_000) {
            let lane = lane(&gaps);
            let (from, to) = (a.min(b), a.max(b));
            let expected: u64 = (0..lane.len())
                .map(|i| lane.span(i))
                .map(|(start, end)| end.min(to).saturating_sub(start.max(from)))
                .sum();
            let times = lane.time_in(Interval::new(Nanos(from), Nanos(to)));
            prop_assert_eq!(times[Class::Gc as usize], expected);
        }

        /// Every span of the view is in exactly one mark, and the times of the marks add up to the times of the
        /// spans.
        #[test]
        fn marks_show_every_span_once(gaps in gaps(), bucket in 0u32..12) {
            let lane = lane(&gaps);
            let bucket = 1u64 << bucket;
            let view = Interval::new(Nanos(0), Nanos(u64::MAX >> 1));
            let (mut seen, mut time) = (0, 0);
            marks(&lane, view, bucket, |mark| match mark {
                Mark::One { index } => {
                    assert_eq!(index, seen);
                    let (start, end) = lane.span(index);
                    assert!(end - start >= bucket);
                    seen += 1;
                    time += end - start;
                }
                Mark::Many { count, times, representative, start } => {
                    let run = seen..seen + count as usize;
                    assert!(run.clone().all(|i| lane.span(i).0 / bucket * bucket == start));
                    let max = run.clone().map(|i| lane.span(i)).map(|(s, e)| e - s).max();
                    let longest = representative.expect("the lane tells");
                    let (s, e) = lane.span(longest);
                    assert!(run.contains(&longest) && Some(e - s) == max);
                    seen += count as usize;
                    time += times.iter().sum::<u64>();
                }
            });
            prop_assert_eq!(seen, lane.len());
            let all = (0..lane.len()).map(|i| lane.span(i)).map(|(s, e)| e - s).sum::<u64>();
            prop_assert_eq!(time, all);
        }

        #[test]
        fn overlapping_spans_are_clipped_to_the_same_union(spans in prop::collection::vec((0u64..1000, 0u64..100), 0..60)) {
            let mut lane = PlainLane::new(Class::Gc);
            let mut covered = vec![false; 1200];
            for &(start, duration) in &spans {
                lane.push(Interval::new(Nanos(start), Nanos(start + duration)));
                covered[start as usize..(start + duration) as usize].fill(true);
            }
            lane.sort_and_clip();
            let whole = Interval::new(Nanos(0), Nanos(5000));
            let union = covered.iter().filter(|covered| **covered).count() as u64;
            prop_assert_eq!(lane.time_in(whole)[Class::Gc as usize], union);
        }
    }
}
