//! Do threads queue for one lock?
//!
//! The log does not identify `MVar`s, but it shows hand-overs: a thread that waits for an `MVar`, or in STM for a
//! `TMVar`, is woken by the thread running on the waking capability. Threads take turns if several of them wake and
//! are woken often, none is the hub of all wakeups, and hardly more than one of them runs while another waits.

use std::collections::BTreeMap;

use super::hand_overs::one_capability_advice;
use super::prelude::*;
use super::slowest_stage::pace_setter;
use crate::lost_time::overlap_ns;
use crate::threads::{ClippedWait, ThreadTurn, evidence_by_threads};
use crate::wakeups::{ThreadEvent, Wakeup};
use analysis::timeline::thread_lane::ThreadLane;
use eventlog::hash::SeededMap;
use model::sorting::CompactCollect;

/// Minimum number of threads; two threads that answer each other are a conversation, not a queue.
const MIN_MEMBERS: usize = 3;
/// Minimum wakeups that a member gives, and receives.
const MIN_WAKES: u64 = 20;
/// A thread woken that often has run at least as often.
const MIN_RUNS: u32 = MIN_WAKES as u32;
/// A thread with at least this share of all wakeups distributes work, or collects results.
const HUB: f64 = 0.50;
/// Maximum mean number of members running while another one waits.
const MAX_RUNNING: f64 = 1.5;
/// If fewer run, and as many sleep, those that hold what the others wait for sleep: no lock around work.
const MIN_RUNNING: f64 = 0.5;
const ASLEEP: f64 = 0.5;
/// The same for threads that wait in STM: if fewer run, they wait for their turn, not for the holder of a `TMVar`.
const MIN_RUNNING_STM: f64 = 0.75;
/// Minimum number of short-lived threads that read the output of commands, and the maximum number of their runs.
const MIN_COMMANDS: usize = 50;
const FEW_RUNS: usize = 8;
/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    name: "lock-convoy",
    question: "Do threads queue for one lock?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Number of times that a thread woke others, and was woken.
#[derive(Clone, Copy, Default)]
struct WakeCounts {
    given: u64,
    received: u64,
}

/// Returns the threads that often wake and are woken; `None` if one of them is a hub, or there are too few.
async fn members(context: &RuleContext<'_>) -> Option<BTreeMap<ThreadId, WakeCounts>> {
    let mut wakes: SeededMap<ThreadId, WakeCounts> = SeededMap::default();
    // The last waker, and how many wakeups it gave in a row.
    let mut last: Option<(ThreadId, u64)> = None;
    let mut visit = |wakeup: Wakeup| {
        let given = last.filter(|(waker, _)| *waker == wakeup.waker);
        let given = given.map_or(0, |(_, given)| given);
        let before = last.replace((wakeup.waker, given + 1));
        if let Some((waker, all_given)) = before.filter(|_| given == 0) {
            wakes.entry(waker).or_default().given += all_given;
        }
        wakes.entry(wakeup.thread).or_default().received += 1;
    };
    context.each_wakeup(&mut visit).await;
    if let Some((waker, given)) = last {
        wakes.entry(waker).or_default().given += given;
    }
    // A thread that hands out work to parked ones is a hub even if nobody wakes it.
    let given = wakes.values().map(|wakes| wakes.given);
    let most_given = given.max().unwrap_or(0);
    let often = wakes
        .into_iter()
        .filter(|(_, wakes)| wakes.given >= MIN_WAKES && wakes.received >= MIN_WAKES);
    let wakes: BTreeMap<ThreadId, WakeCounts> = often.collect_small();
    let all: u64 = wakes.values().map(|wakes| wakes.received).sum();
    let most = wakes.values().map(|wakes| wakes.received.max(wakes.given));
    let is_hub = most.max().unwrap_or(0).max(most_given) as f64 >= HUB * all as f64;
    (wakes.len() >= MIN_MEMBERS && !is_hub).then_some(wakes)
}

/// What the members do.
#[derive(Default)]
struct MemberTimes {
    /// Waits for an `MVar`, or in STM.
    waits: Vec<ClippedWait>,
    /// Sum of these waits, and of those in STM.
    waited_ns: u64,
    stm_ns: u64,
    /// Start and end of runs.
    runs: Vec<(u64, u64)>,
    /// Start and end of waits for a timer, I/O and foreign calls.
    sleeps: Vec<(u64, u64)>,
}

/// Returns when the members wait for each other, run and sleep.
async fn times(context: &RuleContext<'_>, members: &BTreeMap<ThreadId, WakeCounts>) -> MemberTimes {
    let mut times = MemberTimes::default();
    let mut visit = |turn: ThreadTurn<'_>| {
        let reason = turn.wait_reason();
        if let Some(reason @ (WaitReason::Mvar | WaitReason::Stm)) = reason {
            let wait = context.wait(turn, 0);
            let ns = wait.as_ref().map_or(0, |wait| wait.ns);
            times.waited_ns = times.waited_ns.saturating_add(ns);
            if reason == WaitReason::Stm {
                times.stm_ns = times.stm_ns.saturating_add(ns);
            }
            times.waits.extend(wait);
        }
        if reason.is_some_and(WaitReason::is_asleep) {
            times.sleeps.push(turn.blocked_span());
        }
        if turn.code.is_some() {
            times.runs.push(turn.run_span());
        }
    };
    let store = &context.log.store;
    let lives = store.lives_with_min_runs(MIN_RUNS);
    let mut lives = lives.filter(|life| members.contains_key(&life.id()));
    context.each_turn_in(&mut lives, &mut visit).await;
    times
}

/// Returns how much of the spans lies in stretches, which are sorted and disjoint.
async fn inside_ns(
    context: &RuleContext<'_>,
    spans: &[(u64, u64)],
    stretches: &[(u64, u64)],
) -> u64 {
    let (mut all_ns, mut steps) = (0, context.steps());
    for span in spans {
        steps.step().await;
        all_ns += overlap_ns(*span, stretches);
    }
    all_ns
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let clear = |cap_ns| {
        Outcome::Clear(format!(
            "capabilities were idle for {} of their time while threads took turns with MVars or in STM; the limit is 5 %",
            format::fraction(context.share_of_caps(cap_ns))
        ))
    };
    let blocked_ns = &context.threads().await.times.blocked_ns;
    let blocked_ns = |reason: WaitReason| blocked_ns[reason as usize];
    let any_ns = blocked_ns(WaitReason::Mvar).saturating_add(blocked_ns(WaitReason::Stm));
    if context.caps < 2 || context.share_of_caps(any_ns) < MIN_SHARE {
        return clear(0);
    }
    let Some(members) = members(context).await else {
        return Outcome::Clear(
            "no three threads woke each other in turns, each waking and being woken at least 20 times".to_owned(),
        );
    };
    let times = times(context, &members).await;
    let spans: Vec<(u64, u64)> = times.waits.iter().map(ClippedWait::span).collect();
    let cap_ns = context.overlapping_idle_ns(&spans).await;
    if context.share_of_caps(cap_ns) < MIN_SHARE {
        return clear(cap_ns);
    }
    let waiting = context.stretches(spans.clone()).await;
    let waiting_ns: u64 = { waiting.iter() }
        .map(|span| context.unpaused_ns(*span))
        .sum();
    let running = inside_ns(context, &times.runs, &waiting).await as f64 / waiting_ns.max(1) as f64;
    let asleep =
        inside_ns(context, &times.sleeps, &waiting).await as f64 / waiting_ns.max(1) as f64;
    if running < MIN_RUNNING && asleep >= ASLEEP {
        return Outcome::Clear(format!(
            "while threads waited for each other, {running:.1} of them ran and {asleep:.1} slept: they wait for those that sleep; the limits are 0.5 each"
        ));
    }
    let is_stm = times.stm_ns > times.waited_ns / 2;
    if is_stm && running < MIN_RUNNING_STM {
        return Outcome::Clear(format!(
            "while threads waited in STM, {running:.2} of them ran; the limit is 0.75"
        ));
    }
    if running > MAX_RUNNING {
        return Outcome::Clear(format!(
            "while threads that wake each other waited, {running:.1} of them ran; the limit is 1.5"
        ));
    }
    if let Some(stage) = pace_setter(context).await {
        return Outcome::Clear(format!(
            "{} works nearly all the time and never waits: the others wait for it, not for a lock",
            context.thread_name(stage)
        ));
    }
    let starts_commands = made_for_io(context, &members).await >= MIN_COMMANDS;
    let count = members.len() as u64;
    let title = format!(
        "{} take turns, {}: on average {running:.1} of them ran",
        format::pluralize(count, "thread"),
        match starts_commands {
            true => "perhaps to start commands",
            false => "for a lock or in a pipeline",
        }
    );
    let mut finding = context
        .blocked_finding((RULE.name, title), loss_budget, (spans, cap_ns))
        .await;
    finding.confidence = Confidence::Probable;
    finding.meaning = "The threads pass a lock or value from one to the next. While one holds it, the others wait, so more capabilities do not help. A Handle such as stdout has a lock too.".into();
    finding.tries = vec![
        Advice::code("Do the work before taking the lock, or after releasing it."),
        Advice::code(
            "Give each thread its own value, or split the guarded data, with one lock for each part.",
        ),
        one_capability_advice(context).unwrap_or_else(|| {
            Advice::code(
                "If the lock guards a single value and the update is short, use atomicModifyIORef' instead of an MVar.",
            )
        }),
    ];
    finding.distrust =
        "MVars have no names in the log. In a pipeline each thread waits for the previous one: keep several items in flight."
            .into();
    if starts_commands {
        explain_by_commands(&mut finding);
    }
    if is_stm {
        finding.tries.insert(
            1,
            Advice::code("Use an MVar in place of a TMVar as a lock: STM wakes all threads that wait, and all but one wait again."),
        );
    }
    let handed: u64 = members.values().map(|wakes| wakes.received).sum();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("threads", Value::Count(count)),
        ("wakeups", Value::Count(handed)),
        ("time with a waiter", Value::Ns(waiting_ns)),
    ]);
    let waits = times.waits.iter().map(|wait| ([wait.thread], wait));
    Outcome::Found(vec![finding.with_evidence(evidence_by_threads(waits))])
}

/// Returns how many short-lived threads that wait for I/O the members created, as `readProcess` does to read the output of
/// a command.
async fn made_for_io(context: &RuleContext<'_>, members: &BTreeMap<ThreadId, WakeCounts>) -> usize {
    let mut count = 0;
    let store = &context.log.store;
    if context.threads().await.times.blocked_ns[WaitReason::Io as usize] == 0 {
        return 0;
    }
    let waits_for_io = |life: ThreadLane<'_>| {
        let mut reasons =
            { life.turns_overlapping(context.range) }.filter_map(|(_, turn)| turn.wait_reason());
        life.runs() <= FEW_RUNS && reasons.any(|reason| reason == WaitReason::Io)
    };
    let mut visit = |event: ThreadEvent| {
        if event.by.is_some_and(|by| members.contains_key(&by)) {
            let life = store.thread_lane(event.thread);
            count += usize::from(life.is_some_and(waits_for_io));
        }
    };
    context.each_creation(context.range, &mut visit).await;
    count
}

/// Changes a finding about threads that create readers of output again and again.
fn explain_by_commands(finding: &mut Finding) {
    finding.meaning = "Each of these threads creates short-lived threads that wait for I/O, again and again, as readProcess does for the output of a command. Only one command of a program can start at a time: a lock guards that, and forking stops the others for longer the more memory the program has.".into();
    finding.tries.insert(
        0,
        Advice::code(
            "If they start commands of the operating system: do that work in the program, or give one command many inputs.",
        ),
    );
}
