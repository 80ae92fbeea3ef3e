//! Do threads wait for one evaluation?
//!
//! Who needs a value that another thread is evaluating waits until that is done: the
//! value is a black hole, and the log says whose. Where several wait, and capabilities
//! stand by meanwhile, the evaluation is a bottleneck.

use std::collections::BTreeMap;

use super::{Look, Rule};
use crate::context::{Input, RuleContext};
use crate::finding::{Evidence, Outcome, Subject, Try, Value};
use crate::loss_budget::LossBudget;
use crate::threads::Wait;
use analysis::timeline::thread_lane::ThreadLane;
use analysis::timeline::turns::{PARTS, WaitRunCycle};
use analysis::yielder::Yield;
use eventlog::ids::{Duration, Nanos, ThreadId};
use model::class::WaitReason;
use model::format;
use model::sorting::CompactSort;
use model::time::Interval;

/// One that waits is what sparks do; only from two on it is shared.
const LEAST_WAITERS: usize = 2;
/// Less of the capabilities' time is not worth a change.
const LEAST_SHARE: f64 = 0.05;

/// Why waits for thunks tell nothing there.
pub(super) const OF_EDEN: &str =
    "in programs of Eden, threads also wait in this way for messages of other machines";

const NAME: &str = "shared-thunk";

pub(super) const RULE: Rule = Rule {
    name: NAME,
    question: "Do threads wait for one evaluation?",
    inputs: &[Input::EachRun],
    look: Look::InSteps(|context, loss_budget, yielder| {
        Box::pin(look(context, loss_budget, yielder))
    }),
};

/// Threads that wait for another one at the same time.
struct Crowd {
    owner: ThreadId,
    waits: Vec<Wait>,
}

impl Crowd {
    fn range(&self) -> Interval {
        let spans = self.waits.iter().map(|wait| wait.range);
        spans.reduce(Interval::hull).unwrap_or_default()
    }

    fn is_shared(&self) -> bool {
        let mut threads: Vec<ThreadId> = self.waits.iter().map(|wait| wait.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        threads.len() >= LEAST_WAITERS
    }
}

/// Waits for thunks, each with the thread that evaluates it.
pub(super) async fn waits_for_thunks(
    context: &RuleContext<'_>,
    yielder: &dyn Yield,
) -> Vec<(ThreadId, Wait)> {
    let mut waits = Vec::new();
    let look = |life: &ThreadLane<'_>, turn: (usize, &WaitRunCycle)| {
        if turn.1.wait_reason() == Some(WaitReason::BlackHole) {
            let owner = life.owner(PARTS * turn.0);
            waits.extend(owner.zip(context.wait(life, turn, 0)));
        }
    };
    let is_wanted = |reason| reason == WaitReason::BlackHole;
    context
        .each_turn_blocked((is_wanted, 0), yielder, look)
        .await;
    waits
}

/// Waits for the same thread that overlap each other belong together.
async fn crowds(context: &RuleContext<'_>, yielder: &dyn Yield) -> Vec<Crowd> {
    let mut by_owner: BTreeMap<ThreadId, Vec<Wait>> = BTreeMap::new();
    for (owner, wait) in waits_for_thunks(context, yielder).await {
        by_owner.entry(owner).or_default().push(wait);
    }
    let mut crowds: Vec<Crowd> = Vec::new();
    for (owner, mut waits) in by_owner {
        waits.sort_small_by_key(Wait::span);
        let mut until = Nanos(0);
        for wait in waits {
            let last = crowds
                .last_mut()
                .filter(|last| last.owner == owner && wait.range.start() < until);
            match last {
                Some(last) => last.waits.push(wait),
                None => {
                    until = Nanos(0);
                    crowds.push(Crowd {
                        owner,
                        waits: vec![wait],
                    });
                }
            }
            until = until.max(wait.range.end());
        }
    }
    crowds.retain(Crowd::is_shared);
    crowds
}

async fn look(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    yielder: &dyn Yield,
) -> Outcome {
    if context.is_of_eden() {
        return Outcome::CannotTell(OF_EDEN.into());
    }
    let clear = |cap_ns| {
        Outcome::Clear(format!(
            "capabilities were idle while threads waited for what another one evaluated for {} of their time; the limit is 5 %",
            format::fraction(context.share_of_caps(cap_ns))
        ))
    };
    let any_ns = context.threads(yielder).await.times.blocked_ns[WaitReason::BlackHole as usize];
    if context.share_of_caps(any_ns) < LEAST_SHARE {
        return clear(any_ns);
    }
    let crowds = crowds(context, yielder).await;
    let waits = || crowds.iter().flat_map(|crowd| &crowd.waits);
    let cap_ns = context
        .beside_idle_ns(waits().map(Wait::span), yielder)
        .await;
    if context.share_of_caps(cap_ns) < LEAST_SHARE {
        return clear(cap_ns);
    }
    let mut by_owner: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for crowd in &crowds {
        let ns: u64 = crowd.waits.iter().map(|wait| wait.ns).sum();
        *by_owner.entry(crowd.owner).or_default() += ns;
    }
    let all_ns: u64 = by_owner.values().sum();
    let most = crowds
        .iter()
        .map(|crowd| crowd.waits.len())
        .max()
        .unwrap_or(0) as u64;
    let worst = by_owner.into_iter().max_by_key(|(_, ns)| *ns);
    let whom = match worst {
        Some((owner, ns)) if ns * 2 > all_ns => context.thread_name(owner),
        _ => "one of them".to_owned(),
    };
    let title = format!(
        "Up to {} at a time waited for a thunk that {whom} evaluated, {} summed over threads",
        format::many(most, "thread"),
        format::duration(Duration(all_ns))
    );
    let spans: Vec<(u64, u64)> = waits().map(Wait::span).collect();
    let mut finding = context
        .of_blocked((NAME, title), loss_budget, (spans, cap_ns), yielder)
        .await;
    finding.subject = worst.map(|(owner, _)| context.thread_name(owner));
    finding.meaning = "They need a value that is not evaluated yet: whoever came first, which is the first thread of each row, evaluates it alone, and the others wait.".into();
    finding.tries = vec![
        Try::code(
            "Evaluate the value before it is shared: evaluate, or force for all of it. That helps as far as other work goes on meanwhile.",
        ),
        Try::code("Split the value, so that each thread needs its own part."),
        Try::flag(
            "-feager-blackholing",
            "Compile with this if threads evaluate the same value twice: the log does not tell. It does not shorten these waits.",
            "a little slower everywhere",
        ),
    ];
    finding.distrust =
        "If all need the value and have nothing else to do, somebody has to evaluate it first."
            .into();
    finding.numbers = vec![
        ("lost capability time".into(), Value::Ns(cap_ns)),
        ("waits".into(), Value::Count(waits().count() as u64)),
        ("at a time".into(), Value::Count(most)),
    ];
    let evidence = crowds.iter().map(|crowd| Evidence {
        range: crowd.range(),
        subjects: std::iter::once(crowd.owner)
            .chain(crowd.waits.iter().map(|wait| wait.thread))
            .map(Subject::Thread)
            .collect(),
        amount: Value::Ns(crowd.waits.iter().map(|wait| wait.ns).sum()),
    });
    Outcome::Found(vec![finding.seen_in(evidence)])
}
