//! Does the concurrent collector keep up?
//!
//! The nonmoving collector marks while the program runs and allocates. In the end it stops the program briefly,
//! for objects that changed during marking.

use super::prelude::*;
use analysis::timeline::nonmoving::Phase;

/// Length of a long stop; stops usually take less than a millisecond, on a busy machine sometimes longer.
const LONG_SYNC_NS: u64 = 20_000_000;
/// Maximum share of the time for marking: a collector that marks nearly all the time does not keep up.
const MAX_MARKING: f64 = 0.80;
/// Minimum length of the range for that judgment.
const MIN_NS: u64 = 500_000_000;

pub(super) const RULE: Rule = Rule {
    name: "nonmoving-lag",
    question: "Does the nonmoving collector keep up?",
    inputs: &[Input::Nonmoving],
    evaluate: Evaluation::Immediate(evaluate),
};

/// Returns when the collector was in a phase, clipped to the range.
pub(super) fn phases(context: &RuleContext<'_>, phase: Phase) -> Vec<Interval> {
    let lane = context.log.tracks.nonmoving.lane(phase);
    let spans = lane.within(context.range);
    let spans = spans.map(|span| Interval::new(Nanos(span.start), Nanos(span.end)));
    spans
        .filter_map(|span| span.intersection(context.range))
        .collect()
}

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    let [syncs, marks] = [Phase::Sync, Phase::Mark].map(|phase| phases(context, phase));
    let length = |span: &Interval| span.duration().0;
    let longest_ns = syncs.iter().map(length).max().unwrap_or(0);
    let marking_ns: u64 = marks.iter().map(length).sum();
    let marking = context.share(marking_ns);
    let is_behind = marking >= MAX_MARKING && context.length_ns() >= MIN_NS;
    let longest = format::duration_ns(longest_ns);
    let marked = format::fraction(marking);
    if longest_ns < LONG_SYNC_NS && !is_behind {
        return Outcome::Clear(format!(
            "it marked for {marked} of the time, and stopped the program for {longest} at the longest; the limits are 80 % and 20 ms"
        ));
    }
    let title = if is_behind {
        format!("The nonmoving collector marked for {marked} of the time")
    } else {
        format!("The nonmoving collector stopped the program for {longest} to finish marking")
    };
    let mut finding = Finding::new(RULE.name, Axis::Latency, title);
    finding.severity = Severity::of_latency(longest_ns).max(if is_behind {
        Severity::Low
    } else {
        Severity::Minor
    });
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Ns(longest_ns);
    finding.share = context.share(longest_ns);
    finding.meaning = "It does not keep up with allocation and mutation: garbage is retained for longer, and memory grows.".into();
    finding.tries = vec![
        Advice::code("Mutate fewer old objects: each changed object is marked again at the end."),
        Advice::flag(
            "--copying-gc",
            "Use the copying collector, if throughput matters more than short pauses.",
            "long pauses, with much live data",
        ),
    ];
    finding.distrust = "If all cores are busy, the marking thread waits for one.".into();
    finding.set_numbers([
        ("marking", Value::Ns(marking_ns)),
        ("the longest stop", Value::Ns(longest_ns)),
        ("stops", Value::Count(syncs.len() as u64)),
    ]);
    let shown = if is_behind { marks } else { syncs };
    let evidence = shown
        .into_iter()
        .map(|range| Evidence::new(range, Value::Ns(range.duration().0)));
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
