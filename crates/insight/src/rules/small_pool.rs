//! Do threads wait for a place in a pool whose holders sleep?
//!
//! A semaphore, or a pool of connections, lets so many threads at a time do something. If who
//! has a place waits for time, I/O or a foreign call, the capabilities have nothing to do while
//! others wait for a place. Such a thread is seen by what it does: it is woken from an `MVar` or
//! from STM by a thread that had a place, and then sleeps itself.

use std::collections::BTreeSet;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Outcome, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use crate::lost_time::union;
use crate::threads::{Wait, Wakeup};
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Yield, sort};
use eventlog::hash::SeededSet;
use eventlog::ids::{Nanos, ThreadId};
use model::class::WaitReason;
use model::format;

/// Shorter waits for a place cost less than the pool is worth.
const LONG_NS: u64 = 1_000_000;
/// Fewer waits may be how a program starts.
const LEAST: usize = 20;
/// Fewer threads are a conversation.
const LEAST_THREADS: usize = 3;
/// While any thread waits for a place, so many wait on average: with fewer, one place more would
/// do.
const LEAST_WAITING: f64 = 1.5;
/// Less of the capabilities' time is not worth a change.
const LEAST_SHARE: f64 = 0.05;

pub(super) const NAME: &str = "small-pool";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do threads wait for a place in a pool whose holders sleep?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

const fn is_for_place(reason: WaitReason) -> bool {
    matches!(reason, WaitReason::Mvar | WaitReason::Stm)
}

/// Waits after which the thread slept.
async fn before_sleep(context: &RuleContext<'_>, yielder: &dyn Yield) -> Vec<Wait> {
    let mut all = Vec::new();
    // The last wait of the thread, until it is known what it does next.
    let mut last: Option<Wait> = None;
    let look = |life: &ThreadLane<'_>, turn: (usize, &WaitRunCycle)| {
        let Some(reason) = turn.1.wait_reason() else {
            // It was interrupted, and goes on.
            return;
        };
        let before = last.take().filter(|wait| wait.thread == life.id());
        if reason.is_asleep() {
            all.extend(before);
        }
        if is_for_place(reason) && turn.1.code.is_some() {
            last = context
                .wait(life, turn, 0)
                .filter(|wait| wait.ns >= LONG_NS);
        }
    };
    context
        .each_turn_blocked((is_for_place, 0), yielder, look)
        .await;
    all
}

/// Those of them that a thread of the same kind ended: who had a place gave it on.
async fn handed_on(context: &RuleContext<'_>, yielder: &dyn Yield) -> Vec<Wait> {
    let mut waits = before_sleep(context, yielder).await;
    let members: SeededSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let mut ended: SeededSet<(ThreadId, Nanos)> = SeededSet::default();
    let look = |wakeup: Wakeup| {
        if members.contains(&wakeup.giver) && members.contains(&wakeup.thread) {
            ended.insert((wakeup.thread, wakeup.at));
        }
    };
    context.each_wakeup(yielder, look).await;
    waits.retain(|wait| ended.contains(&(wait.thread, wait.range.end())));
    waits
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let all = context.threads(yielder).await.times;
    let asleep_ns = WaitReason::ALL
        .into_iter()
        .filter(|reason| reason.is_asleep());
    let asleep_ns: u64 = asleep_ns
        .map(|reason| all.blocked_ns[reason as usize])
        .sum();
    let idle = context.share_of_caps(loss_budget.all_ns(Pool::Idle));
    let waits = if idle < LEAST_SHARE || asleep_ns == 0 {
        Vec::new()
    } else {
        handed_on(context, yielder).await
    };
    let threads: BTreeSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let mut spans: Vec<(u64, u64)> = waits.iter().map(Wait::span).collect();
    sort(&mut spans, yielder).await;
    let stretches = union(&spans);
    let any_ns: u64 = stretches.iter().map(|(from, to)| to - from).sum();
    let sum_ns: u64 = waits.iter().map(|wait| wait.ns).sum();
    let waiting = sum_ns as f64 / any_ns.max(1) as f64;
    let cap_ns = context.idle_in(&stretches, yielder).await.nobody_ns;
    if waits.len() < LEAST
        || threads.len() < LEAST_THREADS
        || waiting < LEAST_WAITING
        || context.share_of_caps(cap_ns) < LEAST_SHARE
    {
        return Outcome::Clear(format!(
            "{} of 1 ms and more for a place of a thread that then slept, of {}, {waiting:.1} at a time; capabilities were idle for {} of their time then; the limits are 20, 3, 1.5 and 5 %",
            format::many(waits.len() as u64, "wait"),
            format::many(threads.len() as u64, "thread"),
            format::fraction(context.share_of_caps(cap_ns))
        ));
    }
    let title = format!(
        "On average {waiting:.1} threads waited for a place in a pool, whose holders were asleep"
    );
    let mut finding = context
        .of_idle((NAME, title), loss_budget, (stretches, cap_ns), yielder)
        .await;
    finding.confidence = Confidence::Probable;
    finding.meaning = "A semaphore or a pool lets a few threads at a time go on. These wait for time, I/O or a foreign call, so that no capability has work while others wait for a place.".into();
    finding.tries = vec![
        Try::code("Make the pool larger: more connections, more places of the semaphore."),
        Try::code("Hold a place for less: do outside of it what needs none."),
        Try::code("Make faster what the holders wait for, or ask for several things at once."),
    ];
    finding.distrust = "What they wait for may serve no more at a time: then a larger pool only moves the queue. A limit that was set to protect it has this price.".into();
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("threads".into(), Value::Count(threads.len() as u64)),
        ("waits for a place".into(), Value::Count(waits.len() as u64)),
        ("all waits".into(), Value::Ns(sum_ns)),
    ];
    Outcome::Found(vec![finding.seen_in(waits.iter().map(Wait::evidence))])
}
