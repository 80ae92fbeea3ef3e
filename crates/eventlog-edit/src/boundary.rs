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

use std::rc::Rc;

use eventlog::hash::{SeededMap, SeededSet};

use super::definition::{OS_PROCESS, is_definition};
use eventlog::cursor::Cursor;
use eventlog::event::{EventType, Subject};
use eventlog::ids::{CapId, CapsetId, Nanos, ThreadId};
use eventlog::{Event, EventSet, Record, StopStatus};

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

/// Returns the status of a stop.
fn stop_status(record: &Record<'_>) -> Option<StopStatus> {
    let mut fields = Cursor::new(record.payload, record.header.stop_codes);
    fields.field::<ThreadId>().and_then(|_| fields.field())
}

/// Whether a thread finishes with this stop.
fn is_last_stop(record: &Record<'_>) -> bool {
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

/// Returns the index of a capability in a list; index 0 is for events without one.
pub(crate) fn cap_place(cap: Option<CapId>) -> usize {
    cap.map_or(0, |cap| usize::from(cap.0) + 1)
}

/// Returns the list entry of a capability, extending the list as needed.
pub(crate) fn slot<T: Default>(all: &mut Vec<T>, cap: Option<CapId>) -> &mut T {
    nth(all, cap_place(cap))
}

/// Returns the list entry at an index, extending the list as needed.
fn nth<T: Default>(all: &mut Vec<T>, at: usize) -> &mut T {
    if at >= all.len() {
        all.resize_with(at + 1, T::default);
    }
    &mut all[at]
}

/// Processes of a log, numbered from 0 in the order of their capability sets. What belongs to none counts for the
/// first one.
#[derive(Clone, Debug, Default)]
struct Processes {
    sets: SeededMap<CapsetId, usize>,
    /// By [`cap_place`].
    caps: Vec<Option<usize>>,
}

impl Processes {
    /// Processes an event of a known type.
    fn observe(&mut self, record: &Record<'_>) {
        match record.event() {
            Event::CapsetCreate {
                capset,
                capset_type,
            } if capset_type.0 == OS_PROCESS => {
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
    fn of(&self, cap: Option<CapId>) -> usize {
        self.caps
            .get(cap_place(cap))
            .copied()
            .flatten()
            .unwrap_or(0)
    }
}

/// Activities in progress at a point in time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    /// The running thread by [`cap_place`].
    running: Vec<Option<ThreadId>>,
    /// The threads that do not run, and whether they are ready to.
    waiting: SeededMap<ThreadId, bool>,
    processes: Processes,
    /// By process.
    own: Vec<ProcessActivity>,
    has_task: bool,
    /// The runtime's threads that end waits for time and I/O, identified by their labels.
    managers: SeededSet<ThreadId>,
    in_census: bool,
}

/// Activities of one process in progress at a point in time.
#[derive(Clone, Debug, Default)]
struct ProcessActivity {
    /// Capabilities with a `GC_START` that has no end yet.
    in_collection: SeededSet<Option<CapId>>,
    /// The capability that has written the statistics of the collection.
    leader: Option<CapId>,
    /// Whether the log has statistics of collections.
    has_statistics: bool,
    /// Whether a collection is requested or in progress.
    is_collecting: bool,
    /// Whether a capability has started that collection.
    has_started: bool,
    is_marking: bool,
    last_thread: ThreadId,
}

impl Activity {
    /// Processes an event of a known type. Returns whether it begins something: a collection, a census, or a cycle
    /// of the nonmoving collector.
    fn advance(&mut self, record: &Record<'_>) -> bool {
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
    fn is_collecting(&self, cap: Option<CapId>) -> bool {
        let own = self.own.get(self.processes.of(cap));
        own.is_some_and(|own| own.is_collecting)
    }

    /// Returns the thread that runs on a capability.
    pub(crate) fn running(&self, cap: Option<CapId>) -> Option<ThreadId> {
        self.running.get(cap_place(cap)).copied().flatten()
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

type Slot = Option<Rc<OwnedEvent>>;

/// Last run of a thread or on a capability.
#[derive(Debug, Default)]
struct LastRun {
    thread: Option<ThreadId>,
    run: Slot,
    stop: Slot,
}

#[derive(Debug, Default)]
struct ThreadEvents {
    created: Slot,
    /// The event that makes it a spark thread.
    for_sparks: Slot,
    last: LastRun,
    /// First wakeup after the stop.
    woken: Slot,
    migrated: Slot,
}

/// The events before a range that define the state at its start.
#[derive(Debug, Default)]
pub(crate) struct EntryState {
    count: u64,
    definitions: Vec<Rc<OwnedEvent>>,
    threads: SeededMap<ThreadId, ThreadEvents>,
    last_runs: Vec<LastRun>,
    /// By [`cap_place`]: `GC_START` without an end.
    gc_starts: Vec<Slot>,
    samples: SeededMap<SampleKey, Rc<OwnedEvent>>,
    /// By process.
    collections: Vec<ProcessCollections>,
    census: Vec<Rc<OwnedEvent>>,
    census_before: Vec<Rc<OwnedEvent>>,
    /// The last migration and the deletion of each task, by the bytes of its id.
    tasks: SeededMap<[u8; 8], [Slot; 2]>,
}

/// The last collections of a process.
#[derive(Debug, Default)]
struct ProcessCollections {
    last: Vec<Rc<OwnedEvent>>,
    before: Vec<Rc<OwnedEvent>>,
    /// The last cycle of the nonmoving collector.
    cycle: Vec<Rc<OwnedEvent>>,
}

impl EntryState {
    /// Whether a definition may be written at once, because no earlier event is pending.
    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Processes an event before the range; `activity` is the state before the event.
    pub(crate) fn observe(&mut self, record: &Record<'_>, activity: &mut Activity) {
        let id = record.id;
        let begins = record.header.knows(id) && activity.advance(record);
        if is_definition(record) {
            let event = self.copy(record);
            self.definitions.push(event);
            return;
        }
        if !record.header.knows(id) {
            return;
        }
        let process = activity.processes.of(record.cap);
        if SAMPLES.contains(id) {
            let event = self.copy(record);
            self.samples.insert(sample_key(record), Rc::clone(&event));
            let collection = &mut nth(&mut self.collections, process).last;
            if GC_SAMPLES.contains(id) && !collection.is_empty() {
                collection.push(event);
            }
        } else if RUNS.contains(id) {
            self.observe_run(record);
        } else if COLLECTION.contains(id) {
            self.observe_collection(record, begins, &activity.processes);
        } else if CENSUS.contains(id) {
            if begins {
                self.census_before = std::mem::take(&mut self.census);
            }
            let event = self.copy(record);
            self.census.push(event);
        } else if NONMOVING.contains(id) {
            let event = self.copy(record);
            let cycle = &mut nth(&mut self.collections, process).cycle;
            if begins {
                cycle.clear();
            }
            cycle.push(event);
        } else if matches!(id, EventType::TASK_MIGRATE | EventType::TASK_DELETE) {
            if let Some(task) = record.payload.first_chunk() {
                let event = self.copy(record);
                let place = usize::from(id == EventType::TASK_DELETE);
                self.tasks.entry(*task).or_default()[place] = Some(event);
            }
        } else if id == EventType::CREATE_SPARK_THREAD {
            self.observe_spark_thread(record);
        } else if let Some(thread) = own_thread(record) {
            self.observe_thread(record, thread);
        }
    }

    fn observe_spark_thread(&mut self, record: &Record<'_>) {
        let event = self.copy(record);
        if let Event::CreateSparkThread { spark_thread } = record.event()
            && let Some(events) = self.threads.get_mut(&spark_thread)
        {
            events.for_sparks = Some(event);
        }
    }

    fn observe_thread(&mut self, record: &Record<'_>, thread: ThreadId) {
        if record.id == EventType::CREATE_THREAD {
            let created = Some(self.copy(record));
            let events = self.threads.entry(thread).or_default();
            *events = ThreadEvents {
                created,
                ..ThreadEvents::default()
            };
        } else if WAKEUPS.contains(record.id) && self.threads.contains_key(&thread) {
            let event = self.copy(record);
            if let Some(events) = self.threads.get_mut(&thread) {
                if record.id == EventType::MIGRATE_THREAD {
                    events.migrated = Some(Rc::clone(&event));
                }
                events.woken.get_or_insert(event);
            }
        }
    }

    fn observe_run(&mut self, record: &Record<'_>) {
        let Some(thread) = own_thread(record) else {
            return;
        };
        let event = self.copy(record);
        let on_cap = slot(&mut self.last_runs, record.cap);
        let events = self.threads.entry(thread).or_default();
        for last in [on_cap, &mut events.last] {
            if record.id == EventType::RUN_THREAD {
                *last = LastRun {
                    thread: Some(thread),
                    run: Some(Rc::clone(&event)),
                    stop: None,
                };
            } else {
                last.stop = Some(Rc::clone(&event));
            }
        }
        (events.woken, events.migrated) = (None, None);
        if record.id == EventType::STOP_THREAD && is_last_stop(record) {
            self.threads.remove(&thread);
            // Without this stop, an earlier run on another capability would make the thread look alive.
            let here = cap_place(record.cap);
            for (place, last) in self.last_runs.iter_mut().enumerate() {
                if place != here && last.thread == Some(thread) {
                    *last = LastRun::default();
                }
            }
        }
    }

    fn observe_collection(&mut self, record: &Record<'_>, begins: bool, processes: &Processes) {
        let event = self.copy(record);
        let process = processes.of(record.cap);
        let own = nth(&mut self.collections, process);
        if begins {
            // A `GC_END` that is still to come needs its start.
            let open = self.gc_starts.iter().flatten();
            let open = open.filter(|start| processes.of(start.cap) == process);
            own.before = std::mem::replace(&mut own.last, open.cloned().collect());
        }
        match record.id {
            EventType::GC_START => *slot(&mut self.gc_starts, record.cap) = Some(Rc::clone(&event)),
            EventType::GC_END => *slot(&mut self.gc_starts, record.cap) = None,
            _ => {}
        }
        own.last.push(event);
    }

    fn copy(&mut self, record: &Record<'_>) -> Rc<OwnedEvent> {
        self.count += 1;
        OwnedEvent::copy(record, self.count)
    }

    /// Returns the events in log order.
    pub(crate) fn into_events(self, activity: &Activity) -> Vec<Rc<OwnedEvent>> {
        let mut all = self.definitions;
        let runs = |last: LastRun| [last.run, last.stop];
        for events in self.threads.into_values() {
            all.extend(
                [
                    events.created,
                    events.for_sparks,
                    events.woken,
                    events.migrated,
                ]
                .into_iter()
                .flatten(),
            );
            all.extend(runs(events.last).into_iter().flatten());
        }
        all.extend(self.last_runs.into_iter().flat_map(runs).flatten());
        all.extend(self.gc_starts.into_iter().flatten());
        all.extend(self.samples.into_values());
        for (process, own) in self.collections.into_iter().enumerate() {
            let activity = activity.own.get(process);
            if activity.is_some_and(|activity| activity.is_collecting) {
                all.extend(own.before);
            }
            all.extend(own.last);
            all.extend(own.cycle);
        }
        if activity.in_census {
            all.extend(self.census_before);
        }
        all.extend(self.census);
        all.extend(self.tasks.into_values().flatten().flatten());
        all.sort_unstable_by_key(|event| event.number);
        all.dedup_by_key(|event| event.number);
        all
    }
}

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
    /// By [`cap_place`]: the current run of a manager.
    manager_runs: Vec<ManagerRun>,
    /// By [`cap_place`]: the time of the last written event.
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
