//! Which capabilities and threads are looked at: those of the selected tracks.

use serde::{Deserialize, Serialize};

use super::contents::Contents;
use super::row::Row;
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
    /// That of tracks with these names ([`Row::name`]): tracks of a capability
    /// and of a thread count; others are about the whole program and limit
    /// nothing.
    #[must_use]
    pub fn of_tracks<'a>(names: impl IntoIterator<Item = &'a str>, contents: &Contents) -> Self {
        let mut scope = Self::default();
        for row in names
            .into_iter()
            .filter_map(|name| Row::named(name, contents))
        {
            match row {
                Row::Thread(thread) => scope.threads.push(thread),
                row => scope.caps.extend(row.cap()),
            }
        }
        scope.caps.sort_unstable();
        scope.caps.dedup();
        scope.threads.sort_unstable();
        scope.threads.dedup();
        scope
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(names: &[&str]) -> (Vec<u16>, Vec<u32>) {
        let scope = Scope::of_tracks(names.iter().copied(), &Contents::default());
        let caps = scope.caps.iter().map(|cap| cap.0).collect();
        let threads = scope.threads.iter().map(|thread| thread.0).collect();
        (caps, threads)
    }

    #[test]
    fn tracks_of_capabilities_and_threads_count() {
        let cases: [(&[&str], &[u16], &[u32]); 8] = [
            (&[], &[], &[]),
            (&["cap3"], &[3], &[]),
            // All tracks of one capability mean that capability, once.
            (&["events2", "cap2", "pool2", "created2"], &[2], &[]),
            (&["converted1", "blocks0", "samples1"], &[0, 1], &[]),
            (&["thread12", "thread2", "thread12"], &[], &[2, 12]),
            (&["thread7", "cap1", "cap0"], &[0, 1], &[7]),
            // These are about the whole program.
            (
                &["activity", "heap", "blocks", "task5", "calls71"],
                &[],
                &[],
            ),
            (&["span:load", "cap", "nothing", "cap70000"], &[], &[]),
        ];
        for (names, caps, threads) in cases {
            assert_eq!(scope(names), (caps.to_vec(), threads.to_vec()), "{names:?}");
        }
    }

    #[test]
    fn what_is_in_it() {
        let contents = Contents::default();
        let scope = Scope::of_tracks(["cap4", "cap1", "thread9"], &contents);
        assert!(scope.has_cap(CapId(1)) && scope.has_cap(CapId(4)));
        assert!(!scope.has_cap(CapId(9)) && !scope.has_thread(ThreadId(4)));
        assert!(scope.has_thread(ThreadId(9)) && !scope.is_everything());
        assert!(Scope::of_tracks(["heap"], &contents).is_everything());
    }
}
