//! Figures of the runtime's report.
//!
//! Counters (allocation, sparks) use their last sample before a time, and collections count where they begin, so
//! adjacent intervals add up exactly to the whole. A figure that the log does not have is `None`, never 0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::phases::Phases;
use super::process_numbers::ProcessNumbers;
use super::step_function::Window;
use super::tally::Tally;
use super::{Collection, Counters, Numbers};
use crate::account::report::{CapTimes, ProgramTimes};
use eventlog::ids::{CapId, Nanos};
use model::sorting::CompactCollect;
use model::time::{Interval, range_ns};

/// Figures of `+RTS -s`, for a log or a range.
///
/// Times are elapsed times in ns (CPU times are not logged), sizes are bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Range of the figures; a whole log is from its [begin](crate::info::Info::begin) to its last event.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// Bytes allocated by all capabilities.
    pub bytes_allocated: Option<u64>,
    /// Bytes copied by collections that begin in the range.
    pub bytes_copied: Option<u64>,
    /// Maximum live bytes after a collection of the oldest generation.
    pub max_residency: Option<u64>,
    /// Number of measurements of live bytes.
    pub residency_samples: Option<u64>,
    /// Maximum slop of collections of the oldest generation.
    pub max_slop: Option<u64>,
    /// Maximum memory held from the operating system after a collection. The runtime's own maximum is at least
    /// this, as a peak inside a collection is not logged.
    pub max_heap_size: Option<u64>,
    /// Maximum of held memory outside of any block, after a collection.
    pub max_fragmentation: Option<u64>,
    /// Figures by generation, youngest first, including generations without collections.
    pub generations: Vec<Generation>,
    /// Balance of copying in parallel collections, 0 to 1.
    pub work_balance: Option<f64>,
    /// Counts of sparks by fate.
    pub sparks: Option<SparkTotals>,
    /// INIT: startup of the runtime.
    pub init_ns: Option<u64>,
    /// MUT: the program, outside of collections. `None` if the log does not show the end of INIT or the start of
    /// EXIT.
    pub mutator_ns: Option<u64>,
    /// GC: collections as logged by their leading capabilities, including those of INIT and EXIT, without PROF.
    pub gc_ns: Option<u64>,
    /// PROF: counting of the heap for a profile ([`Class::Census`](model::class::Class::Census)), within
    /// collections. The runtime reports it separately from GC only in programs built for profiling; otherwise it
    /// is `None`. With retainer profiling, it includes the runtime's RP, which is not logged separately.
    #[serde(default)]
    pub prof_ns: Option<u64>,
    /// EXIT: shutdown of the runtime; `None` if the log ends before it, or does not show it.
    pub exit_ns: Option<u64>,
    /// Total elapsed time, up to the runtime's report.
    pub total_ns: u64,
    /// Share of the total without INIT, GC and EXIT, 0 to 1: MUT, and PROF if the runtime reports it.
    pub productivity: Option<f64>,
    /// Share of known capability time spent on running threads, 0 to 1.
    pub cap_busy: Option<f64>,
    /// Bytes allocated per second of mutator time.
    pub allocation_rate: Option<u64>,
    /// Time use and allocation by capability.
    pub capabilities: Vec<Capability>,
    /// Mean live bytes after collections of the oldest generation.
    pub average_residency: Option<u64>,
    /// Number of collections of all generations that begin in the range.
    pub collections: Option<u64>,
    /// Number of these that were parallel.
    pub parallel_collections: Option<u64>,
    /// Total time in which capabilities stopped for them; counted as mutator time.
    pub sync_ns: Option<u64>,
    /// Number of OS threads that first ran Haskell or collected in the range. The runtime's `TASKS` differs: it
    /// also counts each mark of the nonmoving collector, and no thread that has ended.
    pub os_threads: Option<u64>,
    /// Held memory outside of any block after the last collection that ended by the end of the range. The runtime's
    /// fragmentation is the one at its peak of memory.
    pub last_fragmentation: Option<u64>,
    /// Times of the capabilities and of the program.
    pub account: ProgramTimes,
    /// Times of the maxima above.
    pub places: MaximumTimes,
    /// Figures of each process, if several have written the log; the others are sums over all of them. Times of
    /// the mutator and of collections, and figures derived from them, are meaningful for a single program only,
    /// and are omitted then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessNumbers>,
}

/// Time of each maximum in a summary, at its first occurrence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaximumTimes {
    /// Collection of [`Summary::max_residency`], or the time of its sample.
    pub max_residency: Option<Interval>,
    /// Collection of [`Summary::max_slop`].
    pub max_slop: Option<Interval>,
    /// Collection of [`Summary::max_heap_size`], or the time of its sample; the start of the range if the value
    /// was reached before.
    pub max_heap_size: Option<Interval>,
    /// Collection of [`Summary::max_fragmentation`].
    pub max_fragmentation: Option<Interval>,
}

/// Figures of the collections of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// Number of the generation; the youngest is 0.
    #[serde(rename = "gen")]
    pub generation: u16,
    /// Number of collections that begin in the range.
    pub collections: u64,
    /// Number of these that were parallel.
    pub parallel: u64,
    /// Elapsed time of collections within the range, including one that begins before it.
    pub elapsed_ns: u64,
    /// Mean full pause of collections that begin in the range; 0 without any, as printed by the runtime.
    pub avg_pause_ns: u64,
    /// Longest pause in ns.
    pub max_pause_ns: u64,
    /// Time of the longest pause, at its first occurrence.
    pub longest: Option<Interval>,
}

/// Counts of sparks by fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkTotals {
    /// Total as counted by the runtime: put into a pool, dud and overflowed.
    pub count: u64,
    /// Put into a pool; `created` in the event `SparkCounters` and in JSON.
    #[serde(rename = "created")]
    pub pooled: u64,
    /// Taken from a pool and evaluated.
    pub converted: u64,
    /// Dropped because the pool was full.
    pub overflowed: u64,
    /// Not put into a pool, as they were already evaluated.
    pub dud: u64,
    /// Removed by the collector, as nothing else referred to them.
    pub gcd: u64,
    /// Found to have been evaluated in the meantime.
    pub fizzled: u64,
}

impl SparkTotals {
    /// Returns the differences between two states of the counters.
    pub(super) fn between(before: Option<Counters>, after: Option<Counters>) -> Self {
        let (a, b) = (before.unwrap_or_default(), after.unwrap_or_default());
        let pooled = b.created.saturating_sub(a.created);
        let overflowed = b.overflowed.saturating_sub(a.overflowed);
        let dud = b.dud.saturating_sub(a.dud);
        Self {
            count: pooled.saturating_add(overflowed).saturating_add(dud),
            pooled,
            converted: b.converted.saturating_sub(a.converted),
            overflowed,
            dud,
            gcd: b.gcd.saturating_sub(a.gcd),
            fizzled: b.fizzled.saturating_sub(a.fizzled),
        }
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.count = self.count.saturating_add(more.count);
        self.pooled = self.pooled.saturating_add(more.pooled);
        self.converted = self.converted.saturating_add(more.converted);
        self.overflowed = self.overflowed.saturating_add(more.overflowed);
        self.dud = self.dud.saturating_add(more.dud);
        self.gcd = self.gcd.saturating_add(more.gcd);
        self.fizzled = self.fizzled.saturating_add(more.fizzled);
    }
}

/// Time use and allocation of a capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// Capability of the row.
    pub cap: CapId,
    /// Time spent on running threads.
    pub mutator_ns: u64,
    /// Time in collections: collecting, waiting, or counting the heap.
    pub gc_ns: u64,
    /// Idle time, with or without a runnable thread.
    pub idle_ns: u64,
    /// Bytes allocated; `None` without a counter.
    pub bytes_allocated: Option<u64>,
}

/// Limit of generations with a row but no collection: above real use, below damaged declarations.
const GENERATIONS: u16 = 32;

impl Summary {
    /// Returns the time in collections: GC and PROF.
    pub fn in_collections_ns(&self) -> Option<u64> {
        let gc_ns = self.gc_ns?;
        Some(gc_ns.saturating_add(self.prof_ns.unwrap_or(0)))
    }
}

impl Numbers {
    /// Returns the time span of a range in a log whose last event is at `end`.
    pub fn span(&self, end: Nanos, range: Option<Interval>) -> Interval {
        let window = self.window(end, range);
        Interval::new(Nanos(window.from), Nanos(window.to))
    }

    /// Returns the bytes allocated by all capabilities in a range, or in the whole log.
    pub fn bytes_allocated(&self, end: Nanos, range: Option<Interval>) -> Option<u64> {
        let window = self.window(end, range);
        let caps = self.allocated.caps();
        sum(caps.filter_map(|(cap, _)| self.allocated.growth(cap, window)))
    }

    /// Computes the figures of a range, or of the whole log, whose last event is at `end`.
    ///
    /// `account` must cover the same range; `has_prof` is whether the runtime reports PROF.
    pub(crate) fn summary(
        &self,
        end: Nanos,
        range: Option<Interval>,
        account: &ProgramTimes,
        (phases, has_prof): (&Phases, bool),
    ) -> Summary {
        let window = self.window(end, range);
        let all = &self.collections.all[..];
        let tally = self.collections.tallies.tally(all, window);
        let logged = |number: u64| self.heap_logged.then_some(number);
        let total_ns = phases.reported(window).duration();
        let collections_ns = self.gc_ns(&tally, window);
        let prof_ns = collections_ns.filter(|_| has_prof);
        let prof_ns = prof_ns.map(|all_ns| all_ns.min(account.census_ns()));
        let gc_ns = collections_ns.map(|all_ns| all_ns - prof_ns.unwrap_or(0));
        // A range that ends before the log has no part in EXIT, unless the start of EXIT is known.
        let is_before_exit = phases.are_known() && window.to < end.0;
        let no_exit = is_before_exit.then(|| window.clip(window.to, window.to));
        let [init_ns, exit_ns] = [phases.init(window), phases.exit(window).or(no_exit)]
            .map(|phase| phase.map(|phase| self.outside_of_collections(phase)));
        let others = [collections_ns, init_ns, exit_ns].into_iter().flatten();
        let mutator_ns = gc_ns
            .filter(|_| phases.are_known())
            .map(|_| total_ns.saturating_sub(total(others)));
        let bytes_allocated = self.bytes_allocated(end, range);
        let live: Vec<(u64, u64)> = self.live.within(window).collect();
        let max_residency = first_maximum(live.iter().copied());
        let max_heap_size = first_maximum(self.heap_size.within(window));
        let oldest = self.oldest_generation();
        let mut of_generations = tally.generations.iter();
        let of_oldest = of_generations.find(|row| Some(row.generation) == oldest);
        let most_slop = of_oldest.and_then(|row| row.most_slop);
        Summary {
            range: self.span(end, range),
            bytes_allocated,
            bytes_copied: logged(tally.copied_bytes),
            max_residency: max_residency.map(|(_, bytes)| bytes),
            residency_samples: logged(live.len() as u64),
            max_slop: most_slop.map(|most| most.value),
            max_heap_size: max_heap_size.map(|(_, bytes)| bytes),
            max_fragmentation: tally.most_fragmentation.map(|most| most.value),
            last_fragmentation: self
                .collections
                .tallies
                .last_ended(all, window.to)
                .map(|gc| gc.fragmentation_bytes),
            generations: self.generations(&tally),
            work_balance: tally.work_balance(),
            sparks: self.spark_totals(window),
            init_ns,
            mutator_ns,
            gc_ns,
            prof_ns,
            exit_ns,
            total_ns,
            productivity: mutator_ns
                .filter(|_| total_ns > 0)
                .map(|mutator_ns| (mutator_ns + prof_ns.unwrap_or(0)) as f64 / total_ns as f64),
            cap_busy: account.productivity(),
            allocation_rate: allocation_rate(bytes_allocated, mutator_ns),
            capabilities: self.capabilities(window, account),
            average_residency: total(live.iter().map(|&(_, bytes)| bytes))
                .checked_div(live.len() as u64),
            collections: (self.heap_logged || self.collections.any)
                .then(|| self.collections_in(window).count() as u64),
            parallel_collections: logged(tally.all(|row| row.parallel)),
            sync_ns: tally.sync_ns,
            os_threads: self.os_threads(|at| window.contains(at)),
            account: account.clone(),
            places: MaximumTimes {
                max_residency: max_residency
                    .map(|sample| self.time_of_maximum(sample, |gc| gc.live_bytes)),
                max_slop: most_slop.map(|most| most.at),
                max_heap_size: max_heap_size
                    .map(|sample| self.time_of_maximum(sample, |gc| gc.heap_size_bytes)),
                max_fragmentation: tally.most_fragmentation.map(|most| most.at),
            },
            processes: Vec::new(),
        }
    }

    /// Returns the time of the collection that a sample belongs to, or else of the sample.
    fn time_of_maximum(
        &self,
        (at, value): (u64, u64),
        told: fn(&Collection) -> Option<u64>,
    ) -> Interval {
        let all = &self.collections.all[..];
        let next = all.partition_point(|gc| gc.end.0 <= at);
        let near = all.get(next.saturating_sub(1)..).unwrap_or_default();
        let gc = near.iter().take(2).find(|gc| told(gc) == Some(value));
        gc.map_or(Interval::empty_at(Nanos(at)), |gc| {
            Interval::new(gc.start, gc.end)
        })
    }

    /// Returns the time of collections in a window; `None` if the log has no events of the collector.
    fn gc_ns(&self, tally: &Tally, window: Window) -> Option<u64> {
        let without_statistics = self.collections.without_statistics.iter();
        let without_statistics =
            total(without_statistics.map(|gc| window.overlap_ns(gc.start.0, gc.end.0)));
        let time = without_statistics.saturating_add(tally.all(|row| row.elapsed_ns));
        (self.heap_logged || self.collections.any).then_some(time)
    }

    /// Returns the time outside of collections in a window.
    fn outside_of_collections(&self, window: Window) -> u64 {
        let tally = self
            .collections
            .tallies
            .tally(&self.collections.all, window);
        let gc_ns = self.gc_ns(&tally, window).unwrap_or(0);
        window.duration().saturating_sub(gc_ns)
    }

    fn generations(&self, tally: &Tally) -> Vec<Generation> {
        let known = self.oldest_generation().filter(|_| self.heap_logged);
        let known = 0..known.map_or(0, |oldest| oldest.min(GENERATIONS - 1) + 1);
        let seen = self.collections.tallies.generations.iter().copied();
        let mut rows: BTreeMap<u16, Generation> = known
            .chain(seen)
            .map(|generation| {
                let row = Generation {
                    generation,
                    ..Generation::default()
                };
                (generation, row)
            })
            .collect_small();
        for of in &tally.generations {
            let row = rows.entry(of.generation).or_default();
            row.collections = of.collections;
            row.parallel = of.parallel;
            row.elapsed_ns = of.elapsed_ns;
            row.avg_pause_ns = of.pauses_ns.checked_div(of.collections).unwrap_or(0);
            row.max_pause_ns = of.longest_pause.map_or(0, |longest| longest.value);
            row.longest = of.longest_pause.map(|longest| longest.at);
        }
        rows.into_values().collect()
    }

    pub(super) fn spark_totals(&self, window: Window) -> Option<SparkTotals> {
        let mut totals = None;
        for (_, counters) in self.spark_counters.caps() {
            let (before, after) = counters.ends(window);
            let totals: &mut SparkTotals = totals.get_or_insert_default();
            totals.add(&SparkTotals::between(before, after));
        }
        totals
    }

    fn capabilities(&self, window: Window, account: &ProgramTimes) -> Vec<Capability> {
        let row = |&(cap, times): &(CapId, CapTimes)| Capability {
            cap,
            mutator_ns: times.running_ns,
            gc_ns: times.in_collections_ns(),
            idle_ns: times.all_idle_ns(),
            bytes_allocated: self.allocated.growth(cap, window),
        };
        account.caps.iter().map(row).collect()
    }
}

fn total(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// Returns the first sample with the maximum value.
fn first_maximum(samples: impl Iterator<Item = (u64, u64)>) -> Option<(u64, u64)> {
    samples.reduce(|most, later| if later.1 > most.1 { later } else { most })
}

/// Returns the sum; `None` if there is nothing to add.
fn sum(numbers: impl Iterator<Item = u64>) -> Option<u64> {
    numbers.reduce(u64::saturating_add)
}

fn allocation_rate(bytes: Option<u64>, mutator_ns: Option<u64>) -> Option<u64> {
    let (bytes, mutator_ns) = (bytes?, mutator_ns?);
    let per_second = (u128::from(bytes) * 1_000_000_000).checked_div(mutator_ns.into())?;
    Some(u64::try_from(per_second).unwrap_or(u64::MAX))
}
