//! Do parallel collections wake capabilities that stand by?
//!
//! A parallel collection takes all capabilities, also those that stand by: each must be
//! woken first, which takes the operating system some hundredths of a millisecond, where a
//! collection by one thread begins within one or two thousandths. No event says when a
//! capability was woken, and a busy machine takes milliseconds for it now and then: so the
//! usual wait counts, and of longer ones no more than twice that.

use super::{Look, Rule};
use crate::context::{GcPause, Input, RuleContext};
use crate::finding::{Confidence, Outcome, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::yielder::{Steps, Yield};
use eventlog::ids::Duration;
use model::format;
use model::lane::Lane;

/// Less of the time is not worth a change.
const LEAST_SHARE: f64 = 0.02;

/// Fewer collections have no usual wait.
const LEAST: usize = 50;
/// What takes longer than so many times the usual wait waits for something else.
const MOST_USUAL: u64 = 2;

const NAME: &str = "gc-sync-idle-caps";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do parallel collections wake idle capabilities?",
    inputs: &[Input::Threads, Input::GcStatistics],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// How many capabilities ran a thread when a collection was asked for.
fn ran_before(context: &RuleContext<'_>, stop: &GcPause<'_>) -> u64 {
    let time = stop.pause.requested.0;
    let running = context.cap_ids().filter(|cap| {
        // The one that asks has just stopped.
        *cap == stop.pause.leader
            || context.log.store.cap(*cap).is_some_and(|cap| {
                let next = cap.runs.first_ending_after(time);
                next < cap.runs.len() && cap.runs.start(next) < time
            })
    });
    running.count() as u64
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let is_parallel = |stop: &GcPause<'_>| stop.told.is_some_and(|told| told.is_parallel());
    let mostly_idle = |stop: &GcPause<'_>| {
        is_parallel(stop) && ran_before(context, stop) * 2 <= context.caps && context.caps > 1
    };
    let (mut found, mut steps) = (Vec::new(), Steps::new(yielder));
    for (place, stop) in context.stops_where(|_| true) {
        steps.step().await;
        if loss_budget.is_sync_free(place) && mostly_idle(stop) {
            found.push((place, stop));
        }
    }
    let usual_ns = usual(found.iter().map(|(_, stop)| stop.sync_ns()).collect());
    let waking = |stop: &GcPause<'_>| stop.sync_ns().min(usual_ns.saturating_mul(MOST_USUAL));
    let waking_ns: u64 = found.iter().map(|(_, stop)| waking(stop)).sum();
    let share = context.share(waking_ns);
    let count = format::many(found.len() as u64, "parallel collection");
    if share < LEAST_SHARE || found.len() < LEAST {
        return Outcome::Clear(format!(
            "{count} began while half of the capabilities or more were idle, and the usual wait for them was {} of the time in all; the limits are 50 collections and 2 %",
            format::fraction(share)
        ));
    }
    for (place, _) in &found {
        loss_budget.claim_sync(*place);
    }
    let title = format!(
        "Waking idle capabilities usually took {}, before {count}: {} in all",
        format::duration(Duration(usual_ns)),
        format::duration(Duration(waking_ns)),
    );
    let cost = waking_ns.saturating_mul(context.caps);
    let mut finding = context.of_time(NAME, title, loss_budget, (Pool::Stopping, cost));
    finding.confidence = Confidence::Hint;
    finding.meaning =
        "A parallel collection wakes every capability, even to copy a few kilobytes.".into();
    let busy = (context.parallelism().ceil() as u64).clamp(1, context.caps);
    finding.tries = vec![
        Try::flag(
            "-qg",
            "Collect with one thread: no capability has to be woken.",
            "large collections take longer",
        ),
        Try::flag(
            format!("-N{busy}"),
            "Use as many capabilities as there is work for.",
            "less parallel work",
        ),
        Try::flag(
            "-A16m",
            "Collect less often: the gain is not certain, so measure it.",
            "memory: 16 MiB for each capability; an area larger than the processor's cache slows some programs down",
        ),
    ];
    finding.distrust =
        "Large collections may gain more from all cores than waking them costs. Waits of more than twice the usual are left out here: then the machine was busy with something else."
            .into();
    finding.numbers = vec![
        ("the usual wait".into(), Value::Ns(usual_ns)),
        ("waking".into(), Value::Ns(waking_ns)),
        (
            "all waits, with those for the machine".into(),
            Value::Ns(found.iter().map(|(_, stop)| stop.sync_ns()).sum()),
        ),
        ("collections".into(), Value::Count(found.len() as u64)),
    ];
    let evidence = RuleContext::evidence_of(found.iter().map(|(_, stop)| *stop), |stop| {
        Value::Ns(waking(stop))
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}

/// The wait in the middle; 0 if there is none.
fn usual(mut waits: Vec<u64>) -> u64 {
    let middle = waits.len() / 2;
    match waits.is_empty() {
        true => 0,
        false => *waits.select_nth_unstable(middle).1,
    }
}
