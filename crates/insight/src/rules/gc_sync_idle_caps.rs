//! Do parallel collections wake idle capabilities?
//!
//! A parallel collection involves all capabilities, even idle ones. Each must be woken first, which takes the
//! operating system tens of microseconds, while a collection by one thread starts within one or two. No event
//! shows when a capability was woken, and on a busy machine it occasionally takes milliseconds. So the median wait
//! counts, and longer waits count at most twice that.

use super::area_estimate::default_area_advice;
use super::par_gc_unbalanced::FEWER_COLLECTIONS;
use super::prelude::*;
use crate::collection_in_range::CollectionInRange;
use crate::threads::median;
use model::lane::Lane;

/// Minimum share of the time; less is not worth a change.
const MIN_SHARE: f64 = 0.02;
/// Minimum share of idle time between collections: a busy capability that was just between two threads has not to
/// be woken.
const MIN_IDLE: f64 = 0.10;

/// Minimum share for more than a low severity, and for flags. Of seven programs that waited for less, -qg made two 15 and
/// 34 % faster, and four 5 to 47 % slower; of four that waited for more, three 13 to 18 % faster, and none slower.
const SURE_SHARE: f64 = 0.10;
/// Minimum number of collections for a meaningful median.
const MIN_COUNT: usize = 50;
/// Factor of the median beyond which a wait has another cause.
const MAX_FACTOR: u64 = 2;

pub(super) const RULE: Rule = Rule {
    name: "gc-sync-idle-caps",
    question: "Do parallel collections wake idle capabilities?",
    inputs: &[Input::Threads, Input::GcStatistics],
    evaluate: yielding!(evaluate),
};

/// Returns the number of capabilities running a thread when a collection was requested.
fn running_caps(context: &RuleContext<'_>, gc: &CollectionInRange<'_>) -> u64 {
    let time = gc.pause.requested.0;
    let running = context.cap_ids().filter(|cap| {
        // The leader has just stopped.
        *cap == gc.pause.leader
            || context.log.store.cap(*cap).is_some_and(|cap| {
                let next = cap.runs.first_ending_after(time);
                next < cap.runs.len() && cap.runs.start(next) < time
            })
    });
    running.count() as u64
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let all = context.times.all_caps();
    let idle_ns = all.idle_ns.saturating_add(all.idle_work_available_ns);
    let idle = idle_ns as f64 / idle_ns.saturating_add(all.running_ns).max(1) as f64;
    if idle < MIN_IDLE {
        return Outcome::Clear(format!(
            "between collections capabilities were idle for {} of their time; the limit is 10 %",
            format::fraction(idle)
        ));
    }
    let mostly_idle = |gc: &CollectionInRange<'_>| {
        gc.is_parallel() && running_caps(context, gc) * 2 <= context.caps && context.caps > 1
    };
    let (mut found, mut steps) = (Vec::new(), context.steps());
    for (index, gc) in context.collections_where(|_| true) {
        steps.step().await;
        if loss_budget.is_sync_free(index) && mostly_idle(gc) {
            found.push((index, gc));
        }
    }
    let mut waits: Vec<u64> = found.iter().map(|(_, gc)| gc.sync_ns()).collect();
    let usual_ns = median(&mut waits);
    let waking = |gc: &CollectionInRange<'_>| gc.sync_ns().min(usual_ns.saturating_mul(MAX_FACTOR));
    let waking_ns: u64 = found.iter().map(|(_, gc)| waking(gc)).sum();
    let share = context.share(waking_ns);
    let count = format::pluralize(found.len() as u64, "parallel collection");
    if share < MIN_SHARE || found.len() < MIN_COUNT {
        return Outcome::Clear(format!(
            "{count} began with at least half of the capabilities idle, and their usual waits took {} of the time in total; the limits are 50 collections and 2 %",
            format::fraction(share)
        ));
    }
    for (index, _) in &found {
        loss_budget.claim_sync(*index);
    }
    let title = format!(
        "{count} waited for idle capabilities to wake: usually {} each, {} in all",
        format::duration_ns(usual_ns),
        format::duration_ns(waking_ns),
    );
    let cost = waking_ns.saturating_mul(context.caps);
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::Stopping, cost));
    finding.confidence = Confidence::Hint;
    if share < SURE_SHARE {
        finding.severity = finding.severity.min(Severity::Low);
    }
    finding.meaning =
        "A parallel collection wakes every capability, even to copy a few kilobytes.".into();
    let busy = (context.parallelism().ceil() as u64).clamp(1, context.caps);
    let flags = vec![
        Advice::flag(
            "-qg",
            "Collect with one thread: no capability must be woken.",
            "large collections take longer",
        ),
        Advice::flag(
            format!("-N{busy}"),
            "Use as many capabilities as there is work for.",
            "less parallel work",
        ),
    ];
    finding.tries = match share < SURE_SHARE {
        true => vec![Advice::code(FEWER_COLLECTIONS)],
        false => flags,
    };
    finding.tries.extend(default_area_advice(context));
    finding.distrust =
        "Large collections may gain more from all cores than waking them costs. Each wait counts up to twice the median: longer ones are probably other work of the machine."
            .into();
    finding.set_numbers([
        ("the usual wait", Value::Ns(usual_ns)),
        ("waking", Value::Ns(waking_ns)),
        (
            "all waits, with those for the machine",
            Value::Ns(found.iter().map(|(_, gc)| gc.sync_ns()).sum()),
        ),
        ("collections", Value::Count(found.len() as u64)),
    ]);
    let evidence = found.iter().map(|(_, gc)| gc.evidence(waking(gc)));
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
