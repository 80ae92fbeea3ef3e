//! Do threads wait for each other's thunks?
//!
//! `atomicModifyIORef` writes a thunk that needs the previous value, which may be another thread's thunk. A thread
//! that forces its own thunk waits until that one is evaluated. The same happens when threads traverse one lazy
//! list. With several capabilities they then work in turns, and each turn wakes an OS thread.

use super::finalizers::LABEL as FINALIZER;
use super::hand_overs::one_capability_advice;
use super::prelude::*;
use super::shared_thunk::{EDEN_MESSAGE, waits_for_thunks};
use crate::threads::{ClippedWait, evidence_by_threads};
use eventlog::hash::SeededSet;
use model::class::ManagerThread;

/// Minimum number of waits; fewer are no pattern, unless they take most of the time.
const MIN_COUNT: usize = 200;
const MIN_COUNT_OF_LONG: usize = 10;
/// Minimum share of capability time of a few long waits.
const MIN_LONG_SHARE: f64 = 0.20;
/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.05;
/// Minimum share of the waiting time in which both threads wait for thunks and are waited for.
const MUTUAL: f64 = 0.50;
/// Waits per second from which stopping and waking threads takes a large part of the running time: at 817,000, a
/// program took 2.7 times as long as without.
const MANY_PER_SECOND: f64 = 200_000.0;

pub(super) const RULE: Rule = Rule {
    name: "mutual-thunks",
    question: "Do threads wait for each other's thunks?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Waits for thunks, each with the thread that evaluates the thunk.
struct ThunkWaits(Vec<(ThreadId, ClippedWait)>);

impl ThunkWaits {
    fn total_ns<'a>(waits: impl Iterator<Item = &'a (ThreadId, ClippedWait)>) -> u64 {
        waits.map(|(_, wait)| wait.ns).sum()
    }

    /// Returns the share of the waiting time in which both threads wait for thunks and are waited for.
    fn mutual_share(&self) -> f64 {
        let owners: SeededSet<ThreadId> = self.0.iter().map(|(owner, _)| *owner).collect();
        let waiters: SeededSet<ThreadId> = self.0.iter().map(|(_, wait)| wait.thread).collect();
        let is_mutual = |(owner, wait): &&(ThreadId, ClippedWait)| {
            *owner != wait.thread && waiters.contains(owner) && owners.contains(&wait.thread)
        };
        let mutual_ns = Self::total_ns(self.0.iter().filter(is_mutual));
        mutual_ns as f64 / Self::total_ns(self.0.iter()).max(1) as f64
    }
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    if context.is_eden_machine() {
        return Outcome::CannotTell(EDEN_MESSAGE.into());
    }
    let any_ns = context.threads().await.times.blocked_ns[WaitReason::BlackHole as usize];
    let clear = |cap_ns| {
        Outcome::Clear(format!(
            "capabilities were idle for {} of their time while threads waited for thunks of each other; the limit is 5 %",
            format::fraction(context.share_of_caps(cap_ns))
        ))
    };
    if context.caps < 2 || context.share_of_caps(any_ns) < MIN_SHARE {
        return clear(any_ns);
    }
    let waits = ThunkWaits(waits_for_thunks(context).await);
    let least = match context.share_of_caps(any_ns) >= MIN_LONG_SHARE {
        true => MIN_COUNT_OF_LONG,
        false => MIN_COUNT,
    };
    if waits.0.len() < least || waits.mutual_share() < MUTUAL {
        return Outcome::Clear(format!(
            "there were {} for a thunk of another thread, {} of their time between threads that wait for each other; the limits are {least} and 50 %",
            format::pluralize(waits.0.len() as u64, "wait"),
            format::fraction(waits.mutual_share())
        ));
    }
    let spans: Vec<(u64, u64)> = waits.0.iter().map(|(_, wait)| wait.span()).collect();
    let cap_ns = context.overlapping_idle_ns(&spans).await;
    if context.share_of_caps(cap_ns) < MIN_SHARE {
        return clear(cap_ns);
    }
    let kind = Kind::of(context, &waits);
    let title = title(&waits, kind);
    let mut finding = context
        .blocked_finding((RULE.name, title), loss_budget, (spans, cap_ns))
        .await;
    explain(context, &mut finding, kind);
    let rate = context.per_second(waits.0.len() as u64);
    if rate >= MANY_PER_SECOND {
        finding.severity = Severity::High;
    }
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("waits", Value::Count(waits.0.len() as u64)),
    ]);
    let pairs = waits
        .0
        .iter()
        .map(|(owner, wait)| ([wait.thread, *owner], wait));
    Outcome::Found(vec![finding.with_evidence(evidence_by_threads(pairs))])
}

/// Kind of threads that wait for each other.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Any,
    /// The timer manager is one of them.
    Timers,
    /// Finalizers are in most waits.
    Finalizers,
}

impl Kind {
    fn of(context: &RuleContext<'_>, waits: &ThunkWaits) -> Self {
        let store = &context.log.store;
        let label = |thread| store.label_of(thread).unwrap_or_default();
        let is_timer =
            |thread| ManagerThread::from_label(label(thread)) == Some(ManagerThread::Timer);
        let is_between = |(owner, wait): &&(ThreadId, ClippedWait),
                          is_one: &dyn Fn(ThreadId) -> bool| {
            is_one(*owner) || is_one(wait.thread)
        };
        if waits.0.iter().any(|pair| is_between(&pair, &is_timer)) {
            return Self::Timers;
        }
        let finalizers = store.threads_labeled(|label| label == FINALIZER);
        let finalizers: SeededSet<ThreadId> = finalizers.collect();
        let is_finalizer = |thread| finalizers.contains(&thread);
        let of_finalizers = waits
            .0
            .iter()
            .filter(|pair| is_between(pair, &is_finalizer));
        match of_finalizers.count() * 2 >= waits.0.len() {
            true => Self::Finalizers,
            false => Self::Any,
        }
    }
}

fn title(waits: &ThunkWaits, kind: Kind) -> String {
    let waiters: SeededSet<ThreadId> = waits.0.iter().map(|(_, wait)| wait.thread).collect();
    let who = match kind {
        Kind::Finalizers => "Finalizers of weak pointers and other threads".to_owned(),
        _ => format::pluralize(waiters.len() as u64, "thread"),
    };
    format!(
        "{who} wait for thunks that other threads evaluate: {}, {} summed over threads",
        format::pluralize(waits.0.len() as u64, "wait"),
        format::duration_ns(ThunkWaits::total_ns(waits.0.iter()))
    )
}

fn explain(context: &RuleContext<'_>, finding: &mut Finding, kind: Kind) {
    const ONCE: &str = "Give each thread its own value, and combine them at the end, or update once per batch of work.";
    const OF_FINALIZERS: &str = "A new thread runs the finalizers after each collection, and each finalizer updates a value that other threads update, too (atomicModifyIORef), so that each new value is a thunk that depends on another thread's.";
    const OF_TIMERS: &str = "The timer manager is one of them. Each timeout, threadDelay or registered timer updates its table lazily: each new table is a thunk that depends on another thread's.";
    const OF_ANY: &str = "All update one value with atomicModifyIORef or atomicModifyIORef', so that each new value is a thunk that depends on another thread's; or they evaluate one lazy list or map together, as sparks do that share their input. Either way they work in turns.";
    let (meaning, tries): (&str, &[&'static str]) = match kind {
        Kind::Timers => (
            OF_TIMERS,
            &["Use fewer timers: one timeout around a batch of the work."],
        ),
        Kind::Finalizers => (
            OF_FINALIZERS,
            &[
                "Let finalizers not touch what the program works with: release resources explicitly (bracket), one by one or in batches.",
                ONCE,
            ],
        ),
        Kind::Any => (
            OF_ANY,
            &[
                ONCE,
                "For a lazy list or map: let each thread traverse its own part.",
            ],
        ),
    };
    finding.confidence = Confidence::Probable;
    finding.meaning =
        format!("{meaning} The first thread of each row waits for the second one.").into();
    finding.tries = tries.iter().map(|text| Advice::code(*text)).collect();
    finding.tries.extend(one_capability_advice(context));
    finding.distrust =
        "Thunks have no names in the log: more than one value may be updated this way.".into();
}
