//! Does the collector run while the program is idle?
//!
//! With `-threaded`, the runtime runs a major collection after 0.3 s without work (`-I`), to run finalizers,
//! detect deadlocks and return memory. If a timer wakes the program now and then, it does so again and again.

use super::prelude::*;
use super::requested_collections::{MIN_COUNT, claim_collections, unclaimed_requested_collections};

/// Minimum share of the time, unless one collection is long; less is not worth a change.
const MIN_SHARE: f64 = 0.01;
/// Length of a pause that users notice.
const LONG_NS: u64 = 10_000_000;

pub(super) const RULE: Rule = Rule {
    name: "idle-gc",
    question: "Does the collector run while the program is idle?",
    inputs: &[Input::Threads, Input::GcStatistics],
    evaluate: yielding!(evaluate),
};

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let found = unclaimed_requested_collections(context, loss_budget, true).await;
    let pauses = found.iter().map(|(_, gc)| gc.pause_ns());
    let (all_ns, longest_ns) = (pauses.clone().sum::<u64>(), pauses.max().unwrap_or(0));
    let count = found.len();
    if count < MIN_COUNT || (context.share(all_ns) < MIN_SHARE && longest_ns < LONG_NS) {
        return Outcome::Clear(format!(
            "{} came after a time without work, {} of the time; the limits are 3 and 1 %",
            format::pluralize(count as u64, "collection"),
            format::fraction(context.share(all_ns))
        ));
    }
    let title = format!(
        "{}, {}: each copied all live data",
        format::pluralize(count as u64, "idle collection"),
        format::duration_ns(all_ns)
    );
    let mut finding = claim_collections(context, loss_budget, &found, (RULE.name, title));
    finding.meaning = "After some time without work (-I, 0.3 s by default) the runtime runs a major collection, even if nothing changed; a request that arrives then must wait.".into();
    finding.tries = vec![
        Advice::flag(
            "-I0",
            "Do not collect when idle.",
            "while the program is idle, no deadlock is detected, no finalizer runs and no memory is returned",
        ),
        Advice::flag(
            "-Iw60",
            "Collect when idle once a minute at most (GHC 8.10 and later).",
            "the same, but less of it",
        ),
        Advice::flag(
            "-I10",
            "Set this longer than the program's timers.",
            "the same, but less of it",
        ),
    ];
    finding.distrust = "These collections return memory, run finalizers and detect deadlocks: a program may need them.".into();
    finding.set_numbers([
        ("collections", Value::Count(count as u64)),
        ("the longest", Value::Ns(longest_ns)),
    ]);
    Outcome::Found(vec![finding])
}
