//! Do threads sit in foreign calls?
//!
//! Each safe foreign call occupies an OS thread for its duration. The runtime creates as many OS threads as there
//! are simultaneous calls, and keeps them.

use std::collections::BTreeSet;

use super::prelude::*;
use crate::threads::ClippedWait;

/// Maximum number of simultaneous calls beyond the number of capabilities; more is not a deliberate pool.
const MANY: usize = 32;
/// Minimum duration of a call; shorter ones hardly pile up.
const MIN_NS: u64 = 100_000;

pub(super) const RULE: Rule = Rule {
    name: "foreign-calls",
    question: "Do foreign calls occupy many OS threads?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Returns the maximum number of simultaneous calls, with its time range.
async fn max_simultaneous(context: &RuleContext<'_>, calls: &[ClippedWait]) -> (usize, Interval) {
    let spans = calls.iter().map(ClippedWait::span);
    let mut bounds: Vec<(u64, bool)> = spans
        .flat_map(|(from, to)| [(from, true), (to, false)])
        .collect();
    context.sort(&mut bounds).await;
    let (mut now, mut most) = (0_usize, (0, Interval::default()));
    for (index, (time, begins)) in bounds.iter().enumerate() {
        now = if *begins {
            now + 1
        } else {
            now.saturating_sub(1)
        };
        if now > most.0 {
            let until = bounds.get(index + 1).map_or(*time, |next| next.0);
            most = (now, Interval::new(Nanos(*time), Nanos(until)));
        }
    }
    most
}

async fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let limit = MANY + usize::try_from(context.caps).unwrap_or(usize::MAX - MANY);
    // More simultaneous calls than the limit, each of minimum duration, take at least this long in total.
    let least_ns = (limit as u64).saturating_mul(MIN_NS);
    let calls = if context.threads().await.times.foreign_ns() < least_ns {
        Vec::new()
    } else {
        context.foreign_calls(MIN_NS).await
    };
    let (most, at) = max_simultaneous(context, &calls).await;
    if most <= limit {
        if most == 0 {
            return Outcome::Clear("there were no or few long foreign calls".to_owned());
        }
        return Outcome::Clear(format!(
            "at most {} went on at a time; the limit is {}",
            format::pluralize(most as u64, "long foreign call"),
            format::count(limit as u64)
        ));
    }
    let longest_ns = calls.iter().map(|call| call.ns).max().unwrap_or(0);
    let threads: BTreeSet<ThreadId> = calls.iter().map(|call| call.thread).collect();
    let count = format::count(most as u64);
    let title = format!("{count} foreign calls at once took {count} OS threads");
    let mut finding = Finding::new(RULE.name, Axis::Latency, title);
    finding.severity = Severity::of_latency(longest_ns);
    finding.cost = Value::Ns(longest_ns);
    finding.share = context.share(longest_ns);
    finding.meaning = "A safe foreign call occupies an OS thread until it returns. Each OS thread has a stack, and the machine may limit their number.".into();
    finding.tries = Advice::code_changes([
        "Make the calls from a small pool of threads, or limit them with a semaphore (QSem).",
        "Wait without a blocking call if the library allows it: threadWaitRead, or callbacks.",
        "Batch several requests into one call.",
    ]);
    finding.distrust =
        "The return of a call is not logged: its time includes the wait for a capability after it."
            .into();
    finding.set_numbers([
        ("at a time", Value::Count(most as u64)),
        ("threads that call", Value::Count(threads.len() as u64)),
        ("the longest", Value::Ns(longest_ns)),
        (
            "a mean call",
            Value::Ns(calls.iter().map(|call| call.ns).sum::<u64>() / calls.len().max(1) as u64),
        ),
    ]);
    let crowd = calls.iter().filter(|call| call.range.overlaps(at));
    Outcome::Found(vec![
        finding.with_evidence(crowd.map(ClippedWait::evidence)),
    ])
}
