//! Display order: all events by time, ties in file order.
//!
//! Analysis order differs from it only where the runtime back-dated an event. If events are back-dated by at most
//! `window`, an event can be shown as soon as the analysis is more than `window` past it, so only a few events
//! must be buffered.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::event::EventType;
use super::event_set::EventSet;
use super::header::Header;
use super::order::Sink;
use super::record::Record;
use crate::ids::{ByteOffset, CapId, Duration, Nanos};

/// Statistics of back-dated events in analysis order.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct BackDating {
    latest: Nanos,
    max: Duration,
    max_at: Nanos,
    count: u64,
}

impl BackDating {
    /// Records the time of the next event.
    #[inline]
    pub fn observe(&mut self, time: Nanos) {
        if time >= self.latest {
            self.latest = time;
        } else {
            self.went_back(time);
        }
    }

    /// Appends the statistics of the next slice, whose first event is later than all previous ones.
    pub fn append(&mut self, slice: Self) {
        self.latest = self.latest.max(slice.latest);
        if slice.max > self.max {
            (self.max, self.max_at) = (slice.max, slice.max_at);
        }
        self.count += slice.count;
    }

    #[cold]
    fn went_back(&mut self, time: Nanos) {
        self.count += 1;
        let step = self.latest.since(time);
        if step > self.max {
            self.max = step;
            self.max_at = time;
        }
    }

    /// Returns the largest step back so far.
    pub const fn max(&self) -> Duration {
        self.max
    }

    /// Returns the time of the event with the largest step back.
    pub const fn max_at(&self) -> Nanos {
        self.max_at
    }

    /// Returns the number of events that are dated before one that precedes them.
    pub const fn count(&self) -> u64 {
        self.count
    }
}

/// Buffered copy of a record.
#[derive(Debug)]
struct BufferedEvent {
    offset: ByteOffset,
    id: EventType,
    time: Nanos,
    cap: Option<CapId>,
    payload: SmallVec<[u8; 24]>,
    header: Arc<Header>,
}

impl BufferedEvent {
    fn key(&self) -> (Nanos, ByteOffset) {
        (self.time, self.offset)
    }

    /// Returns the memory consumption in bytes, including allocator overhead.
    fn size_bytes(&self) -> usize {
        let allocated = match self.payload.spilled() {
            true => self.payload.capacity() + 16,
            false => 0,
        };
        size_of::<Self>() + allocated
    }
}

impl PartialEq for BufferedEvent {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for BufferedEvent {}
impl PartialOrd for BufferedEvent {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for BufferedEvent {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Sink adapter that converts analysis order to display order.
#[derive(Debug)]
pub struct DisplayOrder<S> {
    sink: S,
    window: Duration,
    latest: Nanos,
    /// Buffered events in display order, as nearly all come.
    in_order: VecDeque<BufferedEvent>,
    /// Buffered events that came after later ones.
    back_dated: BinaryHeap<Reverse<BufferedEvent>>,
    buffered_bytes: usize,
    max_buffered_bytes: usize,
    delivered_early: u64,
}

impl<S: Sink> DisplayOrder<S> {
    /// Creates an adapter; `window` is the largest step back as measured by [`BackDating`].
    pub fn new(sink: S, window: Duration) -> Self {
        Self {
            sink,
            window,
            latest: Nanos(0),
            in_order: VecDeque::new(),
            back_dated: BinaryHeap::new(),
            buffered_bytes: 0,
            max_buffered_bytes: usize::MAX,
            delivered_early: 0,
        }
    }

    /// Limits the buffer to about `bytes` bytes. If it is full, events are delivered before the window has passed.
    #[must_use]
    pub fn with_buffer_limit(self, bytes: usize) -> Self {
        Self {
            max_buffered_bytes: bytes,
            ..self
        }
    }

    /// Returns the number of events delivered before the window had passed.
    pub const fn delivered_early(&self) -> u64 {
        self.delivered_early
    }

    /// Delivers all buffered events and returns the sink.
    pub fn finish(mut self) -> S {
        self.flush();
        self.sink
    }

    /// Delivers all buffered events; no earlier event is expected.
    pub fn flush(&mut self) {
        while self.deliver_first() {}
    }

    /// Returns the earliest buffered event, and whether it is a back-dated one.
    fn first(&self) -> Option<(&BufferedEvent, bool)> {
        let in_order = self.in_order.front().map(|event| (event, false));
        let back_dated = self.back_dated.peek().map(|Reverse(event)| (event, true));
        // No two events are equal.
        in_order.into_iter().chain(back_dated).min()
    }

    /// Delivers the earliest buffered event.
    fn deliver_first(&mut self) -> bool {
        let first = match self.first() {
            Some((_, false)) => self.in_order.pop_front(),
            Some((_, true)) => self.back_dated.pop().map(|Reverse(event)| event),
            None => None,
        };
        let Some(buffered) = first else {
            return false;
        };
        self.buffered_bytes -= buffered.size_bytes();
        deliver(&mut self.sink, &buffered);
        true
    }

    /// Delivers all buffered events; the following events have another clock.
    pub fn reset(&mut self) {
        self.flush();
        self.latest = Nanos(0);
    }

    /// Returns the sink that receives the events.
    pub const fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }
}

fn deliver(sink: &mut impl Sink, buffered: &BufferedEvent) {
    sink.event(&Record {
        offset: buffered.offset,
        id: buffered.id,
        time: buffered.time,
        cap: buffered.cap,
        payload: &buffered.payload,
        header: &buffered.header,
    });
}

impl<S: Sink> Sink for DisplayOrder<S> {
    const CONSUMES: EventSet = S::CONSUMES;

    fn event(&mut self, record: &Record<'_>) {
        self.latest = self.latest.max(record.time);
        while let Some((first, _)) = self.first() {
            if first.time.0.saturating_add(self.window.0) >= self.latest.0 {
                break;
            }
            self.deliver_first();
        }
        let buffered = BufferedEvent {
            offset: record.offset,
            id: record.id,
            time: record.time,
            cap: record.cap,
            payload: SmallVec::from_slice(record.payload),
            header: Arc::clone(record.header),
        };
        self.buffered_bytes += buffered.size_bytes();
        match self.in_order.back() {
            Some(last) if buffered < *last => self.back_dated.push(Reverse(buffered)),
            _ => self.in_order.push_back(buffered),
        }
        while self.buffered_bytes > self.max_buffered_bytes && self.deliver_first() {
            self.delivered_early += 1;
        }
    }
}
