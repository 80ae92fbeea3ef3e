//! Rows of the event list: all events in display order, divided into independently readable chunks.
//!
//! Display order is analysis order except for the few events that the runtime back-dates. A chunk is therefore a
//! range of time: it holds the events later than all events before its start, and not later than those before the
//! start of the next chunk. To read a chunk, resume at its start, read up to the last event that belongs to it,
//! and sort the events in its time range. The number of rows before a chunk is exact.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::block_list::BlockList;
use super::event::EventType;
use super::event_set::EventSet;
use super::order::{MergeStep, Merger, SectionStreams, Sink};
use super::record::Record;
use super::recovery::TimeConstraints;
use super::window::Need;
use crate::ids::{ByteOffset, CapId, Nanos};

/// Resume position of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResumePoint {
    pub(crate) cap: Option<CapId>,
    /// Index of the block among those of the capability.
    pub(crate) block: u32,
    pub(crate) offset: ByteOffset,
    /// Constraints on the time of the next event.
    pub(crate) constraints: TimeConstraints,
}

impl ResumePoint {
    /// Returns the start of a capability's block with this index, if it exists.
    pub(crate) fn block_start(
        cap: Option<CapId>,
        blocks: &BlockList,
        number: usize,
    ) -> Option<Self> {
        let block = blocks.get(number)?;
        Some(Self {
            cap,
            block: u32::try_from(number).ok()?,
            offset: block.start,
            constraints: TimeConstraints::new(block.bounds),
        })
    }
}

/// Chunk of rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chunk {
    pub(crate) section: u32,
    pub(crate) resume_points: Box<[ResumePoint]>,
    /// Number of events delivered before the chunk.
    pub delivered: u64,
    /// All rows of the chunk are later than this; `None` for the first chunk of a section.
    pub after: Option<Nanos>,
    /// Number of events delivered later that belong to earlier chunks.
    back_dated: u64,
    /// Number of delivered events after which the previous chunks are complete.
    pub complete_after: u64,
    /// The event types in the chunk.
    pub types: EventSet,
}

impl Chunk {
    /// Returns the number of its first row.
    pub const fn first_row(&self) -> u64 {
        self.delivered + self.back_dated
    }

    /// Whether an event of this time belongs to an earlier chunk.
    pub fn is_after(&self, time: Nanos) -> bool {
        self.after.is_some_and(|after| time <= after)
    }
}

/// Index of all chunks of a log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RowIndex {
    /// The chunks in the order of their rows.
    pub chunks: Vec<Chunk>,
    every: u64,
    latest: Nanos,
    delivered: u64,
    /// Earlier times belong to chunks of previous slices.
    from: Nanos,
    early_events: Vec<EarlyEvent>,
}

/// An event of a slice that is dated before the slice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct EarlyEvent {
    time: Nanos,
    id: u16,
    /// Number of events delivered since the slice began, including this one.
    delivered: u64,
    /// Number of chunks begun in the slice until then.
    chunks: usize,
}

/// Number of events per chunk, without back-dated ones. Reading a chunk takes about a millisecond; a log of 70
/// million events has 4,300 chunks.
pub const CHUNK_EVENTS: u64 = 16_384;

impl RowIndex {
    /// Creates an empty index, with a chunk per `every` events.
    pub const fn new(every: u64) -> Self {
        Self {
            chunks: Vec::new(),
            every,
            latest: Nanos(0),
            delivered: 0,
            from: Nanos(0),
            early_events: Vec::new(),
        }
    }

    /// Creates the index of a slice that begins at `from`.
    pub(crate) fn for_slice(every: u64, from: Nanos) -> Self {
        Self {
            from,
            ..Self::new(every)
        }
    }

    /// Takes the events that are dated before the slice.
    pub(crate) fn take_early_events(&mut self) -> Vec<EarlyEvent> {
        std::mem::take(&mut self.early_events)
    }

    /// Appends the chunks of the next slice.
    pub(crate) fn append(&mut self, slice: Self, early_events: &[EarlyEvent]) {
        let (chunks, delivered) = (self.chunks.len(), self.delivered);
        for mut chunk in slice.chunks {
            if chunk.after.is_none() {
                let before = self.chunks.last();
                let same = before.is_some_and(|before| before.section == chunk.section);
                chunk.after = same.then_some(self.latest);
                if !same {
                    self.latest = Nanos(0);
                }
            }
            chunk.delivered += delivered;
            chunk.complete_after += delivered;
            self.chunks.push(chunk);
        }
        for event in early_events {
            self.delivered = delivered + event.delivered;
            self.assign_to_chunk(chunks + event.chunks, event.time, event.id);
        }
        self.delivered = delivered + slice.delivered;
        self.latest = self.latest.max(slice.latest);
    }

    /// Returns the number of rows.
    pub const fn rows(&self) -> u64 {
        self.delivered
    }

    /// Returns the number of events until the next chunk is due.
    pub(crate) fn left_in_chunk(&self, section: usize) -> usize {
        let Some(chunk) = self.chunks.last() else {
            return 0;
        };
        if chunk.section as usize != section {
            return 0;
        }
        let left = (chunk.delivered + self.every).saturating_sub(self.delivered);
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// Begins a chunk. Returns the maximum number of its events.
    pub(crate) fn begin_chunk(
        &mut self,
        section: usize,
        resume_points: Box<[ResumePoint]>,
    ) -> usize {
        let section = u32::try_from(section).unwrap_or(u32::MAX);
        let same = self
            .chunks
            .last()
            .is_some_and(|chunk| chunk.section == section);
        let after = same.then_some(self.latest);
        if !same {
            self.latest = Nanos(0);
        }
        self.chunks.push(Chunk {
            section,
            resume_points,
            delivered: self.delivered,
            after,
            back_dated: 0,
            complete_after: self.delivered,
            types: EventSet::default(),
        });
        usize::try_from(self.every).unwrap_or(usize::MAX)
    }

    /// Returns the time before which events belong to earlier chunks.
    pub(crate) fn chunk_start(&self) -> Nanos {
        let after = self.chunks.last().and_then(|chunk| chunk.after);
        let start = after.map_or(0, |after| after.0.saturating_add(1));
        self.from.max(Nanos(start))
    }

    /// Records events of the current chunk, whose latest time and types these are. Events that belong to earlier
    /// chunks count, but their types are only recorded by [`back_dated`](Self::back_dated).
    pub(crate) fn observe(&mut self, events: u64, latest: Nanos, types: EventSet) {
        self.delivered += events;
        self.latest = self.latest.max(latest);
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.types = chunk.types.union(types);
        }
    }

    /// Records the type of an event that belongs to an earlier chunk.
    #[cold]
    pub(crate) fn back_dated(&mut self, time: Nanos, id: u16) {
        if time < self.from {
            self.early_events.push(EarlyEvent {
                time,
                id,
                delivered: self.delivered,
                chunks: self.chunks.len(),
            });
        } else {
            self.assign_to_chunk(self.chunks.len(), time, id);
        }
    }

    /// Assigns an event to its chunk, among the first `chunks`.
    fn assign_to_chunk(&mut self, chunks: usize, time: Nanos, id: u16) {
        for chunk in self.chunks[..chunks].iter_mut().rev() {
            if !chunk.is_after(time) {
                chunk.types.insert(EventType(id));
                return;
            }
            chunk.back_dated += 1;
            chunk.complete_after = chunk.complete_after.max(self.delivered);
        }
    }

    /// Returns the chunk that contains a row; `None` behind the last row.
    pub fn chunk_of_row(&self, row: u64) -> Option<usize> {
        let after = self
            .chunks
            .partition_point(|chunk| chunk.first_row() <= row);
        after.checked_sub(1).filter(|_| row < self.delivered)
    }

    /// Returns the chunk in which an event of this time is or would be.
    pub fn chunk_of_time(&self, time: Nanos) -> Option<usize> {
        // Sections may overlap in time; the first match wins.
        let fits = |i: usize| {
            let ends = self
                .chunks
                .get(i + 1)
                .is_none_or(|next| next.after.is_none_or(|after| time <= after));
            ends && !self.chunks[i].is_after(time)
        };
        (0..self.chunks.len()).find(|&i| fits(i))
    }

    /// Returns the number of rows in a chunk.
    pub fn chunk_rows(&self, chunk: usize) -> u64 {
        let Some(this) = self.chunks.get(chunk) else {
            return 0;
        };
        let end = self
            .chunks
            .get(chunk + 1)
            .map_or(self.delivered, Chunk::first_row);
        end - this.first_row()
    }
}

/// State needed for reading chunks, apart from the bytes; cheap to clone.
#[derive(Clone, Debug)]
pub struct RowSource {
    pub(crate) sections: Arc<[SectionStreams]>,
    /// The row index.
    pub index: Arc<RowIndex>,
}

/// Reader of events in analysis order, from a chunk on.
#[derive(Debug)]
pub struct RowReader {
    merger: Merger,
    /// Number of events delivered, counted from the start of the log.
    delivered: u64,
}

impl RowReader {
    /// Starts at a chunk. Requests cover `window` bytes of each capability.
    pub fn new(source: &RowSource, chunk: usize, window: usize) -> Option<Self> {
        let from = source.index.chunks.get(chunk)?;
        Some(Self {
            merger: Merger::resume(Arc::clone(&source.sections), from, window),
            delivered: from.delivered,
        })
    }

    /// Computes the schedule, for [`upcoming`](Self::upcoming).
    pub fn look_ahead(&mut self) {
        self.merger.look_ahead();
    }

    /// Returns ranges that will be needed soon, most urgent first.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.merger.upcoming()
    }

    /// Returns the number of events delivered, counted from the start of the log.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Supplies bytes of the file, starting at offset `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.merger.supply(at, bytes);
    }

    /// Delivers at most `max_events` events, until `until` events of the log are delivered. Returns `Ok(true)` if
    /// that is reached.
    ///
    /// # Errors
    /// The ranges that are needed; supply at least the first byte of each.
    pub fn read(
        &mut self,
        until: u64,
        max_events: usize,
        sink: &mut impl Sink,
    ) -> Result<bool, Vec<Need>> {
        let left = usize::try_from(until.saturating_sub(self.delivered)).unwrap_or(usize::MAX);
        if left == 0 {
            return Ok(true);
        }
        let delivered = &mut self.delivered;
        let mut counting = |record: &Record<'_>| {
            *delivered += 1;
            sink.event(record);
        };
        match self.merger.advance(&mut counting, left.min(max_events)) {
            MergeStep::Need(needs) => Err(needs),
            MergeStep::More => Ok(self.delivered >= until),
            MergeStep::Done => Ok(true),
        }
    }
}
