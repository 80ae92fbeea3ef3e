//! Revisions: cache keys for state that may change.

use std::sync::atomic::{AtomicU64, Ordering};

/// A unique id of a state. No two states share a revision, so a cache keyed by it never returns outdated results;
/// outdated entries are just not looked up any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision(u64);

impl Revision {
    /// Returns a new revision, for something that was just created or changed.
    pub fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_states_have_the_same_revision() {
        assert_ne!(Revision::next(), Revision::next());
    }
}
