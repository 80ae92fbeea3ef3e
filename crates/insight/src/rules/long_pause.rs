//! For how long does everything stand still?
//!
//! Where the heap is counted for a profile, that takes most of the collection: without
//! the profile the program has no such pause, so another rule tells of it.

use super::{Look, Rule};
use crate::finding::{Axis, Finding, Outcome, Severity, Try, Value};
use crate::ledger::Ledger;
use crate::scope::{Input, Scope, Stop};
use eventlog::ids::Duration;
use model::format;

/// Who waits for an answer feels it: three frames of a picture.
const LONG_NS: u64 = 50_000_000;

const NAME: &str = "long-pause";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "For how long does everything stand still?",
    inputs: &[Input::Collections],
    look: Look::AtOnce(look),
};

fn look(scope: &Scope<'_>, _: &mut Ledger) -> Outcome {
    let counts = |stop: &Stop<'_>| stop.all_ns() >= LONG_NS && scope.has_census(stop);
    let stops = scope.stops.iter().filter(|stop| !counts(stop));
    let mut all: Vec<u64> = stops.map(Stop::all_ns).collect();
    all.sort_unstable();
    let longest_ns = all.last().copied().unwrap_or(0);
    let longest = format::duration(Duration(longest_ns));
    if longest_ns < LONG_NS {
        return Outcome::Clear(format!(
            "the longest stop was {longest}; the limit is 50 ms"
        ));
    }
    let is_long = |stop: &Stop<'_>| stop.all_ns() >= LONG_NS && !scope.has_census(stop);
    let found: Vec<_> = scope.stops_where(is_long).collect();
    let title = match found.len() as u64 {
        1 => format!("Everything stood still for {longest}"),
        count => format!(
            "Everything stood still {} times for 50 ms or longer, once for {longest}",
            format::count(count)
        ),
    };
    let mut finding = Finding::new(NAME, Axis::Latency, title);
    finding.severity = Severity::of_latency(longest_ns);
    finding.cost = Value::Ns(longest_ns);
    finding.share = scope.share(longest_ns);
    finding.meaning = "Nothing is answered and nothing is computed meanwhile.".into();
    finding.tries = vec![
        Try::flag(
            "--nonmoving-gc",
            "Collect the old generation while the program runs.",
            "memory, and some speed",
        ),
        Try::code(
            "Keep less data alive, or keep what does not change in a compact region: collections copy what is alive.",
        ),
    ];
    if scope.is_nonmoving() {
        finding.tries.retain(|one| one.flag.is_none());
    }
    finding.distrust = "A program that nobody waits for need not care.".into();
    // Of a hundred stops, 99 are not longer.
    let p99 = all.get((all.len() * 99).div_ceil(100).saturating_sub(1));
    finding.numbers = vec![
        ("longest".into(), Value::Ns(longest_ns)),
        (
            "99 % are not longer than".into(),
            Value::Ns(p99.copied().unwrap_or(0)),
        ),
        ("stops".into(), Value::Count(all.len() as u64)),
    ];
    let evidence = Scope::evidence_of(found.iter().map(|(_, stop)| *stop), |stop| {
        Value::Ns(stop.all_ns())
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
