//! Slices: stretches of time of a log that can be read each for itself, by several
//! readers at once. Put together in their order they are the log, event by event.
//!
//! Events are delivered by time, each capability's in the order in which they were
//! written. So at any time a log can be cut in two: each capability at its first
//! event that is not before that time. What comes before these events is delivered
//! before them, whatever the times of later ones. Where a cut is in a block is not
//! known before the block is read: both slices read it from its start, and one of
//! them passes over the events of the other.
//!
//! This takes blocks that are in order and hold what their markers say. A log in
//! which a capability's blocks overlap is one slice. Should a block turn out to hold
//! other times than it says, the log is read again without cuts
//! ([`LogReader::append`](crate::LogReader::append)).

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::block_list::BlockList;
use super::blocks::Block;
use super::event::EventType;
use super::header::Header;
use super::order::{Merged, Merger, SectionStreams, Sink};
use super::problem::DamageList;
use super::rows::{Early, Place, RowIndex};
use super::stream::{Cuts, Stream};
use super::window::Need;
use crate::ids::{CapId, Nanos};

/// How many bytes a slice has, about: so large that starting one costs little, so
/// small that several are at work at once.
pub const SLICE_BYTES: u64 = 16 << 20;
/// How many blocks before the first one of a slice tell what it may look like.
const BEFORE: usize = 2;

/// A stretch of time of a log: all that is needed to read it, but for the bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slice {
    /// The log in the file that it is of.
    section: usize,
    header: Arc<Header>,
    cuts: Cuts,
    /// Whether nothing of the section is before it.
    pub(crate) is_first: bool,
    streams: Vec<SliceStream>,
    /// Where capabilities go on that have no block in it.
    later: Vec<Place>,
    /// The bytes of its events, about.
    pub bytes: u64,
    rows_every: Option<u64>,
}

/// The blocks of a capability that may have events of a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SliceStream {
    cap: Option<CapId>,
    blocks: Arc<BlockList>,
    /// The number of the first, of all that the capability has.
    first_number: usize,
    /// How many are before the first that is read.
    before: usize,
    /// Where the capability goes on behind its blocks.
    later: Option<Place>,
}

impl Slice {
    /// The part of a section from a cut to another; without a cut its end.
    fn new(section: usize, streams: &SectionStreams, cuts: Cuts, rows_every: Option<u64>) -> Self {
        let (mut bytes, mut later) = (0, Vec::new());
        let parts = streams.streams.iter().filter_map(|(cap, blocks)| {
            let first = blocks.partition_point(|block| block.bounds.to < cuts.from);
            let first = if cuts.from == Nanos(0) { 0 } else { first };
            let end = cuts.to.map_or(blocks.len(), |to| {
                blocks.partition_point(|block| block.bounds.from < to)
            });
            let before = first.min(BEFORE);
            let next = Place::of_block(*cap, blocks, end.max(first));
            if first >= end {
                later.extend(next);
                return None;
            }
            let own = blocks.range(first..end);
            let begin_inside = own.filter(|block| block.bounds.from >= cuts.from);
            bytes += begin_inside
                .map(|block| block.end.0 - block.start.0)
                .sum::<u64>();
            Some(SliceStream {
                cap: *cap,
                blocks: Arc::new(blocks.range(first - before..end).collect()),
                first_number: first - before,
                before,
                later: next,
            })
        });
        let parts = parts.collect();
        Self {
            section,
            header: Arc::clone(&streams.header),
            cuts,
            is_first: cuts.from == Nanos(0),
            streams: parts,
            later,
            bytes,
            rows_every,
        }
    }

    /// The log in the file that it is of.
    #[must_use]
    pub const fn section(&self) -> usize {
        self.section
    }

    /// No event before this belongs to it, but for some that are dated back.
    pub(crate) const fn from(&self) -> Nanos {
        self.cuts.from
    }

    /// Whether there is more of the section, before or after it.
    pub(crate) fn is_cut(&self) -> bool {
        !self.is_first || self.cuts.to.is_some()
    }
}

/// Where a log is cut.
#[derive(Clone, Debug)]
pub enum Cutting {
    /// So that slices have about so many bytes each.
    Bytes(u64),
    /// At these times, in order.
    At(Vec<Nanos>),
}

/// The slices of a section from a time on.
pub(crate) fn plan(
    section: usize,
    streams: &SectionStreams,
    cutting: &Cutting,
    from: Nanos,
    rows_every: Option<u64>,
) -> Vec<Slice> {
    let mut cuts = vec![from];
    if streams.are_in_order() {
        match cutting {
            Cutting::Bytes(bytes) => cuts.extend(even_cuts(streams, *bytes, from)),
            Cutting::At(times) => cuts.extend(times.iter().filter(|time| **time > from)),
        }
    }
    let ends = cuts.iter().copied().map(Some).skip(1).chain([None]);
    let slices = cuts.iter().zip(ends).map(|(&from, to)| {
        let cuts = Cuts { from, to };
        Slice::new(section, streams, cuts, rows_every)
    });
    slices.collect()
}

/// Times after `from` at which blocks begin, with about as many bytes between each two. Blocks
/// that reach over a cut are read twice: slices are to be larger than those.
fn even_cuts(streams: &SectionStreams, slice_bytes: u64, from: Nanos) -> Vec<Nanos> {
    const TWICE_AT_MOST: u64 = 4;
    let len = |block: &Block| block.end.0 - block.start.0;
    let all = streams.streams.iter().map(|(_, blocks)| blocks);
    let largest = all
        .clone()
        .filter_map(|blocks| blocks.iter().map(|block| len(&block)).max());
    let slice_bytes = slice_bytes.max(largest.sum::<u64>() / 2 * TWICE_AT_MOST);
    let blocks = all.flat_map(|blocks| blocks.iter());
    let blocks = blocks.filter(|block| block.bounds.from >= from);
    let mut begins: Vec<_> = blocks
        .map(|block| (block.bounds.from, len(&block)))
        .collect();
    begins.sort_unstable();
    let mut cuts = Vec::new();
    let (mut bytes, mut last) = (0, from);
    for (begin, len) in begins {
        if bytes >= slice_bytes && begin > last {
            cuts.push(begin);
            (bytes, last) = (0, begin);
        }
        bytes += len;
    }
    cuts
}

impl SectionStreams {
    /// Whether each capability's blocks follow each other in time.
    pub(crate) fn are_in_order(&self) -> bool {
        let dated = !self.header.has_undated();
        let mut all = self.streams.iter();
        dated
            && all.all(|(_, blocks)| {
                blocks
                    .iter()
                    .is_sorted_by(|a, b| a.bounds.to <= b.bounds.from)
            })
    }
}

/// What was found out about a slice beside its events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SlicePart {
    pub(crate) slice: Slice,
    pub(crate) rows: Option<RowIndex>,
    /// Events that are dated before the slice.
    pub(crate) early: Vec<Early>,
    pub(crate) damage: DamageList,
    pub(crate) event_bytes: u64,
    pub(crate) end_marker_bytes: u64,
    /// Whether the index was wrong about it.
    pub(crate) irregular: bool,
}

impl SlicePart {
    /// The header of the log that it is of.
    #[must_use]
    pub const fn header(&self) -> &Arc<Header> {
        &self.slice.header
    }

    /// What it is of.
    #[must_use]
    pub const fn slice(&self) -> &Slice {
        &self.slice
    }

    /// Bytes of its events.
    #[must_use]
    pub const fn event_bytes(&self) -> u64 {
        self.event_bytes
    }
}

/// Reads a slice. It does no I/O, as [`LogReader`](crate::LogReader).
#[derive(Debug)]
pub struct SliceReader {
    slice: Slice,
    merger: Merger,
}

/// How far [`SliceReader::advance`] came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SliceStep {
    /// Supply at least the first byte of each of these ranges.
    Need(Vec<Need>),
    /// The allowance is used up; call again.
    More,
    /// Every event of the slice was delivered.
    Done,
}

impl SliceReader {
    /// Begins to read.
    #[must_use]
    pub fn new(slice: Slice) -> Self {
        let stream = |part: &SliceStream| {
            let blocks = (Arc::clone(&part.blocks), part.first_number, part.before);
            let header = Arc::clone(&slice.header);
            Stream::slice(header, part.cap, blocks, (slice.cuts, part.later))
        };
        let streams = slice.streams.iter().map(stream).collect();
        let rows = slice
            .rows_every
            .map(|every| RowIndex::of_slice(every, slice.cuts.from));
        Self {
            merger: Merger::slice(slice.section, streams, slice.later.clone(), rows),
            slice,
        }
    }

    /// Delivers events as far as the supplied bytes and `max_events` allow.
    pub fn advance(&mut self, sink: &mut impl Sink, max_events: usize) -> SliceStep {
        match self.merger.advance(sink, max_events) {
            Merged::Need(needs) => SliceStep::Need(needs),
            Merged::More => SliceStep::More,
            Merged::Done => SliceStep::Done,
        }
    }

    /// Takes bytes of the file that begin at `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.merger.supply(at, bytes);
    }

    /// Learns that the file ends at `len`, earlier than it was said to.
    pub fn cut(&mut self, len: u64) {
        self.merger.cut(len);
    }

    /// The ranges that will be wanted soon, most urgent first.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.merger.upcoming()
    }

    /// Bytes of the events that were delivered.
    #[must_use]
    pub const fn done_bytes(&self) -> u64 {
        self.merger.done_bytes
    }

    /// What was found out, once all is delivered.
    #[must_use]
    pub fn finish(mut self) -> SlicePart {
        let mut rows = self.merger.rows.take();
        SlicePart {
            slice: self.slice,
            early: rows.as_mut().map(RowIndex::take_early).unwrap_or_default(),
            rows,
            damage: self.merger.damage,
            event_bytes: self.merger.done_bytes,
            end_marker_bytes: self.merger.end_marker_bytes,
            irregular: self.merger.irregular,
        }
    }
}

impl Header {
    /// Whether there may be events whose times say nothing.
    fn has_undated(&self) -> bool {
        self.decl(EventType::CREATE_MACHINE).is_some()
    }
}
