//! Selection of capabilities and threads, from the selected tracks.

use serde::{Deserialize, Serialize};

use eventlog::ids::{CapId, ThreadId};
use model::sorting::CompactSort;

/// Capabilities and threads that figures and lists are limited to. Both lists are sorted, without duplicates; if
/// both are empty, there is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// Selected capabilities, sorted.
    pub caps: Vec<CapId>,
    /// Selected threads, sorted.
    pub threads: Vec<ThreadId>,
}

impl Scope {
    /// Creates a selection; the lists may be unsorted and contain duplicates.
    pub fn new(mut caps: Vec<CapId>, mut threads: Vec<ThreadId>) -> Self {
        caps.sort_small();
        caps.dedup();
        threads.sort_unstable();
        threads.dedup();
        Self { caps, threads }
    }

    /// Returns whether there is no limit.
    pub const fn is_everything(&self) -> bool {
        self.caps.is_empty() && self.threads.is_empty()
    }

    /// Returns whether a capability is selected.
    pub fn has_cap(&self, cap: CapId) -> bool {
        self.caps.binary_search(&cap).is_ok()
    }

    /// Returns whether a thread is selected.
    pub fn has_thread(&self, thread: ThreadId) -> bool {
        self.threads.binary_search(&thread).is_ok()
    }
}
