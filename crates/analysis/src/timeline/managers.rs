//! Which waits the runtime's manager threads ended: waits for time or I/O, which stop as if
//! for an `MVar`.

use std::collections::BTreeMap;

use super::grouping::Ready;
use super::instants::{InstantKind, Instants};
use super::threads::Threads;
use crate::account::runs::NextRun;
use eventlog::cap_table::CapLanes;
use model::class::ManagerThread;

/// The managers of a log, and the threads that they have just woken.
///
/// On a walk through all runs in the order of time, each run of a manager lists the wakeups that
/// were logged on its capability while it ran. So the cost follows the wakeups by managers.
#[derive(Debug)]
pub(super) struct Managers<'a> {
    /// By the index of the thread.
    managers: BTreeMap<u32, ManagerThread>,
    instants: &'a Instants,
    cap_lanes: &'a CapLanes,
    /// Threads that become ready at a time because a manager woke them.
    pending: BTreeMap<u32, (u64, ManagerThread)>,
}

impl<'a> Managers<'a> {
    /// The threads with the labels of managers.
    pub(super) fn new(threads: &Threads, instants: &'a Instants, cap_lanes: &'a CapLanes) -> Self {
        Self {
            managers: threads.with_labels(ManagerThread::from_label).collect(),
            instants,
            cap_lanes,
            pending: BTreeMap::new(),
        }
    }

    /// Whether the log has any.
    pub(super) fn any(&self) -> bool {
        !self.managers.is_empty()
    }

    /// A run of a lane begins: if it is a manager's, its wakeups are noted.
    pub(super) fn runs(&mut self, lane: usize, run: &NextRun, ready: &mut Ready) {
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
                // A wakeup in the nanosecond in which the run begins comes before the run.
                if !ready.learn_waker(thread, at, manager) {
                    self.pending.entry(thread).or_insert((at, manager));
                }
            }
        }
    }

    /// The manager that made a thread ready at a time, if one did.
    pub(super) fn woke(&mut self, thread: u32, at: u64) -> Option<ManagerThread> {
        if self.pending.is_empty() {
            return None;
        }
        let &(woken, manager) = self.pending.get(&thread)?;
        (woken == at).then_some(manager)
    }
}
