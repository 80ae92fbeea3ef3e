//! Slices: ranges of time of a log that several readers can read in parallel. Concatenated in order, they are the
//! log, event by event.
//!
//! Events are delivered by time, each capability's in the order in which they were written. So a log can be cut at
//! any time: each capability at its first event that is not before that time. Everything before these events is
//! delivered before them, whatever the times of later ones. The position of a cut inside a block is unknown until
//! the block is read: both slices read it from its start, and the second one skips the events of the first.
//!
//! This requires blocks that are in order and whose markers are right. A log in which a capability's blocks
//! overlap is one slice. If a block turns out to contain other times than its marker says, the log is read again
//! without cuts ([`LogReader::append`](crate::LogReader::append)).

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::block_list::BlockList;
use super::blocks::Block;
use super::event::EventType;
use super::header::Header;
use super::order::{MergeStep, Merger, SectionStreams, Sink};
use super::problem::DamageList;
use super::rows::{EarlyEvent, ResumePoint, RowIndex};
use super::stream::{SliceBounds, Stream};
use super::window::Need;
use crate::ids::{CapId, Nanos};

/// Approximate slice size in bytes: large enough that starting one costs little, small enough for parallelism.
pub const SLICE_BYTES: u64 = 16 << 20;
/// Number of blocks before a slice that provide time constraints for it.
const BEFORE: usize = 2;

/// A range of time of a log: everything that reading it requires, except the bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slice {
    /// Index of the section.
    section: usize,
    header: Arc<Header>,
    cuts: SliceBounds,
    /// Whether nothing in the section precedes it.
    pub(crate) is_first: bool,
    streams: Vec<SliceStream>,
    /// Positions at which capabilities without a block in the slice continue.
    continuations: Vec<ResumePoint>,
    /// Approximate size of its events in bytes.
    pub bytes: u64,
    rows_every: Option<u64>,
}

/// The blocks of a capability that may have events of a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SliceStream {
    cap: Option<CapId>,
    blocks: Arc<BlockList>,
    /// Index of the first block among all blocks of the capability.
    first_number: usize,
    /// Number of blocks before the first one that is read.
    before: usize,
    /// Position at which the capability continues behind these blocks.
    continuation: Option<ResumePoint>,
}

impl Slice {
    /// Creates the slice of a section between two cuts; without a second cut, it ends with the section.
    fn new(
        section: usize,
        streams: &SectionStreams,
        cuts: SliceBounds,
        rows_every: Option<u64>,
    ) -> Self {
        let (mut bytes, mut later) = (0, Vec::new());
        let parts = streams.streams.iter().filter_map(|(cap, blocks)| {
            let first = blocks.partition_point(|block| block.bounds.to < cuts.from);
            let first = if cuts.from == Nanos(0) { 0 } else { first };
            let end = cuts.to.map_or(blocks.len(), |to| {
                blocks.partition_point(|block| block.bounds.from < to)
            });
            let before = first.min(BEFORE);
            let next = ResumePoint::block_start(*cap, blocks, end.max(first));
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
                continuation: next,
            })
        });
        let parts = parts.collect();
        Self {
            section,
            header: Arc::clone(&streams.header),
            cuts,
            is_first: cuts.from == Nanos(0),
            streams: parts,
            continuations: later,
            bytes,
            rows_every,
        }
    }

    /// Returns the index of the section.
    pub const fn section(&self) -> usize {
        self.section
    }

    /// Returns the start time; only back-dated events of the slice are earlier.
    pub(crate) const fn from(&self) -> Nanos {
        self.cuts.from
    }

    /// Whether the section has other slices.
    pub(crate) fn is_cut(&self) -> bool {
        !self.is_first || self.cuts.to.is_some()
    }
}

/// Rule for cutting a log into slices.
#[derive(Clone, Debug)]
pub enum SlicingRule {
    /// Into slices of about this many bytes.
    Bytes(u64),
    /// At these times, in ascending order.
    At(Vec<Nanos>),
}

/// Returns the slices of a section from a time on.
pub(crate) fn plan(
    section: usize,
    streams: &SectionStreams,
    slicing_rule: &SlicingRule,
    from: Nanos,
    rows_every: Option<u64>,
) -> Vec<Slice> {
    let mut cuts = vec![from];
    if streams.are_in_order() {
        match slicing_rule {
            SlicingRule::Bytes(bytes) => cuts.extend(even_cuts(streams, *bytes, from)),
            SlicingRule::At(times) => cuts.extend(times.iter().filter(|time| **time > from)),
        }
    }
    let ends = cuts.iter().copied().map(Some).skip(1).chain([None]);
    let slices = cuts.iter().zip(ends).map(|(&from, to)| {
        let cuts = SliceBounds { from, to };
        Slice::new(section, streams, cuts, rows_every)
    });
    slices.collect()
}

/// Returns times after `from` at which blocks begin, with about the same number of bytes between them. Blocks that
/// span a cut are read twice, so slices are made larger than those.
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
    /// Whether no blocks of a capability overlap in time.
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

/// Results of reading a slice, apart from its events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SliceResult {
    pub(crate) slice: Slice,
    pub(crate) rows: Option<RowIndex>,
    /// Events that are dated before the slice.
    pub(crate) early_events: Vec<EarlyEvent>,
    pub(crate) damage: DamageList,
    pub(crate) event_bytes: u64,
    pub(crate) end_marker_bytes: u64,
    /// Whether the index was wrong about the slice.
    pub(crate) irregular: bool,
}

impl SliceResult {
    /// Returns the header of the slice's section.
    pub const fn header(&self) -> &Arc<Header> {
        &self.slice.header
    }

    /// Returns the slice that was read.
    pub const fn slice(&self) -> &Slice {
        &self.slice
    }

    /// Returns the total size of the events in bytes.
    pub const fn event_bytes(&self) -> u64 {
        self.event_bytes
    }
}

/// Reader of one slice. Like [`LogReader`](crate::LogReader), it does no I/O.
#[derive(Debug)]
pub struct SliceReader {
    slice: Slice,
    merger: Merger,
}

/// Result of [`SliceReader::advance`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SliceStep {
    /// Supply at least the first byte of each of these ranges.
    Need(Vec<Need>),
    /// The event limit is reached; call again.
    More,
    /// All events of the slice were delivered.
    Done,
}

impl SliceReader {
    /// Creates a reader at the start of `slice`.
    pub fn new(slice: Slice) -> Self {
        let stream = |part: &SliceStream| {
            let blocks = (Arc::clone(&part.blocks), part.first_number, part.before);
            let header = Arc::clone(&slice.header);
            Stream::slice(header, part.cap, blocks, (slice.cuts, part.continuation))
        };
        let streams = slice.streams.iter().map(stream).collect();
        let rows = slice
            .rows_every
            .map(|every| RowIndex::for_slice(every, slice.cuts.from));
        Self {
            merger: Merger::slice(slice.section, streams, slice.continuations.clone(), rows),
            slice,
        }
    }

    /// Delivers events as far as the supplied bytes and `max_events` allow.
    pub fn advance(&mut self, sink: &mut impl Sink, max_events: usize) -> SliceStep {
        match self.merger.advance(sink, max_events) {
            MergeStep::Need(needs) => SliceStep::Need(needs),
            MergeStep::More => SliceStep::More,
            MergeStep::Done => SliceStep::Done,
        }
    }

    /// Supplies bytes of the file, starting at offset `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.merger.supply(at, bytes);
    }

    /// Lends the buffers of an earlier reader, which may be none, before any bytes are supplied. A reader to which none
    /// were lent keeps none.
    pub fn lend_buffers(&mut self, buffers: Vec<Vec<u8>>) {
        self.merger.lend_buffers(buffers);
    }

    /// Takes the buffers back, if some were lent. Only complete once all events are delivered.
    pub fn take_buffers(&mut self) -> Vec<Vec<u8>> {
        self.merger.take_buffers()
    }

    /// Shortens the file to `len` bytes.
    pub fn truncate(&mut self, len: u64) {
        self.merger.truncate(len);
    }

    /// Returns the ranges that will be needed soon, most urgent first.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.merger.upcoming()
    }

    /// Returns the total size of the delivered events in bytes.
    pub const fn done_bytes(&self) -> u64 {
        self.merger.done_bytes
    }

    /// Returns the results, once all events are delivered.
    pub fn finish(mut self) -> SliceResult {
        let mut rows = self.merger.rows.take();
        SliceResult {
            slice: self.slice,
            early_events: rows
                .as_mut()
                .map(RowIndex::take_early_events)
                .unwrap_or_default(),
            rows,
            damage: self.merger.damage,
            event_bytes: self.merger.done_bytes,
            end_marker_bytes: self.merger.end_marker_bytes,
            irregular: self.merger.irregular,
        }
    }
}

impl Header {
    /// Whether there may be events with meaningless times.
    fn has_undated(&self) -> bool {
        self.decl(EventType::CREATE_MACHINE).is_some()
    }
}
