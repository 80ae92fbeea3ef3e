//! Did other programs disturb the run?
//!
//! No event has CPU time. But collections that copied as much take about as long, so one that
//! takes many times that waited for a core or for memory: times of this log are then not the
//! program's alone. That a thread runs for long without allocating is no such sign: it may
//! compute, or be in an unsafe foreign call.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::disturbance::Disturbed;
use crate::finding::{Axis, Confidence, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use eventlog::ids::Duration;
use model::format;

/// Less of the time does not change what other rules find.
const LEAST_SHARE: f64 = 0.01;
/// A single excess of so long misleads about pauses, however long the run.
const LONG_NS: u64 = 20_000_000;

/// The name by which other rules know it.
pub(crate) const NAME: &str = "noisy-machine";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Did other programs disturb the run?",
    inputs: &[Input::Collections, Input::GcStatistics],
    look: Look::AtOnce(look),
};

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let found = context.disturbed();
    let excess_ns: u64 = found.iter().map(Disturbed::excess_ns).sum();
    let share = context.share(excess_ns);
    let worst = found.iter().max_by_key(|one| one.excess_ns());
    let Some(worst) = worst.filter(|worst| share >= LEAST_SHARE || worst.excess_ns() >= LONG_NS)
    else {
        return Outcome::Clear(format!(
            "{} took 20 times as long as others that copied as much, {} of the time; the limits are 1 % and 20 ms",
            format::many(found.len() as u64, "collection"),
            format::fraction(share)
        ));
    };
    let title = format!(
        "{} took 20 times the usual pause or more, up to {} instead of {}",
        format::many(found.len() as u64, "collection"),
        format::duration(Duration(worst.pause_ns)),
        format::duration(Duration(worst.usual_ns))
    );
    let mut finding = Finding::new(NAME, Axis::Log, title);
    finding.severity = Severity::Low;
    finding.confidence = Confidence::Probable;
    finding.share = share.min(1.0);
    finding.cost = Value::Ns(excess_ns);
    finding.meaning = format!(
        "Pauses of this log are unreliable. The longest of these collections copied {}, as did others within {}: most likely it waited for a core that another program had, or for memory.",
        format::bytes(worst.copied_bytes),
        format::duration(Duration(worst.usual_ns))
    )
    .into();
    finding.tries = vec![Try::code(
        "Record the log again on a machine where nothing else needs the cores, several times.",
    )];
    finding.distrust =
        "A collection can also be delayed by the first use of fresh memory, by swapping, by finalizers, or by a large old array or stack that it traverses and does not copy."
            .into();
    finding.numbers = vec![
        ("collections".into(), Value::Count(found.len() as u64)),
        ("more than usual, in all".into(), Value::Ns(excess_ns)),
        ("the longest".into(), Value::Ns(worst.pause_ns)),
        ("usual for its size".into(), Value::Ns(worst.usual_ns)),
    ];
    let stops = found.iter().map(|one| &context.stops[one.place]);
    let evidence = RuleContext::evidence_of(stops, |stop| Value::Ns(stop.pause_ns()));
    Outcome::Found(vec![finding.seen_in(evidence)])
}
