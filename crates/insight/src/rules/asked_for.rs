//! Collections that nothing but a wish asked for: what the two rules about them share.

use crate::finding::{Finding, Value};
use crate::ledger::{Ledger, Pool};
use crate::scope::{Scope, Stop};
use analysis::listen::Listen;

/// Fewer are no habit.
pub(super) const LEAST: usize = 3;
/// After so long without work the runtime collects by itself (`-I`, 0.3 s by default).
const IDLE_NS: u64 = 250_000_000;

/// The collections that nobody claimed and that allocation did not bring about: those
/// before which nothing ran for long, or the others.
pub(super) async fn asked_for<'s, 'a>(
    scope: &'s Scope<'a>,
    ledger: &Ledger,
    idle: bool,
    listen: &dyn Listen,
) -> Vec<(usize, &'s Stop<'a>)> {
    let mut found = Vec::new();
    for (place, stop) in scope.asked_for(listen).await {
        listen.listen().await;
        let is_idle = || scope.quiet_before_ns(stop.pause.requested) >= IDLE_NS;
        if ledger.is_free(place) && is_idle() == idle {
            found.push((place, stop));
        }
    }
    found
}

/// The finding that claims collections.
pub(super) fn claim(
    scope: &Scope<'_>,
    ledger: &mut Ledger,
    found: &[(usize, &Stop<'_>)],
    (name, title): (&'static str, String),
) -> Finding {
    for (place, _) in found {
        ledger.claim_stop(*place);
    }
    let pause_ns: u64 = found.iter().map(|(_, stop)| stop.pause_ns()).sum();
    let cost = (Pool::Collecting, pause_ns.saturating_mul(scope.caps));
    let finding = scope.of_time(name, title, ledger, cost);
    finding.seen_in(Scope::evidence_of(
        found.iter().map(|(_, stop)| *stop),
        |stop| Value::Ns(stop.pause_ns()),
    ))
}
