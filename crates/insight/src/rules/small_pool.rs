//! Do threads wait for a slot in a pool whose holders sleep?
//!
//! A semaphore, or a pool of connections, admits a limited number of threads at a time. If those with a slot wait
//! for time, I/O or a foreign call, capabilities are idle while other threads wait for a slot. Such a thread is
//! recognized by its behavior: a thread that had a slot wakes it from an `MVar` or from STM, and then it sleeps
//! itself.

use std::collections::{BTreeSet, VecDeque};

use super::prelude::*;
use crate::lost_time::{Cause, overlap_ns};
use crate::threads::{ClippedWait, ThreadTurn};
use crate::wakeups::Wakeup;
use eventlog::hash::SeededSet;

/// Minimum length of a wait for a slot; shorter ones cost less than the pool is worth.
const LONG_NS: u64 = 1_000_000;
/// Minimum number of waits; fewer may be the start of the program.
const MIN_COUNT: usize = 20;
/// Minimum number of threads; fewer are a conversation.
const MIN_THREADS: usize = 3;
/// Minimum mean number of waiting threads while any waits; with fewer, one more slot would be enough.
const MIN_WAITING: f64 = 1.5;
/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.05;
/// Mean number of holders that sleep at a time, below which there is one slot only: a lock.
const ONE_SLOT: f64 = 1.2;
/// Maximum number of waits for one slot: a `Chan` of slots is first waited for to take from, then to be filled.
const MAX_WAITS: usize = 2;

pub(super) const RULE: Rule = Rule {
    name: "small-pool",
    question: "Do threads wait for a slot in a pool whose holders sleep?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Returns the waits after which the thread slept, with no wait of another kind in between.
async fn waits_before_sleep(context: &RuleContext<'_>) -> Vec<ClippedWait> {
    let mut all = Vec::new();
    // The last waits of one thread, until its next wait shows whether it slept.
    let mut last: VecDeque<ClippedWait> = VecDeque::new();
    // Whether the last one is in STM: each commit wakes all that wait for a slot, and those that get none wait again.
    let mut is_last_stm = false;
    let mut visit = |turn: ThreadTurn<'_>| {
        let Some(reason) = turn.wait_reason() else {
            // It was only preempted.
            return;
        };
        if last
            .front()
            .is_some_and(|wait| wait.thread != turn.thread())
        {
            last.clear();
        }
        if reason.is_asleep() {
            all.extend(last.drain(..));
        } else if !reason.is_for_value() || turn.code.is_none() {
            last.clear();
        } else if let Some(wait) = context.wait(turn, 0) {
            let is_stm = reason == WaitReason::Stm;
            match last.back_mut().filter(|_| is_stm && is_last_stm) {
                Some(again) => {
                    again.range = again.range.hull(wait.range);
                    again.ns += wait.ns;
                }
                None => last.push_back(wait),
            }
            is_last_stm = is_stm;
            if last.len() > MAX_WAITS {
                last.pop_front();
            }
        }
    };
    context
        .each_turn_blocked((&WaitReason::is_for_value, 0), &mut visit)
        .await;
    all.retain(|wait| wait.ns >= LONG_NS);
    all
}

/// Filters to waits ended by a thread of the same kind, which passed on its slot.
async fn waits_for_slot(context: &RuleContext<'_>) -> Vec<ClippedWait> {
    let mut waits = waits_before_sleep(context).await;
    if waits.is_empty() {
        return waits;
    }
    let members: SeededSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let mut ended: SeededSet<(ThreadId, Nanos)> = SeededSet::default();
    let mut visit = |wakeup: Wakeup| {
        if members.contains(&wakeup.waker) && members.contains(&wakeup.thread) {
            ended.insert((wakeup.thread, wakeup.at));
        }
    };
    context.each_wakeup(&mut visit).await;
    waits.retain(|wait| ended.contains(&(wait.thread, wait.range.end())));
    waits
}

/// Mean number of threads that sleep at a time, and so may have a slot.
#[derive(Clone, Copy, Debug)]
struct Holders {
    first: f64,
    last: f64,
}

impl Holders {
    /// Number of equal parts of the time in which threads wait for a slot.
    const PARTS: u64 = 50;
    /// Minimum fall: at most two of five slots are left, and at least one and a half are lost.
    const FALLS: f64 = 0.4;
    const MIN_LOST: f64 = 1.5;

    /// Returns the greatest mean of a part in the first half, and that of the last third, if it fell for good.
    async fn over_time(
        context: &RuleContext<'_>,
        (threads, waiting): (&BTreeSet<ThreadId>, &[(u64, u64)]),
    ) -> Option<Self> {
        let (start, end) = (waiting.first()?.0, waiting.last()?.1);
        let width = (end - start) / Self::PARTS;
        let mut slept_ns = [0_u64; Self::PARTS as usize];
        let mut visit = |turn: ThreadTurn<'_>| {
            if !turn.wait_reason().is_some_and(WaitReason::is_asleep) {
                return;
            }
            let (from, to) = turn.blocked_span();
            let mut begins = start;
            for part in &mut slept_ns {
                let inside = to.min(begins + width).saturating_sub(from.max(begins));
                *part += inside;
                begins += width;
            }
        };
        context.each_turn_of(threads, &mut visit).await;
        let means = slept_ns.map(|ns| ns as f64 / width.max(1) as f64);
        let (early, late) = means.split_at(means.len() / 2);
        let first = early.iter().copied().fold(0.0, f64::max);
        let end = &late[late.len() / 3..];
        let last = end.iter().sum::<f64>() / end.len().max(1) as f64;
        let is_fall = last <= Self::FALLS * first && first - last >= Self::MIN_LOST;
        is_fall.then_some(Self { first, last })
    }
}

/// Returns the mean number of the threads that sleep in the stretches.
async fn mean_asleep(
    context: &RuleContext<'_>,
    (threads, stretches): (&BTreeSet<ThreadId>, &[(u64, u64)]),
) -> f64 {
    let mut slept_ns = 0;
    let mut visit = |turn: ThreadTurn<'_>| {
        if turn.wait_reason().is_some_and(WaitReason::is_asleep) {
            slept_ns = u64::saturating_add(slept_ns, overlap_ns(turn.blocked_span(), stretches));
        }
    };
    context.each_turn_of(threads, &mut visit).await;
    let all_ns: u64 = stretches.iter().map(|(from, to)| to - from).sum();
    slept_ns as f64 / all_ns.max(1) as f64
}

/// Changes a finding on a pool that has one slot: a lock.
fn explain_by_lock(finding: &mut Finding, waiting: f64) {
    finding.title = format!(
        "On average {waiting:.1} threads waited for a lock, or a pool's only slot, whose holder was asleep"
    );
    finding.meaning = "One thread at a time has it, and waits for a timer, I/O or a foreign call meanwhile. The others wait for their turn.".into();
    finding.tries = Advice::code_changes([
        "Do not wait while holding a lock: send the request or read first, and take the lock only to change what it guards.",
        "Split what it guards, with one lock for each connection, file or key; if it guards a connection, open several: a pool.",
        "Speed up what the holder waits for, or batch the requests.",
    ]);
    finding.distrust = "If what it guards serves one request at a time, such as a disk, several locks only move the queue.".into();
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let all = context.threads().await.times;
    let asleep_ns = WaitReason::ALL
        .into_iter()
        .filter(|reason| reason.is_asleep());
    let asleep_ns: u64 = asleep_ns
        .map(|reason| all.blocked_ns[reason as usize])
        .sum();
    let idle = context.share_of_caps(loss_budget.all_ns(Pool::Idle));
    let waits = if idle < MIN_SHARE || asleep_ns == 0 {
        Vec::new()
    } else {
        waits_for_slot(context).await
    };
    let threads: BTreeSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let spans = waits.iter().map(ClippedWait::span).collect();
    let stretches = context.stretches(spans).await;
    let any_ns: u64 = stretches.iter().map(|(from, to)| to - from).sum();
    let sum_ns: u64 = waits.iter().map(|wait| wait.ns).sum();
    let waiting = sum_ns as f64 / any_ns.max(1) as f64;
    let cap_ns = context.idle_in(&stretches).await.none_running_ns;
    if waits.len() < MIN_COUNT
        || threads.len() < MIN_THREADS
        || waiting < MIN_WAITING
        || context.share_of_caps(cap_ns) < MIN_SHARE
    {
        return Outcome::Clear(format!(
            "{} of 1 ms and more for a slot of a thread that then slept, of {}, {waiting:.1} at a time; capabilities were idle for {} of their time meanwhile; the limits are 20, 3, 1.5 and 5 %",
            format::pluralize(waits.len() as u64, "wait"),
            format::pluralize(threads.len() as u64, "thread"),
            format::fraction(context.share_of_caps(cap_ns))
        ));
    }
    let title = format!(
        "On average {waiting:.1} threads waited for a slot in a pool, or for locks, whose holders were asleep"
    );
    let holders = Holders::over_time(context, (&threads, &stretches)).await;
    let asleep = mean_asleep(context, (&threads, &stretches)).await;
    let by_timer_ns = all.blocked_ns[WaitReason::Delay as usize];
    let cause = match by_timer_ns > asleep_ns / 2 {
        true => Cause::Sleeping,
        false => Cause::Outside,
    };
    let stretches = (stretches, cap_ns, cause);
    let mut finding = context
        .asleep_finding((RULE.name, title), loss_budget, stretches)
        .await;
    finding.confidence = Confidence::Probable;
    finding.meaning = "A semaphore, a pool or a set of locks admits only a few threads at a time. The threads inside wait for a timer, I/O or a foreign call, so that capabilities are idle while others wait for a slot.".into();
    finding.tries = Advice::code_changes([
        "Hold a slot or lock for a shorter time: move work that needs none outside.",
        "Enlarge the pool: more connections, a higher count of the semaphore, or more locks that share the keys evenly.",
        "Speed up what the holders wait for, or batch their requests.",
    ]);
    finding.distrust = "If the resource behind the pool serves no more requests at a time, a larger pool only moves the queue. A limit that protects it has this price.".into();
    if asleep < ONE_SLOT && holders.is_none() {
        explain_by_lock(&mut finding, waiting);
    }
    if let Some(Holders { first, last }) = holders {
        finding.meaning = format!(
            "{} At first {first:.1} of these threads slept at a time, in the end {last:.1}: slots seem not to be given back, as when an exception ends a thread that has one.",
            finding.meaning
        )
        .into();
        let give_back = "Give each slot back in all cases: bracket_ (waitQSem s) (signalQSem s), or withResource of the pool.";
        finding.tries.insert(0, Advice::code(give_back));
    }
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("threads", Value::Count(threads.len() as u64)),
        ("holders that slept, mean", Value::Mean(asleep)),
        ("waits for a slot", Value::Count(waits.len() as u64)),
        ("all waits, summed over threads", Value::Ns(sum_ns)),
    ]);
    Outcome::Found(vec![
        finding.with_evidence(waits.iter().map(ClippedWait::evidence)),
    ])
}
