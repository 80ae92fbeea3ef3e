//! State while the events of a log are read: threads, heap censuses, and the collectors of each process.

use eventlog::cursor::{CapsetType, Cursor};
use eventlog::event::EventType;
use eventlog::hash::{SeededMap, SeededSet};
use eventlog::ids::{CapId, CapsetId, ThreadId};
use eventlog::{Event, Record, StopStatus};

use super::{NONMOVING, WAKEUPS, cap_index, nth, own_thread, slot};

/// Returns the status of a stop.
fn stop_status(record: &Record<'_>) -> Option<StopStatus> {
    let mut fields = Cursor::new(record.payload, record.header.stop_codes);
    fields.field::<ThreadId>().and_then(|_| fields.field())
}

/// Whether a thread finishes with this stop.
pub(super) fn is_last_stop(record: &Record<'_>) -> bool {
    stop_status(record) == Some(StopStatus::ThreadFinished)
}

/// Whether a thread is ready to run again right after a stop.
const fn is_ready_after(status: StopStatus) -> bool {
    matches!(
        status,
        StopStatus::HeapOverflow
            | StopStatus::StackOverflow(_)
            | StopStatus::ThreadYielding
            | StopStatus::ThreadMigrating
    )
}

/// Processes of a log, numbered from 0 in the order of their capability sets. What belongs to none counts for the
/// first one.
#[derive(Clone, Debug, Default)]
pub(super) struct Processes {
    sets: SeededMap<CapsetId, usize>,
    /// By [`cap_index`].
    caps: Vec<Option<usize>>,
}

impl Processes {
    /// Processes an event of a known type.
    pub(super) fn observe(&mut self, record: &Record<'_>) {
        match record.event() {
            Event::CapsetCreate {
                capset,
                capset_type,
            } if capset_type == CapsetType::OS_PROCESS => {
                let next = self.sets.len();
                self.sets.entry(capset).or_insert(next);
            }
            Event::CapsetAssignCap { capset, cap } => {
                if let Some(&process) = self.sets.get(&capset) {
                    slot(&mut self.caps, Some(cap)).get_or_insert(process);
                }
            }
            _ => {}
        }
    }

    /// Returns the process of a capability.
    pub(super) fn of(&self, cap: Option<CapId>) -> usize {
        self.caps
            .get(cap_index(cap))
            .copied()
            .flatten()
            .unwrap_or(0)
    }
}

/// Activities in progress at a point in time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    /// The running thread by [`cap_index`].
    pub(super) running: Vec<Option<ThreadId>>,
    /// The threads that do not run, and whether they are ready to.
    pub(super) waiting: SeededMap<ThreadId, bool>,
    pub(super) processes: Processes,
    /// By process.
    pub(super) own: Vec<ProcessActivity>,
    pub(super) has_task: bool,
    /// The runtime's threads that end waits for time and I/O, identified by their labels.
    pub(super) managers: SeededSet<ThreadId>,
    pub(super) in_census: bool,
}

/// Activities of one process in progress at a point in time.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessActivity {
    /// Capabilities with a `GC_START` that has no end yet.
    pub(super) in_collection: SeededSet<Option<CapId>>,
    /// The capability that has written the statistics of the collection.
    leader: Option<CapId>,
    /// Whether the log has statistics of collections.
    has_statistics: bool,
    /// Whether a collection is requested or in progress.
    pub(super) is_collecting: bool,
    /// Whether a capability has started that collection.
    has_started: bool,
    pub(super) is_marking: bool,
    pub(super) last_thread: ThreadId,
}

impl Activity {
    /// Processes an event of a known type. Returns whether it begins something: a collection, a census, or a cycle
    /// of the nonmoving collector.
    pub(super) fn advance(&mut self, record: &Record<'_>) -> bool {
        let cap = record.cap;
        let own = nth(&mut self.own, self.processes.of(cap));
        let thread = own_thread(record);
        if let Some(thread) = thread {
            own.last_thread = own.last_thread.max(thread);
            observe_waiting(&mut self.waiting, record, thread);
        }
        match record.id {
            EventType::RUN_THREAD => {
                *slot(&mut self.running, cap) = thread;
                false
            }
            EventType::STOP_THREAD => {
                *slot(&mut self.running, cap) = None;
                false
            }
            EventType::REQUEST_SEQ_GC | EventType::REQUEST_PAR_GC => own.begin_collection(),
            EventType::GC_START => {
                let begins = own.begin_collection();
                own.in_collection.insert(cap);
                own.has_started = true;
                begins
            }
            EventType::GC_STATS_GHC => {
                own.leader = cap;
                own.has_statistics = true;
                false
            }
            EventType::GC_END => {
                own.in_collection.remove(&cap);
                // Other capabilities may end it later, even when the next one is requested.
                let is_over = if own.has_statistics {
                    cap.is_some() && own.leader == cap
                } else {
                    own.has_started && own.in_collection.is_empty()
                };
                if is_over {
                    own.is_collecting = false;
                    own.leader = None;
                }
                false
            }
            EventType::CAPSET_CREATE | EventType::CAPSET_ASSIGN_CAP => {
                self.processes.observe(record);
                false
            }
            EventType::TASK_CREATE => {
                self.has_task = true;
                false
            }
            EventType::THREAD_LABEL => {
                let label = record.payload.get(4..).unwrap_or_default();
                if label.starts_with(b"TimerManager") || label.starts_with(b"IOManager") {
                    self.managers.extend(own_thread(record));
                }
                false
            }
            EventType::HEAP_PROF_SAMPLE_BEGIN | EventType::HEAP_BIO_PROF_SAMPLE_BEGIN => {
                self.in_census = true;
                true
            }
            EventType::HEAP_PROF_SAMPLE_END => {
                self.in_census = false;
                false
            }
            EventType::CONC_SWEEP_END => {
                own.is_marking = false;
                false
            }
            id if NONMOVING.contains(id) => !std::mem::replace(&mut own.is_marking, true),
            _ => false,
        }
    }

    /// Returns whether the process of a capability is collecting.
    pub(super) fn is_collecting(&self, cap: Option<CapId>) -> bool {
        let own = self.own.get(self.processes.of(cap));
        own.is_some_and(|own| own.is_collecting)
    }

    /// Returns the thread that runs on a capability.
    pub(crate) fn running(&self, cap: Option<CapId>) -> Option<ThreadId> {
        self.running.get(cap_index(cap)).copied().flatten()
    }

    /// Processes an event.
    pub(crate) fn observe(&mut self, record: &Record<'_>) {
        if record.header.knows(record.id) {
            self.advance(record);
        }
    }
}

/// Records an event about a thread in the threads that do not run, with whether they are ready to.
fn observe_waiting(waiting: &mut SeededMap<ThreadId, bool>, record: &Record<'_>, thread: ThreadId) {
    match record.id {
        EventType::CREATE_THREAD => {
            waiting.insert(thread, true);
        }
        EventType::RUN_THREAD => {
            waiting.remove(&thread);
        }
        EventType::STOP_THREAD if is_last_stop(record) => {
            waiting.remove(&thread);
        }
        EventType::STOP_THREAD => {
            let is_ready = stop_status(record).is_some_and(is_ready_after);
            waiting.insert(thread, is_ready);
        }
        id if WAKEUPS.contains(id) => {
            if let Some(is_ready) = waiting.get_mut(&thread) {
                *is_ready = true;
            }
        }
        _ => {}
    }
}

impl ProcessActivity {
    /// Records a request or start of a collection. Returns whether it is a new one.
    fn begin_collection(&mut self) -> bool {
        let goes_on = self.is_collecting && !(self.has_started && self.in_collection.is_empty());
        if !goes_on {
            self.is_collecting = true;
            self.has_started = false;
        }
        !goes_on
    }
}
