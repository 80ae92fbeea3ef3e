//! Does live data grow?
//!
//! Major collections come when live data has doubled, so that a leak has few points: what
//! was live in the middle is compared with what is live in the end.

use super::{Look, Rule};
use crate::finding::{Confidence, Evidence, Finding, Outcome, Try, Value};
use crate::ledger::Ledger;
use crate::scope::{Input, Scope};
use eventlog::ids::Nanos;
use model::format;
use model::gauge::Samples;
use model::time::Interval;

/// Less is a matter of when the collections were.
const LEAST_BYTES: u64 = 10_000_000;
/// Of the most that was live: less is no growth.
const LEAST_SHARE: f64 = 0.25;

const NAME: &str = "live-growth";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does live data grow?",
    inputs: &[Input::GcStatistics],
    look: Look::AtOnce(look),
};

fn look(scope: &Scope<'_>, _: &mut Ledger) -> Outcome {
    // Until it has marked again, all that was promoted meanwhile counts as alive
    // (`Note [Live data accounting in nonmoving collector]`, rts/sm/NonMoving.c).
    if scope.is_nonmoving() {
        return Outcome::CannotTell("the nonmoving collector counts garbage as alive until it has marked again: a heap profile (-hT) of a run without it would tell".into());
    }
    let live = scope.log.numbers.live();
    let (from, to) = (scope.range.start().0, scope.range.end().0);
    let middle = from + (to - from) / 2;
    let (first, half, end) = (
        live.first_at(from),
        live.first_at(middle),
        live.first_at(to),
    );
    if half == first || end == half {
        return Outcome::CannotTell("there are too few major collections to see whether live data grows: a longer log, or performMajorGC now and then, would tell".into());
    }
    let (before, after) = (live.value(half - 1), live.value(end - 1));
    let most = (first..end).map(|at| live.value(at)).max().unwrap_or(0);
    let growth = after.saturating_sub(before);
    let share = growth as f64 / most.max(1) as f64;
    let said = format!(
        "{} in the middle, {} in the end",
        format::bytes(before),
        format::bytes(after)
    );
    if growth < LEAST_BYTES || share < LEAST_SHARE {
        return Outcome::Clear(format!(
            "live data was {said}; the limits are 10 MB and a quarter of the most"
        ));
    }
    let seconds = (to - live.time(half - 1)) as f64 / 1e9;
    let title = format!(
        "Live data grew by {} a second, to {}",
        format::bytes((growth as f64 / seconds) as u64),
        format::bytes(after)
    );
    let mut finding = Finding::of_memory(NAME, title, (growth, share));
    if end - half < 2 {
        finding.confidence = Confidence::Hint;
    }
    finding.meaning =
        "Something is kept that may not be needed any more, or loading goes on.".into();
    finding.tries = vec![
        Try::measure(
            "-hT -l",
            "A heap profile by closure types says what grows, without a profiling build.",
        ),
        Try::measure(
            "-hi -l",
            "With -finfo-table-map it says which line of the program made it (GHC 9.2 and later).",
        ),
        Try::code("Look for maps and references that are only added to."),
    ];
    finding.distrust = "Caches that fill and data that is loaded once grow too.".into();
    finding.numbers = vec![
        ("growth".into(), Value::Bytes(growth)),
        ("in the middle".into(), Value::Bytes(before)),
        ("in the end".into(), Value::Bytes(after)),
    ];
    let range = Interval::new(Nanos(live.time(half - 1)), scope.range.end());
    let evidence = Evidence {
        range,
        subjects: Vec::new(),
        amount: Value::Bytes(growth),
    };
    Outcome::Found(vec![finding.seen_in([evidence])])
}
