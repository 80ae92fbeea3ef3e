//! Would a larger allocation area save collections?
//!
//! A minor collection copies what is alive of what was allocated last. The more is
//! allocated in between, the more of it has died by then. That saves time where collections
//! copy much of what was allocated. Where they copy little, the data dies in time already, and
//! a larger area costs cache misses: `docs/findings.md` has programs of both kinds. Data that
//! is never dropped is copied with any area: into the old generation, by two collections.

use super::asked_for::claim;
use super::{Look, Rule};
use crate::context::{GcPause, Input, RuleContext};
use crate::finding::{Confidence, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use model::format;
use model::gauge::Samples;

/// Less of the time is usual for a program in Haskell.
const LEAST_SHARE: f64 = 0.10;
/// Fewer collections cannot be made much fewer.
const LEAST: usize = 50;
/// With so much for each capability between two collections more gains little.
const LARGE_BYTES: u64 = 16 << 20;
/// From this share of what was allocated on, copied data is worth a larger area: of real
/// programs below it none gained what minor collections take, above it most did.
const COPIED: f64 = 0.20;
/// What the best area gained in the programs of `docs/findings.md` in which collections copy
/// much, of CPU time: with an area of up to 1 MiB, and of more. `demo/findings/predict.mjs`
/// measured it.
const SAVED_OF_SMALL: &str = "27 to 62 %";
const SAVED_OF_LARGE: &str = "20 to 30 %";
/// Data that stays is copied twice: within the young generation, and into the old one.
const COPIES: u64 = 2;
/// Nobody asks for less than the smallest default.
pub(super) const SMALL_AREA_BYTES: u64 = 1 << 20;

const NAME: &str = "nursery-too-small";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Would a larger allocation area save collections?",
    inputs: &[Input::Collections, Input::GcStatistics],
    look: Look::AtOnce(look),
};

/// What minor collections did.
struct Minors {
    pause_ns: u64,
    count: u64,
    /// Bytes allocated before the median one.
    median_bytes: u64,
    /// Bytes allocated before all of them.
    allocated_bytes: u64,
    /// Bytes copied, without those that stay to the end.
    copied_bytes: u64,
    /// Bytes copied that stay to the end.
    lasting_bytes: u64,
}

impl Minors {
    fn of(context: &RuleContext<'_>, found: &[(usize, &GcPause<'_>)]) -> Self {
        let told = || found.iter().filter_map(|(_, stop)| stop.told);
        let sum = |of: fn(&analysis::numbers::Collection) -> u64| {
            told().fold(0, |sum: u64, told| sum.saturating_add(of(told)))
        };
        let mut allocated: Vec<u64> = told().map(|told| told.allocated_bytes).collect();
        allocated.sort_unstable();
        let copied = sum(|told| told.copied_bytes);
        let lasting = lasting_bytes(context).saturating_mul(COPIES).min(copied);
        Self {
            pause_ns: found.iter().map(|(_, stop)| stop.pause_ns()).sum(),
            count: found.len() as u64,
            median_bytes: allocated.get(allocated.len() / 2).copied().unwrap_or(0),
            allocated_bytes: sum(|told| told.allocated_bytes),
            copied_bytes: copied - lasting,
            lasting_bytes: lasting,
        }
    }

    /// Of all that was copied, the share that does not stay.
    fn short_lived(&self) -> f64 {
        let all = self.copied_bytes.saturating_add(self.lasting_bytes);
        self.copied_bytes as f64 / all.max(1) as f64
    }

    /// What was copied of what was allocated, without what stays.
    fn copied(&self) -> f64 {
        self.copied_bytes as f64 / self.allocated_bytes.max(1) as f64
    }
}

/// By how much live data grew, as major collections tell.
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

fn look(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let is_minor = |stop: &GcPause<'_>| stop.told.is_some() && !stop.is_major;
    let all = context.stops_where(is_minor).count();
    let found: Vec<_> = context
        .stops_where(is_minor)
        .filter(|(place, _)| loss_budget.is_free(*place))
        .collect();
    let minors = Minors::of(context, &found);
    let share = context.share(minors.pause_ns);
    let is_small = minors.median_bytes <= LARGE_BYTES.saturating_mul(context.caps);
    // Whoever asked for a small area is told to drop that.
    let was_asked_for = asked_small(context).is_some() && minors.copied() < COPIED;
    if share < LEAST_SHARE || found.len() < LEAST || !is_small || was_asked_for {
        let others = match all - found.len() {
            0 => String::new(),
            others => format!(
                " (another finding has {} more)",
                format::count(others as u64)
            ),
        };
        return Outcome::Clear(format!(
            "{}{others} took {} of the time, with {} allocated before each, of which {} was copied; the limits are 10 % and {} for each capability",
            format::many(minors.count, "minor collection"),
            format::fraction(share),
            format::bytes(minors.median_bytes),
            format::fraction(minors.copied()),
            format::bytes(LARGE_BYTES)
        ));
    }
    let title = format!(
        "{} took {} of the time",
        format::many(minors.count, "minor collection"),
        format::fraction(share)
    );
    let mut finding = claim(context, loss_budget, &found, (NAME, title));
    if minors.copied() < COPIED {
        little_copied(&minors, &mut finding);
    } else {
        much_copied(context, &minors, &mut finding);
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
    ];
    Outcome::Found(vec![finding])
}

/// The option that asks for a smaller area than any default.
pub(super) fn asked_small(context: &RuleContext<'_>) -> Option<String> {
    let value = context.option_value("-A")?;
    (context.allocation_area_bytes() < SMALL_AREA_BYTES).then(|| format!("-A{value}"))
}

/// A search for the area, as the processor's cache decides which is best.
fn search(context: &RuleContext<'_>, text: &str) -> Option<Try> {
    let areas = context.larger_areas();
    let measure = match areas.as_slice() {
        [] => return None,
        [_] => "Measure it.",
        _ => "Measure them against each other.",
    };
    Some(Try::flag(
        areas.join(", "),
        format!("{text} {measure}"),
        "memory: as much for each capability; an area larger than the processor's cache slows some programs down",
    ))
}

/// Data dies before the next collection: what is left is the cost of collections themselves.
fn little_copied(minors: &Minors, finding: &mut Finding) {
    finding.confidence = Confidence::Hint;
    finding.severity = finding.severity.min(Severity::Low);
    finding.meaning = format!(
        "Only {} of what was allocated was still in use, data that stays not counted, and copied: a larger allocation area saves little of this time, and can cost more than it saves.",
        format::fraction(minors.copied())
    )
    .into();
    finding.tries = vec![Try::code(
        "Allocate less: a profile by cost centres (-p) or ticky counters name the code that allocates.",
    )];
    // With 4 MiB and more, larger areas cost 2 to 41 % in all measured programs of this kind; from
    // 1 MiB on, the area that is the default since GHC 9.2 saved up to 35 % and cost 3 % at most.
    finding.tries.push(Try::flag(
        "-A4m",
        "The gain is not certain. Measure it.",
        "memory: 4 MiB for each capability",
    ));
    finding.distrust =
        "Where an area fits the processor's cache, a larger one makes the program itself slower."
            .into();
}

/// Data survives a collection that would die soon after.
fn much_copied(context: &RuleContext<'_>, minors: &Minors, finding: &mut Finding) {
    // How much of it a larger area saves depends on how long the data lives.
    finding.confidence = Confidence::Probable;
    let severity = Severity::of_share(finding.share * minors.short_lived());
    finding.severity = finding.severity.min(severity.max(Severity::Low));
    finding.meaning = format!(
        "{} of what was allocated was still in use, data that stays not counted, and so they copied it; a little later most of it was garbage. With a larger allocation area fewer collections copy less.",
        format::fraction(minors.copied())
    )
    .into();
    let asked = asked_small(context);
    let drop = asked.map(|flag| {
        Try::code(format!(
            "Drop {flag}: the default is 1 MiB before GHC 9.2, and 4 MiB since."
        ))
    });
    let saved = match context.allocation_area_bytes() {
        ..=SMALL_AREA_BYTES => SAVED_OF_SMALL,
        _ => SAVED_OF_LARGE,
    };
    let text = format!(
        "Collect less often. In measured programs of this kind the best area saved {saved} of CPU time."
    );
    finding.tries.extend(search(context, &text));
    finding.tries.extend(drop);
    finding.tries.push(Try::code(
        "Allocate less: a profile by cost centres (-p) or ticky counters name the code that allocates.",
    ));
    finding.distrust =
        "If most of the data lives long, collections become longer as they become fewer.".into();
}
