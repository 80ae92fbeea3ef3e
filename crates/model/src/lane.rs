//! A lane: spans that follow each other without overlap, and what any zoom
//! shows of them.

use super::class::{CLASSES, Class, ClassTimes};
use super::forest::{Forest, Longest};
use crate::place::place32;
use crate::time::Interval;
use eventlog::ids::Nanos;
use std::ops::Range;

/// How many spans share one entry of an index.
pub const BLOCK: usize = 32;

/// Spans in order, without overlap.
pub trait Lane {
    /// How many spans there are.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// When a span begins and ends, in nanoseconds.
    fn span(&self, index: usize) -> (u64, u64);
    /// When a span begins.
    fn start(&self, index: usize) -> u64 {
        self.span(index).0
    }
    /// The time of a span.
    fn interval(&self, index: usize) -> Interval {
        let (start, end) = self.span(index);
        Interval::new(Nanos(start), Nanos(end))
    }
    /// What a span is.
    fn class(&self, index: usize) -> Class;
    /// The time by class of all spans before this one.
    fn before(&self, index: usize) -> ClassTimes;
    /// The longest of a run of spans.
    fn longest(&self, from: usize, to: usize) -> Option<usize>;
    /// Of spans that share a mark, the one that it speaks for: the longest. None if
    /// marks of several spans have nothing of one of them.
    fn speaks_for(&self, from: usize, to: usize) -> Option<usize> {
        self.longest(from, to)
    }

    /// The spans among which those are that begin or end about `time`, as far as is
    /// known without looking at spans.
    fn near(&self, _time: u64) -> Range<usize> {
        0..self.len()
    }
    /// The first span that counts in the bucket that begins at `time`, known without
    /// looking at spans: of very many that begin in the bucket before, all of them short, a
    /// few that begin hardly later may count there too. `None` if spans must be looked at.
    fn hurry(&self, _time: u64, _bucket_ns: u64) -> Option<usize> {
        None
    }

    /// The time by class of at most [`BLOCK`] spans.
    fn few(&self, from: usize, to: usize) -> ClassTimes {
        let mut times = ClassTimes::default();
        for i in from..to {
            let (start, end) = self.span(i);
            let time = &mut times[self.class(i) as usize];
            *time = time.saturating_add(end - start);
        }
        times
    }

    /// The time by class of a run of spans.
    fn between(&self, from: usize, to: usize) -> ClassTimes {
        if to - from <= BLOCK {
            return self.few(from, to);
        }
        let mut times = ClassTimes::default();
        let (before, all) = (self.before(from), self.before(to));
        for class in 0..CLASSES {
            times[class] = all[class].saturating_sub(before[class]);
        }
        times
    }

    /// How many of a run of spans are worth to be counted.
    fn count(&self, from: usize, to: usize) -> usize {
        to - from
    }

    /// The first span that ends after `time`.
    fn first_ending_after(&self, time: u64) -> usize {
        partition_in(self.near(time), |i| self.span(i).1 <= time)
    }

    /// The first span that starts at or after `time`.
    fn first_starting_at(&self, time: u64) -> usize {
        partition_in(self.near(time), |i| self.start(i) < time)
    }

    /// The span that begins and ends just then.
    fn exactly(&self, time: Interval) -> Option<usize> {
        let from = self.first_starting_at(time.start().0);
        let here = (from..self.len()).take_while(|&i| self.span(i).0 == time.start().0);
        let mut here = here.filter(|&i| self.span(i).1 == time.end().0);
        here.next()
    }

    /// The time by class before `time`.
    fn time_before(&self, time: u64) -> ClassTimes {
        let index = self.first_ending_after(time);
        let mut times = self.before(index);
        if index < self.len() {
            let (start, end) = self.span(index);
            let sum = &mut times[self.class(index) as usize];
            *sum = sum.saturating_add(time.min(end).saturating_sub(start));
        }
        times
    }

    /// The time by class inside a range; exact.
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

/// The first index for which `before` does not hold.
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

/// The first index of a range for which `before` does not hold.
pub fn partition_in(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    range.start + partition(range.len(), |i| before(range.start + i))
}

/// The first span that counts in the bucket that begins at `time`.
pub fn first_of_bucket(lane: &impl Lane, time: u64, bucket_ns: u64) -> usize {
    let hurried = lane.hurry(time, bucket_ns);
    hurried.unwrap_or_else(|| lane.first_starting_at(time))
}

/// What a lane shows at one place.
#[expect(
    clippy::large_enum_variant,
    reason = "a mark is written at once, and never kept"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// One span, as wide as a pixel or wider.
    One {
        /// Its index in the lane.
        index: usize,
    },
    /// Spans narrower than a pixel that fall into one bucket.
    Many {
        /// Where the bucket begins, in nanoseconds.
        start: u64,
        /// How many they are, as the lane counts.
        count: u32,
        /// The one that it [speaks for](Lane::speaks_for).
        speaks_for: Option<usize>,
        /// Their time by class.
        times: ClassTimes,
    },
}

/// What `lane` shows in `view` if a bucket of `bucket_ns` (a power of two) is
/// about a pixel: each span that is as long as a bucket for itself, the others
/// merged by the bucket in which they start. At most two marks a bucket.
///
/// A span that straddles a bucket's end counts where it starts; it is shorter
/// than a bucket, so it is shown less than a bucket off. Where very many spans
/// share a bucket, some that start after its end may count in it, if the lane
/// [hurries](Lane::hurry): these are less than a quarter of a bucket off.
pub fn marks(lane: &impl Lane, view: Interval, bucket_ns: u64, mut emit: impl FnMut(Mark)) {
    let mut at = lane.first_ending_after(view.start().0);
    // The bucket that the view begins in is shown whole, so that a bucket
    // looks the same wherever the view is panned to.
    let aligned = view.start().0 / bucket_ns * bucket_ns;
    at = at.min(first_of_bucket(lane, aligned, bucket_ns));
    // Neighbouring buckets often hold about as many.
    let mut guess = 0;
    let mut sums = Sums::default();
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
        let hurried = lane.hurry(next_bucket, bucket_ns);
        if let Some(to) = hurried.filter(|&to| to > at) {
            let times = sums.between(lane, at, to);
            if let Some(mark) = merged(lane, at, to, bucket, times) {
                emit(mark);
            }
            at = to;
            continue;
        }
        let starts_here = |i: usize| lane.start(at + i) < next_bucket;
        let mut to = at + gallop(lane.len() - at, guess, starts_here);
        guess = to - at;
        // A long span that begins in this bucket can only be the last one.
        let (last_start, last_end) = lane.span(to - 1);
        if to - 1 > at && last_end.saturating_sub(last_start) >= bucket_ns {
            to -= 1;
        }
        let times = sums.between(lane, at, to);
        if let Some(mark) = merged(lane, at, to, bucket, times) {
            emit(mark);
        }
        at = to;
    }
}

/// The time before a span, kept for the bucket that begins with it.
#[derive(Default)]
struct Sums {
    index: usize,
    before: ClassTimes,
}

impl Sums {
    /// [`Lane::between`], with one search less where runs of spans follow
    /// each other.
    fn between(&mut self, lane: &impl Lane, from: usize, to: usize) -> ClassTimes {
        if to - from <= BLOCK {
            return lane.between(from, to);
        }
        if self.index != from {
            self.before = lane.before(from);
        }
        let before = std::mem::replace(&mut self.before, lane.before(to));
        self.index = to;
        let mut times = self.before;
        for (time, before) in times.iter_mut().zip(before) {
            *time = time.saturating_sub(before);
        }
        times
    }
}

/// Several spans as one mark; `None` if there is nothing of them to see.
fn merged(
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
        count: place32(count),
        speaks_for: lane.speaks_for(from, to),
        times,
    })
}

/// How many of the first of `len` things hold; quick where they are about as
/// many as the guess.
fn gallop(len: usize, guess: usize, holds: impl Fn(usize) -> bool) -> usize {
    // What is before `low` holds, what is at `high` or later does not.
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

/// Prefix sums and a forest over blocks of spans: what a lane needs to answer
/// [`Lane::before`] and [`Lane::longest`] quickly. It has sums only for the
/// `N` classes that its lane has.
#[derive(Clone, Debug)]
pub struct LaneIndex<const N: usize> {
    classes: [Class; N],
    /// The time by class before each block.
    before: Vec<[u64; N]>,
    total: [u64; N],
    longest: Forest<Longest>,
    in_block: Option<Longest>,
    len: usize,
}

impl<const N: usize> LaneIndex<N> {
    /// An index of no spans; those that come are of these classes.
    #[must_use]
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

    fn add(&self, times: &mut [u64; N], class: Class, duration_ns: u64) {
        let slot = self.classes.iter().position(|&one| one == class);
        debug_assert!(slot.is_some(), "{class:?} is a class of the lane");
        if let Some(time) = slot.and_then(|slot| times.get_mut(slot)) {
            // Blocks of a damaged log may claim to end at any time.
            *time = time.saturating_add(duration_ns);
        }
    }

    /// How many spans it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the next span.
    pub fn push(&mut self, class: Class, duration_ns: u64) {
        if self.len.is_multiple_of(BLOCK) {
            self.before.push(self.total);
        }
        let mut total = self.total;
        self.add(&mut total, class, duration_ns);
        self.total = total;
        let this = Longest {
            duration_ns,
            index: place32(self.len),
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

    /// [`Lane::before`] for a lane that pushed its spans here.
    pub fn before(&self, index: usize, span: impl Fn(usize) -> (Class, u64)) -> ClassTimes {
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

    /// [`Lane::longest`] for a lane that pushed its spans here.
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

/// Spans of one class without further detail, such as the collections of a
/// capability.
#[derive(Clone, Debug)]
pub struct PlainLane {
    class: Class,
    starts: Vec<u64>,
    ends: Vec<u64>,
    index: LaneIndex<1>,
    sorted: bool,
}

impl PlainLane {
    /// An empty lane of this class.
    #[must_use]
    pub fn new(class: Class) -> Self {
        Self {
            class,
            starts: Vec::new(),
            ends: Vec::new(),
            index: LaneIndex::new([class]),
            sorted: true,
        }
    }

    /// Appends a span. Damaged logs may have spans that overlap: they are
    /// sorted out by [`settle`](Self::settle).
    pub fn push(&mut self, span: Interval) {
        let (start, end) = (span.start().0, span.end().0.max(span.start().0));
        self.sorted &= self.ends.last().is_none_or(|&last| last <= start);
        self.starts.push(start);
        self.ends.push(end);
        self.index.push(self.class, end - start);
    }

    /// Sorts the spans and clips overlaps, so that together they cover the
    /// same time.
    pub fn settle(&mut self) {
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
    fn before(&self, index: usize) -> ClassTimes {
        self.index
            .before(index, |i| (self.class, self.ends[i] - self.starts[i]))
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

        /// Every span of the view is shown once, alone or merged, and the
        /// times of the marks add up to the spans' times.
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
                Mark::Many { count, times, speaks_for, start } => {
                    let run = seen..seen + count as usize;
                    assert!(run.clone().all(|i| lane.span(i).0 / bucket * bucket == start));
                    let max = run.clone().map(|i| lane.span(i)).map(|(s, e)| e - s).max();
                    let longest = speaks_for.expect("the lane tells");
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
        fn overlapping_spans_settle_to_the_same_union(spans in prop::collection::vec((0u64..1000, 0u64..100), 0..60)) {
            let mut lane = PlainLane::new(Class::Gc);
            let mut covered = vec![false; 1200];
            for &(start, duration) in &spans {
                lane.push(Interval::new(Nanos(start), Nanos(start + duration)));
                covered[start as usize..(start + duration) as usize].fill(true);
            }
            lane.settle();
            let whole = Interval::new(Nanos(0), Nanos(5000));
            let union = covered.iter().filter(|covered| **covered).count() as u64;
            prop_assert_eq!(lane.time_in(whole)[Class::Gc as usize], union);
        }
    }
}
