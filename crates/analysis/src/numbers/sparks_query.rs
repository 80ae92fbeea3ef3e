//! Sparks in a time range: totals, rates, pool sizes and run times.
//!
//! Counters are sampled at every collection, and occasionally in between. Totals use the last sample before a
//! time. For drawing, a rate is constant between two samples, and a pool keeps the size of its last sample.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::step_function::{StepFunction, Window};
use super::summary::SparkTotals;
use super::{Counters, Numbers};
use crate::timeline::spark_runs::SparkRun;
use eventlog::cap_table::CapTable;
use eventlog::ids::{CapId, Nanos};
use eventlog::{EventSet, EventType};
use model::sorting::CompactSort;
use model::time::Interval;

/// Number of slices of a range, for drawing.
const SLICES: u64 = 240;

/// Events of single sparks (`+RTS -lf`).
pub(crate) const SINGLE_SPARKS: EventSet = EventSet::from_types(&[
    EventType::SPARK_CREATE,
    EventType::SPARK_DUD,
    EventType::SPARK_OVERFLOW,
    EventType::SPARK_RUN,
    EventType::SPARK_STEAL,
    EventType::SPARK_FIZZLE,
    EventType::SPARK_GC,
]);

/// Number of sparks in a pool over a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// Fewest sparks in the pool.
    pub min: u64,
    /// Time-weighted mean number of sparks.
    pub mean: f64,
    /// Most sparks in the pool.
    pub max: u64,
    /// Times of the first minimum and of the first maximum, in ns.
    pub min_and_max_ns: (u64, u64),
}

/// Sparks of one capability, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SparkRow {
    /// Capability; `None` for all together.
    pub cap: Option<CapId>,
    /// Counts of sparks by fate.
    pub totals: SparkTotals,
    /// Sparks put into a pool per second.
    pub created_per_second: f64,
    /// Sparks converted per second.
    pub converted_per_second: f64,
    /// Pool size; `None` before the first sample.
    pub pool: Option<Pool>,
    /// Slices of the range, for drawing.
    pub slices: Vec<SparkSlice>,
}

/// Slice of a range. Rates are in sparks per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SparkSlice {
    /// Put into a pool.
    pub created: f64,
    /// Not put into a pool, as they were already evaluated.
    pub dud: f64,
    /// Dropped because the pool was full.
    pub overflowed: f64,
    /// Taken from a pool and evaluated.
    pub converted: f64,
    /// Found to be evaluated already.
    pub fizzled: f64,
    /// Removed by the collector.
    pub gcd: f64,
    /// Pool size; `None` before the first sample.
    pub pool: Option<Pool>,
}

/// Histogram bin of spark run times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkRunBin {
    /// Lower bound in ns, inclusive: 0, or a power of two of microseconds.
    pub from_ns: u64,
    /// Upper bound in ns, exclusive.
    pub to_ns: u64,
    /// Number of sparks in the bin.
    pub count: u64,
    /// Total run time in ns.
    pub total_ns: u64,
    /// Longest runs, in descending order: at most [`MAX_PLACES`](Self::MAX_PLACES).
    pub longest: Vec<SparkRun>,
}

impl SparkRunBin {
    /// Limit of runs listed per bin.
    pub const MAX_PLACES: usize = 8;
}

/// Sparks in a range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SparksReply {
    /// Range, clipped to the log; the slices divide it evenly.
    pub range: Option<Interval>,
    /// Row of all capabilities, then one for each with counters; empty if the log has none.
    pub rows: Vec<SparkRow>,
    /// Whether the log so far has events of single sparks (`+RTS -lf`).
    pub has_single_sparks: bool,
    /// Histogram of the run times of sparks started in the range, without gaps between bins; available once the
    /// log has been read to its end.
    pub runs: Vec<SparkRunBin>,
}

impl Numbers {
    /// Computes the sparks in a range of a log whose last event is at `end`.
    ///
    /// `single` holds the runs of all sparks, sorted by start, if the log has events of single sparks.
    pub(crate) fn sparks(
        &self,
        end: Nanos,
        range: Option<Interval>,
        single: Option<&[SparkRun]>,
    ) -> SparksReply {
        let window = self.window(end, range);
        let caps = self.spark_counters.caps();
        let caps: Vec<SparkRow> = caps
            .map(|(cap, counters)| cap_row(cap, counters, window))
            .collect();
        let mut rows = Vec::new();
        if !caps.is_empty() {
            rows.push(self.total_row(&caps, window));
        }
        rows.extend(caps);
        SparksReply {
            range: Some(Interval::new(Nanos(window.from), Nanos(window.to))),
            rows,
            has_single_sparks: single.is_some(),
            runs: run_bins(runs_in(single.unwrap_or_default(), window)),
        }
    }

    fn total_row(&self, caps: &[SparkRow], window: Window) -> SparkRow {
        let mut totals = SparkTotals::default();
        let mut slices = vec![SparkSlice::default(); slices(window).count()];
        for row in caps {
            totals.add(&row.totals);
            for (slice, more) in slices.iter_mut().zip(&row.slices) {
                slice.created += more.created;
                slice.dud += more.dud;
                slice.overflowed += more.overflowed;
                slice.converted += more.converted;
                slice.fizzled += more.fizzled;
                slice.gcd += more.gcd;
            }
        }
        let waiting = self.all_waiting(window);
        add_pools(&mut slices, &waiting, window);
        row(None, totals, pool(&waiting, window), slices, window)
    }

    /// Returns the number of sparks in all pools together.
    fn all_waiting(&self, window: Window) -> StepFunction<u64> {
        let mut samples = Vec::new();
        for (cap, counters) in self.spark_counters.caps() {
            let waiting = counters.within(window);
            samples.extend(waiting.map(|(at, counters)| (at, cap, counters.remaining)));
        }
        samples.sort_small_by_key(|&(at, cap, _)| (at, cap));
        let mut latest: CapTable<u64> = CapTable::default();
        let mut all = 0u64;
        let mut steps = StepFunction::default();
        for (at, cap, waiting) in samples {
            let before = std::mem::replace(latest.get_mut(Some(cap)), waiting);
            all = all.saturating_sub(before).saturating_add(waiting);
            steps.push(at, all);
        }
        steps
    }
}

fn per_second(number: f64, duration_ns: u64) -> f64 {
    if duration_ns == 0 {
        return 0.0;
    }
    number * 1e9 / duration_ns as f64
}

fn row(
    cap: Option<CapId>,
    totals: SparkTotals,
    pool: Option<Pool>,
    slices: Vec<SparkSlice>,
    window: Window,
) -> SparkRow {
    let rate = |number: u64| per_second(number as f64, window.duration());
    SparkRow {
        cap,
        totals,
        created_per_second: rate(totals.pooled),
        converted_per_second: rate(totals.converted),
        pool,
        slices,
    }
}

fn cap_row(cap: CapId, counters: &StepFunction<Counters>, window: Window) -> SparkRow {
    let (before, after) = counters.ends(window);
    let mut slices: Vec<SparkSlice> = slices(window).map(|s| rates(counters, s)).collect();
    let mut waiting = StepFunction::default();
    for (at, counters) in counters.within(window) {
        waiting.push(at, counters.remaining);
    }
    add_pools(&mut slices, &waiting, window);
    let totals = SparkTotals::between(before, after);
    row(Some(cap), totals, pool(&waiting, window), slices, window)
}

/// Divides a window into slices; none if it is empty.
fn slices(window: Window) -> impl Iterator<Item = Window> {
    let count = SLICES.min(window.duration());
    let edge = move |i: u64| {
        let part = u128::from(window.duration()) * u128::from(i) / u128::from(count.max(1));
        window.from + u64::try_from(part).unwrap_or(u64::MAX)
    };
    (0..count).map(move |i| Window::part(edge(i), edge(i + 1), window.to))
}

fn add_pools(slices: &mut [SparkSlice], waiting: &StepFunction<u64>, window: Window) {
    for (slice, part) in slices.iter_mut().zip(self::slices(window)) {
        slice.pool = pool(waiting, part);
    }
}

fn pool(waiting: &StepFunction<u64>, window: Window) -> Option<Pool> {
    let samples: Vec<(u64, u64)> = waiting.within(window).collect();
    let first = samples.first()?.0;
    let ends = samples.iter().skip(1).map(|&(at, _)| at).chain([window.to]);
    let areas = samples
        .iter()
        .zip(ends)
        .map(|(&(at, waiting), end)| waiting as f64 * end.saturating_sub(at) as f64);
    let area: f64 = areas.sum();
    let (min_ns, min) = *samples.iter().min_by_key(|(_, waiting)| waiting)?;
    let (max_ns, max) = *samples.iter().min_by_key(|(_, waiting)| Reverse(waiting))?;
    // A pool sampled only at the very end has that size.
    let mean = match window.to.saturating_sub(first) {
        0 => max as f64,
        duration => area / duration as f64,
    };
    Some(Pool {
        min,
        mean,
        max,
        min_and_max_ns: (min_ns, max_ns),
    })
}

/// Interpolates the counters linearly between two samples.
fn between(counters: &StepFunction<Counters>, at: u64) -> [f64; 6] {
    let numbers = |c: Counters| {
        [
            c.created,
            c.dud,
            c.overflowed,
            c.converted,
            c.fizzled,
            c.gcd,
        ]
        .map(|number| number as f64)
    };
    let [before, after] = counters.around(at);
    let (from, a) = before.unwrap_or_else(|| (0, counters.at(at).unwrap_or_default()));
    let (to, b) = after.unwrap_or((from, a));
    let share = if to > from {
        at.saturating_sub(from) as f64 / (to - from) as f64
    } else {
        0.0
    };
    let (a, b) = (numbers(a), numbers(b));
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * share)
}

fn rates(counters: &StepFunction<Counters>, slice: Window) -> SparkSlice {
    let (from, to) = (between(counters, slice.from), between(counters, slice.to));
    let rate = |i: usize| per_second((to[i] - from[i]).max(0.0), slice.duration());
    SparkSlice {
        created: rate(0),
        dud: rate(1),
        overflowed: rate(2),
        converted: rate(3),
        fizzled: rate(4),
        gcd: rate(5),
        pool: None,
    }
}

/// Returns the runs that begin in a window, from runs sorted by start.
fn runs_in(all: &[SparkRun], window: Window) -> impl Iterator<Item = SparkRun> {
    let first = all.partition_point(|run| run.start.0 < window.from);
    let from = all.get(first..).unwrap_or_default().iter();
    from.copied()
        .take_while(move |run| window.contains(run.start.0))
}

fn run_bins(runs: impl Iterator<Item = SparkRun>) -> Vec<SparkRunBin> {
    // Bin 0 is below 1 µs; bin n is from 2^(n-1) µs to twice that.
    let mut bins: Vec<SparkRunBin> = Vec::new();
    for run in runs {
        let micros = run.ran_ns / 1000;
        let at = micros.checked_ilog2().map_or(0, |log| log as usize + 1);
        while bins.len() <= at {
            bins.push(empty_bin(bins.len() as u32));
        }
        let Some(bin) = bins.get_mut(at) else {
            continue;
        };
        bin.count += 1;
        bin.total_ns = bin.total_ns.saturating_add(run.ran_ns);
        let place = bin
            .longest
            .partition_point(|longer| longer.ran_ns >= run.ran_ns);
        if place < SparkRunBin::MAX_PLACES {
            bin.longest.truncate(SparkRunBin::MAX_PLACES - 1);
            bin.longest.insert(place, run);
        }
    }
    let first = bins.iter().position(|bin| bin.count > 0).unwrap_or(0);
    bins.split_off(first)
}

fn empty_bin(bin: u32) -> SparkRunBin {
    let bound = |bin: u32| match bin {
        0 => 0,
        _ => 1u64
            .checked_shl(bin - 1)
            .map_or(u64::MAX, |micros| micros.saturating_mul(1000)),
    };
    SparkRunBin {
        from_ns: bound(bin),
        to_ns: bound(bin + 1),
        ..SparkRunBin::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_fall_into_powers_of_two_of_microseconds() {
        let runs = [0, 999, 1000, 1999, 2000, 9000];
        let runs = runs.into_iter().zip(0..).map(|(ran_ns, at)| SparkRun {
            start: Nanos(at),
            ran_ns,
        });
        let bins = run_bins(runs);
        let bounds: Vec<_> = bins.iter().map(|bin| (bin.from_ns, bin.to_ns)).collect();
        let expected = [
            (0, 1000),
            (1000, 2000),
            (2000, 4000),
            (4000, 8000),
            (8000, 16_000),
        ];
        assert_eq!(bounds, expected);
        let counts: Vec<_> = bins.iter().map(|bin| (bin.count, bin.total_ns)).collect();
        assert_eq!(counts, [(2, 999), (2, 2999), (1, 2000), (0, 0), (1, 9000)]);
        let longest: Vec<_> = bins[1].longest.iter().map(|run| run.ran_ns).collect();
        assert_eq!(longest, [1999, 1000]);
        assert_eq!(run_bins(std::iter::empty()), []);
    }

    #[test]
    fn a_rate_is_even_between_samples() {
        let mut counters = StepFunction::default();
        for (at, created, remaining) in [(100, 0, 0), (200, 50, 4), (300, 50, 2)] {
            let sample = Counters {
                created,
                remaining,
                ..Counters::default()
            };
            counters.push(at, sample);
        }
        let row = cap_row(CapId(0), &counters, Window::part(100, 340, 1000));
        assert_eq!(row.totals.pooled, 50);
        assert_eq!(row.slices.len(), 240);
        assert!((row.slices[0].created - 0.5e9).abs() < 1.0);
        assert!((row.slices[99].created - 0.5e9).abs() < 1.0);
        assert!(row.slices[100].created.abs() < 1.0);
        let pool = row.pool.expect("samples");
        assert_eq!((pool.min, pool.max), (0, 4));
        assert_eq!(pool.min_and_max_ns, (100, 200));
        assert!((pool.mean - f64::from(100 * 4 + 40 * 2) / 240.0).abs() < 1e-9);
        let slices: u64 = row
            .slices
            .iter()
            .filter_map(|s| s.pool)
            .map(|p| p.max)
            .sum();
        assert_eq!(slices, 4 * 100 + 2 * 40);
    }
}
