//! Stable names of tracks for links and settings.

use std::fmt;

use crate::link_text::number;
use eventlog::ids::{CapId, OsThreadId, ThreadId};

/// Maximum length of a track name in bytes; longer ones are rejected.
pub(crate) const MAX_TRACK_NAME: usize = 64;

/// Stable name of a track: `cap0`, `thread12`, `os1234`, `gc`, `activity`, or `all` for every track. It is
/// nonempty and at most `MAX_TRACK_NAME` bytes long.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackName(String);

impl TrackName {
    /// Creates a name; returns `None` if it is empty or too long.
    pub fn new(name: impl Into<String>) -> Option<Self> {
        let name = name.into();
        (1..=MAX_TRACK_NAME)
            .contains(&name.len())
            .then_some(Self(name))
    }

    /// Creates a name from a nonempty text, truncated if necessary.
    pub fn cut(name: &str) -> Self {
        let end = name.floor_char_boundary(MAX_TRACK_NAME);
        Self(name.get(..end).unwrap_or_default().to_owned())
    }

    /// Returns `cap0`: the activity of a capability.
    pub fn capability(id: CapId) -> Self {
        Self(format!("cap{id}"))
    }

    /// Returns `thread12`: the states of a Haskell thread.
    pub fn thread(id: ThreadId) -> Self {
        Self(format!("thread{id}"))
    }

    /// Returns `os1234`: an OS thread.
    pub fn os_thread(id: OsThreadId) -> Self {
        Self(format!("os{id}"))
    }

    /// Returns `process1`: a process, by its index in a log of several processes.
    pub fn process(place: usize) -> Self {
        Self(format!("process{place}"))
    }

    /// Returns `all`: every source at once.
    pub fn all() -> Self {
        Self("all".into())
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the Haskell thread, if the name is that of one.
    pub fn as_thread(&self) -> Option<ThreadId> {
        let id = number(self.0.strip_prefix("thread")?)?;
        Some(ThreadId(id.try_into().ok()?))
    }
}

impl fmt::Display for TrackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
