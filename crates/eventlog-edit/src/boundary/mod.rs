//! Events outside a range on which the metrics of the range depend.
//!
//! Metrics of a range depend on the state at its start, and on the ends of activities in progress at its end. Both
//! are represented by events of the log with their original times, so that start times remain known and merged
//! parts of a log reproduce the log:
//!
//! | subject | before the range | behind it |
//! |---|---|---|
//! | each thread that has not finished | creation, last run and stop, then the first wakeup and the last migration | the stop of a run in progress; the next run and stop if it is ready; the wakeup by one of the runtime's managers, and its run |
//! | each capability | its last run and stop, its `GC_START` without an end | its next run and stop, that `GC_END` |
//! | collections | the last one, and one in progress, from the request on | the rest of one in progress, and the next one |
//! | each counter and gauge, time profile | the last value or sample | the next one |
//! | heap census | the last one | the rest of one in progress, else the next one |
//! | nonmoving collector | its last cycle | the rest of one in progress |
//! | each task | last migration, deletion | |
//! | definitions | all | those that name something in the range |
//!
//! In a log of several processes, each has its own collections and cycles of the nonmoving collector.
//!
//! [`Activity`] is the state while events are read; [`EntryState`] selects the events before the range, [`ExitState`]
//! those behind it.

mod activity;
mod entry;
mod exit;

use std::rc::Rc;

use eventlog::cursor::Cursor;
use eventlog::event::{EventType, Subject};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::{EventSet, Record};

pub(crate) use activity::Activity;
pub(crate) use entry::EntryState;
pub(crate) use exit::ExitState;

/// Events of collections.
const COLLECTION: EventSet = EventSet::for_subject(Subject::Collection);

/// Values that the runtime writes in collections. Each holds until the next one.
const GC_SAMPLES: EventSet = EventSet::from_types(&[
    EventType::HEAP_ALLOCATED,
    EventType::HEAP_SIZE,
    EventType::HEAP_LIVE,
    EventType::MEM_RETURN,
    EventType::BLOCKS_SIZE,
    EventType::SPARK_COUNTERS,
]);

/// Values that hold until the next one, samples of a time profile, and events of single sparks, whose presence in
/// a log determines what is known about sparks.
const SAMPLES: EventSet = GC_SAMPLES.union(EventSet::from_types(&[
    EventType::SPARK_CREATE,
    EventType::SPARK_DUD,
    EventType::SPARK_OVERFLOW,
    EventType::SPARK_RUN,
    EventType::SPARK_STEAL,
    EventType::SPARK_FIZZLE,
    EventType::SPARK_GC,
    EventType::NONMOVING_HEAP_CENSUS,
    EventType::NONMOVING_PRUNED_SEGMENTS,
    EventType::PROF_SAMPLE_COST_CENTRE,
]));

/// Events of the nonmoving collector's cycle.
const NONMOVING: EventSet = EventSet::for_subject(Subject::Nonmoving).difference(SAMPLES);

/// Events of a heap census.
const CENSUS: EventSet = EventSet::from_types(&[
    EventType::HEAP_PROF_SAMPLE_BEGIN,
    EventType::HEAP_PROF_SAMPLE_COST_CENTRE,
    EventType::HEAP_PROF_SAMPLE_STRING,
    EventType::HEAP_PROF_SAMPLE_END,
    EventType::HEAP_BIO_PROF_SAMPLE_BEGIN,
]);

/// Starts and stops of thread runs.
const RUNS: EventSet = EventSet::from_types(&[EventType::RUN_THREAD, EventType::STOP_THREAD]);

/// Events after which a thread is runnable.
const WAKEUPS: EventSet = EventSet::from_types(&[
    EventType::THREAD_WAKEUP,
    EventType::MIGRATE_THREAD,
    EventType::THREAD_RUNNABLE,
]);

/// Identifies the value that a sample belongs to.
type SampleKey = (EventType, Option<CapId>, u32);

fn sample_key(record: &Record<'_>) -> SampleKey {
    let bytes = match record.id {
        EventType::HEAP_ALLOCATED
        | EventType::HEAP_SIZE
        | EventType::HEAP_LIVE
        | EventType::MEM_RETURN
        | EventType::BLOCKS_SIZE
        | EventType::PROF_SAMPLE_COST_CENTRE => 4,
        // The block size precedes three counts.
        EventType::NONMOVING_HEAP_CENSUS => record.payload.len().saturating_sub(12),
        _ => 0,
    };
    let bytes = record.payload.get(..bytes).unwrap_or_default();
    let key = bytes
        .iter()
        .fold(0, |key, &byte| key << 8 | u32::from(byte));
    (record.id, record.cap, key)
}

/// Returns the thread that an event is about: its first field.
pub(crate) fn own_thread(record: &Record<'_>) -> Option<ThreadId> {
    let is_known = EventSet::THREAD_EVENTS.contains(record.id) && record.header.knows(record.id);
    let mut fields = Cursor::new(record.payload, record.header.stop_codes);
    is_known.then(|| fields.field()).flatten()
}

/// Returns the index of a capability in a list; index 0 is for events without one.
pub(crate) fn cap_index(cap: Option<CapId>) -> usize {
    cap.map_or(0, |cap| usize::from(cap.0) + 1)
}

/// Returns the list entry of a capability, extending the list as needed.
pub(crate) fn slot<T: Default>(all: &mut Vec<T>, cap: Option<CapId>) -> &mut T {
    nth(all, cap_index(cap))
}

/// Returns the list entry at an index, extending the list as needed.
fn nth<T: Default>(all: &mut Vec<T>, at: usize) -> &mut T {
    if at >= all.len() {
        all.resize_with(at + 1, T::default);
    }
    &mut all[at]
}

/// Copy of an event that is written later.
#[derive(Debug)]
pub(crate) struct OwnedEvent {
    /// Sequence number in the log.
    number: u64,
    pub(crate) id: EventType,
    pub(crate) time: Nanos,
    pub(crate) cap: Option<CapId>,
    pub(crate) payload: Box<[u8]>,
}

impl OwnedEvent {
    fn copy(record: &Record<'_>, number: u64) -> Rc<Self> {
        Rc::new(Self {
            number,
            id: record.id,
            time: record.time,
            cap: record.cap,
            payload: record.payload.into(),
        })
    }
}
