//! Do commits wake threads in vain?
//!
//! A transaction that retries waits until any variable that it has read changes. A commit that changes one wakes
//! all threads waiting for it. If the condition of most does not hold yet, they run for a moment and wait again.

use std::collections::{BTreeMap, BTreeSet};

use super::prelude::*;
use crate::threads::Turn;

/// Minimum number of threads woken per commit, averaged over woken threads.
const MIN_CROWD: f64 = 4.0;
/// Minimum share of woken threads that wait again immediately.
const IN_VAIN: f64 = 0.60;
/// Maximum length of a run that only checks the condition.
const SHORT_NS: u64 = 20_000;
/// Wakeups by one thread less than this apart belong to one commit.
const APART_NS: u64 = 20_000;
/// Minimum number of wakeups; fewer are no pattern.
const MIN_COUNT: u64 = 1000;

pub(super) const RULE: Rule = Rule {
    name: "stm-herd",
    question: "Do commits wake threads in vain?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Wakeups of a thread that waited in STM.
#[derive(Clone, Copy, Default)]
struct Waiter {
    woken: u64,
    in_vain: u64,
    in_vain_ns: u64,
    range: Option<Interval>,
}

async fn waiters(context: &RuleContext<'_>) -> BTreeMap<ThreadId, Waiter> {
    let mut waiters: BTreeMap<ThreadId, Waiter> = BTreeMap::new();
    let mut visit = |turn: Turn<'_>| {
        let (start, end) = turn.part(2);
        if turn.code.is_none() {
            return;
        }
        let waiter = waiters.entry(turn.thread()).or_default();
        waiter.woken += 1;
        let again = turn.code.and_then(|code| code.wait_reason());
        if again == Some(WaitReason::Stm) && end - start < SHORT_NS {
            waiter.in_vain += 1;
            waiter.in_vain_ns += end - start;
            let run = Interval::new(Nanos(start), Nanos(end));
            waiter.range = Some(waiter.range.map_or(run, |range| range.hull(run)));
        }
    };
    context.each_wait(WaitReason::Stm, 0, &mut visit).await;
    waiters
}

/// Threads that commits wake.
#[derive(Default)]
struct Crowds {
    /// Wakeups, and the sum of the squared sizes of all crowds.
    all: f64,
    squares: f64,
    /// Time from the first to the last wakeup of each large crowd, in nanoseconds.
    waking_ns: u64,
}

impl Crowds {
    fn add(&mut self, size: u64, waking_ns: u64) {
        self.all += size as f64;
        self.squares += (size as f64).powi(2);
        if size as f64 >= MIN_CROWD {
            self.waking_ns += waking_ns;
        }
    }

    /// Returns the number of threads that one commit wakes, averaged over woken threads.
    fn mean(&self) -> f64 {
        if self.all > 0.0 {
            self.squares / self.all
        } else {
            0.0
        }
    }
}

/// Returns the threads that commits wake. A commit wakes each thread only once; a second wakeup of the same thread
/// belongs to a later commit.
async fn crowds(context: &RuleContext<'_>, waiters: &BTreeMap<ThreadId, Waiter>) -> Crowds {
    let mut steps = context.steps();
    let store = &context.log.store;
    let mut crowds = Crowds::default();
    for cap in context.cap_ids() {
        let (mut size, mut first, mut last, mut index) = (0, Nanos(0), (Nanos(0), None), 0);
        let mut crowd: BTreeSet<ThreadId> = BTreeSet::new();
        let wakeups = store.wakeups_on(cap, context.range);
        for (at, woken) in wakeups.filter(|(_, thread)| waiters.contains_key(thread)) {
            steps.step().await;
            let waker = store.running(cap, at, &mut index);
            if waker != last.1 || at.since(last.0).0 >= APART_NS || !crowd.insert(woken) {
                crowds.add(size, last.0.since(first).0);
                (size, first) = (0, at);
                crowd.clear();
                crowd.insert(woken);
            }
            size += 1;
            last = (at, waker);
        }
        crowds.add(size, last.0.since(first).0);
    }
    crowds
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let any_ns = context.threads().await.times.blocked_ns[WaitReason::Stm as usize];
    let waiters = if any_ns > 0 {
        waiters(context).await
    } else {
        BTreeMap::new()
    };
    let woken: u64 = waiters.values().map(|waiter| waiter.woken).sum();
    let in_vain: u64 = waiters.values().map(|waiter| waiter.in_vain).sum();
    let share = in_vain as f64 / woken.max(1) as f64;
    if woken < MIN_COUNT || share < IN_VAIN {
        return Outcome::Clear(format!(
            "{} from a wait in STM, {} of them in vain; the limits are 1,000 and 60 %",
            format::pluralize(woken, "wakeup"),
            format::fraction(share)
        ));
    }
    let crowds = crowds(context, &waiters).await;
    let crowd = crowds.mean();
    if crowd < MIN_CROWD {
        return Outcome::Clear(format!(
            "a commit in STM wakes {crowd:.1} threads; the limit is 4"
        ));
    }
    let in_vain_ns: u64 = waiters.values().map(|waiter| waiter.in_vain_ns).sum();
    let cap_ns = in_vain_ns.saturating_add(crowds.waking_ns);
    let title = format!(
        "Each commit wakes {crowd:.0} threads, and {} of those woken find nothing",
        format::fraction(share)
    );
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::Running, cap_ns));
    finding.confidence = Confidence::Probable;
    finding.meaning = "A change of a variable wakes all threads that wait for it; they find their condition false, and wait again. The commit takes as long as waking them all.".into();
    finding.tries = Advice::code_changes([
        "Give each waiting thread its own TVar, which changes only with its condition.",
        "Use a primitive that wakes one thread at a time: an MVar, or a queue of TMVars.",
        "Read fewer variables in transactions that retry.",
    ]);
    finding.distrust = "Only the wakeups and the runs before a thread waits again are counted, not thread switches: the true cost is higher. Conflicting transactions leave no event.".into();
    finding.set_numbers([
        ("woken", Value::Count(woken)),
        ("woken too early", Value::Count(in_vain)),
        ("ran without result", Value::Ns(in_vain_ns)),
        ("waking them", Value::Ns(crowds.waking_ns)),
    ]);
    let evidence = waiters.iter().filter_map(|(thread, waiter)| {
        Some(Evidence::for_thread(
            *thread,
            waiter.range?,
            Value::Count(waiter.in_vain),
        ))
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
