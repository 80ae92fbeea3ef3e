//! Resynchronization in damaged data: tests whether a sequence of events begins at a position.

use super::event::EventType;
use serde::{Deserialize, Serialize};

use super::header::{BLOCK_MARKER, Header, MAGIC};
use super::record::{DECADE, Marker, NoEvent, PREFIX, extent};
use crate::ids::Nanos;

/// Range of times that a block's events should lie in, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bounds {
    pub(crate) from: Nanos,
    pub(crate) to: Nanos,
}

impl Bounds {
    /// Returns the time range of a block: from its begin to its flush, or unlimited if it was never flushed. In
    /// all known logs, the event times lie inside it, to the nanosecond.
    pub(crate) fn from_marker(marker: &Marker) -> Self {
        Self::from_times(marker.begin, marker.end)
    }

    /// Returns the time range of a block that was begun and flushed at these times.
    pub(crate) fn from_times(begin: Nanos, end: Nanos) -> Self {
        match (begin, end) {
            (begin, Nanos(0)) => Self {
                from: begin,
                ..Self::ANY
            },
            (begin, end) if begin <= end => Self {
                from: begin,
                to: end,
            },
            _ => Self::ANY,
        }
    }

    /// All plausible times: no log is as long as ten years.
    pub(crate) const ANY: Self = Self {
        from: Nanos(0),
        to: DECADE,
    };

    /// Returns the earliest time that may follow `last` without other information. Times go back by microseconds,
    /// so a second is generous.
    pub(crate) fn earliest_after(last: Nanos) -> Nanos {
        const SLACK: u64 = 1_000_000_000;
        Nanos(last.0.saturating_sub(SLACK))
    }

    pub(crate) fn contains(&self, time: Nanos) -> bool {
        self.from <= time && time <= self.to
    }
}

/// Number of consecutive events that confirm a position.
const CONFIRMING_RUN: usize = 3;

/// Result of [`check_run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// Three events, or fewer that end at a block marker or exactly at the end of the bytes.
    Plausible,
    /// Only events, but the bytes end inside one.
    CutShort,
    /// Something other than events.
    None,
}

/// Checks whether `bytes` begin with events dated in `bounds`.
pub(crate) fn check_run(header: &Header, bytes: &[u8], bounds: Bounds) -> Run {
    let plausible = |yes| if yes { Run::Plausible } else { Run::None };
    let mut pos = 0;
    let mut last = Nanos(0);
    for _ in 0..CONFIRMING_RUN {
        match extent(header, &bytes[pos..]) {
            Ok(event) if event.id == BLOCK_MARKER => {
                let marker = Marker::parse(&bytes[pos..]);
                return plausible(pos > 0 && marker.is_some_and(|marker| marker.is_plausible()));
            }
            Ok(event) if is_undated(event.id) => pos += event.end,
            Ok(event)
                if bounds.contains(event.time) && Bounds::earliest_after(last) <= event.time =>
            {
                last = event.time;
                pos += event.end;
            }
            Err(NoEvent::EndOfData) => return plausible(pos > 0 && pos + 2 == bytes.len()),
            Err(NoEvent::Short(_)) if pos == bytes.len() => return plausible(pos > 0),
            Err(NoEvent::Short(_)) => return Run::CutShort,
            _ => return Run::None,
        }
    }
    Run::Plausible
}

/// Whether `bytes` begin with a plausible run of events.
pub(crate) fn plausible_run(header: &Header, bytes: &[u8], bounds: Bounds) -> bool {
    check_run(header, bytes, bounds) == Run::Plausible
}

/// Whether the block at the start of `bytes` holds a plausible run of events.
pub(crate) fn leads_to_events(header: &Header, bytes: &[u8], marker: &Marker) -> bool {
    let size = if marker.size_is_plausible() {
        marker.size as usize
    } else {
        bytes.len()
    };
    let block = bytes.get(Marker::BYTES..bytes.len().min(size));
    let bounds = if marker.times_are_plausible() {
        Bounds::from_marker(marker)
    } else {
        Bounds::ANY
    };
    block.is_some_and(|block| plausible_run(header, block, bounds))
}

/// Whether the times of a type's events are meaningless: Eden back-dates the creation of a machine to the start of
/// the program.
pub const fn is_undated(id: u16) -> bool {
    id == EventType::CREATE_MACHINE.0
}

/// Parses a marker at a position where one must be: at most one of its fields may be implausible.
pub(crate) fn damaged_marker(bytes: &[u8]) -> Option<Marker> {
    let marker = Marker::parse_as_if(bytes)?;
    let fields = [
        Marker::parse(bytes).is_some(),
        marker.size_is_plausible(),
        marker.times_are_plausible(),
        marker.cap_is_plausible(),
    ];
    let wrong = fields.iter().filter(|plausible| !**plausible).count();
    (wrong <= 1).then_some(marker)
}

/// What follows the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockBoundary {
    /// The marker of the next block.
    Block(Marker),
    /// The end-of-data marker.
    EndOfData,
    /// The header of another section.
    Header,
    /// The end of the file.
    EndOfFile,
    /// An event outside blocks.
    Event,
    /// Invalid bytes.
    Junk,
}

/// Classifies the start of `bytes`, which reach to the end of the file or far enough.
pub(crate) fn classify_boundary(header: &Header, bytes: &[u8]) -> BlockBoundary {
    if bytes.is_empty() {
        return BlockBoundary::EndOfFile;
    }
    if bytes.starts_with(MAGIC) {
        return BlockBoundary::Header;
    }
    if bytes.starts_with(&[0xFF, 0xFF]) {
        return BlockBoundary::EndOfData;
    }
    match Marker::parse(bytes) {
        Some(marker) if marker.is_plausible() => BlockBoundary::Block(marker),
        Some(_) => BlockBoundary::Junk,
        None if outside_times(header, bytes).is_some() => BlockBoundary::Event,
        None => BlockBoundary::Junk,
    }
}

/// Returns the first offset from `at` on where an event can begin; one with type 0 and time 0 cannot exist.
#[inline]
pub(crate) fn pass_zeros(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..) {
        Some(rest) if rest.first_chunk() == Some(&[0; PREFIX]) => at + zeros(rest) - (PREFIX - 1),
        _ => at,
    }
}

/// Returns the number of leading zero bytes.
#[cold]
fn zeros(bytes: &[u8]) -> usize {
    let (pieces, _) = bytes.as_chunks::<64>();
    let are_zeros = |piece: &&[u8; 64]| piece.iter().fold(0, |any, byte| any | byte) == 0;
    let passed = 64 * pieces.iter().take_while(are_zeros).count();
    passed
        + bytes[passed..]
            .iter()
            .take_while(|&&byte| byte == 0)
            .count()
}

/// Finds the first plausible marker in `bytes`, with its offset.
pub(crate) fn next_marker(bytes: &[u8]) -> Option<(usize, Marker)> {
    let [high, low] = BLOCK_MARKER.to_be_bytes();
    let ends = memchr::memchr_iter(low, bytes.get(1..)?);
    let mut starts = ends.filter(|&start| bytes[start] == high);
    starts.find_map(|start| {
        let marker = Marker::parse(&bytes[start..])?;
        marker.is_plausible().then_some((start, marker))
    })
}

/// Maximum number of consecutive events outside blocks that are checked.
const MAX_OUTSIDE_EVENTS: usize = 16;

/// Returns the times of the events outside blocks that `bytes` begin with; `None` if they lead to anything but a
/// block, or the end of the data or of `bytes`.
pub(crate) fn outside_times(header: &Header, bytes: &[u8]) -> Option<Vec<Nanos>> {
    let mut pos = 0;
    let mut times = Vec::new();
    while times.len() < MAX_OUTSIDE_EVENTS {
        let rest = &bytes[pos..];
        match extent(header, rest) {
            Ok(event) if event.id != BLOCK_MARKER => {
                let last = times.last().copied().unwrap_or_default();
                if !Bounds::ANY.contains(event.time) || event.time < Bounds::earliest_after(last) {
                    return None;
                }
                times.push(event.time);
                pos += event.end;
            }
            Err(NoEvent::EndOfData | NoEvent::Short(_)) => return (pos > 0).then_some(times),
            Ok(_) | Err(NoEvent::Undeclared(_)) => {
                let block = damaged_marker(rest).filter(|marker| {
                    marker.is_plausible() || leads_to_events(header, rest, marker)
                });
                return block.filter(|_| pos > 0).map(|_| times);
            }
        }
    }
    Some(times)
}
