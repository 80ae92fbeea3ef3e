//! Do commits wake threads in vain?
//!
//! A transaction that retries waits for a change of any variable that it has read. A
//! commit that changes one wakes all who wait for it; where most find that their
//! condition does not hold yet, they run for a moment and wait again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Outcome, Subject, Try, Value};
use crate::loss_budget::{LossBudget, Pool};
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Steps, Yield};
use eventlog::ids::{Nanos, ThreadId};
use model::class::WaitReason;
use model::format;
use model::time::Interval;

/// Threads woken by one commit, as most of those that are woken see it.
const LEAST_CROWD: f64 = 4.0;
/// Of those that are woken, so many wait again at once.
const IN_VAIN: f64 = 0.80;
/// Who runs for less has only looked.
const SHORT_NS: u64 = 20_000;
/// Wakeups by one thread with less between them are of one commit.
const APART_NS: u64 = 20_000;
/// Fewer wakeups are no habit.
const LEAST: u64 = 1000;

const NAME: &str = "stm-herd";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do commits wake threads in vain?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// A thread that waited in STM.
#[derive(Clone, Copy, Default)]
struct Waiter {
    woken: u64,
    in_vain: u64,
    in_vain_ns: u64,
    range: Option<Interval>,
}

async fn waiters(context: &RuleContext<'_>, yielder: &dyn Yield) -> BTreeMap<ThreadId, Waiter> {
    let mut waiters: BTreeMap<ThreadId, Waiter> = BTreeMap::new();
    let look = |life: &ThreadLane<'_>, (_, turn): (usize, &WaitRunCycle)| {
        let (start, end) = turn.part(2);
        if turn.wait_reason() != Some(WaitReason::Stm) || turn.code.is_none() {
            return;
        }
        let waiter = waiters.entry(life.id()).or_default();
        waiter.woken += 1;
        let again = turn.code.and_then(|code| code.wait_reason());
        if again == Some(WaitReason::Stm) && end - start < SHORT_NS {
            waiter.in_vain += 1;
            waiter.in_vain_ns += end - start;
            let run = Interval::new(Nanos(start), Nanos(end));
            waiter.range = Some(waiter.range.map_or(run, |range| range.hull(run)));
        }
    };
    let is_wanted = |reason| reason == WaitReason::Stm;
    context
        .each_turn_blocked((is_wanted, 0), yielder, look)
        .await;
    waiters
}

/// How many threads one commit wakes: the mean over those that are woken. Each thread counts
/// once, as one that waits is woken once; a second wakeup of it is of a later commit.
async fn crowd(
    context: &RuleContext<'_>,
    waiters: &BTreeMap<ThreadId, Waiter>,
    yielder: &dyn Yield,
) -> f64 {
    let mut steps = Steps::new(yielder);
    let store = &context.log.store;
    let (mut all, mut squares) = (0.0, 0.0);
    let mut end_crowd = |size: &mut u64| {
        all += *size as f64;
        squares += (*size as f64).powi(2);
        *size = 0;
    };
    for cap in context.cap_ids() {
        let (mut size, mut last, mut place) = (0, (Nanos(0), None), 0);
        let mut crowd: BTreeSet<ThreadId> = BTreeSet::new();
        let wakeups = store.wakeups_on(cap, context.range);
        for (at, woken) in wakeups.filter(|(_, thread)| waiters.contains_key(thread)) {
            steps.step().await;
            let giver = store.running(cap, at, &mut place);
            if giver != last.1 || at.since(last.0).0 >= APART_NS || !crowd.insert(woken) {
                end_crowd(&mut size);
                crowd.clear();
                crowd.insert(woken);
            }
            size += 1;
            last = (at, giver);
        }
        end_crowd(&mut size);
    }
    if all > 0.0 { squares / all } else { 0.0 }
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let any_ns = context.threads(yielder).await.times.blocked_ns[WaitReason::Stm as usize];
    let waiters = if any_ns > 0 {
        waiters(context, yielder).await
    } else {
        BTreeMap::new()
    };
    let woken: u64 = waiters.values().map(|waiter| waiter.woken).sum();
    let in_vain: u64 = waiters.values().map(|waiter| waiter.in_vain).sum();
    let share = in_vain as f64 / woken.max(1) as f64;
    if woken < LEAST || share < IN_VAIN {
        return Outcome::Clear(format!(
            "{} from a wait in STM, {} of them in vain; the limits are 1,000 and 80 %",
            format::many(woken, "wakeup"),
            format::fraction(share)
        ));
    }
    let crowd = crowd(context, &waiters, yielder).await;
    if crowd < LEAST_CROWD {
        return Outcome::Clear(format!(
            "a commit in STM wakes {crowd:.1} threads; the limit is 4"
        ));
    }
    let cap_ns: u64 = waiters.values().map(|waiter| waiter.in_vain_ns).sum();
    let title = format!(
        "Each commit wakes {crowd:.0} threads, and {} of those woken find nothing",
        format::fraction(share)
    );
    let mut finding = context.of_time(NAME, title, loss_budget, (Pool::Running, cap_ns));
    finding.confidence = Confidence::Probable;
    finding.meaning = "All that wait for the same variable wake when it changes, find that their condition does not hold, and wait again.".into();
    finding.tries = vec![
        Try::code("Give each waiting thread a TVar of its own, which only its condition changes."),
        Try::code("Use what wakes one thread at a time: an MVar, or a queue of TMVars."),
        Try::code("Read fewer variables in transactions that retry."),
    ];
    finding.distrust = "Only runs after which the thread waits again are counted, not the switches between threads: the true cost is higher. Transactions that conflict leave no event.".into();
    finding.numbers = vec![
        ("woken".into(), Value::Count(woken)),
        ("woken too early".into(), Value::Count(in_vain)),
        ("ran without result".into(), Value::Ns(cap_ns)),
    ];
    let evidence = waiters.iter().filter_map(|(thread, waiter)| {
        Some(Evidence {
            range: waiter.range?,
            subjects: vec![Subject::Thread(*thread)],
            amount: Value::Count(waiter.in_vain),
        })
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
