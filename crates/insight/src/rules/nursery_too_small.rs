//! Would a larger allocation area save collections?
//!
//! A minor collection copies what is alive of the most recent allocation. The more is allocated in between, the
//! more of it has died by then. A larger area saves time if collections copy much of what was allocated. If they
//! copy little, the data already dies in time, and a larger area costs cache misses; `docs/findings.md` has
//! programs of both kinds. Data that is never dropped is copied with any area: into the old generation, by two
//! collections.

use super::census::Peak;
use super::requested_collections::claim_collections;
use super::{Evaluation, Rule};
use crate::context::{GcPause, Input, RuleContext};
use crate::finding::{Advice, Confidence, Finding, Outcome, Severity, Value};
use crate::loss_budget::LossBudget;
use model::format;
use model::gauge::Samples;

/// Minimum share of the time; less is usual for Haskell programs.
const MIN_SHARE: f64 = 0.10;
/// Minimum number of collections; fewer cannot be reduced much.
const MIN_COUNT: usize = 50;
/// Allocation per capability between collections above which a larger area gains little.
const LARGE_BYTES: u64 = 16 << 20;
/// Copied share of allocation from which a larger area pays off: of real programs below it, none gained as much as
/// its minor collections take; above it, most did.
const COPIED: f64 = 0.20;
/// CPU time that the best area saved in programs of `docs/findings.md` whose collections copy much: from an area
/// of up to 1 MiB, and from a larger one. Measured by `demo/findings/predict.mjs`; the lower limit of the first is that
/// of other programs, of which two of four saved 9 %, and one hardly anything.
const SAVED_OF_SMALL: &str = "1 to 62 %";
const SAVED_OF_LARGE: &str = "20 to 30 %";
/// Data that stays is copied twice: within the young generation, and into the old one.
const COPIES: u64 = 2;
/// Mean lifetime of copied data, as bytes allocated meanwhile, from which a larger area may well gain nothing: data
/// that lives as long is copied with most of them. Of 13 programs below, the best area made 9 faster and 1 slower; of
/// 9 above, 4 faster, most only with the area that is larger than this, and 3 slower.
const LONG_LIVED_BYTES: f64 = 20e6;
/// Smallest default of any GHC; a smaller area was requested explicitly.
pub(super) const SMALL_AREA_BYTES: u64 = 1 << 20;

const NAME: &str = "nursery-too-small";

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
    /// Median of the bytes allocated before each.
    median_bytes: u64,
    /// Bytes allocated before all of them.
    allocated_bytes: u64,
    /// Bytes copied, without data that stays alive to the end.
    copied_bytes: u64,
    /// Bytes copied of data that stays alive to the end.
    lasting_bytes: u64,
    /// Mean live data without data that stays alive to the end.
    live_bytes: f64,
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
            median_bytes: allocated.get(allocated.len() / 2).copied().unwrap_or(0),
            allocated_bytes: sum(|statistics| statistics.allocated_bytes),
            copied_bytes: copied - lasting,
            lasting_bytes: lasting,
            live_bytes: mean_live_bytes(context) - (lasting / COPIES) as f64 / 2.0,
        }
    }

    /// Returns the mean lifetime of copied data, as bytes allocated meanwhile: what is alive, for what is added to it
    /// by each byte allocated (Little's law). Data that is alive all the time makes it too large.
    fn lifetime_bytes(&self) -> f64 {
        let added = self.copied() / COPIES as f64;
        self.live_bytes.max(0.0) / added.max(f64::MIN_POSITIVE)
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
    if minors.copied() < COPIED {
        explain_little_copied(&minors, &mut finding);
    } else {
        explain_much_copied(context, &minors, &mut finding);
    }
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
    (context.allocation_area_bytes() < SMALL_AREA_BYTES).then(|| format!("-A{value}"))
}

/// Advises to measure several areas, all of which hold at least `least_bytes`: the best one depends on the processor's
/// cache.
fn larger_areas_advice(context: &RuleContext<'_>, text: &str, least_bytes: f64) -> Option<Advice> {
    let areas = context.larger_areas(least_bytes);
    let measure = match areas.as_slice() {
        [] => return None,
        [_] => "Measure it.",
        _ => "Measure them all.",
    };
    Some(Advice::flag(
        areas.join(", "),
        format!("{text} {measure}"),
        "memory: as much for each capability; an area larger than the processor's cache slows some programs down",
    ))
}

/// Describes data that dies before the next collection: only the fixed cost of collections remains.
fn explain_little_copied(minors: &MinorTotals, finding: &mut Finding) {
    finding.confidence = Confidence::Hint;
    finding.severity = finding.severity.min(Severity::Low);
    finding.meaning = format!(
        "Collections copied only {} of the allocated bytes, not counting long-lived data: a larger allocation area saves little of this time, and can cost more than it saves.",
        format::fraction(minors.copied())
    )
    .into();
    finding.tries = vec![Advice::code(
        "Allocate less: a profile by cost centres (-p) or ticky counters name the code that allocates.",
    )];
    // From 4 MiB on, larger areas cost 2 to 41 % in all measured programs of this kind. From 1 MiB, the 4 MiB area
    // (the default since GHC 9.2) saved up to 35 % and cost 3 % at most.
    finding.tries.push(Advice::flag(
        "-A4m",
        "The gain is not certain. Measure it.",
        "memory: 4 MiB for each capability",
    ));
    finding.distrust =
        "If the area fits the processor's cache, a larger one slows the program itself down."
            .into();
}

/// Describes data that survives a collection, but would die soon after.
fn explain_much_copied(context: &RuleContext<'_>, minors: &MinorTotals, finding: &mut Finding) {
    // The gain of a larger area depends on how long the data lives.
    finding.confidence = Confidence::Probable;
    let severity = Severity::of_share(finding.share * minors.short_lived());
    finding.severity = finding.severity.min(severity.max(Severity::Low));
    let lifetime = minors.lifetime_bytes();
    let is_long_lived = lifetime >= LONG_LIVED_BYTES;
    let then = match is_long_lived {
        true => format!(
            "on average, that data lives until {} more are allocated, unless other data is alive all the time. A smaller area gains little.",
            format::bytes(lifetime as u64)
        ),
        false => "most of what was copied was garbage soon after. With a larger allocation area fewer collections copy less.".to_owned(),
    };
    if is_long_lived {
        finding.confidence = Confidence::Hint;
        finding.severity = finding.severity.min(Severity::Low);
    }
    finding.meaning = format!(
        "Collections copied {} of the allocated bytes, not counting what stays to the end; {then}",
        format::fraction(minors.copied())
    )
    .into();
    let asked = small_area_option(context);
    let drop = asked.map(|flag| {
        Advice::code(format!(
            "Drop {flag}: the default is 1 MiB before GHC 9.2, and 4 MiB since."
        ))
    });
    let saved = match context.allocation_area_bytes() {
        ..=SMALL_AREA_BYTES => SAVED_OF_SMALL,
        _ => SAVED_OF_LARGE,
    };
    let text = match is_long_lived {
        true => "Collect less often. The gain is not certain.".to_owned(),
        false => format!(
            "Collect less often. In measured programs of this kind the best area saved {saved} of CPU time."
        ),
    };
    let least_bytes = if is_long_lived { lifetime } else { 0.0 };
    finding
        .tries
        .extend(larger_areas_advice(context, &text, least_bytes));
    finding.tries.extend(drop);
    finding.tries.push(Advice::code(
        "Allocate less: a profile by cost centres (-p) or ticky counters name the code that allocates.",
    ));
    finding.distrust = "If most data lives long, fewer collections are longer ones.".into();
}
