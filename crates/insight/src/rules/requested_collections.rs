//! Explicitly requested collections: shared code of the two rules about them.

use super::prelude::*;
use crate::collection_in_range::CollectionInRange;

/// Minimum number of collections; fewer are no pattern.
pub(super) const MIN_COUNT: usize = 3;
/// Idle time after which the runtime collects by itself (`-I`, 0.3 s by default), with a margin.
const IDLE_NS: u64 = 250_000_000;
/// A thread that requests a collection runs right before it: a longer time without a run is idle time.
const QUIET_NS: u64 = 5_000_000;

/// Returns the unclaimed collections that allocation did not trigger: those after a long idle time, or the others.
///
/// A collection of all generations that no run of the program precedes for that long is the runtime's idle
/// collection, however full the allocation area was. The runtime's interval may be shorter than usual (`-I0.01`), and
/// is not logged if it was compiled in: then most requested collections come after some time without a run.
pub(super) async fn unclaimed_requested_collections<'s, 'a>(
    context: &'s RuleContext<'a>,
    loss_budget: &LossBudget,
    idle: bool,
) -> Vec<(usize, &'s CollectionInRange<'a>)> {
    let requested = context.requested_collections().await;
    let mut majors = Vec::new();
    for (index, gc) in context.collections_where(|gc| gc.is_major) {
        context.yielder.yield_if_due().await;
        if loss_budget.is_pause_free(index) {
            let quiet_ns = context.quiet_before_ns(gc.pause.requested, QUIET_NS);
            let is_requested = requested.binary_search_by_key(&index, |(index, _)| *index);
            majors.push((index, gc, is_requested.is_ok(), quiet_ns));
        }
    }
    let requested = || majors.iter().filter(|(.., is_requested, _)| *is_requested);
    let quiet = requested().filter(|(.., quiet_ns)| quiet_ns.is_some());
    let limit_ns = match quiet.count() * 2 > requested().count() {
        true => QUIET_NS,
        false => IDLE_NS,
    };
    let found = majors.into_iter().filter(|(.., is_requested, quiet_ns)| {
        let is_idle = quiet_ns.is_some_and(|ns| ns >= IDLE_NS || *is_requested && ns >= limit_ns);
        is_idle == idle && (idle || *is_requested)
    });
    found.map(|(index, gc, ..)| (index, gc)).collect()
}

/// Says how many more collections other findings have claimed.
pub(super) fn in_other_findings(collections: usize) -> String {
    match collections {
        0 => String::new(),
        more => format!(" (another finding has {} more)", format::count(more as u64)),
    }
}

/// Claims collections and creates the finding about them.
pub(super) fn claim_collections(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    found: &[(usize, &CollectionInRange<'_>)],
    (name, title): (&'static str, String),
) -> Finding {
    for (index, _) in found {
        loss_budget.claim_pause(*index);
    }
    let pause_ns: u64 = found.iter().map(|(_, gc)| gc.pause_ns()).sum();
    let cost = (Pool::Collecting, pause_ns.saturating_mul(context.caps));
    let finding = context.time_finding(name, title, loss_budget, cost);
    finding.with_evidence(found.iter().map(|(_, gc)| gc.evidence(gc.pause_ns())))
}
