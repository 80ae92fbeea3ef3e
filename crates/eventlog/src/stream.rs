//! The events of one capability, found block by block in a window on the file.

use std::sync::Arc;

use super::blocks::Block;
use super::event::EventType;
use super::header::Header;
use super::judge::{LONG_PAUSE, Order, Verdict, View};
use super::order::Sink;
use super::problem::{Damage, DamageKind, DamageList};
use super::record::{Extent, MAX_EVENT_BYTES, PREFIX, Record, prefix};
use super::rows::Place;
use super::scan::Bounds;
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
    /// What the next event must be like.
    order: Order,
    /// Whether what stands behind the head was seen to be sound.
    leads_on: bool,
    /// What stands behind the head, if that was found quickly.
    peeked: Option<Peeked>,
    /// What stands behind the head is not dated before this.
    latest: Nanos,
    /// Why nothing sound was found at the end of the last window, if so.
    lost: Option<DamageKind>,
    /// The time of the last event of this block.
    last_time: Option<Nanos>,
    pub(super) head: Option<Extent>,
    /// Bytes of the end-of-data markers that were met.
    pub(super) end_marker_bytes: u64,
}

/// The beginning of an event.
#[derive(Clone, Copy, Debug)]
struct Peeked {
    id: u16,
    time: Nanos,
    /// Where it ends, as [`Header::quick_size`] has it.
    end: usize,
}

impl Peeked {
    #[inline]
    fn at(bytes: &[u8], header: &Header) -> Option<Self> {
        let (id, time) = prefix(bytes)?;
        let end = header.quick_size(id);
        Some(Self { id, time, end })
    }
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
            order: Order::new(Bounds::ANY),
            leads_on: false,
            peeked: None,
            latest: Nanos(0),
            lost: None,
            last_time: None,
            head: None,
            end_marker_bytes: 0,
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
            stream.order = place.order;
        }
        stream
    }

    /// Where the stream is, if it is not at its end.
    pub(super) fn place(&self) -> Option<Place> {
        self.block.as_ref()?;
        Some(Place {
            cap: self.cap,
            block: u32::try_from(self.next_block.checked_sub(1)?).ok()?,
            offset: ByteOffset(self.offset()),
            order: self.order,
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
        // A collection may begin in one block and end in the next.
        let collection = self.order.collection;
        self.order = Order::new(block.bounds);
        self.order.collection = collection.min(self.order.last);
        self.leads_on = false;
        self.lost = None;
        self.last_time = None;
        self.block = Some(block);
        true
    }

    /// Finds the next event where that is simple: it was seen to be sound
    /// already, has a small fixed size, and a sound one follows it soon.
    #[inline]
    pub(super) fn find_quickly(&mut self) -> bool {
        let Some(view) = self.buffer.get(self.pos..self.quick_end) else {
            return false;
        };
        let Peeked { id, time, end } = match self.peeked {
            Some(peeked) => peeked,
            None if !self.leads_on => return false,
            None => match Peeked::at(view, &self.header) {
                Some(peeked) => peeked,
                None => return false,
            },
        };
        if end < PREFIX {
            return false;
        }
        let Some(next) = view
            .get(end..)
            .and_then(|rest| Peeked::at(rest, &self.header))
        else {
            return false;
        };
        let last = self.order.last.max(time);
        let soon = last <= next.time
            && next.time <= self.order.bounds.to
            && next.time.0 - last.0 <= LONG_PAUSE;
        // Zeros are no event, though they look like one.
        if !soon || next.end == 0 || next.time == Nanos(0) {
            return false;
        }
        self.peeked = Some(next);
        self.head = Some(Extent {
            id,
            time,
            payload: PREFIX,
            end,
        });
        true
    }

    /// Finds the next event, going to the next block where one ends.
    pub(super) fn fill(&mut self, window: usize, damage: &mut DamageList) -> Fill {
        self.peeked = None;
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
            if self.take(have.min(left), have >= left, damage) {
                return Fill::Ready;
            }
        }
    }

    /// Judges what stands in the next `len` bytes, which are all that the block
    /// has (`whole`) or enough. Whether it is an event.
    fn take(&mut self, len: usize, whole: bool, damage: &mut DamageList) -> bool {
        let Some(block) = &self.block else {
            return false;
        };
        let reach = if whole { len } else { len - LOW_WATER / 2 };
        let view = View {
            header: &self.header,
            bytes: &self.buffer[self.pos..self.pos + len],
            whole,
            cut: whole && block.truncated,
            // What is at the end of a window can't be judged yet.
            reach,
            wide: block.wide,
        };
        let verdict = match std::mem::take(&mut self.lost) {
            None => view.judge(self.order),
            Some(kind) => match view.resume(0, self.order, reach) {
                Some(0) => view.judge(self.order),
                found => Verdict::Skip(found.unwrap_or(reach), kind),
            },
        };
        match verdict {
            Verdict::Event {
                event,
                leads_on,
                latest,
                told,
            } => {
                if let Some(kind) = told {
                    self.report(0, kind, damage);
                }
                self.head = Some(event);
                self.leads_on = leads_on;
                self.latest = latest;
                return true;
            }
            Verdict::Skip(bytes, kind) => {
                // What the window does not hold yet is looked at when it has come.
                self.lost = (bytes == reach && !whole).then_some(kind);
                self.report(bytes, kind, damage);
                self.pos += bytes;
            }
            Verdict::Expect(order, kind) => {
                self.report(0, kind, damage);
                self.order = order;
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
        self.last_time = Some(event.time);
        if self.peeked.is_some() && event.id != EventType::GC_START.0 {
            // What is found quickly is in order.
            self.order.last = self.order.last.max(event.time);
        } else {
            let latest = event.time.max(std::mem::take(&mut self.latest));
            self.order = self.order.after(event.id, latest);
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
