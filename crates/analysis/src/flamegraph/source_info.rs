//! Summaries of flame graph sources, for lists and menus.

use serde::{Deserialize, Serialize};

use eventlog::ids::ThreadId;
use model::profile::heap::HeapStacks;
use model::profile::source::Source;
use model::profile::{Profile, Track, TrackSource};

/// Limit of threads listed after the tracks of a profile.
const MAX_THREADS: usize = 1000;

/// Summary of one track of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackInfo {
    /// Capability, thread or other entity whose time the track shows.
    pub source: TrackSource,
    /// Label given by the program, if any.
    pub label: Option<String>,
    /// Number of samples, calls, spans, waits or censuses.
    pub samples: u64,
}

/// Summary of a source for which the log has data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// Source that the tracks belong to.
    pub source: Source,
    /// Tracks of the source, then threads without a track of their own.
    pub tracks: Vec<TrackInfo>,
}

impl SourceInfo {
    /// Summarizes a profile: its tracks, then the threads with the most samples.
    pub(crate) fn of_profile(source: Source, profile: &Profile) -> Self {
        let heap = profile.heap.as_ref();
        let track = |track: &Track| TrackInfo {
            source: track.source,
            label: None,
            samples: heap.map_or_else(|| track.samples.counted(), HeapStacks::len) as u64,
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
            tracks: tracks.chain(threads.take(MAX_THREADS)).collect(),
        }
    }
}
