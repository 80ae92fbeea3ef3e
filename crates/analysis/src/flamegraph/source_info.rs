//! What a source of flame graphs has, for lists.

use serde::{Deserialize, Serialize};

use eventlog::ids::ThreadId;
use model::profile::heap::HeapStacks;
use model::profile::source::Source;
use model::profile::{Profile, Track, TrackSource};

/// So many threads are listed beside the tracks of a profile.
const MOST_THREADS: usize = 1000;

/// A track of a profile, for lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackInfo {
    /// Whose time it shows.
    pub source: TrackSource,
    /// What the program calls it.
    pub label: Option<String>,
    /// How many samples, calls or spans it has.
    pub samples: u64,
}

/// A source that a log has something of, for lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// The source that this is about.
    pub source: Source,
    /// Its tracks.
    pub tracks: Vec<TrackInfo>,
}

impl SourceInfo {
    /// What a profile has: its tracks, and the threads with the most samples.
    #[must_use]
    pub(crate) fn of_profile(source: Source, profile: &Profile) -> Self {
        let heap = profile.heap.as_ref();
        let track = |track: &Track| TrackInfo {
            source: track.source,
            label: None,
            samples: heap.map_or(track.samples.len(), HeapStacks::len) as u64,
        };
        let thread = |(thread, samples): (ThreadId, u64)| TrackInfo {
            source: TrackSource::Thread(thread),
            label: None,
            samples,
        };
        let threads = profile.threads.counts().into_iter().map(thread);
        let tracks = profile.tracks.iter().map(track);
        Self {
            source,
            tracks: tracks.chain(threads.take(MOST_THREADS)).collect(),
        }
    }
}
