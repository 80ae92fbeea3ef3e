//! Time account of each thread, with the exact reason of each block as logged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::store::FEW_THREADS;
use crate::timeline::store::Store;
use crate::timeline::threads::Thread;
use crate::timeline::turns::Turn;
use crate::yielder::Yield;
use eventlog::ids::{Nanos, ThreadId};
use model::class::StopCode;
use model::class::WaitReason;
use model::time::Interval;

/// Reason of a block: the standard code of the stop, or a code beyond these if a manager thread of the runtime
/// ended the wait ([`ManagerThread`](model::class::ManagerThread)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockedFor(u8);

impl BlockedFor {
    /// Sleeping: the timer manager ended the wait.
    pub const SLEEPING: Self = Self(252);
    /// Waiting for a file or socket: an I/O manager ended the wait.
    pub const IO: Self = Self(251);

    /// Returns the reason given by a stop.
    pub const fn stop(code: StopCode) -> Self {
        Self(code.0)
    }

    /// Returns the reason of the wait; `None` if the thread was runnable.
    pub const fn reason(self) -> Option<WaitReason> {
        match self {
            Self::SLEEPING => Some(WaitReason::Delay),
            Self::IO => Some(WaitReason::Io),
            Self(code) => StopCode(code).wait_reason(),
        }
    }

    /// Returns its name in tables and JSON: that of the stop status, `Sleeping` or `WaitingForIO`.
    pub fn name(self) -> String {
        match self {
            Self::SLEEPING => "Sleeping".to_owned(),
            Self::IO => "WaitingForIO".to_owned(),
            Self(code) if StopCode(code) == StopCode::OPEN => "Unknown".to_owned(),
            Self(code) => StopCode(code).status(None).to_string(),
        }
    }

    fn of_turn(turn: &Turn) -> Self {
        let reason = turn.wait_reason();
        match reason.filter(|_| reason != turn.last_stop.wait_reason()) {
            Some(WaitReason::Delay) => Self::SLEEPING,
            Some(_) => Self::IO,
            None => Self::stop(turn.last_stop),
        }
    }
}

/// Time of a thread in a range by class, in nanoseconds. The classes add up to its lifetime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadAccount {
    /// ID of the thread.
    pub id: ThreadId,
    /// Label, if the program set one.
    pub label: Option<String>,
    /// Part of its lifetime in the range.
    pub life_ns: u64,
    /// Time running on a capability.
    pub running_ns: u64,
    /// Ready, during a collection or while capabilities were being stopped for one.
    pub runnable_during_gc_ns: u64,
    /// Ready, behind other threads.
    pub runnable_behind_ns: u64,
    /// Ready while some capability was idle.
    pub runnable_cap_idle_ns: u64,
    /// Blocked, by reason; excludes foreign calls.
    pub blocked_ns: BTreeMap<BlockedFor, u64>,
    /// Time in foreign calls.
    pub foreign_ns: u64,
    /// Not covered by the log.
    pub unknown_ns: u64,
}

impl Store {
    /// Returns the time accounts of the threads that lived in a range, or in the whole log, by thread ID. This
    /// reads every run; [`thread_table`](Self::thread_table) is the fast way to the sums.
    pub async fn thread_accounts(
        &self,
        range: Option<Interval>,
        yielder: &dyn Yield,
    ) -> Vec<ThreadAccount> {
        let mut accounts = Vec::new();
        self.for_each_thread_account(range, yielder, |account| accounts.push(account))
            .await;
        accounts
    }

    /// Passes the results of [`thread_accounts`](Self::thread_accounts) to `take` one by one, without storing
    /// them.
    pub async fn for_each_thread_account(
        &self,
        range: Option<Interval>,
        yielder: &dyn Yield,
        mut take: impl FnMut(ThreadAccount),
    ) {
        let log = self.account().log();
        let range = range.map_or(log, |range| range.clip(log));
        for (place, index) in (0..).zip(self.threads_by_id()) {
            if u32::is_multiple_of(place, FEW_THREADS) {
                yielder.yield_if_due().await;
            }
            let Some(thread) = self.threads.get(index) else {
                continue;
            };
            self.prepare_life_of(index, thread, yielder).await;
            self.thread_account(index, thread, range)
                .into_iter()
                .for_each(&mut take);
        }
    }

    /// Returns the indexes of all threads in the order of thread IDs.
    pub(super) fn threads_by_id(&self) -> impl Iterator<Item = u32> + use<> {
        let threads = self.threads.iter();
        let mut indexes: Vec<(ThreadId, u32)> =
            threads.map(|(index, thread)| (thread.id, index)).collect();
        indexes.sort_unstable();
        indexes.into_iter().map(|(_, index)| index)
    }

    fn thread_account(&self, index: u32, thread: Thread, range: Interval) -> Option<ThreadAccount> {
        let lane = self.life_of(index, thread)?;
        let life = thread.life(self.end())?;
        let whole = range == self.account().log();
        let life = life.clip(range);
        if life.is_empty() && !whole {
            return None;
        }
        let positions = (
            self.positions_at(range.start()),
            self.positions_at(range.end()),
        );
        let sums = lane.turn_sums_in(&positions.0, &positions.1).sums;
        let mut blocked_ns = BTreeMap::new();
        let runs = lane.runs_in(&positions.0, &positions.1);
        for turn in lane.turns(runs.start..runs.end + 1) {
            let (from, to) = turn.blocked_span();
            let blocked = Interval::new(Nanos(from), Nanos(to));
            let time = blocked.clip(range).duration().0;
            if time > 0 && turn.wait_reason() != Some(WaitReason::ForeignCall) {
                *blocked_ns.entry(BlockedFor::of_turn(&turn)).or_default() += time;
            }
        }
        Some(ThreadAccount {
            id: thread.id,
            label: self.threads.label(&thread).map(str::to_owned),
            life_ns: life.duration().0,
            running_ns: sums.running_ns.saturating_add(sums.open_ns),
            runnable_during_gc_ns: sums.runnable_during_gc_ns,
            runnable_behind_ns: sums.runnable_behind_ns,
            runnable_cap_idle_ns: sums.runnable_cap_idle_ns,
            blocked_ns,
            foreign_ns: sums.foreign_ns(),
            unknown_ns: sums.unknown_ns,
        })
    }
}
