//! Problems of a log: errors that end the reading, and damage that costs a part of it.

use std::mem::discriminant;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::ids::{ByteOffset, CapId, Nanos};

/// Reason why a file cannot be read as an eventlog at all. Every message states what is wrong, where, and what to
/// try.
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
        /// What the file looks like instead, as a sentence; may be empty.
        found: String,
    },
    /// The file ends inside the header, at this byte.
    #[error(
        "The file ends inside its header, at byte {0}. It was cut off while being written or copied; it contains no events."
    )]
    HeaderCut(u64),
    /// The header is malformed.
    #[error(
        "The header is damaged at byte {at}: {what}. Copy the file again in binary mode, or make a new log."
    )]
    HeaderDamaged {
        /// Byte offset in the file.
        at: u64,
        /// What was expected there.
        what: &'static str,
    },
    /// Line ends were converted, first at this byte.
    #[error(
        "The file was converted as text: a line end was changed at byte {0}. Copy it in binary mode (ftp: type binary; git: -text), or make a new log."
    )]
    TextConverted(u64),
    /// A GHC before 6.12 wrote the log; its type table starts at this byte.
    #[error(
        "This log has an unsupported format of early 2009, before GHC 6.12 (see its type table at byte {0}). Build the program with a newer GHC."
    )]
    Ancient(u64),
    /// The compressed data is broken.
    #[error(
        "The {format} data is damaged after {at} uncompressed bytes: {why}. Compress the log again, or open it uncompressed."
    )]
    Decompress {
        /// `gzip` or `zstd`.
        format: &'static str,
        /// Number of bytes decompressed before the error.
        at: u64,
        /// Reason of the failure.
        why: &'static str,
    },
    /// The decompressed data is compressed again.
    #[error("The log was compressed twice. Decompress it once before you open it.")]
    CompressedTwice,
    /// The log needs more memory than the budget.
    #[error(
        "The log exceeds the memory budget: {need_bytes} bytes, with a budget of {budget_bytes}. {advice}"
    )]
    TooBig {
        /// Required memory in bytes.
        need_bytes: u64,
        /// Allowed memory in bytes.
        budget_bytes: u64,
        /// Suggested remedy.
        advice: String,
    },
    /// The file could not be read.
    #[error(
        "The file could not be read at byte {at}: {why}. It may have been moved, changed or deleted since it was opened; open it again."
    )]
    Read {
        /// Byte offset in the file.
        at: u64,
        /// The system's error message.
        why: String,
    },
}

/// Returns the system's error message without the error number.
pub fn system_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

/// Range of a log that could not be read or is irregular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Start of the range.
    pub at: ByteOffset,
    /// Number of bytes skipped; 0 if nothing was lost.
    pub lost_bytes: u64,
    /// The kind of damage.
    pub kind: DamageKind,
    /// Time of the last event before the damage, if there is one in its block.
    pub after: Option<Nanos>,
    /// The capability whose block contains the damage.
    pub cap: Option<CapId>,
}

/// Reason why a part of a log could not be read as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DamageKind {
    /// An event type that the header does not declare.
    UndeclaredType(u16),
    /// An event that is longer than the block that contains it.
    Overrun(u16),
    /// An event dated before the previous one, or after the next one or the end of its block.
    TimeOutsideBlock(Nanos),
    /// Events that are all dated outside their block.
    BlockTimes(Nanos),
    /// An event of this type that does not end where another begins.
    Misfit(u16),
    /// A block marker with an impossible size.
    BlockSize(u32),
    /// A block marker with an impossible field, or inside a block.
    BlockMarker,
    /// A length that reaches over the following events.
    Length(u16),
    /// Bytes between blocks that are not an event.
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
    /// An unreadable line of a textual heap profile.
    ReportLine(LineFlaw),
    /// A census or mark of a textual heap profile that is dated before the previous one.
    ReportTime(Nanos),
    /// An unknown unit in a textual heap profile.
    ReportUnit,
    /// A textual heap profile ends inside a line or census.
    ReportCut,
}

/// Defect of a line of a textual heap profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LineFlaw {
    /// The line is of no known kind.
    Unknown,
    /// A number is missing or unreadable.
    Number,
    /// A band or the end of a census, outside any census.
    Outside,
    /// The line is longer than [`MAX_LINE_BYTES`](crate::hp::MAX_LINE_BYTES).
    TooLong,
    /// The line begins a census inside another, which is taken to end there.
    Unended,
}

impl DamageKind {
    /// Whether damage of this kind loses data.
    pub const fn loses_data(self) -> bool {
        !matches!(
            self,
            Self::BeforeHeader | Self::AfterEnd | Self::NoEndMarker | Self::ReportUnit
        )
    }

    /// Whether damage of this kind is a missing end.
    pub const fn is_missing_end(self) -> bool {
        matches!(self, Self::NoEndMarker | Self::Truncated | Self::ReportCut)
    }
}

/// Damage found so far: the first occurrences in full, all of them counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamageList {
    /// The first [`DamageList::KEPT`] occurrences in the file, in file order once another list was appended. Until
    /// then, up to twice that number in the order found.
    pub kept: Vec<Damage>,
    /// Total number of bytes lost.
    pub lost_bytes: u64,
    /// For each kind: its first occurrence in the file, the offset of that, and the number of occurrences.
    kinds: Vec<(DamageKind, ByteOffset, u64)>,
}

/// Sorts kinds of damage by their first occurrence.
fn sort_by_first(kinds: &mut [(DamageKind, ByteOffset, u64)]) {
    kinds.sort_by_key(|&(_, first, _)| first);
}

impl DamageList {
    /// Number of occurrences kept in full.
    pub const KEPT: usize = 1000;

    /// Adds one occurrence.
    pub fn push(&mut self, damage: Damage) {
        self.lost_bytes += damage.lost_bytes;
        self.add(damage.kind, damage.at, 1);
        self.kept.push(damage);
        if self.kept.len() >= 2 * Self::KEPT {
            self.keep_first();
        }
    }

    /// Drops all but the first occurrences in the file, in whatever order they were found.
    fn keep_first(&mut self) {
        self.kept.sort_by_key(|damage| damage.at);
        self.kept.truncate(Self::KEPT);
    }

    /// Adds the occurrences of another list and sorts all into file order.
    pub(crate) fn append(&mut self, other: &Self) {
        self.lost_bytes += other.lost_bytes;
        for &(kind, first, count) in &other.kinds {
            self.add(kind, first, count);
        }
        sort_by_first(&mut self.kinds);
        self.kept.extend(&other.kept);
        self.keep_first();
    }

    /// Removes all occurrences of a kind.
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

    /// Returns the number of occurrences of each kind, in the order of their first occurrence. The data in a kind
    /// is that of its first occurrence.
    pub fn kinds(&self) -> impl Iterator<Item = (DamageKind, u64)> + '_ {
        let mut kinds = self.kinds.clone();
        sort_by_first(&mut kinds);
        kinds.into_iter().map(|(kind, _, count)| (kind, count))
    }

    /// Returns the total number of occurrences.
    pub fn count(&self) -> u64 {
        self.kinds().map(|(_, count)| count).sum()
    }

    /// Whether a kind that carries no data occurs.
    pub(crate) fn has(&self, kind: DamageKind) -> bool {
        self.kinds().any(|(other, _)| other == kind)
    }

    /// Whether any occurrence loses data.
    pub fn loses_data(&self) -> bool {
        self.kinds().any(|(kind, _)| kind.loses_data())
    }
}
