//! State machines over events.
//!
//! Each is a pure step function from a state and an input to the next state and the span it yields. The module
//! documentation of each one holds its transition table; its tests check the table row by row.

pub mod gc;
pub mod gc_phase;
pub mod mutator;
pub mod nonmoving;
pub mod task;
pub mod thread_state;
pub mod user_span;
pub mod validity;

use serde::{Deserialize, Serialize};

use eventlog::ids::ThreadId;

/// Result of one transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<S, Y> {
    /// State after the event.
    pub next: S,
    /// The span that the event ends, if any.
    pub yields: Option<Y>,
    /// An irregularity of the event, if any.
    pub anomaly: Option<Anomaly>,
}

impl<S, Y> Step<S, Y> {
    const fn without_yield(next: S) -> Self {
        Self {
            next,
            yields: None,
            anomaly: None,
        }
    }

    const fn yielding(next: S, span: Y) -> Self {
        Self {
            next,
            yields: Some(span),
            anomaly: None,
        }
    }

    const fn odd(next: S, anomaly: Anomaly) -> Self {
        Self {
            next,
            yields: None,
            anomaly: Some(anomaly),
        }
    }
}

/// A transition that a sound log does not contain. It never stops an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Anomaly {
    /// `EndGC` without a collection in progress.
    GcEndWithoutStart,
    /// `StartGC` during a collection.
    GcStartRepeated,
    /// A thread stopped before it ran.
    StopBeforeRun {
        /// Thread that stopped without a run.
        thread: ThreadId,
    },
    /// A thread was run or stopped on a capability that was running another thread.
    OtherThread {
        /// The thread that was running.
        running: ThreadId,
        /// The thread of the event.
        thread: ThreadId,
        /// True for `RunThread`, false for `StopThread`.
        run: bool,
    },
}

impl Anomaly {
    /// Returns the threads involved, the event's own thread first.
    pub const fn threads(self) -> [Option<ThreadId>; 2] {
        match self {
            Self::GcEndWithoutStart | Self::GcStartRepeated => [None; 2],
            Self::StopBeforeRun { thread } => [Some(thread), None],
            Self::OtherThread {
                running, thread, ..
            } => [Some(thread), Some(running)],
        }
    }
}
