//! What can be wrong with a log: errors that end the reading, and damage that
//! costs a stretch of it.

use std::mem::discriminant;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::ids::{ByteOffset, CapId, Nanos};

/// Why a file cannot be read as an eventlog at all. Every message says what,
/// where and what to try.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file has no bytes.
    #[error(
        "The file is empty (0 bytes). The program may still be running or was killed before it wrote its first block; try +RTS --eventlog-flush-interval=1."
    )]
    Empty,
    /// The file does not start with an eventlog header.
    #[error(
        "This is not an eventlog: it does not begin with “hdrb” (byte 0). {found} Run the program with +RTS -l and open the .eventlog file that it writes."
    )]
    NotAnEventlog {
        /// What it looks like instead; a sentence, or empty.
        found: String,
    },
    /// The header breaks off.
    #[error(
        "The file ends inside its header, at byte {0}. It was cut off while being written or copied; nothing after the header is there to show."
    )]
    HeaderCut(u64),
    /// The header is not well formed.
    #[error(
        "The header is damaged at byte {at}: {what}. Copy the file again in binary mode, or make a new log."
    )]
    HeaderDamaged {
        /// The byte of the file.
        at: u64,
        /// What was expected there.
        what: &'static str,
    },
    /// Line ends were converted.
    #[error(
        "The file was converted as text: a line end was changed at byte {0}. Copy it in binary mode (ftp: type binary; git: -text), or make a new log."
    )]
    TextConverted(u64),
    /// A GHC before 6.12 wrote it.
    #[error(
        "This log is in a format of early 2009, before GHC 6.12 (its type table at byte {0} says so), which is not read here. Build the program with a newer GHC."
    )]
    Ancient(u64),
    /// The compressed data is broken.
    #[error(
        "The {format} data is damaged after {at} uncompressed bytes: {why}. Compress the log again, or open it uncompressed."
    )]
    Decompress {
        /// `gzip` or `zstd`.
        format: &'static str,
        /// How much came out before.
        at: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What was uncompressed is compressed again.
    #[error("The log was compressed twice: it has to be uncompressed once before it is opened.")]
    CompressedTwice,
    /// More data than this machine's memory allows.
    #[error(
        "The log needs more memory than is allowed: {need_bytes} bytes, with a budget of {budget_bytes}. {advice}"
    )]
    TooBig {
        /// What it takes.
        need_bytes: u64,
        /// What is allowed.
        budget_bytes: u64,
        /// What to try.
        advice: String,
    },
    /// The file could not be read.
    #[error(
        "The file could not be read at byte {at}: {why}. It may have been moved, changed or deleted since it was opened; open it again."
    )]
    Read {
        /// The byte of the file.
        at: u64,
        /// The system's words.
        why: String,
    },
}

/// What the system says of an error, without its number for it.
#[must_use]
pub fn system_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

/// A stretch of the log that could not be read, or is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Where it begins.
    pub at: ByteOffset,
    /// How many bytes were passed over; 0 if nothing was lost.
    pub lost_bytes: u64,
    /// What is wrong.
    pub kind: DamageKind,
    /// The time of the last event before it, if there was one in its block.
    pub after: Option<Nanos>,
    /// The capability whose block it stands in.
    pub cap: Option<CapId>,
}

/// What is wrong with a stretch of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DamageKind {
    /// An event type that the header does not declare.
    UndeclaredType(u16),
    /// An event that is longer than the block it stands in.
    Overrun(u16),
    /// An event dated before the one before it, or after the next or its block.
    TimeOutsideBlock(Nanos),
    /// Events that are all dated outside their block.
    BlockTimes(Nanos),
    /// An event that does not end where another begins.
    Misfit(u16),
    /// A block marker whose size cannot be.
    BlockSize(u32),
    /// A block marker with a field that cannot be, or one inside a block.
    BlockMarker,
    /// A length that reaches over the events that follow.
    Length(u16),
    /// Bytes between blocks that are no event.
    BetweenBlocks,
    /// Bytes before the header (GHC 9.0 leaves some when logging restarts).
    BeforeHeader,
    /// Bytes after the end-of-data marker.
    AfterEnd,
    /// The file ends inside an event or a block.
    Truncated,
    /// The file ends without the end-of-data marker.
    NoEndMarker,
    /// A later section of the file starts with a broken header.
    SectionHeader,
    /// A line of a heap profile in text that cannot be read.
    ReportLine(LineFlaw),
    /// A census or mark of a heap profile in text that is dated before the one before it.
    ReportTime(Nanos),
    /// A unit of a heap profile in text that is not known.
    ReportUnit,
    /// A heap profile in text ends inside of a line or census.
    ReportCut,
}

/// What is wrong with a line of a heap profile in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LineFlaw {
    /// It is none of the lines that such a file has.
    Unknown,
    /// No number that can be read stands where one has to be.
    Number,
    /// A band, or the end of a census, outside of any.
    Outside,
    /// It has more than [`MAX_LINE_BYTES`](crate::hp::MAX_LINE_BYTES).
    TooLong,
    /// It begins a census in another, which is taken to end there.
    Unended,
}

impl DamageKind {
    /// Whether data is missing because of it.
    #[must_use]
    pub const fn loses_data(self) -> bool {
        !matches!(
            self,
            Self::BeforeHeader | Self::AfterEnd | Self::NoEndMarker | Self::ReportUnit
        )
    }
}

/// Damage found so far: the first ones of the file in full, all of them counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamageList {
    /// The first [`DamageList::KEPT`] of them, in the order of the file once another
    /// list was added; until then some more, as found.
    pub kept: Vec<Damage>,
    /// How many bytes they cost in all.
    pub lost_bytes: u64,
    /// How many there are of each kind, with the first of it and where that is.
    kinds: Vec<(DamageKind, ByteOffset, u64)>,
}

impl DamageList {
    /// How many are kept in full.
    pub const KEPT: usize = 1000;

    /// Adds one.
    pub fn push(&mut self, damage: Damage) {
        self.lost_bytes += damage.lost_bytes;
        self.add(damage.kind, damage.at, 1);
        self.kept.push(damage);
        if self.kept.len() >= 2 * Self::KEPT {
            self.keep_first();
        }
    }

    /// Forgets all but the first ones of the file, in whatever order they were found.
    fn keep_first(&mut self) {
        self.kept.sort_by_key(|damage| damage.at);
        self.kept.truncate(Self::KEPT);
    }

    /// Adds those of another list, and puts all in the order of the file.
    pub(crate) fn append(&mut self, other: &Self) {
        self.lost_bytes += other.lost_bytes;
        for &(kind, first, count) in &other.kinds {
            self.add(kind, first, count);
        }
        self.kinds.sort_by_key(|&(_, first, _)| first);
        self.kept.extend(&other.kept);
        self.keep_first();
    }

    /// Takes all of a kind out.
    pub(crate) fn remove(&mut self, kind: DamageKind) {
        self.kinds.retain(|(other, ..)| *other != kind);
        self.kept.retain(|damage| damage.kind != kind);
    }

    fn add(&mut self, kind: DamageKind, at: ByteOffset, more: u64) {
        let same = |other: &DamageKind| discriminant(other) == discriminant(&kind);
        match self.kinds.iter_mut().find(|(other, ..)| same(other)) {
            Some((known, first, count)) => {
                if at < *first {
                    (*known, *first) = (kind, at);
                }
                *count += more;
            }
            None => self.kinds.push((kind, at, more)),
        }
    }

    /// How many there are of each kind, in the order of the first ones: whatever a
    /// kind has with it is that of the first.
    pub fn kinds(&self) -> impl Iterator<Item = (DamageKind, u64)> + '_ {
        let mut kinds = self.kinds.clone();
        kinds.sort_by_key(|&(_, first, _)| first);
        kinds.into_iter().map(|(kind, _, count)| (kind, count))
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.kinds().map(|(_, count)| count).sum()
    }

    /// Whether there is any of a kind that has nothing with it.
    pub(crate) fn has(&self, kind: DamageKind) -> bool {
        self.kinds().any(|(other, _)| other == kind)
    }

    /// Whether any of it means that data is missing.
    #[must_use]
    pub fn loses_data(&self) -> bool {
        self.kinds().any(|(kind, _)| kind.loses_data())
    }
}
