//! What becomes of sparks?
//!
//! A spark helps only if another capability evaluates it before its value is needed.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Confidence, Finding, Outcome, Severity, Try, Value};
use crate::loss_budget::LossBudget;
use eventlog::ids::Duration;
use model::format;

/// Fewer sparks tell nothing.
const LEAST: u64 = 100;

const NAME: &str = "sparks";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "What becomes of the sparks?",
    inputs: &[Input::Sparks],
    look: Look::AtOnce(look),
};

/// Capabilities that run threads for so much of their time have no use for more sparks.
const ALL_BUSY: f64 = 0.90;

/// To make a spark, to hand it on and to begin it takes about so long.
const TINY_NS: u64 = 1_000;
/// So many of them are the program's way to work.
const MANY: u64 = 100_000;

/// A way to be of no use, from which share of all sparks on.
struct Fate {
    name: &'static str,
    limit: f64,
    what: &'static str,
    code: &'static str,
}

const OVERFLOWED: Fate = Fate {
    name: "overflowed",
    limit: 0.10,
    what: "were dropped, as the pool was full",
    code: "Make fewer and larger sparks: parListChunk, or parBuffer.",
};
const FIZZLED: Fate = Fate {
    name: "fizzled",
    limit: 0.15,
    what: "had been evaluated before a capability came to them",
    code: "Spark earlier, and more work at a time.",
};
const COLLECTED: Fate = Fate {
    name: "collected",
    limit: 0.25,
    what: "were garbage before anybody evaluated them",
    code: "Use what rpar or par returned: the result must be needed by somebody.",
};
const DUD: Fate = Fate {
    name: "dud",
    limit: 0.25,
    what: "were of values that had been evaluated",
    code: "Spark the computation, not its result.",
};

fn look(context: &RuleContext<'_>, _: &mut LossBudget) -> Outcome {
    if context.caps < 2 {
        return Outcome::Clear(
            "there is one capability: sparks cannot run beside each other".to_owned(),
        );
    }
    let totals = context.sparks();
    let all = totals.count;
    if all < LEAST {
        return Outcome::Clear(format!(
            "there were {}; the limit is 100",
            format::many(all, "spark")
        ));
    }
    // Sparks that are of no use cost nothing where all capabilities work all the same.
    let running = context.share_of_caps(context.times.all_caps().running_ns);
    let each_ns = context.times.all_caps().running_ns / all;
    let fates = [
        (OVERFLOWED, totals.overflowed),
        (FIZZLED, totals.fizzled),
        (COLLECTED, totals.gcd),
        (DUD, totals.dud),
    ];
    let shares = fates.map(|(fate, count)| (fate, count, count as f64 / all as f64));
    let found: Vec<Finding> = shares
        .into_iter()
        .filter(|(fate, _, share)| *share >= fate.limit)
        .map(|(fate, count, share)| finding(&fate, (count, all), share, totals.converted))
        .map(|finding| with_work_of_each(finding, (all, each_ns)))
        .map(|finding| match running >= ALL_BUSY {
            true => Finding {
                severity: Severity::Minor,
                ..finding
            },
            false => finding,
        })
        .collect();
    if found.is_empty() {
        let converted = format::fraction(totals.converted as f64 / all as f64);
        return Outcome::Clear(format!(
            "{converted} of {} were converted",
            format::many(all, "spark")
        ));
    }
    Outcome::Found(found)
}

/// The finding with how much work there is for each spark at the most, where that is less than it
/// takes to make and to hand on one.
fn with_work_of_each(mut finding: Finding, (all, each_ns): (u64, u64)) -> Finding {
    let is_dud = finding.subject.as_deref() == Some(DUD.name);
    if each_ns < TINY_NS && !is_dud {
        if all >= MANY {
            finding.severity = Severity::High;
        }
        finding.meaning = format!(
            "{} All threads together ran for {} for each spark: it has less work than it takes to make one and to hand it to another capability.",
            finding.meaning,
            format::duration(Duration(each_ns))
        )
        .into();
        let each = ("running time for each".into(), Value::Ns(each_ns));
        finding.numbers.push(each);
    }
    finding
}

fn finding(fate: &Fate, (count, all): (u64, u64), share: f64, converted: u64) -> Finding {
    let title = format!(
        "{} of {} {}",
        format::fraction(share),
        format::many(all, "spark"),
        fate.what
    );
    let mut finding = Finding::new(NAME, Axis::Time, title);
    finding.subject = Some(fate.name.to_owned());
    // What time that lost the log does not say.
    finding.severity = if share >= 0.5 {
        Severity::Medium
    } else {
        Severity::Low
    };
    finding.confidence = Confidence::Certain;
    finding.cost = Value::Count(count);
    finding.meaning =
        "A spark helps only if another capability evaluates it before its value is needed.".into();
    finding.tries = vec![
        Try::code(fate.code),
        Try::measure(
            "-lf",
            "How long each spark runs is known with every spark in the log.",
        ),
    ];
    finding.distrust =
        "While all capabilities have work, sparks that are of no use cost little.".into();
    finding.numbers = vec![
        (fate.name.into(), Value::Count(count)),
        ("sparks".into(), Value::Count(all)),
        ("converted".into(), Value::Count(converted)),
    ];
    finding
}
