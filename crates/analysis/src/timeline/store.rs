//! The spans of a log, kept for drawing: the runs and collections of each
//! capability, and which runs are whose.

use std::sync::OnceLock;

use super::deep_stacks::DeepStack;
use super::group_waits::WaitsIn;
use super::instants::Instants;
use super::spark_runs::SparkRun;
use super::threads::{Thread, Threads};
use super::turns::{ReadyAtEnd, TurnIndex};
use super::wait_groups::WaitGroups;
use crate::account::facts::Facts;
use crate::account::runs::{Cap, LookedAt, Run, RunLane, RunRef};
use crate::account::{Account, Ledger};
use crate::diagnostics::Diagnostics;
use eventlog::cap_table::CapLanes;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::texts::TextId;
use model::class::StopCode;
use model::lane::Lane;
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
    /// Lane 0 has the runs of no capability.
    pub(super) lanes: Vec<Cap>,
    /// Which lane is that of a capability.
    pub(super) cap_lanes: CapLanes,
    pub(super) threads: Threads,
    pub(super) owners: SeededMap<RunRef, ThreadId>,
    pub(super) deep_stacks: Vec<DeepStack>,
    /// The runs of all threads, one thread's after the other's, as places in
    /// `lanes` put end to end.
    pub(super) by_thread: Pages<u32>,
    pub(super) lane_starts: Vec<u32>,
    /// Of threads with more runs than are quickly looked at; each is made
    /// when it is needed.
    pub(super) indexes: Remembered<u32, TurnIndex>,
    pub(super) instants: Instants,
    /// When threads were woken that then did not run before the log ended.
    pub(super) woken_at_end_ns: SeededMap<ThreadId, u64>,
    /// Stops of threads that did not run, which only damaged logs have, are
    /// kept as empty runs: which of a thread's runs these are.
    pub(super) stops_again: SeededMap<u32, Vec<u32>>,
    /// What threads waited for, by range.
    pub(crate) waits: Remembered<Option<Interval>, WaitsIn>,
    /// Threads by label; made when they are first needed.
    pub(super) wait_groups: OnceLock<WaitGroups>,
    /// How long sparks ran, once that is asked for.
    pub(super) spark_runs: OnceLock<Vec<SparkRun>>,
    /// What is known of the log beyond its spans.
    pub(super) facts: Facts,
    /// When threads became ready by a wakeup or their creation; part of the
    /// account in the end.
    pub(super) readied: Moments,
    pub(super) ledger: Ledger,
    /// Of threads that were ready in the end: how their last ready time divides.
    pub(super) ready_at_end: SeededMap<ThreadId, ReadyAtEnd>,
    pub(super) end: Nanos,
    pub(super) settled: bool,
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

    pub(super) fn lane_mut(&mut self, cap: Option<CapId>) -> &mut Cap {
        let lane = self.make_lane(cap);
        &mut self.lanes[lane]
    }

    /// The number of a capability's lane, which there is from then on.
    #[inline]
    pub(super) fn make_lane(&mut self, cap: Option<CapId>) -> usize {
        let lane = self.cap_lanes.lane_or_insert(cap);
        if lane >= self.lanes.len() {
            self.lanes.resize_with(lane + 1, Cap::default);
        }
        lane
    }

    /// The lanes of a capability.
    #[must_use]
    pub fn cap(&self, cap: CapId) -> Option<&Cap> {
        self.lanes.get(self.cap_lanes.lane(Some(cap))?)
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

    /// The capability that each thread was on last, as far as the log tells, by no order.
    pub fn homes(&self) -> impl Iterator<Item = (ThreadId, CapId)> + '_ {
        let threads = self.threads.iter();
        threads.filter_map(|(_, thread)| Some((thread.id, thread.home?)))
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

    /// The threads that have one of the wanted labels, in no order.
    pub fn threads_labelled(&self, wanted: fn(&str) -> bool) -> impl Iterator<Item = ThreadId> {
        let found = self
            .threads
            .with_labels(move |label| wanted(label).then_some(()));
        found.filter_map(|(index, ())| self.threads.id(index))
    }

    /// The thread of a run of a capability's lane.
    #[must_use]
    pub fn thread_of(&self, cap: CapId, place: usize) -> Option<ThreadId> {
        let thread = self.cap(cap)?.runs.thread_at(place)?;
        self.threads.id(thread)
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
        self.cap_lanes.cap(run.lane as usize)
    }

    /// When a stack that was large already was made larger: of which thread, and its bytes by
    /// then.
    pub fn deep_stacks(&self) -> impl Iterator<Item = (Nanos, ThreadId, u64)> + '_ {
        let all = self.deep_stacks.iter();
        all.filter_map(|deep| {
            let thread = self.threads.id(deep.thread)?;
            Some((
                Nanos(deep.at_ns),
                thread,
                deep.words * DeepStack::WORD_BYTES,
            ))
        })
    }

    pub(crate) fn run_owner(&self, run: RunRef) -> Option<ThreadId> {
        self.owners.get(&run).copied()
    }

    /// Learns what is known of the log beyond its spans: before those are
    /// reported that are still open at its end.
    pub(crate) fn learn(&mut self, facts: Facts) {
        for of in &facts.caps {
            self.make_lane(Some(of.cap));
        }
        self.facts = facts;
    }

    /// The account of time, once [`settle`](Self::settle)d.
    #[must_use]
    pub fn account(&self) -> Account<'_> {
        Account::new(&self.lanes, &self.ledger)
    }

    /// When a thread stopped last, and why; `None` if it never ran.
    pub(crate) fn last_stop(&self, thread: ThreadId) -> Option<(Nanos, StopCode)> {
        let thread = self.threads.get(self.threads.find(thread)?)?;
        (thread.runs > 0).then_some((Nanos(thread.ran_ns), thread.why))
    }

    /// Up to when the log tells of a thread that did not finish.
    pub(crate) fn known_end(&self, thread: &Thread) -> u64 {
        let cap = thread.home.and_then(|cap| self.facts.known(cap));
        let end = cap.map_or(self.end, |known| known.end()).min(self.end);
        end.0.max(thread.ran_ns)
    }

    /// How the last wait of a thread ended that was ready in the end.
    pub(super) fn ready_at_end(&self, thread: &Thread) -> ReadyAtEnd {
        let parts = self.ready_at_end.get(&thread.id);
        parts.copied().unwrap_or_default()
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
