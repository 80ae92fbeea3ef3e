//! Would a larger allocation area save collections?
//!
//! A minor collection copies what is alive of the most recent allocation. The more is allocated in between, the
//! more of it has died by then. A larger area saves time if collections copy much of what was allocated. If they
//! copy little, the data already dies in time, and a larger area costs cache misses; `docs/findings.md` has
//! programs of both kinds. Data that is never dropped is copied with any area: into the old generation, by two
//! collections.
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

use super::census::Peak;
use super::requested_collections::claim_collections;
use super::{Evaluation, Rule};
use crate::context::{AREA_BYTES, GcPause, Input, OLD_AREA_BYTES, RuleContext};
use crate::finding::{Advice, Confidence, Finding, Outcome, Severity, Value};
use crate::flags::FIRST_USE_NS;
use crate::loss_budget::LossBudget;
use model::format;
use model::gauge::Samples;

/// Minimum share of the time; less is usual for Haskell programs.
const MIN_SHARE: f64 = 0.10;
/// Minimum number of collections; fewer cannot be reduced much.
const MIN_COUNT: usize = 50;
/// Allocation per capability between collections above which a larger area gains little.
const LARGE_BYTES: u64 = 16 << 20;
/// Copied share of allocation from which areas beyond the default of GHC 9.2 are advised: below it, they cost most
/// programs more cache misses than they save.
const COPIED: f64 = 0.20;
/// Share of copied data below which what stays to the end dominates.
const FEW_SHORT_LIVED: f64 = 1.0 / 3.0;
/// Data that stays is copied twice: within the young generation, and into the old one.
const COPIES: u64 = 2;
/// Share of the time from which copying matters, although no larger area certainly saves it.
const MUCH_COPYING: f64 = 0.25;
/// Share of the largest predicted saving from which a smaller area saves enough.
const MOST_SAVED: f64 = 0.75;
/// Minimum predicted saving, as a share of the time.
const MIN_SAVED: f64 = 0.06;
/// Share of the time of major collections that is saved if nothing is promoted.
const OF_MAJORS: f64 = 0.7;
/// Time to copy a byte from which data does not come from the caches with the present area either: only then is an
/// area advised that is larger than most caches.
const UNCACHED_NS: f64 = 1.5;
/// Share of what is copied from which data that stays may also be most of what is alive.
const MUCH_LASTING: f64 = 0.10;

pub(crate) const NAME: &str = "nursery-too-small";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Would a larger allocation area save collections?",
    inputs: &[Input::Collections, Input::GcStatistics],
    evaluate: Evaluation::Immediate(evaluate),
};

/// Sums over minor collections.
struct MinorTotals {
    pause_ns: u64,
    count: u64,
    /// Present area of a capability.
    area_bytes: u64,
    /// Median of the bytes allocated before each.
    median_bytes: u64,
    /// Bytes allocated before all of them.
    allocated_bytes: u64,
    /// Bytes copied, without data that stays alive to the end.
    copied_bytes: u64,
    /// Bytes copied of data that stays alive to the end.
    lasting_bytes: u64,
    /// Bytes copied by the thread that copied most, summed over collections.
    busiest_bytes: u64,
    /// Mean live data.
    live_bytes: f64,
    /// Sum of the pauses of major collections.
    major_ns: u64,
    /// Running time of a capability, on average.
    running_ns: u64,
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
    fn new(context: &RuleContext<'_>, found: &[(usize, &GcPause<'_>)]) -> Self {
        let statistics = || found.iter().filter_map(|(_, gc)| gc.statistics);
        let sum = |of: fn(&analysis::numbers::Collection) -> u64| {
            statistics().fold(0, |sum: u64, statistics| sum.saturating_add(of(statistics)))
        };
        let mut allocated: Vec<u64> = statistics()
            .map(|statistics| statistics.allocated_bytes)
            .collect();
        allocated.sort_unstable();
        let copied = sum(|statistics| statistics.copied_bytes);
        let lasting = lasting_bytes(context).saturating_mul(COPIES).min(copied);
        Self {
            pause_ns: found.iter().map(|(_, gc)| gc.pause_ns()).sum(),
            count: found.len() as u64,
            area_bytes: context.allocation_area_bytes(),
            median_bytes: allocated.get(allocated.len() / 2).copied().unwrap_or(0),
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
                .gc_pauses_where(|gc| gc.is_major)
                .map(|(_, gc)| gc.pause_ns())
                .sum(),
            running_ns: context.times.all_caps().running_ns / context.caps,
        }
    }

    /// Returns the mean lifetime of copied data, as bytes allocated meanwhile: what is alive, for what is added to it
    /// by each byte allocated. Data that is alive all the time makes it too large.
    fn lifetime_bytes(&self) -> f64 {
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
    fn is_lasting(&self) -> bool {
        self.short_lived() < FEW_SHORT_LIVED
    }

    /// Returns the share of the copying that is saved if so much is allocated before each collection.
    fn saved_by(&self, area_bytes: u64) -> f64 {
        self.saved_of(copies_of_each_byte, area_bytes)
    }

    /// Returns by how much what is done to each byte falls, as a share.
    fn saved_of(&self, each_byte: fn(f64) -> f64, area_bytes: u64) -> f64 {
        let with = |area: u64| each_byte(area as f64 / self.lifetime_bytes());
        let now = with(self.median_bytes).max(f64::MIN_POSITIVE);
        (1.0 - with(area_bytes) / now).max(0.0)
    }

    /// Returns the time in which one thread copies a byte, in nanoseconds.
    fn copy_ns(&self) -> f64 {
        self.pause_ns as f64 / self.busiest_bytes.max(1) as f64
    }

    /// Returns what is allocated before each collection with another area. If one capability allocates most, its area
    /// alone counts.
    fn bytes_before_each(&self, area_bytes: u64) -> u64 {
        let larger = area_bytes as f64 / self.area_bytes.max(1) as f64;
        (self.median_bytes as f64 * larger) as u64
    }

    /// Returns the time that an area saves, in nanoseconds, less what it costs; negative if it costs more. The area is
    /// given for each capability.
    fn gain_ns(&self, area_bytes: u64) -> f64 {
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

    /// Returns the share of copied data that does not stay.
    fn short_lived(&self) -> f64 {
        let all = self.copied_bytes.saturating_add(self.lasting_bytes);
        self.copied_bytes as f64 / all.max(1) as f64
    }

    /// Returns the share of allocated data that is copied, without data that stays.
    fn copied(&self) -> f64 {
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

/// Returns the mean of live data after major collections.
fn mean_live_bytes(context: &RuleContext<'_>) -> f64 {
    let live = context.log.numbers.live();
    let indices = live.first_at(context.range.start().0)..live.first_after(context.range.end().0);
    let count = indices.len().max(1) as f64;
    indices.map(|at| live.value(at) as f64).sum::<f64>() / count
}

fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let is_minor = |gc: &GcPause<'_>| gc.statistics.is_some() && !gc.is_major;
    let all = context.gc_pauses_where(is_minor).count();
    let found: Vec<_> = context
        .gc_pauses_where(is_minor)
        .filter(|(index, _)| loss_budget.is_pause_free(*index))
        .collect();
    let minors = MinorTotals::new(context, &found);
    let share = context.share(minors.pause_ns);
    let is_small = minors.median_bytes <= LARGE_BYTES.saturating_mul(context.caps);
    // If a small area was requested, the rule on costly flags advises to drop it.
    let is_area_requested = small_area_option(context).is_some() && minors.copied() < COPIED;
    if share < MIN_SHARE || found.len() < MIN_COUNT || !is_small || is_area_requested {
        let others = match all - found.len() {
            0 => String::new(),
            others => format!(
                " (another finding has {} more)",
                format::count(others as u64)
            ),
        };
        return Outcome::Clear(format!(
            "{}{others} took {} of the time, with {} allocated before each, of which {} was copied; the limits are 10 % and {} for each capability",
            format::pluralize(minors.count, "minor collection"),
            format::fraction(share),
            format::bytes(minors.median_bytes),
            format::fraction(minors.copied()),
            format::bytes(LARGE_BYTES)
        ));
    }
    let title = format!(
        "{} took {} of the time",
        format::pluralize(minors.count, "minor collection"),
        format::fraction(share)
    );
    let mut finding = claim_collections(context, loss_budget, &found, (NAME, title));
    let lists = list_cells(context);
    explain(context, &minors, &mut finding);
    if let Some(share) = lists {
        let text = format!(
            "List cells are {} of the largest census: if most of them are Strings, use Text or ByteString; if they are numbers, an unboxed array or a loop without a list.",
            format::fraction(share)
        );
        finding.tries.insert(0, Advice::code(text));
    }
    finding.numbers = vec![
        ("collections".into(), Value::Count(minors.count)),
        (
            "allocated before each".into(),
            Value::Bytes(minors.median_bytes),
        ),
        (
            "copied of what was allocated".into(),
            Value::Share(minors.copied()),
        ),
        (
            "copied that stays".into(),
            Value::Bytes(minors.lasting_bytes),
        ),
        (
            "allocated while it lives, on average".into(),
            Value::Bytes(minors.lifetime_bytes() as u64),
        ),
    ];
    Outcome::Found(vec![finding])
}

/// Returns the share of list cells in the largest census, if that is most of it.
fn list_cells(context: &RuleContext<'_>) -> Option<f64> {
    const MOST: f64 = 0.50;
    let peak = Peak::find(context)?;
    let cells = peak.types(|name| matches!(name.rsplit('.').next(), Some(":" | "(:)")));
    let bytes: u64 = cells.iter().map(|(_, bytes)| bytes).sum();
    let share = bytes as f64 / peak.bytes.max(1) as f64;
    (share >= MOST).then_some(share)
}

/// Returns the option that sets an area below any default.
pub(super) fn small_area_option(context: &RuleContext<'_>) -> Option<String> {
    let value = context.option_value("-A")?;
    (context.allocation_area_bytes() < OLD_AREA_BYTES).then(|| format!("-A{value}"))
}

/// Returns whether an area saves more than it costs, according to all minor collections: if data lives for longer than it
/// takes to fill it, it is promoted as before.
pub(super) fn pays(context: &RuleContext<'_>, area_bytes: u64) -> bool {
    let is_minor = |gc: &GcPause<'_>| gc.statistics.is_some() && !gc.is_major;
    let minors: Vec<_> = context.gc_pauses_where(is_minor).collect();
    let minors = MinorTotals::new(context, &minors);
    let leaves_cache = area_bytes > LARGE_BYTES && minors.copy_ns() < UNCACHED_NS;
    !minors.is_lasting() && !leaves_cache && minors.gain_ns(area_bytes) > 0.0
}

/// Area to advise, with what it saves.
struct AdvisedArea {
    flag: &'static str,
    /// Share of the copying that it saves.
    saved: f64,
    /// Share of the time that it saves.
    gain: f64,
}

impl AdvisedArea {
    /// Finds the smallest area that saves most of what can be saved; `None` if that is little.
    fn find(context: &RuleContext<'_>, minors: &MinorTotals) -> Option<Self> {
        let most_bytes = if minors.copied() < COPIED {
            AREA_BYTES
        } else if minors.copy_ns() < UNCACHED_NS {
            LARGE_BYTES
        } else {
            u64::MAX
        };
        let areas = context.larger_areas();
        let areas = areas.filter(|(_, bytes)| *bytes <= most_bytes && !minors.is_lasting());
        let areas = areas.map(|(flag, bytes)| Self {
            flag,
            saved: minors.saved_by(minors.bytes_before_each(bytes)),
            gain: minors.gain_ns(bytes) / context.length_ns() as f64,
        });
        let useful: Vec<Self> = areas.filter(|area| area.gain >= MIN_SAVED).collect();
        let best = useful.iter().map(|area| area.gain).fold(0.0, f64::max);
        { useful.into_iter() }.find(|area| area.gain >= MOST_SAVED * best)
    }
}

/// Says what was copied, and how much of that a larger area would save.
fn explain(context: &RuleContext<'_>, minors: &MinorTotals, finding: &mut Finding) {
    let area = AdvisedArea::find(context, minors);
    let gain = area.as_ref().map_or(0.0, |area| area.gain);
    finding.confidence = area
        .as_ref()
        .map_or(Confidence::Hint, |_| Confidence::Probable);
    let is_unsure = area.is_none() && !minors.is_lasting() && minors.copied() >= COPIED;
    let least = match is_unsure && finding.share >= MUCH_COPYING {
        true => Severity::Medium,
        false => Severity::Low,
    };
    finding.severity = Severity::of_share(gain).max(least).min(finding.severity);
    finding.meaning = meaning(minors, area.as_ref()).into();
    finding.distrust =
        "The lifetime is an estimate: data that is alive all the time makes it too long.".into();
    if let Some(area) = area {
        finding.distrust = "The estimate assumes that old and new data die alike.".into();
        finding.tries.push(Advice::flag(
            area.flag,
            format!(
                "Collect less often: an estimated {} of what is copied would be garbage by then. Less what larger areas cost in cache misses, that saves an estimated {} of the time.",
                format::fraction(area.saved),
                format::fraction(area.gain)
            ),
            "memory: as much for each capability; an area larger than the processor's cache slows some programs down",
        ));
    } else if !minors.is_lasting() && minors.copied() < COPIED {
        finding.distrust =
            "If the area fits the processor's cache, a larger one slows the program itself down."
                .into();
        if minors.gain_ns(AREA_BYTES) > 0.0 {
            finding.tries.extend(context.default_area_advice());
        }
    }
    if is_unsure {
        finding.tries.push(Advice::code("Measure larger areas (eventscope try): the estimate is too low if most data lives as long as the rest."));
    }
    if let Some(flag) = small_area_option(context) {
        finding.tries.push(Advice::code(format!(
            "Drop {flag}: the default is 1 MiB before GHC 9.2, and 4 MiB since."
        )));
    }
    finding.tries.push(Advice::code(
        "Allocate less: a profile by cost centres (-p) or ticky counters name the code that allocates.",
    ));
}

fn meaning(minors: &MinorTotals, area: Option<&AdvisedArea>) -> String {
    let copied = format::fraction(minors.copied());
    if minors.is_lasting() {
        return format!(
            "Most of what they copied, {}, stays to the end: it is copied with any allocation area.",
            format::bytes(minors.lasting_bytes)
        );
    }
    let copied = format!(
        "Collections copied {copied} of the allocated bytes, not counting what stays to the end."
    );
    if area.is_none() && minors.copied() < COPIED {
        return format!("{copied} Most of their time is what each takes however little it copies.");
    }
    let then = match area {
        Some(_) => "",
        None => {
            " By this estimate larger areas cost as much in cache misses as they save in copying, or more: measure them."
        }
    };
    let lifetime = format::bytes(minors.lifetime_bytes() as u64);
    format!(
        "{copied} On average, that data lives until {lifetime} more are allocated, unless other data is alive all the time.{then}"
    )
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
