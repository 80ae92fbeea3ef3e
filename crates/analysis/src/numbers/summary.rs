//! The runtime's report in numbers.
//!
//! Counters (allocation, sparks) count as of their last sample before a moment, and
//! collections where they begin, so that intervals that follow each other add up
//! exactly to the whole. A number that the log does not have is `None`, never 0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::of_processes::ProcessNumbers;
use super::phases::Phases;
use super::steps::Window;
use super::tally::Tally;
use super::{Collection, Counters, Numbers};
use crate::account::report::{CapTimes, ProgramTimes};
use eventlog::ids::{CapId, Nanos};
use model::time::{Interval, range_ns};

/// The numbers of `+RTS -s`, of a log or of an interval of it. Times are elapsed
/// time in nanoseconds (CPU times are not in a log), sizes are bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The part of the log that the numbers are of; a whole log counts from the start of its clock.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// All capabilities together.
    pub bytes_allocated: Option<u64>,
    /// By the collections that begin inside.
    pub bytes_copied: Option<u64>,
    /// The most that was live after a collection of the oldest generation.
    pub max_residency: Option<u64>,
    /// How many times it was looked at what is live.
    pub residency_samples: Option<u64>,
    /// The largest slop of collections of the oldest generation.
    pub max_slop: Option<u64>,
    /// The most that the runtime held of the system's memory after a collection. The runtime's own
    /// maximum is at least this: a peak inside of a collection is not in the log.
    pub max_heap_size: Option<u64>,
    /// The most memory that was held after a collection and not used.
    pub max_fragmentation: Option<u64>,
    /// By generation, the youngest first; those without collections too.
    pub generations: Vec<Generation>,
    /// How evenly the threads copied in parallel collections, 0 to 1.
    pub work_balance: Option<f64>,
    /// What became of sparks.
    pub sparks: Option<SparkTotals>,
    /// INIT: the runtime starts.
    pub init_ns: Option<u64>,
    /// MUT: the program, outside of collections. `None` if the log does not tell when INIT ends
    /// or EXIT begins.
    pub mutator_ns: Option<u64>,
    /// GC: collections, as the leading capability tells them, those of INIT and EXIT too; without PROF.
    pub gc_ns: Option<u64>,
    /// PROF: the heap was counted for a profile ([`Class::Census`](model::class::Class::Census)), in collections. The
    /// runtime reports it apart from GC in programs that are built for profiling, and only there; else it is `None`.
    /// With retainer profiling it has the runtime's RP too, as the log does not tell these apart.
    #[serde(default)]
    pub prof_ns: Option<u64>,
    /// EXIT: the runtime ends; `None` if the log ends before it, or does not tell.
    pub exit_ns: Option<u64>,
    /// All of these, up to the runtime's report.
    pub total_ns: u64,
    /// The total without INIT, GC and EXIT as a share of it, 0 to 1: MUT, and PROF if the runtime reports it.
    pub productivity: Option<f64>,
    /// The share of the time of capabilities in which they ran threads, of what the log tells of:
    /// 0 to 1.
    pub cap_busy: Option<f64>,
    /// Bytes in each second of the mutator's time.
    pub allocation_rate: Option<u64>,
    /// Each capability.
    pub capabilities: Vec<Capability>,
    /// The mean of what was live after collections of the oldest generation.
    pub average_residency: Option<u64>,
    /// Collections of all generations that begin inside.
    pub collections: Option<u64>,
    /// How many of them were parallel.
    pub parallel_collections: Option<u64>,
    /// How long their capabilities took to stop, together; it is mutator time.
    pub sync_ns: Option<u64>,
    /// OS threads that first ran Haskell or collected inside. The runtime's `TASKS` counts others:
    /// each mark of the nonmoving collector too, and none that has ended.
    pub os_threads: Option<u64>,
    /// The memory that was held and not used after the last collection that has ended by the end of
    /// the interval. The runtime's fragmentation is that at the peak of its memory.
    pub last_fragmentation: Option<u64>,
    /// Where the time of the capabilities and of the program went.
    pub account: ProgramTimes,
    /// Where the largest of these numbers are.
    pub places: Places,
    /// The numbers of each process, if several have written the log: the others are of all of them
    /// together. Times of the mutator and of collections, and what follows from them, make sense
    /// of one program only, and are there no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessNumbers>,
}

/// When the numbers of a summary that are the most of something were reached, each for
/// the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The collection of [`Summary::max_residency`], or the moment of its sample.
    pub max_residency: Option<Interval>,
    /// The collection of [`Summary::max_slop`].
    pub max_slop: Option<Interval>,
    /// The collection of [`Summary::max_heap_size`], or the moment of its sample; the
    /// begin of the interval if it was as large then already.
    pub max_heap_size: Option<Interval>,
    /// The collection of [`Summary::max_fragmentation`].
    pub max_fragmentation: Option<Interval>,
}

/// The collections of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// Its number; the youngest is 0.
    #[serde(rename = "gen")]
    pub generation: u16,
    /// How many begin inside.
    pub collections: u64,
    /// How many of them were parallel.
    pub parallel: u64,
    /// Their time inside of the interval, also of one that begins before it.
    pub elapsed_ns: u64,
    /// The mean pause of those that begin inside, to their ends; 0 of none, as
    /// the runtime prints it.
    pub avg_pause_ns: u64,
    /// The longest.
    pub max_pause_ns: u64,
    /// When that was, for the first time.
    pub longest: Option<Interval>,
}

/// What became of sparks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparkTotals {
    /// All, as the runtime counts them: put into a pool, dud and overflowed.
    pub count: u64,
    /// Put into a pool: what the event `SparkCounters`, and JSON, call created.
    #[serde(rename = "created")]
    pub pooled: u64,
    /// Taken from a pool and evaluated.
    pub converted: u64,
    /// Dropped because the pool was full.
    pub overflowed: u64,
    /// Not put into a pool because they were evaluated already.
    pub dud: u64,
    /// Removed by the collector, as nothing else wanted them.
    pub gcd: u64,
    /// Found to have been evaluated meanwhile.
    pub fizzled: u64,
}

impl SparkTotals {
    /// What happened from one moment to another.
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

/// How a capability spent the time, and what it allocated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// The capability that these are about.
    pub cap: CapId,
    /// Running threads.
    pub mutator_ns: u64,
    /// In collections: collecting, waiting in them, counting the heap.
    pub gc_ns: u64,
    /// Standing by, with a thread ready or without.
    pub idle_ns: u64,
    /// What it allocated.
    pub bytes_allocated: Option<u64>,
}

/// Generations of which there are rows without a collection: more than any
/// program asks for, fewer than a damaged log may declare.
const GENERATIONS: u16 = 32;

impl Summary {
    /// The time in collections: GC and PROF.
    #[must_use]
    pub fn in_collections_ns(&self) -> Option<u64> {
        let gc_ns = self.gc_ns?;
        Some(gc_ns.saturating_add(self.prof_ns.unwrap_or(0)))
    }
}

impl Numbers {
    /// The span that a range stands for in a log whose last event is at `end`.
    #[must_use]
    pub fn span(end: Nanos, range: Option<Interval>) -> Interval {
        let window = Self::window(end, range);
        Interval::new(Nanos(window.from), Nanos(window.to))
    }

    /// What all capabilities allocated in the part of a log that `range` names,
    /// or in all of it.
    #[must_use]
    pub fn bytes_allocated(&self, end: Nanos, range: Option<Interval>) -> Option<u64> {
        let window = Self::window(end, range);
        let caps = self.allocated.caps();
        sum(caps.filter_map(|(cap, _)| self.allocated.growth(cap, window)))
    }

    /// The numbers of the part of a log that `range` names, or of all of it. The
    /// last event is at `end`; `account` is that of the same part. `has_prof` is whether the runtime
    /// reports PROF.
    #[must_use]
    pub(crate) fn summary(
        &self,
        end: Nanos,
        range: Option<Interval>,
        account: &ProgramTimes,
        (phases, has_prof): (&Phases, bool),
    ) -> Summary {
        let window = Self::window(end, range);
        let all = &self.collections.all[..];
        let tally = self.collections.tallies.tally(all, window);
        let logged = |number: u64| self.heap_logged.then_some(number);
        let total_ns = phases.reported(window).duration();
        let collections_ns = self.gc_ns(&tally, window);
        let prof_ns = collections_ns.filter(|_| has_prof);
        let prof_ns = prof_ns.map(|all_ns| all_ns.min(account.census_ns()));
        let gc_ns = collections_ns.map(|all_ns| all_ns - prof_ns.unwrap_or(0));
        // Nothing of EXIT is in a part that ends before the log does, unless its start is known.
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
        let max_residency = first_most(live.iter().copied());
        let max_heap_size = first_most(self.heap_size.within(window));
        let oldest = self.oldest_generation();
        let mut of_generations = tally.generations.iter();
        let of_oldest = of_generations.find(|row| Some(row.generation) == oldest);
        let most_slop = of_oldest.and_then(|row| row.most_slop);
        Summary {
            range: Self::span(end, range),
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
            os_threads: (!self.first_tasks.is_empty()).then(|| {
                let first = self.first_tasks.iter();
                first.filter(|&&at| window.has(at)).count() as u64
            }),
            account: account.clone(),
            places: Places {
                max_residency: max_residency
                    .map(|sample| self.place_of(sample, |gc| gc.live_bytes)),
                max_slop: most_slop.map(|most| most.at),
                max_heap_size: max_heap_size
                    .map(|sample| self.place_of(sample, |gc| gc.heap_size_bytes)),
                max_fragmentation: tally.most_fragmentation.map(|most| most.at),
            },
            processes: Vec::new(),
        }
    }

    /// The collection that a sample was taken in, or else the moment of the sample.
    fn place_of(&self, (at, value): (u64, u64), told: fn(&Collection) -> Option<u64>) -> Interval {
        let all = &self.collections.all[..];
        let next = all.partition_point(|gc| gc.end.0 <= at);
        let near = all.get(next.saturating_sub(1)..).unwrap_or_default();
        let gc = near.iter().take(2).find(|gc| told(gc) == Some(value));
        gc.map_or(Interval::at(Nanos(at)), |gc| {
            Interval::new(gc.start, gc.end)
        })
    }

    /// The time of collections in a window; `None` if the log has no events of
    /// the collector.
    fn gc_ns(&self, tally: &Tally, window: Window) -> Option<u64> {
        let untold = self.collections.untold.iter();
        let untold = total(untold.map(|gc| window.part_of(gc.start.0, gc.end.0)));
        let time = untold.saturating_add(tally.all(|row| row.elapsed_ns));
        (self.heap_logged || self.collections.any).then_some(time)
    }

    /// What of a window is outside of collections.
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
            .collect();
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

/// The first of the samples with the largest value.
fn first_most(samples: impl Iterator<Item = (u64, u64)>) -> Option<(u64, u64)> {
    samples.reduce(|most, later| if later.1 > most.1 { later } else { most })
}

/// The sum, if there is something to sum up.
fn sum(numbers: impl Iterator<Item = u64>) -> Option<u64> {
    numbers.reduce(u64::saturating_add)
}

fn allocation_rate(bytes: Option<u64>, mutator_ns: Option<u64>) -> Option<u64> {
    let (bytes, mutator_ns) = (bytes?, mutator_ns?);
    let per_second = (u128::from(bytes) * 1_000_000_000).checked_div(mutator_ns.into())?;
    Some(u64::try_from(per_second).unwrap_or(u64::MAX))
}
