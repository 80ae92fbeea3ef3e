//! A thread that asks several others at once, and waits for the slowest of them before it asks again. Helper of the
//! rule `one-at-a-time`.

use std::collections::{BTreeMap, BTreeSet};

use super::one_at_a_time::{Gap, IdleWaits, gaps_finding};
use super::prelude::*;
use crate::lost_time::GapEnd;
use crate::threads::ThreadTurn;

/// Minimum share of the time that can be saved if the next question did not wait for the slowest answer.
const MIN_GAIN: f64 = 0.10;

/// Wait of a thread for several others, which slept meanwhile.
struct GroupWait {
    /// Start of the run in which it asked: the others may sleep before it waits.
    asked: Nanos,
    range: Interval,
    /// Sum of the sleeps of the others.
    asleep_ns: u64,
    sleepers: BTreeSet<ThreadId>,
}

impl GroupWait {
    /// Returns the length that it would have if always the same number of threads slept: as if the next one began
    /// when any ended.
    fn evened_out_ns(&self) -> u64 {
        self.asleep_ns / (self.sleepers.len() as u64).max(1)
    }
}

/// Returns whether a thread wakes or creates another one in the run of a turn.
fn wakes_or_creates(context: &RuleContext<'_>, turn: ThreadTurn<'_>) -> bool {
    let (from, to) = turn.run_span();
    let run = Interval::new(Nanos(from), Nanos(to));
    let store = &context.log.store;
    turn.cap().is_some_and(|cap| {
        store.wakeups_on(cap, run).next().is_some() || store.creations_on(cap, run).next().is_some()
    })
}

/// Returns the waits of a thread for several threads of which at least two slept until a timer, I/O or the end of a
/// foreign call meanwhile.
async fn group_waits(context: &RuleContext<'_>, asker: ThreadId) -> Vec<GroupWait> {
    let mut waits: Vec<GroupWait> = Vec::new();
    let mut asked = Some(context.range.start());
    let mut visit = |turn: ThreadTurn<'_>| {
        let waits_for_thread = turn.wait_reason().is_some_and(WaitReason::is_for_thread);
        let wait = context.wait(turn, 0).filter(|_| waits_for_thread);
        // Each answer may wake it for a moment: the wait goes on until it asks again.
        match (wait, waits.last_mut(), asked) {
            (Some(wait), Some(last), None) => last.range = last.range.hull(wait.range),
            (Some(wait), _, _) => waits.push(GroupWait {
                asked: asked.unwrap_or(wait.range.start()),
                range: wait.range,
                asleep_ns: 0,
                sleepers: BTreeSet::new(),
            }),
            (None, ..) => {}
        }
        if wait.is_some() {
            asked = None;
        }
        if wakes_or_creates(context, turn) {
            asked = asked.or(Some(Nanos(turn.run_span().0)));
        }
    };
    context.each_turn_of(&[asker], &mut visit).await;
    let mut visit = |turn: ThreadTurn<'_>| {
        let Some(sleep) = context.wait(turn, 0) else {
            return;
        };
        let index = waits.partition_point(|wait| wait.range.end() < sleep.range.end());
        let around = waits.get_mut(index);
        if let Some(wait) = around.filter(|wait| wait.asked <= sleep.range.start()) {
            wait.asleep_ns += sleep.ns;
            wait.sleepers.insert(turn.thread());
        }
    };
    context.each_sleep(&mut visit).await;
    waits.retain(|wait| wait.sleepers.len() >= 2);
    waits
}

/// Creates the finding on a thread that waits for the slowest of several others again and again; `None` if it would
/// gain little by asking the next one sooner.
pub(super) async fn group_finding(
    context: &RuleContext<'_>,
    loss_budget: &mut LossBudget,
    (asker, all): (ThreadId, &BTreeMap<ThreadId, IdleWaits>),
) -> Option<Finding> {
    let waits = group_waits(context, asker).await;
    let waited_ns: u64 = waits.iter().map(|wait| wait.range.duration().0).sum();
    let even_ns: u64 = waits.iter().map(GroupWait::evened_out_ns).sum();
    let gain = context.share(waited_ns.saturating_sub(even_ns));
    if gain < MIN_GAIN {
        return None;
    }
    let during = |gap: &&Gap| {
        let index = waits.partition_point(|wait| wait.range.end().0 <= gap.from);
        let wait = waits.get(index);
        gap.end != GapEnd::Threads && wait.is_some_and(|wait| wait.range.start().0 < gap.to)
    };
    let gaps = all.values().flat_map(|waits| &waits.gaps).filter(during);
    let name = context.thread_name(asker);
    let sleepers: usize = waits.iter().map(|wait| wait.sleepers.len()).sum();
    let at_once = sleepers as f64 / waits.len().max(1) as f64;
    let title = format!(
        "{name} waited {} for the slowest of several threads: taking the next when any is done saves an estimated {} of the time",
        format::pluralize(waits.len() as u64, "time"),
        format::fraction(gain)
    );
    let (mut finding, cap_ns) = gaps_finding(context, loss_budget, (title, gaps)).await;
    finding.subject = Some(name);
    finding.severity = Severity::of_share(gain);
    finding.confidence = Confidence::Probable;
    finding.meaning = format!("On average, {at_once:.1} threads waited for a timer, I/O or a foreign call at once, and {} went on when all of them were done. Until then, those that were done sooner had nothing to do.", context.thread_name(asker)).into();
    finding.tries = Advice::code_changes([
        "Do not wait for all of a group: start the next request as soon as any ends (a pool of workers, or a semaphore).",
        "Take answers in the order in which they come, not in that of the requests (waitAny, or one channel for all).",
    ]);
    finding.distrust = "If the questions of a group depend on all answers before, they have to wait. The estimate assumes that as many as before are asked at once.".into();
    finding.set_numbers([
        ("lost capability time", Value::Ns(cap_ns)),
        ("waits", Value::Count(waits.len() as u64)),
        ("waited", Value::Ns(waited_ns)),
        ("the same sleeps, evened out", Value::Ns(even_ns)),
    ]);
    let evidence = waits
        .iter()
        .map(|wait| Evidence::for_thread(asker, wait.range, Value::Ns(wait.range.duration().0)));
    Some(finding.with_evidence(evidence))
}
