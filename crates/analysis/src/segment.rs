//! Analysis of one slice of a log, independent of the events before it.
//!
//! Events about threads and points in time, labels, messages, and the values and samples of profiles are turned
//! into columns. All other events that an analysis needs are kept raw, and [`Recording`] processes them in order.

use serde::{Deserialize, Serialize};

use crate::deferred::DeferredEvents;
use crate::flamegraph::cost_centre_samples::{CostCentreSamples, SliceCostCentreSamples};
use crate::flamegraph::foreign::may_be_about_calls;
use crate::heap::values::{HeapValueAnalysis, HeapValues};
use crate::info::{Info, PREFIX_BYTES};
use crate::labels::{LabelAnalysis, Labels};
use crate::recording::Recording;
use crate::timeline::messages::Messages;
use crate::timeline::slice::{
    BoundaryState, SliceScratch, SliceThreadAnalysis, SliceThreads, ThreadEventKind,
};
use eventlog::conventions::Convention;
use eventlog::ids::{CapId, Nanos};
use eventlog::{EventSet, EventType, Record, Sink, SliceReader, SliceResult, SliceStep};
use model::columns::Column;
use model::saturating::watch_saturation;

/// Analysis result of one slice, passed to [`Recording::append`].
#[derive(Debug, Serialize, Deserialize)]
pub struct Segment {
    /// Reader results of the slice: header, block index rows, damage and byte counts.
    pub part: SliceResult,
    pub(crate) info: Info,
    pub(crate) threads: SliceThreads,
    pub(crate) labels: Labels,
    pub(crate) messages: Messages,
    pub(crate) cost_centre_samples: SliceCostCentreSamples,
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
        self.cost_centre_samples.columns(see);
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
    types: Box<[TypeHandling; 256]>,
    info: Info,
    threads: SliceThreadAnalysis,
    labels: LabelAnalysis,
    messages: Messages,
    cost_centre_samples: CostCentreSamples,
    heap: HeapValueAnalysis,
    deferred: DeferredEvents,
    keeps: EventSet,
    is_too_large: bool,
}

/// Handling of one event type, decided at its first event, and its counts.
#[derive(Clone, Copy, Debug)]
struct TypeHandling {
    seen: bool,
    /// How these events affect threads or points in time, if they do.
    thread_effect: Option<ThreadEventKind>,
    route: Route,
    count: u64,
    payload_bytes: u64,
}

impl TypeHandling {
    const UNSEEN: Self = Self {
        seen: false,
        thread_effect: None,
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
    CostCentreSample,
    /// A sample value of a heap profile.
    HeapValue,
}

impl Route {
    /// Returns the handling of a type that the log's header declares as expected.
    fn for_type(id: EventType, keeps: &EventSet) -> Self {
        if id == EventType::THREAD_LABEL {
            Self::Label
        } else if id == EventType::USER_BINARY_MSG {
            Self::BinaryMessage
        } else if Messages::CONSUMES.contains(id) {
            Self::Message
        } else if SliceCostCentreSamples::CONSUMES.contains(id) {
            Self::CostCentreSample
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
    threads: SliceScratch,
}

impl SegmentAnalysis {
    /// Begins a slice with the thread states known at its start.
    pub fn new(entry: BoundaryState, scratch: Scratch) -> Self {
        Self {
            types: Box::new([TypeHandling::UNSEEN; 256]),
            info: Info::default(),
            threads: SliceThreadAnalysis::new(entry, scratch.threads),
            labels: LabelAnalysis::default(),
            messages: Messages::default(),
            cost_centre_samples: CostCentreSamples::default(),
            heap: HeapValueAnalysis::default(),
            deferred: DeferredEvents::default(),
            keeps: Recording::keeps(),
            is_too_large: false,
        }
    }

    /// Finishes the slice; `part` is the final state of its reader.
    pub fn finish(mut self, part: SliceResult) -> (Segment, Scratch) {
        for (id, of) in (0..).map(EventType).zip(&*self.types) {
            if of.count > 0 {
                let bytes = of.payload_bytes + of.count * PREFIX_BYTES;
                self.info.count_of(id, (of.count, bytes));
            }
        }
        let (((threads, scratch), labels, cost_centre_samples, heap), too_large) =
            watch_saturation(|| {
                let (cost_centre_samples, heap) =
                    (self.cost_centre_samples.into_slice(), self.heap.finish());
                (
                    self.threads.finish(),
                    self.labels.finish(),
                    cost_centre_samples,
                    heap,
                )
            });
        let segment = Segment {
            part,
            info: self.info,
            threads,
            labels,
            messages: self.messages,
            cost_centre_samples,
            heap,
            deferred: self.deferred,
            is_too_large: self.is_too_large | too_large,
        };
        (segment, Scratch { threads: scratch })
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
    fn handling_of(record: &Record<'_>, keeps: &EventSet) -> TypeHandling {
        let seen = TypeHandling {
            seen: true,
            ..TypeHandling::UNSEEN
        };
        if !record.header.knows(record.id) {
            return seen;
        }
        TypeHandling {
            thread_effect: ThreadEventKind::from_event_type(record.id),
            route: Route::for_type(record.id, keeps),
            ..seen
        }
    }

    fn route_event(&mut self, route: Route, id: u8, record: &Record<'_>) {
        match route {
            Route::Counted => {}
            Route::DeferredEvents => self.deferred.push(id, record),
            Route::Label => self.labels.take(record),
            Route::Message => {
                let text = self.messages.take(record).unwrap_or_default();
                if may_be_about_calls(text) || Convention::parse_text(text).is_some() {
                    self.deferred.push(id, record);
                }
            }
            Route::BinaryMessage => {
                if Convention::parse_bytes(record.payload).is_some() {
                    self.deferred.push(id, record);
                }
            }
            Route::CostCentreSample => self.cost_centre_samples.event(&record.event(), record.time),
            Route::HeapValue => self.heap.take(record, self.deferred.count),
        }
    }

    /// Counts an event whose type is 256 or above, which no runtime writes.
    #[cold]
    fn count_unknown(&mut self, record: &Record<'_>) {
        let bytes = record.payload.len() as u64 + PREFIX_BYTES;
        self.info.count_of(record.id, (1, bytes));
    }
}

impl Sink for SegmentAnalysis {
    #[inline]
    fn event(&mut self, record: &Record<'_>) {
        self.info.back_dating.observe(record.time);
        let Ok(id) = u8::try_from(record.id.0) else {
            return self.count_unknown(record);
        };
        let of = &mut self.types[usize::from(id)];
        if !of.seen {
            *of = Self::handling_of(record, &self.keeps);
        }
        of.count += 1;
        of.payload_bytes += record.payload.len() as u64;
        let route = of.route;
        if let Some(thread_effect) = of.thread_effect {
            self.threads.event(thread_effect, record);
        }
        if !matches!(route, Route::Counted) {
            self.route_event(route, id, record);
        }
    }

    #[inline]
    fn stretch(&mut self, cap: Option<CapId>, times: (Nanos, Nanos)) {
        self.info.lives.record_events(cap, times);
    }
}
