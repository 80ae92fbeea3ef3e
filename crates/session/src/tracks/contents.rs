//! Which tracks a log has, and the names that its marks refer to by number.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Row;
use super::processes::Processes;
use crate::heap::choice::Chosen;
use analysis::recording::Recording;
use analysis::timeline::thread_lane::ThreadRow;
use analysis::timeline::unread::UnreadBlocks;
use eventlog::blocks::BlockIndex;
use eventlog::ids::{CapId, Nanos};
use model::profile::frames::Frame;
use model::time::Interval;

/// A log, as its tracks see it.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    /// What the analyses found.
    pub recording: &'a Recording,
    /// The blocks that the events were written in.
    pub blocks: &'a BlockIndex,
    /// The same by capability and time, as long as events are being read.
    pub unread: &'a UnreadBlocks,
    /// The time in which there are events.
    pub span: Option<Interval>,
    /// The bands of a heap profile that are shown.
    pub heap: Option<&'a Chosen>,
}

impl Log<'_> {
    /// The capabilities that have events, read or not.
    pub(crate) fn caps(&self) -> Vec<CapId> {
        let read = self.recording.info.lives.caps().map(|(cap, _)| cap);
        let unread = self.unread.caps().map(|(cap, _)| cap);
        let caps: BTreeSet<CapId> = read.chain(unread).collect();
        caps.into_iter().collect()
    }

    /// Whether nothing of a span is read yet.
    pub(crate) fn is_unread(&self, span: Interval) -> bool {
        !self.recording.is_settled() && self.unread_in(span).start() == span.start()
    }

    /// The part of a view that is not read yet.
    pub(crate) fn unread_in(&self, view: Interval) -> Interval {
        let info = &self.recording.info;
        let read_to = info.first_and_last().map_or(Nanos(0), |(_, last)| last);
        Interval::new(view.start().max(read_to), view.end())
    }
}

/// A track that a log has, and what its label says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The track.
    pub row: Row,
    /// Its name.
    pub title: String,
    /// Its name in a narrow window.
    pub short: String,
    /// A short note at the right of the name; may be empty.
    pub note: String,
    /// The series of a gauge, by number, that the log has nothing of.
    pub lacks: Vec<u8>,
}

impl Listed {
    /// A track without a note that has one name for wide and narrow windows.
    pub fn new(row: impl Into<Row>, title: impl Into<String>) -> Self {
        let title = title.into();
        Self {
            row: row.into(),
            short: title.clone(),
            title,
            note: String::new(),
            lacks: Vec::new(),
        }
    }

    /// With another name for narrow windows.
    #[must_use]
    pub fn short(self, short: impl Into<String>) -> Self {
        let short = short.into();
        Self { short, ..self }
    }

    /// Without some of the series of its gauge.
    #[must_use]
    pub fn lacking(self, lacks: Vec<u8>) -> Self {
        Self { lacks, ..self }
    }

    /// With a note.
    #[must_use]
    pub fn note(self, note: impl Into<String>) -> Self {
        let note = note.into();
        Self { note, ..self }
    }
}

/// What a log has to be shown beside its capabilities and threads, which are
/// told apart from this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The tracks, in their usual order within each group.
    pub tracks: Vec<Listed>,
    /// Whose the capabilities and threads are, if several processes have written the log.
    pub processes: Processes,
    /// Whether there is a heap profile.
    pub heap_profile: bool,
    /// The foreign functions of most announced calls, by the number that marks
    /// have for them.
    pub foreign_functions: Vec<Frame>,
    /// The functions of most profile samples, by the number that marks have for
    /// them.
    pub sampled_functions: Vec<Frame>,
}

impl Contents {
    /// What a log has, as far as it is read.
    #[must_use]
    pub fn of(log: &Log<'_>) -> Self {
        let profiles = &log.recording.profiles;
        let rows = &log.recording.profile_rows;
        Self {
            tracks: Row::of_log(log),
            processes: Processes::of(log.recording),
            heap_profile: !log.recording.heap().is_empty(),
            foreign_functions: rows.foreign_functions(profiles),
            sampled_functions: rows.sampled_functions(profiles),
        }
    }

    /// A track of the log.
    #[must_use]
    pub fn find(&self, row: Row) -> Option<&Listed> {
        self.tracks.iter().find(|track| track.row == row)
    }

    /// The tracks of one kind, in their order.
    pub fn of_kind<T: TryFrom<Row>>(&self) -> impl Iterator<Item = (T, &Listed)> {
        let tracks = self.tracks.iter();
        tracks.filter_map(|track| Some((T::try_from(track.row).ok()?, track)))
    }
}

/// What is known of a log's tracks.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The capabilities, each with a note.
    pub caps: &'a [(CapId, String)],
    /// What there is beside capabilities and threads.
    pub contents: &'a Contents,
    /// The listed threads, in their order.
    pub threads: &'a [ThreadRow],
    /// Threads that are pinned and not among them.
    pub pinned_threads: &'a [ThreadRow],
    /// How many threads match the filter.
    pub threads_in_all: u64,
}
