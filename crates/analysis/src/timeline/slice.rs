//! Threads in a slice of a log, analyzed without knowledge of the events before it.
//!
//! The first events of each thread are interpreted as in a sound log: a thread that is created did not exist, one
//! that starts to run was not running, one that stops was running. After these events the state of its automaton
//! is certain. When the slice is appended (`Store::append`), the meaning of the first events for the time before
//! them is resolved, and the assumptions are checked, in a few steps per thread. If an assumption is wrong, as in
//! a damaged log, the slice is read again from the true states ([`BoundaryState`]).

use serde::{Deserialize, Serialize};

use super::deep_stacks::DeepStack;
use super::instants::{InstantKind, InstantSizes, Instants};
use super::store::Store;
use super::threads::{NEVER_NS, Thread, ThreadIndexMap, Threads};
use crate::account::runs::{RunColumns, RunRef};
use crate::automata::thread_state::{Activity, Input, Reason, State};
use crate::diagnostics::Diagnostics;
use eventlog::cap_table::CapLanes;
use eventlog::cursor::Cursor;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::{EventType, Record, StopStatus};
use model::class::StopCode;
use model::columns::Column;
use model::moments::Moments;
use model::saturating::saturating_u32;

/// Effect of an event type on threads, or as a point event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ThreadEventKind {
    /// A thread starts to run.
    Ran,
    /// A thread stops.
    Stopped,
    Created,
    Woken,
    Migrated,
    /// A thread is runnable, as logged by old runtimes.
    Runnable,
    /// A thread is labeled.
    Labeled,
    /// A point event.
    Instant(InstantKind),
    /// A point event of the capability that the event names.
    InstantOfCap(InstantKind),
    /// A point event of the thread that the event names.
    InstantOfThread(InstantKind),
}

impl ThreadEventKind {
    /// Returns the effect of an event type; `None` if it has none.
    pub(crate) fn from_event_type(id: EventType) -> Option<Self> {
        Some(match id {
            EventType::RUN_THREAD => Self::Ran,
            EventType::STOP_THREAD => Self::Stopped,
            EventType::CREATE_THREAD => Self::Created,
            EventType::THREAD_WAKEUP => Self::Woken,
            EventType::MIGRATE_THREAD => Self::Migrated,
            EventType::THREAD_RUNNABLE => Self::Runnable,
            EventType::THREAD_LABEL => Self::Labeled,
            id => match InstantKind::from_event_type(id)? {
                kind if kind.names_its_capability() => Self::InstantOfCap(kind),
                kind if kind.has_thread() => Self::InstantOfThread(kind),
                kind => Self::Instant(kind),
            },
        })
    }
}

/// Known state at the start of a slice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BoundaryState {
    /// Whether unlisted threads did not exist yet; otherwise their states are unknown.
    pub(super) complete: bool,
    pub(super) threads: Vec<Thread>,
    /// End of the last run of each capability with runs.
    pub(super) lane_ends_ns: Vec<(Option<CapId>, u64)>,
}

impl BoundaryState {
    /// Returns the state at the start of a log: no threads exist.
    pub fn start() -> Self {
        Self {
            complete: true,
            ..Self::default()
        }
    }
}

/// Assumption about a thread's state before a slice, from its first events there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum EntryAssumption {
    /// None, as its state was known.
    Certain,
    /// None, as no event revealed what it did.
    NoEvidence,
    /// It did not exist, as the slice has its creation.
    NotCreated,
    /// It was not running, as it starts to run in the slice: on this capability, at this time.
    NotRunning(Option<CapId>, Nanos),
    /// It was running, as it stops in the slice: for this reason, at this time.
    Running(StopStatus, Nanos),
}

/// Facts from the first events of a thread in a slice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ThreadHead {
    pub(super) assumption: EntryAssumption,
    /// Time of the first wakeup before its state became known.
    pub(super) woken_ns: u64,
    /// Index of that wakeup in the slice's times at which threads became ready.
    pub(super) became_runnable: u32,
    /// First run, once it has ended, if it was assumed to start in the slice.
    pub(super) assumed_run: Option<RunRef>,
    /// Whether the slice sets its capability by a migration or its creation.
    pub(super) sets_cap: bool,
    /// Whether the slice adds it to the threads of the log.
    pub(super) is_listed: bool,
}

/// Threads in a slice, as if the slice were the whole log.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SliceThreads {
    pub(super) threads: Vec<Thread>,
    /// Facts from the first events of each thread.
    pub(super) heads: Vec<ThreadHead>,
    /// Threads to be added to the log, in the order in which the slice decided that.
    pub(super) order: Vec<u32>,
    pub(super) lanes: Vec<RunColumns>,
    pub(super) cap_lanes: CapLanes,
    pub(super) black_hole_owners: Vec<(RunRef, ThreadId)>,
    pub(super) deep_stacks: Vec<DeepStack>,
    pub(super) repeated_stops: Vec<(u32, Vec<u32>)>,
    pub(super) instants: Instants,
    pub(super) became_runnable: Moments,
    pub(super) anomalies: Diagnostics,
}

impl SliceThreads {
    /// Calls `see` with each column, always in the same order.
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        self.lanes.iter_mut().for_each(|lane| lane.columns(see));
        self.instants.columns(see);
        self.became_runnable.columns(see);
    }
}

/// What the analysis of a slice leaves for the next: slices of a log are much alike.
#[derive(Debug, Default)]
pub(crate) struct SliceScratch {
    /// Empty, but with its allocations.
    map: ThreadIndexMap,
    sizes: SliceSizes,
}

/// Lengths of the columns of a slice.
#[derive(Debug, Default)]
struct SliceSizes {
    threads: usize,
    runs: Vec<(Option<CapId>, usize)>,
    instants: InstantSizes,
    became_runnable: usize,
}

/// Returns room for a little more than `len` entries.
pub(super) const fn with_margin(len: usize) -> usize {
    len + len / 8
}

/// Analysis of the threads in a slice, in progress.
#[derive(Debug)]
pub(crate) struct SliceThreadAnalysis {
    /// Store of the slice as if it were the whole log. Thread indexes are those of `heads`.
    store: Store,
    heads: Vec<ThreadHead>,
    order: Vec<u32>,
    complete: bool,
    known: SeededMap<ThreadId, Thread>,
}

impl SliceThreadAnalysis {
    /// Starts from a known state, with room for as much as in the slice before.
    pub(crate) fn new(entry: BoundaryState, scratch: SliceScratch) -> Self {
        let SliceScratch { map, sizes } = scratch;
        let threads = with_margin(sizes.threads);
        let mut store = Store {
            threads: Threads::with_map(map, threads),
            instants: Instants::with_room(&sizes.instants),
            ..Store::default()
        };
        for (cap, runs) in sizes.runs {
            store.lane_mut(cap).runs.reserve(with_margin(runs));
        }
        store
            .became_runnable
            .reserve(with_margin(sizes.became_runnable), true);
        for &(cap, end_ns) in &entry.lane_ends_ns {
            store.lane_mut(cap).runs.set_earliest_start(end_ns);
        }
        let known = entry.threads.into_iter();
        Self {
            store,
            heads: Vec::with_capacity(threads),
            order: Vec::with_capacity(threads),
            complete: entry.complete,
            known: known.map(|thread| (thread.id, thread)).collect(),
        }
    }

    /// Returns the results, and what helps to analyze the next slice.
    pub(crate) fn finish(self) -> (SliceThreads, SliceScratch) {
        let mut store = self.store;
        // Lanes for which there was room only.
        while store
            .lanes
            .last()
            .is_some_and(|lane| lane.runs.count() == 0)
        {
            store.lanes.pop();
        }
        store.instants.drop_empty();
        let runs = store.lanes.iter().enumerate();
        let sizes = SliceSizes {
            threads: store.threads.len(),
            runs: runs
                .map(|(lane, of)| (store.cap_lanes.cap(lane), of.runs.count()))
                .filter(|&(_, runs)| runs > 0)
                .collect(),
            instants: store.instants.sizes(),
            became_runnable: store.became_runnable.len(),
        };
        let (threads, map) = store.threads.into_parts();
        let found = SliceThreads {
            threads,
            heads: self.heads,
            order: self.order,
            lanes: store
                .lanes
                .into_iter()
                .map(|lane| lane.runs.into_columns())
                .collect(),
            cap_lanes: store.cap_lanes,
            black_hole_owners: store.black_hole_owners.into_iter().collect(),
            deep_stacks: store.deep_stacks,
            repeated_stops: store.repeated_stops.into_iter().collect(),
            instants: store.instants,
            became_runnable: store.became_runnable,
            anomalies: store.anomalies,
        };
        (found, SliceScratch { map, sizes })
    }

    /// Returns the index of a thread in this slice, assigned on first use.
    #[inline]
    fn index_of(&mut self, id: ThreadId) -> u32 {
        let index = self.store.threads.index(id);
        if index as usize == self.heads.len() {
            self.add_head(id, index);
        }
        index
    }

    fn add_head(&mut self, id: ThreadId, index: u32) {
        let known = self.known.remove(&id);
        let assumption = if known.is_some() || self.complete {
            EntryAssumption::Certain
        } else {
            EntryAssumption::NoEvidence
        };
        if let (Some(known), Some(thread)) = (known, self.store.threads.at_mut(index)) {
            *thread = known;
        }
        self.heads.push(ThreadHead {
            assumption,
            woken_ns: NEVER_NS,
            became_runnable: u32::MAX,
            assumed_run: None,
            sets_cap: false,
            is_listed: false,
        });
    }

    /// Returns the index of a thread, and marks it to be added to the log.
    #[inline]
    fn included_index(&mut self, id: ThreadId) -> u32 {
        let index = self.index_of(id);
        self.include(index);
        index
    }

    #[inline]
    fn include(&mut self, index: u32) {
        let head = &mut self.heads[index as usize];
        if !head.is_listed {
            head.is_listed = true;
            self.order.push(index);
        }
    }

    /// Processes an event with the effect `effect`.
    #[inline]
    pub(crate) fn event(&mut self, effect: ThreadEventKind, record: &Record<'_>) {
        let mut fields = Cursor::new(record.payload, record.header.stop_codes);
        let (at, cap) = (record.time, record.cap);
        let instant = match effect {
            ThreadEventKind::Instant(kind) => (kind, cap, None),
            ThreadEventKind::InstantOfCap(kind) => (kind, fields.field(), None),
            ThreadEventKind::InstantOfThread(kind) => {
                let thread = fields.field().map(|thread| self.index_of(thread));
                (kind, cap, thread)
            }
            ThreadEventKind::Ran => {
                if let Some(thread) = fields.field() {
                    self.run(thread, cap, at);
                }
                return;
            }
            ThreadEventKind::Stopped => {
                if let (Some(thread), Some(status)) = (fields.field(), fields.field()) {
                    self.stop(thread, status, cap, at);
                }
                return;
            }
            ThreadEventKind::Created => {
                let Some(thread) = fields.field() else {
                    return;
                };
                let index = self.create(thread, cap, at);
                (InstantKind::ThreadCreated, cap, Some(index))
            }
            ThreadEventKind::Woken | ThreadEventKind::Migrated => {
                let Some(thread) = fields.field() else {
                    return;
                };
                let index = self.included_index(thread);
                self.wake(index, at);
                if matches!(effect, ThreadEventKind::Migrated) {
                    self.migrate(index, fields.field());
                    (InstantKind::Migrated, cap, Some(index))
                } else {
                    (InstantKind::Woken, cap, Some(index))
                }
            }
            ThreadEventKind::Runnable => {
                let index = fields.field().map(|thread| self.index_of(thread));
                if let Some(index) = index {
                    self.wake(index, at);
                }
                (InstantKind::Runnable, cap, index)
            }
            ThreadEventKind::Labeled => {
                if let Some(thread) = fields.field() {
                    self.included_index(thread);
                }
                return;
            }
        };
        let (kind, cap, thread) = instant;
        // Wakeups and migrations tell about their thread, whoever logged them.
        if cap.is_some() || matches!(kind, InstantKind::Woken | InstantKind::Migrated) {
            self.store.push_instant(kind, cap, at, thread);
        }
    }

    fn migrate(&mut self, index: u32, to: Option<CapId>) {
        if let Some(thread) = self.store.threads.at_mut(index) {
            thread.last_cap = to;
        }
        self.heads[index as usize].sets_cap = true;
    }

    #[inline]
    fn run(&mut self, id: ThreadId, cap: Option<CapId>, at: Nanos) {
        let index = self.included_index(id);
        let head = &mut self.heads[index as usize];
        if head.assumption == EntryAssumption::NoEvidence {
            head.assumption = EntryAssumption::NotRunning(cap, at);
            if let Some(thread) = self.store.threads.at_mut(index) {
                thread.state = State::Active(at, Activity::Running(cap));
            }
        } else {
            self.store.step(index, Input::Run(cap), at, cap);
        }
    }

    #[inline]
    fn stop(&mut self, id: ThreadId, status: StopStatus, cap: Option<CapId>, at: Nanos) {
        let index = self.index_of(id);
        // A thread that is known not to exist stops without ever having run, which is only reported.
        if !self.is_known_absent(index) {
            self.include(index);
        }
        let ThreadHead {
            assumption,
            assumed_run,
            ..
        } = self.heads[index as usize];
        if assumption == EntryAssumption::NoEvidence {
            self.heads[index as usize].assumption = EntryAssumption::Running(status, at);
            if let Some(thread) = self.store.threads.at_mut(index) {
                thread.ends_at(status, at);
            }
            return;
        }
        self.store.step(index, Input::Stop(status), at, cap);
        if let (EntryAssumption::NotRunning(on, _), None) = (assumption, assumed_run) {
            self.heads[index as usize].assumed_run = self.store.last_run(on);
        }
    }

    /// Returns whether a thread is known not to exist, despite events that name it.
    #[inline]
    fn is_known_absent(&mut self, index: u32) -> bool {
        let head = &self.heads[index as usize];
        if head.is_listed || head.assumption != EntryAssumption::Certain {
            return false;
        }
        let thread = self.store.threads.at_mut(index);
        thread.is_some_and(|thread| thread.state == State::Unseen)
    }

    fn create(&mut self, id: ThreadId, cap: Option<CapId>, at: Nanos) -> u32 {
        let index = self.included_index(id);
        let head = &mut self.heads[index as usize];
        if let Some(thread) = self.store.threads.at_mut(index) {
            if head.assumption == EntryAssumption::NoEvidence {
                head.assumption = EntryAssumption::NotCreated;
                thread.woken_ns = NEVER_NS;
            }
            if thread.state == State::Unseen {
                thread.last_cap = cap;
                head.sets_cap = true;
                self.store.became_runnable.push(index, at.0);
            }
        }
        self.store.step(index, Input::Create, at, cap);
        index
    }

    /// Handles a wakeup of a waiting thread.
    ///
    /// Only the first wakeup before the next run counts: a wakeup for a thread of another capability is forwarded
    /// there as a message, and logged again.
    fn wake(&mut self, index: u32, at: Nanos) {
        let head = &mut self.heads[index as usize];
        let store = &mut self.store;
        if head.assumption == EntryAssumption::NoEvidence {
            if head.woken_ns == NEVER_NS {
                head.woken_ns = at.0;
                head.became_runnable = saturating_u32(store.became_runnable.len());
                store.became_runnable.push(index, at.0);
            }
            return;
        }
        let thread = store.threads.at_mut(index);
        if thread.is_some_and(|thread| thread.wake(at)) {
            store.became_runnable.push(index, at.0);
        }
    }
}

impl Thread {
    /// Records a wakeup. Returns whether the thread becomes ready by it.
    pub(super) fn wake(&mut self, at: Nanos) -> bool {
        let Some(reason) = self.stopped() else {
            return false;
        };
        let first = self.woken_ns == NEVER_NS;
        if first {
            self.woken_ns = at.0;
        }
        first && Store::wakeup_makes_ready(reason)
    }

    /// Sets the state to stopped with this status; nothing else is known about it.
    fn ends_at(&mut self, status: StopStatus, at: Nanos) {
        self.state = match status {
            StopStatus::ThreadFinished => State::Final,
            _ => State::Active(at, Activity::Blocked(Reason::Stopped(status))),
        };
        self.last_stop = StopCode(status.code());
        self.finished = status == StopStatus::ThreadFinished;
        self.last_run_end_ns = at.0;
        self.began_ns = at.0;
        self.woken_ns = NEVER_NS;
    }
}

impl Store {
    /// Returns the last run on a capability.
    fn last_run(&self, cap: Option<CapId>) -> Option<RunRef> {
        let lane = self.cap_lanes.lane(cap)?;
        let place = self.lanes.get(lane)?.runs.count().checked_sub(1)?;
        Some(RunRef {
            lane: u32::try_from(lane).ok()?,
            place: u32::try_from(place).ok()?,
        })
    }
}
