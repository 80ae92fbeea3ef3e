//! Threads in a slice of a log, analyzed without knowledge of the events before it.
//!
//! The first events of each thread are interpreted as in a sound log: a thread that is created did not exist, one
//! that starts to run was not running, one that stops was running. After these events the state of its automaton
//! is certain. When the slice is appended (`Store::append`), the meaning of the first events for the time before
//! them is resolved, and the assumptions are checked, in a few steps per thread. If an assumption is wrong, as in
//! a damaged log, the slice is read again from the true states ([`BoundaryState`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::deep_stacks::DeepStack;
use super::instants::{InstantKind, InstantSizes, Instants};
use super::store::Store;
use super::threads::{NEVER_NS, Thread, ThreadIndexMap, Threads};
use super::turns::WaitRunCycle;
use crate::account::runs::{RunColumns, RunRef};
use crate::automata::thread_state::{Activity, Input, Reason, State};
use crate::diagnostics::Diagnostics;
use eventlog::cap_table::CapLanes;
use eventlog::cursor::Cursor;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::texts::TextId;
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
    complete: bool,
    threads: Vec<Thread>,
    /// End of the last run of each capability with runs.
    lane_ends_ns: Vec<(Option<CapId>, u64)>,
}

impl BoundaryState {
    /// Returns the state at the start of a log: no threads exist.
    #[must_use]
    pub fn start() -> Self {
        Self {
            complete: true,
            ..Self::default()
        }
    }
}

/// Assumption about a thread's state before a slice, from its first events there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum EntryAssumption {
    /// None, as its state was known.
    Known,
    /// None, as no event revealed what it did.
    Nothing,
    /// It was created, so it did not exist.
    Created,
    /// It started to run, so it was not running.
    Ran(Option<CapId>, Nanos),
    /// It stopped, so it was running.
    Stopped(StopStatus, Nanos),
}

/// Facts from the first events of a thread in a slice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ThreadHead {
    assumption: EntryAssumption,
    /// Time of the first wakeup before its state became known.
    woken_ns: u64,
    /// Index of that wakeup in the slice's times at which threads became ready.
    became_runnable: u32,
    /// First run, once it has ended, if it was assumed to start in the slice.
    run: Option<RunRef>,
    /// Whether the slice sets its capability by a migration or its creation.
    moved: bool,
    /// Whether the slice adds it to the threads of the log.
    counts: bool,
}

/// Threads in a slice, as if the slice were the whole log.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SliceThreads {
    threads: Vec<Thread>,
    /// Facts from the first events of each thread.
    heads: Vec<ThreadHead>,
    /// Threads to be added to the log, in the order in which the slice decided that.
    order: Vec<u32>,
    lanes: Vec<RunColumns>,
    cap_lanes: CapLanes,
    owners: Vec<(RunRef, ThreadId)>,
    deep_stacks: Vec<DeepStack>,
    repeated_stops: Vec<(u32, Vec<u32>)>,
    instants: Instants,
    became_runnable: Moments,
    oddities: Diagnostics,
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
            owners: store.owners.into_iter().collect(),
            deep_stacks: store.deep_stacks,
            repeated_stops: store.repeated_stops.into_iter().collect(),
            instants: store.instants,
            became_runnable: store.became_runnable,
            oddities: store.oddities,
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
            EntryAssumption::Known
        } else {
            EntryAssumption::Nothing
        };
        if let (Some(known), Some(thread)) = (known, self.store.threads.at_mut(index)) {
            *thread = known;
        }
        self.heads.push(ThreadHead {
            assumption,
            woken_ns: NEVER_NS,
            became_runnable: u32::MAX,
            run: None,
            moved: false,
            counts: false,
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
        if !head.counts {
            head.counts = true;
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
        self.heads[index as usize].moved = true;
    }

    #[inline]
    fn run(&mut self, id: ThreadId, cap: Option<CapId>, at: Nanos) {
        let index = self.included_index(id);
        let head = &mut self.heads[index as usize];
        if head.assumption == EntryAssumption::Nothing {
            head.assumption = EntryAssumption::Ran(cap, at);
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
            assumption, run, ..
        } = self.heads[index as usize];
        if assumption == EntryAssumption::Nothing {
            self.heads[index as usize].assumption = EntryAssumption::Stopped(status, at);
            if let Some(thread) = self.store.threads.at_mut(index) {
                thread.ends_at(status, at);
            }
            return;
        }
        self.store.step(index, Input::Stop(status), at, cap);
        if let (EntryAssumption::Ran(on, _), None) = (assumption, run) {
            self.heads[index as usize].run = self.store.last_run(on);
        }
    }

    /// Returns whether a thread is known not to exist, despite events that name it.
    #[inline]
    fn is_known_absent(&mut self, index: u32) -> bool {
        let head = &self.heads[index as usize];
        if head.counts || head.assumption != EntryAssumption::Known {
            return false;
        }
        let thread = self.store.threads.at_mut(index);
        thread.is_some_and(|thread| thread.state == State::Unseen)
    }

    fn create(&mut self, id: ThreadId, cap: Option<CapId>, at: Nanos) -> u32 {
        let index = self.included_index(id);
        let head = &mut self.heads[index as usize];
        if let Some(thread) = self.store.threads.at_mut(index) {
            if head.assumption == EntryAssumption::Nothing {
                head.assumption = EntryAssumption::Created;
                thread.woken_ns = NEVER_NS;
            }
            if thread.state == State::Unseen {
                thread.last_cap = cap;
                head.moved = true;
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
        if head.assumption == EntryAssumption::Nothing {
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
    fn wake(&mut self, at: Nanos) -> bool {
        let Some(reason) = self.stopped() else {
            return false;
        };
        let first = self.woken_ns == NEVER_NS;
        if first {
            self.woken_ns = at.0;
        }
        first && Store::is_readied(reason)
    }

    /// Sets the state to stopped with this status; nothing else is known about it.
    fn ends_at(&mut self, status: StopStatus, at: Nanos) {
        self.state = match status {
            StopStatus::ThreadFinished => State::Final,
            _ => State::Active(at, Activity::Blocked(Reason::Stopped(status))),
        };
        self.last_stop = StopCode(status.code());
        self.finished = status == StopStatus::ThreadFinished;
        self.ran_ns = at.0;
        self.began_ns = at.0;
        self.woken_ns = NEVER_NS;
    }
}

/// Sentinel index of a thread that the log does not have yet.
const NO_INDEX: u32 = u32::MAX;

impl Store {
    fn last_run(&self, cap: Option<CapId>) -> Option<RunRef> {
        let lane = self.cap_lanes.lane(cap)?;
        let place = self.lanes.get(lane)?.runs.count().checked_sub(1)?;
        Some(RunRef {
            lane: u32::try_from(lane).ok()?,
            place: u32::try_from(place).ok()?,
        })
    }

    /// Appends a slice.
    ///
    /// # Errors
    /// Returns the true state at the start of the slice if the slice was analyzed with wrong assumptions. It must
    /// then be analyzed again from this state.
    pub(crate) fn append(&mut self, slice: SliceThreads) -> Result<(), Box<BoundaryState>> {
        let known = slice.threads.iter().map(|thread| {
            let index = self.threads.find(thread.id);
            index.unwrap_or(NO_INDEX)
        });
        let mut numbers: Vec<u32> = known.collect();
        if !self.assumptions_hold(&slice, &numbers) {
            return Err(Box::new(self.boundary_state(&numbers)));
        }
        for &index in &slice.order {
            let number = &mut numbers[index as usize];
            if *number == NO_INDEX {
                *number = self.threads.index(slice.threads[index as usize].id);
            }
        }
        let mut ready: Vec<(RunRef, Option<u64>)> = Vec::new();
        let mut not_readied = Vec::new();
        self.before_slice(&slice, &numbers, &mut ready, &mut not_readied);
        self.append_columns(slice, &numbers, &ready, &not_readied);
        Ok(())
    }

    /// Packs threads without recent events. Called after a slice and its labels have been added.
    pub(crate) fn pack_idle(&mut self) {
        self.threads.pack_idle(&self.spill_store);
    }

    /// Returns whether the assumptions of the slice hold, and its runs start after the ends of those before it.
    fn assumptions_hold(&self, slice: &SliceThreads, numbers: &[u32]) -> bool {
        let mut lane_ends: BTreeMap<Option<CapId>, u64> = self.lane_ends().collect();
        let unseen = Thread::new(ThreadId(0));
        for (head, &number) in slice.heads.iter().zip(numbers) {
            let thread = self.threads.get(number).unwrap_or(unseen);
            let right = match (head.assumption, thread.state) {
                (EntryAssumption::Known | EntryAssumption::Nothing, _) => true,
                (EntryAssumption::Created, state) => state == State::Unseen,
                (
                    EntryAssumption::Ran(_, at),
                    State::Unseen | State::Active(_, Activity::Blocked(_)),
                ) => thread.ran_ns <= at.0,
                (EntryAssumption::Stopped(_, at), State::Active(since, Activity::Running(cap))) => {
                    let before = lane_ends.insert(cap, at.0);
                    let after = before.unwrap_or_default().max(thread.ran_ns);
                    after <= since.0 && since <= at
                }
                _ => false,
            };
            if !right {
                return false;
            }
        }
        let mut lanes = slice.lanes.iter().enumerate();
        lanes.all(|(lane, runs)| {
            let end = lane_ends.get(&slice.cap_lanes.cap(lane));
            let end = end.copied().unwrap_or_default();
            runs.first_start().is_none_or(|start| end <= start)
        })
    }

    /// Returns the end of the last run of each capability with runs.
    fn lane_ends(&self) -> impl Iterator<Item = (Option<CapId>, u64)> + '_ {
        let lanes = self.lanes.iter().enumerate();
        let ends = lanes.map(|(lane, of)| (self.cap_lanes.cap(lane), of.runs.last_end()));
        ends.filter(|&(_, end_ns)| end_ns > 0)
    }

    /// Returns the state at the start of a slice with these threads.
    fn boundary_state(&self, numbers: &[u32]) -> BoundaryState {
        let known = numbers
            .iter()
            .filter_map(|&number| self.threads.get(number));
        BoundaryState {
            complete: true,
            threads: known
                .map(|thread| Thread {
                    label: TextId::NONE,
                    runs: 0,
                    run_ns: 0,
                    ..thread
                })
                .collect(),
            lane_ends_ns: self.lane_ends().collect(),
        }
    }

    /// Advances each thread to the point where the slice knows its state, then merges the slice's state.
    fn before_slice(
        &mut self,
        slice: &SliceThreads,
        numbers: &[u32],
        ready: &mut Vec<(RunRef, Option<u64>)>,
        not_readied: &mut Vec<u32>,
    ) {
        for ((head, &number), local) in slice.heads.iter().zip(numbers).zip(&slice.threads) {
            if self.is_unaffected(head, number) {
                not_readied
                    .extend((head.became_runnable != u32::MAX).then_some(head.became_runnable));
                continue;
            }
            let became_runnable = self.begin_slice(head, number);
            if head.became_runnable != u32::MAX && !became_runnable {
                not_readied.push(head.became_runnable);
            }
            let Some(thread) = self.threads.at_mut(number) else {
                continue;
            };
            if let Some(run) = head.run
                && let Some(lane) = slice.lanes.get(run.lane as usize)
                && let Some(start) = lane.start(run.place as usize)
            {
                let has_begun = thread.began_ns != NEVER_NS;
                let woken = thread.woken().map(|woken| woken.0);
                let since = WaitRunCycle::ready_since(thread.last_stop, thread.ran_ns, woken);
                let since = since.filter(|_| has_begun);
                ready.push((run, since.map(|since| start.saturating_sub(since))));
            }
            thread.merge_slice(head, local);
        }
        not_readied.sort_unstable();
    }

    /// Returns whether the slice does not affect a thread, as with the wakeups that often follow its end.
    fn is_unaffected(&self, head: &ThreadHead, number: u32) -> bool {
        let is_quiet = head.assumption == EntryAssumption::Nothing && !head.moved;
        let thread = is_quiet.then(|| self.threads.get(number)).flatten();
        thread.is_some_and(|thread| thread.stopped().is_none())
    }

    /// Passes to a thread's automaton the inputs that the slice could not. Returns whether the first wakeup made
    /// the thread ready.
    fn begin_slice(&mut self, head: &ThreadHead, number: u32) -> bool {
        let Some(thread) = self.threads.at_mut(number) else {
            return false;
        };
        let woken = head.woken_ns != NEVER_NS && thread.wake(Nanos(head.woken_ns));
        match head.assumption {
            EntryAssumption::Known | EntryAssumption::Nothing | EntryAssumption::Created => {}
            EntryAssumption::Ran(cap, at) => self.step(number, Input::Run(cap), at, cap),
            EntryAssumption::Stopped(status, at) => {
                self.step(number, Input::Stop(status), at, None);
            }
        }
        woken
    }

    fn append_columns(
        &mut self,
        mut slice: SliceThreads,
        numbers: &[u32],
        ready: &[(RunRef, Option<u64>)],
        not_readied: &[u32],
    ) {
        for &(run, ready_ns) in ready {
            slice.lanes[run.lane as usize].set_ready(run.place as usize, ready_ns);
        }
        let number_of = |index: u32| numbers.get(index as usize).copied().unwrap_or(NO_INDEX);
        for (index, runs) in slice.repeated_stops {
            let number = number_of(index);
            // `runs` already includes the runs of this slice.
            let now = self.threads.get(number).map_or(0, |thread| thread.runs);
            let before = now - slice.threads[index as usize].runs;
            let all = self.repeated_stops.entry(number).or_default();
            all.extend(runs.into_iter().map(|run| before + run));
        }
        let lanes = 0..slice.lanes.len();
        let lanes: Vec<usize> = lanes
            .map(|lane| self.make_lane(slice.cap_lanes.cap(lane)))
            .collect();
        for (run, owner) in slice.owners {
            let lane = lanes[run.lane as usize];
            let first = saturating_u32(self.lanes[lane].runs.count());
            let run = RunRef {
                lane: saturating_u32(lane),
                place: run.place.saturating_add(first),
            };
            self.owners.insert(run, owner);
        }
        let deep_stacks = slice.deep_stacks.into_iter();
        self.deep_stacks.extend(deep_stacks.map(|deep| DeepStack {
            thread: number_of(deep.thread),
            ..deep
        }));
        let spill_store = &self.spill_store;
        for (lane, slice) in lanes.into_iter().zip(&slice.lanes) {
            self.lanes[lane].runs.append(slice, number_of, spill_store);
        }
        self.instants
            .append(&slice.instants, number_of, spill_store);
        (self.became_runnable).append(&slice.became_runnable, not_readied, number_of, spill_store);
        self.oddities.append(&slice.oddities);
    }
}

impl Thread {
    /// Merges the state at the end of a slice, after its first events were processed.
    fn merge_slice(&mut self, head: &ThreadHead, slice: &Self) {
        if head.assumption == EntryAssumption::Nothing {
            if head.moved {
                self.last_cap = slice.last_cap;
            }
            return;
        }
        self.state = slice.state;
        let in_first_run =
            matches!(head.assumption, EntryAssumption::Ran(..)) && head.run.is_none();
        if !in_first_run {
            self.woken_ns = slice.woken_ns;
        }
        if head.moved || slice.last_cap.is_some() {
            self.last_cap = slice.last_cap;
        }
        self.began_ns = self.began_ns.min(slice.began_ns);
        self.created |= slice.created;
        if slice.created || slice.runs > 0 || head.assumption == EntryAssumption::Known {
            self.last_stop = slice.last_stop;
            self.ran_ns = slice.ran_ns;
            self.finished = slice.finished;
        }
        self.runs += slice.runs;
        self.run_ns += slice.run_ns;
    }
}
