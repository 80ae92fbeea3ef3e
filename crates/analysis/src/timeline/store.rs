//! The spans of a log, kept for drawing: the runs and collections of each
//! capability, and which runs are whose.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::group_waits::WaitsIn;
use super::grouping::Grouping;
use super::instants::Instants;
use super::rows::Rows;
use super::spark_runs::SparkRun;
use super::thread_lane::{ThreadFilter, ThreadLane, ThreadOrder, ThreadRow};
use super::threads::{NEVER_NS, Thread, Threads};
use super::turns::{Indexing, Turn, TurnIndex};
use super::wait_groups::WaitGroups;
use crate::account::facts::Facts;
use crate::account::runs::{Cap, LookedAt, Run, RunLane, RunRef};
use crate::account::{Account, Ledger, ReadyParts};
use crate::automata::Oddity;
use crate::automata::gc_phase::Phase;
use crate::automata::thread_state::{self, Activity, Input, Reason, ThreadSpan};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::listen::{Alone, Listen, at_once};
use crate::spans::{Open, SpanSink};
use eventlog::StopStatus;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::texts::TextId;
use model::class::StopCode;
use model::lane::{BLOCK, Lane};
use model::moments::Moments;
use model::pages::{Looked, Pages};
use model::place::place32;
use model::remembered::Remembered;
use model::shelf::Shelf;
use model::time::Interval;

/// So many threads are looked at in much less than a millisecond.
pub(super) const FEW_THREADS: u32 = 256;

/// All spans of a log.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// Lane 0 has the runs of no capability, lane n + 1 those of capability n.
    pub(super) lanes: Vec<Cap>,
    pub(super) threads: Threads,
    pub(super) owners: FxHashMap<RunRef, ThreadId>,
    /// The runs of all threads, one thread's after the other's, as places in
    /// `lanes` put end to end.
    by_thread: Pages<u32>,
    lane_starts: Vec<u32>,
    /// Of threads with more runs than are quickly looked at; each is made
    /// when it is needed.
    indexes: Remembered<u32, TurnIndex>,
    pub(super) instants: Instants,
    /// When threads were woken that then did not run before the log ended.
    woken_at_end_ns: FxHashMap<ThreadId, u64>,
    /// Stops of threads that did not run, which only damaged logs have, are
    /// kept as empty runs: which of a thread's runs these are.
    pub(super) stops_again: FxHashMap<u32, Vec<u32>>,
    /// What threads waited for, by range.
    pub(crate) waits: Remembered<Option<Interval>, WaitsIn>,
    /// Threads by label; made when they are first needed.
    pub(super) wait_groups: OnceLock<WaitGroups>,
    /// How long sparks ran, once that is asked for.
    pub(super) spark_runs: OnceLock<Vec<SparkRun>>,
    /// What is known of the log beyond its spans.
    facts: Facts,
    /// When threads became ready by a wakeup or their creation; part of the
    /// account in the end.
    pub(super) readied: Moments,
    ledger: Ledger,
    /// Of threads that were ready in the end: how their last ready time divides.
    ready_at_end: FxHashMap<ThreadId, ReadyParts>,
    end: Nanos,
    settled: bool,
    /// Where the columns are.
    pub(super) shelf: Shelf,
    /// What the automata of threads did not expect.
    pub oddities: Diagnostics,
    /// What the automata of collections did not expect.
    pub gc_oddities: Diagnostics,
}

impl Store {
    /// A store whose columns are on that shelf.
    pub(crate) fn on(shelf: Shelf) -> Self {
        Self {
            shelf,
            ..Self::default()
        }
    }

    pub(super) fn lane_of(cap: Option<CapId>) -> usize {
        cap.map_or(0, |cap| usize::from(cap.0) + 1)
    }

    pub(super) fn lane_mut(&mut self, cap: Option<CapId>) -> &mut Cap {
        let lane = Self::lane_of(cap);
        if lane >= self.lanes.len() {
            self.lanes.resize_with(lane + 1, Cap::default);
        }
        &mut self.lanes[lane]
    }

    /// The lanes of a capability.
    #[must_use]
    pub fn cap(&self, cap: CapId) -> Option<&Cap> {
        self.lanes.get(Self::lane_of(Some(cap)))
    }

    /// When the last event was, once [`settle`](Self::settle)d.
    #[must_use]
    pub const fn end(&self) -> Nanos {
        self.end
    }

    /// Whether the log is read to its end.
    pub(crate) const fn is_settled(&self) -> bool {
        self.settled
    }

    /// How many threads there are.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// How many runs there are.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.lanes.iter().map(|lane| lane.runs.len()).sum()
    }

    /// A text that threads may be called by.
    pub(crate) fn text(&mut self, label: &str) -> TextId {
        self.threads.text(label)
    }

    /// Names a thread; the last name stays.
    pub(crate) fn label(&mut self, thread: ThreadId, label: TextId) {
        let index = self.threads.index(thread);
        self.threads.set_label(index, label);
    }

    /// The label of a thread.
    #[must_use]
    pub fn label_of(&self, thread: ThreadId) -> Option<&str> {
        let index = self.threads.find(thread)?;
        self.threads.label(&self.threads.get(index)?)
    }

    /// The thread of a run of a capability's lane.
    #[must_use]
    pub fn thread_of(&self, cap: CapId, place: usize) -> Option<ThreadId> {
        let thread = self.cap(cap)?.runs.thread_at(place)?;
        Some(self.threads.get(thread)?.id)
    }

    /// The thread that runs on a capability at a time. `place` is where the
    /// last question ended: questions that come nearly in the order of time
    /// are answered at once.
    #[must_use]
    pub fn running(&self, cap: CapId, time: Nanos, place: &mut usize) -> Option<ThreadId> {
        let at = self.cap(cap)?.runs.at(time.0, place)?;
        self.thread_of(cap, at)
    }

    /// Why a run of a capability's lane ended.
    #[must_use]
    pub fn code_of(&self, cap: CapId, place: usize) -> Option<StopCode> {
        self.cap(cap)?.runs.code_at(place)
    }

    /// The threads that `filter` lets through, in its order, and how many
    /// there are without its limit.
    pub async fn threads(
        &self,
        filter: &ThreadFilter,
        listen: &dyn Listen,
    ) -> (Vec<ThreadRow>, usize) {
        let by_label = filter.order == ThreadOrder::Label;
        let ranks = by_label.then(|| self.threads.label_ranks());
        let mut found = Rows::new(0..filter.limit as u64);
        let matches = self.threads.matching(&filter.text);
        for (index, thread) in self.threads.iter() {
            if index.is_multiple_of(FEW_THREADS) {
                listen.listen().await;
            }
            if !matches(&thread) {
                continue;
            }
            let key = match filter.order {
                ThreadOrder::Activity => u64::MAX - thread.run_ns,
                ThreadOrder::FirstRun => self.first_run(&thread),
                ThreadOrder::Id => 0,
                ThreadOrder::Label => {
                    let rank = thread.label.of(ranks.as_deref().unwrap_or_default());
                    rank.map_or(u64::MAX, u64::from)
                }
            };
            found.push((key, thread.id, index));
        }
        let total = usize::try_from(found.total()).unwrap_or(usize::MAX);
        let found = found.finish().into_iter();
        let rows = found.filter_map(|(.., index)| self.threads.get(index));
        let rows = rows.map(|thread| ThreadRow {
            id: thread.id,
            label: self.threads.label(&thread).map(str::to_owned),
            created: thread.created(),
            finished: thread.finished,
            run_ns: thread.run_ns,
            runs: thread.runs,
        });
        (rows.collect(), total)
    }

    /// When a thread first ran; threads that never did come last.
    fn first_run(&self, thread: &Thread) -> u64 {
        if !self.settled || thread.runs == 0 {
            return thread
                .began_ns
                .max(if thread.runs == 0 { NEVER_NS } else { 0 });
        }
        self.run_span(self.thread_run(thread.first as usize)).0
    }

    /// The life of a thread; only once the log is read to its end.
    #[must_use]
    pub fn thread_lane(&self, thread: ThreadId) -> Option<ThreadLane<'_>> {
        let at = self.threads.find(thread)?;
        self.lane_at(at)
    }

    /// The life of the thread of that index.
    pub(crate) fn lane_at(&self, index: u32) -> Option<ThreadLane<'_>> {
        self.life_of(index, self.threads.get(index)?)
    }

    /// The life of a thread that has that index.
    pub(super) fn life_of(&self, index: u32, thread: Thread) -> Option<ThreadLane<'_>> {
        let lane = self.bare_life_of(thread)?;
        if lane.runs() <= BLOCK {
            return Some(lane);
        }
        let kept = self.indexes.get(&index);
        let turns = kept.unwrap_or_else(|| at_once(self.make_index(index, &lane, &Alone)));
        Some(ThreadLane::new(self, thread, Some(turns)))
    }

    /// Makes what the life of a thread is looked at with, if it is not there yet. How many
    /// of its runs had to be read for that.
    pub async fn prepare_life(&self, thread: ThreadId, listen: &dyn Listen) -> usize {
        let index = self.threads.find(thread);
        match index.and_then(|index| Some((index, self.threads.get(index)?))) {
            Some((index, thread)) => self.prepare_life_of(index, thread, listen).await,
            None => 0,
        }
    }

    /// Whether the life of a thread can be looked at without reading all of its runs.
    #[must_use]
    pub fn is_prepared(&self, thread: ThreadId) -> bool {
        let Some(index) = self.threads.find(thread) else {
            return true;
        };
        let thread = self.threads.get(index);
        thread.is_none_or(|thread| thread.runs as usize <= BLOCK)
            || self.indexes.get(&index).is_some()
    }

    /// [`prepare_life`](Self::prepare_life) of a thread that has that index.
    pub(super) async fn prepare_life_of(
        &self,
        index: u32,
        thread: Thread,
        listen: &dyn Listen,
    ) -> usize {
        if thread.runs as usize <= BLOCK || self.indexes.get(&index).is_some() {
            return 0;
        }
        let Some(lane) = self.bare_life_of(thread) else {
            return 0;
        };
        self.make_index(index, &lane, listen).await;
        lane.runs()
    }

    async fn make_index(
        &self,
        index: u32,
        lane: &ThreadLane<'_>,
        listen: &dyn Listen,
    ) -> Arc<TurnIndex> {
        const AT_ONCE: usize = 1024;
        let runs = lane.runs();
        let mut indexing = Indexing::new(runs);
        for first in (0..runs).step_by(AT_ONCE) {
            for turn in lane.turns(first..runs.min(first + AT_ONCE)) {
                indexing.push(&turn);
            }
            listen.listen().await;
        }
        let turns = Arc::new(indexing.finish());
        let bytes = turns.bytes();
        self.indexes.keep(index, turns, bytes)
    }

    /// The life of a thread without an index, for who looks at few of its
    /// turns, or has another index.
    pub(super) fn bare_life_of(&self, thread: Thread) -> Option<ThreadLane<'_>> {
        self.settled.then(|| ThreadLane::new(self, thread, None))
    }

    /// When a thread was woken that then did not run before the log ended.
    pub(crate) fn woken_at_end(&self, thread: ThreadId) -> Option<u64> {
        self.woken_at_end_ns.get(&thread).copied()
    }

    /// How many of a thread's runs ended when the lanes were cut.
    pub(crate) fn runs_before(&self, thread: &Thread, cut: &Cut) -> usize {
        if thread.ran_ns <= cut.time_ns {
            return thread.runs as usize;
        }
        if thread.began_ns > cut.time_ns {
            return 0;
        }
        let first = thread.first as usize;
        let runs = first..first + thread.runs as usize;
        (self.by_thread).partition_in(runs, |run| self.is_before(run, cut)) - first
    }

    /// Cuts all lanes of runs at a time.
    pub(crate) fn cut(&self, time: Nanos) -> Cut {
        let lanes = self.lane_starts.iter().zip(&self.lanes);
        let before = lanes.map(|(start, lane)| {
            let count = lane.runs.first_ending_after(time.0);
            start + place32(count)
        });
        Cut {
            time_ns: time.0,
            lanes: before.collect(),
        }
    }

    /// Whether a run, given by its place in the lanes put end to end, ended
    /// when the lanes were cut.
    pub(crate) fn is_before(&self, run: u32, cut: &Cut) -> bool {
        run < cut.lanes[self.lane_of_run(run)]
    }

    fn lane_of_run(&self, run: u32) -> usize {
        self.lane_starts.partition_point(|&start| start <= run) - 1
    }

    pub(crate) fn thread_run(&self, place: usize) -> RunRef {
        self.run_ref(self.by_thread.get(place))
    }

    fn run_ref(&self, global: Option<u32>) -> RunRef {
        let global = global.unwrap_or_default();
        let lane = self.lane_of_run(global);
        RunRef {
            lane: place32(lane),
            place: global - self.lane_starts[lane],
        }
    }

    fn runs_of(&self, run: RunRef) -> &RunLane {
        &self.lanes[run.lane as usize].runs
    }

    pub(crate) fn run_span(&self, run: RunRef) -> (u64, u64) {
        self.runs_of(run).span(run.place as usize)
    }

    /// The run at a place of the list of the runs of all threads.
    pub(crate) fn look_at_run(&self, place: usize, looks: &mut Looks) -> Run {
        let run = self.run_ref(self.by_thread.look(place, &mut looks.by_thread));
        let lane = run.lane as usize;
        if lane >= looks.lanes.len() {
            looks.lanes.resize_with(lane + 1, LookedAt::default);
        }
        self.runs_of(run)
            .run(run.place as usize, &mut looks.lanes[lane])
    }

    pub(crate) fn run_code(&self, run: RunRef) -> StopCode {
        let code = self.runs_of(run).code_at(run.place as usize);
        code.unwrap_or(StopCode::OPEN)
    }

    pub(crate) fn run_cap(&self, run: RunRef) -> Option<CapId> {
        run.lane
            .checked_sub(1)
            .and_then(|cap| u16::try_from(cap).ok())
            .map(CapId)
    }

    pub(crate) fn run_owner(&self, run: RunRef) -> Option<ThreadId> {
        self.owners.get(&run).copied()
    }

    /// Keeps a run that ended with this status; with none, the log ended.
    /// The thread was woken at `woken`, if it had to be.
    #[inline]
    fn push_run(
        &mut self,
        index: u32,
        cap: Option<CapId>,
        span: Interval,
        stop: Option<StopStatus>,
        woken: Option<Nanos>,
    ) {
        let code = stop.map_or(StopCode::OPEN, |status| StopCode(status.code()));
        let lane = Self::lane_of(cap);
        self.lane_mut(cap);
        let (Some(lanes), Some(thread)) = (self.lanes.get_mut(lane), self.threads.at_mut(index))
        else {
            return;
        };
        let runs = &mut lanes.runs;
        let (why, ran_ns) = (thread.why, thread.ran_ns);
        let has_begun = thread.began_ns != NEVER_NS;
        // Overlaps are only in damaged logs; the later run is clipped.
        let start = span.start().0.max(runs.last_end()).max(ran_ns);
        let end = span.end().0.max(start);
        let place = runs.len();
        let woken = woken.map(|woken| woken.0);
        let ready = Turn::ready_since(why, ran_ns, woken).filter(|_| has_begun);
        let run = Run {
            start,
            end,
            code,
            ready_ns: ready.map(|ready| start.saturating_sub(ready)),
            idle_ns: None,
            paused: false,
        };
        runs.push(index, run);
        thread.runs += 1;
        thread.began_ns = thread.began_ns.min(start);
        thread.ran_ns = end;
        thread.why = code;
        thread.home = cap.or(thread.home);
        if stop.is_some() {
            thread.run_ns += end - start;
        }
        thread.finished = code == StopCode::FINISHED;
        if let Some(StopStatus::BlockedOnBlackHole(Some(owner))) = stop {
            let run = RunRef {
                lane: place32(lane),
                place: place32(place),
            };
            self.owners.insert(run, owner);
        }
    }

    /// A thread was created.
    fn begin(&mut self, index: u32, at: Nanos) {
        if let Some(thread) = self.threads.at_mut(index) {
            thread.created = true;
            thread.why = StopCode::CREATED;
            thread.began_ns = at.0;
            thread.ran_ns = at.0;
        }
    }

    /// A thread stopped again while it did not run: an empty run keeps the reason.
    #[cold]
    fn stopped_again(
        &mut self,
        index: u32,
        at: Nanos,
        stop: Option<StopStatus>,
        woken: Option<Nanos>,
    ) {
        let run = self.threads.get(index).map_or(0, |thread| thread.runs);
        self.stops_again.entry(index).or_default().push(run);
        self.push_run(index, None, Interval::at(at), stop, woken);
    }

    /// Gives the automaton of a thread its next input.
    #[inline]
    pub(super) fn step(&mut self, index: u32, input: Input, at: Nanos, cap: Option<CapId>) {
        let Some(thread) = self.threads.at_mut(index) else {
            return;
        };
        let step = thread_state::step(thread.state, input, at, thread.id);
        thread.state = step.next;
        let woken = thread.woken();
        if matches!(input, Input::Stop(_)) {
            thread.woken_ns = NEVER_NS;
        }
        if let Some(span) = step.yields {
            self.thread(index, span, woken);
        }
        if let Some(oddity) = step.oddity {
            self.oddities.push(Diagnostic::at(at, oddity).on(cap));
        }
    }

    /// A span of a thread's life ended. `woken` is when the thread, after it had
    /// stopped, was first said to be runnable again.
    #[inline]
    fn thread(&mut self, index: u32, span: ThreadSpan, woken: Option<Nanos>) {
        let ThreadSpan {
            activity,
            span,
            stop,
        } = span;
        match activity {
            Activity::Running(cap) => self.push_run(index, cap, span, stop, woken),
            Activity::Blocked(reason) => {
                // Most waits follow from the runs around them.
                if reason == Reason::Created {
                    self.begin(index, span.start());
                }
                if stop.is_some() {
                    self.stopped_again(index, span.end(), stop, woken);
                }
            }
        }
    }

    /// A span of a thread's life, in whatever state its automaton is.
    #[cfg(test)]
    pub(crate) fn tell(&mut self, thread: ThreadId, span: ThreadSpan, woken: Option<Nanos>) {
        let index = self.threads.index(thread);
        self.thread(index, span, woken);
    }

    /// Whether a thread that stopped for this reason becomes ready when it is woken.
    pub(super) fn is_readied(reason: Reason) -> bool {
        let Reason::Stopped(status) = reason else {
            return false;
        };
        let why = StopCode(status.code());
        !why.stays_ready() && Turn::ready_since(why, 0, Some(0)).is_some()
    }

    /// What is still open at the end of the log is drawn, and told.
    pub(crate) fn end_spans(&mut self, end: Nanos, mut tell: impl FnMut(Open)) {
        let mut open: Vec<(ThreadId, u32)> = self
            .threads
            .unfinished()
            .filter(|(_, thread)| thread.state.open(end).is_some())
            .map(|(index, thread)| (thread.id, index))
            .collect();
        open.sort_unstable();
        for (id, index) in open {
            let Some(thread) = self.threads.get(index) else {
                continue;
            };
            let woken = thread.woken();
            if let Some(span) = thread.state.open(end) {
                tell(Open::Thread(id, span, woken));
                self.open_thread(index, span, woken);
            }
        }
    }

    fn open_thread(&mut self, index: u32, mut span: ThreadSpan, woken: Option<Nanos>) {
        if let Activity::Running(cap) = span.activity {
            // What a lost buffer held may have been its stop.
            let known = cap.and_then(|cap| self.facts.known(cap));
            let end = known.map_or(span.span.end(), |known| known.end());
            span.span = span.span.until(end);
            return self.thread(index, span, woken);
        }
        self.thread(index, span, woken);
        if let (Some(woken), Some(thread)) = (woken, self.threads.get(index)) {
            self.woken_at_end_ns.insert(thread.id, woken.0);
        }
    }

    /// Learns what is known of the log beyond its spans: before those are
    /// reported that are still open at its end.
    pub(crate) fn learn(&mut self, facts: Facts) {
        if let Some(last) = facts.caps.last() {
            self.lane_mut(Some(last.cap));
        }
        self.facts = facts;
    }

    /// The account of time, once [`settle`](Self::settle)d.
    #[must_use]
    pub fn account(&self) -> Account<'_> {
        Account::new(&self.lanes, &self.ledger)
    }

    /// Up to when the log tells of a thread that did not finish.
    pub(crate) fn known_end(&self, thread: &Thread) -> u64 {
        let cap = thread.home.and_then(|cap| self.facts.known(cap));
        let end = cap.map_or(self.end, |known| known.end()).min(self.end);
        end.0.max(thread.ran_ns)
    }

    /// How the last ready time of a thread divides that was ready in the end.
    pub(super) fn ready_at_end(&self, thread: &Thread) -> ReadyParts {
        let parts = self.ready_at_end.get(&thread.id);
        parts.copied().unwrap_or_default()
    }

    /// Completes the lanes when the log is read: whose runs are which, and
    /// where the time went.
    pub fn settle(&mut self, end: Nanos) {
        self.end = end;
        for lane in &mut self.lanes {
            lane.runs.settle();
            lane.gc.settle();
            lane.phases.settle();
        }
        self.make_account();
        self.settled = true;
    }

    /// Walks through the log: for the account of time, and to list each thread's
    /// runs in the order of time.
    fn make_account(&mut self) {
        self.threads.settle(&self.shelf);
        let mut start = 0;
        self.lane_starts.clear();
        for lane in &self.lanes {
            self.lane_starts.push(start);
            start += place32(lane.runs.len());
        }
        self.indexes = Remembered::default();
        self.waits = Remembered::default();
        // Of threads that were ready in the end: up to when the log tells of them.
        let mut ready: Vec<(u32, u64, u64)> = Vec::new();
        for (index, thread) in self.threads.unfinished() {
            let woken = self.woken_at_end(thread.id);
            let since = Turn::ready_since(thread.why, thread.ran_ns, woken);
            let has_begun = thread.began_ns != NEVER_NS && !thread.finished;
            if let Some(since) = since.filter(|_| has_begun) {
                ready.push((index, since, self.known_end(&thread).max(since)));
            }
        }
        let known = ready.iter().map(|&(.., known)| known);
        let lost = known.filter(|&known| known < self.end.0).collect();
        let readied = std::mem::take(&mut self.readied);
        let mut grouping = Grouping::new(&self.threads, &self.lane_starts, &self.shelf);
        let (facts, shelf) = (&self.facts, &self.shelf);
        let lanes = &self.lanes;
        let ledger = Ledger::make(facts, self.end, lanes, readied, lost, &mut grouping, shelf);
        let Grouping {
            runs,
            idle,
            ready: ready_at,
            ..
        } = grouping;
        self.by_thread = runs.finish(&self.threads, &self.shelf);
        self.ledger = ledger;
        for (lane, idle) in self.lanes.iter_mut().zip(idle) {
            lane.runs.learn_idle(idle);
        }
        let account = Account::new(&self.lanes, &self.ledger);
        let mut walker = account.walker();
        ready.sort_unstable_by_key(|&(.., known)| known);
        for (index, since, known) in ready {
            let at = ready_at.get(index).filter(|at| at.since_ns == since);
            let parts = at.map_or_else(
                || account.ready_parts(since, known),
                |at| ReadyParts {
                    paused_ns: account.pauses().still_in(since, known),
                    idle_ns: walker.some_idle_ns(Nanos(known)).saturating_sub(at.idle_ns),
                },
            );
            if let Some(thread) = self.threads.get(index) {
                self.ready_at_end.insert(thread.id, parts);
            }
        }
    }
}

/// Where somebody looked last at runs: who looks at the runs of many threads, one after
/// the other, or at all runs of one, finds most of them near the last.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    by_thread: Looked,
    lanes: Vec<LookedAt>,
}

/// All lanes of runs, cut at a time.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(crate) time_ns: u64,
    /// For each lane, the first run that ends later, counted as if the lanes
    /// were put end to end.
    lanes: Vec<u32>,
}

impl SpanSink for Store {
    fn gc(&mut self, cap: CapId, span: Interval) {
        let lane = self.lane_mut(Some(cap));
        lane.gc.push(span);
        lane.phases.collection(span);
    }

    fn gc_phase(&mut self, cap: CapId, phase: Phase, span: Interval) {
        self.lane_mut(Some(cap)).phases.push(phase, span);
    }

    fn oddity(&mut self, at: Nanos, cap: Option<CapId>, oddity: Oddity) {
        self.gc_oddities.push(Diagnostic::at(at, oddity).on(cap));
    }

    fn open(&mut self, open: Open) {
        if let Open::Gc(cap, span) = open {
            let known = self.facts.known(cap);
            let span = span.until(known.map_or(span.end(), |known| known.end()));
            if !span.is_empty() {
                self.gc(cap, span);
            }
        }
    }
}
