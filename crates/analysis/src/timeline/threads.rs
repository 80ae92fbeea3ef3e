//! What is known of each thread.

mod by_id;
mod packed;
mod table;

use serde::{Deserialize, Serialize};

pub(crate) use self::by_id::ById;
pub(crate) use self::table::Threads;
use crate::automata::thread_state::{Activity, Reason, State};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::texts::TextId;
use model::class::StopCode;
use model::time::Interval;

/// What is known of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Thread {
    pub(crate) id: ThreadId,
    /// Of its automaton.
    pub(crate) state: State,
    /// When it was first woken since it stopped; [`NEVER_NS`] if it was not.
    pub(crate) woken_ns: u64,
    /// Whether its creation was seen.
    pub(crate) created: bool,
    pub(crate) finished: bool,
    /// Why it stopped last.
    pub(crate) why: StopCode,
    /// The capability that it was on last.
    pub(crate) home: Option<CapId>,
    /// Its creation, or else its first run; never if it has neither.
    pub(crate) began_ns: u64,
    /// The end of its last run.
    pub(crate) ran_ns: u64,
    pub(crate) run_ns: u64,
    pub runs: u32,
    pub(crate) label: TextId,
    /// Where its runs begin in the list of all, once the log is read to its end.
    #[serde(skip)]
    pub(crate) first: u32,
}

/// Later than anything in a log.
pub(crate) const NEVER_NS: u64 = u64::MAX;

impl Thread {
    pub(crate) const fn new(id: ThreadId) -> Self {
        Self {
            id,
            state: State::Unseen,
            woken_ns: NEVER_NS,
            created: false,
            finished: false,
            why: StopCode::CREATED,
            home: None,
            began_ns: NEVER_NS,
            ran_ns: 0,
            run_ns: 0,
            runs: 0,
            label: TextId::NONE,
            first: 0,
        }
    }

    /// When it was first woken since it stopped.
    pub(crate) fn woken(&self) -> Option<Nanos> {
        (self.woken_ns != NEVER_NS).then_some(Nanos(self.woken_ns))
    }

    /// Why it stopped, if it does not run.
    pub(crate) const fn stopped(&self) -> Option<Reason> {
        match self.state {
            State::Active(_, Activity::Blocked(reason)) => Some(reason),
            _ => None,
        }
    }

    /// When it was created, if that was seen.
    pub(crate) fn created(&self) -> Option<Nanos> {
        self.created.then_some(Nanos(self.began_ns))
    }

    /// From its beginning to its finish, or else to the end of the log;
    /// `None` if the log has no more of it than its name.
    pub(crate) fn life(&self, log_end: Nanos) -> Option<Interval> {
        let end = if self.finished {
            self.ran_ns
        } else {
            log_end.0
        };
        let began = Nanos(self.began_ns);
        (self.began_ns != NEVER_NS).then(|| Interval::new(began, Nanos(end.max(began.0))))
    }
}
