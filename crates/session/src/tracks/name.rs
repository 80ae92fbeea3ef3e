//! The stable names of tracks, in links and settings.

use std::fmt;

use eventlog::ids::{CapId, OsThreadId, ThreadId};

/// The longest name of a track, in bytes; a longer one is no name.
pub(crate) const MAX_TRACK_NAME: usize = 64;

/// The stable name of a track: `cap0`, `thread12`, `os1234`, `gc`, `activity`,
/// or `all` of them. Not empty, at most `MAX_TRACK_NAME` bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackName(String);

impl TrackName {
    /// That name, if it can be one.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Option<Self> {
        let name = name.into();
        (1..=MAX_TRACK_NAME)
            .contains(&name.len())
            .then_some(Self(name))
    }

    /// The name made of any text that is not empty: what is too long is cut.
    #[must_use]
    pub fn cut(name: &str) -> Self {
        let end = name.floor_char_boundary(MAX_TRACK_NAME);
        Self(name.get(..end).unwrap_or_default().to_owned())
    }

    /// `cap0`: what a capability did.
    #[must_use]
    pub fn capability(id: CapId) -> Self {
        Self(format!("cap{id}"))
    }

    /// `thread12`: the states of a Haskell thread.
    #[must_use]
    pub fn thread(id: ThreadId) -> Self {
        Self(format!("thread{id}"))
    }

    /// `os1234`: an OS thread.
    #[must_use]
    pub fn os_thread(id: OsThreadId) -> Self {
        Self(format!("os{id}"))
    }

    /// `process1`: a process of a log that is of several, by its place.
    #[must_use]
    pub fn process(place: usize) -> Self {
        Self(format!("process{place}"))
    }

    /// `all`: every source at once.
    #[must_use]
    pub fn all() -> Self {
        Self("all".into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The Haskell thread, if it is one's.
    #[must_use]
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

/// Decimal digits and nothing else (`str::parse` would take a sign).
fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}
