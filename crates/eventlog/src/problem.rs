//! What can be wrong with a log: errors that end the reading, and damage that
//! costs a stretch of it.

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
        /// Where.
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
        "This log is in a format of early 2009, before GHC 6.12 (its type table at byte {0} says so), which no current tool reads. Build the program with a newer GHC."
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
        /// The decoder's words.
        why: String,
    },
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
        /// Where.
        at: u64,
        /// The system's words.
        why: String,
    },
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
}

impl DamageKind {
    /// Whether data is missing because of it.
    #[must_use]
    pub const fn loses_data(self) -> bool {
        !matches!(self, Self::BeforeHeader | Self::NoEndMarker)
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (at, lost) = (self.at, self.lost_bytes);
        match self.kind {
            DamageKind::UndeclaredType(id) => write!(
                f,
                "byte {at}: event type {id} is not declared in the header; {lost} bytes were skipped"
            ),
            DamageKind::Overrun(id) => write!(
                f,
                "byte {at}: an event of type {id} is longer than its block; {lost} bytes were skipped"
            ),
            DamageKind::TimeOutsideBlock(time) if lost == 0 => write!(
                f,
                "byte {at}: an event is dated {} ns, which does not fit between its neighbours; it is shown at their time",
                time.0
            ),
            DamageKind::TimeOutsideBlock(time) => write!(
                f,
                "byte {at}: an event is dated {} ns, which does not fit between its neighbours; {lost} bytes were skipped",
                time.0
            ),
            DamageKind::BlockTimes(time) => write!(
                f,
                "byte {at}: the events from here on are dated {} ns and later, which is not when their block was written; they were read",
                time.0
            ),
            DamageKind::Misfit(id) => write!(
                f,
                "byte {at}: what begins like an event of type {id} does not end where another event begins; {lost} bytes were skipped"
            ),
            DamageKind::BlockSize(size) => write!(
                f,
                "byte {at}: a block claims {size} bytes, which does not fit; its events were read up to the next block"
            ),
            DamageKind::BlockMarker => write!(
                f,
                "byte {at}: a block marker is damaged; its events were read as far as the rest of it allows, {lost} bytes were skipped"
            ),
            DamageKind::Length(id) => write!(
                f,
                "byte {at}: an event of type {id} claims to reach over the events after it; it was cut where they begin"
            ),
            DamageKind::BetweenBlocks => write!(
                f,
                "byte {at}: {lost} bytes between blocks are no events; they were skipped"
            ),
            DamageKind::BeforeHeader => write!(
                f,
                "byte {at}: {lost} stale bytes before the header, as GHC 9.0 leaves them when logging restarts"
            ),
            DamageKind::AfterEnd => write!(
                f,
                "byte {at}: {lost} bytes after the end-of-data marker were not read"
            ),
            DamageKind::Truncated => write!(
                f,
                "byte {at}: the file ends inside an event or block; {lost} bytes could not be read. The program was still running or was killed"
            ),
            DamageKind::NoEndMarker => write!(
                f,
                "byte {at}: the file ends without an end-of-data marker. The program was still running or was killed; events that it had not yet flushed are missing"
            ),
            DamageKind::SectionHeader => write!(
                f,
                "byte {at}: a second log in this file has a broken header; {lost} bytes were not read"
            ),
        }
    }
}

/// Damage found so far: the first ones in full, all of them counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DamageList {
    /// The first [`DamageList::KEPT`] of them, as found.
    pub kept: Vec<Damage>,
    /// How many there are.
    pub count: u64,
    /// How many bytes they cost in all.
    pub lost_bytes: u64,
}

impl DamageList {
    /// How many are kept in full.
    pub const KEPT: usize = 1000;

    /// Adds one.
    pub fn push(&mut self, damage: Damage) {
        self.count += 1;
        self.lost_bytes += damage.lost_bytes;
        if self.kept.len() < Self::KEPT {
            self.kept.push(damage);
        }
    }

    /// Whether any of it means that data is missing.
    #[must_use]
    pub fn loses_data(&self) -> bool {
        self.kept.iter().any(|damage| damage.kind.loses_data())
    }
}
