//! Were threads blocked at the same time until a timeout ended it?
//!
//! Threads that wait for each other do so until something from outside ends it: `timeout`, or
//! another exception. Nobody wakes them then; they go on by themselves. Nothing runs meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Outcome, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use crate::lost_time::union;
use crate::threads::Wait;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Steps, Yield, sort};
use eventlog::hash::SeededSet;
use eventlog::ids::{Nanos, ThreadId};
use model::class::{StopCode, WaitReason};
use model::format;

/// Shorter waits cost little, and a wakeup may have been missed.
const LONG_NS: u64 = 5_000_000;
/// Who is broken off has given back within this time what it held.
const SOON_NS: u64 = 1_000_000;
/// Less of the capabilities' time is not worth a change.
const LEAST_SHARE: f64 = 0.05;
/// Waits of two threads are at the same time if they share so much of the shorter one.
const TOGETHER: f64 = 0.50;
/// Each wait is compared with so many that begin after it.
const MOST_BESIDE: usize = 64;

const NAME: &str = "blocked-together";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Were threads blocked at the same time until a timeout ended it?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

const fn is_for_thread(reason: WaitReason) -> bool {
    matches!(
        reason,
        WaitReason::Mvar | WaitReason::Stm | WaitReason::BlackHole
    )
}

/// Long waits for other threads that no wakeup ended, or one by a thread whose own wait was ended so, after which the
/// thread goes on.
async fn broken_off(context: &RuleContext<'_>, yielder: &dyn Yield) -> Vec<Wait> {
    let mut waits = Vec::new();
    let look = |life: &ThreadLane<'_>, turn: (usize, &WaitRunCycle)| {
        let reason = turn.1.wait_reason().filter(|reason| is_for_thread(*reason));
        let goes_on = turn.1.code.is_some_and(|code| code != StopCode::FINISHED);
        if reason.is_some() && goes_on {
            let wait = context.wait(life, turn, 0);
            waits.extend(wait.filter(|wait| wait.ns >= LONG_NS));
        }
    };
    context
        .each_turn_blocked((is_for_thread, 2), yielder, look)
        .await;
    if waits.len() < 2 {
        return Vec::new();
    }
    let members: SeededSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let mut woken: BTreeMap<ThreadId, Vec<(Nanos, Option<ThreadId>)>> = BTreeMap::new();
    let mut steps = Steps::new(yielder);
    for cap in context.cap_ids() {
        let mut runs = context.log.store.run_cursor(cap);
        for (at, thread) in context.log.store.wakeups_on(cap, context.range) {
            steps.step().await;
            if members.contains(&thread) {
                let giver = runs.thread_at(at);
                woken.entry(thread).or_default().push((at, giver));
            }
        }
    }
    for times in woken.values_mut() {
        sort(times, yielder).await;
    }
    // A wakeup at its very beginning is that of the wait before.
    let wakeup = |wait: &Wait| {
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
        // Who is broken off gives back what it holds, which the other one waits for.
        Some((at, giver)) => {
            let ends = giver.and_then(|giver| ends.get(&giver));
            let last = ends.and_then(|ends| ends[..ends.partition_point(|end| end <= at)].last());
            last.is_some_and(|end| at.0 - end.0 <= SOON_NS)
        }
    });
    waits.sort_unstable_by_key(|wait| (wait.range.start(), wait.thread));
    waits
}

/// Those of them that another thread's wait lies beside (waits of one thread do not overlap).
fn together(waits: Vec<Wait>) -> Vec<Wait> {
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    for (place, wait) in waits.iter().enumerate() {
        let later = waits.iter().enumerate().skip(place + 1).take(MOST_BESIDE);
        let over = later.take_while(|(_, other)| other.range.start() < wait.range.end());
        for (other_place, other) in over {
            let shared = wait.range.clip(other.range).duration().0 as f64;
            let shorter = wait.range.duration().min(other.range.duration()).0 as f64;
            if shared >= TOGETHER * shorter {
                kept.extend([place, other_place]);
            }
        }
    }
    let all = waits.into_iter().enumerate();
    all.filter(|(place, _)| kept.contains(place))
        .map(|(_, wait)| wait)
        .collect()
}

/// Whether any other thread slept when one of the waits was broken off: it may have been on the
/// way to end it.
async fn somebody_slept(context: &RuleContext<'_>, waits: &[Wait], yielder: &dyn Yield) -> bool {
    let mut ends: Vec<u64> = waits.iter().map(|wait| wait.range.end().0).collect();
    sort(&mut ends, yielder).await;
    let members: SeededSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let mut slept = false;
    let look = |life: &ThreadLane<'_>, (_, turn): (usize, &WaitRunCycle)| {
        if !members.contains(&life.id()) && turn.wait_reason().is_some_and(WaitReason::is_asleep) {
            let (from, to) = turn.part(0);
            let next = ends.partition_point(|end| *end <= from);
            slept |= ends.get(next).is_some_and(|end| *end < to);
        }
    };
    context
        .each_turn_blocked((WaitReason::is_asleep, 0), yielder, look)
        .await;
    slept
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let idle = context.share_of_caps(loss_budget.left_ns(Pool::Idle));
    let waits = if idle < LEAST_SHARE {
        Vec::new()
    } else {
        together(broken_off(context, yielder).await)
    };
    let spans: Vec<(u64, u64)> = waits.iter().map(Wait::span).collect();
    let stretches = union(&spans);
    let cap_ns = context.idle_in(&stretches, yielder).await.nobody_ns;
    let share = context.share_of_caps(cap_ns);
    if waits.is_empty() || share < LEAST_SHARE {
        return Outcome::Clear(format!(
            "while two threads or more were blocked that nobody woke, and went on by themselves, nothing ran for {} of the time; the limit is 5 %",
            format::fraction(share)
        ));
    }
    if somebody_slept(context, &waits, yielder).await {
        return Outcome::Clear(
            "threads were blocked at the same time until something else ended it, but another one slept then: it may have been about to wake them".into(),
        );
    }
    let threads: BTreeSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let title = format!(
        "{} were blocked at the same time until a timeout or exception ended it, {}",
        format::many(threads.len() as u64, "thread"),
        format::many(stretches.len() as u64, "time")
    );
    let times = stretches.len() as u64;
    let mut finding = context
        .of_idle((NAME, title), loss_budget, (stretches, cap_ns), yielder)
        .await;
    finding.confidence = Confidence::Probable;
    finding.meaning = "Nobody woke them, and nothing ran meanwhile. Each of them may hold what the other one waits for: a deadlock, which only the timeout ends.".into();
    finding.tries = vec![
        Try::code(
            "Take locks in the same order everywhere, or all of them in one STM transaction, which takes no lock until it ends.",
        ),
        Try::code("Hold no lock while waiting for another one: read, release, then go on."),
    ];
    finding.distrust = "Threads that wait for somebody outside who does not answer look the same: with a timeout around hGetLine or a request.".into();
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("threads".into(), Value::Count(threads.len() as u64)),
        ("times".into(), Value::Count(times)),
    ];
    Outcome::Found(vec![finding.seen_in(waits.iter().map(Wait::evidence))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::time::Interval;

    fn wait(thread: u32, from: u64, to: u64) -> Wait {
        Wait {
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
        let kept: Vec<u64> = together(all)
            .iter()
            .map(|wait| wait.range.start().0)
            .collect();
        assert_eq!(kept, [0, 40]);
    }
}
