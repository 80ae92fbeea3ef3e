//! Are threads too small?
//!
//! A thread costs about a microsecond to create, queue, switch to and from, and to collect its stack. If it does
//! less work than that, a loop would be faster.

use super::hand_overs::{IN_TURNS, one_capability_advice};
use super::prelude::*;
use crate::threads::{FinishedThread, median};
use eventlog::hash::SeededSet;
use eventlog::ids::CapId;

/// Minimum threads per second; fewer cost less than 1 % of a capability.
const MIN_RATE: f64 = 5_000.0;
/// Maximum median run time of a thread over its whole life.
const TINY_NS: u64 = 10_000;
/// The same, if capabilities are idle for this share of their time while threads are handed over: waking the OS thread of
/// a capability takes tens of microseconds.
const SMALL_NS: u64 = 50_000;
const MUCH_HANDING_OVER: f64 = 0.20;
/// Minimum number of threads; fewer are no pattern.
const MIN_COUNT: usize = 1000;
/// Maximum gap between two runs that is due to switching alone.
const LONGEST_GAP_NS: u64 = 20_000;

/// Minimum number of new OS threads for each thread of which most have one. The kernel may use numbers again.
const OWN_OS_THREAD: f64 = 0.30;

/// Minimum number of such threads for each run of any thread, from which hand-overs are theirs.
const MOVED: f64 = 0.20;

const MEANING: &str =
    "Creating such a thread and switching to it costs about as much as its work, plus GC time.";
const MORE_IF_MOVED: &str = " The runtime moves new threads to idle capabilities, whose OS threads must be woken for them: tens of microseconds each, in which nothing runs.";

pub(super) const RULE: Rule = Rule {
    name: "tiny-threads",
    question: "Are threads too small?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Returns the total of short gaps before runs of these threads, in nanoseconds, and the number of all runs.
async fn switching(context: &RuleContext<'_>, small: &SeededSet<ThreadId>) -> (u64, usize) {
    let store = &context.log.store;
    let (mut all_ns, mut runs, mut steps) = (0, 0, context.steps());
    for cap in context.cap_ids() {
        let mut last_end = None;
        for (_, run) in store.runs_overlapping(cap, context.range) {
            steps.step().await;
            runs += 1;
            let gap_ns = last_end.map_or(u64::MAX, |last| run.start_ns.saturating_sub(last));
            if gap_ns <= LONGEST_GAP_NS && small.contains(&run.thread) {
                all_ns += gap_ns;
            }
            last_end = Some(run.end_ns);
        }
    }
    (all_ns, runs)
}

/// Returns whether most of these threads were created while no thread ran: foreign code called Haskell functions, each
/// in a thread of its own.
fn are_calls_from_foreign_code(context: &RuleContext<'_>, threads: &[FinishedThread]) -> bool {
    const ENOUGH: usize = 1000;
    const MOST: f64 = 0.8;
    let store = &context.log.store;
    let caps: Vec<CapId> = context.cap_ids().collect();
    let sample = threads
        .iter()
        .step_by(threads.len().div_ceil(ENOUGH).max(1));
    let is_from_outside = |small: &&FinishedThread| {
        let mut running = caps
            .iter()
            .map(|cap| store.running(*cap, small.life.start(), &mut 0));
        running.all(|thread| thread.is_none())
    };
    let (from_outside, all) = (
        sample.clone().filter(is_from_outside).count(),
        sample.count(),
    );
    from_outside as f64 >= MOST * all as f64
}

/// Returns whether so many threads had OS threads of their own. These are new tasks of the runtime, which call it to
/// create the thread: for the log, a call by foreign code.
fn have_os_threads(context: &RuleContext<'_>, count: u64) -> bool {
    let is_inside = |at| context.range.contains(Nanos(at));
    let tasks = context.log.numbers.os_threads(is_inside).unwrap_or(0);
    tasks as f64 >= OWN_OS_THREAD * count as f64
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let mut threads = context.finished_threads().await;
    let rate = context.per_second(threads.len() as u64);
    let mut lengths: Vec<u64> = threads.iter().map(|small| small.ran_ns).collect();
    let median_ns = median(&mut lengths);
    let count = threads.len() as u64;
    let handing_over = context.share_of_caps(loss_budget.all_ns(Pool::HandOver));
    let is_costly = handing_over >= MUCH_HANDING_OVER;
    let (limit_ns, limit) = match is_costly && median_ns >= TINY_NS {
        true => (SMALL_NS, "50 µs"),
        false => (TINY_NS, "10 µs"),
    };
    if threads.len() < MIN_COUNT || rate < MIN_RATE || median_ns >= limit_ns {
        return Outcome::Clear(format!(
            "{} came and went, {} a second, half of them with {} of work or more; the limits are 5,000 a second and {limit}",
            format::pluralize(count, "thread"),
            format::count(rate as u64),
            format::duration_ns(median_ns),
        ));
    }
    threads.retain(|small| small.ran_ns < limit_ns);
    let small: SeededSet<ThreadId> = threads.iter().map(|small| small.thread).collect();
    let (mut switching_ns, runs) = switching(context, &small).await;
    if are_calls_from_foreign_code(context, &threads) {
        let calls = (&threads[..], median_ns, switching_ns);
        return Outcome::Found(vec![match have_os_threads(context, count) {
            true => bound_threads_finding(context, loss_budget, calls),
            false => foreign_calls_finding(context, loss_budget, calls),
        }]);
    }
    let parallelism = context.times.mean_parallelism().unwrap_or(0.0);
    let are_moved = context.caps > 1
        && (parallelism <= IN_TURNS || is_costly)
        && small.len() as f64 >= MOVED * runs as f64;
    if are_moved {
        switching_ns = switching_ns.max(loss_budget.unclaimed_ns(Pool::HandOver));
    }
    let title = format!(
        "{} had less than {limit} of work each, half of all threads less than {}",
        format::pluralize(small.len() as u64, "thread"),
        format::duration_ns(median_ns)
    );
    let mut finding = context.time_finding(
        RULE.name,
        title,
        loss_budget,
        (Pool::HandOver, switching_ns),
    );
    if are_moved && is_costly {
        // Other rules have claimed most of it, by what it looks like.
        finding.severity = Severity::of_share(handing_over);
    }
    finding.confidence = Confidence::Probable;
    let if_moved = if are_moved { MORE_IF_MOVED } else { "" };
    let makers = context.makers(&small).await;
    finding.meaning = format!("{MEANING}{if_moved}{makers}").into();
    finding.tries = Advice::code_changes([
        "Give each thread a batch of the work.",
        "Let a pool of a few threads take the work from a queue.",
        "Without -threaded, each timeout creates a thread: set one timeout per batch.",
    ]);
    if are_moved && let Some(advice) = one_capability_advice(context) {
        finding.tries.insert(0, advice);
    }
    finding.distrust =
        "In a server with one thread per connection, simple code may be worth the cost.".into();
    finding.set_numbers([
        ("threads", Value::Count(count)),
        ("a second", Value::PerSecond(rate)),
        ("work of half of them at most", Value::Ns(median_ns)),
        ("switching", Value::Ns(switching_ns)),
    ]);
    let evidence = threads.iter().map(FinishedThread::evidence);
    Outcome::Found(vec![finding.with_evidence(evidence)])
}

/// Creates the finding on threads that foreign code created to call Haskell functions.
fn foreign_calls_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (threads, median_ns, between_ns): (&[FinishedThread], u64, u64),
) -> Finding {
    let title = format!(
        "Foreign code called Haskell functions {}, half of them for less than {}",
        format::pluralize(threads.len() as u64, "time"),
        format::duration_ns(median_ns)
    );
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::Idle, between_ns));
    finding.confidence = Confidence::Probable;
    finding.meaning = "Each call from foreign code (a function with foreign export, or made by a \"wrapper\" import) creates a thread that takes a capability: a microsecond or more. No thread ran when these threads were created.".into();
    finding.tries = Advice::code_changes([
        "Do not call Haskell for each item: write the function that is called in C, or the loop around it in Haskell.",
        "Let foreign code collect the items, and call once for many.",
    ]);
    finding.distrust = "The time between two calls includes what foreign code itself does.".into();
    finding.set_numbers([
        ("calls", Value::Count(threads.len() as u64)),
        ("half of them at most", Value::Ns(median_ns)),
        ("between two calls", Value::Ns(between_ns)),
    ]);
    finding.with_evidence(threads.iter().map(FinishedThread::evidence))
}

/// Creates the finding on short threads that have OS threads of their own.
fn bound_threads_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (threads, median_ns, between_ns): (&[FinishedThread], u64, u64),
) -> Finding {
    let title = format!(
        "{} had an OS thread each (forkOS), half of them for less than {} of work",
        format::pluralize(threads.len() as u64, "thread"),
        format::duration_ns(median_ns)
    );
    let waking_ns = loss_budget.all_ns(Pool::HandOver);
    // Until the new OS thread has created its thread, none is ready.
    let cost = match waking_ns >= between_ns {
        true => (Pool::HandOver, waking_ns),
        false => (Pool::Idle, between_ns),
    };
    let mut finding = context.time_finding(RULE.name, title, loss_budget, cost);
    finding.confidence = Confidence::Probable;
    finding.meaning = "Each of these threads is bound: the kernel creates an OS thread for it, and each switch to it or from it wakes another OS thread, which takes tens of microseconds.".into();
    finding.tries = Advice::code_changes([
        "Use forkIO in place of forkOS. Only foreign libraries with state for each OS thread need bound threads, such as OpenGL.",
        "If foreign code needs them: let a few bound threads take the work from a queue.",
    ]);
    finding.distrust = "Foreign code that calls Haskell functions, each from a new OS thread, looks the same in the log.".into();
    finding.set_numbers([
        ("threads", Value::Count(threads.len() as u64)),
        ("half of them at most", Value::Ns(median_ns)),
        ("switching", Value::Ns(cost.1)),
    ]);
    finding.with_evidence(threads.iter().map(FinishedThread::evidence))
}
