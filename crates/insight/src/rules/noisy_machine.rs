//! Did other programs disturb the run?
//!
//! Events have no CPU time. But collections that copy as much take about as long, so one that takes many times
//! that waited for a core or for memory: times in this log then do not depend on the program alone. A long run
//! without allocation is no such sign: the thread may compute, or be in an unsafe foreign call.

use super::prelude::*;
use crate::disturbance::DisturbedCollection;

/// Minimum share of the time; less does not affect other rules.
const MIN_SHARE: f64 = 0.01;
/// A single excess this long makes pauses misleading, however long the run.
const LONG_NS: u64 = 20_000_000;

/// Name by which other rules refer to this one.
pub(crate) const RULE: Rule = Rule {
    name: "noisy-machine",
    question: "Did other programs disturb the run?",
    inputs: &[Input::Collections, Input::GcStatistics],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let found = context.disturbed();
    let excess_ns: u64 = found.iter().map(DisturbedCollection::excess_ns).sum();
    let share = context.share(excess_ns);
    let worst = found.iter().max_by_key(|one| one.excess_ns());
    let Some(worst) = worst.filter(|worst| share >= MIN_SHARE || worst.excess_ns() >= LONG_NS)
    else {
        return Outcome::Clear(format!(
            "{} took 20 times as long as others that copied the same amount, {} of the time; the limits are 1 % and 20 ms",
            format::pluralize(found.len() as u64, "collection"),
            format::fraction(share)
        ));
    };
    let title = format!(
        "{} took 20 times the usual pause or more, up to {} instead of {}",
        format::pluralize(found.len() as u64, "collection"),
        format::duration_ns(worst.pause_ns),
        format::duration_ns(worst.usual_ns)
    );
    let mut finding = Finding::new(RULE.name, Axis::Log, title);
    finding.severity = Severity::Low;
    finding.confidence = Confidence::Probable;
    finding.share = share.min(1.0);
    finding.cost = Value::Ns(excess_ns);
    finding.meaning = format!(
        "Pauses in this log are unreliable. The longest of these collections copied {}, as did others within {}: most likely it waited for a core that another program used, or for memory.",
        format::bytes(worst.copied_bytes),
        format::duration_ns(worst.usual_ns)
    )
    .into();
    finding.tries = vec![Advice::code(
        "Record the log again on an idle machine, several times.",
    )];
    finding.distrust =
        "A collection can also be delayed by the first use of fresh memory, by swapping, by finalizers, or by a large old array or stack that it traverses and does not copy."
            .into();
    finding.set_numbers([
        ("collections", Value::Count(found.len() as u64)),
        ("more than usual, in all", Value::Ns(excess_ns)),
        ("the longest", Value::Ns(worst.pause_ns)),
        ("usual for its size", Value::Ns(worst.usual_ns)),
    ]);
    let collections = found.iter().map(|one| &context.collections[one.index]);
    let evidence = collections.map(|gc| gc.evidence(gc.pause_ns()));
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
