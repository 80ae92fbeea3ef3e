//! A few threads that wait in foreign calls most of the time while nothing runs: they could make more calls at a time.
//! Helper of the rule `one-at-a-time`.

use std::collections::BTreeMap;

use super::one_at_a_time::{
    Gap, IdleWaits, LONGEST_NS, MIN_COUNT, MIN_SHARE, SHORTEST_NS, gaps_finding,
};
use super::prelude::*;
use crate::lost_time::GapEnd;
use crate::threads::WaitSum;

/// Maximum number of threads; more are there to make many calls at a time.
const MAX_CALLERS: usize = 8;
/// Minimum share of the time that each of them waits in calls.
const MIN_WAITING: f64 = 0.50;

/// Returns the threads that wait in foreign calls most of the time.
async fn callers(context: &RuleContext<'_>) -> BTreeMap<ThreadId, WaitSum> {
    let mut callers = context
        .waits_by_thread(WaitReason::ForeignCall, MIN_COUNT, |_| true)
        .await;
    callers.retain(|_, calls| {
        let mean_ns = calls.ns / calls.count;
        context.share(calls.ns) >= MIN_WAITING && (SHORTEST_NS..=LONGEST_NS).contains(&mean_ns)
    });
    callers
}

/// Finds a few threads that wait in foreign calls while nothing runs.
pub(super) async fn calls_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    all: &BTreeMap<ThreadId, IdleWaits>,
) -> Option<Finding> {
    let callers = callers(context).await;
    if !(2..=MAX_CALLERS).contains(&callers.len()) {
        return None;
    }
    let waits = callers.keys().filter_map(|thread| all.get(thread));
    let is_outside = |gap: &&Gap| gap.end == GapEnd::Outside;
    let gaps: Vec<Gap> = waits
        .flat_map(|waits| waits.gaps.iter().filter(is_outside).copied())
        .collect();
    let idle = context.share(gaps.iter().map(|gap| gap.ns).sum());
    if idle < MIN_SHARE {
        return None;
    }
    let (count, ns) = { callers.values() }.fold((0, 0_u64), |(count, ns), calls| {
        (count + calls.count, ns.saturating_add(calls.ns))
    });
    let title = format!(
        "{} were in {}, and no Haskell code ran meanwhile for {} of the time",
        context.names_or_count(callers.keys().copied()),
        format::pluralize(count, "foreign call"),
        format::fraction(idle)
    );
    let (mut finding, cap_ns) = gaps_finding(context, loss_budget, (title, gaps.iter())).await;
    finding.severity = Severity::of_share(finding.share).min(Severity::Medium);
    finding.confidence = Confidence::Hint;
    let mean_ns = ns / count.max(1);
    finding.meaning = format!(
        "A call takes {} on average, and each of these threads makes the next one after it: they have at most {} under way at a time.",
        format::duration_ns(mean_ns),
        format::pluralize(callers.len() as u64, "call")
    )
    .into();
    finding.tries = Advice::code_changes([
        "If the calls wait (for a database, a service or a disk) rather than compute, and more can be answered at a time: let more threads make them. A safe call needs no capability.",
        "Ask for more in each call.",
    ]);
    finding.distrust =
        "Calls that compute need cores, not threads. Calls that wait for users or for requests lose nothing.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("foreign calls", Value::Count(count)),
        ("a call, on average", Value::Ns(mean_ns)),
    ]);
    let evidence = callers
        .iter()
        .map(|(thread, calls)| calls.evidence(*thread));
    Some(finding.with_evidence(evidence))
}
