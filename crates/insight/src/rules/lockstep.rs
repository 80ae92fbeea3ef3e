//! Do threads wait for each other at every step?
//!
//! Threads that meet at a barrier after each step wait for the slowest one each time. Over the whole run their work
//! can be even, and no single wait is long, but in each step one of them works while the others wait.

use std::collections::{BTreeMap, BTreeSet};

use super::{Evaluation, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Advice, Confidence, Finding, Outcome, Value};
use crate::loss_budget::{LossBudget, Pool};
use crate::threads::{Wait, Wakeup, evidence_by_pair};
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::Yield;
use eventlog::ids::{Duration, ThreadId};
use model::class::WaitReason;
use model::format;

/// Minimum number of waits of a thread for another one, and of that one for it.
const MIN_WAITS: u64 = 50;
/// Minimum length of these waits of both, as a share of the range, and of the shorter ones in relation to the others:
/// behind the slow stage of a pipeline, only one of two threads waits.
const MIN_EACH: f64 = 0.02;
const MUTUAL: f64 = 0.20;
/// Minimum mean length of a wait; shorter ones are the time that it takes to wake a thread.
const SHORTEST_NS: u64 = 100_000;
/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.10;
/// Minimum share of the time in which several threads run: threads that never do share no work.
const MIN_TOGETHER: f64 = 0.05;

pub(super) const NAME: &str = "lockstep";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do threads wait for each other at every step?",
    inputs: &[Input::EachRun],
    evaluate: Evaluation::Yielding(|context, loss_budget, yielder| {
        Box::pin(evaluate(context, loss_budget, yielder))
    }),
};

/// Waits of a thread that another one ended, by both.
type WaitsByPair = BTreeMap<(ThreadId, ThreadId), Vec<Wait>>;

/// Returns the waits of threads for an `MVar` or in STM, by waiting thread and the one that ended them.
async fn waits_by_pair(context: &RuleContext<'_>, yielder: &dyn Yield) -> WaitsByPair {
    let mut pairs = WaitsByPair::new();
    let wakeups = context.wakeups_by_thread(yielder).await;
    let visit = |life: &ThreadLane<'_>, turn: (usize, &WaitRunCycle), wakeup: &Wakeup| {
        let reason = turn.1.wait_reason();
        if matches!(reason, Some(WaitReason::Mvar | WaitReason::Stm)) {
            let pair = pairs.entry((life.id(), wakeup.waker)).or_default();
            pair.extend(context.wait(life, turn, 0));
        }
    };
    context.each_woken_turn(&wakeups, yielder, visit).await;
    pairs
}

fn sum_ns(waits: &[Wait]) -> u64 {
    waits.iter().map(|wait| wait.ns).sum()
}

/// Returns the threads that wait for each other: the two that do so for longest, and all that do with one of these.
fn members(pairs: &WaitsByPair, length_ns: u64) -> BTreeSet<ThreadId> {
    let mutual = pairs.iter().filter_map(|(&(one, other), waits)| {
        let back = pairs.get(&(other, one)).filter(|_| one < other)?;
        let (ns, back_ns) = (sum_ns(waits), sum_ns(back));
        let count = waits.len().min(back.len()) as u64;
        let (least_ns, most_ns) = (ns.min(back_ns), ns.max(back_ns));
        let is_mutual = count >= MIN_WAITS
            && least_ns as f64 >= MIN_EACH * length_ns as f64
            && least_ns as f64 >= MUTUAL * most_ns as f64;
        is_mutual.then_some((ns + back_ns, [one, other]))
    });
    let mutual: Vec<(u64, [ThreadId; 2])> = mutual.collect();
    let Some((_, first)) = mutual.iter().max() else {
        return BTreeSet::new();
    };
    let near = mutual
        .iter()
        .filter(|(_, pair)| pair.iter().any(|one| first.contains(one)));
    near.flat_map(|(_, pair)| *pair).collect()
}

async fn evaluate(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let idle = context.share_of_caps(loss_budget.unclaimed_ns(Pool::Idle));
    let together_ns: u64 = context.times.parallelism_ns.iter().skip(2).sum();
    if context.caps < 2 || idle < MIN_SHARE || context.share(together_ns) < MIN_TOGETHER {
        return Outcome::Clear(format!(
            "capabilities were idle with no thread ready for {} of their time, not counting other findings, and several threads ran for {} of the time; the limits are 10 % and 5 %",
            format::fraction(idle),
            format::fraction(context.share(together_ns))
        ));
    }
    let mut pairs = waits_by_pair(context, yielder).await;
    let members = members(&pairs, context.length_ns());
    pairs.retain(|(one, other), _| members.contains(one) && members.contains(other));
    let waits: Vec<(ThreadId, Wait)> = { pairs.into_iter() }
        .flat_map(|((_, waker), waits)| waits.into_iter().map(move |wait| (waker, wait)))
        .collect();
    let waited_ns: u64 = waits.iter().map(|(_, wait)| wait.ns).sum();
    let mean_ns = waited_ns / (waits.len() as u64).max(1);
    let spans: Vec<(u64, u64)> = waits.iter().map(|(_, wait)| wait.span()).collect();
    let cap_ns = context
        .overlapping_idle_ns(spans.iter().copied(), yielder)
        .await;
    if mean_ns < SHORTEST_NS || context.share_of_caps(cap_ns) < MIN_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle for {} of their time while threads waited for each other by turns, each time for {} on average; the limits are 10 % and 0.1 ms",
            format::fraction(context.share_of_caps(cap_ns)),
            format::duration(Duration(mean_ns))
        ));
    }
    let title = format!(
        "{} waited for each other {}: capabilities were idle meanwhile for {} of their time",
        context.names_or_count(members),
        format::pluralize(waits.len() as u64, "time"),
        format::fraction(context.share_of_caps(cap_ns))
    );
    let mut finding = context
        .blocked_finding((NAME, title), loss_budget, (spans, cap_ns), yielder)
        .await;
    explain(&mut finding, mean_ns);
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("waits".into(), Value::Count(waits.len() as u64)),
        ("a wait, on average".into(), Value::Ns(mean_ns)),
        ("several threads ran".into(), Value::Ns(together_ns)),
    ];
    let pairs = waits.iter().map(|(waker, wait)| (*waker, wait));
    Outcome::Found(vec![finding.with_evidence(evidence_by_pair(pairs))])
}

fn explain(finding: &mut Finding, mean_ns: u64) {
    finding.confidence = Confidence::Probable;
    finding.meaning = format!(
        "Each waits until the other has come as far, {} on average: at a barrier after each step, for a result of the other, or for a lock that the other holds while it works. Even if their work is the same in sum, one works and the other waits in each step. Each row names the waiting thread, then the one that ended its waits.",
        format::duration(Duration(mean_ns))
    )
    .into();
    finding.tries = vec![
        Advice::code(
            "If they meet after each step: make the shares of each step equal, by cutting it into more parts than threads; who is done takes the next part.",
        ),
        Advice::code(
            "If one needs what the other has made: let that one work ahead, with a queue of some values in between (TBQueue).",
        ),
        Advice::code("If they share a lock: do the work before taking it, or after releasing it."),
    ];
    finding.distrust =
        "If each step needs all of the one before and cannot be cut, the waits remain.".into();
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::Nanos;
    use model::time::Interval;

    #[test]
    fn members_wait_for_each_other_and_for_long() {
        let waits = |count, ns| {
            let wait = Wait {
                thread: ThreadId(0),
                cap: None,
                range: Interval::new(Nanos(0), Nanos(ns)),
                ns,
            };
            vec![wait; count]
        };
        let pairs = |other: Vec<Wait>| {
            let all = [
                ((1, 2), waits(100, 10)),
                ((2, 1), other),
                ((2, 3), waits(60, 10)),
                ((3, 2), waits(60, 5)),
                ((4, 5), waits(60, 5)),
                ((5, 4), waits(60, 5)),
            ];
            let all = all.into_iter();
            all.map(|((one, other), waits)| ((ThreadId(one), ThreadId(other)), waits))
                .collect()
        };
        let of = |other| members(&pairs(other), 10_000).into_iter().map(|one| one.0);
        assert!(of(waits(100, 8)).eq([1, 2, 3]));
        // They wait too rarely, or one hardly waits: a pipeline. The next pair is found.
        assert!(of(waits(49, 20)).eq([2, 3]));
        assert!(of(waits(100, 1)).eq([2, 3]));
        assert!(members(&pairs(waits(100, 8)), 1_000_000).is_empty());
    }
}
