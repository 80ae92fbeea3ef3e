//! Did threads wait while capabilities were idle?
//!
//! Each capability has its own run queue. A runnable thread waits in one of them, even if another capability has
//! nothing to do, until the runtime moves it. It never moves threads created by `forkOn`, and none with `-qm`.

use std::collections::{BTreeMap, BTreeSet};

use super::one_capability::MIN_RUN_NS;
use super::one_worker::uneven_advice;
use super::prelude::*;
use crate::threads::{ClippedWait, ThreadTurn, summed};
use analysis::timeline::lives::RunOnCap;
use analysis::timeline::turns::Turn;
use eventlog::ids::CapId;
use model::class::Class;
use model::lane::Lane;

/// Length of a long wait; shorter ones end by themselves, as the runtime occasionally moves threads.
pub(super) const LONG_NS: u64 = 1_000_000;
/// Minimum share of capability time; healthy programs with sparks reach a tenth.
const MIN_SHARE: f64 = 0.15;
/// Minimum share of a wait in which the capability ran, to be its reason.
const BUSY: f64 = 0.50;
/// An interruptible thread runs for a time slice of 20 ms, and until its next allocation; a longer run is not
/// interruptible.
const NO_BREAK_NS: u64 = 50_000_000;
/// Maximum share of its wait for which a thread then runs that had hardly any work.
const LITTLE: f64 = 0.01;
/// Minimum lost time; less is the initial distribution of threads.
const MIN_NS: u64 = 10_000_000;

pub(super) const RULE: Rule = Rule {
    name: "ready-while-idle",
    question: "Did ready threads wait while capabilities were idle?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Splits a wait by the capability in whose queue the thread was: before it was moved, that is its previous one.
pub(super) fn queues(
    context: &RuleContext<'_>,
    wait: &ClippedWait,
    turn: &Turn,
) -> Vec<(Option<CapId>, Interval)> {
    let (from, to) = (wait.range.start(), wait.range.end());
    match context.log.store.last_migration(wait.thread, turn) {
        Some((at, before)) if from < at && at <= to => vec![
            (before, Interval::new(from, at)),
            (wait.cap, Interval::new(at, to)),
        ],
        _ => vec![(wait.cap, wait.range)],
    }
}

/// Returns the capability in whose queue the thread spent most of its wait, if that was busy for most of it.
/// Otherwise the thread did not wait for the capability; both waited for a core of the machine.
fn busy_queue(context: &RuleContext<'_>, wait: &ClippedWait, turn: &Turn) -> Option<CapId> {
    let queues = queues(context, wait, turn);
    let ran_ns = |(cap, range): &(Option<CapId>, Interval)| {
        let lane = cap.and_then(|cap| context.log.store.cap(cap));
        let ran = lane.map(|cap| cap.runs.time_in(*range));
        ran.map_or(0, |times| {
            times[Class::Running as usize] + times[Class::Open as usize]
        })
    };
    let all_ns: u64 = queues.iter().map(ran_ns).sum();
    let longest = queues.into_iter().max_by_key(|(_, range)| range.duration());
    let cap = longest.and_then(|(cap, _)| cap)?;
    (all_ns as f64 >= BUSY * wait.ns as f64).then_some(cap)
}

/// Returns the longest run of another thread during a wait, on the capability of the wait.
fn longest_run(context: &RuleContext<'_>, wait: &ClippedWait) -> Option<RunOnCap> {
    let runs = wait
        .cap
        .into_iter()
        .flat_map(|cap| context.log.store.runs_overlapping(cap, wait.range));
    let others = runs
        .map(|(_, run)| run)
        .filter(|run| run.thread != wait.thread);
    others.max_by_key(|run| run.end_ns - run.start_ns)
}

/// Long waits for a busy capability, during which another one was idle.
#[derive(Default)]
struct LongWaits {
    /// Waits, with the busy capability as their `cap`.
    waits: Vec<ClippedWait>,
    /// Running time after all waits, in nanoseconds.
    ran_ns: u64,
    /// Waits of threads that then had hardly any work, and their running time: sums in nanoseconds.
    little_ns: u64,
    then_ns: u64,
}

async fn long_waits(context: &RuleContext<'_>) -> LongWaits {
    let mut all = LongWaits::default();
    let mut visit = |turn: ThreadTurn<'_>| {
        if turn.ready_parts().idle_ns > 0 && turn.runnable_ns() > LONG_NS {
            let wait = context.wait(turn, 1);
            let wait = wait.filter(|wait| wait.ns > LONG_NS);
            let wait = wait.and_then(|wait| {
                let cap = Some(busy_queue(context, &wait, &turn)?);
                Some(ClippedWait { cap, ..wait })
            });
            if let Some(wait) = wait {
                let then_ns = turn.run_ns();
                all.ran_ns += then_ns;
                if then_ns as f64 <= LITTLE * wait.ns as f64 {
                    all.little_ns += wait.ns;
                    all.then_ns += then_ns;
                }
                all.waits.push(wait);
            }
        }
    };
    context.each_turn_queued(&mut visit).await;
    all
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let clear = |cap_ns| {
        let share = format::fraction(context.share_of_caps(cap_ns));
        Outcome::Clear(format!(
            "capabilities were idle for {share} of their time while threads waited > 1 ms behind a busy capability; the limits are 15 % and 10 ms"
        ))
    };
    // Shorter waits are hand-overs.
    let any_ns = loss_budget.all_ns(Pool::ReadyLong);
    if context.caps < 2 || context.share_of_caps(any_ns) < MIN_SHARE {
        return clear(any_ns);
    }
    let long = long_waits(context).await;
    let waits = &long.waits;
    let spans: Vec<(u64, u64)> = waits.iter().map(ClippedWait::span).collect();
    let cap_ns = context.overlapping_idle_ns(&spans).await.min(any_ns);
    if context.share_of_caps(cap_ns) < MIN_SHARE || cap_ns < MIN_NS {
        return clear(cap_ns);
    }
    let threads: BTreeSet<_> = waits.iter().map(|wait| wait.thread).collect();
    let all_ns: u64 = waits.iter().map(|wait| wait.ns).sum();
    let mut by_cap: BTreeMap<CapId, u64> = BTreeMap::new();
    for wait in waits {
        if let Some(cap) = wait.cap {
            *by_cap.entry(cap).or_default() += wait.ns;
        }
    }
    let worst = by_cap.into_iter().max_by_key(|(_, ns)| *ns);
    let whose = match worst {
        Some((cap, ns)) if ns * 2 > all_ns => format!("capability {cap}"),
        _ => "a capability".to_owned(),
    };
    let longest = waits.iter().max_by_key(|wait| wait.ns);
    let loops = longest.and_then(|wait| longest_run(context, wait));
    let loops = loops.filter(|run| run.end_ns - run.start_ns >= NO_BREAK_NS);
    let title = format!(
        "{} waited for {whose}, {}, while other capabilities were idle",
        format::pluralize(threads.len() as u64, "thread"),
        summed(threads.len(), all_ns)
    );
    let mut finding =
        context.time_finding(RULE.name, title, loss_budget, (Pool::ReadyLong, cap_ns));
    finding.meaning =
        "A capability was idle while threads waited in the run queue of another one.".into();
    if let Some(run) = loops {
        finding.meaning = format!(
            "A capability was idle while threads waited in the run queue of another one, where {} ran for {} without a break: a loop that does not allocate is not interrupted.",
            context.thread_name_inside(run.thread),
            format::duration_ns(run.end_ns - run.start_ns)
        )
        .into();
        finding.tries.push(Advice::code(
            "Compile with -fno-omit-yields, so that loops that do not allocate can be interrupted (price: some percent of their speed).",
        ));
    }
    finding.tries.extend([
        Advice::code(
            "If these threads are made with forkOn: use forkIO. Threads of forkOn never migrate.",
        ),
        Advice::code(
            "Let long computations allocate, or split them: a capability pushes threads to others only between runs.",
        ),
    ]);
    if let Some(run) = loops.filter(|_| long.little_ns * 2 > all_ns) {
        explain_by_shares(context, &mut finding, (run.thread, &long, cap_ns));
    }
    let mean_ns = long.ran_ns / (waits.len() as u64).max(1);
    if loops.is_none() && mean_ns < MIN_RUN_NS {
        explain_short_runs(&mut finding, mean_ns);
    }
    if context.has_argument("-qm") {
        finding.tries.insert(
            0,
            Advice::code("Drop -qm: it prevents migration of threads."),
        );
    }
    finding.distrust =
        "On a busy machine, a capability that appears idle may wait for a core.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("threads", Value::Count(threads.len() as u64)),
        ("long waits", Value::Count(waits.len() as u64)),
    ]);
    Outcome::Found(vec![
        finding.with_evidence(waits.iter().map(ClippedWait::evidence)),
    ])
}

/// Changes a finding about threads that then ran so briefly that another capability would hardly have been faster.
fn explain_short_runs(finding: &mut Finding, mean_ns: u64) {
    finding.confidence = Confidence::Hint;
    finding.severity = finding.severity.min(Severity::Low);
    finding.meaning = format!(
        "{} But each then ran for only {}, on average, and moving a thread to another capability takes about as long.",
        finding.meaning,
        format::duration_ns(mean_ns)
    )
    .into();
    finding.tries = vec![Advice::code(
        "Let fewer threads do more work each, for example one for several requests.",
    )];
}

/// Changes a finding about threads that waited behind a long run, and then had hardly any work: they wait for its result.
fn explain_by_shares(
    context: &RuleContext<'_>,
    finding: &mut Finding,
    (thread, long, idle_ns): (ThreadId, &LongWaits, u64),
) {
    finding.confidence = Confidence::Probable;
    finding.title = format!(
        "While other capabilities were idle, for {} in all, only {} had work",
        format::duration_ns(idle_ns),
        context.thread_name_inside(thread)
    );
    finding.meaning = format!(
        "What waited in the run queue behind it ran for only {} in all after that, perhaps to put results together. So the shares of the work are uneven: when the others finish, one capability works and the rest are idle.",
        format::duration_ns(long.then_ns)
    )
    .into();
    finding.tries = uneven_advice();
}
