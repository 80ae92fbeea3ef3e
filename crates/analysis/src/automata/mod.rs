//! State machines over events. Each is a pure step function: state and input
//! in, next state and what it yields out. Each one's transition table stands
//! in its doc comment and is what its tests go through, row by row.

pub mod announced;
pub mod gc;
pub mod gc_phase;
pub mod mutator;
pub mod nonmoving;
pub mod task;
pub mod thread_state;
pub mod validity;

use serde::{Deserialize, Serialize};

use eventlog::ids::ThreadId;

/// What a step leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<S, Y> {
    /// The state after it.
    pub next: S,
    /// The span that it ends, if it ends one.
    pub yields: Option<Y>,
    /// What is odd about it, if something is.
    pub oddity: Option<Oddity>,
}

impl<S, Y> Step<S, Y> {
    const fn to(next: S) -> Self {
        Self {
            next,
            yields: None,
            oddity: None,
        }
    }

    const fn yielding(next: S, span: Y) -> Self {
        Self {
            next,
            yields: Some(span),
            oddity: None,
        }
    }

    const fn odd(next: S, oddity: Oddity) -> Self {
        Self {
            next,
            yields: None,
            oddity: Some(oddity),
        }
    }
}

/// Something that a sound log does not have. It never stops an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Oddity {
    /// `EndGC` while no collection was going on.
    GcEndWithoutStart,
    /// `StartGC` during a collection.
    GcStartRepeated,
    /// A thread stopped that had not run.
    StopBeforeRun {
        /// The thread.
        thread: ThreadId,
    },
    /// A thread was run or stopped on a capability that was running another.
    OtherThread {
        /// The thread that was running.
        running: ThreadId,
        /// The thread that the event is about.
        thread: ThreadId,
        /// Whether it is a `RunThread`.
        run: bool,
    },
}

impl Oddity {
    /// The threads that it is about.
    #[must_use]
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
