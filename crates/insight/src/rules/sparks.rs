//! Which sparks have no effect?
//!
//! A spark helps only if another capability evaluates it before its value is needed.

use super::prelude::*;

/// Minimum number of sparks.
const MIN_COUNT: u64 = 100;

pub(super) const RULE: Rule = Rule {
    name: "sparks",
    question: "Do sparks run in parallel, or are they wasted?",
    inputs: &[Input::Sparks],
    evaluate: Evaluation::Immediate(evaluate),
};

/// Share of capability time in which capabilities are idle, below which more parallelism would not help.
const HARDLY_IDLE: f64 = 0.10;

/// Approximate cost of creating a spark, handing it over and starting it.
const TINY_NS: u64 = 1_000;
/// Number of sparks from which they are the program's main way to work.
const MANY: u64 = 100_000;

/// Way in which sparks have no effect, with the share of all sparks from which it is reported.
pub(super) struct Fate {
    name: &'static str,
    limit: f64,
    pub(super) what: &'static str,
    pub(super) code: &'static str,
}

pub(super) const OVERFLOWED: Fate = Fate {
    name: "overflowed",
    limit: 0.10,
    what: "overflowed: the spark pool was full",
    code: "Create fewer and larger sparks: parListChunk, or parBuffer.",
};
pub(super) const FIZZLED: Fate = Fate {
    name: "fizzled",
    limit: 0.15,
    what: "had been evaluated before a capability came to them",
    code: "Spark what the thread itself does not need at once: of two parts, the one that it uses last. Spark earlier, and more work at a time.",
};
pub(super) const COLLECTED: Fate = Fate {
    name: "collected",
    limit: 0.25,
    what: "were garbage before a capability came to them",
    code: "Use the result of rpar or par later: a spark is dropped once nothing else refers to its value, for example because the thread has evaluated it itself and is done with it.",
};
/// Advice if creating sparks takes as long as what they save.
const LARGER: &str = "Spark larger pieces: only the upper levels of a recursion, down to some depth, or chunks of a list (parListChunk). The rest is plain code without par.";
/// Advice if values were evaluated before they were sparked.
pub(super) const INSTEAD_OF_DUDS: &str = "Spark the computation, not its result.";
/// Share of sparks that no capability evaluates, from which on they explain why one works alone.
const MOSTLY_USELESS: f64 = 0.80;

pub(super) const DUD: Fate = Fate {
    name: "dud",
    limit: 0.25,
    what: "were of values that had been evaluated",
    code: INSTEAD_OF_DUDS,
};

/// Names of numbers: all sparks, and those that were converted.
pub(crate) const SPARKS: &str = "sparks";
pub(crate) const CONVERTED: &str = "converted";

fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    if context.caps < 2 {
        return Outcome::Clear("there is one capability: sparks cannot run in parallel".to_owned());
    }
    let totals = context.sparks();
    let all = totals.count;
    if all < MIN_COUNT {
        return Outcome::Clear(format!(
            "there were {}; the limit is 100",
            format::pluralize(all, "spark")
        ));
    }
    // Useless sparks cost nothing while all capabilities work anyway, unless it is their work.
    let idle = context.share_of_caps(context.times.all_caps().all_idle_ns());
    let each_ns = context.times.all_caps().running_ns / all;
    let fates = [
        (OVERFLOWED, totals.overflowed),
        (FIZZLED, totals.fizzled),
        (COLLECTED, totals.gcd),
        (DUD, totals.dud),
    ];
    let shares = fates.map(|(fate, count)| (fate, count, count as f64 / all as f64));
    let mut found: Vec<Finding> = shares
        .into_iter()
        .filter(|(fate, _, share)| *share >= fate.limit)
        .map(|(fate, count, share)| finding(&fate, (count, all), share, totals.converted))
        .map(|finding| with_work_of_each(finding, (all, each_ns)))
        .map(
            |finding| match idle < HARDLY_IDLE && !(each_ns < TINY_NS && all >= MANY) {
                true => Finding {
                    severity: Severity::Minor,
                    ..finding
                },
                false => finding,
            },
        )
        .collect();
    if found.is_empty() {
        let converted = format::fraction(totals.converted as f64 / all as f64);
        return Outcome::Clear(format!(
            "{converted} of {} were converted",
            format::pluralize(all, "spark")
        ));
    }
    // Sparks that are never run in parallel leave one capability to work alone.
    let useless = (all - totals.converted.min(all)) as f64 / all as f64;
    if let Some(first) = found.first_mut().filter(|_| useless >= MOSTLY_USELESS) {
        let serial_ns = loss_budget.unclaimed_ns(Pool::Serial);
        first.claimed_ns = loss_budget.claim(Pool::Serial, serial_ns);
    }
    Outcome::Found(found)
}

/// Adds the running time per spark, if it is less than the cost of a spark.
fn with_work_of_each(mut finding: Finding, (all, each_ns): (u64, u64)) -> Finding {
    let is_dud = finding.subject.as_deref() == Some(DUD.name);
    if each_ns < TINY_NS && !is_dud {
        if all >= MANY {
            finding.severity = Severity::High;
        }
        finding.meaning = format!(
            "{} All threads together ran for {} per spark, less than creating a spark and handing it over costs.",
            finding.meaning,
            format::duration_ns(each_ns)
        )
        .into();
        finding.tries.retain(|advice| advice.flag.is_none());
        finding.tries.insert(0, Advice::code(LARGER));
        finding.distrust =
            "A program may make more sparks than this run has capabilities for, to suit larger machines."
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
        format::pluralize(all, "spark"),
        fate.what
    );
    let mut finding = Finding::new(RULE.name, Axis::Time, title);
    finding.subject = Some(fate.name.to_owned());
    // The log does not show how much time is lost.
    finding.severity = if share >= 0.5 {
        Severity::Medium
    } else {
        Severity::Low
    };
    finding.confidence = Confidence::Certain;
    finding.cost = Value::Count(count);
    finding.meaning = format!(
        "A spark helps only if another capability evaluates it before its value is needed: {} of these sparks were converted, that is, evaluated by a spark thread.",
        format::fraction(converted as f64 / all.max(1) as f64)
    )
    .into();
    finding.tries = vec![
        Advice::code(fate.code),
        Advice::measure("-lf", "Logging every spark shows how long each one runs."),
    ];
    finding.distrust = "While all capabilities have work, useless sparks cost little.".into();
    finding.set_numbers([
        (fate.name, Value::Count(count)),
        (SPARKS, Value::Count(all)),
        (CONVERTED, Value::Count(converted)),
    ]);
    finding
}
