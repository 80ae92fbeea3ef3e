//! Analysis of one slice of a log, independent of the events before it.
//!
//! Events about threads and points in time, labels, messages, and the values and samples of profiles are turned
//! into columns. All other events that an analysis needs are kept raw, and [`Recording`] processes them in order.

use serde::{Deserialize, Serialize};

use crate::deferred::DeferredEvents;
use crate::flamegraph::foreign::may_be_about_calls;
use crate::flamegraph::ticks::{SliceTicks, Ticks};
use crate::heap::values::{HeapValueAnalysis, HeapValues};
use crate::info::{Info, PREFIX_BYTES};
use crate::labels::{LabelAnalysis, Labels};
use crate::recording::Recording;
use crate::timeline::messages::Messages;
use crate::timeline::slice::{BoundaryState, SliceThreadAnalysis, SliceThreads, ThreadEventKind};
use crate::timeline::threads::ById;
use eventlog::conventions::Convention;
use eventlog::{EventSet, EventType, Record, Sink, SlicePart, SliceReader, SliceStep};
use model::columns::Column;
use model::saturating::watch_saturation;

/// Analysis result of one slice, passed to [`Recording::append`].
#[derive(Debug, Serialize, Deserialize)]
pub struct Segment {
    /// Reader results of the slice: header, block index rows, damage and byte counts.
    pub part: SlicePart,
    pub(crate) info: Info,
    pub(crate) threads: SliceThreads,
    pub(crate) labels: Labels,
    pub(crate) messages: Messages,
    pub(crate) ticks: SliceTicks,
    pub(crate) heap: HeapValues,
    deferred: DeferredEvents,
    /// Whether an index or count of the slice exceeded 32 bits.
    pub(crate) is_too_large: bool,
}

impl Segment {
    /// Calls `see` with each column, always in the same order. Columns are transferred as raw arrays; serde
    /// transfers the rest.
    pub fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        self.threads.columns(see);
        self.labels.columns(see);
        self.messages.columns(see);
        self.ticks.columns(see);
        self.heap.columns(see);
        see((&mut self.deferred.bytes).into());
    }

    /// Calls `take` with the index and the record of each raw event, in order.
    pub(crate) fn deferred(&self, take: impl FnMut(u32, &Record<'_>)) {
        self.deferred.each(self.part.header(), take);
    }
}

/// Analysis of a slice in progress, fed with events in order.
#[derive(Debug)]
pub struct SegmentAnalysis {
    /// Handling and counts per event type below 256.
    types: Box<[OfType; 256]>,
    info: Info,
    threads: SliceThreadAnalysis,
    labels: LabelAnalysis,
    messages: Messages,
    ticks: Ticks,
    heap: HeapValueAnalysis,
    deferred: DeferredEvents,
    keeps: EventSet,
    is_too_large: bool,
}

/// Handling of one event type, decided at its first event, and its counts.
#[derive(Clone, Copy, Debug)]
struct OfType {
    met: bool,
    /// How these events affect threads or points in time, if they do.
    says: Option<ThreadEventKind>,
    route: Route,
    count: u64,
    payload_bytes: u64,
}

impl OfType {
    const NOT_MET: Self = Self {
        met: false,
        says: None,
        route: Route::Counted,
        count: 0,
        payload_bytes: 0,
    };
}

/// Handling of an event in addition to its effect on threads or points in time.
#[derive(Clone, Copy, Debug)]
enum Route {
    /// Counted, without further handling.
    Counted,
    /// Kept raw, and processed in order later.
    DeferredEvents,
    Label,
    /// A message. Kept raw as well if it follows a convention of another tool or may describe foreign calls.
    Message,
    /// A binary message: kept raw if it follows a convention, otherwise ignored.
    BinaryMessage,
    /// A sample of the cost-centre profiler.
    Tick,
    /// A sample value of a heap profile.
    HeapValue,
}

impl Route {
    /// Returns the handling of a type that the log's header declares as expected.
    fn of(id: EventType, keeps: &EventSet) -> Self {
        if id == EventType::THREAD_LABEL {
            Self::Label
        } else if id == EventType::USER_BINARY_MSG {
            Self::BinaryMessage
        } else if Messages::CONSUMES.contains(id) {
            Self::Message
        } else if SliceTicks::CONSUMES.contains(id) {
            Self::Tick
        } else if HeapValues::CONSUMES.contains(id) {
            Self::HeapValue
        } else if keeps.contains(id) {
            Self::DeferredEvents
        } else {
            Self::Counted
        }
    }
}

/// Allocations that the analysis of one slice passes on to the next, for reuse.
#[derive(Debug, Default)]
pub struct Scratch {
    threads: ById,
}

impl SegmentAnalysis {
    /// Begins a slice with the thread states known at its start.
    #[must_use]
    pub fn new(entry: BoundaryState, scratch: Scratch) -> Self {
        Self {
            types: Box::new([OfType::NOT_MET; 256]),
            info: Info::default(),
            threads: SliceThreadAnalysis::new(entry, scratch.threads),
            labels: LabelAnalysis::default(),
            messages: Messages::default(),
            ticks: Ticks::default(),
            heap: HeapValueAnalysis::default(),
            deferred: DeferredEvents::default(),
            keeps: Recording::keeps(),
            is_too_large: false,
        }
    }

    /// Finishes the slice; `part` is the final state of its reader.
    #[must_use]
    pub fn finish(mut self, part: SlicePart) -> (Segment, Scratch) {
        for (id, of) in (0..).map(EventType).zip(&*self.types) {
            if of.count > 0 {
                let bytes = of.payload_bytes + of.count * PREFIX_BYTES;
                self.info.count_of(id, (of.count, bytes));
            }
        }
        let (((threads, map), labels, ticks, heap), too_large) = watch_saturation(|| {
            let (ticks, heap) = (self.ticks.into_slice(), self.heap.finish());
            (self.threads.finish(), self.labels.finish(), ticks, heap)
        });
        let segment = Segment {
            part,
            info: self.info,
            threads,
            labels,
            messages: self.messages,
            ticks,
            heap,
            deferred: self.deferred,
            is_too_large: self.is_too_large | too_large,
        };
        (segment, Scratch { threads: map })
    }

    /// Processes the events of a slice until the supplied bytes are used up or `max_events` were processed.
    ///
    /// Lives in this crate so that the loop over all events is compiled with this crate's optimization settings.
    pub fn read(&mut self, reader: &mut SliceReader, max_events: usize) -> SliceStep {
        let (step, too_large) = watch_saturation(|| reader.advance(self, max_events));
        self.is_too_large |= too_large;
        step
    }

    /// Decides the handling of an event type at its first event.
    #[cold]
    fn meet(record: &Record<'_>, keeps: &EventSet) -> OfType {
        let met = OfType {
            met: true,
            ..OfType::NOT_MET
        };
        if !record.header.knows(record.id) {
            return met;
        }
        OfType {
            says: ThreadEventKind::of(record.id),
            route: Route::of(record.id, keeps),
            ..met
        }
    }

    fn become_of(&mut self, route: Route, id: u8, record: &Record<'_>) {
        match route {
            Route::Counted => {}
            Route::DeferredEvents => self.deferred.push(id, record),
            Route::Label => self.labels.take(record),
            Route::Message => {
                let text = self.messages.take(record).unwrap_or_default();
                if may_be_about_calls(text) || Convention::of_text(text).is_some() {
                    self.deferred.push(id, record);
                }
            }
            Route::BinaryMessage => {
                if Convention::of_bytes(record.payload).is_some() {
                    self.deferred.push(id, record);
                }
            }
            Route::Tick => self.ticks.event(&record.event(), record.time),
            Route::HeapValue => self.heap.take(record, self.deferred.count),
        }
    }

    /// Counts an event whose type is 256 or above, which no runtime writes.
    #[cold]
    fn unknown(&mut self, record: &Record<'_>) {
        let bytes = record.payload.len() as u64 + PREFIX_BYTES;
        self.info.count_of(record.id, (1, bytes));
    }
}

impl Sink for SegmentAnalysis {
    #[inline]
    fn event(&mut self, record: &Record<'_>) {
        self.info.see(record);
        let Ok(id) = u8::try_from(record.id.0) else {
            return self.unknown(record);
        };
        let of = &mut self.types[usize::from(id)];
        if !of.met {
            *of = Self::meet(record, &self.keeps);
        }
        of.count += 1;
        of.payload_bytes += record.payload.len() as u64;
        let route = of.route;
        if let Some(says) = of.says {
            self.threads.event(says, record);
        }
        if !matches!(route, Route::Counted) {
            self.become_of(route, id, record);
        }
    }
}
