//! The events of one capability, found block by block in a window on the file.

use std::sync::Arc;

use super::blocks::Block;
use super::event::EventType;
use super::header::{BLOCK_MARKER, Header};
use super::order::Sink;
use super::problem::{Damage, DamageKind, DamageList};
use super::record::{Extent, MAX_EVENT_BYTES, NoEvent, Record, extent, fields_end};
use super::rows::Place;
use super::scan::{Bounds, Run, is_undated, plausible_run, run};
use super::window::Need;
use crate::ids::{ByteOffset, CapId, Nanos};

/// With less than this in a window, and more in the block, a window is
/// refilled before it is decoded: no event is ever cut by a window's end.
pub(super) const LOW_WATER: usize = MAX_EVENT_BYTES + 64;

/// The blocks of one capability, being read.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) header: Arc<Header>,
    pub(super) cap: Option<CapId>,
    blocks: Arc<[Block]>,
    /// The first block that was not begun.
    next_block: usize,
    pub(super) block: Option<Block>,
    /// Where the file ends, if that is earlier than was said.
    pub(super) cut_at: u64,
    /// A window on the current block.
    pub(super) buffer: Vec<u8>,
    pub(super) buffer_at: u64,
    pos: usize,
    /// Up to where in the window events are found without a look around.
    quick_end: usize,
    bounds: Bounds,
    last_time: Option<Nanos>,
    pub(super) head: Option<Extent>,
    /// Whether the end-of-data marker was met.
    pub(super) ended: bool,
}

/// What a stream has to offer.
pub(super) enum Fill {
    Ready,
    Need(Need),
    Exhausted,
}

impl Stream {
    pub(super) fn new(header: Arc<Header>, cap: Option<CapId>, blocks: Arc<[Block]>) -> Self {
        Self {
            header,
            cap,
            blocks,
            next_block: 0,
            block: None,
            cut_at: u64::MAX,
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

    /// Goes on at a place that was kept.
    pub(super) fn resume(
        header: Arc<Header>,
        cap: Option<CapId>,
        blocks: Arc<[Block]>,
        place: &Place,
    ) -> Self {
        let mut stream = Self::new(header, cap, blocks);
        stream.next_block = place.block as usize;
        if stream.begin_block() {
            stream.buffer_at = place.offset.0;
            if place.undated {
                stream.bounds = Bounds::ANY;
            }
        }
        stream
    }

    /// Where the stream is, if it is not at its end.
    pub(super) fn place(&self) -> Option<Place> {
        let block = self.block.as_ref()?;
        Some(Place {
            cap: self.cap,
            block: u32::try_from(self.next_block.checked_sub(1)?).ok()?,
            offset: ByteOffset(self.offset()),
            undated: self.bounds == Bounds::ANY && block.bounds != Bounds::ANY,
        })
    }

    /// The blocks that were not begun.
    pub(super) fn blocks_ahead(&self) -> &[Block] {
        self.blocks.get(self.next_block..).unwrap_or_default()
    }

    pub(super) fn offset(&self) -> u64 {
        self.buffer_at + self.pos as u64
    }

    /// Begins the next block; false if there is none.
    fn begin_block(&mut self) -> bool {
        let Some(mut block) = self.blocks.get(self.next_block).cloned() else {
            return false;
        };
        let kept = self.cut_at.max(block.start.0);
        cut(&mut block, kept);
        self.next_block += 1;
        self.buffer.clear();
        self.buffer_at = block.start.0;
        self.pos = 0;
        self.quick_end = 0;
        self.bounds = block.bounds;
        self.last_time = None;
        self.block = Some(block);
        true
    }

    /// Finds the next event where that is simple: one of a fixed size, well
    /// inside block and window, dated inside the block.
    #[inline]
    pub(super) fn find_quickly(&mut self) -> bool {
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
    pub(super) fn fill(&mut self, window: usize, damage: &mut DamageList) -> Fill {
        loop {
            let at = self.offset();
            let Some(block) = &self.block else {
                if !self.begin_block() {
                    return Fill::Exhausted;
                }
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
    pub(super) fn deliver(&mut self, event: Extent, sink: &mut impl Sink) {
        let bytes = &self.buffer[self.pos..self.pos + event.end];
        sink.offer(&Record {
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

/// Ends a block where the file does.
pub(super) fn cut(block: &mut Block, kept: u64) {
    if block.end.0 > kept {
        block.truncated = true;
        block.end = ByteOffset(kept);
    }
}
