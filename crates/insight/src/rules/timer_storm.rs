//! Do timers keep the timer manager busy?
//!
//! In the threaded runtime each `timeout`, `threadDelay` and registered timer is an entry in a table of the timer
//! manager. A thread that adds one that is due earlier than all others wakes the manager, which runs, changes the
//! table lazily and waits again; whoever needs the table next evaluates those changes.

use super::prelude::*;
use super::shared_thunk::waits_for_thunks;
use eventlog::hash::SeededSet;
use model::class::ManagerThread;

/// Minimum number of runs of the timer manager; fewer are no pattern.
const MIN_COUNT: u64 = 2_000;
/// Minimum runs per second. A server with a few hundred delays per second needs them.
const MIN_RATE: f64 = 5_000.0;
/// Runs per second from which timers take a large part of the time: at 13,680, a program took four times as long as
/// without.
const MANY_PER_SECOND: f64 = 10_000.0;
/// Minimum number of waits for a change of the table; without any, no thread works for the table.
const MIN_WAITS: usize = 500;

pub(super) const RULE: Rule = Rule {
    name: "timer-storm",
    question: "Do timers keep the timer manager busy?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let store = &context.log.store;
    let is_manager = |label: &str| ManagerThread::from_label(label) == Some(ManagerThread::Timer);
    let managers: SeededSet<ThreadId> = store.threads_labeled(is_manager).collect();
    let turns = managers.iter().filter_map(|one| store.thread_lane(*one));
    let runs: u64 = turns
        .map(|life| life.turns_overlapping(context.range).count() as u64)
        .sum();
    let rate = context.per_second(runs);
    if runs < MIN_COUNT || rate < MIN_RATE {
        return Outcome::Clear(format!(
            "the timer manager ran {}, {} a second; the limits are {} and {}",
            format::pluralize(runs, "time"),
            format::count(rate as u64),
            format::count(MIN_COUNT),
            format::count(MIN_RATE as u64),
        ));
    }
    let waits = waits_for_thunks(context).await;
    let is_of_table = |(owner, wait): &&(ThreadId, crate::threads::ClippedWait)| {
        managers.contains(owner) || managers.contains(&wait.thread)
    };
    let waits = waits.iter().filter(is_of_table).count();
    if waits < MIN_WAITS {
        return Outcome::Clear(format!(
            "the timer manager ran {}, but {} for its table; the limit is {}",
            format::pluralize(runs, "time"),
            format::pluralize(waits as u64, "wait"),
            format::count(MIN_WAITS as u64),
        ));
    }
    let ran_ns: u64 = managers
        .iter()
        .map(|one| context.run_statistics(*one, context.range).all_ns)
        .sum();
    let title = format!(
        "The timer manager ran {}, {} a second: timeouts are set for very short work",
        format::pluralize(runs, "time"),
        format::count(rate as u64)
    );
    let mut finding = Finding::new(RULE.name, Axis::Time, title);
    finding.severity = match rate >= MANY_PER_SECOND {
        true => Severity::High,
        false => Severity::Medium,
    };
    finding.confidence = Confidence::Probable;
    finding.cost = Value::PerSecond(rate);
    // Threads and manager wake each other for each timer; other hand-overs are claimed by now.
    let hand_overs_ns = loss_budget.unclaimed_ns(Pool::HandOver);
    finding.claimed_ns = loss_budget.claim(Pool::HandOver, hand_overs_ns);
    finding.meaning = "Each timeout and threadDelay updates the manager's table, and wakes the manager if it is due first; threads and manager then wait for each other's updates. Setting a timer costs running time of the thread itself, so the true cost is higher than the manager's.".into();
    finding.tries = Advice::code_changes([
        "Set one timeout for a batch of work, or for the whole loop, instead of one per small step.",
        "Compare clock times in the loop, or let one thread check for overdue work.",
    ]);
    finding.distrust = "A program with many deadlines needs a timer for each: then a timer wheel with coarse steps is cheaper.".into();
    finding.set_numbers([
        ("runs of the timer manager", Value::Count(runs)),
        ("waits for its table", Value::Count(waits as u64)),
        ("the manager ran for", Value::Ns(ran_ns)),
    ]);
    let evidence = managers
        .iter()
        .map(|thread| Evidence::for_thread(*thread, context.range, Value::Ns(ran_ns)));
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
