//! Stream of one capability's events, read block by block through a window on the file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::block_list::BlockList;
use super::blocks::Block;
use super::event::EventType;
use super::event_set::EventSet;
use super::header::Header;
use super::order::{NullSink, Sink};
use super::problem::{Damage, DamageKind, DamageList};
use super::record::{Extent, MAX_EVENT_BYTES, PREFIX, Record, extent, prefix};
use super::recovery::{BlockTail, LONG_PAUSE, TimeConstraints, Verdict};
use super::rows::{ResumePoint, RowIndex};
use super::scan::Bounds;
use super::window::Need;
use crate::ids::{ByteOffset, CapId, Nanos};

/// A window with fewer bytes than this, while the block has more, is refilled before decoding, so that the end of
/// a window never cuts an event.
pub(super) const LOW_WATER: usize = MAX_EVENT_BYTES + 64;

/// Reader of the blocks of one capability.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) header: Arc<Header>,
    pub(super) cap: Option<CapId>,
    blocks: Arc<BlockList>,
    /// Index of the first block in `blocks` among all blocks of the capability.
    first_number: usize,
    /// Index of the next block to begin.
    next_block: usize,
    /// The slice to read.
    slice: SliceBounds,
    /// Whether the end of the slice was reached.
    ended: bool,
    /// Where the capability continues behind these blocks, or behind the slice.
    pub(super) continuation: Option<ResumePoint>,
    /// Whether events of the previous slice are being skipped; they are in the first block.
    skipping: bool,
    /// Whether events had times that the index rules out.
    pub(super) irregular: bool,
    pub(super) block: Option<Block>,
    /// Actual end of the file, if it is shorter than announced.
    pub(super) cut_at: u64,
    /// Window on the current block.
    pub(super) buffer: Vec<u8>,
    pub(super) buffer_at: u64,
    pos: usize,
    /// End of the part of the window where events may be found by the fast path.
    quick_end: usize,
    /// Constraints on the next event.
    constraints: TimeConstraints,
    /// The event behind the head, if it was found to be valid.
    lookahead: Lookahead,
    /// Lower bound for the time of the event behind the head.
    latest: Nanos,
    /// Why nothing valid was found at the end of the last window, if so.
    resync_damage: Option<DamageKind>,
    /// The time of the last event of this block.
    last_time: Option<Nanos>,
    pub(super) head: Option<Extent>,
    /// Bytes of the end-of-data markers found.
    pub(super) end_marker_bytes: u64,
}

/// Bounds of a slice in one capability: the times of the first event that belongs to it and of the first that does
/// not, if there is one. All events between them in file order belong to the slice, whatever their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SliceBounds {
    pub(super) from: Nanos,
    pub(super) to: Option<Nanos>,
}

impl SliceBounds {
    /// The whole log.
    pub(super) const NONE: Self = Self {
        from: Nanos(0),
        to: None,
    };
}

/// Type and time of an event, read ahead.
#[derive(Clone, Copy, Debug)]
struct Lookahead {
    id: u16,
    time: Nanos,
    /// Its size, as returned by [`Header::quick_size`].
    end: usize,
}

impl Lookahead {
    const NONE: Self = Self {
        id: 0,
        time: Nanos(0),
        end: 0,
    };

    #[inline(always)]
    fn decode_at(bytes: &[u8], at: usize, header: &Header) -> Self {
        match bytes.get(at..).and_then(prefix) {
            Some((id, time)) => Self {
                id,
                time,
                end: header.quick_size(id),
            },
            None => Self::NONE,
        }
    }

    /// Returns the event if it is large or carries its length and does not span others.
    #[inline(never)]
    fn find_closely(
        self,
        bytes: &[u8],
        constraints: TimeConstraints,
        header: &Header,
    ) -> Option<Extent> {
        if self.end == 0 {
            return None;
        }
        let event = extent(header, bytes).ok()?;
        let after = constraints.after_event(event.id, event.time);
        let next = Self::decode_at(bytes, event.end, header);
        if !next.follows_closely(after.last, constraints) {
            return None;
        }
        let mut within = after;
        within.bounds.to = next.time;
        let over = BlockTail::new(header, bytes).end_before_spanned(&event, after, within);
        over.is_none().then_some(event)
    }

    /// Whether this is a valid event not long after one at time `last`. All-zero bytes look like an event, but are
    /// none.
    #[inline(always)]
    fn follows_closely(self, last: Nanos, constraints: TimeConstraints) -> bool {
        let pause = self.time.0.wrapping_sub(last.0);
        let possible = Nanos(1) <= self.time && self.time <= constraints.bounds.to;
        pause <= LONG_PAUSE && possible && self.end != 0
    }
}

/// Result of [`Stream::fill`].
pub(super) enum FillStep {
    Ready,
    Need(Need),
    Exhausted,
    /// The skipped block has ended.
    SkippedBlock,
}

impl Stream {
    pub(super) fn new(header: Arc<Header>, cap: Option<CapId>, blocks: Arc<BlockList>) -> Self {
        Self {
            header,
            cap,
            blocks,
            first_number: 0,
            next_block: 0,
            slice: SliceBounds::NONE,
            ended: false,
            continuation: None,
            skipping: false,
            irregular: false,
            block: None,
            cut_at: u64::MAX,
            buffer: Vec::new(),
            buffer_at: 0,
            pos: 0,
            quick_end: 0,
            constraints: TimeConstraints::new(Bounds::ANY),
            lookahead: Lookahead::NONE,
            latest: Nanos(0),
            resync_damage: None,
            last_time: None,
            head: None,
            end_marker_bytes: 0,
        }
    }

    /// Continues at a saved position.
    pub(super) fn resume(
        header: Arc<Header>,
        cap: Option<CapId>,
        blocks: Arc<BlockList>,
        point: &ResumePoint,
    ) -> Self {
        let mut stream = Self::new(header, cap, blocks);
        stream.next_block = (point.block as usize).saturating_sub(stream.first_number);
        if stream.begin_block() && point.offset.0 > stream.buffer_at {
            stream.buffer_at = point.offset.0;
            stream.constraints = point.constraints;
        }
        stream
    }

    /// Reads a single slice. `blocks` are those that may contain its events, preceded by `before` blocks that only
    /// provide time constraints.
    pub(super) fn slice(
        header: Arc<Header>,
        cap: Option<CapId>,
        (blocks, first_number, before): (Arc<BlockList>, usize, usize),
        (slice, continuation): (SliceBounds, Option<ResumePoint>),
    ) -> Self {
        let mut stream = Self::new(header, cap, blocks);
        let first = stream.blocks.get(before);
        stream.skipping = first.is_some_and(|block| block.bounds.from < slice.from);
        stream.first_number = first_number;
        stream.next_block = before;
        stream.slice = slice;
        stream.continuation = continuation;
        stream
    }

    /// Returns the current position, unless the stream is at its end.
    pub(super) fn resume_point(&self) -> Option<ResumePoint> {
        self.block.as_ref()?;
        Some(ResumePoint {
            cap: self.cap,
            block: u32::try_from(self.first_number + self.next_block.checked_sub(1)?).ok()?,
            offset: ByteOffset(self.offset()),
            constraints: self.constraints,
        })
    }

    /// Iterates over the blocks that are not begun.
    pub(super) fn blocks_ahead(&self) -> impl Iterator<Item = Block> + Clone + '_ {
        self.blocks.range(self.next_block..self.blocks.len())
    }

    pub(super) fn offset(&self) -> u64 {
        self.buffer_at + self.pos as u64
    }

    /// Begins the next block; false if there is none.
    fn begin_block(&mut self) -> bool {
        let Some(mut block) = self.blocks.get(self.next_block) else {
            return false;
        };
        let kept = self.cut_at.max(block.start.0);
        truncate_block(&mut block, kept);
        self.next_block += 1;
        self.buffer.clear();
        self.buffer_at = block.start.0;
        self.pos = 0;
        self.quick_end = 0;
        self.constraints = TimeConstraints::new(block.bounds);
        // A collection may begin in one block and end in the next. Its start is not carried over, so that a block
        // is read the same way wherever reading starts.
        let before = self.next_block.checked_sub(3);
        let before = before.and_then(|at| self.blocks.get(at));
        let earliest = before.map_or(Nanos(0), |block| block.begin_time);
        self.constraints.collection = earliest.min(self.constraints.last);
        self.resync_damage = None;
        self.last_time = None;
        self.block = Some(block);
        true
    }

    /// Finds the next event of the slice, crossing block boundaries.
    pub(super) fn fill(&mut self, window: usize, damage: &mut DamageList) -> FillStep {
        // Damage in skipped events is reported by the reader of the previous slice.
        let mut unheard = DamageList::default();
        while self.skipping {
            match self.find(window, &mut unheard) {
                FillStep::Ready => self.skip_before_slice(),
                // The block has no event of the slice, so all further blocks belong to it.
                FillStep::SkippedBlock => {
                    self.skipping = false;
                    self.end_marker_bytes = 0;
                }
                other => return other,
            }
        }
        if self.ended {
            return FillStep::Exhausted;
        }
        if self.head.is_none() {
            match self.find(window, damage) {
                FillStep::Ready => {}
                other => return other,
            }
        }
        if self.is_past() {
            return FillStep::Exhausted;
        }
        FillStep::Ready
    }

    /// Skips the events before the slice.
    fn skip_before_slice(&mut self) {
        let from = (self.slice.from, 0);
        self.deliver(from, usize::MAX, &mut None, &mut NullSink);
        self.skipping = self.head.is_none();
    }

    /// Ends the stream if the head is the first event behind the slice.
    pub(super) fn is_past(&mut self) -> bool {
        let (Some(head), Some(to)) = (self.head, self.slice.to) else {
            return false;
        };
        let past = head.time >= to;
        if past {
            let may_end = |block: &Block| block.bounds.to >= to;
            self.irregular |= !self.block.as_ref().is_some_and(may_end);
            self.continuation = self.resume_point();
            self.head = None;
            self.ended = true;
        }
        past
    }

    /// Finds the next event, crossing block boundaries.
    fn find(&mut self, window: usize, damage: &mut DamageList) -> FillStep {
        loop {
            let at = self.offset();
            let Some(block) = &self.block else {
                if !self.begin_block() {
                    return FillStep::Exhausted;
                }
                continue;
            };
            let left = usize::try_from(block.end.0 - at).unwrap_or(usize::MAX);
            if left == 0 {
                self.leave_block(damage);
                if self.skipping {
                    return FillStep::SkippedBlock;
                }
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
                return FillStep::Need(Need(from..to));
            }
            // Up to here the window suffices, or the block ends.
            self.quick_end = self.pos + if have < left { have - LOW_WATER } else { left };
            if self.decode_next(have.min(left), have >= left, damage) {
                return FillStep::Ready;
            }
        }
    }

    /// Classifies the next `len` bytes, which are either all that the block has (`whole`) or enough. Returns whether
    /// they start with an event.
    fn decode_next(&mut self, len: usize, whole: bool, damage: &mut DamageList) -> bool {
        let Some(block) = &self.block else {
            return false;
        };
        let reach = if whole { len } else { len - LOW_WATER / 2 };
        let view = BlockTail {
            whole,
            cut: whole && block.truncated,
            // Bytes near the end of a window cannot be classified yet.
            reach,
            neighbor_bounds: block.neighbor_bounds,
            previous: self.previous_times(),
            ..BlockTail::new(&self.header, &self.buffer[self.pos..self.pos + len])
        };
        let verdict = match std::mem::take(&mut self.resync_damage) {
            None => view.classify(self.constraints),
            Some(kind) => match view.resume(0, self.constraints, reach) {
                Some(0) => view.classify(self.constraints),
                found => Verdict::Skip(found.unwrap_or(reach), kind),
            },
        };
        match verdict {
            Verdict::Event {
                event,
                leads_on,
                latest,
                damage_kind,
            } => {
                if let Some(kind) = damage_kind {
                    self.report(0, kind, damage);
                }
                // The previous slice may have ended too early.
                let is_early = event.id == EventType::GC_START.0 && event.time < self.slice.from;
                self.irregular |= is_early && block.bounds.from >= self.slice.from;
                self.quick_end = self.quick_end.max(self.pos + event.end);
                self.lookahead = if leads_on {
                    let rest = &self.buffer[self.pos..self.quick_end];
                    Lookahead::decode_at(rest, event.end, &self.header)
                } else {
                    Lookahead::NONE
                };
                self.head = Some(event);
                self.latest = latest;
                return true;
            }
            Verdict::Skip(bytes, kind) => {
                // Bytes behind the window are classified once they are supplied.
                self.resync_damage = (bytes == reach && !whole).then_some(kind);
                self.report(bytes, kind, damage);
                self.pos += bytes;
            }
            Verdict::Reconstrain(constraints, kind) => {
                self.report(0, kind, damage);
                self.constraints = constraints;
                self.irregular = true;
            }
            Verdict::EndOfData => {
                self.end_marker_bytes += len as u64;
                self.pos += len;
            }
            Verdict::CutOff => {
                self.report(len, DamageKind::Truncated, damage);
                self.pos += len;
                if let Some(block) = &mut self.block {
                    block.truncated = false;
                }
            }
        }
        false
    }

    /// Returns the times of the previous block, if its marker has them.
    fn previous_times(&self) -> Option<Bounds> {
        let previous = self.blocks.get(self.next_block.checked_sub(2)?)?;
        (previous.end_time != Nanos(0)).then_some(previous.bounds)
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

    fn leave_block(&mut self, damage: &mut DamageList) {
        if self.block.take().is_some_and(|block| block.truncated) {
            self.report(0, DamageKind::Truncated, damage);
        }
    }

    /// Delivers the event found by [`fill`](Self::fill) and its successors, as long as the fast path finds them
    /// and they are not behind `limit`, a time and a file offset. Returns their number and total size in bytes.
    ///
    /// The state of the next event stays in registers while the sink runs: this loop is most of the cost of
    /// reading.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        limit: (Nanos, u64),
        max_events: usize,
        rows: &mut Option<RowIndex>,
        sink: &mut impl Sink,
    ) -> (usize, u64) {
        let Some(mut event) = self.head else {
            return (0, 0);
        };
        let end = self.slice.to.filter(|_| !self.skipping);
        let limit = end.map_or(limit, |to| limit.min((to, 0)));
        let header = &self.header;
        let mut rest = &self.buffer[self.pos..self.quick_end];
        let end = self.buffer_at + self.quick_end as u64;
        let mut lookahead = self.lookahead;
        let mut constraints = self.constraints;
        let chunk_start = rows.as_ref().map_or(Nanos(0), RowIndex::chunk_start);
        let (mut earliest, mut latest) = (event.time, event.time);
        let mut types = EventSet::NONE;
        let (mut delivered, mut observed) = (0, 0);
        self.head = loop {
            let offset = end - rest.len() as u64;
            let late = event.time > limit.0 || (event.time == limit.0 && offset > limit.1);
            if late || delivered == max_events {
                break Some(event);
            }
            let (bytes, after) = rest.split_at(event.end);
            earliest = earliest.min(event.time);
            latest = latest.max(event.time);
            if event.time < chunk_start {
                if let Some(rows) = rows {
                    // It is counted first, with those before it.
                    rows.observe((delivered + 1 - observed) as u64, latest, types);
                    rows.back_dated(event.time, event.id);
                    observed = delivered + 1;
                }
            } else {
                types.insert(EventType(event.id));
            }
            sink.offer(&Record {
                offset: ByteOffset(offset),
                id: EventType(event.id),
                time: event.time,
                cap: self.cap,
                payload: &bytes[event.payload..],
                header,
            });
            delivered += 1;
            rest = after;
            constraints = constraints.after_event(event.id, event.time);
            let Lookahead { id, time, end } = lookahead;
            if end >= PREFIX {
                lookahead = Lookahead::decode_at(rest, end, header);
                if !lookahead.follows_closely(constraints.last.max(time), constraints) {
                    break None;
                }
                event = Extent {
                    id,
                    time,
                    payload: PREFIX,
                    end,
                };
            } else {
                match lookahead.find_closely(rest, constraints, header) {
                    Some(found) => event = found,
                    None => break None,
                }
                lookahead = Lookahead::decode_at(rest, event.end, header);
            }
        };
        if delivered > 0 {
            sink.stretch(self.cap, (earliest, latest));
            if let Some(rows) = rows {
                rows.observe((delivered - observed) as u64, latest, types);
            }
        }
        if self.head.is_none() {
            // Bytes not known to be valid are left to `fill`.
            constraints = constraints.after_event(event.id, event.time.max(self.latest));
            self.last_time = Some(event.time);
        }
        self.lookahead = lookahead;
        self.constraints = constraints;
        let pos = self.quick_end - rest.len();
        let bytes = pos - self.pos;
        self.pos = pos;
        (delivered, bytes as u64)
    }
}

/// Truncates a block at the end of the file.
pub(super) fn truncate_block(block: &mut Block, kept: u64) {
    if block.end.0 > kept {
        block.truncated = true;
        block.end = ByteOffset(kept);
    }
}
