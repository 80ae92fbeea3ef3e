//! Did collections find threads that waited for something forever?
//!
//! A thread that waits for an `MVar` or a transaction that nothing else can reach gets the exception
//! `BlockedIndefinitelyOnMVar` or `BlockedIndefinitelyOnSTM`, but only when a major collection finds it. In an idle
//! program that is the collection after 0.3 s without work (`-I`). The thread then runs without a wakeup.

use super::prelude::*;
use crate::lost_time::{RunWithGap, each_run};
use crate::threads::summed;
use eventlog::ids::CapId;
use model::lane::Lane;

/// Minimum length of a wait in which nothing runs: the runtime's idle time is 0.3 s by default.
const MIN_NS: u64 = 50_000_000;
/// Maximum time from the end of the collection to the run of the thread.
const SOON_NS: u64 = 5_000_000;
/// Minimum share of the time; less may be the end of the program.
const MIN_SHARE: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    name: "deadlock-found",
    question: "Did collections find threads that waited for something forever?",
    inputs: &[Input::EachRun, Input::GcStatistics],
    evaluate: yielding!(evaluate),
};

/// Returns whether a major collection ended shortly before a time.
fn is_after_major(context: &RuleContext<'_>, time_ns: u64) -> bool {
    let pauses = &context.collections;
    let next = pauses.partition_point(|gc| gc.pause.end.0 <= time_ns);
    let last = next.checked_sub(1).and_then(|last| pauses.get(last));
    last.is_some_and(|gc| gc.is_major && gc.pause.end.0 + SOON_NS >= time_ns)
}

/// Returns the waits that such a collection ended, with the threads.
async fn ended_waits(context: &RuleContext<'_>) -> Vec<(ThreadId, (u64, u64))> {
    let store = &context.log.store;
    let mut found = Vec::new();
    // The runtime's own threads may run between the gap and the collection.
    let mut gap: Option<(u64, u64)> = None;
    let mut visit = |one: RunWithGap| {
        if let Some((from, to, ns)) = one.idle_gap
            && ns >= MIN_NS
        {
            gap = Some((from, to));
        }
        if context.is_runtime_thread(one.run.thread) {
            return;
        }
        let Some(waited) = gap.take() else { return };
        let turn = store.turn_of_run(one.cap, one.index);
        let reason = turn.and_then(|turn| turn.wait_reason());
        let is_for_thread = reason.is_some_and(WaitReason::is_for_value);
        let is_woken = one.run.ready_ns.is_some_and(|ready_ns| ready_ns > 0);
        if is_for_thread && !is_woken && is_after_major(context, one.run.start_ns) {
            found.push((one.run.thread, waited));
        }
    };
    each_run(context, context.range, &mut visit).await;
    found
}

/// Returns whether such a wait is possible: a major collection is logged, and the capability with most runs has a gap of
/// that length. Most programs have none, and then no run needs to be looked at.
async fn is_possible(context: &RuleContext<'_>) -> bool {
    if !context.collections.iter().any(|gc| gc.is_major) {
        return false;
    }
    let store = &context.log.store;
    let runs = |cap: &CapId| store.cap(*cap).map_or(0, |cap| cap.runs.len());
    let Some(busiest) = context.cap_ids().max_by_key(runs) else {
        return true;
    };
    let (mut until, mut steps) = (context.range.start().0, context.steps());
    for (_, (start, end)) in context.runs_on(busiest) {
        steps.step().await;
        if start.saturating_sub(until) >= MIN_NS {
            return true;
        }
        until = until.max(end);
    }
    context.range.end().0.saturating_sub(until) >= MIN_NS
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let idle_ns = context.times.parallelism_ns.first().copied().unwrap_or(0);
    if context.share(idle_ns) < MIN_SHARE {
        return Outcome::Clear(format!(
            "no thread ran for {} of the time; the limit is 5 %",
            format::fraction(context.share(idle_ns))
        ));
    }
    let found = match is_possible(context).await {
        true => ended_waits(context).await,
        false => Vec::new(),
    };
    let waited_ns: u64 = found.iter().map(|(_, (from, to))| to - from).sum();
    let share = context.share(waited_ns);
    if share < MIN_SHARE {
        return Outcome::Clear(format!(
            "{} ended by a major collection, without a wakeup, in {} of the time; the limit is 5 %",
            format::pluralize(found.len() as u64, "wait"),
            format::fraction(share)
        ));
    }
    let mut threads: Vec<ThreadId> = found.iter().map(|(thread, _)| *thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let who = match threads.as_slice() {
        [one] => context.thread_name(*one),
        several => format::pluralize(several.len() as u64, "thread"),
    };
    let title = format!(
        "{who} waited {} for something that nothing could fill, {}, until a collection found it",
        format::pluralize(found.len() as u64, "time"),
        summed(threads.len(), waited_ns)
    );
    let spans: Vec<(u64, u64)> = found.iter().map(|(_, span)| *span).collect();
    let cap_ns = context.idle_in(&spans).await.all_ns();
    let mut finding = context
        .idle_finding((RULE.name, title), loss_budget, (spans, cap_ns))
        .await;
    finding.confidence = Confidence::Probable;
    finding.meaning = "Nothing ran, nobody woke the thread, and it ran again right after a major collection: that is how BlockedIndefinitelyOnMVar and BlockedIndefinitelyOnSTM are raised. In an idle program that collection comes after 0.3 s without work.".into();
    finding.tries = Advice::code_changes([
        "Fill the MVar also when the thread that should do so fails or ends: finally, bracket, or withAsync, which passes the exception on.",
        "Do not rely on BlockedIndefinitely exceptions: close a channel by a last message.",
    ]);
    finding.distrust =
        "An exception thrown to the thread (killThread) also ends a wait without a wakeup.".into();
    finding.set_numbers([("waits", Value::Count(found.len() as u64))]);
    let evidence = found.iter().map(|(thread, (from, to))| {
        Evidence::for_thread(
            *thread,
            Interval::new(Nanos(*from), Nanos(*to)),
            Value::Ns(to - from),
        )
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
