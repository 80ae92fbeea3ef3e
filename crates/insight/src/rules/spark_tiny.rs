//! Are sparks too small?
//!
//! Handing a spark to another capability takes some microseconds.

use super::prelude::*;
use crate::threads::median;

/// Median run time below which sparks cost about as much as they save.
const SHORT_NS: u64 = 20_000;
/// Minimum number of sparks.
const MIN_COUNT: usize = 100;
/// Minimum share of capability time.
const MIN_SHARE: f64 = 0.002;

pub(super) const RULE: Rule = Rule {
    name: "spark-tiny",
    question: "Are sparks too small?",
    inputs: &[Input::EachSpark],
    evaluate: Evaluation::Immediate(evaluate),
};

fn evaluate(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    if context.caps < 2 {
        return Outcome::Clear("there is one capability: sparks are not handed over".to_owned());
    }
    let all = context.log.store.spark_runs();
    let from = all.partition_point(|run| run.start < context.range.start());
    let to = all.partition_point(|run| run.start < context.range.end());
    let mut lengths: Vec<u64> = all
        .get(from..to)
        .unwrap_or_default()
        .iter()
        .map(|run| run.ran_ns)
        .collect();
    let (count, median_ns) = (lengths.len(), median(&mut lengths));
    let half = format::duration_ns(median_ns);
    let many = format::pluralize(count as u64, "spark");
    if count < MIN_COUNT || median_ns >= SHORT_NS {
        return Outcome::Clear(format!(
            "half of {many} ran for {half} or longer; the limits are 100 and 20 µs"
        ));
    }
    let all_ns: u64 = lengths.iter().sum();
    if context.share_of_caps(all_ns) < MIN_SHARE {
        return Outcome::Clear(format!(
            "half of {many} ran for less than {half}, but all together for {} of the capabilities' time; the limit is 0.2 %",
            format::fraction(context.share_of_caps(all_ns))
        ));
    }
    let title = format!("{many} ran for {half} each, in the median");
    let mut finding = Finding::new(RULE.name, Axis::Time, title);
    // The log does not show how much time is lost.
    finding.severity = Severity::Low;
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Ns(all_ns);
    finding.meaning = "Handing over a spark costs about as much as the work in it.".into();
    finding.tries = vec![Advice::code(
        "Put more work into each spark: parListChunk for parList, or a depth limit for sparks.",
    )];
    finding.distrust = "Logging every spark (-lf) slows them down too.".into();
    finding.set_numbers([
        ("half ran for less than", Value::Ns(median_ns)),
        ("sparks that ran", Value::Count(count as u64)),
    ]);
    Outcome::Found(vec![finding])
}
