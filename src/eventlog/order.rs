//! Analysis order: the events of each capability as they were written, the
//! capabilities merged by time. Each capability's blocks are in order, so one
//! window per capability is all that has to be in memory.
//!
//! Inside a capability nothing is sorted: the runtime back-dates `EndGC`, and
//! a sort by time would put it before the statistics that belong to it.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::blocks::{Block, BlockIndex, Section};
use super::event::EventType;
use super::header::{BLOCK_MARKER, Header};
use super::problem::{Damage, DamageKind, DamageList};
use super::record::{Extent, MAX_EVENT_BYTES, NoEvent, Record, extent, fields_end};
use super::scan::{Bounds, Run, is_undated, plausible_run, run};
use super::window::Need;
use crate::ids::{ByteOffset, CapId, Nanos};

/// Something that takes events in analysis order.
pub trait Sink {
    /// Takes one event.
    fn event(&mut self, record: &Record<'_>);
}

impl<F: FnMut(&Record<'_>)> Sink for F {
    fn event(&mut self, record: &Record<'_>) {
        self(record);
    }
}

/// How far [`Merger::advance`] came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Merged {
    /// These ranges are needed first; at least one byte of each.
    Need(Vec<Need>),
    /// The number of events that was allowed is used up.
    More,
    /// All events were delivered.
    Done,
}

/// With less than this in a window, and more in the block, a window is
/// refilled before it is decoded: no event is ever cut by a window's end.
const LOW_WATER: usize = MAX_EVENT_BYTES + 64;

/// The blocks of one capability, being read.
#[derive(Debug)]
struct Stream {
    header: Arc<Header>,
    cap: Option<CapId>,
    blocks: std::vec::IntoIter<Block>,
    block: Option<Block>,
    /// A window on the current block.
    buffer: Vec<u8>,
    buffer_at: u64,
    pos: usize,
    /// Up to where in the window events are found without a look around.
    quick_end: usize,
    bounds: Bounds,
    last_time: Option<Nanos>,
    head: Option<Extent>,
    /// Whether the end-of-data marker was met.
    ended: bool,
}

/// What a stream has to offer.
enum Fill {
    Ready,
    Need(Need),
    Exhausted,
}

impl Stream {
    fn new(header: Arc<Header>, cap: Option<CapId>, blocks: Vec<Block>) -> Self {
        Self {
            header,
            cap,
            blocks: blocks.into_iter(),
            block: None,
            buffer: Vec::new(),
            buffer_at: 0,
            pos: 0,
            quick_end: 0,
            bounds: Bounds::ANY,
            last_time: None,
            head: None,
            ended: false,
        }
    }

    fn offset(&self) -> u64 {
        self.buffer_at + self.pos as u64
    }

    /// Finds the next event where that is simple: one of a fixed size, well
    /// inside block and window, dated inside the block.
    #[inline]
    fn find_quickly(&mut self) -> bool {
        let Some(view) = self.buffer.get(self.pos..self.quick_end) else {
            return false;
        };
        let Some((id, rest)) = view.split_first_chunk::<2>() else {
            return false;
        };
        let id = u16::from_be_bytes(*id);
        let end = self.header.quick_size(id);
        let Some(time) = rest
            .first_chunk::<8>()
            .filter(|_| end != 0 && end <= view.len())
        else {
            return false;
        };
        let time = Nanos(u64::from_be_bytes(*time));
        // Zeros are no event, though they look like one.
        if !self.bounds.contains(time) || time == Nanos(0) {
            return false;
        }
        self.head = Some(Extent {
            id,
            time,
            payload: 10,
            end,
        });
        true
    }

    /// Finds the next event, going to the next block where one ends.
    fn fill(&mut self, window: usize, damage: &mut DamageList) -> Fill {
        loop {
            let at = self.offset();
            let Some(block) = &self.block else {
                let Some(block) = self.blocks.next() else {
                    return Fill::Exhausted;
                };
                self.buffer.clear();
                self.buffer_at = block.start.0;
                self.pos = 0;
                self.quick_end = 0;
                self.bounds = block.bounds;
                self.last_time = None;
                self.block = Some(block);
                continue;
            };
            let left = usize::try_from(block.end.0 - at).unwrap_or(usize::MAX);
            if left == 0 {
                self.leave_block(damage);
                continue;
            }
            let have = self.buffer.len() - self.pos;
            if have < left && have < LOW_WATER {
                self.buffer.drain(..self.pos);
                self.buffer_at += self.pos as u64;
                self.pos = 0;
                self.quick_end = 0;
                let from = self.buffer_at + have as u64;
                let to = block.end.0.min(at + window as u64);
                return Fill::Need(Need(from..to));
            }
            // Up to here the window is known to be enough, or the block ends.
            self.quick_end = self.pos + if have < left { have - LOW_WATER } else { left };
            let view = &self.buffer[self.pos..self.pos + have.min(left)];
            match extent(&self.header, view) {
                Ok(event) if event.id == BLOCK_MARKER => {
                    self.report(event.end, DamageKind::BlockMarker, damage);
                    self.pos += event.end;
                }
                Ok(event) if self.bounds.contains(event.time) || is_undated(event.id) => {
                    let end = if event.is_variable() {
                        self.believable_end(event, left, damage)
                    } else {
                        event.end
                    };
                    self.head = Some(Extent { end, ..event });
                    return Fill::Ready;
                }
                Ok(event) => self.out_of_bounds(event, left, damage),
                Err(NoEvent::EndOfData) if left == 2 => {
                    self.ended = true;
                    self.pos += 2;
                }
                Err(NoEvent::EndOfData) => {
                    self.resync(DamageKind::UndeclaredType(0xFFFF), left, damage);
                }
                Err(NoEvent::Short(_)) if block.truncated => self.cut_off(left, damage),
                Err(NoEvent::Short(id)) => self.resync(DamageKind::Overrun(id), left, damage),
                Err(NoEvent::Undeclared(id)) => {
                    self.resync(DamageKind::UndeclaredType(id), left, damage);
                }
            }
        }
    }

    fn report(&self, lost: usize, kind: DamageKind, damage: &mut DamageList) {
        damage.push(Damage {
            at: ByteOffset(self.offset()),
            lost_bytes: lost as u64,
            kind,
            after: self.last_time,
            cap: self.cap,
        });
    }

    /// The file ends inside this event.
    fn cut_off(&mut self, left: usize, damage: &mut DamageList) {
        self.report(left, DamageKind::Truncated, damage);
        self.pos += left;
        if let Some(block) = &mut self.block {
            block.truncated = false;
        }
    }

    fn leave_block(&mut self, damage: &mut DamageList) {
        if self.block.take().is_some_and(|block| block.truncated) {
            self.report(0, DamageKind::Truncated, damage);
        }
    }

    /// An event that is dated outside its block. If the ones after it are
    /// too, the block's own times are wrong; if only this one is, it is lost.
    fn out_of_bounds(&mut self, event: Extent, left: usize, damage: &mut DamageList) {
        let view = &self.buffer[self.pos..];
        let view = &view[..view.len().min(left)];
        let kind = DamageKind::TimeOutsideBlock(event.time);
        if plausible_run(&self.header, &view[event.end..], self.bounds) {
            self.report(event.end, kind, damage);
            self.pos += event.end;
        } else if event.end < left && plausible_run(&self.header, view, Bounds::ANY) {
            self.report(0, kind, damage);
            self.bounds = Bounds::ANY;
        } else if event.end == left {
            self.report(left, kind, damage);
            self.pos += left;
        } else {
            self.resync(kind, left, damage);
        }
    }

    /// Where an event with a length of its own ends. If no events follow and
    /// some stand inside of it, the length is wrong and it ends before them.
    fn believable_end(&self, event: Extent, left: usize, damage: &mut DamageList) -> usize {
        let view = &self.buffer[self.pos..];
        let view = &view[..view.len().min(left)];
        let bounds = self.bounds;
        let followed = |end: usize| plausible_run(&self.header, &view[end..], bounds);
        let by_fields = fields_end(event.id, &view[event.payload..event.end])
            .map(|len| event.payload + len)
            .filter(|&end| end < event.end && followed(end));
        let inside = by_fields.or_else(|| {
            let after = run(&self.header, &view[event.end..], bounds);
            if event.end == left || after != Run::None {
                return None;
            }
            (event.payload..event.end).find(|&end| followed(end))
        });
        if inside.is_some() {
            self.report(0, DamageKind::Length(event.id), damage);
        }
        inside.unwrap_or(event.end)
    }

    /// Passes over bytes up to where a plausible run of events begins, or to
    /// the end of the block. What the window does not hold yet is looked at
    /// when it has come: each piece is reported for itself.
    fn resync(&mut self, kind: DamageKind, left: usize, damage: &mut DamageList) {
        let view = &self.buffer[self.pos..];
        let view = &view[..view.len().min(left)];
        let bounds = self.bounds;
        // Where the window ends before the block, runs at its end can't be judged yet.
        let reach = if view.len() == left {
            view.len()
        } else {
            view.len() - LOW_WATER / 2
        };
        let found = (1..reach).find(|&skip| plausible_run(&self.header, &view[skip..], bounds));
        let skip = found.unwrap_or(reach);
        self.report(skip, kind, damage);
        self.pos += skip;
    }

    /// Delivers the event that [`fill`](Self::fill) found.
    #[inline]
    fn deliver(&mut self, event: Extent, sink: &mut impl Sink) {
        let bytes = &self.buffer[self.pos..self.pos + event.end];
        sink.event(&Record {
            offset: ByteOffset(self.buffer_at + self.pos as u64),
            id: EventType(event.id),
            time: event.time,
            cap: self.cap,
            payload: &bytes[event.payload..],
            header: &self.header,
        });
        self.pos += event.end;
        self.head = None;
        if !is_undated(event.id) {
            self.last_time = Some(event.time);
        }
    }
}

/// A stream's place in the order: by its head's time, then by the place in the
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Queued {
    time: Nanos,
    offset: u64,
    stream: usize,
}

/// Merges the streams of a log's sections, one section after the other.
#[derive(Debug)]
pub(crate) struct Merger {
    sections: std::vec::IntoIter<Section>,
    streams: Vec<Stream>,
    /// Streams without a head, which must be filled before merging goes on.
    unfilled: Vec<usize>,
    /// The others, the one whose head comes first at the end.
    queue: Vec<Queued>,
    window: usize,
    /// The blocks in the order in which they will be wanted, from the first
    /// that was not begun.
    schedule: VecDeque<Range<u64>>,
    /// Where the blocks after that one start that were begun before it.
    begun: FxHashSet<u64>,
    section_ended: bool,
    section_end: ByteOffset,
    pub(crate) damage: DamageList,
    /// Bytes of events that were delivered or passed over.
    pub(crate) done_bytes: u64,
}

impl Merger {
    pub(crate) fn new(index: &BlockIndex) -> Self {
        let blocks = index.sections.iter().flat_map(|section| &section.blocks);
        let mut schedule: Vec<_> = blocks
            .map(|block| (block.begin_time, block.start.0..block.end.0))
            .collect();
        schedule.sort_by_key(|(begin, range)| (*begin, range.start));
        Self {
            sections: index.sections.clone().into_iter(),
            streams: Vec::new(),
            unfilled: Vec::new(),
            queue: Vec::new(),
            window: 0,
            schedule: schedule.into_iter().map(|(_, range)| range).collect(),
            begun: FxHashSet::default(),
            section_ended: true,
            section_end: ByteOffset(0),
            damage: DamageList::default(),
            done_bytes: 0,
        }
    }

    /// The ranges that will be wanted soon, most urgent first.
    pub(crate) fn upcoming(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let waits = |range: &&Range<u64>| !self.begun.contains(&range.start);
        self.schedule.iter().filter(waits).cloned()
    }

    /// Delivers events in analysis order, about `max_events` of them.
    pub(crate) fn advance(&mut self, sink: &mut impl Sink, max_events: usize) -> Merged {
        let mut left = max_events;
        loop {
            if let Err(needs) = self.fill_all() {
                return Merged::Need(needs);
            }
            if self.streams.is_empty() {
                if !self.next_section() {
                    return Merged::Done;
                }
                continue;
            }
            if left == 0 {
                return Merged::More;
            }
            left -= self.run(sink, left);
        }
    }

    /// Sees to it that every stream has a head; exhausted ones are dropped.
    fn fill_all(&mut self) -> Result<(), Vec<Need>> {
        if self.unfilled.is_empty() {
            return Ok(());
        }
        let mut needs = Vec::new();
        let mut exhausted = Vec::new();
        for i in std::mem::take(&mut self.unfilled) {
            match self.streams[i].fill(self.window, &mut self.damage) {
                Fill::Ready => self.enqueue(i),
                Fill::Need(need) => {
                    needs.push(need);
                    self.unfilled.push(i);
                }
                Fill::Exhausted => exhausted.push(i),
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
            let stream = self.streams.swap_remove(i);
            self.section_ended |= stream.ended;
        }
        // The others may have other numbers now.
        self.queue.clear();
        for i in 0..self.streams.len() {
            self.enqueue(i);
        }
        Ok(())
    }

    /// Puts a stream into the queue, if it has a head.
    #[inline]
    fn enqueue(&mut self, stream: usize) {
        let Some(head) = self.streams[stream].head else {
            return;
        };
        let queued = Queued {
            time: head.time,
            offset: self.streams[stream].offset(),
            stream,
        };
        let at = self.queue.partition_point(|other| *other > queued);
        self.queue.insert(at, queued);
    }

    /// Delivers events of the stream that is first in time, up to where
    /// another one is. Equal times: the order of the file.
    fn run(&mut self, sink: &mut impl Sink, max_events: usize) -> usize {
        let Some(Queued { stream: first, .. }) = self.queue.pop() else {
            return 0;
        };
        let limit = self
            .queue
            .last()
            .map_or((Nanos(u64::MAX), u64::MAX), |next| (next.time, next.offset));
        let stream = &mut self.streams[first];
        let mut delivered = 0;
        let mut bytes = 0;
        while let Some(head) = stream.head
            && delivered < max_events
            && (head.time, stream.offset()) <= limit
        {
            bytes += head.end;
            stream.deliver(head, sink);
            delivered += 1;
            if !stream.find_quickly()
                && !matches!(stream.fill(self.window, &mut self.damage), Fill::Ready)
            {
                self.unfilled.push(first);
                break;
            }
        }
        self.done_bytes += bytes as u64;
        self.enqueue(first);
        delivered
    }

    /// Opens the streams of the next section.
    fn next_section(&mut self) -> bool {
        if !self.section_ended {
            self.damage.push(Damage {
                at: self.section_end,
                lost_bytes: 0,
                kind: DamageKind::NoEndMarker,
                after: None,
                cap: None,
            });
        }
        self.section_ended = true;
        let Some(section) = self.sections.next() else {
            return false;
        };
        let truncated = section.blocks.iter().any(|block| block.truncated);
        self.section_ended = section.ended || truncated;
        self.section_end = section.end;
        let mut by_cap: BTreeMap<Option<CapId>, Vec<Block>> = BTreeMap::new();
        for block in section.blocks {
            by_cap.entry(block.cap).or_default().push(block);
        }
        self.window = (WINDOW_BUDGET / by_cap.len().max(1)).clamp(2 * LOW_WATER, MAX_WINDOW);
        self.streams = by_cap
            .into_iter()
            .map(|(cap, blocks)| Stream::new(Arc::clone(&section.header), cap, blocks))
            .collect();
        self.unfilled = (0..self.streams.len()).collect();
        true
    }

    /// Takes bytes of the file that begin at `at`: each stream that waits for
    /// them takes its part.
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
        while let Some(first) = self.schedule.front()
            && self.begun.remove(&first.start)
        {
            self.schedule.pop_front();
        }
    }

    /// Learns that the file ends at `len`, earlier than it was said to.
    pub(crate) fn cut(&mut self, len: u64) {
        let cut = |block: &mut Block, kept: u64| {
            if block.end.0 > kept {
                block.truncated = true;
                block.end = ByteOffset(kept);
            }
        };
        for stream in &mut self.streams {
            // What is in a window already is still delivered.
            let in_window = stream.buffer_at + stream.buffer.len() as u64;
            if let Some(block) = &mut stream.block {
                cut(block, len.max(in_window));
            }
            for block in stream.blocks.as_mut_slice() {
                cut(block, len.max(block.start.0));
            }
        }
        for section in self.sections.as_mut_slice() {
            for block in &mut section.blocks {
                cut(block, len.max(block.start.0));
            }
        }
    }
}

/// What all windows together may hold, unless there are very many capabilities.
const WINDOW_BUDGET: usize = 64 << 20;
/// The largest block that GHC writes has 2 MiB.
const MAX_WINDOW: usize = 2 << 20;
