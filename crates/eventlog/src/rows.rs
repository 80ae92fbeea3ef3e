//! The rows of the event list: all events in display order, in chunks that
//! can be read for themselves.
//!
//! Display order is analysis order but for the few events that the runtime
//! back-dates. So a chunk is a stretch of time: it holds the events that are
//! later than all events before its beginning was reached, and not later than
//! the ones before the next chunk's. To read a chunk one goes on where it
//! begins, up to where the last event that belongs to it was met, and puts
//! what is in its time in order. How many rows are before it is exact.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::block_list::BlockList;
use super::event::EventType;
use super::event_set::EventSet;
use super::judge::Order;
use super::order::{Merged, Merger, SectionStreams, Sink};
use super::record::Record;
use super::window::Need;
use crate::ids::{ByteOffset, CapId, Nanos};

/// Where a capability's events go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) cap: Option<CapId>,
    /// Which of its blocks.
    pub(crate) block: u32,
    pub(crate) offset: ByteOffset,
    /// What is expected of the next event's time.
    pub(crate) order: Order,
}

impl Place {
    /// Where a capability's block begins, if it has so many.
    pub(crate) fn of_block(cap: Option<CapId>, blocks: &BlockList, number: usize) -> Option<Self> {
        let block = blocks.get(number)?;
        Some(Self {
            cap,
            block: u32::try_from(number).ok()?,
            offset: block.start,
            order: Order::new(block.bounds),
        })
    }
}

/// A chunk of rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chunk {
    pub(crate) section: u32,
    pub(crate) places: Box<[Place]>,
    /// How many events were delivered before it began.
    pub delivered: u64,
    /// All of its rows are later than this; `None`: it is the first of its section.
    pub after: Option<Nanos>,
    /// How many events, delivered later, are of chunks before.
    back_dated: u64,
    /// How many events were delivered when the last of the chunks before was met.
    pub settled: u64,
    /// The types of its events.
    pub types: EventSet,
}

impl Chunk {
    /// The number of its first row.
    #[must_use]
    pub const fn first_row(&self) -> u64 {
        self.delivered + self.back_dated
    }

    /// Whether an event of that time belongs to a chunk before.
    pub fn is_after(&self, time: Nanos) -> bool {
        self.after.is_some_and(|after| time <= after)
    }
}

/// All chunks of a log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RowIndex {
    /// In the order of their rows.
    pub chunks: Vec<Chunk>,
    every: u64,
    latest: Nanos,
    delivered: u64,
    /// Before this all times belong to chunks of slices before.
    from: Nanos,
    early: Vec<Early>,
}

/// An event of a slice that is dated before it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Early {
    time: Nanos,
    id: u16,
    /// How many events were delivered, with this one, since the slice began.
    delivered: u64,
    /// How many chunks were begun by then.
    chunks: usize,
}

/// How many events a chunk has, but for back-dated ones. Reading one takes
/// about a millisecond; a log of 70 million events has 4,300 of them.
pub const CHUNK_EVENTS: u64 = 16_384;

impl RowIndex {
    /// An empty index, with a chunk for each `every` events.
    #[must_use]
    pub const fn new(every: u64) -> Self {
        Self {
            chunks: Vec::new(),
            every,
            latest: Nanos(0),
            delivered: 0,
            from: Nanos(0),
            early: Vec::new(),
        }
    }

    /// The index of a slice that begins at `from`.
    pub(crate) fn of_slice(every: u64, from: Nanos) -> Self {
        Self {
            from,
            ..Self::new(every)
        }
    }

    /// The events that are dated before the slice.
    pub(crate) fn take_early(&mut self) -> Vec<Early> {
        std::mem::take(&mut self.early)
    }

    /// Adds the chunks of the slice that follows.
    pub(crate) fn append(&mut self, slice: Self, early: &[Early]) {
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
            chunk.settled += delivered;
            self.chunks.push(chunk);
        }
        for event in early {
            self.delivered = delivered + event.delivered;
            self.belongs(chunks + event.chunks, event.time, event.id);
        }
        self.delivered = delivered + slice.delivered;
        self.latest = self.latest.max(slice.latest);
    }

    /// How many rows there are.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.delivered
    }

    /// How many events may be delivered before a chunk is due.
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

    /// Begins a chunk; the result is how many events it may have.
    pub(crate) fn begin_chunk(&mut self, section: usize, places: Box<[Place]>) -> usize {
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
            places,
            delivered: self.delivered,
            after,
            back_dated: 0,
            settled: self.delivered,
            types: EventSet::default(),
        });
        usize::try_from(self.every).unwrap_or(usize::MAX)
    }

    /// Takes the next event.
    #[inline]
    pub(crate) fn observe(&mut self, time: Nanos, id: u16) {
        self.delivered += 1;
        self.latest = self.latest.max(time);
        let Some(chunk) = self.chunks.last_mut() else {
            return;
        };
        if chunk.is_after(time) || time < self.from {
            self.back_dated(time, id);
        } else {
            chunk.types.insert(EventType(id));
        }
    }

    /// An event that belongs to an earlier chunk.
    #[cold]
    fn back_dated(&mut self, time: Nanos, id: u16) {
        if time < self.from {
            self.early.push(Early {
                time,
                id,
                delivered: self.delivered,
                chunks: self.chunks.len(),
            });
        } else {
            self.belongs(self.chunks.len(), time, id);
        }
    }

    /// Finds the chunk of an event, the last one or one before it, of so many.
    fn belongs(&mut self, chunks: usize, time: Nanos, id: u16) {
        for chunk in self.chunks[..chunks].iter_mut().rev() {
            if !chunk.is_after(time) {
                chunk.types.insert(EventType(id));
                return;
            }
            chunk.back_dated += 1;
            chunk.settled = chunk.settled.max(self.delivered);
        }
    }

    /// The chunk with that row; `None` if there are not so many rows.
    #[must_use]
    pub fn chunk_of_row(&self, row: u64) -> Option<usize> {
        let after = self
            .chunks
            .partition_point(|chunk| chunk.first_row() <= row);
        after.checked_sub(1).filter(|_| row < self.delivered)
    }

    /// The chunk in which an event of that time is, or would be.
    #[must_use]
    pub fn chunk_of_time(&self, time: Nanos) -> Option<usize> {
        // Sections may overlap in time: the first that fits is taken.
        let fits = |i: usize| {
            let ends = self
                .chunks
                .get(i + 1)
                .is_none_or(|next| next.after.is_none_or(|after| time <= after));
            ends && !self.chunks[i].is_after(time)
        };
        (0..self.chunks.len()).find(|&i| fits(i))
    }

    /// How many rows a chunk has.
    #[must_use]
    pub fn len_of(&self, chunk: usize) -> u64 {
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

/// What reading a chunk needs beside the bytes; cheap to clone.
#[derive(Clone, Debug)]
pub struct RowSource {
    pub(crate) sections: Arc<[SectionStreams]>,
    /// The chunks.
    pub index: Arc<RowIndex>,
}

/// Reads on from a chunk, event by event in analysis order.
#[derive(Debug)]
pub struct RowReader {
    merger: Merger,
    /// How many events were delivered, from the log's first.
    delivered: u64,
}

impl RowReader {
    /// Begins at a chunk. `window` bytes of each capability are wanted at once.
    #[must_use]
    pub fn new(source: &RowSource, chunk: usize, window: usize) -> Option<Self> {
        let from = source.index.chunks.get(chunk)?;
        Some(Self {
            merger: Merger::resume(Arc::clone(&source.sections), from, window),
            delivered: from.delivered,
        })
    }

    /// Finds out what will be wanted, for [`upcoming`](Self::upcoming).
    pub fn look_ahead(&mut self) {
        self.merger.look_ahead();
    }

    /// Ranges that will be needed soon, most urgent first.
    pub fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.merger.upcoming()
    }

    /// How many events were delivered, from the log's first.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Takes bytes of the file that begin at `at`.
    pub fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.merger.supply(at, bytes);
    }

    /// Delivers events until `until` of the log's were delivered, `max_events`
    /// of them at most. `Ok(true)` if that many were delivered.
    ///
    /// # Errors
    /// The ranges that are needed; at least the first byte of each.
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
            Merged::Need(needs) => Err(needs),
            Merged::More => Ok(self.delivered >= until),
            Merged::Done => Ok(true),
        }
    }
}
