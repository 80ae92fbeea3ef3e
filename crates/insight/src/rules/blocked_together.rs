//! Were threads blocked at the same time until a timeout ended it?
//!
//! Threads in a deadlock wait until something outside ends it: `timeout`, or another exception. No thread wakes
//! them; the exception makes them continue. Nothing else runs meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use super::prelude::*;
use crate::lost_time::Cause;
use crate::threads::{ClippedWait, ThreadTurn};
use crate::wakeups::ThreadEvent;
use eventlog::hash::SeededSet;
use model::class::StopCode;
use model::sorting::CompactSort;

/// Minimum length of a wait; shorter ones cost little, and their wakeup may have been missed.
const LONG_NS: u64 = 5_000_000;
/// Time within which an interrupted thread has released what it held.
const SOON_NS: u64 = 1_000_000;
/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.05;
/// Minimum overlap of two waits, as a share of the shorter one, to count as simultaneous.
const TOGETHER: f64 = 0.50;
/// Number of later waits to compare each wait with.
const MAX_LATER: usize = 64;

pub(super) const RULE: Rule = Rule {
    name: "blocked-together",
    question: "Were threads blocked at the same time until a timeout ended it?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

const fn is_for_thread(reason: WaitReason) -> bool {
    matches!(
        reason,
        WaitReason::Mvar | WaitReason::Stm | WaitReason::BlackHole
    )
}

/// Returns long waits for other threads that were interrupted: they ended without a wakeup, or with one by a
/// thread whose own wait had just been interrupted. The waiting thread must run on afterwards.
async fn interrupted_waits(context: &RuleContext<'_>) -> Vec<ClippedWait> {
    let mut waits = Vec::new();
    let mut longest_sleeps: BTreeMap<ThreadId, u64> = BTreeMap::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        if turn.wait_reason().is_some_and(WaitReason::is_asleep) {
            let longest = longest_sleeps.entry(turn.thread()).or_default();
            *longest = turn.blocked_ns().max(*longest);
        }
        let reason = turn.wait_reason().filter(|reason| is_for_thread(*reason));
        let goes_on = turn.code.is_some_and(|code| code != StopCode::FINISHED);
        if reason.is_some() && goes_on {
            let wait = context.wait(turn, 0);
            waits.extend(wait.filter(|wait| wait.ns >= LONG_NS));
        }
    };
    context
        .each_turn_blocked((&is_for_thread, 2), &mut visit)
        .await;
    // A sleep that an exception ends looks like such a wait.
    waits.retain(|wait| {
        longest_sleeps
            .get(&wait.thread)
            .is_none_or(|longest| wait.ns > *longest)
    });
    if waits.len() < 2 {
        return Vec::new();
    }
    let members: SeededSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let mut woken: BTreeMap<ThreadId, Vec<(Nanos, Option<ThreadId>)>> = BTreeMap::new();
    let mut visit = |event: ThreadEvent| {
        if members.contains(&event.thread) {
            let times = woken.entry(event.thread).or_default();
            times.push((event.at, event.by));
        }
    };
    context.each_wakeup_by_any(&mut visit).await;
    for times in woken.values_mut() {
        context.sort(times).await;
    }
    // A wakeup at the very start of a wait belongs to the previous one.
    let wakeup = |wait: &ClippedWait| {
        let times = woken.get(&wait.thread).map_or(&[][..], Vec::as_slice);
        let next = times.partition_point(|(at, _)| *at <= wait.range.start());
        times.get(next).filter(|(at, _)| *at <= wait.range.end())
    };
    let mut ends: BTreeMap<ThreadId, Vec<Nanos>> = BTreeMap::new();
    for wait in waits.iter().filter(|wait| wakeup(wait).is_none()) {
        ends.entry(wait.thread).or_default().push(wait.range.end());
    }
    waits.retain(|wait| match wakeup(wait) {
        None => true,
        // An interrupted thread releases what it holds, which the other one waits for.
        Some((at, waker)) => {
            let ends = waker.and_then(|waker| ends.get(&waker));
            let last = ends.and_then(|ends| ends[..ends.partition_point(|end| end <= at)].last());
            last.is_some_and(|end| at.0 - end.0 <= SOON_NS)
        }
    });
    waits.sort_small_by_key(|wait| (wait.range.start(), wait.thread));
    waits
}

/// Filters to waits that overlap one of another thread (waits of the same thread are disjoint).
fn overlapping_waits(waits: Vec<ClippedWait>) -> Vec<ClippedWait> {
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    for (index, wait) in waits.iter().enumerate() {
        let later = waits.iter().enumerate().skip(index + 1).take(MAX_LATER);
        let over = later.take_while(|(_, other)| other.range.start() < wait.range.end());
        for (other_index, other) in over {
            let shared = wait.range.clip(other.range).duration().0 as f64;
            let shorter = wait.range.duration().min(other.range.duration()).0 as f64;
            if shared >= TOGETHER * shorter {
                kept.extend([index, other_index]);
            }
        }
    }
    let all = waits.into_iter().enumerate();
    all.filter(|(index, _)| kept.contains(index))
        .map(|(_, wait)| wait)
        .collect()
}

/// Returns whether another thread slept when one of the waits was interrupted: it might have been about to end it.
async fn other_thread_slept(context: &RuleContext<'_>, waits: &[ClippedWait]) -> bool {
    let mut ends: Vec<u64> = waits.iter().map(|wait| wait.range.end().0).collect();
    context.sort(&mut ends).await;
    let members: SeededSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let mut slept = false;
    let mut visit = |turn: ThreadTurn<'_>| {
        if !members.contains(&turn.thread()) {
            let (from, to) = turn.blocked_span();
            let next = ends.partition_point(|end| *end <= from);
            slept |= ends.get(next).is_some_and(|end| *end < to);
        }
    };
    context.each_sleep(&mut visit).await;
    slept
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let idle = context.share_of_caps(loss_budget.unclaimed_ns(Pool::Idle));
    let waits = if idle < MIN_SHARE {
        Vec::new()
    } else {
        overlapping_waits(interrupted_waits(context).await)
    };
    let spans = waits.iter().map(ClippedWait::span).collect();
    let stretches = context.stretches(spans).await;
    let cap_ns = context.idle_in(&stretches).await.none_running_ns;
    let share = context.share_of_caps(cap_ns);
    if waits.is_empty() || share < MIN_SHARE {
        return Outcome::Clear(format!(
            "nothing ran for {} of the time while two or more threads were blocked and resumed without a wakeup; the limit is 5 %",
            format::fraction(share)
        ));
    }
    if other_thread_slept(context, &waits).await {
        return Outcome::Clear(
            "threads were blocked at the same time until an interruption, but another thread was asleep then and may have been about to wake them".into(),
        );
    }
    let threads: BTreeSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let title = format!(
        "{} were blocked at the same time until a timeout or exception ended it, {}",
        format::pluralize(threads.len() as u64, "thread"),
        format::pluralize(stretches.len() as u64, "time")
    );
    let times = stretches.len() as u64;
    let stretches = (stretches, cap_ns, Cause::Sleeping);
    let mut finding = context
        .asleep_finding((RULE.name, title), loss_budget, stretches)
        .await;
    finding.confidence = Confidence::Probable;
    finding.meaning = format!(
        "No thread woke them, and nothing ran for {} meanwhile. Each may hold what the other waits for: a deadlock that only the timeout ends.",
        format::duration_ns(cap_ns / context.caps.max(1))
    )
    .into();
    finding.tries = Advice::code_changes([
        "Take locks in the same order everywhere, or all of them in one STM transaction, which takes no locks before it commits.",
        "Hold no lock while waiting for another: read, release, then continue.",
    ]);
    finding.distrust = "Threads that wait for an external answer that never comes look the same: a timeout around hGetLine or a request.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("threads", Value::Count(threads.len() as u64)),
        ("times", Value::Count(times)),
    ]);
    Outcome::Found(vec![
        finding.with_evidence(waits.iter().map(ClippedWait::evidence)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::time::Interval;

    fn wait(thread: u32, from: u64, to: u64) -> ClippedWait {
        ClippedWait {
            thread: ThreadId(thread),
            cap: None,
            range: Interval::new(Nanos(from), Nanos(to)),
            ns: to - from,
        }
    }

    #[test]
    fn waits_that_share_half_of_the_shorter_one_are_together() {
        let all = vec![
            wait(1, 0, 100),
            wait(2, 40, 110),
            wait(3, 100, 160),
            wait(1, 200, 300),
            wait(2, 270, 400),
        ];
        let kept: Vec<u64> = overlapping_waits(all)
            .iter()
            .map(|wait| wait.range.start().0)
            .collect();
        assert_eq!(kept, [0, 40]);
    }
}
