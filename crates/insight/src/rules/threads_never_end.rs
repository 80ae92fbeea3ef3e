//! Are threads made that never end?
//!
//! A thread that is blocked for ever keeps its stack and all that it refers to, as long as
//! something refers to what it waits for. Where threads are made all the time and stay
//! blocked, their number and the heap grow.

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Axis, Confidence, Evidence, Finding, Outcome, Severity, Subject, Try, Value};
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Steps, Yield};
use eventlog::ids::{Nanos, ThreadId};
use model::class::{WAIT_REASONS, WaitReason};
use model::format;
use model::time::Interval;

/// Fewer may be a pool, or connections.
const LEAST: usize = 1_000;
/// From so many on it is grave: a thread has a kilobyte of stack at least.
const MANY: usize = 10_000;
/// A thread that has not run for the last so much of the range is dormant.
const DORMANT: f64 = 0.10;
/// So many dormant threads were made in each quarter of the range up to that: a pool is made
/// at once.
const LEAST_A_QUARTER: f64 = 0.10;
/// So many of all threads that were made there are dormant.
const LEAST_SHARE: f64 = 0.50;

const NAME: &str = "threads-never-end";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Are threads made that never end?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, _, yielder| Box::pin(look(context, yielder))),
};

/// A thread that was made in the range, blocked, and never ran again.
struct Dormant {
    thread: ThreadId,
    created: Nanos,
    since: u64,
    reason: WaitReason,
}

/// Those, and how many threads were made in the range up to the part that decides.
async fn dormant(
    context: &RuleContext<'_>,
    until: u64,
    yielder: &dyn Yield,
) -> (Vec<Dormant>, usize) {
    let (mut all, mut made, mut steps) = (Vec::new(), 0, Steps::new(yielder));
    let awake_from = until.midpoint(context.range.end().0);
    for life in context.log.store.lives() {
        steps.step().await;
        let created = life.created().filter(|at| context.range.start() <= *at);
        let Some(created) = created.filter(|at| at.0 < until) else {
            continue;
        };
        if context.is_of_runtime(life.id()) {
            continue;
        }
        made += 1;
        // The runtime wakes all threads when the program ends.
        let turn: WaitRunCycle = life.turn(life.first_run_from(until));
        let (since, woken) = turn.part(0);
        // Threads that wait for a time, a file or a call are known to end that wait.
        let reason = turn.wait_reason().filter(|reason| reason.is_for_thread());
        if let Some(reason) = reason.filter(|_| since < until && awake_from <= woken) {
            all.push(Dormant {
                thread: life.id(),
                created,
                since,
                reason,
            });
        }
    }
    (all, made)
}

/// The share of the threads of the quarter in which the fewest were made.
fn least_quarter(dormant: &[Dormant], (start, until): (u64, u64)) -> f64 {
    let mut quarters = [0_usize; 4];
    let length = (until - start).max(1);
    for one in dormant {
        let place = u128::from(one.created.0 - start) * 4 / u128::from(length);
        quarters[usize::try_from(place).unwrap_or(3).min(3)] += 1;
    }
    let least = quarters.iter().min().copied().unwrap_or(0);
    least as f64 / dormant.len().max(1) as f64
}

async fn look(context: &RuleContext<'_>, yielder: &dyn Yield) -> Outcome {
    let start = context.range.start().0;
    let until = context.range.end().0 - (context.range.duration().0 as f64 * DORMANT) as u64;
    let (dormant, made) = dormant(context, until, yielder).await;
    let count = dormant.len();
    if count < LEAST
        || (count as f64) < LEAST_SHARE * made as f64
        || least_quarter(&dormant, (start, until)) < LEAST_A_QUARTER
    {
        return Outcome::Clear(format!(
            "{} of {} stayed blocked until the end; the limits are 1,000 and half, made all the time",
            format::count(count as u64),
            format::many(made as u64, "thread")
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
        "{} of {} stayed blocked until the end (most: {})",
        format::count(count as u64),
        format::many(made as u64, "thread"),
        reason.name()
    );
    let mut finding = Finding::new(NAME, Axis::Memory, title);
    finding.severity = if count >= MANY {
        Severity::Medium
    } else {
        Severity::Low
    };
    finding.confidence = Confidence::Probable;
    finding.cost = Value::Count(count as u64);
    finding.meaning = "A blocked thread keeps its stack (1 KiB at least) and all that it refers to. With each one the heap grows, and so does each major collection.".into();
    finding.tries = vec![
        Try::code(
            "End each thread with its task: withAsync, or a finally that fills the MVar for which it waits.",
        ),
        Try::code("Give waits a limit (timeout), and kill threads whose result nobody needs."),
        Try::measure(
            "-hT",
            "The bands STACK and TSO show how much of the heap the threads take.",
        ),
    ];
    finding.distrust =
        "A server with a thread for each open connection has such threads as long as clients stay. Threads that sleep past the end look the same."
            .into();
    finding.numbers = vec![
        (
            "threads that stay blocked".into(),
            Value::Count(count as u64),
        ),
        ("threads".into(), Value::Count(made as u64)),
    ];
    let end = context.range.end();
    let evidence = dormant.iter().map(|one| Evidence {
        range: Interval::new(Nanos(one.since), end),
        subjects: vec![Subject::Thread(one.thread)],
        amount: Value::Ns(end.0.saturating_sub(one.since)),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
