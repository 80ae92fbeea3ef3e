//! What threads did in a slice of a log, found without knowing what was before it.
//!
//! The first events of each thread are read as in a sound log: a thread that is
//! created was not there, one that begins to run did not run, one that stops ran.
//! After them the state of its automaton is known for certain. What those first events
//! mean for the time before them, and whether the guess was right, is found when the
//! slice is put behind what is before it (`Store::append`): a few steps for each
//! thread. Should a guess be wrong, as it may be in a damaged log, the slice is read
//! again from the true states ([`Entry`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::deep_stacks::DeepStack;
use super::instants::{InstantKind, Instants};
use super::store::Store;
use super::threads::{ById, NEVER_NS, Thread, Threads};
use super::turns::Turn;
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
use model::place::place32;

/// What the events of a type say of threads, or of a point in time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Says {
    /// A thread begins to run.
    Ran,
    /// It stops.
    Stopped,
    Created,
    Woken,
    Migrated,
    /// A thread can run, as old runtimes said it.
    Runnable,
    /// A thread is named.
    Named,
    /// Something happens.
    Moment(InstantKind),
    /// It happens to the capability that the event names.
    MomentOfCap(InstantKind),
    /// It happens to the thread that the event names.
    MomentOfThread(InstantKind),
}

impl Says {
    /// What events of that type say.
    pub(crate) fn of(id: EventType) -> Option<Self> {
        Some(match id {
            EventType::RUN_THREAD => Self::Ran,
            EventType::STOP_THREAD => Self::Stopped,
            EventType::CREATE_THREAD => Self::Created,
            EventType::THREAD_WAKEUP => Self::Woken,
            EventType::MIGRATE_THREAD => Self::Migrated,
            EventType::THREAD_RUNNABLE => Self::Runnable,
            EventType::THREAD_LABEL => Self::Named,
            id => match InstantKind::of(id)? {
                kind if kind.names_its_capability() => Self::MomentOfCap(kind),
                kind if kind.has_thread() => Self::MomentOfThread(kind),
                kind => Self::Moment(kind),
            },
        })
    }
}

/// What is known where a slice begins.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Entry {
    /// Whether threads that are not listed were not there yet; otherwise nothing is
    /// known of them.
    complete: bool,
    threads: Vec<Thread>,
    /// When the last run of each capability ended that has one.
    lane_ends_ns: Vec<(Option<CapId>, u64)>,
}

impl Entry {
    /// That of a log's first slice: there are no threads.
    #[must_use]
    pub fn start() -> Self {
        Self {
            complete: true,
            ..Self::default()
        }
    }
}

/// What the first events of a thread in a slice were taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Guess {
    /// Nothing: its state was known.
    Known,
    /// None of its events says what it did.
    Nothing,
    /// It was created: it was not there.
    Created,
    /// It began to run: it did not run.
    Ran(Option<CapId>, Nanos),
    /// It stopped: it ran.
    Stopped(StopStatus, Nanos),
}

/// The first events of a thread in a slice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Head {
    guess: Guess,
    /// When it was first woken, before anything else was known of it.
    woken_ns: u64,
    /// The place of that moment among those at which threads became ready.
    readied: u32,
    /// The run that the guess is about, once it has ended.
    run: Option<RunRef>,
    /// Whether its capability was told.
    moved: bool,
    /// Whether it belongs to the threads of the log.
    counts: bool,
}

/// What threads did in a slice, as if the slice were the log.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SliceThreads {
    threads: Vec<Thread>,
    /// The first events of each.
    heads: Vec<Head>,
    /// The threads that count, in the order in which they came to.
    order: Vec<u32>,
    lanes: Vec<RunColumns>,
    cap_lanes: CapLanes,
    owners: Vec<(RunRef, ThreadId)>,
    deep_stacks: Vec<DeepStack>,
    stops_again: Vec<(u32, Vec<u32>)>,
    instants: Instants,
    readied: Moments,
    oddities: Diagnostics,
}

impl SliceThreads {
    /// Shows each long list of numbers, always in the same order.
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        self.lanes.iter_mut().for_each(|lane| lane.columns(see));
        self.instants.columns(see);
        self.readied.columns(see);
    }
}

/// The analysis of threads in a slice.
#[derive(Debug)]
pub(crate) struct SliceThreadAnalysis {
    /// As if the slice were the log. Threads have the numbers of `heads`.
    store: Store,
    heads: Vec<Head>,
    order: Vec<u32>,
    complete: bool,
    known: SeededMap<ThreadId, Thread>,
}

impl SliceThreadAnalysis {
    /// Begins with what is known; `map` is an empty one, which may be large.
    pub(crate) fn new(entry: Entry, map: ById) -> Self {
        let mut store = Store {
            threads: Threads::with_map(map),
            ..Store::default()
        };
        for &(cap, end_ns) in &entry.lane_ends_ns {
            store.lane_mut(cap).runs.begin_after(end_ns);
        }
        let known = entry.threads.into_iter();
        Self {
            store,
            heads: Vec::new(),
            order: Vec::new(),
            complete: entry.complete,
            known: known.map(|thread| (thread.id, thread)).collect(),
        }
    }

    /// What was found, and the map, which is empty again.
    pub(crate) fn finish(self) -> (SliceThreads, ById) {
        let store = self.store;
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
            stops_again: store.stops_again.into_iter().collect(),
            instants: store.instants,
            readied: store.readied,
            oddities: store.oddities,
        };
        (found, map)
    }

    /// The number of a thread in this slice.
    #[inline]
    fn meet(&mut self, id: ThreadId) -> u32 {
        let index = self.store.threads.index(id);
        if index as usize == self.heads.len() {
            self.met(id, index);
        }
        index
    }

    fn met(&mut self, id: ThreadId, index: u32) {
        let known = self.known.remove(&id);
        let guess = if known.is_some() || self.complete {
            Guess::Known
        } else {
            Guess::Nothing
        };
        if let (Some(known), Some(thread)) = (known, self.store.threads.at_mut(index)) {
            *thread = known;
        }
        self.heads.push(Head {
            guess,
            woken_ns: NEVER_NS,
            readied: u32::MAX,
            run: None,
            moved: false,
            counts: false,
        });
    }

    /// A thread of which the log tells something that counts.
    #[inline]
    fn counting(&mut self, id: ThreadId) -> u32 {
        let index = self.meet(id);
        self.count(index);
        index
    }

    #[inline]
    fn count(&mut self, index: u32) {
        let head = &mut self.heads[index as usize];
        if !head.counts {
            head.counts = true;
            self.order.push(index);
        }
    }

    /// Takes an event of a type that says this.
    #[inline]
    pub(crate) fn event(&mut self, says: Says, record: &Record<'_>) {
        let mut fields = Cursor::new(record.payload, record.header.stop_codes);
        let (at, cap) = (record.time, record.cap);
        match says {
            Says::Moment(kind) => self.instant(kind, cap, at, None),
            Says::MomentOfCap(kind) => self.instant(kind, fields.field(), at, None),
            Says::MomentOfThread(kind) => {
                let thread = fields.field().map(|thread| self.meet(thread));
                self.instant(kind, cap, at, thread);
            }
            Says::Ran => {
                if let Some(thread) = fields.field() {
                    self.run(thread, cap, at);
                }
            }
            Says::Stopped => {
                if let (Some(thread), Some(status)) = (fields.field(), fields.field()) {
                    self.stop(thread, status, cap, at);
                }
            }
            Says::Created => {
                if let Some(thread) = fields.field() {
                    let index = self.create(thread, cap, at);
                    self.instant(InstantKind::ThreadCreated, cap, at, Some(index));
                }
            }
            Says::Woken => {
                if let Some(thread) = fields.field() {
                    let index = self.counting(thread);
                    self.wake(index, at);
                    self.store
                        .keep_instant(InstantKind::Woken, cap, at, Some(index));
                }
            }
            Says::Migrated => {
                if let Some(thread) = fields.field() {
                    let index = self.counting(thread);
                    self.wake(index, at);
                    if let Some(thread) = self.store.threads.at_mut(index) {
                        thread.home = fields.field();
                    }
                    self.heads[index as usize].moved = true;
                    self.store
                        .keep_instant(InstantKind::Migrated, cap, at, Some(index));
                }
            }
            Says::Runnable => {
                let thread = fields.field();
                let index = thread.map(|thread| self.meet(thread));
                self.instant(InstantKind::Runnable, cap, at, index);
                if let Some(index) = index {
                    self.wake(index, at);
                }
            }
            Says::Named => {
                if let Some(thread) = fields.field() {
                    self.counting(thread);
                }
            }
        }
    }

    #[inline]
    fn instant(&mut self, kind: InstantKind, cap: Option<CapId>, at: Nanos, thread: Option<u32>) {
        if cap.is_some() {
            self.store.keep_instant(kind, cap, at, thread);
        }
    }

    #[inline]
    fn run(&mut self, id: ThreadId, cap: Option<CapId>, at: Nanos) {
        let index = self.counting(id);
        let head = &mut self.heads[index as usize];
        if head.guess == Guess::Nothing {
            head.guess = Guess::Ran(cap, at);
            if let Some(thread) = self.store.threads.at_mut(index) {
                thread.state = State::Active(at, Activity::Running(cap));
            }
        } else {
            self.store.step(index, Input::Run(cap), at, cap);
        }
    }

    #[inline]
    fn stop(&mut self, id: ThreadId, status: StopStatus, cap: Option<CapId>, at: Nanos) {
        let index = self.meet(id);
        if self.is_not_there(index) {
            // It stops and never ran: nothing but odd.
            return self.store.step(index, Input::Stop(status), at, cap);
        }
        self.count(index);
        match self.heads[index as usize] {
            Head {
                guess: Guess::Nothing,
                ..
            } => {
                self.heads[index as usize].guess = Guess::Stopped(status, at);
                if let Some(thread) = self.store.threads.at_mut(index) {
                    thread.ends_at(status, at);
                }
            }
            Head {
                guess: Guess::Ran(on, _),
                run: None,
                ..
            } => {
                self.store.step(index, Input::Stop(status), at, cap);
                self.heads[index as usize].run = self.store.last_run(on);
            }
            _ => self.store.step(index, Input::Stop(status), at, cap),
        }
    }

    /// Whether a thread is known not to be there, whatever was said of it.
    #[inline]
    fn is_not_there(&self, index: u32) -> bool {
        let head = &self.heads[index as usize];
        let thread = self.store.threads.get(index);
        let unseen = thread.is_some_and(|thread| thread.state == State::Unseen);
        head.guess == Guess::Known && !head.counts && unseen
    }

    fn create(&mut self, id: ThreadId, cap: Option<CapId>, at: Nanos) -> u32 {
        let index = self.counting(id);
        let head = &mut self.heads[index as usize];
        if let Some(thread) = self.store.threads.at_mut(index) {
            if head.guess == Guess::Nothing {
                head.guess = Guess::Created;
                thread.woken_ns = NEVER_NS;
            }
            if thread.state == State::Unseen {
                thread.home = cap;
                head.moved = true;
                self.store.readied.push(index, at.0);
            }
        }
        self.store.step(index, Input::Create, at, cap);
        index
    }

    /// A thread that waits can run again. Further wakeups before it runs only repeat
    /// that: one on another capability is sent on as a message.
    fn wake(&mut self, index: u32, at: Nanos) {
        let head = &mut self.heads[index as usize];
        let store = &mut self.store;
        if head.guess == Guess::Nothing {
            if head.woken_ns == NEVER_NS {
                head.woken_ns = at.0;
                head.readied = place32(store.readied.len());
                store.readied.push(index, at.0);
            }
            return;
        }
        let thread = store.threads.at_mut(index);
        if thread.is_some_and(|thread| thread.wake(at)) {
            store.readied.push(index, at.0);
        }
    }
}

impl Thread {
    /// It is woken. Whether it becomes ready by that.
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

    /// It stops, and all that is known of it is why.
    fn ends_at(&mut self, status: StopStatus, at: Nanos) {
        self.state = match status {
            StopStatus::ThreadFinished => State::Final,
            _ => State::Active(at, Activity::Blocked(Reason::Stopped(status))),
        };
        self.why = StopCode(status.code());
        self.finished = status == StopStatus::ThreadFinished;
        self.ran_ns = at.0;
        self.began_ns = at.0;
        self.woken_ns = NEVER_NS;
    }
}

/// Of a thread that the log has not told of.
const NOT_THERE: u32 = u32::MAX;

impl Store {
    fn last_run(&self, cap: Option<CapId>) -> Option<RunRef> {
        let lane = self.cap_lanes.lane(cap)?;
        let place = self.lanes.get(lane)?.runs.count().checked_sub(1)?;
        Some(RunRef {
            lane: u32::try_from(lane).ok()?,
            place: u32::try_from(place).ok()?,
        })
    }

    /// Puts a slice behind what was found so far.
    ///
    /// # Errors
    /// What was before the slice, if it was read as something else: it must be read
    /// again with that.
    pub(crate) fn append(&mut self, slice: SliceThreads) -> Result<(), Box<Entry>> {
        let known = slice.threads.iter().map(|thread| {
            let index = self.threads.find(thread.id);
            index.unwrap_or(NOT_THERE)
        });
        let mut numbers: Vec<u32> = known.collect();
        if !self.is_as_guessed(&slice, &numbers) {
            return Err(Box::new(self.entry(&numbers)));
        }
        for &index in &slice.order {
            let number = &mut numbers[index as usize];
            if *number == NOT_THERE {
                *number = self.threads.index(slice.threads[index as usize].id);
            }
        }
        let mut ready: Vec<(RunRef, Option<u64>)> = Vec::new();
        let mut not_readied = Vec::new();
        self.before_slice(&slice, &numbers, &mut ready, &mut not_readied);
        self.append_columns(slice, &numbers, &ready, &not_readied);
        Ok(())
    }

    /// All of a slice is told, its threads have their labels: those of which no more is
    /// heard are packed.
    pub(crate) fn rest(&mut self) {
        self.threads.rest(&self.shelf);
    }

    /// Whether the slice's guesses are right, and its runs follow those before it.
    fn is_as_guessed(&self, slice: &SliceThreads, numbers: &[u32]) -> bool {
        let mut lane_ends: BTreeMap<Option<CapId>, u64> = self.lane_ends().collect();
        let unseen = Thread::new(ThreadId(0));
        for (head, &number) in slice.heads.iter().zip(numbers) {
            let thread = self.threads.get(number).unwrap_or(unseen);
            let right = match (head.guess, thread.state) {
                (Guess::Known | Guess::Nothing, _) => true,
                (Guess::Created, state) => state == State::Unseen,
                (Guess::Ran(_, at), State::Unseen | State::Active(_, Activity::Blocked(_))) => {
                    thread.ran_ns <= at.0
                }
                (Guess::Stopped(_, at), State::Active(since, Activity::Running(cap))) => {
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

    /// When the last run of each capability ended that has one.
    fn lane_ends(&self) -> impl Iterator<Item = (Option<CapId>, u64)> + '_ {
        let lanes = self.lanes.iter().enumerate();
        let ends = lanes.map(|(lane, of)| (self.cap_lanes.cap(lane), of.runs.last_end()));
        ends.filter(|&(_, end_ns)| end_ns > 0)
    }

    /// What was before a slice with these threads.
    fn entry(&self, numbers: &[u32]) -> Entry {
        let known = numbers
            .iter()
            .filter_map(|&number| self.threads.get(number));
        Entry {
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

    /// Goes on with each thread to where the slice knows its state, and takes over
    /// what the slice knows.
    fn before_slice(
        &mut self,
        slice: &SliceThreads,
        numbers: &[u32],
        ready: &mut Vec<(RunRef, Option<u64>)>,
        not_readied: &mut Vec<u32>,
    ) {
        for ((head, &number), local) in slice.heads.iter().zip(numbers).zip(&slice.threads) {
            if self.stays(head, number) {
                not_readied.extend((head.readied != u32::MAX).then_some(head.readied));
                continue;
            }
            let readied = self.begin_slice(head, number);
            if head.readied != u32::MAX && !readied {
                not_readied.push(head.readied);
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
                let since = Turn::ready_since(thread.why, thread.ran_ns, woken);
                let since = since.filter(|_| has_begun);
                ready.push((run, since.map(|since| start.saturating_sub(since))));
            }
            thread.go_on(head, local);
        }
        not_readied.sort_unstable();
    }

    /// Whether a slice tells nothing of a thread, as the wakeups that often follow its end.
    fn stays(&self, head: &Head, number: u32) -> bool {
        let is_quiet = head.guess == Guess::Nothing && !head.moved;
        let thread = is_quiet.then(|| self.threads.get(number)).flatten();
        thread.is_some_and(|thread| thread.stopped().is_none())
    }

    /// Gives a thread's automaton what the slice could not. Whether its first wakeup
    /// made it ready.
    fn begin_slice(&mut self, head: &Head, number: u32) -> bool {
        let Some(thread) = self.threads.at_mut(number) else {
            return false;
        };
        let woken = head.woken_ns != NEVER_NS && thread.wake(Nanos(head.woken_ns));
        match head.guess {
            Guess::Known | Guess::Nothing | Guess::Created => {}
            Guess::Ran(cap, at) => self.step(number, Input::Run(cap), at, cap),
            Guess::Stopped(status, at) => {
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
        let number_of = |index: u32| numbers.get(index as usize).copied().unwrap_or(NOT_THERE);
        for (index, runs) in slice.stops_again {
            let number = number_of(index);
            // This slice's runs are counted already.
            let now = self.threads.get(number).map_or(0, |thread| thread.runs);
            let before = now - slice.threads[index as usize].runs;
            let all = self.stops_again.entry(number).or_default();
            all.extend(runs.into_iter().map(|run| before + run));
        }
        let lanes = 0..slice.lanes.len();
        let lanes: Vec<usize> = lanes
            .map(|lane| self.make_lane(slice.cap_lanes.cap(lane)))
            .collect();
        for (run, owner) in slice.owners {
            let lane = lanes[run.lane as usize];
            let first = place32(self.lanes[lane].runs.count());
            let run = RunRef {
                lane: place32(lane),
                place: run.place.saturating_add(first),
            };
            self.owners.insert(run, owner);
        }
        let deep_stacks = slice.deep_stacks.into_iter();
        self.deep_stacks.extend(deep_stacks.map(|deep| DeepStack {
            thread: number_of(deep.thread),
            ..deep
        }));
        let shelf = &self.shelf;
        for (lane, slice) in lanes.into_iter().zip(&slice.lanes) {
            self.lanes[lane].runs.append(slice, number_of, shelf);
        }
        self.instants.append(&slice.instants, number_of, shelf);
        (self.readied).append(&slice.readied, not_readied, number_of, shelf);
        self.oddities.append(&slice.oddities);
    }
}

impl Thread {
    /// Takes over what a slice found, after its first events were told.
    fn go_on(&mut self, head: &Head, slice: &Self) {
        if head.guess == Guess::Nothing {
            if head.moved {
                self.home = slice.home;
            }
            return;
        }
        self.state = slice.state;
        let in_first_run = matches!(head.guess, Guess::Ran(..)) && head.run.is_none();
        if !in_first_run {
            self.woken_ns = slice.woken_ns;
        }
        if head.moved || slice.home.is_some() {
            self.home = slice.home;
        }
        self.began_ns = self.began_ns.min(slice.began_ns);
        self.created |= slice.created;
        if slice.created || slice.runs > 0 || head.guess == Guess::Known {
            self.why = slice.why;
            self.ran_ns = slice.ran_ns;
            self.finished = slice.finished;
        }
        self.runs += slice.runs;
        self.run_ns += slice.run_ns;
    }
}
