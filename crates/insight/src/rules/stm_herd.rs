//! Do commits wake threads in vain?
//!
//! A transaction that retries waits until any variable that it has read changes. A commit that changes one wakes
//! all threads waiting for it. If the condition of most does not hold yet, they run for a moment and wait again. It
//! wakes also those that earlier commits have woken and that have not run since, and sends a message for each of another
//! capability (`unpark_tso` in `rts/STM.c`).

use std::collections::{BTreeMap, BTreeSet};

use super::prelude::*;
use crate::threads::ThreadTurn;

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
/// Minimum number of wakeups for each wait of a thread, if most wake threads that are woken already.
const MIN_REPEATED: f64 = 10.0;

pub(super) const RULE: Rule = Rule {
    name: "stm-herd",
    question: "Do commits wake threads in vain?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Thread that waited in STM.
#[derive(Clone, Copy, Default)]
struct Waiter {
    /// Waits that ended.
    waits: u64,
    /// Waits after which it waited again immediately, and the time that it ran in between.
    in_vain: u64,
    in_vain_ns: u64,
    /// Wakeups by threads, including those of a thread that is woken already.
    wakeups: u64,
    /// From its first wakeup to its last.
    range: Option<Interval>,
}

impl Waiter {
    fn add_wakeup(&mut self, at: Nanos) {
        self.wakeups += 1;
        let at = Interval::new(at, at);
        self.range = Some(self.range.map_or(at, |range| range.hull(at)));
    }
}

async fn waiters(context: &RuleContext<'_>) -> BTreeMap<ThreadId, Waiter> {
    let mut waiters: BTreeMap<ThreadId, Waiter> = BTreeMap::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        let (start, end) = turn.run_span();
        if turn.code.is_none() {
            return;
        }
        let waiter = waiters.entry(turn.thread()).or_default();
        waiter.waits += 1;
        let again = turn.code.and_then(|code| code.wait_reason());
        if again == Some(WaitReason::Stm) && end - start < SHORT_NS {
            waiter.in_vain += 1;
            waiter.in_vain_ns += end - start;
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

/// Returns the threads that commits wake, and adds the wakeups to `waiters`. A commit wakes each thread only once; a
/// second wakeup of the same thread belongs to a later commit.
async fn crowds(context: &RuleContext<'_>, waiters: &mut BTreeMap<ThreadId, Waiter>) -> Crowds {
    let mut steps = context.steps();
    let store = &context.log.store;
    let mut crowds = Crowds::default();
    for cap in context.cap_ids() {
        let (mut size, mut first, mut last, mut index) = (0, Nanos(0), (Nanos(0), None), 0);
        let mut crowd: BTreeSet<ThreadId> = BTreeSet::new();
        let wakeups = store.wakeups_on(cap, context.range);
        for (at, woken) in wakeups {
            steps.step().await;
            let Some(waiter) = waiters.get_mut(&woken) else {
                continue;
            };
            let waker = store.running(cap, at, &mut index);
            // The capability of the woken thread logs it a second time, while it runs no thread.
            if waker.is_some() {
                waiter.add_wakeup(at);
            }
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

/// All wakeups from waits in STM.
#[derive(Default)]
struct Herd {
    /// Sums over all [`Waiter`]s.
    waits: u64,
    wakeups: u64,
    in_vain: u64,
    in_vain_ns: u64,
    crowds: Crowds,
}

impl Herd {
    /// Returns the share of the waits that ended in vain.
    fn in_vain_share(&self) -> f64 {
        self.in_vain as f64 / self.waits.max(1) as f64
    }

    /// Returns the number of wakeups for each wait.
    fn wakeups_per_wait(&self) -> f64 {
        self.wakeups as f64 / self.waits.max(1) as f64
    }

    fn is_mostly_in_vain(&self) -> bool {
        self.waits >= MIN_COUNT && self.in_vain_share() >= IN_VAIN
    }

    fn is_repeated(&self) -> bool {
        self.wakeups >= MIN_COUNT && self.wakeups_per_wait() >= MIN_REPEATED
    }

    /// Returns title and explanation of the finding.
    fn sentences(&self) -> (String, &'static str) {
        let crowd = self.crowds.mean();
        if self.is_mostly_in_vain() {
            let share = format::fraction(self.in_vain_share());
            return (
                format!(
                    "Each commit wakes {crowd:.0} threads, and {share} of those woken find nothing"
                ),
                "A change of a variable wakes all threads that wait for it; they find their condition false, and wait again. The commit takes as long as waking them all.",
            );
        }
        let repeated = self.wakeups_per_wait();
        (
            format!("Each commit wakes {crowd:.0} threads, {repeated:.0} times before they run"),
            "A change of a variable wakes all threads that wait for it, even those that are woken already but have not run yet. Each wakeup of a thread of another capability is a message, so every commit takes as long as waking them all.",
        )
    }
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let any_ns = context.threads().await.times.blocked_ns[WaitReason::Stm as usize];
    let mut waiters = if any_ns > 0 {
        waiters(context).await
    } else {
        BTreeMap::new()
    };
    let crowds = match waiters.is_empty() {
        true => Crowds::default(),
        false => crowds(context, &mut waiters).await,
    };
    let herd = Herd {
        waits: waiters.values().map(|waiter| waiter.waits).sum(),
        wakeups: waiters.values().map(|waiter| waiter.wakeups).sum(),
        in_vain: waiters.values().map(|waiter| waiter.in_vain).sum(),
        in_vain_ns: waiters.values().map(|waiter| waiter.in_vain_ns).sum(),
        crowds,
    };
    if !herd.is_mostly_in_vain() && !herd.is_repeated() {
        return Outcome::Clear(format!(
            "{} from a wait in STM, {} of them in vain; the limits are 1,000 and 60 %",
            format::pluralize(herd.waits, "wakeup"),
            format::fraction(herd.in_vain_share())
        ));
    }
    let crowd = herd.crowds.mean();
    if crowd < MIN_CROWD {
        return Outcome::Clear(format!(
            "a commit in STM wakes {crowd:.1} threads; the limit is 4"
        ));
    }
    let (title, meaning) = herd.sentences();
    let cap_ns = herd.in_vain_ns.saturating_add(herd.crowds.waking_ns);
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::Running, cap_ns));
    finding.confidence = Confidence::Probable;
    finding.meaning = meaning.into();
    finding.tries = Advice::code_changes([
        "Give each waiting thread its own TVar, which changes only with its condition.",
        "Use a primitive that wakes one thread at a time: an MVar, or a queue of TMVars.",
        "Read fewer variables in transactions that retry.",
    ]);
    finding.distrust = "Only the wakeups and the runs before a thread waits again are counted, not thread switches: the true cost is higher. Conflicting transactions leave no event.".into();
    finding.set_numbers([
        ("waits", Value::Count(herd.waits)),
        ("woken too early", Value::Count(herd.in_vain)),
        ("wakeups", Value::Count(herd.wakeups)),
        ("ran without result", Value::Ns(herd.in_vain_ns)),
        ("waking them", Value::Ns(herd.crowds.waking_ns)),
    ]);
    finding.counted = "wakeup".into();
    let evidence = waiters.iter().filter_map(|(thread, waiter)| {
        Some(Evidence::for_thread(
            *thread,
            waiter.range?,
            Value::Count(waiter.wakeups),
        ))
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
