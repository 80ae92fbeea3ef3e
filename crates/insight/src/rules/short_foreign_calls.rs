//! Are safe foreign calls too short?
//!
//! A safe call releases the capability and takes it again, through the scheduler, two locks and two events. Around
//! a function of a few nanoseconds, that is nearly all of the cost. The log has the time from the stop of the
//! thread to its next run. If other threads are ready on the capability, it goes to another OS thread during the call,
//! which has to be woken for it.

use std::collections::BTreeMap;

use super::prelude::*;
use crate::threads::{ThreadTurn, WaitSum};

/// Maximum length of a short call. A call of `sin` takes 150 to 200 ns from stop to run, all due to the runtime;
/// in a call longer than this limit, the function itself dominates.
const SHORT_NS: u64 = 400;
/// The same if calls take this share of capability time: of the kernel's calls, such as those that write a character,
/// many take half a microsecond.
const LONGER_NS: u64 = 1_000;
const MUCH: f64 = 0.10;
/// Minimum number of calls per thread; fewer cost about a millisecond.
const MIN_COUNT: u64 = 5_000;
/// Minimum share of capability time.
const MIN_SHARE: f64 = 0.002;

/// Maximum time for which a capability goes from one OS thread to another; if longer, the machine had no core for it.
const HAND_OVER_NS: u64 = 1_000_000;

pub(super) const RULE: Rule = Rule {
    name: "short-foreign-calls",
    question: "Are safe foreign calls too short?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

async fn short_calls(context: &RuleContext<'_>, most_ns: u64) -> BTreeMap<ThreadId, WaitSum> {
    let is_short = |turn: ThreadTurn<'_>| turn.code.is_some() && turn.blocked_ns() <= most_ns;
    context
        .waits_by_thread(WaitReason::ForeignCall, MIN_COUNT, is_short)
        .await
}

/// Returns the stretches in which a capability ran nothing right after one of the threads had left for a call.
async fn gaps_after_calls(
    context: &RuleContext<'_>,
    calls: &BTreeMap<ThreadId, WaitSum>,
) -> Vec<(u64, u64)> {
    let (mut gaps, mut steps) = (Vec::new(), context.steps());
    for cap in context.cap_ids() {
        let mut left = None;
        for (_, run) in context.log.store.runs_overlapping(cap, context.range) {
            steps.step().await;
            let gap = left.map(|left_ns: u64| (left_ns, run.start_ns));
            let is_hand_over = |&(from, to): &(u64, u64)| from < to && to - from <= HAND_OVER_NS;
            gaps.extend(gap.filter(is_hand_over));
            let is_call = run.code.wait_reason() == Some(WaitReason::ForeignCall)
                && calls.contains_key(&run.thread);
            left = is_call.then_some(run.end_ns);
        }
    }
    gaps
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let any_ns = context.threads().await.times.foreign_ns();
    let sums = |calls: &BTreeMap<ThreadId, WaitSum>| {
        let count: u64 = calls.values().map(|calls| calls.count).sum();
        let cap_ns: u64 = calls.values().map(|calls| calls.ns).sum();
        (count, cap_ns)
    };
    let mut calls = match any_ns {
        0 => BTreeMap::new(),
        _ => short_calls(context, SHORT_NS).await,
    };
    let mut is_short = true;
    if context.share_of_caps(any_ns) >= MUCH && context.share_of_caps(sums(&calls).1) < MUCH {
        let longer = short_calls(context, LONGER_NS).await;
        if context.share_of_caps(sums(&longer).1) >= MUCH {
            (calls, is_short) = (longer, false);
        }
    }
    let (count, cap_ns) = sums(&calls);
    if count == 0 || context.share_of_caps(cap_ns) < MIN_SHARE {
        return Outcome::Clear(
            "no thread made 5,000 safe foreign calls of up to 400 ns, for 0.2 % of the capabilities' time".to_owned(),
        );
    }
    let title = format!(
        "{} of up to {}, {} each on average",
        format::pluralize(count, "safe foreign call"),
        if is_short { "400 ns" } else { "1 µs" },
        format::duration_ns(cap_ns / count)
    );
    let gaps = gaps_after_calls(context, &calls).await;
    let gaps_ns = gaps.iter().map(|gap| context.unpaused_ns(*gap));
    let gaps_ns = gaps_ns.fold(0, u64::saturating_add);
    let mut finding = context
        .blocked_finding((RULE.name, title), loss_budget, (gaps, gaps_ns.max(cap_ns)))
        .await;
    finding.confidence = Confidence::Probable;
    finding.meaning = "A safe call releases and reacquires the capability, which takes 100 to 200 ns: with a function this short, about half of the call or more. If other threads are ready, the capability goes to another OS thread during the call, which has to be woken for it.".into();
    finding.tries = Advice::code_changes([
        "Import the function as unsafe (foreign import ccall unsafe), if it never blocks and never calls Haskell.",
        "Batch the work of many calls into one: pass an array.",
    ]);
    if !is_short {
        finding.tries.insert(0, Advice::code("If these read or write a Handle, give it a buffer: hSetBuffering h (BlockBuffering Nothing). Without one, each character is a call."));
    }
    finding.distrust = "The log has only the time from stop to run; leaving and entering Haskell code adds to it. With unsafe calls, a collection waits until the call returns.".into();
    finding.set_numbers([
        ("calls", Value::Count(count)),
        ("a second", Value::PerSecond(context.per_second(count))),
        ("in calls", Value::Ns(cap_ns)),
        ("capabilities idle after calls", Value::Ns(gaps_ns)),
    ]);
    let evidence = calls.iter().map(|(thread, sum)| sum.evidence(*thread));
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
