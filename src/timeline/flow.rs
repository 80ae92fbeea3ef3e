//! How threads come to run: who woke them, and where they moved.

use serde::{Deserialize, Serialize};

use crate::automata::Span;
use crate::ids::{CapId, Nanos, ThreadId};

/// Whose arrows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowQuery {
    /// The thread.
    pub thread: ThreadId,
    /// The time in view.
    pub view: Span,
}

/// What an arrow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArrowKind {
    /// From what woke the thread to its next run.
    Wakeup,
    /// From the capability that it left to its next run.
    Migration,
}

/// An arrow to a run of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrow {
    /// What it is.
    pub kind: ArrowKind,
    /// When the thread was woken, or moved.
    pub from: Nanos,
    /// On which capability that happened.
    pub from_cap: Option<CapId>,
    /// The thread that ran there and did it; none if it was the runtime.
    pub from_thread: Option<ThreadId>,
    /// When the thread then ran.
    pub to: Nanos,
    /// On which capability.
    pub to_cap: Option<CapId>,
    /// The thread.
    pub thread: ThreadId,
}
