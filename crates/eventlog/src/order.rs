//! Analysis order: each capability's events as written, with the capabilities merged by time. Each capability's
//! blocks are in order, so only one window per capability must be in memory.
//!
//! Events of one capability are not sorted: the runtime back-dates `EndGC`, and a sort by time would put it before
//! the statistics that belong to it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::block_list::BlockList;
use super::blocks::{Block, BlockIndex, Section};
use super::event_set::EventSet;
use super::header::Header;
use super::problem::{Damage, DamageKind, DamageList};
use super::record::Record;
use super::rows::{Chunk, ResumePoint, RowIndex};
use super::scan::Bounds;
use super::stream::{FillStep, LOW_WATER, Stream, truncate_block};
use super::window::Need;
use crate::hash::SeededSet;
use crate::ids::{ByteOffset, CapId, Nanos};

/// Consumer of events in analysis order.
///
/// A sink declares the event types that it consumes. A caller with several sinks [`offer`](Self::offer)s each
/// event to all of them, so that no filter in front withholds events that a sink needs. A pair of sinks is a sink.
pub trait Sink {
    /// The event types that the sink consumes.
    const CONSUMES: EventSet = EventSet::ALL;

    /// Consumes one event. Events of other types may also be passed and must be ignored.
    fn event(&mut self, record: &Record<'_>);

    /// Told after consecutive events of one capability: their earliest and latest times.
    #[inline]
    fn stretch(&mut self, cap: Option<CapId>, (earliest, latest): (Nanos, Nanos)) {
        let _ = (cap, earliest, latest);
    }

    /// Passes an event on if its type is consumed.
    #[inline]
    fn offer(&mut self, record: &Record<'_>) {
        if Self::CONSUMES.contains(record.id) {
            self.event(record);
        }
    }
}

impl<A: Sink, B: Sink> Sink for (A, B) {
    const CONSUMES: EventSet = A::CONSUMES.union(B::CONSUMES);

    #[inline]
    fn event(&mut self, record: &Record<'_>) {
        self.0.offer(record);
        self.1.offer(record);
    }

    #[inline]
    fn stretch(&mut self, cap: Option<CapId>, times: (Nanos, Nanos)) {
        self.0.stretch(cap, times);
        self.1.stretch(cap, times);
    }
}

/// Sink that consumes no events.
pub(crate) struct NullSink;

impl Sink for NullSink {
    const CONSUMES: EventSet = EventSet::NONE;
    fn event(&mut self, _: &Record<'_>) {}
    fn offer(&mut self, _: &Record<'_>) {}
}

impl<F: FnMut(&Record<'_>)> Sink for F {
    fn event(&mut self, record: &Record<'_>) {
        self(record);
    }
}

/// Result of [`Merger::advance`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MergeStep {
    /// At least one byte of each of these ranges is needed.
    Need(Vec<Need>),
    /// The event limit is reached.
    More,
    /// All events were delivered.
    Done,
}

/// The blocks of a section, by capability.
#[derive(Debug)]
pub(crate) struct SectionStreams {
    pub(crate) header: Arc<Header>,
    pub(crate) streams: Vec<(Option<CapId>, Arc<BlockList>)>,
    /// Whether the end is marked, or known to be missing.
    pub(crate) ended: bool,
    pub(crate) end: ByteOffset,
}

impl SectionStreams {
    pub(crate) fn new(section: &Section) -> Self {
        let truncated = section.blocks.iter().any(|block| block.truncated);
        let latest = section.blocks.iter().map(|block| block.end_time).max();
        let mut by_cap: BTreeMap<Option<CapId>, BoundsBuilder> = BTreeMap::new();
        for block in section.blocks.iter() {
            by_cap.entry(block.cap).or_default().add(block);
        }
        Self {
            header: Arc::clone(&section.header),
            streams: by_cap
                .into_iter()
                .map(|(cap, blocks)| (cap, Arc::new(blocks.finish(latest.unwrap_or_default()))))
                .collect(),
            ended: section.ended || truncated,
            end: section.end,
        }
    }
}

/// Returns the damage for a section without an end marker.
pub(crate) const fn no_end_marker(at: ByteOffset) -> Damage {
    Damage {
        at,
        lost_bytes: 0,
        kind: DamageKind::NoEndMarker,
        after: None,
        cap: None,
    }
}

/// Builder that computes the time range which the neighboring blocks of a capability allow each block: a block is
/// begun when the previous one was written.
#[derive(Debug, Default)]
struct BoundsBuilder {
    blocks: BlockList,
    /// The last block, which is pending until the next one is known.
    waits: Option<Block>,
    /// Time at which the previous block was written.
    from: Nanos,
}

impl BoundsBuilder {
    fn add(&mut self, block: Block) {
        let next = block.begin_time;
        if let Some(before) = self.waits.replace(block) {
            self.widen(before, next);
        }
    }

    /// Returns all blocks. None ends after `latest`.
    fn finish(mut self, latest: Nanos) -> BlockList {
        if let Some(last) = self.waits.take() {
            self.widen(last, latest);
        }
        self.blocks
    }

    fn widen(&mut self, mut block: Block, next: Nanos) {
        let from = self.from;
        if block.end_time != Nanos(0) {
            let sound = block.bounds != Bounds::ANY;
            let own = if sound {
                block.bounds
            } else {
                Bounds { from, to: next }
            };
            block.neighbor_bounds = Bounds {
                from: from.min(own.from),
                to: next.max(own.to),
            };
            block.bounds = own;
        }
        self.from = block.end_time;
        self.blocks.push(block);
    }
}

/// Queue entry of a stream, ordered by the time and then the file offset of its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct QueueEntry {
    time: Nanos,
    offset: u64,
    stream: usize,
}

/// Blocks in the order in which they will be needed.
#[derive(Debug, Default)]
struct Schedule {
    blocks: BlockList,
    /// Index of the first block that is not begun.
    next: usize,
}

impl Schedule {
    fn new(blocks: impl Iterator<Item = Block> + Clone) -> Self {
        let key = |block: &Block| (block.begin_time, block.start);
        let blocks = if blocks.clone().is_sorted_by_key(|block| key(&block)) {
            blocks.collect()
        } else {
            let mut sorted: Vec<_> = blocks.map(|block| (key(&block), block.end)).collect();
            sorted.sort_unstable();
            let block = |((begin_time, start), end)| Block::unmarked(begin_time, start..end);
            sorted.into_iter().map(block).collect()
        };
        Self { blocks, next: 0 }
    }

    /// Returns the remaining file ranges.
    fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let left = self.blocks.range(self.next..self.blocks.len());
        left.map(|block| block.start.0..block.end.0)
    }
}

/// K-way merge of the streams of a log, one section after the other.
#[derive(Debug)]
pub(crate) struct Merger {
    sections: Arc<[SectionStreams]>,
    /// Section number for the row chunks, if only a slice of one section is read.
    slice_of: Option<usize>,
    /// Positions at which capabilities without further events in the slice continue behind it.
    continuations: Vec<ResumePoint>,
    /// Whether events had times that the index rules out.
    pub(crate) irregular: bool,
    /// Index of the first section that is not begun.
    next_section: usize,
    streams: Vec<Stream>,
    /// Streams without a head, which must be filled before the merge continues.
    unfilled: Vec<usize>,
    /// The other streams in descending order, so the earliest head is last.
    queue: Vec<QueueEntry>,
    window: usize,
    /// Buffers of streams that ended, if these are to be used again.
    spare_buffers: Option<Vec<Vec<u8>>>,
    /// The blocks in the order in which they will be needed, from the first that is not begun.
    schedule: Schedule,
    /// Start offsets of later blocks in the schedule that are already begun.
    begun: SeededSet<u64>,
    section_ended: bool,
    section_end: ByteOffset,
    cut_at: u64,
    /// The row index, if it is kept.
    pub(crate) rows: Option<RowIndex>,
    pub(crate) damage: DamageList,
    /// Bytes of the delivered events.
    pub(crate) done_bytes: u64,
    /// Bytes of end-of-data markers inside blocks.
    pub(crate) end_marker_bytes: u64,
}

impl Merger {
    pub(crate) fn new(index: &BlockIndex) -> Self {
        let sections = index.sections.iter();
        let blocks = sections.flat_map(|section| section.blocks.iter());
        Self {
            schedule: Schedule::new(blocks),
            ..Self::from_sections(index.sections.iter().map(SectionStreams::new).collect())
        }
    }

    fn from_sections(sections: Arc<[SectionStreams]>) -> Self {
        Self {
            sections,
            slice_of: None,
            continuations: Vec::new(),
            irregular: false,
            next_section: 0,
            streams: Vec::new(),
            unfilled: Vec::new(),
            queue: Vec::new(),
            window: 0,
            spare_buffers: None,
            schedule: Schedule::default(),
            begun: SeededSet::default(),
            section_ended: true,
            section_end: ByteOffset(0),
            cut_at: u64::MAX,
            rows: None,
            damage: DamageList::default(),
            done_bytes: 0,
            end_marker_bytes: 0,
        }
    }

    /// Continues at the start of a row chunk. `window` is the buffer size for each capability, in bytes.
    pub(crate) fn resume(sections: Arc<[SectionStreams]>, chunk: &Chunk, window: usize) -> Self {
        let mut merger = Self::from_sections(sections);
        let number = chunk.section as usize;
        merger.next_section = number + 1;
        merger.window = window.clamp(2 * LOW_WATER, MAX_WINDOW);
        let Some(section) = merger.sections.get(number) else {
            return merger;
        };
        let streams = section.streams.iter().filter_map(|(cap, blocks)| {
            let point = chunk.resume_points.iter().find(|point| point.cap == *cap)?;
            let (header, blocks) = (Arc::clone(&section.header), Arc::clone(blocks));
            Some(Stream::resume(header, *cap, blocks, point))
        });
        merger.streams = streams.collect();
        merger.unfilled = (0..merger.streams.len()).collect();
        merger
    }

    /// Reads the slice that consists of these streams.
    pub(crate) fn slice(
        section: usize,
        streams: Vec<Stream>,
        continuations: Vec<ResumePoint>,
        rows: Option<RowIndex>,
    ) -> Self {
        let window = window_of(streams.len());
        let mut merger = Self {
            slice_of: Some(section),
            continuations,
            unfilled: (0..streams.len()).collect(),
            streams,
            window,
            rows,
            ..Self::from_sections(Arc::new([]))
        };
        merger.look_ahead();
        merger
    }

    /// Computes the schedule, for [`upcoming`](Self::upcoming).
    pub(crate) fn look_ahead(&mut self) {
        let ahead = self.streams.iter().flat_map(Stream::blocks_ahead);
        let continuations = self.sections.iter().skip(self.next_section);
        let continuations = continuations.flat_map(|section| &section.streams);
        let blocks = ahead.chain(continuations.flat_map(|(_, blocks)| blocks.iter()));
        self.schedule = Schedule::new(blocks);
    }

    /// Returns the sections, for [`resume`](Self::resume).
    pub(crate) fn sections(&self) -> Arc<[SectionStreams]> {
        Arc::clone(&self.sections)
    }

    /// Returns the ranges that will be needed soon, most urgent first.
    pub(crate) fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let waits = |range: &Range<u64>| !self.begun.contains(&range.start);
        self.schedule.iter().filter(waits)
    }

    /// Delivers events in analysis order, about `max_events` of them.
    pub(crate) fn advance(&mut self, sink: &mut impl Sink, max_events: usize) -> MergeStep {
        let mut left = max_events;
        loop {
            if let Err(needs) = self.fill_all() {
                return MergeStep::Need(needs);
            }
            if self.streams.is_empty() {
                if !self.next_section() {
                    return MergeStep::Done;
                }
                continue;
            }
            if left == 0 {
                return MergeStep::More;
            }
            let allowed = left.min(self.begin_chunk());
            left -= self.run(sink, allowed);
        }
    }

    /// Begins a row chunk if one is due. Returns the number of events until the next.
    fn begin_chunk(&mut self) -> usize {
        let Some(rows) = &mut self.rows else {
            return usize::MAX;
        };
        let section = self.slice_of.unwrap_or(self.next_section.saturating_sub(1));
        let left = rows.left_in_chunk(section);
        if left > 0 {
            return left;
        }
        let resume_points = self.streams.iter().filter_map(Stream::resume_point);
        let resume_points = resume_points
            .chain(self.continuations.iter().copied())
            .collect();
        rows.begin_chunk(section, resume_points)
    }

    /// Fills every stream that has no head, and drops exhausted ones.
    fn fill_all(&mut self) -> Result<(), Vec<Need>> {
        if self.unfilled.is_empty() {
            return Ok(());
        }
        let mut needs = Vec::new();
        let mut exhausted = Vec::new();
        for i in std::mem::take(&mut self.unfilled) {
            match self.streams[i].fill(self.window, &mut self.damage) {
                FillStep::Ready => self.enqueue(i),
                FillStep::Need(need) => {
                    needs.push(need);
                    self.unfilled.push(i);
                }
                FillStep::Exhausted | FillStep::SkippedBlock => exhausted.push(i),
            }
        }
        if !needs.is_empty() {
            self.unfilled.extend(exhausted);
            return Err(needs);
        }
        if exhausted.is_empty() {
            return Ok(());
        }
        exhausted.sort_unstable();
        for i in exhausted.into_iter().rev() {
            let mut stream = self.streams.swap_remove(i);
            if let Some(spare_buffers) = &mut self.spare_buffers {
                stream.buffer.clear();
                spare_buffers.push(std::mem::take(&mut stream.buffer));
            }
            self.section_ended |= stream.end_marker_bytes > 0;
            self.irregular |= stream.irregular;
            self.continuations.extend(stream.continuation);
            self.end_marker_bytes += stream.end_marker_bytes;
        }
        // Dropping streams changes the indices of others.
        self.queue.clear();
        for i in 0..self.streams.len() {
            self.enqueue(i);
        }
        Ok(())
    }

    /// Inserts a stream into the queue, if it has a head.
    #[inline]
    fn enqueue(&mut self, stream: usize) {
        let Some(head) = self.streams[stream].head else {
            return;
        };
        let queued = QueueEntry {
            time: head.time,
            offset: self.streams[stream].offset(),
            stream,
        };
        let at = self.queue.partition_point(|other| *other > queued);
        self.queue.insert(at, queued);
    }

    /// Delivers at most `max_events` events, until a stream must be filled. Ties are broken by file offset.
    fn run(&mut self, sink: &mut impl Sink, max_events: usize) -> usize {
        let mut delivered = 0;
        while delivered < max_events
            && let Some((QueueEntry { stream: first, .. }, others)) = self.queue.split_last_mut()
        {
            let stream = &mut self.streams[*first];
            let limit = others
                .last()
                .map_or((Nanos(u64::MAX), u64::MAX), |next| (next.time, next.offset));
            loop {
                let left = max_events - delivered;
                let (events, bytes) = stream.deliver(limit, left, &mut self.rows, sink);
                delivered += events;
                self.done_bytes += bytes;
                if stream.is_past()
                    || stream.head.is_some()
                    || !matches!(stream.fill(self.window, &mut self.damage), FillStep::Ready)
                {
                    break;
                }
            }
            let Some(head) = stream.head else {
                self.unfilled.push(*first);
                self.queue.pop();
                break;
            };
            let queued = QueueEntry {
                time: head.time,
                offset: stream.offset(),
                stream: *first,
            };
            // Capabilities take turns, so the new position is usually near the end.
            let mut at = self.queue.len() - 1;
            while at > 0 && self.queue[at - 1] < queued {
                self.queue[at] = self.queue[at - 1];
                at -= 1;
            }
            self.queue[at] = queued;
        }
        delivered
    }

    /// Opens the streams of the next section.
    fn next_section(&mut self) -> bool {
        if !self.section_ended {
            self.damage.push(no_end_marker(self.section_end));
        }
        self.section_ended = true;
        let Some(section) = self.sections.get(self.next_section) else {
            return false;
        };
        self.next_section += 1;
        self.section_ended = section.ended;
        self.section_end = section.end;
        self.window = window_of(section.streams.len());
        let open = |(cap, blocks): &(Option<CapId>, Arc<BlockList>)| {
            let mut stream = Stream::new(Arc::clone(&section.header), *cap, Arc::clone(blocks));
            stream.cut_at = self.cut_at;
            stream
        };
        self.streams = section.streams.iter().map(open).collect();
        self.unfilled = (0..self.streams.len()).collect();
        true
    }

    /// Supplies bytes of the file, starting at offset `at`: each waiting stream copies its part.
    pub(crate) fn supply(&mut self, at: u64, bytes: &[u8]) {
        for &i in &self.unfilled {
            let stream = &mut self.streams[i];
            let Some(block) = &stream.block else { continue };
            let next = stream.buffer_at + stream.buffer.len() as u64;
            let to = block.end.0.min(next + self.window as u64);
            if next == block.start.0 {
                self.begun.insert(next);
            }
            if at <= next && next < to {
                let from = usize::try_from(next - at).unwrap_or(usize::MAX);
                let to = usize::try_from(to - at)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                if let Some(part) = bytes.get(from..to) {
                    stream.buffer.extend_from_slice(part);
                }
            }
        }
        while !self.begun.is_empty()
            && let Some(first) = self.schedule.blocks.get(self.schedule.next)
            && self.begun.remove(&first.start.0)
        {
            self.schedule.next += 1;
        }
    }

    /// Lends buffers to the streams, before any of them is read.
    pub(crate) fn lend_buffers(&mut self, buffers: Vec<Vec<u8>>) {
        for (stream, buffer) in self.streams.iter_mut().zip(buffers) {
            stream.buffer = buffer;
        }
        self.spare_buffers = Some(Vec::new());
    }

    /// Takes back the buffers of the streams that ended.
    pub(crate) fn take_buffers(&mut self) -> Vec<Vec<u8>> {
        self.spare_buffers.take().unwrap_or_default()
    }

    /// Shortens the file to `len` bytes.
    pub(crate) fn truncate(&mut self, len: u64) {
        self.cut_at = len;
        for stream in &mut self.streams {
            stream.cut_at = len;
            // Events that are already in a window are still delivered.
            let in_window = stream.buffer_at + stream.buffer.len() as u64;
            if let Some(block) = &mut stream.block {
                truncate_block(block, len.max(in_window));
            }
        }
    }
}

/// Returns the buffer size per stream, in bytes.
fn window_of(streams: usize) -> usize {
    let share = WINDOW_BUDGET / streams.max(1);
    share.clamp(2 * LOW_WATER, MAX_WINDOW)
}

/// Memory limit for all windows together, unless there are very many capabilities.
const WINDOW_BUDGET: usize = 64 << 20;
/// Size of the largest block that GHC writes, 2 MiB.
const MAX_WINDOW: usize = 2 << 20;
