//! Are there more capabilities than the program uses?

use super::{Look, Rule, lock_convoy, one_worker, ready_while_idle};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::account::report::CapTimes;
use eventlog::ids::CapId;
use model::format;

/// A capability that runs threads for less of the time in which it could is hardly used.
const HARDLY: f64 = 0.05;
/// A program of which none runs for longer is idle, not short of threads.
const BUSY: f64 = 0.20;
/// One may well be spare.
const LEAST: usize = 2;

/// To wait in collections for so much of the time is a reason to do without the second of two.
const LEAST_COST: f64 = 0.02;

const NAME: &str = "capabilities-unused";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Are there more capabilities than the program uses?",
    inputs: &[Input::Threads],
    look: Look::AtFindings(look),
};

fn look(context: &RuleContext<'_>, loss_budget: &mut LossBudget, findings: &[Finding]) -> Outcome {
    // There is work, and a reason that it stays where it is.
    const REASONS: [&str; 3] = [ready_while_idle::NAME, lock_convoy::NAME, one_worker::NAME];
    let has_reason = |finding: &Finding| finding.matters() && REASONS.contains(&&*finding.rule);
    if let Some(reason) = findings.iter().find(|finding| has_reason(finding)) {
        return Outcome::Clear(format!(
            "another finding says why capabilities have no work: {}",
            reason.title
        ));
    }

    let lived = context.times.caps.iter();
    let used: Vec<(CapId, &CapTimes)> = lived
        .filter(|(_, times)| times.life_ns > 0)
        .map(|(cap, times)| (*cap, times))
        .collect();
    let parts = used.iter().map(|(_, times)| part_run(times));
    let busiest = parts.fold(0.0, f64::max);
    let is_hardly_used = |times: &CapTimes| could_run_ns(times) > 0 && part_run(times) < HARDLY;
    let hardly = used.iter().filter(|(_, times)| is_hardly_used(times));
    let hardly: Vec<_> = hardly.collect();
    let many = format::many(hardly.len() as u64, "capability");
    let all = context.times.all_caps();
    let cost_ns = all.stopping_ns + all.waiting_ns + all.coming_back_ns;
    // A capability whose last buffers are missing seems to be unused.
    let is_whole = context
        .log
        .condition
        .is_none_or(|now| now.ends && !now.damaged);
    let costs = context.share_of_caps(cost_ns) >= LEAST_COST;
    let least = if used.len() == LEAST && is_whole {
        1
    } else {
        LEAST
    };
    if hardly.len() < least || busiest < BUSY {
        return Outcome::Clear(format!(
            "{many} of {} ran threads for less than 5 % of the time; the limit is 2, or 1 of 2 of a whole log, beside one that is busy",
            used.len()
        ));
    }
    let title = format!(
        "{many} of {} ran threads for less than 5 % of the time",
        used.len()
    );
    let idle = hardly.iter().map(|(_, times)| times.idle_ns);
    let claimed_ns = idle.fold(0, u64::saturating_add);
    let mut finding = context.of_time(NAME, title, loss_budget, (Pool::Serial, claimed_ns));
    finding.confidence = Confidence::Certain;
    // Of two capabilities one may be spare, where collections do not wait for it.
    finding.severity = if used.len() > LEAST || costs {
        Severity::Low
    } else {
        Severity::Minor
    };
    finding.meaning = "Hardly any thread ran there. They still take part in collections.".into();
    let enough = (used.len() - hardly.len()).max(1);
    let names_number = |one: &Try| one.flag.as_ref().is_some_and(|flag| flag.starts_with("-N"));
    // One number is enough.
    let is_named = |other: &Finding| other.matters() && other.tries.iter().any(names_number);
    if !findings.iter().any(is_named) {
        finding.tries.push(Try::flag(
            format!("-N{enough}"),
            "Use as many capabilities as there is work for.",
            "less room for work that comes now and then",
        ));
    }
    finding
        .tries
        .push(Try::code("Give them work: forkIO, par, async."));
    finding.distrust = "In another part of the run they may be needed.".into();
    let evidence = hardly.iter().map(|(cap, times)| Evidence {
        range: context.range,
        subjects: vec![Subject::Capability(*cap)],
        amount: Value::Ns(idle_ns(times)),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}

const fn idle_ns(times: &CapTimes) -> u64 {
    times.idle_ns + times.idle_ready_ns
}

/// How long a capability could run threads: in a collection, or while all wait for one, it cannot.
const fn could_run_ns(times: &CapTimes) -> u64 {
    times.running_ns + idle_ns(times)
}

/// The part of that in which it did.
fn part_run(times: &CapTimes) -> f64 {
    times.running_ns as f64 / could_run_ns(times).max(1) as f64
}
