//! State and statistics of each thread.

mod index_map;
mod packed;
mod table;

use serde::{Deserialize, Serialize};

pub(crate) use self::index_map::ThreadIndexMap;
pub(crate) use self::table::{Reader, Threads};
use crate::automata::thread_state::{Activity, Reason, State};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::texts::TextId;
use model::class::StopCode;
use model::time::Interval;

/// State and statistics of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Thread {
    pub(crate) id: ThreadId,
    /// State of its automaton.
    pub(crate) state: State,
    /// Time of the first wakeup since it stopped; [`NEVER_NS`] if there was none.
    pub(crate) woken_ns: u64,
    /// Whether its creation was logged.
    pub(crate) created: bool,
    pub(crate) finished: bool,
    /// Reason of its last stop.
    pub(crate) last_stop: StopCode,
    /// Last known capability.
    pub(crate) last_cap: Option<CapId>,
    /// Time of its creation, or else of its first run; [`NEVER_NS`] if it has neither.
    pub(crate) began_ns: u64,
    /// End of its last run.
    pub(crate) last_run_end_ns: u64,
    /// Sum of its runs that ended.
    pub(crate) run_ns: u64,
    pub runs: u32,
    pub(crate) label: TextId,
    /// Index of its first run in the list of all threads' runs, once the log has been read to its end.
    #[serde(skip)]
    pub(crate) first_run: u32,
}

/// Sentinel time, later than any event.
pub(crate) const NEVER_NS: u64 = u64::MAX;

impl Thread {
    pub(crate) const fn new(id: ThreadId) -> Self {
        Self {
            id,
            state: State::Unseen,
            woken_ns: NEVER_NS,
            created: false,
            finished: false,
            last_stop: StopCode::CREATED,
            last_cap: None,
            began_ns: NEVER_NS,
            last_run_end_ns: 0,
            run_ns: 0,
            runs: 0,
            label: TextId::NONE,
            first_run: 0,
        }
    }

    /// Returns the time of the first wakeup since it stopped.
    pub(crate) fn woken(&self) -> Option<Nanos> {
        (self.woken_ns != NEVER_NS).then_some(Nanos(self.woken_ns))
    }

    /// Returns the reason of its current wait; `None` if it is running, unseen or finished.
    pub(crate) const fn stopped(&self) -> Option<Reason> {
        match self.state {
            State::Active(_, Activity::Blocked(reason)) => Some(reason),
            _ => None,
        }
    }

    /// Returns the creation time, if it was logged.
    pub(crate) fn created(&self) -> Option<Nanos> {
        self.created.then_some(Nanos(self.began_ns))
    }

    /// Returns the time from its creation or first run to its finish, or else to the end of the log; `None` if the
    /// log has neither creation nor run.
    pub(crate) fn life(&self, log_end: Nanos) -> Option<Interval> {
        let end = if self.finished {
            self.last_run_end_ns
        } else {
            log_end.0
        };
        let began = Nanos(self.began_ns);
        (self.began_ns != NEVER_NS).then(|| Interval::new(began, Nanos(end.max(began.0))))
    }
}
