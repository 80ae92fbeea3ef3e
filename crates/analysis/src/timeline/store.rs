//! Spans of a log: runs and collections of each capability, and the assignment of runs to threads.

use std::sync::OnceLock;

use super::deep_stacks::DeepStack;
use super::group_waits::RangeWaits;
use super::instants::Instants;
use super::spark_runs::SparkRun;
use super::thread_order::SortedThreadsCache;
use super::threads::{Thread, Threads};
use super::turns::{ReadyAtEnd, TurnIndex};
use super::wait_groups::WaitGroups;
use crate::account::facts::Facts;
use crate::account::runs::{Cap, Run, RunLane, RunReadCursor, RunRef};
use crate::account::{AttributionData, TimeAttribution};
use crate::diagnostics::Diagnostics;
use eventlog::cap_table::CapLanes;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::texts::TextId;
use model::byte_lru::ByteLru;
use model::class::StopCode;
use model::lane::Lane;
use model::moments::Moments;
use model::packed_column::{PackedColumn, ReadCursor};
use model::profile::{Profile, TrackSource};
use model::saturating::saturating_u32;
use model::spill_store::SpillStore;
use model::time::Interval;

/// Number of threads that can be processed in much less than a millisecond.
pub(super) const FEW_THREADS: u32 = 256;

/// Spans of a log with their indexes and caches.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// Lanes by index; lane 0 has the runs of no capability.
    pub(super) lanes: Vec<Cap>,
    /// Mapping between capabilities and lane indexes.
    pub(super) cap_lanes: CapLanes,
    pub(super) threads: Threads,
    /// Threads that owned the black holes at which runs ended.
    pub(super) black_hole_owners: SeededMap<RunRef, ThreadId>,
    pub(super) deep_stacks: Vec<DeepStack>,
    /// Runs of all threads, thread by thread, as indexes into the concatenated `lanes`.
    pub(super) runs_by_thread: PackedColumn<u32>,
    /// Index of the first run of each lane in the concatenated `lanes`.
    pub(super) lane_starts: Vec<u32>,
    /// Cached indexes of threads with too many runs to read each time, built on demand.
    pub(super) indexes: ByteLru<u32, TurnIndex>,
    pub(super) instants: Instants,
    /// Wakeup times of threads that did not run again before the log ended.
    pub(super) woken_at_end_ns: SeededMap<ThreadId, u64>,
    /// Indexes, among a thread's runs, of the empty runs that represent stops of a thread that was not running.
    /// Only damaged logs have these.
    pub(super) repeated_stops: SeededMap<u32, Vec<u32>>,
    /// Cached waits by range.
    pub(crate) waits: ByteLru<Option<Interval>, RangeWaits>,
    /// Cached waits in time order, by selected threads and range.
    pub(crate) waits_in_time: ByteLru<(Vec<TrackSource>, Option<Interval>), Profile>,
    /// Cached orders of the thread table.
    pub(super) thread_orders: SortedThreadsCache,
    /// Threads by label, built on first use.
    pub(super) wait_groups: OnceLock<WaitGroups>,
    /// Sparks that ran, computed on first use.
    pub(super) spark_runs: OnceLock<Vec<SparkRun>>,
    /// Facts about the log other than its spans.
    pub(super) facts: Facts,
    /// Times at which threads became ready by a wakeup or their creation; moved into the account at the end.
    pub(super) became_runnable: Moments,
    pub(super) attribution_data: AttributionData,
    /// Division of the last ready time of threads that were ready at the end.
    pub(super) ready_at_end: SeededMap<ThreadId, ReadyAtEnd>,
    pub(super) end: Nanos,
    pub(super) is_finished: bool,
    /// Storage of packed columns.
    pub(super) spill_store: SpillStore,
    /// Unexpected events, reported by the thread automata.
    pub anomalies: Diagnostics,
    /// Unexpected events, reported by the collection automata.
    pub gc_anomalies: Diagnostics,
}

impl Store {
    /// Creates a store whose columns are kept in `spill_store`.
    pub(crate) fn with_spill_store(spill_store: SpillStore) -> Self {
        Self {
            spill_store,
            ..Self::default()
        }
    }

    pub(super) fn lane_mut(&mut self, cap: Option<CapId>) -> &mut Cap {
        let lane = self.make_lane(cap);
        &mut self.lanes[lane]
    }

    /// Returns the lane index of a capability, and creates the lane if necessary.
    #[inline]
    pub(super) fn make_lane(&mut self, cap: Option<CapId>) -> usize {
        let lane = self.cap_lanes.lane_or_insert(cap);
        if lane >= self.lanes.len() {
            self.lanes.resize_with(lane + 1, Cap::default);
        }
        lane
    }

    /// Returns the lanes of a capability.
    pub fn cap(&self, cap: CapId) -> Option<&Cap> {
        self.lanes.get(self.cap_lanes.lane(Some(cap))?)
    }

    /// Returns the time of the last event, once [finished](Self::finish).
    pub const fn end(&self) -> Nanos {
        self.end
    }

    /// Returns whether a range covers the whole log.
    pub(crate) fn is_whole(&self, range: Interval) -> bool {
        let log = self.facts.log;
        log.is_some_and(|log| range.start() <= log.start() && log.end() <= range.end())
    }

    /// Returns whether the log has been read to its end.
    pub(crate) const fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns the number of threads.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Returns the last known capability of each thread, in no particular order.
    pub fn last_caps(&self) -> impl Iterator<Item = (ThreadId, CapId)> + '_ {
        let threads = self.threads.iter();
        threads.filter_map(|(_, thread)| Some((thread.id, thread.last_cap?)))
    }

    /// Returns the number of runs on all lanes.
    pub fn run_count(&self) -> usize {
        self.lanes.iter().map(|lane| lane.runs.len()).sum()
    }

    /// Interns a label.
    pub(crate) fn text(&mut self, label: &str) -> TextId {
        self.threads.text(label)
    }

    /// Labels a thread; the last label wins.
    pub(crate) fn label(&mut self, thread: ThreadId, label: TextId) {
        let index = self.threads.index(thread);
        self.threads.set_label(index, label);
    }

    /// Returns the label of a thread.
    pub fn label_of(&self, thread: ThreadId) -> Option<&str> {
        let index = self.threads.find(thread)?;
        self.threads.label(&self.threads.get(index)?)
    }

    /// Returns the threads whose labels satisfy `wanted`, in no particular order.
    pub fn threads_labeled(&self, wanted: fn(&str) -> bool) -> impl Iterator<Item = ThreadId> {
        let found = self
            .threads
            .with_labels(move |label| wanted(label).then_some(()));
        found.filter_map(|(index, ())| self.threads.id(index))
    }

    /// Returns the thread of a run, given by its index on the capability's lane.
    pub fn thread_of(&self, cap: CapId, run: usize) -> Option<ThreadId> {
        let thread = self.cap(cap)?.runs.thread_at(run)?;
        self.threads.id(thread)
    }

    /// Returns the thread that runs on a capability at a time. `cursor` remembers the position: queries at nearly
    /// increasing times are fast.
    pub fn running(&self, cap: CapId, time: Nanos, cursor: &mut usize) -> Option<ThreadId> {
        let (thread, _) = self.run_at(cap, time, cursor)?;
        Some(thread)
    }

    /// Returns the thread that runs on a capability at a time, with the run; for `cursor` see
    /// [`running`](Self::running).
    pub fn run_at(
        &self,
        cap: CapId,
        time: Nanos,
        cursor: &mut usize,
    ) -> Option<(ThreadId, Interval)> {
        let runs = &self.cap(cap)?.runs;
        let run = runs.run_at(time.0, cursor)?;
        Some((self.thread_of(cap, run)?, runs.interval(run)))
    }

    /// Returns the reason why a run ended, given by its index on the capability's lane.
    pub fn code_of(&self, cap: CapId, run: usize) -> Option<StopCode> {
        self.cap(cap)?.runs.code_at(run)
    }

    /// Returns the wakeup time of a thread that did not run again before the log ended.
    pub(crate) fn woken_at_end(&self, thread: ThreadId) -> Option<u64> {
        self.woken_at_end_ns.get(&thread).copied()
    }

    /// Returns how many runs of a thread ended before a time, given by its positions.
    pub(crate) fn runs_before(&self, thread: &Thread, positions: &LanePositions) -> usize {
        if thread.last_run_end_ns <= positions.time_ns {
            return thread.runs as usize;
        }
        if thread.began_ns > positions.time_ns {
            return 0;
        }
        let first = thread.first_run as usize;
        let runs = first..first + thread.runs as usize;
        (self.runs_by_thread).partition_in(runs, |run| self.is_before(run, positions)) - first
    }

    /// Returns the position of a time on all lanes of runs.
    pub(crate) fn positions_at(&self, time: Nanos) -> LanePositions {
        let lanes = self.lane_starts.iter().zip(&self.lanes);
        let before = lanes.map(|(start, lane)| {
            let count = lane.runs.first_ending_after(time.0);
            start + saturating_u32(count)
        });
        LanePositions {
            time_ns: time.0,
            lanes: before.collect(),
        }
    }

    /// Returns whether a run, given by its index into the concatenated lanes, ended before a time, given by its
    /// positions.
    pub(crate) fn is_before(&self, run: u32, positions: &LanePositions) -> bool {
        run < positions.lanes[self.lane_of_run(run)]
    }

    fn lane_of_run(&self, run: u32) -> usize {
        self.lane_starts.partition_point(|&start| start <= run) - 1
    }

    pub(crate) fn thread_run(&self, place: usize) -> RunRef {
        self.run_ref(self.runs_by_thread.get(place))
    }

    fn run_ref(&self, global: Option<u32>) -> RunRef {
        let global = global.unwrap_or_default();
        let lane = self.lane_of_run(global);
        RunRef {
            lane: saturating_u32(lane),
            place: global - self.lane_starts[lane],
        }
    }

    fn runs_of(&self, run: RunRef) -> &RunLane {
        &self.lanes[run.lane as usize].runs
    }

    pub(crate) fn run_span(&self, run: RunRef) -> (u64, u64) {
        self.runs_of(run).span(run.place as usize)
    }

    /// Reads the run at an index into the list of all threads' runs.
    pub(crate) fn read_run(&self, place: usize, cursors: &mut ReadCursors) -> Run {
        let run = self.run_ref(
            self.runs_by_thread
                .get_with_cursor(place, &mut cursors.runs_by_thread),
        );
        let lane = run.lane as usize;
        if lane >= cursors.lanes.len() {
            cursors.lanes.resize_with(lane + 1, RunReadCursor::default);
        }
        self.runs_of(run)
            .run(run.place as usize, &mut cursors.lanes[lane])
    }

    pub(crate) fn run_code(&self, run: RunRef) -> StopCode {
        let code = self.runs_of(run).code_at(run.place as usize);
        code.unwrap_or(StopCode::OPEN)
    }

    pub(crate) fn run_cap(&self, run: RunRef) -> Option<CapId> {
        self.cap_lanes.cap(run.lane as usize)
    }

    /// Returns the growth of stacks that were already large: time, thread, and new size in bytes.
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
        self.black_hole_owners.get(&run).copied()
    }

    /// Sets the facts about the log. Called before the spans still open at its end are added.
    pub(crate) fn set_facts(&mut self, facts: Facts) {
        for of in &facts.caps {
            self.make_lane(Some(of.cap));
        }
        self.facts = facts;
    }

    /// Returns the time attribution, once [finished](Self::finish).
    pub fn account(&self) -> TimeAttribution<'_> {
        TimeAttribution::new(&self.lanes, &self.attribution_data)
    }

    /// Returns time and reason of a thread's last stop; `None` if it never ran.
    pub(crate) fn last_stop(&self, thread: ThreadId) -> Option<(Nanos, StopCode)> {
        let thread = self.threads.get(self.threads.find(thread)?)?;
        (thread.runs > 0).then_some((Nanos(thread.last_run_end_ns), thread.last_stop))
    }

    /// Returns the end of the log's information about an unfinished thread.
    pub(crate) fn known_end(&self, thread: &Thread) -> u64 {
        let cap = thread.last_cap.and_then(|cap| self.facts.known(cap));
        let end = cap.map_or(self.end, |known| known.end()).min(self.end);
        end.0.max(thread.last_run_end_ns)
    }

    /// Returns the last wait of a thread that was ready at the end.
    pub(super) fn ready_at_end(&self, thread: &Thread) -> ReadyAtEnd {
        let parts = self.ready_at_end.get(&thread.id);
        parts.copied().unwrap_or_default()
    }
}

/// Read cursors for reading runs of many threads in order, or all runs of one thread: most are near the last one
/// read.
#[derive(Debug, Default)]
pub(crate) struct ReadCursors {
    runs_by_thread: ReadCursor,
    lanes: Vec<RunReadCursor>,
}

/// Position of a time on all lanes of runs.
#[derive(Clone, Debug)]
pub(crate) struct LanePositions {
    pub(crate) time_ns: u64,
    /// First run of each lane that ends later, as an index into the concatenated lanes.
    lanes: Vec<u32>,
}
