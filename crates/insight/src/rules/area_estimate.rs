//! Estimate of what a larger allocation area saves. Helper of the rules `nursery-too-small` and `major-gc-heavy`.
//!
//! How much an area saves depends on how long the copied data lives. The mean lifetime, in bytes allocated, follows
//! from the live data and from what is added to it (Little's law). With lifetimes that are exponentially distributed,
//! of each byte allocated `s(A) = L / A · (1 - exp(-2 A / L))` are copied, with area `A` and mean lifetime `L`: young
//! data is copied by the next collection, and once more by the one after it. Data that lives on then is promoted, and
//! causes major collections.
//!
//! An area beyond the processor's caches costs, too: copying a byte of it takes up to 3 ns, the program itself runs
//! slower, and its memory is used for the first time. Constants are from 39 programs with three areas each
//! (`docs/findings.md`).

use super::major_gc_heavy::is_compacting;
use crate::collection_in_range::CollectionInRange;
use crate::collector::AREA_BYTES;
use crate::context::RuleContext;
use crate::finding::Advice;
use crate::flags::FIRST_USE_NS;
use crate::threads::median;
use model::gauge::Samples;

/// Copied share of allocation from which areas beyond the default of GHC 9.2 are advised: below it, they cost most
/// programs more cache misses than they save.
pub(super) const COPIED: f64 = 0.20;
/// Share of the time in minor collections, and in waiting for them, below which a larger area is not advised.
const MIN_SHARE: f64 = 0.10;
/// Allocation per capability between collections above which a larger area gains little.
pub(super) const LARGE_BYTES: u64 = 16 << 20;
/// Share of copied data below which what stays to the end dominates.
const FEW_SHORT_LIVED: f64 = 1.0 / 3.0;
/// Data that stays is copied twice: within the young generation, and into the old one.
const COPIES: u64 = 2;
/// Share of the time of major collections that is saved if nothing is promoted.
const OF_MAJORS: f64 = 0.7;
/// Time to copy a byte from which data does not come from the caches with the present area either: only then is an
/// area advised that is larger than most caches.
pub(super) const UNCACHED_NS: f64 = 1.5;
/// Share of what is copied from which data that stays may also be most of what is alive.
const MUCH_LASTING: f64 = 0.10;

/// Sums over minor collections.
pub(super) struct MinorTotals {
    pub(super) pause_ns: u64,
    pub(super) count: u64,
    /// Present area of a capability.
    area_bytes: u64,
    /// Median of the bytes allocated before each.
    pub(super) median_bytes: u64,
    /// Bytes allocated before all of them.
    allocated_bytes: u64,
    /// Bytes copied, without data that stays alive to the end.
    copied_bytes: u64,
    /// Bytes copied of data that stays alive to the end.
    pub(super) lasting_bytes: u64,
    /// Bytes copied by the thread that copied most, summed over collections.
    busiest_bytes: u64,
    /// Mean live data.
    live_bytes: f64,
    /// Sum of the pauses of major collections.
    major_ns: u64,
    /// Running time of a capability, on average.
    running_ns: u64,
    caps: u64,
}

/// What an area costs, besides memory, by its size for each capability.
struct AreaCost {
    /// Minimum time of copying a byte, in nanoseconds, and in relation to the present time.
    copy_ns: f64,
    copy_factor: f64,
    /// Share of the running time that the program takes longer.
    running: f64,
}

impl AreaCost {
    const fn new(area_bytes: u64) -> Self {
        let (copy_ns, copy_factor, running) = match area_bytes >> 20 {
            0..=4 => (1.2, 1.1, 0.05),
            5..=16 => (2.2, 1.2, 0.10),
            _ => (3.0, 1.2, 0.20),
        };
        Self {
            copy_ns,
            copy_factor,
            running,
        }
    }
}

impl MinorTotals {
    pub(super) fn new(
        context: &RuleContext<'_>,
        found: &[(usize, &CollectionInRange<'_>)],
    ) -> Self {
        let statistics = || found.iter().filter_map(|(_, gc)| gc.statistics);
        let sum = |of: fn(&analysis::numbers::Collection) -> u64| {
            statistics().fold(0, |sum: u64, statistics| sum.saturating_add(of(statistics)))
        };
        let allocated = statistics().map(|statistics| statistics.allocated_bytes);
        let copied = sum(|statistics| statistics.copied_bytes);
        let lasting = lasting_bytes(context).saturating_mul(COPIES).min(copied);
        Self {
            pause_ns: found.iter().map(|(_, gc)| gc.pause_ns()).sum(),
            count: found.len() as u64,
            area_bytes: context.allocation_area_bytes(),
            median_bytes: median(&mut allocated.collect::<Vec<u64>>()),
            allocated_bytes: sum(|statistics| statistics.allocated_bytes),
            copied_bytes: copied - lasting,
            lasting_bytes: lasting,
            busiest_bytes: sum(|statistics| {
                let is_parallel = statistics.is_parallel() && statistics.max_copied_bytes > 0;
                match is_parallel {
                    true => statistics.max_copied_bytes,
                    false => statistics.copied_bytes,
                }
            }),
            live_bytes: mean_live_bytes(context),
            major_ns: context
                .collections_where(|gc| gc.is_major)
                .map(|(_, gc)| gc.pause_ns())
                .sum(),
            running_ns: context.times.all_caps().running_ns / context.caps,
            caps: context.caps,
        }
    }

    /// Returns whether copying is the lesser part of what a collection takes: measured, one that copies nothing takes 10
    /// to 20 µs, as long as copying 64 KiB.
    pub(super) fn copy_little(&self) -> bool {
        const LITTLE_BYTES: u64 = 64 << 10;
        self.copied_bytes / self.count.max(1) < LITTLE_BYTES
    }

    /// Returns the mean lifetime of copied data, as bytes allocated meanwhile: what is alive, for what is added to it
    /// by each byte allocated. Data that is alive all the time makes it too large.
    pub(super) fn lifetime_bytes(&self) -> f64 {
        let added = (self.copied() / COPIES as f64).max(f64::MIN_POSITIVE);
        // What is copied lived through a part of the area.
        let least = self.copied() * self.median_bytes as f64;
        // What stays to the end is on average alive for half of the time, if live data grows steadily. If it is much,
        // too little would be left.
        let growing_bytes = match self.short_lived() < 1.0 - MUCH_LASTING {
            true => 0.0,
            false => (self.lasting_bytes / COPIES) as f64 / 2.0,
        };
        let lifetime = (self.live_bytes - growing_bytes) / added;
        match lifetime >= least {
            true => lifetime,
            // It did not grow steadily, so what else is alive is unknown.
            false => (self.live_bytes / added).max(least),
        }
    }

    /// Returns whether most of the copying is of data that stays to the end.
    pub(super) fn is_lasting(&self) -> bool {
        self.short_lived() < FEW_SHORT_LIVED
    }

    /// Returns the share of the copying that is saved if so much is allocated before each collection.
    pub(super) fn saved_by(&self, area_bytes: u64) -> f64 {
        self.saved_of(copies_of_each_byte, area_bytes)
    }

    /// Returns by how much what is done to each byte falls, as a share.
    fn saved_of(&self, each_byte: fn(f64) -> f64, area_bytes: u64) -> f64 {
        let with = |area: u64| each_byte(area as f64 / self.lifetime_bytes());
        let now = with(self.median_bytes).max(f64::MIN_POSITIVE);
        (1.0 - with(area_bytes) / now).max(0.0)
    }

    /// Returns the time in which one thread copies a byte, in nanoseconds.
    pub(super) fn copy_ns(&self) -> f64 {
        self.pause_ns as f64 / self.busiest_bytes.max(1) as f64
    }

    /// Returns what is allocated before each collection with another area. If one capability allocates most, its area
    /// alone counts.
    pub(super) fn bytes_before_each(&self, area_bytes: u64) -> u64 {
        let larger = area_bytes as f64 / self.area_bytes.max(1) as f64;
        (self.median_bytes as f64 * larger) as u64
    }

    /// Returns the time that an area saves, in nanoseconds, less what it costs; negative if it costs more. The area is
    /// given for each capability.
    pub(super) fn gain_ns(&self, area_bytes: u64) -> f64 {
        let all_bytes = self.bytes_before_each(area_bytes);
        let cost = AreaCost::new(area_bytes);
        let slower = cost
            .copy_factor
            .max(cost.copy_ns / self.copy_ns().max(f64::MIN_POSITIVE));
        let minor_ns = self.pause_ns as f64 * (1.0 - (1.0 - self.saved_by(all_bytes)) * slower);
        let promoted = self.saved_of(promotions_of_each_byte, all_bytes);
        let major_ns = self.major_ns as f64 * OF_MAJORS * promoted;
        let running_ns = self.running_ns as f64 * cost.running;
        let first_use_ns = all_bytes.saturating_mul(FIRST_USE_NS) as f64;
        (minor_ns + major_ns) * self.short_lived() - running_ns - first_use_ns
    }

    /// Returns how much is allocated in a second in which one thread runs, in bytes.
    pub(super) fn allocated_per_running_second(&self) -> u64 {
        let of_cap = self.allocated_bytes as f64 / self.caps.max(1) as f64;
        (of_cap * 1e9 / self.running_ns.max(1) as f64) as u64
    }

    /// Returns the share of copied data that does not stay.
    pub(super) fn short_lived(&self) -> f64 {
        let all = self.copied_bytes.saturating_add(self.lasting_bytes);
        self.copied_bytes as f64 / all.max(1) as f64
    }

    /// Returns the share of allocated data that is copied, without data that stays.
    pub(super) fn copied(&self) -> f64 {
        self.copied_bytes as f64 / self.allocated_bytes.max(1) as f64
    }
}

/// Returns how often each allocated byte is copied before it is old, on average, with an area of this many mean
/// lifetimes.
fn copies_of_each_byte(area: f64) -> f64 {
    let area = area.max(f64::MIN_POSITIVE);
    -(-2.0 * area).exp_m1() / area
}

/// Returns the share of allocated bytes that live through two collections, with an area of this many mean lifetimes.
fn promotions_of_each_byte(area: f64) -> f64 {
    let area = area.max(f64::MIN_POSITIVE);
    -(-area).exp_m1() / area * (-area).exp()
}

/// Returns the growth of live data according to major collections.
fn lasting_bytes(context: &RuleContext<'_>) -> u64 {
    let live = context.log.numbers.live();
    let (from, to) = (context.range.start().0, context.range.end().0);
    let last = live.first_after(to).checked_sub(1).map(|at| live.value(at));
    let first = live
        .first_after(from)
        .checked_sub(1)
        .map(|at| live.value(at));
    last.unwrap_or(0).saturating_sub(first.unwrap_or(0))
}

/// Returns the live data after each major collection, in bytes.
fn live_after_majors(context: &RuleContext<'_>) -> Vec<f64> {
    let live = context.log.numbers.live();
    let indices = live.first_at(context.range.start().0)..live.first_after(context.range.end().0);
    indices.map(|at| live.value(at) as f64).collect()
}

/// Returns the mean of the live data that major collections copied: large objects are not copied when they are young
/// either. A compacting or nonmoving collector does not copy old data, so all of it counts.
fn mean_live_bytes(context: &RuleContext<'_>) -> f64 {
    let all = live_after_majors(context);
    let live = all.iter().sum::<f64>() / all.len().max(1) as f64;
    if context.is_nonmoving() || context.has_argument("-c") || is_compacting(context) {
        return live;
    }
    let majors = context.collections_where(|gc| gc.is_major);
    let copied = majors.filter_map(|(_, gc)| Some(gc.statistics?.copied_bytes as f64));
    let copied: Vec<f64> = copied.collect();
    live.min(copied.iter().sum::<f64>() / copied.len().max(1) as f64)
}

/// Estimates how many bytes became old: after each major collection as many as let the old generation grow by its
/// factor, which causes the next one.
pub(super) fn promoted_bytes(context: &RuleContext<'_>) -> f64 {
    let all: f64 = live_after_majors(context).iter().sum();
    all * (context.old_generation_factor() - 1.0)
}

fn all_minors(context: &RuleContext<'_>) -> MinorTotals {
    let minors: Vec<_> = context.measured_collections(false).collect();
    MinorTotals::new(context, &minors)
}

/// Returns whether an area saves more than it costs, according to all minor collections: if data lives for longer than it
/// takes to fill it, it is promoted as before.
pub(super) fn pays(context: &RuleContext<'_>, area_bytes: u64) -> bool {
    let minors = all_minors(context);
    let leaves_cache = area_bytes > LARGE_BYTES && minors.copy_ns() < UNCACHED_NS;
    !minors.is_lasting() && !leaves_cache && minors.gain_ns(area_bytes) > 0.0
}

/// Returns advice to collect less often with the default area since GHC 9.2; `None` if the run has as much, or if what
/// is allocated lives for too long, or if minor collections take little time. In 40 judged programs that get it, this
/// area made 24 at least 5 % faster, and 5 slower; 16 or 64 MiB, measured in 12 of them, made 3 faster and 4 slower. On
/// another machine, with 512 KiB of cache for each core and 8 MiB for both, it made none of 12 more than 6 % faster.
pub(super) fn default_area_advice(context: &RuleContext<'_>) -> Option<Advice> {
    let is_default = |(_, bytes): &(&str, u64)| *bytes == AREA_BYTES;
    let (flag, bytes) = context.larger_areas().find(is_default)?;
    let minors = all_minors(context);
    let collecting = context
        .measured_collections(false)
        .map(|(_, gc)| gc.all_ns());
    let collecting_ns = collecting.fold(0, u64::saturating_add);
    let is_useful = context.share(collecting_ns) >= MIN_SHARE
        && (minors.copied() < COPIED || pays(context, bytes));
    is_useful.then(|| {
        Advice::flag(
            flag,
            "Collect less often. The gain depends on the processor's caches: measure it. Of 52 measured programs, this area made 24 faster and 5 slower.",
            "memory: 4 MiB for each capability",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the copies of objects whose lifetimes are drawn, with a collection whenever the area is full.
    #[test]
    fn what_is_copied_is_as_in_a_simulation() {
        const OBJECTS: u64 = 200_000;
        for area in [100, 1_000, 4_000, 20_000_u64] {
            let mean = 2_000.0;
            let mut random = fastrand::Rng::with_seed(7);
            let copies = (0..OBJECTS).map(|born| {
                let lifetime = -mean * (1.0 - random.f64()).ln();
                let first = area - born % area;
                // It is copied by the next collection and the one after it; then it is old.
                let collections = [first, first + area];
                collections
                    .iter()
                    .filter(|at| lifetime >= **at as f64)
                    .count() as u64
            });
            let simulated = copies.sum::<u64>() as f64 / OBJECTS as f64;
            let computed = copies_of_each_byte(area as f64 / mean);
            assert!(
                (simulated - computed).abs() < 0.02,
                "{area}: {simulated} {computed}"
            );
        }
    }

    #[test]
    fn a_larger_area_saves_more() {
        let totals = |lifetime: f64| MinorTotals {
            pause_ns: 0,
            count: 0,
            area_bytes: 1 << 20,
            median_bytes: 1 << 20,
            allocated_bytes: 1000,
            copied_bytes: 200,
            lasting_bytes: 0,
            busiest_bytes: 200,
            live_bytes: lifetime * 0.1,
            major_ns: 0,
            running_ns: 1_000_000_000,
            caps: 1,
        };
        for lifetime in [1e5, 1e6, 1e7, 1e8] {
            let saved = [20, 22, 24, 26].map(|bits| totals(lifetime).saved_by(1 << bits));
            assert_eq!(saved[0], 0.0, "{lifetime}");
            assert!(saved.is_sorted() && saved[3] < 1.0, "{lifetime}: {saved:?}");
        }
        // Copying that is fast now is done in the caches, so that a large area loses.
        let of_pause = |pause_ns| MinorTotals {
            pause_ns,
            copied_bytes: 1 << 30,
            busiest_bytes: 1 << 30,
            allocated_bytes: 4 << 30,
            ..totals(30e6)
        };
        let gain_ns = |pause_ns| of_pause(pause_ns).gain_ns(64 << 20);
        assert!(gain_ns(700_000_000) < 0.0 && gain_ns(4_000_000_000) > 1e9);
        // Data that dies at once is copied in proportion to the number of collections.
        assert!((totals(1.0).saved_by(4 << 20) - 0.75).abs() < 0.05);
    }
}
