//! Validation of event order, for threads, capabilities, tasks and spark threads.
//!
//! These are the machines of `ghc-events validate`, except that they continue after an error and tolerate
//! irregularities that sound logs contain:
//!
//! | what | why |
//! |---|---|
//! | events of a never created thread, numbered below all created ones | it is older than the log; numbers ascend |
//! | a run of a finished thread, and its stop | the runtime dequeues a finished thread once more and drops it |
//! | a wakeup or a move of a finished thread | the other thread sent it before it observed the end |
//! | a wakeup of a running or runnable thread | wakeups cross: several threads may send one |
//! | a spark thread without `CreateThread` | Mercury's runtime logs only `CreateSparkThread` |
//! | events of a task that was never created | the task is older than the log, or bound to a thread of foreign code |
//! | a task created while one is alive at its address | ends are not always logged, and addresses are reused |
//! | a task without an end | the log ends first |

pub mod capability;
pub mod spark;
pub mod task;
pub mod thread;

use serde::{Deserialize, Serialize};

use eventlog::ids::{CapId, ThreadId};

/// Result of one transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition<S> {
    /// State after the event. After a violation, the machine adopts the state that the event implies.
    pub next: S,
    /// Verdict on the event.
    pub verdict: Verdict,
}

impl<S> Transition<S> {
    const fn fine(next: S) -> Self {
        Self {
            next,
            verdict: Verdict::Fine,
        }
    }

    const fn tolerated(next: S, what: Tolerated) -> Self {
        Self {
            next,
            verdict: Verdict::Tolerated(what),
        }
    }

    const fn broken(next: S, problem: Problem) -> Self {
        Self {
            next,
            verdict: Verdict::Broken(problem),
        }
    }
}

/// Verdict on the order of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The event is in order.
    Fine,
    /// The event is out of order, but the runtime is known to write it.
    Tolerated(Tolerated),
    /// The event violates the order.
    Broken(Problem),
}

/// Tolerated irregularities; the module's table explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tolerated {
    /// First event of a thread older than the log.
    OlderThread,
    /// Run or stop of a thread that has finished.
    RunAfterEnd,
    /// Wakeup or move of a thread that has finished.
    WakeupAfterEnd,
    /// Wakeup of a running or runnable thread.
    NeedlessWakeup,
    /// Spark thread without a creation event.
    SparkThreadUncreated,
    /// First event of a task older than the log.
    OlderTask,
    /// Task created at the address of a task whose end was not logged.
    TaskReplaced,
    /// Task still alive at the end of the log.
    TaskWithoutEnd,
}

/// Violation of event order; the affected thread, task or capability is recorded elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Problem {
    /// Event of a thread or task that was never created.
    Uncreated(LifeEvent),
    /// Creation of a thread or spark thread that already exists.
    CreatedAgain,
    /// Event of a thread or task that has ended.
    AfterEnd(LifeEvent),
    /// Run of a thread that is already running.
    RunsAlready {
        /// The capability it already runs on, if the log names it.
        on: Option<CapId>,
    },
    /// Stop of a thread that was not running.
    StopsUnrun,
    /// Stop of a thread on a capability that was not running it.
    StopsElsewhere {
        /// The capability it was running on, if the log names it.
        ran_on: Option<CapId>,
    },
    /// Move of a running thread.
    MovesRunning,
    /// Run or stop of a thread on a capability that runs another.
    OtherThread {
        /// The thread that the capability runs.
        running: ThreadId,
        /// The thread of the event.
        thread: ThreadId,
        /// True for a run, false for a stop.
        runs: bool,
    },
    /// Move of a task from a capability that it was not on.
    MovesFromElsewhere {
        /// The capability it was on.
        was_on: CapId,
        /// The capability that the event moves it from.
        from: CapId,
    },
    /// A capability executes a spark without running a thread.
    SparkWithoutThread,
    /// A capability executes a spark in a thread that is no spark thread.
    SparkInOtherThread {
        /// The thread the capability runs.
        thread: ThreadId,
    },
}

/// Kind of an event in the life of a thread or task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LifeEvent {
    /// Creation of the thread or task.
    Create,
    /// `RunThread`.
    Run,
    /// `StopThread`.
    Stop,
    /// Wakeup of a thread.
    Wake,
    /// Move to another capability.
    Move,
    /// Deletion of a task.
    End,
}
