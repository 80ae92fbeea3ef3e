//! Which state of something a result was made from.

use std::sync::atomic::{AtomicU64, Ordering};

/// The state of something that may change. No two states of anything have the
/// same revision, so that what is kept under a revision is never out of date:
/// it is only not asked for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision(u64);

impl Revision {
    /// The revision of something that was just made or changed.
    #[must_use]
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
