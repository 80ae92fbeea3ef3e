//! Collections that nothing but a wish asked for: what the two rules about them share.

use crate::context::{GcPause, RuleContext};
use crate::finding::{Finding, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::yielder::Yield;

/// Fewer are no habit.
pub(super) const LEAST: usize = 3;
/// After so long without work the runtime collects by itself (`-I`, 0.3 s by default).
const IDLE_NS: u64 = 250_000_000;

/// The collections that nobody claimed and that allocation did not bring about: those
/// before which nothing ran for long, or the others.
pub(super) async fn asked_for<'s, 'a>(
    context: &'s RuleContext<'a>,
    loss_budget: &LossBudget,
    idle: bool,
    yielder: &dyn Yield,
) -> Vec<(usize, &'s GcPause<'a>)> {
    let mut found = Vec::new();
    for (place, stop) in context.asked_for(yielder).await {
        yielder.yield_if_due().await;
        let is_idle = || context.quiet_before_ns(stop.pause.requested) >= IDLE_NS;
        if loss_budget.is_free(place) && is_idle() == idle {
            found.push((place, stop));
        }
    }
    found
}

/// The finding that claims collections.
pub(super) fn claim(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    found: &[(usize, &GcPause<'_>)],
    (name, title): (&'static str, String),
) -> Finding {
    for (place, _) in found {
        loss_budget.claim_stop(*place);
    }
    let pause_ns: u64 = found.iter().map(|(_, stop)| stop.pause_ns()).sum();
    let cost = (Pool::Collecting, pause_ns.saturating_mul(context.caps));
    let finding = context.of_time(name, title, loss_budget, cost);
    finding.seen_in(RuleContext::evidence_of(
        found.iter().map(|(_, stop)| *stop),
        |stop| Value::Ns(stop.pause_ns()),
    ))
}
