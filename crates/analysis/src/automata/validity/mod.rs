//! Whether events follow each other as they should: threads, what capabilities
//! run, tasks, spark threads. These are the machines of `ghc-events validate`,
//! but they go on after what breaks them, and let pass what sound logs have.
//!
//! What is tolerated, and why:
//!
//! | what | why |
//! |---|---|
//! | events of a thread that was never created, if its number is smaller than that of every thread created so far | logging began after its creation; the runtime numbers threads in order |
//! | a run of a thread that has finished, and its stop | the runtime takes a finished thread from its queue once more, and drops it |
//! | a wakeup or a move of a thread that has finished | another thread sent it before it saw the end |
//! | a wakeup of a thread that runs or can run | wakeups cross: several threads may send one |
//! | a thread for sparks that was never created | Mercury's runtime writes nothing else of its creation |
//! | events of a task that was never created | tasks are older than the log, or bound to threads of foreign code |
//! | a task created where one is alive | not every task's end is written, and a task's number is an address, which is used again |
//! | a task without an end | as the log ends first |

pub mod capability;
pub mod spark;
pub mod task;
pub mod thread;

use serde::{Deserialize, Serialize};

use eventlog::ids::{CapId, ThreadId};

/// What an event does to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged<S> {
    /// The state after it. After something broken it is what the event says.
    pub next: S,
    /// Whether the event is in order.
    pub verdict: Verdict,
}

impl<S> Judged<S> {
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

/// Whether an event is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Fine,
    /// It is not, but the runtime is known to write it.
    Tolerated(Tolerated),
    /// It is not.
    Broken(Problem),
}

/// What is let pass; see the module's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tolerated {
    /// The first event of a thread that is older than the log.
    OlderThread,
    /// A run or stop of a thread that has finished.
    RunAfterEnd,
    /// A wakeup or move of a thread that has finished.
    WakeupAfterEnd,
    /// A wakeup of a thread that does not wait.
    NeedlessWakeup,
    /// A thread for sparks without a creation.
    SparkThreadUncreated,
    /// The first event of a task that is older than the log.
    OlderTask,
    /// A task created without the end of the one before at its address.
    TaskReplaced,
    /// A task that was alive at the end of the log.
    TaskWithoutEnd,
}

/// What is wrong with an event, beside what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Problem {
    /// Something happens to a thread or task that was never created.
    Uncreated(Doing),
    /// A thread or spark thread is created that there is already.
    CreatedAgain,
    /// Something happens to a thread or task that has ended.
    AfterEnd(Doing),
    /// A thread runs that is running.
    RunsAlready {
        /// The capability that it runs on, if any.
        on: Option<CapId>,
    },
    /// A thread stops that was not running.
    StopsUnrun,
    /// A thread stops where it was not running.
    StopsElsewhere {
        /// Where it was running.
        ran_on: Option<CapId>,
    },
    /// A thread is moved while it runs.
    MovesRunning,
    /// A capability runs or stops a thread while it runs another.
    OtherThread {
        /// The thread that it runs.
        running: ThreadId,
        /// The other one.
        thread: ThreadId,
        /// Whether it runs the other one.
        runs: bool,
    },
    /// A task is moved from where it is not.
    MovesFromElsewhere {
        /// Where it was.
        was_on: CapId,
        /// Where it is moved from.
        from: CapId,
    },
    /// A capability runs a spark, but no thread.
    SparkWithoutThread,
    /// A capability runs a spark in a thread that is not for sparks.
    SparkInOtherThread {
        /// The thread.
        thread: ThreadId,
    },
}

/// What happens to a thread or task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Doing {
    /// It is created.
    Create,
    /// It runs.
    Run,
    /// It stops.
    Stop,
    /// It is woken.
    Wake,
    /// It moves to another capability.
    Move,
    /// It ends.
    End,
}
