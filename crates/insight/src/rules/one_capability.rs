//! Could the program use more than its one capability?
//!
//! With one capability only one thread runs at a time. If other threads are ready during most of that time, more
//! capabilities would run them.

use super::finalizers;
use super::prelude::*;
use analysis::process::Way;

/// Minimum mean number of threads that wait for the running one; with fewer, a second capability would hardly have
/// work.
const MIN_QUEUED: f64 = 1.0;
/// From this mean number on, the threads are clearly work; one occasional ready thread may only have to finish.
const CLEARLY_QUEUED: f64 = 1.5;
/// Minimum share of running time; otherwise one capability is enough.
const MIN_RUNNING: f64 = 0.10;
/// Minimum running time; less is over before a second capability has started.
const MIN_NS: u64 = 10_000_000;

/// Minimum mean run. Waking a thread on another capability takes 30 to 60 µs: threads that hand over more often lose
/// with more capabilities. With -N one program took 50 times as long.
pub(super) const MIN_RUN_NS: u64 = 50_000;

/// Maximum share of collections. With more, several capabilities lose more by stopping for each other than they
/// gain: with -N one program took 73 % longer.
const MAX_COLLECTING: f64 = 0.40;

pub(super) const RULE: Rule = Rule {
    name: "one-capability",
    question: "Could the program use more than one capability?",
    inputs: &[Input::Threads],
    evaluate: Evaluation::Yielding(|context, _| Box::pin(evaluate(context))),
};

async fn evaluate(context: &RuleContext<'_>) -> Outcome {
    if context.caps > 1 {
        let caps = format::pluralize(context.caps, "capability");
        return Outcome::Clear(format!("there are {caps}"));
    }
    if context
        .log
        .completeness
        .is_some_and(|now| now.damaged || !now.ends)
    {
        return Outcome::CannotTell(
            "the log is incomplete: events of other capabilities may be missing".into(),
        );
    }
    if context.is_eden_machine() {
        return Outcome::CannotTell(
            "in Eden programs, other machines with their own logs run in parallel".into(),
        );
    }
    let running_ns = context.times.all_caps().running_ns;
    let behind_ns = context.threads().await.times.runnable_behind_ns;
    let behind_ns = behind_ns.saturating_sub(finalizers::runnable_behind_ns(context).await);
    let queued = behind_ns as f64 / running_ns.max(1) as f64;
    let running = context.share(running_ns);
    if queued < MIN_QUEUED || running < MIN_RUNNING || running_ns < MIN_NS {
        return Outcome::Clear(format!(
            "the single capability ran threads for {} of the time, with {queued:.1} others ready; the limits are 10 %, 10 ms and 1",
            format::fraction(running)
        ));
    }
    let collecting = context.share(context.times.all_caps().in_collections_ns());
    if collecting > MAX_COLLECTING {
        return Outcome::Clear(format!(
            "collections take {} of the time, which more capabilities do not reduce; the limit is 40 %",
            format::fraction(collecting)
        ));
    }
    let runs = context.runs();
    let mean_ns = running_ns / runs.max(1);
    if mean_ns < MIN_RUN_NS {
        return Outcome::Clear(format!(
            "threads ran for {} at a time before a hand-over, and hand-overs between capabilities take longer; the limit is 50 µs",
            format::duration_ns(mean_ns)
        ));
    }
    let title = format!(
        "While the one capability ran a thread, {queued:.1} others were ready to run on average"
    );
    let mut finding = Finding::new(RULE.name, Axis::Time, title);
    // The gain depends on the number of cores, which the log does not have: with two, at most half of the running
    // time.
    let most = if queued < CLEARLY_QUEUED {
        Severity::Low
    } else {
        Severity::Medium
    };
    finding.severity = Severity::of_share(running / 2.0).min(most);
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Mean(queued);
    finding.share = running / 2.0;
    finding.meaning =
        "One thread runs at a time; more capabilities run several, each on a core.".into();
    let ways = &context.log.info.process().ways;
    if ways.contains(&Way::NotThreaded) {
        finding.tries.push(Advice::flag(
            "-threaded",
            "Link with this flag, then run with +RTS -N: a program linked without it has one capability, and does not accept -N.",
            "a little slower with one capability",
        ));
    }
    finding.tries.push(Advice::flag(
        "-N",
        "Use as many capabilities as the machine has cores.",
        "collections have more threads to stop",
    ));
    finding.distrust =
        "Ready threads cannot always run in parallel: they may need the same lock or value.".into();
    finding.set_numbers([
        ("ready beside it, summed over threads", Value::Ns(behind_ns)),
        ("running", Value::Ns(running_ns)),
    ]);
    let evidence = context.cap_ids().map(|cap| Evidence {
        range: context.range,
        subjects: vec![Subject::Capability(cap)],
        amount: Value::Ns(behind_ns),
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
