//! Does the collector run while the program is idle?
//!
//! After 0.3 s without work (`-I`) the runtime of `-threaded` collects all generations,
//! to run finalizers, find deadlocks and give memory back. It does so again and again
//! where a timer wakes the program now and then.

use super::asked_for::{LEAST, asked_for, claim};
use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Outcome, Try, Value};
use crate::loss_budget::LossBudget;
use analysis::yielder::Yield;
use eventlog::ids::Duration;
use model::format;

/// Less of the time is not worth a change, unless one is long.
const LEAST_SHARE: f64 = 0.01;
/// So long is felt by who is waiting.
const LONG_NS: u64 = 10_000_000;

const NAME: &str = "idle-gc";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Does the collector run while the program is idle?",
    inputs: &[Input::Threads, Input::GcStatistics],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let found = asked_for(context, loss_budget, true, yielder).await;
    let pauses = found.iter().map(|(_, stop)| stop.pause_ns());
    let (all_ns, longest_ns) = (pauses.clone().sum::<u64>(), pauses.max().unwrap_or(0));
    let count = found.len();
    if count < LEAST || (context.share(all_ns) < LEAST_SHARE && longest_ns < LONG_NS) {
        return Outcome::Clear(format!(
            "{} came after a quarter of a second without work, {} of the time; the limits are 3 and 1 %",
            format::many(count as u64, "collection"),
            format::fraction(context.share(all_ns))
        ));
    }
    let title = format!(
        "{}, {}: each copied all live data",
        format::many(count as u64, "idle collection"),
        format::duration(Duration(all_ns))
    );
    let mut finding = claim(context, loss_budget, &found, (NAME, title));
    finding.meaning = "After 0.3 s without work the runtime collects everything, whether it changed or not; a request that comes in then has to wait.".into();
    finding.tries = vec![
        Try::flag(
            "-I0",
            "Do not collect when idle.",
            "deadlocks are found and finalizers run later, memory is given back later",
        ),
        Try::flag(
            "-Iw60",
            "Collect when idle once a minute at most (GHC 8.10 and later).",
            "the same, but less of it",
        ),
        Try::flag(
            "-I10",
            "Set this longer than the program's timers.",
            "the same, but less of it",
        ),
    ];
    finding.distrust = "These collections give memory back, run finalizers and find deadlocks: a program may want them.".into();
    finding.numbers = vec![
        ("collections".into(), Value::Count(count as u64)),
        ("the longest".into(), Value::Ns(longest_ns)),
    ];
    Outcome::Found(vec![finding])
}
