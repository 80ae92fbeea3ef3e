//! Do threads wait for each other at every step?
//!
//! Threads that meet at a barrier after each step wait for the slowest one each time. Over the whole run their work
//! can be even, and no single wait is long, but in each step one of them works while the others wait. Two threads
//! that hand over to each other may even alternate strictly, as when the next input is requested too late.

use std::collections::{BTreeMap, BTreeSet};

use super::hand_overs::one_capability_advice;
use super::prelude::*;
use crate::threads::{ClippedWait, ThreadTurn, evidence_by_threads};
use crate::wakeups::Wakeup;
use model::sorting::CompactCollect;

/// Minimum number of waits of a thread for another one, and of that one for it.
const MIN_WAITS: u64 = 50;
/// Minimum length of the waits of each of the two, as a share of the range.
const MIN_EACH: f64 = 0.02;
/// Minimum length of those that are less, in relation to the others: behind the slow stage of a pipeline, only one of
/// two threads waits.
const MUTUAL: f64 = 0.20;
/// Minimum mean length of a wait; shorter ones are the time that it takes to wake a thread.
const SHORTEST_NS: u64 = 100_000;
/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.10;
/// Minimum share of the time in which several of the threads run. With less, only one of them may have work, unless two
/// or more run for `MIN_WORK` of the time each: these alternate.
const MIN_TOGETHER: f64 = 0.03;
const MIN_WORK: f64 = 0.20;

pub(super) const RULE: Rule = Rule {
    name: "lockstep",
    question: "Do threads wait for each other at every step?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Waits of a thread that another one ended.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    count: u64,
    ns: u64,
}

/// Sums of waits, by waiting thread and the one that ended them.
type WaitsByPair = BTreeMap<(ThreadId, ThreadId), Waits>;

/// Calls `visit` for each wait for an `MVar` or in STM that another thread ended.
async fn each_wait(
    context: &RuleContext<'_>,
    wakeups: &[Wakeup],
    visit: &mut dyn FnMut(ClippedWait, ThreadId),
) {
    let mut visit = |turn: ThreadTurn<'_>, wakeup: &Wakeup| {
        let reason = turn.wait_reason();
        if reason.is_some_and(WaitReason::is_for_value)
            && let Some(wait) = context.wait(turn, 0)
        {
            visit(wait, wakeup.waker);
        }
    };
    context.each_woken_turn(wakeups, &mut visit).await;
}

/// Returns the threads that wait for each other: the two that do so for longest, and all that do with one of these.
fn members(pairs: &WaitsByPair, length_ns: u64) -> BTreeSet<ThreadId> {
    let mutual = pairs.iter().filter_map(|(&(one, other), waits)| {
        let back = pairs.get(&(other, one)).filter(|_| one < other)?;
        let (least_ns, most_ns) = (waits.ns.min(back.ns), waits.ns.max(back.ns));
        let is_mutual = waits.count.min(back.count) >= MIN_WAITS
            && least_ns as f64 >= MIN_EACH * length_ns as f64
            && least_ns as f64 >= MUTUAL * most_ns as f64;
        is_mutual.then_some((least_ns + most_ns, [one, other]))
    });
    let mutual: Vec<(u64, [ThreadId; 2])> = mutual.collect();
    let Some((_, first)) = mutual.iter().max() else {
        return BTreeSet::new();
    };
    let is_near = |pair: &[ThreadId; 2]| pair.iter().any(|one| first.contains(one));
    let near = mutual.iter().filter(|(_, pair)| is_near(pair));
    near.flat_map(|(_, pair)| *pair).collect_small()
}

/// Returns for how long at least two of the threads ran.
async fn together_ns(context: &RuleContext<'_>, threads: &BTreeSet<ThreadId>) -> u64 {
    let mut bounds: Vec<(u64, i64)> = Vec::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        if let Some((from, to)) = context.wait(turn, 2).map(|run| run.span()) {
            bounds.extend([(from, 1), (to, -1)]);
        }
    };
    context.each_turn_of(threads, &mut visit).await;
    context.sort(&mut bounds).await;
    let (mut running, mut since, mut sum_ns) = (0, 0, 0);
    for (time, change) in bounds {
        if running >= 2 {
            sum_ns += time - since;
        }
        running += change;
        since = time;
    }
    sum_ns
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let idle = context.share_of_caps(loss_budget.unclaimed_ns(Pool::Idle));
    if context.caps < 2 || idle < MIN_SHARE {
        return Outcome::Clear(format!(
            "{}; capabilities were idle with no thread ready for {} of their time, not counting other findings; the limit is 10 %",
            format::pluralize(context.caps, "capability"),
            format::fraction(idle),
        ));
    }
    let wakeups = context.wakeups_by_thread().await;
    let mut pairs = WaitsByPair::new();
    each_wait(context, &wakeups, &mut |wait, waker| {
        let pair = pairs.entry((wait.thread, waker)).or_default();
        pair.count += 1;
        pair.ns = pair.ns.saturating_add(wait.ns);
    })
    .await;
    let members = members(&pairs, context.length_ns());
    let mut waits: Vec<(ThreadId, ClippedWait)> = Vec::new();
    if !members.is_empty() {
        each_wait(context, &wakeups, &mut |wait, waker| {
            if members.contains(&wait.thread) && members.contains(&waker) {
                waits.push((waker, wait));
            }
        })
        .await;
    }
    let waited_ns: u64 = waits.iter().map(|(_, wait)| wait.ns).sum();
    let mean_ns = waited_ns / (waits.len() as u64).max(1);
    let together = context.share(together_ns(context, &members).await);
    let alternate = together < MIN_TOGETHER;
    let ran_ns = context.run_times().await.iter();
    let workers = ran_ns
        .filter(|(thread, ns)| members.contains(thread) && context.share(*ns) >= MIN_WORK)
        .count();
    let spans = waits.iter().map(|(_, wait)| wait.span());
    let spans = context.stretches(spans.collect()).await;
    // While nothing runs, the thread that is waited for waits itself, for something outside.
    let parts = context.idle_in(&spans).await;
    let cap_ns = parts.serial_ns.saturating_add(parts.several_ns);
    if mean_ns < SHORTEST_NS
        || alternate && workers < 2
        || context.share_of_caps(cap_ns) < MIN_SHARE
    {
        return Outcome::Clear(format!(
            "capabilities were idle for {} of their time while {} waited for each other and others ran, each time for {} on average; several of these ran at once for {} of the time, and {workers} for a fifth of the time or longer; the limits are 10 %, 0.1 ms, and 3 % or 2",
            format::fraction(context.share_of_caps(cap_ns)),
            format::pluralize(members.len() as u64, "thread"),
            format::duration_ns(mean_ns),
            format::fraction(together),
        ));
    }
    let names = context.names_or_count(members);
    let times = format::pluralize(waits.len() as u64, "time");
    let idle = format::fraction(context.share_of_caps(cap_ns));
    let title = match alternate {
        true => format!(
            "{names} alternate: they waited for each other {times}, and capabilities were idle meanwhile for {idle} of their time"
        ),
        false => format!(
            "{names} waited for each other {times}: capabilities were idle meanwhile for {idle} of their time"
        ),
    };
    let mut finding = context
        .blocked_finding((RULE.name, title), loss_budget, (spans, cap_ns))
        .await;
    explain(&mut finding, mean_ns);
    if alternate {
        explain_alternation(context, &mut finding);
    }
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("waits", Value::Count(waits.len() as u64)),
        ("a wait, on average", Value::Ns(mean_ns)),
        ("several of them ran", Value::Share(together)),
    ]);
    let pairs = waits
        .iter()
        .map(|(waker, wait)| ([wait.thread, *waker], wait));
    Outcome::Found(vec![finding.with_evidence(evidence_by_threads(pairs))])
}

fn explain(finding: &mut Finding, mean_ns: u64) {
    finding.confidence = Confidence::Probable;
    finding.meaning = format!(
        "In each step one thread works, and another waits until it is done, {} on average: at a barrier, for a result, or for a lock held during the work. This costs time even if all have the same amount of work over the whole run. Each row names the waiting thread, then the one that ended its waits.",
        format::duration_ns(mean_ns)
    )
    .into();
    finding.tries = Advice::code_changes([
        "If they meet after each step: make the shares of each step equal, by cutting it into more parts than threads; each thread that is done takes the next part.",
        "If one needs the results of the other: let the other one work ahead, with a queue of some values in between (TBQueue).",
        "If they share a lock: do the work before taking it, or after releasing it.",
    ]);
    finding.distrust =
        "If each step needs all of the one before and cannot be cut, the waits remain.".into();
}

/// Changes a finding about threads of which hardly two ever ran at once.
fn explain_alternation(context: &RuleContext<'_>, finding: &mut Finding) {
    finding.tries.swap(0, 1);
    finding.tries[0] = Advice::code(
        "Request the next value before processing the current one, with a queue of some values in between (TBQueue): then both threads work at the same time.",
    );
    if let Some(advice) = one_capability_advice(context) {
        finding.tries[2] = advice;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_wait_for_each_other_and_for_long() {
        let waits = |count, each_ns| Waits {
            count,
            ns: count * each_ns,
        };
        let pairs = |other: Waits| {
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
