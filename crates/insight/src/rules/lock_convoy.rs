//! Do threads queue for one lock?
//!
//! `MVar`s have no names in the log. But who hands a lock over is seen: a thread that
//! waits for an `MVar` is woken by what runs on the waking capability. Where several
//! threads each give and receive often, none is the hub of all, and hardly more than one
//! of them runs while another waits, they take turns.

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Evidence, Outcome, Subject, Try, Value};
use crate::loss_budget::LossBudget;
use crate::lost_time::union;
use crate::threads::{Wait, Wakeup};
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::WaitRunCycle;
use analysis::yielder::{Steps, Yield, sort};
use eventlog::hash::SeededMap;
use eventlog::ids::ThreadId;
use model::class::WaitReason;
use model::format;
use model::time::Interval;

/// Two that answer each other are a conversation, not a queue.
const LEAST_MEMBERS: usize = 3;
/// Who gives and receives less often is not part of it.
const LEAST_WAKES: u64 = 20;
/// Who was woken so often ran as often.
const LEAST_RUNS: u32 = LEAST_WAKES as u32;
/// A thread with more of all wakes hands out work, or collects results.
const HUB: f64 = 0.50;
/// So many members run at the most, on average, while one waits.
const MOST_RUNNING: f64 = 1.5;
/// Less of the capabilities' time is not worth a change.
const LEAST_SHARE: f64 = 0.05;

pub(super) const NAME: &str = "lock-convoy";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do threads queue for one lock?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// How often a thread woke others, and was woken by others.
#[derive(Clone, Copy, Default)]
struct Wakes {
    given: u64,
    received: u64,
}

/// Who gives and receives often; `None` if one thread is the hub of all, or there are few.
async fn members(
    context: &RuleContext<'_>,
    yielder: &dyn Yield,
) -> Option<BTreeMap<ThreadId, Wakes>> {
    let mut wakes: SeededMap<ThreadId, Wakes> = SeededMap::default();
    let look = |wakeup: Wakeup| {
        wakes.entry(wakeup.giver).or_default().given += 1;
        wakes.entry(wakeup.thread).or_default().received += 1;
    };
    context.each_wakeup(yielder, look).await;
    let often = wakes
        .into_iter()
        .filter(|(_, wakes)| wakes.given >= LEAST_WAKES && wakes.received >= LEAST_WAKES);
    let wakes: BTreeMap<ThreadId, Wakes> = often.collect();
    let all: u64 = wakes.values().map(|wakes| wakes.received).sum();
    let most = wakes.values().map(|wakes| wakes.received.max(wakes.given));
    let is_hub = most.max().unwrap_or(0) as f64 > HUB * all as f64;
    (wakes.len() >= LEAST_MEMBERS && !is_hub).then_some(wakes)
}

/// The waits of members for an `MVar`, and for how long members ran while any waited.
async fn waits(
    context: &RuleContext<'_>,
    members: &BTreeMap<ThreadId, Wakes>,
    yielder: &dyn Yield,
) -> (Vec<Wait>, Vec<(u64, u64)>) {
    let (mut waits, mut runs) = (Vec::new(), Vec::new());
    let look = |life: &ThreadLane<'_>, turn: (usize, &WaitRunCycle)| {
        if turn.1.wait_reason() == Some(WaitReason::Mvar) {
            waits.extend(context.wait(life, turn, 0));
        }
        if turn.1.code.is_some() {
            runs.push(turn.1.part(2));
        }
    };
    let store = &context.log.store;
    let lives = store.lives_of_runs(LEAST_RUNS);
    let lives = lives.filter(|life| members.contains_key(&life.id()));
    context.each_turn_of(lives, yielder, look).await;
    (waits, runs)
}

/// How long spans lie in stretches that are in order.
async fn inside_ns(spans: &[(u64, u64)], stretches: &[(u64, u64)], yielder: &dyn Yield) -> u64 {
    let inside = |(from, to): (u64, u64)| {
        let first = stretches.partition_point(|stretch| stretch.1 <= from);
        let near = stretches
            .iter()
            .skip(first)
            .take_while(|stretch| stretch.0 < to);
        near.map(|stretch| stretch.1.min(to) - stretch.0.max(from))
            .sum::<u64>()
    };
    let (mut all_ns, mut steps) = (0, Steps::new(yielder));
    for span in spans {
        steps.step().await;
        all_ns += inside(*span);
    }
    all_ns
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    let clear = |cap_ns| {
        Outcome::Clear(format!(
            "capabilities were idle while threads took turns with MVars for {} of their time; the limit is 5 %",
            format::fraction(context.share_of_caps(cap_ns))
        ))
    };
    let any_ns = context.threads(yielder).await.times.blocked_ns[WaitReason::Mvar as usize];
    if context.caps < 2 || context.share_of_caps(any_ns) < LEAST_SHARE {
        return clear(0);
    }
    let Some(members) = members(context, yielder).await else {
        return Outcome::Clear(
            "no three threads woke each other in turns: each wakes, and is woken, 20 times at least".to_owned(),
        );
    };
    let (waits, runs) = waits(context, &members, yielder).await;
    let cap_ns = context
        .beside_idle_ns(waits.iter().map(Wait::span), yielder)
        .await;
    if context.share_of_caps(cap_ns) < LEAST_SHARE {
        return clear(cap_ns);
    }
    let mut waiting: Vec<(u64, u64)> = waits.iter().map(Wait::span).collect();
    sort(&mut waiting, yielder).await;
    let waiting = union(&waiting);
    let pauses = context.log.store.account().pauses();
    let waiting_ns: u64 = waiting
        .iter()
        .map(|&(from, to)| (to - from).saturating_sub(pauses.still_in(from, to)))
        .sum();
    let running = inside_ns(&runs, &waiting, yielder).await as f64 / waiting_ns.max(1) as f64;
    if running > MOST_RUNNING {
        return Outcome::Clear(format!(
            "while threads that wake each other waited for an MVar, {running:.1} of them ran; the limit is 1.5"
        ));
    }
    let count = members.len() as u64;
    let title = format!(
        "{} take turns, for a lock or in a pipeline: on average {running:.1} of them ran",
        format::many(count, "thread")
    );
    let spans: Vec<(u64, u64)> = waits.iter().map(Wait::span).collect();
    let mut finding = context
        .of_blocked((NAME, title), loss_budget, (spans, cap_ns), yielder)
        .await;
    finding.confidence = Confidence::Probable;
    finding.meaning = "They hand something from one to the next. While one holds it the others wait, so more capabilities would not help. A Handle has a lock, too: stdout, for example.".into();
    finding.tries = vec![
        Try::code("Do the work before taking the lock, or after releasing it."),
        Try::code("Split what the lock guards, with one lock for each part."),
        Try::code(
            "If the lock guards a single value and the update is short, use atomicModifyIORef' instead of an MVar.",
        ),
    ];
    finding.distrust =
        "MVars have no names in the log. In a pipeline each thread waits for the one before it: let several items be under way at a time."
            .into();
    let handed: u64 = members.values().map(|wakes| wakes.received).sum();
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("threads".into(), Value::Count(count)),
        ("wakeups".into(), Value::Count(handed)),
        ("time with a waiter".into(), Value::Ns(waiting_ns)),
    ];
    Outcome::Found(vec![finding.seen_in(by_member(&waits))])
}

/// Each member, with all of its waiting.
fn by_member(waits: &[Wait]) -> Vec<Evidence> {
    let mut by_thread: BTreeMap<ThreadId, (Interval, u64)> = BTreeMap::new();
    for wait in waits {
        let of = by_thread.entry(wait.thread).or_insert((wait.range, 0));
        *of = (of.0.hull(wait.range), of.1 + wait.ns);
    }
    let evidence = by_thread
        .into_iter()
        .map(|(thread, (range, waited))| Evidence {
            range,
            subjects: vec![Subject::Thread(thread)],
            amount: Value::Ns(waited),
        });
    evidence.collect()
}
