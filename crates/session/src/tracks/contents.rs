//! List of a log's tracks, and the names that marks refer to by index.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::TrackId;
use super::processes::Processes;
use crate::heap::choice::SelectedBands;
use analysis::recording::Recording;
use analysis::timeline::thread_lane::ThreadListRow;
use analysis::timeline::unread::UnreadBlocks;
use eventlog::blocks::BlockIndex;
use eventlog::ids::{CapId, Nanos};
use model::profile::frames::Frame;
use model::sorting::CompactCollect;
use model::time::Interval;

/// View of a log for its tracks.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    /// Results of the analyses.
    pub recording: &'a Recording,
    /// Index of the blocks in which the events were written.
    pub blocks: &'a BlockIndex,
    /// Blocks by capability and time that are not read yet; empty once the log is fully read.
    pub unread: &'a UnreadBlocks,
    /// Time range of the events.
    pub span: Option<Interval>,
    /// Selected bands of a heap profile.
    pub heap: Option<&'a SelectedBands>,
}

impl Log<'_> {
    /// Returns the capabilities that have events, read or unread.
    pub(crate) fn caps(&self) -> Vec<CapId> {
        let read = self.recording.info.lives.caps().map(|(cap, _)| cap);
        let unread = self.unread.caps().map(|(cap, _)| cap);
        let caps: BTreeSet<CapId> = read.chain(unread).collect_small();
        caps.into_iter().collect()
    }

    /// Returns whether no part of a span is read yet.
    pub(crate) fn is_unread(&self, span: Interval) -> bool {
        !self.recording.is_finished() && self.unread_in(span).start() == span.start()
    }

    /// Returns the part of a view that is not read yet.
    pub(crate) fn unread_in(&self, view: Interval) -> Interval {
        let info = &self.recording.info;
        let read_to = info.first_and_last().map_or(Nanos(0), |(_, last)| last);
        Interval::new(view.start().max(read_to), view.end())
    }
}

/// Track of a log with its labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackEntry {
    /// Identity of the track.
    pub row: TrackId,
    /// Display name for wide windows.
    pub title: String,
    /// Display name for narrow windows.
    pub short: String,
    /// Note after the name; may be empty.
    pub note: String,
    /// Series of a gauge, by index, for which the log has no data.
    pub missing_series: Vec<u8>,
}

impl TrackEntry {
    /// Creates a track without a note, with the same name for wide and narrow windows.
    pub fn new(row: impl Into<TrackId>, title: impl Into<String>) -> Self {
        let title = title.into();
        Self {
            row: row.into(),
            short: title.clone(),
            title,
            note: String::new(),
            missing_series: Vec::new(),
        }
    }

    /// Sets the name for narrow windows.
    #[must_use]
    pub fn short(self, short: impl Into<String>) -> Self {
        let short = short.into();
        Self { short, ..self }
    }

    /// Sets the series of the gauge that have no data.
    #[must_use]
    pub fn with_missing_series(self, missing_series: Vec<u8>) -> Self {
        Self {
            missing_series,
            ..self
        }
    }

    /// Sets the note that follows the name.
    #[must_use]
    pub fn note(self, note: impl Into<String>) -> Self {
        let note = note.into();
        Self { note, ..self }
    }
}

/// Optional contents of a log. Capabilities and threads are listed separately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogContents {
    /// Tracks, in default order within each group.
    pub tracks: Vec<TrackEntry>,
    /// Owners of the capabilities and threads, if several processes wrote the log.
    pub processes: Processes,
    /// Whether the log has a heap profile.
    pub heap_profile: bool,
    /// Foreign functions of most announced calls, by the index that marks use.
    pub foreign_functions: Vec<Frame>,
    /// Functions of most profile samples, by the index that marks use.
    pub sampled_functions: Vec<Frame>,
}

impl LogContents {
    /// Collects the contents of a log, as far as it is read.
    pub fn from_log(log: &Log<'_>) -> Self {
        let profiles = &log.recording.profiles;
        let rows = &log.recording.profile_rows;
        Self {
            tracks: TrackId::entries_in_log(log),
            processes: Processes::from_recording(log.recording),
            heap_profile: !log.recording.heap().is_empty(),
            foreign_functions: rows.foreign_functions(profiles),
            sampled_functions: rows.sampled_functions(profiles),
        }
    }

    /// Returns the entry of a track.
    pub fn find(&self, row: TrackId) -> Option<&TrackEntry> {
        self.tracks.iter().find(|track| track.row == row)
    }

    /// Returns the tracks of one kind, in order.
    pub fn entries_of_kind<T: TryFrom<TrackId>>(&self) -> impl Iterator<Item = (T, &TrackEntry)> {
        let tracks = self.tracks.iter();
        tracks.filter_map(|track| Some((T::try_from(track.row).ok()?, track)))
    }
}

/// Data from which the page lists its tracks.
#[derive(Clone, Copy, Debug)]
pub struct TrackListInput<'a> {
    /// Capabilities, each with a note.
    pub caps: &'a [(CapId, String)],
    /// Optional contents of the log.
    pub contents: &'a LogContents,
    /// Listed threads, in order.
    pub threads: &'a [ThreadListRow],
    /// Pinned threads that are not listed.
    pub pinned_threads: &'a [ThreadListRow],
    /// Number of threads that match the filter.
    pub threads_in_all: u64,
}
