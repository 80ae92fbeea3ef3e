//! Could the program use more than its one capability?
//!
//! With one capability one thread runs at a time. Where others are ready to run for most of
//! that time, more capabilities would run them.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Confidence, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use analysis::process::Way;
use analysis::yielder::Yield;
use eventlog::ids::CapId;
use model::format;

/// So many threads wait behind the one that runs, on average: with fewer, a second
/// capability would hardly have work.
const LEAST_QUEUED: f64 = 1.0;
/// One that is ready now and then may only have to end; several are work.
const CLEARLY_QUEUED: f64 = 2.0;
/// A program that runs for less of the time has no need of more.
const LEAST_RUNNING: f64 = 0.10;
/// Less is over before a second capability has woken.
const LEAST_NS: u64 = 10_000_000;

/// Where collections take more, several capabilities cost more in stopping for each other than they
/// gain: with -N a program took 73 % longer.
const MOST_COLLECTING: f64 = 0.40;

pub(super) const NAME: &str = "one-capability";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Could the program use more than its one capability?",
    inputs: &[Input::Threads],
    look: Look::InSteps(|context, _, yielder| Box::pin(look(context, yielder))),
};

async fn look(context: &RuleContext<'_>, yielder: &dyn Yield) -> Outcome {
    if context.caps > 1 {
        let caps = format::many(context.caps, "capability");
        return Outcome::Clear(format!("there are {caps}"));
    }
    if context
        .log
        .condition
        .is_some_and(|now| now.damaged || !now.ends)
    {
        return Outcome::CannotTell(
            "the log is not whole: what other capabilities did may be missing".into(),
        );
    }
    if context.is_of_eden() {
        return Outcome::CannotTell(
            "in programs of Eden other machines, with logs of their own, run beside this one"
                .into(),
        );
    }
    let running_ns = context.times.all_caps().running_ns;
    let behind_ns = context.threads(yielder).await.times.ready_behind_ns;
    let queued = behind_ns as f64 / running_ns.max(1) as f64;
    let running = context.share(running_ns);
    if queued < LEAST_QUEUED || running < LEAST_RUNNING || running_ns < LEAST_NS {
        return Outcome::Clear(format!(
            "the one capability ran threads for {} of the time, and {queued:.1} others were ready then; the limits are 10 %, 10 ms and 1",
            format::fraction(running)
        ));
    }
    let collecting = context.share(context.times.all_caps().in_collections_ns());
    if collecting > MOST_COLLECTING {
        return Outcome::Clear(format!(
            "collections take {} of the time, which other capabilities do not make shorter; the limit is 40 %",
            format::fraction(collecting)
        ));
    }
    let title = format!(
        "While the one capability ran a thread, {queued:.1} others were ready to run on average"
    );
    let mut finding = Finding::new(NAME, Axis::Time, title);
    // What several cores would save depends on how many there are, which the log does not tell:
    // with two, half of the running time at most.
    let most = if queued < CLEARLY_QUEUED {
        Severity::Low
    } else {
        Severity::Medium
    };
    finding.severity = Severity::of_share(running / 2.0).min(most);
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Times(queued);
    finding.share = running / 2.0;
    finding.meaning =
        "One thread runs at a time; with more capabilities several would, each on a core.".into();
    let ways = &context.log.info.process().ways;
    if ways.contains(&Way::NotThreaded) {
        finding.tries.push(Try::flag(
            "-threaded",
            "Link with this: without it there is one capability always.",
            "a little slower with one capability",
        ));
    }
    finding.tries.push(Try::flag(
        "-N",
        "Use as many capabilities as the machine has cores.",
        "collections have more threads to stop",
    ));
    finding.distrust = "Threads that are ready need not be able to run at the same time: they may need the same lock or value.".into();
    finding.numbers = vec![
        ("ready beside it".into(), Value::Ns(behind_ns)),
        ("running".into(), Value::Ns(running_ns)),
    ];
    Outcome::Found(vec![finding.seen_in(context.cap_ids().map(
        |cap: CapId| Evidence {
            range: context.range,
            subjects: vec![Subject::Capability(cap)],
            amount: Value::Ns(behind_ns),
        },
    ))])
}
