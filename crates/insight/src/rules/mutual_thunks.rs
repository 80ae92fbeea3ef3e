//! Do threads wait for each other's thunks?
//!
//! `atomicModifyIORef` writes a thunk that needs the value before it, which may be a thunk of another
//! thread, too. Who forces its own waits until that one is evaluated. The same happens where threads go
//! through one lazy list. On several capabilities they then work in turns, and each turn wakes an OS
//! thread.

use super::hand_overs::{IN_TURNS, one_capability};
use super::shared_thunk::{OF_EDEN, waits_for_thunks};
use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Confidence, Finding, Outcome, Try, Value};
use crate::loss_budget::LossBudget;
use crate::threads::{Wait, of_pairs};
use analysis::yielder::Yield;
use eventlog::hash::SeededSet;
use eventlog::ids::{Duration, ThreadId};
use model::class::{ManagerThread, WaitReason};
use model::format;

/// Fewer waits are no habit.
const LEAST: usize = 200;
/// Less of the capabilities' time is not worth a change.
const LEAST_SHARE: f64 = 0.05;
/// For so much of the time of all waits, both threads wait for thunks and are waited for.
const MUTUAL: f64 = 0.50;

pub(super) const NAME: &str = "mutual-thunks";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do threads wait for each other's thunks?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// Waits for thunks, each with the thread that evaluates it.
struct Waits(Vec<(ThreadId, Wait)>);

impl Waits {
    fn ns<'a>(waits: impl Iterator<Item = &'a (ThreadId, Wait)>) -> u64 {
        waits.map(|(_, wait)| wait.ns).sum()
    }

    /// The share in which both threads wait for thunks, and are waited for.
    fn mutual(&self) -> f64 {
        let owners: SeededSet<ThreadId> = self.0.iter().map(|(owner, _)| *owner).collect();
        let waiters: SeededSet<ThreadId> = self.0.iter().map(|(_, wait)| wait.thread).collect();
        let is_mutual = |(owner, wait): &&(ThreadId, Wait)| {
            *owner != wait.thread && waiters.contains(owner) && owners.contains(&wait.thread)
        };
        let mutual_ns = Self::ns(self.0.iter().filter(is_mutual));
        mutual_ns as f64 / Self::ns(self.0.iter()).max(1) as f64
    }
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    if context.is_of_eden() {
        return Outcome::CannotTell(OF_EDEN.into());
    }
    let any_ns = context.threads(yielder).await.times.blocked_ns[WaitReason::BlackHole as usize];
    let clear = |cap_ns| {
        Outcome::Clear(format!(
            "capabilities were idle while threads waited for thunks of each other for {} of their time; the limit is 5 %",
            format::fraction(context.share_of_caps(cap_ns))
        ))
    };
    if context.caps < 2 || context.share_of_caps(any_ns) < LEAST_SHARE {
        return clear(any_ns);
    }
    let waits = Waits(waits_for_thunks(context, yielder).await);
    if waits.0.len() < LEAST || waits.mutual() < MUTUAL {
        return Outcome::Clear(format!(
            "of {} for a thunk of another thread, {} of the time was between threads that wait for each other; the limits are 200 and 50 %",
            format::many(waits.0.len() as u64, "wait"),
            format::fraction(waits.mutual())
        ));
    }
    let spans: Vec<(u64, u64)> = waits.0.iter().map(|(_, wait)| wait.span()).collect();
    let cap_ns = context.beside_idle_ns(spans.iter().copied(), yielder).await;
    if context.share_of_caps(cap_ns) < LEAST_SHARE {
        return clear(cap_ns);
    }
    let title = title(&waits);
    let mut finding = context
        .of_blocked((NAME, title), loss_budget, (spans, cap_ns), yielder)
        .await;
    explain(context, &mut finding, &waits);
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("waits".into(), Value::Count(waits.0.len() as u64)),
    ];
    let pairs = waits.0.iter().map(|(owner, wait)| (*owner, wait));
    Outcome::Found(vec![finding.seen_in(of_pairs(pairs))])
}

fn title(waits: &Waits) -> String {
    let waiters: SeededSet<ThreadId> = waits.0.iter().map(|(_, wait)| wait.thread).collect();
    format!(
        "{} wait for each other's thunks: {}, {} summed over threads",
        format::many(waiters.len() as u64, "thread"),
        format::many(waits.0.len() as u64, "wait"),
        format::duration(Duration(Waits::ns(waits.0.iter())))
    )
}

fn explain(context: &RuleContext<'_>, finding: &mut Finding, waits: &Waits) {
    let is_timer = |(owner, _): &(ThreadId, Wait)| {
        let label = context.log.store.label_of(*owner).unwrap_or_default();
        ManagerThread::from_label(label) == Some(ManagerThread::Timer)
    };
    let has_timer = waits.0.iter().any(is_timer);
    finding.confidence = Confidence::Probable;
    finding.meaning = if has_timer {
        "The timer manager is one of them. Each timeout, threadDelay or registered timer changes its table lazily: each new table is a thunk that first needs another thread's. The first thread of each row waits for the second one.".into()
    } else {
        "Probably all update one value with atomicModifyIORef or atomicModifyIORef': each new value is a thunk that first needs another thread's. Or they evaluate one lazy list or map together. So they work in turns. The first thread of each row waits for the second one.".into()
    };
    let parallelism = context.times.mean_parallelism().unwrap_or(0.0);
    finding.tries = vec![if has_timer {
        Try::code("Use fewer timers: one timeout around a batch of the work.")
    } else {
        Try::code(
            "Give each thread a value of its own, and combine them in the end, or update once for a batch of the work.",
        )
    }];
    if !has_timer {
        finding.tries.push(Try::code(
            "If it is one lazy list or map: let each thread go through a part of it.",
        ));
    }
    if parallelism <= IN_TURNS {
        finding.tries.push(one_capability(parallelism));
    }
    finding.distrust =
        "Thunks have no names in the log: several values may be updated in this way.".into();
}
