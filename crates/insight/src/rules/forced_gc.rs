//! Are major collections requested explicitly?
//!
//! A major collection with hardly any allocation before it, and without idling, was requested: by `performGC`, or
//! by the runtime for a reason other than allocation.

use super::prelude::*;
use super::requested_collections::{MIN_COUNT, claim_collections, unclaimed_requested_collections};

/// Requested collections for each that seems not to be idle, from which on those are idle ones, too.
const FEW_OF_IDLE: u64 = 6;

pub(super) const RULE: Rule = Rule {
    name: "forced-gc",
    question: "Are major collections requested explicitly?",
    inputs: &[Input::Threads, Input::GcStatistics],
    evaluate: yielding!(evaluate),
};

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let censuses = |gc: &crate::collection_in_range::CollectionInRange<'_>| context.has_census(gc);
    let found = unclaimed_requested_collections(context, loss_budget, false).await;
    let found: Vec<_> = found.into_iter().filter(|(_, gc)| !censuses(gc)).collect();
    let count = found.len() as u64;
    if found.len() < MIN_COUNT {
        let count = format::pluralize(count, "collection");
        return Outcome::Clear(format!(
            "{count} came without much allocation; the limit is 3"
        ));
    }
    let requested = context.requested_collections().await.len() as u64;
    if count * FEW_OF_IDLE <= requested {
        return Outcome::Clear(format!(
            "{} came without much allocation, and {} of these after idle time: in the others a thread woke just when the runtime's timer expired",
            format::pluralize(requested, "collection"),
            format::count(requested - count)
        ));
    }
    let all = context.collections_where(|gc| gc.is_major).count() as u64;
    let pause_ns = found.iter().map(|(_, gc)| gc.pause_ns()).sum();
    let title = format!(
        "{} of {} were requested, as by performGC: {} of the time",
        format::count(count),
        format::pluralize(all, "major collection"),
        format::fraction(context.share(pause_ns))
    );
    let mut finding = claim_collections(context, loss_budget, &found, (RULE.name, title));
    finding.meaning =
        "Allocation did not cause them: the program or a library requests major collections; each copies all live data.".into();
    finding.tries = vec![Advice::code(
        "Remove calls of performGC, performMajorGC and the like, or make fewer.",
    )];
    finding.distrust = "Large objects (-AL), a heap limit (-M) and setNumCapabilities cause early collections too.".into();
    finding.set_numbers([
        ("asked for", Value::Count(count)),
        ("major collections", Value::Count(all)),
    ]);
    Outcome::Found(vec![finding])
}
