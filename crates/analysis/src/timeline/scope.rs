//! Which capabilities and threads are looked at: those of the selected tracks.

use serde::{Deserialize, Serialize};

use eventlog::ids::{CapId, ThreadId};

/// The capabilities and threads that numbers and lists are limited to. Both
/// lists are sorted, without duplicates; if both are empty, nothing is limited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The capabilities.
    pub caps: Vec<CapId>,
    /// The threads.
    pub threads: Vec<ThreadId>,
}

impl Scope {
    /// That of these capabilities and threads, in whatever order they come.
    #[must_use]
    pub fn new(mut caps: Vec<CapId>, mut threads: Vec<ThreadId>) -> Self {
        caps.sort_unstable();
        caps.dedup();
        threads.sort_unstable();
        threads.dedup();
        Self { caps, threads }
    }

    /// Whether nothing is limited.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.caps.is_empty() && self.threads.is_empty()
    }

    /// Whether that capability is one of them.
    #[must_use]
    pub fn has_cap(&self, cap: CapId) -> bool {
        self.caps.binary_search(&cap).is_ok()
    }

    /// Whether that thread is one of them.
    #[must_use]
    pub fn has_thread(&self, thread: ThreadId) -> bool {
        self.threads.binary_search(&thread).is_ok()
    }
}
