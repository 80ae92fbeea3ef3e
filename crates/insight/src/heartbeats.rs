//! Threads that only mark time: heartbeats, clocks, progress displays, collectors of metrics.
//!
//! They sleep, run for a moment, and wake nobody. While a program waits for something else, each of their wakeups ends
//! a gap in which nothing ran, but what the program waited for ends with a later one.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::RuleContext;
use crate::threads::ThreadTurn;
use eventlog::ids::ThreadId;
use model::class::WaitReason;

/// Minimum number of sleeps.
const MIN_SLEEPS: u64 = 20;
/// Minimum share of sleeps among all waits; a line of output may wait for the handle.
const SLEEPS: f64 = 0.9;
/// Maximum mean length of a run; longer ones are work.
const RUN_NS: u64 = 500_000;
/// Maximum share of the program's running time; who does more does a part of its work.
const RAN: f64 = 0.10;
/// Maximum number of wakeups of other threads for each sleep: a thread that passes something on wakes one each time.
const WAKEUPS: f64 = 0.01;

/// Sums over the turns of a thread.
#[derive(Default)]
struct Turns {
    thread: ThreadId,
    sleeps: u64,
    waits: u64,
    count: u64,
    ran_ns: u64,
}

impl Turns {
    fn is_heartbeat(&self, program_ran_ns: u64) -> bool {
        self.sleeps >= MIN_SLEEPS
            && self.sleeps as f64 >= SLEEPS * self.waits as f64
            && self.ran_ns <= self.count.saturating_mul(RUN_NS)
            && self.ran_ns as f64 <= RAN * program_ran_ns as f64
    }
}

/// Finds the threads that sleep, hardly run and wake nobody.
pub(crate) async fn find(context: &RuleContext<'_>) -> BTreeSet<ThreadId> {
    let is_sleep = |reason| reason == WaitReason::Delay;
    let mut all: Vec<Turns> = Vec::new();
    let mut visit = |turn: ThreadTurn<'_>| {
        // Those of a thread come after each other.
        if all.last().is_none_or(|turns| turns.thread != turn.thread()) {
            all.push(Turns {
                thread: turn.thread(),
                ..Turns::default()
            });
        }
        let Some(turns) = all.last_mut() else {
            return;
        };
        turns.count += 1;
        turns.ran_ns = turns.ran_ns.saturating_add(turn.run_ns());
        if let Some(reason) = turn.wait_reason() {
            turns.waits += 1;
            turns.sleeps += u64::from(is_sleep(reason));
        }
    };
    context
        .each_turn_blocked((&is_sleep, MIN_SLEEPS), &mut visit)
        .await;
    let program_ran_ns = context.program_ran_ns();
    all.retain(|turns| turns.is_heartbeat(program_ran_ns));
    if all.is_empty() {
        return BTreeSet::new();
    }
    let mut wakeups: BTreeMap<ThreadId, u64> = BTreeMap::new();
    context
        .each_wakeup(&mut |wakeup| {
            *wakeups.entry(wakeup.waker).or_default() += 1;
        })
        .await;
    all.retain(|turns| {
        let woken = wakeups.get(&turns.thread).copied().unwrap_or(0);
        woken as f64 <= WAKEUPS * turns.sleeps as f64
    });
    all.into_iter().map(|turns| turns.thread).collect()
}
