//! Sampled values over time, and their display at any zoom.
//!
//! A *level* (heap size, sparks in a pool) is a step function: it holds from one sample to the next. For each
//! bucket its minimum, maximum and last value are drawn, so that peaks stay visible at any zoom; its
//! time-weighted mean is available for details. A *counter* only grows; it is interpolated linearly between
//! samples, and from its initial value at time 0 to the first one. For each bucket its growth is drawn.

use super::forest::{Aggregate, Forest};
use super::lane::{BLOCK, partition};
use crate::marks::Values;
use crate::time::Interval;

/// Samples in time order.
pub trait Samples {
    /// Returns the number of samples.
    fn len(&self) -> usize;
    /// Returns whether there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the time of a sample, in nanoseconds.
    fn time(&self, index: usize) -> u64;
    /// Returns the value of a sample, in the unit of the gauge.
    fn value(&self, index: usize) -> u64;

    /// Returns the value of a counter at time 0, before the first sample.
    fn initial(&self) -> u64 {
        0
    }

    /// Returns the index of the first sample at or after `time`.
    fn first_at(&self, time: u64) -> usize {
        partition(self.len(), |i| self.time(i) < time)
    }

    /// Returns the growth of a counter from the previous sample (or the initial value at time 0) to this one, and the time
    /// between them in nanoseconds, at least 1. The growth is 0 beyond the last sample and where a counter
    /// decreases.
    fn step(&self, index: usize) -> (f64, u64) {
        if index >= self.len() {
            return (0.0, 1);
        }
        let (from, before) = match index.checked_sub(1) {
            Some(last) => (self.time(last), self.value(last)),
            None => (0, self.initial()),
        };
        let grown = self.value(index).saturating_sub(before) as f64;
        (grown, self.time(index).saturating_sub(from).max(1))
    }

    /// Returns the index of the first sample after `time`.
    fn first_after(&self, time: u64) -> usize {
        partition(self.len(), |i| self.time(i) <= time)
    }

    /// Returns the growth of a counter between two times, interpolated linearly between samples.
    ///
    /// `next` is the index of the first sample after `from`, and is updated to that of the first sample after
    /// `to`.
    fn growth(&self, (from, to): (u64, u64), next: &mut usize) -> f64 {
        let first = *next;
        let part = |index: usize, length: u64| {
            let (grown, whole) = self.step(index);
            grown * length as f64 / whole as f64
        };
        let rest = self.len().saturating_sub(first);
        let inside = partition(rest, |i| self.time(first + i) <= to);
        if inside == 0 {
            return part(first, to.saturating_sub(from));
        }
        let last = first + inside - 1;
        *next = last + 1;
        let whole = self.value(last).saturating_sub(self.value(first)) as f64;
        let begin = part(first, self.time(first).saturating_sub(from));
        let end = part(last + 1, to.saturating_sub(self.time(last)));
        begin + whole + end
    }
}

/// Minimum and maximum of a run of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Minimum, in the unit of the gauge.
    pub min: u64,
    /// Maximum, in the unit of the gauge.
    pub max: u64,
}

impl Extent {
    const fn single(value: u64) -> Self {
        Self {
            min: value,
            max: value,
        }
    }
}

impl Aggregate for Extent {
    fn combine(self, later: Self) -> Self {
        Self {
            min: self.min.min(later.min),
            max: self.max.max(later.max),
        }
    }
}

/// Index of a level: extents of full blocks of samples, and prefix sums of the time integral by block. Takes
/// about 1.5 bytes per sample.
#[derive(Clone, Debug, Default)]
pub struct ExtentIndex {
    blocks: Forest<Extent>,
    /// Prefix sums of value times nanoseconds: entry `i` is the integral from the first sample to the first
    /// sample after block `i`.
    sums: Vec<u128>,
}

impl ExtentIndex {
    /// Indexes the blocks that became final. The value and time of a sample are final once another sample follows
    /// it.
    pub fn extend(&mut self, samples: &impl Samples) {
        // The block's integral ends at the first sample of the next block, which must be final too.
        let whole = samples.len().saturating_sub(2) / BLOCK;
        for block in self.blocks.len()..whole {
            let (from, to) = (block * BLOCK, (block + 1) * BLOCK);
            if let Some(extent) = scan(samples, from, to) {
                let before = self.sums.last().copied().unwrap_or_default();
                self.sums.push(before + scan_sum(samples, from, to));
                self.blocks.push(extent);
            }
        }
    }

    /// Returns the time integral of the level (value times nanoseconds) from one sample to a later one.
    fn sum(&self, samples: &impl Samples, from: usize, to: usize) -> u128 {
        let (first, last) = (from.div_ceil(BLOCK), (to / BLOCK).min(self.sums.len()));
        if first >= last {
            return scan_sum(samples, from, to);
        }
        let before = |block: usize| match block.checked_sub(1) {
            Some(place) => self.sums.get(place).copied().unwrap_or_default(),
            None => 0,
        };
        let blocks = before(last).saturating_sub(before(first));
        scan_sum(samples, from, first * BLOCK) + blocks + scan_sum(samples, last * BLOCK, to)
    }

    /// Returns the extent of the samples `from..to`; `None` if there are none.
    pub fn extent(&self, samples: &impl Samples, from: usize, to: usize) -> Option<Extent> {
        let first = from.div_ceil(BLOCK);
        let last = (to / BLOCK).min(self.blocks.len());
        if first >= last {
            return scan(samples, from, to);
        }
        let parts = [
            scan(samples, from, first * BLOCK),
            self.blocks.query(first, last),
            scan(samples, last * BLOCK, to),
        ];
        parts.into_iter().flatten().reduce(Extent::combine)
    }
}

fn scan(samples: &impl Samples, from: usize, to: usize) -> Option<Extent> {
    let values = (from..to.min(samples.len())).map(|i| Extent::single(samples.value(i)));
    values.reduce(Extent::combine)
}

/// Returns the same integral as [`ExtentIndex::sum`], by a linear scan.
fn scan_sum(samples: &impl Samples, from: usize, to: usize) -> u128 {
    let held = |i: usize| samples.time(i + 1).saturating_sub(samples.time(i));
    let sums = (from..to).map(|i| u128::from(samples.value(i)) * u128::from(held(i)));
    sums.sum()
}

/// Segment of a gauge with the statistics of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaugeSegment {
    /// Start in nanoseconds.
    pub start: u64,
    /// End in nanoseconds.
    pub end: u64,
    /// Statistics between start and end.
    pub values: Values,
}

/// The visible interval, divided into buckets aligned to multiples of their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// The visible interval.
    pub view: Interval,
    /// Bucket length in nanoseconds, a power of two.
    pub bucket_ns: u64,
    /// End of the log in nanoseconds.
    pub end_ns: u64,
}

impl Buckets {
    /// Returns the start of the first bucket; it may be before the start of the view.
    pub const fn first(&self) -> u64 {
        self.view.start().0 / self.bucket_ns * self.bucket_ns
    }

    /// Returns the end of the visible part of the log: the end of the view or of the log.
    pub fn visible_end(&self) -> u64 {
        self.view.end().0.min(self.end_ns)
    }

    /// Iterates over the buckets as (start, end) in nanoseconds.
    pub fn intervals(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let (stop, length) = (self.visible_end(), self.bucket_ns);
        let next = move |start: &u64| start.checked_add(length);
        std::iter::successors(Some(self.first()), next)
            .take_while(move |&start| start < stop)
            .map(move |start| (start, start.saturating_add(length)))
    }
}

/// Emits the stretches of a level in view. Consecutive buckets without a change are one stretch.
pub fn levels(
    samples: &impl Samples,
    extents: &ExtentIndex,
    buckets: Buckets,
    mut emit: impl FnMut(GaugeSegment),
) {
    let stop = buckets.visible_end();
    let mut start = buckets.first();
    let mut at = samples.first_at(start);
    while start < stop {
        let before = at.checked_sub(1).map(|last| samples.value(last));
        let next = (at < samples.len()).then(|| samples.time(at));
        let next_start = next.map_or(u64::MAX, |time| {
            (time / buckets.bucket_ns * buckets.bucket_ns).max(start)
        });
        if next_start > start {
            // The value is constant up to `next_start`.
            let end = next_start.min(stop);
            if let Some(value) = before {
                let values = Values::constant(value as f64);
                emit(GaugeSegment { start, end, values });
            }
            start = next_start;
            continue;
        }
        let end = start.saturating_add(buckets.bucket_ns);
        let to = at + partition(samples.len() - at, |i| samples.time(at + i) < end);
        // In damaged logs times may go back; always make progress.
        let to = to.max(at + 1);
        let inside = extents.extent(samples, at, to);
        let extent = before
            .map(Extent::single)
            .into_iter()
            .chain(inside)
            .reduce(Extent::combine);
        if let Some(extent) = extent {
            let begins = if before.is_some() {
                start
            } else {
                samples.time(at).max(start)
            };
            let shown_until = end.min(stop.max(begins));
            let last = samples.value(to - 1);
            // The view or the log may end within the bucket.
            let seen = partition(to - at, |i| samples.time(at + i) < shown_until);
            let held = |value: u64, from: u64, to: u64| {
                u128::from(value) * u128::from(to.saturating_sub(from))
            };
            let first = samples.time(at).min(shown_until);
            let mut sum = held(before.unwrap_or_default(), begins, first);
            if let Some(end) = (at + seen).checked_sub(1).filter(|end| *end >= at) {
                sum += extents.sum(samples, at, end)
                    + held(samples.value(end), samples.time(end), shown_until);
            }
            let (min, max, last) = (extent.min as f64, extent.max as f64, last as f64);
            let mean = match shown_until.saturating_sub(begins) {
                0 => last,
                length => (sum as f64 / length as f64).clamp(min, max),
            };
            emit(GaugeSegment {
                start: begins,
                end: shown_until,
                values: Values {
                    min,
                    max,
                    mean,
                    last,
                },
            });
        }
        at = to;
        start = end;
    }
}

/// Returns the total growth of some counters in each bucket of the view, as (start, end, growth).
pub fn growth<'a, S: Samples + 'a>(
    counters: impl Iterator<Item = S>,
    buckets: Buckets,
) -> Vec<(u64, u64, f64)> {
    let each: Vec<(u64, u64)> = buckets.intervals().collect();
    let mut grown: Vec<(u64, u64, f64)> =
        each.iter().map(|&(start, end)| (start, end, 0.0)).collect();
    for counter in counters {
        let mut next = counter.first_after(buckets.first());
        for (start, end, sum) in &mut grown {
            *sum += counter.growth((*start, *end), &mut next);
        }
    }
    grown
}

/// Emits the rate per second of each bucket: growth divided by the length of the bucket, the last one cut off at
/// the end of the log. Neighbors with equal rates are one segment, and a rate of 0 emits nothing.
pub fn rates(grown: &[(u64, u64, f64)], buckets: Buckets, mut emit: impl FnMut(GaugeSegment)) {
    let mut open: Option<GaugeSegment> = None;
    for &(start, end, growth) in grown {
        let end = end.min(buckets.end_ns.max(start.saturating_add(1)));
        let rate = growth * 1e9 / (end - start) as f64;
        let values = Values::constant(rate);
        match &mut open {
            Some(before) if before.end == start && is_same(before.values.last, rate) => {
                before.end = end;
            }
            _ => {
                if let Some(before) = open.take() {
                    emit(before);
                }
                open = (rate > 0.0).then_some(GaugeSegment { start, end, values });
            }
        }
    }
    if let Some(last) = open {
        emit(last);
    }
}

/// Returns whether two rates are equal up to rounding errors.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.max(b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use eventlog::ids::Nanos;

    #[derive(Debug)]
    struct Pairs(Vec<(u64, u64)>);

    impl Samples for Pairs {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn time(&self, index: usize) -> u64 {
            self.0[index].0
        }
        fn value(&self, index: usize) -> u64 {
            self.0[index].1
        }
    }

    /// Reference implementation of linear interpolation.
    fn counter_at(counter: &Pairs, time: u64) -> f64 {
        let (mut from, mut before) = (0, 0);
        for &(at, value) in &counter.0 {
            if at > time {
                let share = (time - from) as f64 / (at - from) as f64;
                return before as f64 + (value - before) as f64 * share;
            }
            (from, before) = (at, value);
        }
        before as f64
    }

    /// Reference implementation of the time integral; the level is 0 before the first sample.
    fn level_sum(level: &Pairs, from: u64, to: u64) -> u64 {
        let ends = level.0.iter().skip(1).map(|(at, _)| *at).chain([u64::MAX]);
        let held = |(&(at, value), end): (&(u64, u64), u64)| {
            value * end.min(to).saturating_sub(at.max(from))
        };
        level.0.iter().zip(ends).map(held).sum()
    }

    fn samples() -> impl Strategy<Value = Pairs> {
        prop::collection::vec((0u64..60, 0u64..1000), 0..400).prop_map(|gaps| {
            let mut at = 0;
            let sample = |(gap, value)| {
                at += gap;
                (at, value)
            };
            Pairs(gaps.into_iter().map(sample).collect())
        })
    }

    fn buckets() -> impl Strategy<Value = Buckets> {
        (0u64..20_000, 1u64..20_000, 0u32..13, 0u64..25_000).prop_map(
            |(from, length, power, end_ns)| Buckets {
                view: Interval::new(Nanos(from), Nanos(from + length)),
                bucket_ns: 1 << power,
                end_ns,
            },
        )
    }

    proptest! {
        /// For any view and bucket: at each nanosecond the segment has the extent and the last value of its
        /// bucket.
        #[test]
        fn levels_agree_with_a_loop(samples in samples(), buckets in buckets()) {
            let mut extents = ExtentIndex::default();
            extents.extend(&samples);
            let mut shown = Vec::new();
            levels(&samples, &extents, buckets, |stretch| shown.push(stretch));
            for pair in shown.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
            }
            for one in shown.iter().filter(|one| one.start < one.end) {
                let mean = level_sum(&samples, one.start, one.end) as f64 / (one.end - one.start) as f64;
                prop_assert!((one.values.mean - mean).abs() < 1e-6, "{:?} {}", one, mean);
            }
            for (start, end) in buckets.intervals() {
                let before = samples.0.iter().rev().find(|(at, _)| *at < start);
                let inside = samples.0.iter().filter(|(at, _)| start <= *at && *at < end);
                let values: Vec<u64> = before.into_iter().chain(inside).map(|(_, value)| *value).collect();
                let reaches = |s: &&GaugeSegment| s.start >= start || s.end > start;
                let found = shown.iter().find(|s| s.start < end && reaches(s));
                match (values.iter().min(), values.iter().max(), values.last(), found) {
                    (Some(&min), Some(&max), Some(&last), Some(found)) => {
                        let Values { min: least, max: most, last: newest, .. } = found.values;
                        let expected = (min as f64, max as f64, last as f64);
                        prop_assert_eq!((least, most, newest), expected, "{} {:?}", start, shown);
                    }
                    (None, None, None, None) => {}
                    other => prop_assert!(false, "{start} {other:?} {shown:?}"),
                }
            }
        }

        /// Rates over whole buckets add up to the growth of the counter.
        #[test]
        fn rates_integrate_to_the_growth(samples in samples(), buckets in buckets()) {
            let mut sum = 0;
            let counter = Pairs(samples.0.iter().map(|&(at, value)| { sum += value; (at, sum) }).collect());
            let (first, last) = (buckets.first(), buckets.intervals().last().map_or(buckets.first(), |(_, end)| end));
            let expected = counter_at(&counter, last) - counter_at(&counter, first);
            let grown = growth([counter].into_iter(), buckets);
            let mut integral = 0.0;
            rates(&grown, buckets, |s| integral += s.values.last * (s.end - s.start) as f64 / 1e9);
            prop_assert!((integral - expected).abs() <= 1e-6 * expected.max(1.0), "{integral} {expected}");
        }

        /// Indexing all at once or incrementally gives the same result.
        #[test]
        fn extents_agree_with_a_scan(samples in samples(), steps in prop::collection::vec(0usize..400, 0..6), a in 0usize..410, b in 0usize..410) {
            let mut extents = ExtentIndex::default();
            for step in steps {
                extents.extend(&Pairs(samples.0[..step.min(samples.0.len())].to_vec()));
            }
            extents.extend(&samples);
            let (from, to) = (a.min(b), a.max(b));
            prop_assert_eq!(extents.extent(&samples, from, to), scan(&samples, from, to));
        }
    }

    #[test]
    fn a_counter_grows_evenly_between_samples() {
        let counter = Pairs(vec![(100, 10), (200, 10), (300, 30)]);
        let at = |time| counter.growth((0, time), &mut 0);
        let expected = [0.0, 5.0, 10.0, 20.0, 30.0];
        assert_eq!([0, 50, 100, 250, 900].map(at), expected);
        assert_eq!(counter.growth((150, 350), &mut 1), 20.0);
    }

    #[test]
    fn times_that_go_back_stop_nothing() {
        let samples = Pairs(vec![(100, 1), (90, 2), (100, 3), (20, 4), (300, 5)]);
        let buckets = Buckets {
            view: Interval::new(Nanos(0), Nanos(1000)),
            bucket_ns: 8,
            end_ns: 1000,
        };
        let mut last = 0.0;
        levels(&samples, &ExtentIndex::default(), buckets, |s| {
            last = s.values.last
        });
        assert_eq!(last, 5.0);
        assert!(growth([samples].into_iter(), buckets).len() == 125);
    }
}
