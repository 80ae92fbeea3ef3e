//! Display order: all events by time, ties in file order.
//!
//! Analysis order differs from it only where the runtime back-dated an event. If events are back-dated by at most
//! `window`, an event can be shown as soon as the analysis is more than `window` past it, so only a few events
//! must be buffered.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

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
    most: Duration,
    most_at: Nanos,
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
        if slice.most > self.most {
            (self.most, self.most_at) = (slice.most, slice.most_at);
        }
        self.count += slice.count;
    }

    #[cold]
    fn went_back(&mut self, time: Nanos) {
        self.count += 1;
        let step = self.latest.since(time);
        if step > self.most {
            self.most = step;
            self.most_at = time;
        }
    }

    /// Returns the largest step back so far.
    #[must_use]
    pub const fn most(&self) -> Duration {
        self.most
    }

    /// Returns the time of the event with the largest step back.
    #[must_use]
    pub const fn most_at(&self) -> Nanos {
        self.most_at
    }

    /// Returns the number of events that are dated before one that precedes them.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
}

/// Buffered copy of a record.
#[derive(Debug)]
struct Held {
    offset: ByteOffset,
    id: EventType,
    time: Nanos,
    cap: Option<CapId>,
    payload: Vec<u8>,
    header: Arc<Header>,
}

impl Held {
    fn key(&self) -> (Nanos, ByteOffset) {
        (self.time, self.offset)
    }

    /// Returns the memory consumption in bytes, including allocator overhead.
    fn size_bytes(&self) -> usize {
        size_of::<Self>() + self.payload.capacity() + 16
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Held {}
impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Held {
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
    held: BinaryHeap<Reverse<Held>>,
    held_bytes: usize,
    most_held_bytes: usize,
    delivered_early: u64,
}

impl<S: Sink> DisplayOrder<S> {
    /// Creates an adapter; `window` is the largest step back as measured by [`BackDating`].
    pub fn new(sink: S, window: Duration) -> Self {
        Self {
            sink,
            window,
            latest: Nanos(0),
            held: BinaryHeap::new(),
            held_bytes: 0,
            most_held_bytes: usize::MAX,
            delivered_early: 0,
        }
    }

    /// Limits the buffer to about `bytes` bytes. If it is full, events are delivered before the window has passed.
    #[must_use]
    pub fn holding_at_most(self, bytes: usize) -> Self {
        Self {
            most_held_bytes: bytes,
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

    /// Delivers the earliest buffered event.
    fn deliver_first(&mut self) -> bool {
        let Some(Reverse(held)) = self.held.pop() else {
            return false;
        };
        self.held_bytes -= held.size_bytes();
        deliver(&mut self.sink, &held);
        true
    }

    /// Delivers all buffered events; the following events have another clock.
    pub fn begin_anew(&mut self) {
        self.flush();
        self.latest = Nanos(0);
    }

    /// Returns the sink that receives the events.
    pub const fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }
}

fn deliver(sink: &mut impl Sink, held: &Held) {
    sink.event(&Record {
        offset: held.offset,
        id: held.id,
        time: held.time,
        cap: held.cap,
        payload: &held.payload,
        header: &held.header,
    });
}

impl<S: Sink> Sink for DisplayOrder<S> {
    const CONSUMES: EventSet = S::CONSUMES;

    fn event(&mut self, record: &Record<'_>) {
        self.latest = self.latest.max(record.time);
        while let Some(Reverse(first)) = self.held.peek() {
            if first.time.0.saturating_add(self.window.0) >= self.latest.0 {
                break;
            }
            self.deliver_first();
        }
        let held = Held {
            offset: record.offset,
            id: record.id,
            time: record.time,
            cap: record.cap,
            payload: record.payload.to_vec(),
            header: Arc::clone(record.header),
        };
        self.held_bytes += held.size_bytes();
        self.held.push(Reverse(held));
        while self.held_bytes > self.most_held_bytes && self.deliver_first() {
            self.delivered_early += 1;
        }
    }
}
