//! Does `throwTo` hang?
//!
//! `throwTo`, and with it `killThread`, `cancel` and `timeout`, returns when the other thread has received the
//! exception. That does not happen while it masks exceptions, or is in a call that cannot be interrupted.

use super::prelude::*;
use crate::threads::{ClippedWait, ThreadTurn};

/// Minimum length of a wait; an exception is received much sooner if nothing prevents it.
const LONG_NS: u64 = 10_000_000;

/// Minimum length, number and share of the time of shorter waits that count together.
const SHORT_NS: u64 = 100_000;
const MIN_COUNT: usize = 20;
const MUCH: f64 = 0.05;
/// Maximum number of runs of a thread that is made to throw, and does nothing else.
const FEW_RUNS: usize = 3;

pub(super) const RULE: Rule = Rule {
    name: "throwto-wait",
    question: "Does throwTo block for long?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Minimum share of capability time in which nothing ran meanwhile; from there on, it is time that the program lost.
const MIN_IDLE: f64 = 0.05;

fn sum_of(waits: &[ClippedWait]) -> u64 {
    let each = waits.iter().map(|wait| wait.ns);
    each.fold(0, u64::saturating_add)
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let (mut waits, mut longest_ns): (Vec<ClippedWait>, u64) = (Vec::new(), 0);
    let all_ns = context.threads().await.times.blocked_ns[WaitReason::ThrowTo as usize];
    if all_ns >= LONG_NS {
        let bound = context.bound_threads().await;
        let mut visit = |turn: ThreadTurn<'_>| {
            // A thread made to throw is waited for by nobody.
            let only_throws = turn.life.runs() <= FEW_RUNS && !bound.contains(&turn.thread());
            if !only_throws {
                let wait = context.wait(turn, 0);
                longest_ns = longest_ns.max(wait.map_or(0, |wait| wait.ns));
                waits.extend(wait.filter(|wait| wait.ns >= SHORT_NS));
            }
        };
        context.each_wait(WaitReason::ThrowTo, 0, &mut visit).await;
    }
    // Many short waits may be most of the time.
    let is_much = waits.len() >= MIN_COUNT && context.share(sum_of(&waits)) >= MUCH;
    let (least_ns, least) = match is_much {
        true => (SHORT_NS, "100 µs"),
        false => (LONG_NS, "10 ms"),
    };
    waits.retain(|wait| wait.ns >= least_ns);
    let Some(longest) = waits.iter().max_by_key(|wait| wait.ns) else {
        return Outcome::Clear(match longest_ns {
            0 if all_ns > 0 => format!(
                "threads waited in throwTo for {}, summed over threads; the limit is 10 ms",
                format::duration_ns(all_ns)
            ),
            0 => "no thread waited in throwTo".to_owned(),
            _ => format!(
                "the longest wait in throwTo was {}; the limits are 10 ms for one, and 5 % of the time for all",
                format::duration_ns(longest_ns)
            ),
        });
    };
    let sum_ns = sum_of(&waits);
    let spans = waits.iter().map(ClippedWait::span).collect();
    let stretches = context.stretches(spans).await;
    let any_ns: u64 = stretches.iter().map(|(from, to)| to - from).sum();
    let idle_ns = context.idle_in(&stretches).await.none_running_ns;
    let title = match waits.len() {
        1 => format!(
            "{} waited {} in throwTo",
            context.thread_name(longest.thread),
            format::duration_ns(longest.ns)
        ),
        count => format!(
            "{} of {least} or more in throwTo, during {} of the time; the longest {}",
            format::pluralize(count as u64, "wait"),
            format::fraction(context.share(any_ns)),
            format::duration_ns(longest.ns)
        ),
    };
    let mut finding = match context.share_of_caps(idle_ns) < MIN_IDLE {
        true => Finding {
            severity: Severity::of_latency(sum_ns),
            cost: Value::Ns(longest.ns),
            share: context.share(any_ns),
            ..Finding::new(RULE.name, Axis::Latency, title)
        },
        false => {
            context
                .idle_finding((RULE.name, title), loss_budget, (stretches, idle_ns))
                .await
        }
    };
    finding.subject = Some(context.thread_name(longest.thread));
    finding.confidence = Confidence::Certain;
    finding.meaning = "A thread that throws an exception to another (killThread, cancel, timeout) blocks until that thread receives it.".into();
    finding.tries = Advice::code_changes([
        "Mask exceptions for shorter parts of the other thread, or let it check for them at intervals: allowInterrupt.",
        "Import long foreign calls as interruptible.",
        "If no thread needs to wait: throw from a separate thread (forkIO).",
    ]);
    finding.distrust = "The log does not name the target thread: often it is the one that finishes when the wait ends.".into();
    let count = waits.len() as u64;
    finding.set_numbers([
        ("the longest", Value::Ns(longest.ns)),
        ("all, summed over threads", Value::Ns(sum_ns)),
        ("nothing ran meanwhile", Value::Ns(idle_ns / context.caps)),
        ("waits", Value::Count(count)),
    ]);
    Outcome::Found(vec![
        finding.with_evidence(waits.iter().map(ClippedWait::evidence)),
    ])
}
