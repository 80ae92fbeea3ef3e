//! Does the program create threads that never end?
//!
//! A thread that is blocked forever keeps its stack and everything that it refers to, as long as something refers
//! to what it waits for. If such threads are created all the time, their number and the heap grow.

use super::prelude::*;
use analysis::timeline::turns::Turn;
use model::class::WAIT_REASONS;

/// Minimum number of dormant threads; fewer may be a pool, or connections.
const MIN_COUNT: usize = 1_000;
/// Number of threads from which severity is higher; each has at least a kilobyte of stack.
const MANY: usize = 10_000;
/// Final share of the range in which dormant threads do not run.
const DORMANT: f64 = 0.10;
/// Minimum share of dormant threads created in each quarter of the range before that; a pool is created at once.
const MIN_QUARTER_SHARE: f64 = 0.05;
/// For so many threads that they are no pool: minimum share of that range in which most of them are created.
const MIN_SPREAD: f64 = 0.20;
/// Minimum share of all threads created before that: of those that never ran again, and of those that did.
const MIN_DORMANT_SHARE: f64 = 0.10;
const MIN_SHARE: f64 = 0.50;

pub(super) const RULE: Rule = Rule {
    name: "threads-never-end",
    question: "Do threads leak?",
    inputs: &[Input::EachRun],
    evaluate: Evaluation::Yielding(|context, _| Box::pin(evaluate(context))),
};

/// Thread created in the range that blocked and never ran again, or at least lived on to the end.
struct Lasting {
    thread: ThreadId,
    created: Nanos,
    since: u64,
    reason: WaitReason,
    /// Whether it never ran again.
    is_dormant: bool,
}

/// Finds the threads created before `until` that lived on to the end. Also returns the number of all threads created
/// in the range before that.
async fn lasting(context: &RuleContext<'_>, until: u64) -> (Vec<Lasting>, usize) {
    let (mut all, mut made, mut steps) = (Vec::new(), 0, context.steps());
    let awake_from = until.midpoint(context.range.end().0);
    for life in context.log.store.lives() {
        steps.step().await;
        let created = life.created().filter(|at| context.range.start() <= *at);
        let Some(created) = created.filter(|at| at.0 < until) else {
            continue;
        };
        if context.is_runtime_thread(life.id()) {
            continue;
        }
        made += 1;
        // Most threads ended long before, which is known without reading their runs.
        let known = life.complete_life();
        if known.is_some_and(|(life, _)| life.end().0 <= awake_from) {
            continue;
        }
        // The runtime wakes all threads at the end of the program.
        let turn: Turn = life.turn(life.first_run_from(until));
        let (since, woken) = turn.blocked_span();
        let Some(reason) = turn
            .wait_reason()
            .filter(|_| life.life().end().0 > awake_from)
        else {
            continue;
        };
        all.push(Lasting {
            thread: life.id(),
            created,
            since,
            reason,
            // Waits for time, I/O or a foreign call are expected to end.
            is_dormant: reason.is_for_thread() && since < until && awake_from <= woken,
        });
    }
    (all, made)
}

/// Returns the smallest share of the threads that was created in one quarter.
fn least_quarter(dormant: &[Lasting], (start, until): (u64, u64)) -> f64 {
    let mut quarters = [0_usize; 4];
    let length = (until - start).max(1);
    for one in dormant {
        let index = u128::from(one.created.0 - start) * 4 / u128::from(length);
        quarters[usize::try_from(index).unwrap_or(3).min(3)] += 1;
    }
    let least = quarters.iter().min().copied().unwrap_or(0);
    least as f64 / dormant.len().max(1) as f64
}

/// Returns the share of the range in which the middle nine tenths of the threads were created.
fn spread(dormant: &[Lasting], (start, until): (u64, u64)) -> f64 {
    let mut created: Vec<u64> = dormant.iter().map(|one| one.created.0).collect();
    created.sort_unstable();
    let at = |part: usize| created.get(created.len() * part / 20).copied().unwrap_or(0);
    at(19).saturating_sub(at(1)) as f64 / (until - start).max(1) as f64
}

async fn evaluate(context: &RuleContext<'_>) -> Outcome {
    let start = context.range.start().0;
    let until = context.range.end().0 - (context.range.duration().0 as f64 * DORMANT) as u64;
    let (mut dormant, made) = lasting(context, until).await;
    let living = dormant.len();
    // Nearly as many dormant threads as living ones are the better evidence.
    let is_dormant = dormant.iter().filter(|one| one.is_dormant).count() * 10 >= living * 9;
    dormant.retain(|one| one.is_dormant || !is_dormant);
    let count = dormant.len();
    let is_throughout = least_quarter(&dormant, (start, until)) >= MIN_QUARTER_SHARE
        || count >= MANY && spread(&dormant, (start, until)) >= MIN_SPREAD;
    let least = if is_dormant {
        MIN_DORMANT_SHARE
    } else {
        MIN_SHARE
    };
    if count < MIN_COUNT || (count as f64) < least * made as f64 || !is_throughout {
        return Outcome::Clear(format!(
            "of {} created before the last tenth of the time, {} lived on to the end; the limits are 1,000, and half, or a tenth if they stay blocked, created throughout",
            format::pluralize(made as u64, "thread"),
            format::count(living as u64)
        ));
    }
    let mut reasons = [0_u64; WAIT_REASONS];
    for one in &dormant {
        reasons[one.reason as usize] += 1;
    }
    let most = WaitReason::ALL
        .into_iter()
        .max_by_key(|reason| reasons[*reason as usize]);
    let reason = most.unwrap_or(WaitReason::Other);
    let title = format!(
        "{} of {} {} (most: {})",
        format::count(count as u64),
        format::pluralize(made as u64, "thread"),
        match is_dormant {
            true => "stayed blocked until the end",
            false => "did not end, but ran again and again",
        },
        reason.name()
    );
    let mut finding = Finding::new(RULE.name, Axis::Memory, title);
    finding.severity = if count >= MANY {
        Severity::Medium
    } else {
        Severity::Low
    };
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Count(count as u64);
    let makers = { dormant.iter() }.map(|one| one.thread).collect();
    let makers = context.makers(&makers).await;
    finding.meaning = format!(
        "A thread retains its stack (1 KiB at least) and everything reachable from it. Each one makes the heap larger and major collections longer.{makers} Threads that were created in the last tenth of the time are not counted."
    )
    .into();
    finding.tries = vec![
        Advice::code(
            "End each thread with its task: withAsync, or a finally that fills the MVar it waits for.",
        ),
        Advice::code(
            "Limit waits (timeout), and kill threads whose results are no longer needed, such as those that watch a time limit with threadDelay.",
        ),
        Advice::measure(
            "-hT",
            "The bands STACK and TSO show the threads' share of the heap.",
        ),
    ];
    finding.distrust =
        "A server with one thread per open connection has such threads while clients stay connected. Threads that sleep past the end look the same: threadDelay waits for an MVar, too."
            .into();
    finding.set_numbers([
        ("threads that stay blocked", Value::Count(count as u64)),
        ("threads", Value::Count(made as u64)),
    ]);
    let end = context.range.end();
    let evidence = dormant.iter().map(|one| {
        Evidence::for_thread(
            one.thread,
            Interval::new(Nanos(one.since), end),
            Value::Ns(end.0.saturating_sub(one.since)),
        )
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
