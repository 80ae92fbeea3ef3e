//! The events behind a range that a cut writes.

use std::rc::Rc;

use eventlog::cursor::Cursor;
use eventlog::event::EventType;
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::{EventSet, Record};

use super::activity::{Activity, ProcessActivity};
use super::{
    CENSUS, COLLECTION, GC_SAMPLES, NONMOVING, OwnedEvent, RUNS, SAMPLES, SampleKey, WAKEUPS, nth,
    own_thread, sample_key, slot,
};
use crate::definition::is_definition;

/// Definitions that only matter from their time on.
const CHANGES: EventSet = EventSet::from_types(&[
    EventType::STARTUP,
    EventType::CAP_DELETE,
    EventType::CAP_DISABLE,
    EventType::CAP_ENABLE,
    EventType::CAPSET_DELETE,
    EventType::CAPSET_REMOVE_CAP,
    EventType::TASK_CREATE,
]);

/// Selects the events behind a range that end the activities in progress at its end.
#[derive(Debug)]
pub(crate) struct ExitState {
    /// State at the current event.
    activity: Activity,
    /// Threads whose stops are needed.
    open_runs: SeededSet<ThreadId>,
    /// Capabilities that ran a thread behind the range.
    ran: SeededSet<Option<CapId>>,
    /// Threads that are ready at the end of the range and have not run since.
    ready: SeededSet<ThreadId>,
    /// Capabilities in a needed collection.
    in_collection: SeededSet<Option<CapId>>,
    /// End of the range.
    end: Nanos,
    /// By process.
    own: Vec<ProcessExit>,
    census: CensusPhase,
    /// Whether a biographical census was found behind the range.
    has_later_census: bool,
    samples: SeededSet<SampleKey>,
    /// Threads that were woken or ran behind the range.
    woken: SeededSet<ThreadId>,
    /// By [`cap_index`](super::cap_index): the current run of a manager.
    manager_runs: Vec<ManagerRun>,
    /// By [`cap_index`](super::cap_index): the time of the last written event.
    written: Vec<Nanos>,
    /// Event to write before the last one passed to [`observe_is_needed`](Self::observe_is_needed).
    before: Option<Rc<OwnedEvent>>,
}

/// What is needed of one process behind a range.
#[derive(Debug)]
struct ProcessExit {
    /// Number of collections still needed. If one was in progress, the next one is needed too: capabilities may
    /// leave the first one until then.
    collections: u8,
    /// Whether further samples of the last of these collections may follow.
    is_sampled: bool,
    is_marking: bool,
}

impl ProcessExit {
    fn new(activity: &ProcessActivity) -> Self {
        Self {
            collections: 1 + u8::from(activity.is_collecting),
            is_sampled: true,
            is_marking: activity.is_marking,
        }
    }
}

impl Default for ProcessExit {
    fn default() -> Self {
        Self::new(&ProcessActivity::default())
    }
}

/// Run of a manager behind a range, if there is one.
#[derive(Debug, Default)]
enum ManagerRun {
    #[default]
    None,
    /// Its start is not written yet.
    Deferred(Rc<OwnedEvent>),
    Written,
}

/// State of the census that is in progress at the end of a range, or else of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CensusPhase {
    /// The census has not begun.
    Needed,
    /// The census is in progress.
    Begun,
    /// The census has ended.
    Ended,
}

impl ExitState {
    /// Creates the state for a range that ends at `end`, with the activities in progress there.
    pub(crate) fn new(activity: Activity, end: Nanos) -> Self {
        Self {
            open_runs: activity.running.iter().copied().flatten().collect(),
            ran: SeededSet::default(),
            ready: (activity.waiting.iter())
                .filter(|(_, is_ready)| **is_ready)
                .map(|(thread, _)| *thread)
                .collect(),
            in_collection: (activity.own.iter())
                .flat_map(|own| own.in_collection.iter().copied())
                .collect(),
            end,
            own: activity.own.iter().map(ProcessExit::new).collect(),
            census: if activity.in_census {
                CensusPhase::Begun
            } else {
                CensusPhase::Needed
            },
            has_later_census: false,
            samples: SeededSet::default(),
            woken: SeededSet::default(),
            manager_runs: activity
                .running
                .iter()
                .map(|thread| match thread {
                    Some(thread) if activity.managers.contains(thread) => ManagerRun::Written,
                    _ => ManagerRun::None,
                })
                .collect(),
            written: Vec::new(),
            before: None,
            activity,
        }
    }

    /// Takes the event to write before the last one passed to [`observe_is_needed`](Self::observe_is_needed).
    pub(crate) fn take_before(&mut self) -> Option<Rc<OwnedEvent>> {
        self.before.take()
    }

    /// Whether the metrics of the range depend on an event behind it.
    pub(crate) fn observe_is_needed(&mut self, record: &Record<'_>) -> bool {
        let is_needed = self.is_needed(record);
        if is_needed {
            *slot(&mut self.written, record.cap) = record.time;
        }
        is_needed
    }

    fn is_needed(&mut self, record: &Record<'_>) -> bool {
        let id = record.id;
        if !record.header.knows(id) {
            return false;
        }
        if id == EventType::TASK_CREATE {
            // The presence of any task in a log determines what is known about tasks.
            return !std::mem::replace(&mut self.activity.has_task, true);
        }
        let process = self.activity.processes.of(record.cap);
        if is_definition(record) {
            self.activity.processes.observe(record);
            let last = nth(&mut self.activity.own, process).last_thread;
            let is_later = id == EventType::THREAD_LABEL
                && own_thread(record).is_none_or(|thread| thread > last);
            return !CHANGES.contains(id) && !is_later;
        }
        let own = nth(&mut self.own, process);
        if SAMPLES.contains(id) {
            let is_of_collection = GC_SAMPLES.contains(id) && own.is_sampled;
            return self.samples.insert(sample_key(record)) || is_of_collection;
        }
        if RUNS.contains(id) {
            return self.needs_run(record);
        }
        if WAKEUPS.contains(id) {
            return self.needs_wakeup(record);
        }
        if COLLECTION.contains(id) {
            return self.needs_collection(record);
        }
        if CENSUS.contains(id) {
            return self.needs_census(record);
        }
        if NONMOVING.contains(id) {
            let goes_on = own.is_marking;
            own.is_marking &= id != EventType::CONC_SWEEP_END;
            return goes_on;
        }
        false
    }

    /// Whether an event of a census is needed. The begin of a census is written after the heap was counted. GHC
    /// before 8.10 writes no end.
    ///
    /// All biographical censuses are at the end of the log, with their times in a field.
    fn needs_census(&mut self, record: &Record<'_>) -> bool {
        match (record.id, self.census) {
            (EventType::HEAP_BIO_PROF_SAMPLE_BEGIN, state) => {
                let mut fields = Cursor::new(record.payload, record.header.stop_codes);
                let time = fields.field::<u64>().and_then(|_| fields.field());
                let is_inside = time.is_some_and(|time: u64| time < self.end.0);
                let is_needed = is_inside || state == CensusPhase::Needed || !self.has_later_census;
                self.has_later_census |= !is_inside;
                self.census = if is_needed {
                    CensusPhase::Begun
                } else {
                    CensusPhase::Ended
                };
                is_needed
            }
            (EventType::HEAP_PROF_SAMPLE_BEGIN, CensusPhase::Needed) => {
                self.census = CensusPhase::Begun;
                true
            }
            (EventType::HEAP_PROF_SAMPLE_BEGIN, _) => {
                self.census = CensusPhase::Ended;
                false
            }
            (EventType::HEAP_PROF_SAMPLE_END, CensusPhase::Begun) => {
                self.census = CensusPhase::Ended;
                true
            }
            (_, state) => state == CensusPhase::Begun,
        }
    }

    fn needs_run(&mut self, record: &Record<'_>) -> bool {
        let Some(thread) = own_thread(record) else {
            return false;
        };
        if record.id == EventType::STOP_THREAD {
            *slot(&mut self.manager_runs, record.cap) = ManagerRun::None;
            return self.open_runs.remove(&thread);
        }
        self.woken.insert(thread);
        let is_first_on_cap = self.ran.insert(record.cap);
        // The run tells for which capability the thread waits.
        let was_ready = self.ready.remove(&thread);
        let is_needed = (is_first_on_cap || was_ready) && self.open_runs.insert(thread);
        *slot(&mut self.manager_runs, record.cap) = match self.activity.managers.contains(&thread) {
            false => ManagerRun::None,
            true if is_needed => ManagerRun::Written,
            true => ManagerRun::Deferred(OwnedEvent::copy(record, 0)),
        };
        is_needed
    }

    /// Whether a wakeup is needed. A wait in progress at the end of the range is for time or I/O if a manager ends
    /// it, so its wakeup is needed, along with the manager's run that contains it.
    fn needs_wakeup(&mut self, record: &Record<'_>) -> bool {
        let Some(thread) = own_thread(record).filter(|thread| self.woken.insert(*thread)) else {
            return false;
        };
        let run = slot(&mut self.manager_runs, record.cap);
        match run {
            ManagerRun::None => false,
            ManagerRun::Written => true,
            ManagerRun::Deferred(begin) => {
                if begin.time < *slot(&mut self.written, record.cap) {
                    return false;
                }
                let manager = begin.payload.first_chunk().copied().map(u32::from_be_bytes);
                self.open_runs.extend(manager.map(ThreadId));
                self.before = Some(Rc::clone(begin));
                *run = ManagerRun::Written;
                manager != Some(thread.0)
            }
        }
    }

    fn needs_collection(&mut self, record: &Record<'_>) -> bool {
        let was_collecting = self.activity.is_collecting(record.cap);
        let begins = self.activity.advance(record);
        let is_collecting = self.activity.is_collecting(record.cap);
        let own = nth(&mut self.own, self.activity.processes.of(record.cap));
        own.is_sampled &= !(begins && own.collections == 0);
        let is_needed = own.collections > 0;
        match record.id {
            EventType::GC_START if is_needed => {
                self.in_collection.insert(record.cap);
                true
            }
            EventType::GC_END => {
                // Capabilities that leave a collection after its end do not end the next one.
                own.collections -= u8::from(is_needed && was_collecting && !is_collecting);
                self.in_collection.remove(&record.cap)
            }
            _ => is_needed,
        }
    }
}
