//! The threads that did most of the work, and what they waited for: where to look if no finding says it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::context::RuleContext;
use crate::threads::ThreadTurn;
use eventlog::ids::ThreadId;
use model::class::{WAIT_REASONS, WaitReason};
use model::sorting::CompactSort;

/// Number of threads to name.
const MAX_THREADS: usize = 3;
/// Minimum share of the program's running time of each, and of all that are named.
const MIN_WORK: f64 = 0.10;
const MOST_WORK: f64 = 0.50;

/// Thread with much of the program's running time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyThread {
    /// Number of the thread in the log.
    pub thread: ThreadId,
    /// Time in which it ran, in nanoseconds.
    pub ran_ns: u64,
    /// What it waited for longest in sum; `None` if it was not blocked in the range.
    pub longest_wait: Option<LongestWait>,
}

/// All waits of a thread for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongestWait {
    /// Name of the reason, as in exported tables: [`WaitReason::name`].
    pub reason: Cow<'static, str>,
    /// Sum of the waits, without collections, in nanoseconds.
    pub ns: u64,
}

/// Returns the threads with most running time in the range, largest first, except the runtime's own; none if many share
/// the work.
pub(crate) async fn find(context: &RuleContext<'_>) -> Vec<BusyThread> {
    let mut all = context.run_times().await.to_vec();
    let sum_ns =
        |some: &[(ThreadId, u64)]| some.iter().map(|(_, ran_ns)| *ran_ns as f64).sum::<f64>();
    let all_ns = sum_ns(&all);
    all.sort_small_by_key(|(thread, ran_ns)| (std::cmp::Reverse(*ran_ns), *thread));
    all.truncate(MAX_THREADS);
    all.retain(|(_, ran_ns)| *ran_ns as f64 >= MIN_WORK * all_ns);
    if sum_ns(&all) < MOST_WORK * all_ns {
        all.clear();
    }
    let mut busiest = Vec::new();
    for (thread, ran_ns) in all {
        let mut blocked_ns = [0_u64; WAIT_REASONS];
        let mut visit = |turn: ThreadTurn<'_>| {
            let wait = context.wait(turn, 0);
            if let Some((reason, wait)) = turn.wait_reason().zip(wait) {
                blocked_ns[reason as usize] += wait.ns;
            }
        };
        context.each_turn_of(&[thread], &mut visit).await;
        let sums = WaitReason::ALL.into_iter().zip(blocked_ns);
        let longest = sums.filter(|(_, ns)| *ns > 0).max_by_key(|(_, ns)| *ns);
        busiest.push(BusyThread {
            thread,
            ran_ns,
            longest_wait: longest.map(|(reason, ns)| LongestWait {
                reason: reason.name().into(),
                ns,
            }),
        });
    }
    busiest
}
