//! Do threads wait for one evaluation?
//!
//! A thread that needs a value while another one evaluates it waits for that: the value is a black hole, and the
//! log has its owner. If several threads wait while capabilities are idle, the evaluation is a bottleneck.

use std::collections::BTreeMap;

use super::prelude::*;
use crate::threads::{ClippedWait, ThreadTurn};
use model::sorting::CompactSort;

/// Minimum number of waiting threads: a single one is normal with sparks.
const MIN_WAITERS: usize = 2;
/// Minimum share of capability time; less is not worth a change.
const MIN_SHARE: f64 = 0.05;

/// Reason why waits for thunks are inconclusive in Eden programs.
pub(super) const EDEN_MESSAGE: &str =
    "in Eden programs, threads also block on messages of other machines in this way";

pub(super) const RULE: Rule = Rule {
    name: "shared-thunk",
    question: "Do threads wait for one evaluation?",
    inputs: &[Input::EachRun],
    evaluate: yielding!(evaluate),
};

/// Threads that wait for the same other one at the same time.
struct Crowd {
    owner: ThreadId,
    waits: Vec<ClippedWait>,
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
        threads.len() >= MIN_WAITERS
    }
}

/// Returns the waits for thunks, each with the thread that evaluates the thunk.
pub(super) async fn waits_for_thunks(context: &RuleContext<'_>) -> Vec<(ThreadId, ClippedWait)> {
    let mut waits = Vec::new();
    let mut visit = |turn: ThreadTurn<'_>| waits.extend(turn.owner().zip(context.wait(turn, 0)));
    context
        .each_wait(WaitReason::BlackHole, 0, &mut visit)
        .await;
    waits
}

/// Groups overlapping waits for the same thread.
async fn crowds(context: &RuleContext<'_>) -> Vec<Crowd> {
    let mut by_owner: BTreeMap<ThreadId, Vec<ClippedWait>> = BTreeMap::new();
    for (owner, wait) in waits_for_thunks(context).await {
        by_owner.entry(owner).or_default().push(wait);
    }
    let mut crowds: Vec<Crowd> = Vec::new();
    for (owner, mut waits) in by_owner {
        waits.sort_small_by_key(ClippedWait::span);
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

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    if context.is_eden_machine() {
        return Outcome::CannotTell(EDEN_MESSAGE.into());
    }
    let clear = |cap_ns| {
        Outcome::Clear(format!(
            "capabilities were idle for {} of their time while threads waited for a thunk that another one evaluated; the limit is 5 %",
            format::fraction(context.share_of_caps(cap_ns))
        ))
    };
    let any_ns = context.threads().await.times.blocked_ns[WaitReason::BlackHole as usize];
    if context.share_of_caps(any_ns) < MIN_SHARE {
        return clear(any_ns);
    }
    let crowds = crowds(context).await;
    let waits = || crowds.iter().flat_map(|crowd| &crowd.waits);
    let spans: Vec<(u64, u64)> = waits().map(ClippedWait::span).collect();
    let cap_ns = context.overlapping_idle_ns(&spans).await;
    if context.share_of_caps(cap_ns) < MIN_SHARE {
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
        _ => "another one".to_owned(),
    };
    let title = format!(
        "Up to {} at a time waited for a thunk that {whom} evaluated: {} summed over all waits",
        format::pluralize(most, "thread"),
        format::duration_ns(all_ns)
    );
    let mut finding = context
        .blocked_finding((RULE.name, title), loss_budget, (spans, cap_ns))
        .await;
    finding.subject = worst.map(|(owner, _)| context.thread_name(owner));
    finding.meaning = "All need the same unevaluated value: the first thread of each row evaluates it alone, and the others wait.".into();
    finding.tries = vec![
        Advice::code(
            "Evaluate the value before sharing it: evaluate, or force for all of it. This helps if other work continues meanwhile.",
        ),
        Advice::code("Split the value, so that each thread needs its own part."),
        Advice::flag(
            "-feager-blackholing",
            "Compile with this flag if threads evaluate the same value twice, which the log does not show. It does not shorten these waits.",
            "a little slower everywhere",
        ),
    ];
    finding.distrust =
        "If all threads need the value and have no other work, one must evaluate it first.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("waits", Value::Count(waits().count() as u64)),
        ("at a time", Value::Count(most)),
    ]);
    let evidence = crowds.iter().map(|crowd| Evidence {
        range: crowd.range(),
        subjects: std::iter::once(crowd.owner)
            .chain(crowd.waits.iter().map(|wait| wait.thread))
            .map(Subject::Thread)
            .collect(),
        amount: Value::Ns(crowd.waits.iter().map(|wait| wait.ns).sum()),
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}
