//! Does one thread set the pace of a pipeline?
//!
//! In a pipeline each stage waits for the one before or after it. If one stage has most of the work, the others wait
//! for it, and capabilities are idle although the program has several threads. The log does not identify `MVar`s and
//! queues, but it shows that this thread works nearly all the time, and wakes those that wait.

use std::collections::BTreeMap;

use super::prelude::*;
use crate::threads::{ClippedWait, ThreadTurn};

/// Minimum share of the time outside collections in which the thread works.
const BUSY: f64 = 0.70;
/// Minimum work of all other threads, as a share of its own: with less, it does the program's work alone.
const OTHERS: f64 = 0.10;
/// Minimum number of threads that wait for it if it works alone: one or two may merely log what it does.
const MIN_CLIENTS: usize = 3;
/// The same if one of them has woken it at some time: it supplies or asks the thread.
const MIN_NEIGHBOURS: usize = 2;
/// Maximum work of another thread, as a share of its own: with more, there are two slow stages.
const NEXT: f64 = 0.60;
/// Minimum number of times that it wakes a thread that waits for it.
const MIN_WAKES: u64 = 20;
/// Minimum share of the time in which such a thread waits.
const WAITS: f64 = 0.40;
/// Maximum share of the time in which a thread is blocked that never waits.
const NEVER_WAITS: f64 = 0.02;
/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.10;

pub(super) const RULE: Rule = Rule {
    name: "slowest-stage",
    question: "Does one thread set the pace of a pipeline?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Thread that works nearly all the time beside others that work less.
struct Stage {
    thread: ThreadId,
    ran_ns: u64,
    /// Whether the others hardly work.
    is_alone: bool,
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let unclaimed = |pool| context.share_of_caps(loss_budget.unclaimed_ns(pool));
    let idle = unclaimed(Pool::Idle);
    let is_idle = idle >= MIN_SHARE;
    if context.caps < 2 || !is_idle && idle + unclaimed(Pool::CapIdleWorkAvailable) < MIN_SHARE {
        return Outcome::Clear(format!(
            "capabilities were idle with no thread ready for {} of their time, not counting other findings; the limit is 10 %",
            format::fraction(idle)
        ));
    }
    let (stage, open_ns) = match busiest_stage(context).await {
        Ok(found) => found,
        Err(why) => return Outcome::Clear(why),
    };
    if !is_idle && !never_waits(context, stage.thread).await {
        return Outcome::Clear(format!(
            "capabilities were idle with no thread ready for {} of their time, and the busiest thread waits, too; the limit is 10 %",
            format::fraction(idle)
        ));
    }
    let waits = waits_for(context, stage.thread).await;
    if stage.is_alone
        && waits.len() < MIN_CLIENTS
        && (waits.len() < MIN_NEIGHBOURS || !was_woken_by(context, stage.thread, &waits).await)
    {
        return Outcome::Clear(format!(
            "{} does nearly all the work, and {} waited for it; the limit is 3",
            context.thread_name(stage.thread),
            format::pluralize(waits.len() as u64, "other thread")
        ));
    }
    let spans: Vec<(u64, u64)> = waits.values().flatten().map(ClippedWait::span).collect();
    let cap_ns = context.overlapping_idle_ns(&spans).await;
    if context.share_of_caps(cap_ns) < MIN_SHARE {
        return Outcome::Clear(format!(
            "{} worked for {} of the time, but capabilities were idle for {} of theirs while threads waited that it wakes; the limit is 10 %",
            context.thread_name(stage.thread),
            format::fraction(stage.ran_ns as f64 / open_ns.max(1) as f64),
            format::fraction(context.share_of_caps(cap_ns))
        ));
    }
    let name = context.thread_name(stage.thread);
    let title = format!(
        "{name} worked for {} of {} outside collections; {} waited for it",
        format::duration_ns(stage.ran_ns),
        format::duration_ns(open_ns),
        format::pluralize(waits.len() as u64, "other thread")
    );
    let mut finding = context
        .blocked_finding((RULE.name, title), loss_budget, (spans, cap_ns))
        .await;
    finding.subject = Some(name);
    finding.confidence = Confidence::Probable;
    finding.severity = finding.severity.min(Severity::Medium);
    finding.meaning = "The slowest stage of a pipeline sets its pace: those before it wait until it takes a value, those after it until it delivers one. More capabilities do not help as long as one thread does this work.".into();
    finding.tries = Advice::code_changes([
        "Let several threads do the work of this stage: start more of them on the same queue.",
        "Move a part of its work to the threads that wait.",
        "Make its work cheaper: a profile shows where its time goes (-prof, +RTS -p -l-au).",
    ]);
    if stage.is_alone {
        explain_server(&mut finding);
    }
    finding.distrust =
        "If one thread must do this work in order, only making it cheaper helps.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("worked for", Value::Ns(stage.ran_ns)),
        ("waiting threads", Value::Count(waits.len() as u64)),
    ]);
    let evidence = Evidence::for_thread(stage.thread, context.range, Value::Ns(stage.ran_ns));
    Outcome::Found(vec![finding.with_evidence([evidence])])
}

/// Returns a thread that works nearly all the time, never waits, and does not do all the work: others wait for it.
pub(super) async fn pace_setter(context: &RuleContext<'_>) -> Option<ThreadId> {
    let (stage, _) = busiest_stage(context).await.ok()?;
    let is_one = !stage.is_alone && never_waits(context, stage.thread).await;
    is_one.then_some(stage.thread)
}

/// Returns the thread that may set the pace, and the time outside collections, or else why there is none.
async fn busiest_stage(context: &RuleContext<'_>) -> Result<(Stage, u64), String> {
    let open_ns = context.unpaused_ns((context.range.start().0, context.range.end().0));
    let run_times = context.run_times().await;
    busiest(run_times, open_ns).map(|stage| (stage, open_ns))
}

/// Returns whether a thread was hardly ever blocked.
async fn never_waits(context: &RuleContext<'_>, thread: ThreadId) -> bool {
    let mut blocked_ns = 0_u64;
    let mut visit = |turn: ThreadTurn<'_>| {
        if turn.wait_reason().is_some() {
            blocked_ns = blocked_ns.saturating_add(turn.blocked_ns());
        }
    };
    context.each_turn_of(&[thread], &mut visit).await;
    context.share(blocked_ns) < NEVER_WAITS
}

/// Returns whether one of those that wait for a thread has woken it.
async fn was_woken_by(
    context: &RuleContext<'_>,
    stage: ThreadId,
    waits: &BTreeMap<ThreadId, Vec<ClippedWait>>,
) -> bool {
    let woken = context.woken_by(&|waker| waits.contains_key(&waker)).await;
    woken.contains_key(&stage)
}

/// Returns the thread with the most work, or why it is not the slowest stage of a pipeline.
fn busiest(run_times: &[(ThreadId, u64)], open_ns: u64) -> Result<Stage, String> {
    let most = run_times.iter().max_by_key(|(_, ran_ns)| *ran_ns);
    let Some(&(thread, ran_ns)) = most else {
        return Err("no thread ran".to_owned());
    };
    let others = run_times.iter().filter(|(other, _)| *other != thread);
    let (sum_ns, next_ns) = others.fold((0_u64, 0), |(sum, next), (_, ns)| {
        (sum.saturating_add(*ns), (*ns).max(next))
    });
    let share = |ns: u64| ns as f64 / ran_ns.max(1) as f64;
    let busy = ran_ns as f64 / open_ns.max(1) as f64;
    if busy < BUSY || share(next_ns) > NEXT {
        return Err(format!(
            "the busiest thread worked for {} of the time outside collections, and the next for {} of that; the limits are at least 70 % and at most 60 %",
            format::fraction(busy),
            format::fraction(share(next_ns)),
        ));
    }
    Ok(Stage {
        thread,
        // Its runs last into the time before collections in which capabilities stop.
        ran_ns: ran_ns.min(open_ns),
        is_alone: share(sum_ns) < OTHERS,
    })
}

/// Changes a finding about a thread that does nearly all the work.
fn explain_server(finding: &mut Finding) {
    finding.meaning = "This thread does nearly all the work of the program, and more capabilities do not help. It may be the slowest stage of a pipeline, compute answers for the others, like a server that owns the data, or evaluate values that they have left unevaluated.".into();
    finding.tries = Advice::code_changes([
        "If it is a stage of a pipeline: let several threads do its work, on the same queue.",
        "If it answers requests: let it hand out the data (a snapshot, such as an immutable map), and let those that ask compute. Or start several of it.",
        "If the others produce what it uses: evaluate there (evaluate, force or $!) before putMVar, writeChan and the like.",
    ]);
}

/// Returns the waits for an `MVar` or in STM of threads that another one often wakes, and that wait for long.
async fn waits_for(
    context: &RuleContext<'_>,
    stage: ThreadId,
) -> BTreeMap<ThreadId, Vec<ClippedWait>> {
    let mut wakes = context.woken_by(&|waker| waker == stage).await;
    wakes.retain(|_, count| *count >= MIN_WAKES);
    let mut waits: BTreeMap<ThreadId, Vec<ClippedWait>> = BTreeMap::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        if turn.wait_reason().is_some_and(WaitReason::is_for_value) {
            let wait = context.wait(turn, 0);
            waits.entry(turn.thread()).or_default().extend(wait);
        }
    };
    context.each_turn_of(wakes.keys(), &mut visit).await;
    waits.retain(|_, waits| {
        let sum_ns: u64 = waits.iter().map(|wait| wait.ns).sum();
        context.share(sum_ns) >= WAITS
    });
    waits
}
