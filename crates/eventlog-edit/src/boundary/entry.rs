//! The events before a range that a cut writes.

use std::rc::Rc;

use eventlog::event::EventType;
use eventlog::hash::SeededMap;
use eventlog::ids::ThreadId;
use eventlog::{Event, Record};

use super::activity::{Activity, Processes, is_last_stop};
use super::{
    CENSUS, COLLECTION, GC_SAMPLES, NONMOVING, OwnedEvent, RUNS, SAMPLES, SampleKey, WAKEUPS,
    cap_index, nth, own_thread, sample_key, slot,
};
use crate::definition::is_definition;

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
    /// By [`cap_index`]: `GC_START` without an end.
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
            let here = cap_index(record.cap);
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
