//! Waits ended by manager threads of the runtime: waits for time or I/O, whose stop reason is logged as a wait for
//! an `MVar`.

use std::collections::BTreeMap;

use super::grouping::ReadySet;
use super::instants::{InstantKind, Instants};
use super::threads::Threads;
use crate::account::runs::SweepRun;
use eventlog::cap_table::CapLanes;
use model::class::ManagerThread;
use model::sorting::CompactCollect;

/// Manager threads of a log, and the threads they have just woken.
///
/// During a sweep over all runs in time order, each run of a manager looks up the wakeups logged on its capability
/// while it ran. The cost is therefore proportional to the wakeups by managers.
#[derive(Debug)]
pub(super) struct Managers<'a> {
    /// Managers by thread index.
    managers: BTreeMap<u32, ManagerThread>,
    instants: &'a Instants,
    cap_lanes: &'a CapLanes,
    /// Threads that a manager wakes during the current runs: the time of the wakeup, and the manager.
    pending: BTreeMap<u32, (u64, ManagerThread)>,
}

impl<'a> Managers<'a> {
    /// Finds the managers by their labels.
    pub(super) fn new(threads: &Threads, instants: &'a Instants, cap_lanes: &'a CapLanes) -> Self {
        Self {
            managers: threads
                .with_labels(ManagerThread::from_label)
                .collect_small(),
            instants,
            cap_lanes,
            pending: BTreeMap::new(),
        }
    }

    /// Returns whether the log has managers.
    pub(super) fn any(&self) -> bool {
        !self.managers.is_empty()
    }

    /// Processes the start of a run; records the wakeups during it if it is a manager's.
    pub(super) fn start_run(&mut self, lane: usize, run: &SweepRun, ready: &mut ReadySet) {
        let Some(&manager) = self.managers.get(&run.thread) else {
            return;
        };
        let cap = self.cap_lanes.cap(lane);
        self.pending.retain(|_, &mut (at, _)| at >= run.start);
        let kinds = [
            InstantKind::Woken,
            InstantKind::Migrated,
            InstantKind::Runnable,
        ];
        for kind in kinds {
            let woken = self.instants.on_cap(cap, kind, (run.start, run.end));
            for (at, thread) in woken.filter(|&(_, thread)| thread != run.thread) {
                // A wakeup with the same timestamp as the start of the run is processed before the run.
                if !ready.learn_waker(thread, at, manager) {
                    self.pending.entry(thread).or_insert((at, manager));
                }
            }
        }
    }

    /// Returns the manager that woke a thread at a time, if one did.
    pub(super) fn take_waker(&mut self, thread: u32, at: u64) -> Option<ManagerThread> {
        if self.pending.is_empty() {
            return None;
        }
        let &(woken, manager) = self.pending.get(&thread)?;
        (woken == at).then_some(manager)
    }
}
