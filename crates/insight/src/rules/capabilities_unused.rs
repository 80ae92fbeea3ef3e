//! Are there more capabilities than the program uses?

use super::par_gc_unbalanced::is_major_work_shared;
use super::prelude::*;
use super::{lock_convoy, one_worker, ready_while_idle, short_of_cores};
use analysis::account::report::CapTimes;
use eventlog::ids::CapId;

/// A capability that runs threads for less than this share of the time in which it could is hardly used.
const HARDLY: f64 = 0.05;
/// Minimum share for the busiest capability; otherwise the program is idle, not short of threads.
const BUSY: f64 = 0.20;
/// Minimum number of hardly used capabilities: a single spare one is normal.
const MIN_COUNT: usize = 2;

/// Share of capability time lost in collections from which even the second of two capabilities is worth removing.
const MIN_COST: f64 = 0.02;

/// Mean number of threads in run queues from which unused capabilities could have run some.
const QUEUED: f64 = 1.0;
/// Minimum share of capability time from which such a queue is severe: the unused capabilities would also take their
/// part of collections.
const MUCH_IDLE: f64 = 0.10;

/// Mean wait of a woken thread behind one that computes: half a time slice of 20 ms. If such waits would take more than
/// this share of the time, threads need a second capability. So many runs of a capability are looked at.
const LATER_NS: f64 = 10e6;
const MUCH_LATER: f64 = 0.10;
const MAX_EXAMINED: usize = 10_000;

pub(super) const RULE: Rule = Rule {
    name: "capabilities-unused",
    question: "Are there more capabilities than the program uses?",
    inputs: &[Input::Threads],
    evaluate: Evaluation::OnFindings(evaluate),
};

fn evaluate(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    findings: &[Finding],
) -> Outcome {
    // Findings that explain why there is work that does not spread.
    const REASONS: [&str; 3] = [
        ready_while_idle::RULE.name,
        lock_convoy::RULE.name,
        one_worker::RULE.name,
    ];
    let has_reason =
        |finding: &Finding| finding.is_significant() && REASONS.contains(&&*finding.rule);
    if let Some(reason) = findings.iter().find(|finding| has_reason(finding)) {
        return Outcome::Clear(format!(
            "another finding explains why capabilities have no work: {}",
            reason.title
        ));
    }

    let lived = context.times.caps.iter();
    let used: Vec<(CapId, &CapTimes)> = lived
        .filter(|(_, times)| times.life_ns > 0)
        .map(|(cap, times)| (*cap, times))
        .collect();
    let parts = used.iter().map(|(_, times)| running_share(times));
    let busiest = parts.fold(0.0, f64::max);
    let is_hardly_used =
        |times: &CapTimes| could_run_ns(times) > 0 && running_share(times) < HARDLY;
    let hardly = used.iter().filter(|(_, times)| is_hardly_used(times));
    let hardly: Vec<_> = hardly.collect();
    let many = format::pluralize(hardly.len() as u64, "capability");
    let all = context.times.all_caps();
    let unused_ns: u64 = hardly.iter().map(|(_, times)| times.returning_ns).sum();
    let late_ns = all.returning_ns.saturating_sub(unused_ns);
    let cost_ns = all.stopping_ns + all.waiting_ns + late_ns;
    // If its last buffers are missing from the log, a capability looks unused.
    let is_whole = context
        .log
        .completeness
        .is_none_or(|now| now.ends && !now.damaged);
    let costs = context.share_of_caps(cost_ns) >= MIN_COST;
    let least = if used.len() == MIN_COUNT && is_whole {
        1
    } else {
        MIN_COUNT
    };
    if hardly.len() < least || busiest < BUSY {
        return Outcome::Clear(format!(
            "{many} of {} ran threads for less than 5 % of the time; the limit is 2, or 1 of 2 in a complete log, with another one busy",
            used.len()
        ));
    }
    let queued = mean_queued(context);
    // Without a core, a capability runs nothing either.
    let is_short =
        |finding: &Finding| finding.is_significant() && finding.rule == short_of_cores::RULE.name;
    let is_queued = queued >= QUEUED && !findings.iter().any(is_short);
    let mut title = format!(
        "{many} of {} ran threads for less than 5 % of the time",
        used.len()
    );
    if is_queued {
        title = format!("{title}, while {queued:.1} threads on average waited for another one");
    }
    let idle = hardly
        .iter()
        .map(|(_, times)| idle_ns(times).saturating_add(times.returning_ns));
    let claimed_ns = idle.fold(0, u64::saturating_add);
    let pool = if is_queued {
        Pool::CapIdleWorkAvailable
    } else {
        Pool::Serial
    };
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (pool, claimed_ns));
    finding.confidence = Confidence::Certain;
    // A spare one of two capabilities is fine unless collections wait for it.
    finding.severity = match (is_queued, used.len() > MIN_COUNT || costs) {
        (true, _) if finding.severity > Severity::Low && finding.share >= MUCH_IDLE => {
            Severity::High
        }
        (true, _) => finding.severity,
        (false, true) => Severity::Low,
        (false, false) => Severity::Minor,
    };
    let ran = match hardly.len() {
        1 => "This capability ran hardly any threads, but each collection",
        _ => "These capabilities ran hardly any threads, but each collection",
    };
    finding.meaning = match context.collects_in_parallel() {
        true => format!("{ran} uses or stops all capabilities."),
        false => format!("{ran} stops all capabilities."),
    }
    .into();
    if is_queued {
        explain_queue(&mut finding);
    }
    let enough = (used.len() - hardly.len()).max(1);
    let names_number = |one: &Advice| one.flag.as_ref().is_some_and(|flag| flag.starts_with("-N"));
    // Do not advise a second value for the same option.
    let is_named = |other: &Finding| other.is_significant() && other.tries.iter().any(names_number);
    // Major collections may need all of them.
    if !is_queued
        && !findings.iter().any(is_named)
        && !is_major_work_shared(context)
        && !is_needed(context, hardly.iter().map(|(cap, _)| *cap))
    {
        finding.tries.push(Advice::flag(
            format!("-N{enough}"),
            "Use as many capabilities as there is work for. The gain is not certain: measure it.",
            "less room for occasional work",
        ));
    }
    if !is_queued {
        let work = Advice::code("Give them work: forkIO, par, async.");
        finding.tries.push(work);
    }
    finding.distrust = "Another part of the run may need them.".into();
    let evidence = hardly.iter().map(|(cap, times)| Evidence {
        range: context.range,
        subjects: vec![Subject::Capability(*cap)],
        // With nothing to run, it may log the end of a collection as late as the next one wakes it.
        amount: Value::Ns(idle_ns(times).saturating_add(times.returning_ns)),
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}

/// Returns whether threads run on capabilities again and again after others woke them. With fewer capabilities, each of
/// these runs would wait until the thread that works is preempted.
fn is_needed(context: &RuleContext<'_>, mut caps: impl Iterator<Item = CapId>) -> bool {
    let store = &context.log.store;
    let is_answer = |cap: CapId, index: usize| {
        let turn = store.turn_of_run(cap, index);
        let reason = turn.and_then(|turn| turn.wait_reason());
        reason.is_some_and(WaitReason::is_for_value)
            && store
                .thread_of(cap, index)
                .is_some_and(|thread| !context.is_runtime_thread(thread))
    };
    let most = (MUCH_LATER * context.length_ns() as f64 / LATER_NS) as usize;
    caps.any(|cap| {
        let runs = context.runs_on(cap).take(MAX_EXAMINED);
        let answers = runs.filter(|(index, _)| is_answer(cap, *index));
        answers.take(most + 1).count() > most
    })
}

/// Returns the mean number of threads in run queues, outside of collections; 0 if no rule needed it before.
fn mean_queued(context: &RuleContext<'_>) -> f64 {
    let queued_ns = context
        .known_threads()
        .map(|all| all.times.ready_ns())
        .unwrap_or_default();
    context.share(queued_ns)
}

/// Explains why threads queue for one capability although others are free.
fn explain_queue(finding: &mut Finding) {
    finding.confidence = Confidence::Probable;
    finding.meaning = "There was work for them: threads waited in the run queues of other capabilities. The runtime moves waiting threads to idle capabilities, unless they are bound to one: by forkOn, or by +RTS -qm.".into();
    finding.tries = Advice::code_changes([
        "Make the threads with forkIO, or spread the numbers given to forkOn: the capability is that number modulo the number of capabilities, so that even numbers alone leave every second one idle.",
        "If the program was run with +RTS -qm: run it without.",
    ]);
}

const fn idle_ns(times: &CapTimes) -> u64 {
    times.idle_ns + times.idle_work_available_ns
}

/// Returns how long a capability could run threads: not in collections, nor while stopping for one.
const fn could_run_ns(times: &CapTimes) -> u64 {
    times.running_ns + idle_ns(times)
}

/// Returns the share of that time in which it did run threads.
fn running_share(times: &CapTimes) -> f64 {
    times.running_ns as f64 / could_run_ns(times).max(1) as f64
}
