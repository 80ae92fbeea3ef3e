//! Do full collections cost too much?
//!
//! Each goes through all that is alive, and copies most of it; they come whenever the old
//! generation has grown by the factor of `-F`.

use super::asked_for::claim;
use super::{Look, Rule};
use crate::context::{GcPause, Input, RuleContext};
use crate::finding::{Confidence, Outcome, Try, Value};
use crate::loss_budget::LossBudget;
use model::format;
use model::gauge::Samples;

/// Less of the time is usual.
const LEAST_SHARE: f64 = 0.10;
/// Fewer are no habit, but for two that copy so much each and take so much of the time.
const LEAST: usize = 3;
const LEAST_LONG: usize = 2;
const MUCH: f64 = 0.20;
const MUCH_BYTES: u64 = 4_000_000;

const NAME: &str = "major-gc-heavy";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do full collections cost too much?",
    inputs: &[Input::Collections, Input::GcStatistics],
    look: Look::AtOnce(look),
};

fn look(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let is_major = |stop: &GcPause<'_>| stop.is_major && stop.told.is_some();
    let all = context.stops_where(is_major).count();
    let found: Vec<_> = context
        .stops_where(is_major)
        .filter(|(place, _)| loss_budget.is_free(*place))
        .collect();
    let pause_ns: u64 = found.iter().map(|(_, stop)| stop.pause_ns()).sum();
    let share = context.share(pause_ns);
    let count = found.len() as u64;
    let copied = found.iter().filter_map(|(_, stop)| stop.told);
    let copied = copied.map(|told| told.copied_bytes);
    let copied = copied.fold(0, u64::saturating_add);
    let each = copied / count.max(1);
    let is_much = share >= MUCH && each >= MUCH_BYTES;
    let least = if is_much { LEAST_LONG } else { LEAST };
    if share < LEAST_SHARE || found.len() < least {
        let others = match all - found.len() {
            0 => String::new(),
            others => format!(
                " (another finding has {} more)",
                format::count(others as u64)
            ),
        };
        return Outcome::Clear(format!(
            "{}{others} took {} of the time; the limits are 3 and 10 %, or 2 of 4 MB and 20 %",
            format::many(count, "major collection"),
            format::fraction(share)
        ));
    }
    let title = format!(
        "{} copied {} each, {} of the time",
        format::many(count, "major collection"),
        format::bytes(each),
        format::fraction(share)
    );
    let mut finding = claim(context, loss_budget, &found, (NAME, title));
    finding.confidence = Confidence::Probable;
    finding.meaning = if context.is_nonmoving() {
        "The program stands still for each, although the old generation is marked while it runs."
    } else {
        "Each time the old generation fills up, all live data is traversed and, except for large objects, copied."
    }
    .into();
    finding.tries = tries(context);
    finding.distrust =
        "How long data lives decides what an option saves: data that is loaded once has to be copied until it is all there."
            .into();
    finding.numbers = vec![
        ("collections".into(), Value::Count(count)),
        ("copied in each".into(), Value::Bytes(each)),
    ];
    Outcome::Found(vec![finding])
}

/// Of the steps from one full collection to the next, so many rise where data only grows.
const RISING: f64 = 0.9;

/// Whether live data grew from nearly each full collection to the next.
fn only_grows(context: &RuleContext<'_>) -> bool {
    let live = context.log.numbers.live();
    let places = live.first_at(context.range.start().0)..live.first_at(context.range.end().0);
    let all: Vec<u64> = places.map(|at| live.value(at)).collect();
    let rising = all.windows(2).filter(|two| two[1] > two[0]).count();
    all.len() >= LEAST && rising as f64 >= (all.len() - 1) as f64 * RISING
}

/// The nonmoving collector is none of them: it shortens pauses, and makes programs slower. A
/// larger area keeps short-lived data from growing old; where all of it stays, fewer full
/// collections help (`docs/findings.md`).
fn tries(context: &RuleContext<'_>) -> Vec<Try> {
    let area = Try::flag(
        "-A64m",
        "Keep short-lived data from growing old: fewer full collections. Measure it.",
        "memory: 64 MiB for each capability; the processor's cache helps less",
    );
    let factor = Try::flag(
        "-F4",
        "Let the old generation grow more before it is collected. Measure it.",
        "memory: the old generation may grow to four times live data, not twice",
    );
    let less = Try::code(
        "Keep less data alive, or keep what does not change in a compact region (GHC.Compact): collections do not copy it.",
    );
    match only_grows(context) {
        true => vec![factor, less],
        false => vec![area, factor, less],
    }
}
