//! The spans of a log, kept for drawing: the runs and collections of each
//! capability, and which runs are whose.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::class::{Class, ClassTimes, StopCode};
use super::lane::{Lane, LaneIndex, PlainLane};
use super::threads::{Thread, ThreadFilter, ThreadLane, ThreadRow, Threads, index_of};
use crate::analysis::spans::{Open, SpanSink};
use crate::automata::thread_state::{Activity, Reason, ThreadSpan};
use crate::automata::{Oddity, Span};
use crate::eventlog::StopStatus;
use crate::ids::{CapId, Nanos, ThreadId};

/// One run of a thread: which lane, and which place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunRef {
    lane: u32,
    place: u32,
}

/// The runs on one capability.
#[derive(Clone, Debug, Default)]
pub struct RunLane {
    starts: Vec<u64>,
    ends: Vec<u64>,
    threads: Vec<u32>,
    codes: Vec<StopCode>,
    index: LaneIndex,
}

impl RunLane {
    fn class_of(code: StopCode) -> Class {
        if code == StopCode::OPEN {
            Class::Open
        } else {
            Class::Running
        }
    }
}

impl Lane for RunLane {
    fn len(&self) -> usize {
        self.starts.len()
    }
    fn span(&self, index: usize) -> (u64, u64) {
        (self.starts[index], self.ends[index])
    }
    fn class(&self, index: usize) -> Class {
        Self::class_of(self.codes[index])
    }
    fn before(&self, index: usize) -> ClassTimes {
        self.index
            .before(index, |i| (self.class(i), self.ends[i] - self.starts[i]))
    }
    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        self.index
            .longest(from, to, |i| self.ends[i] - self.starts[i])
    }
}

/// One capability.
#[derive(Clone, Debug)]
pub struct Cap {
    /// What it ran.
    pub runs: RunLane,
    /// When it collected garbage.
    pub gc: PlainLane,
    /// Where both overlap: a sound log has hardly any of that.
    overlap: PlainLane,
}

impl Default for Cap {
    fn default() -> Self {
        Self {
            runs: RunLane::default(),
            gc: PlainLane::new(Class::Gc),
            overlap: PlainLane::new(Class::Gc),
        }
    }
}

/// How a capability spent a range of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapUsage {
    /// Running threads, in nanoseconds.
    pub mutator_ns: u64,
    /// Collecting garbage.
    pub gc_ns: u64,
    /// Neither.
    pub idle_ns: u64,
}

/// Something odd, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// When.
    pub at: Nanos,
    /// On which capability.
    pub cap: Option<CapId>,
    /// What.
    pub oddity: Oddity,
}

/// All spans of a log.
#[derive(Debug, Default)]
pub struct Store {
    /// Lane 0 has the runs of no capability, lane n + 1 those of capability n.
    lanes: Vec<Cap>,
    threads: Threads,
    owners: FxHashMap<RunRef, ThreadId>,
    /// The runs of all threads, one thread's after the other's, as places in
    /// `lanes` put end to end.
    by_thread: Vec<u32>,
    lane_starts: Vec<u32>,
    indexes: FxHashMap<u32, OnceLock<Option<LaneIndex>>>,
    end: Nanos,
    /// The first oddities.
    pub oddities: Vec<Found>,
    /// How many there are.
    pub oddity_count: u64,
}

/// How many oddities are kept with their places.
const ODDITIES_KEPT: usize = 1000;

impl Store {
    fn lane_of(cap: Option<CapId>) -> usize {
        cap.map_or(0, |cap| usize::from(cap.0) + 1)
    }

    fn lane_mut(&mut self, cap: Option<CapId>) -> &mut Cap {
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

    /// How a capability that lived for `life` spent `range`.
    #[must_use]
    pub fn usage(&self, cap: CapId, life: Span, range: Span) -> CapUsage {
        let range = Span::new(range.start.max(life.start), range.end.min(life.end));
        let Some(cap) = self.cap(cap).filter(|_| range.start < range.end) else {
            return CapUsage {
                idle_ns: range.duration().0,
                ..CapUsage::default()
            };
        };
        let mutator_ns = cap.runs.time_in(range)[Class::Running as usize];
        let gc_ns = cap.gc.time_in(range)[Class::Gc as usize];
        let overlap_ns = cap.overlap.time_in(range)[Class::Gc as usize];
        CapUsage {
            mutator_ns,
            gc_ns,
            idle_ns: (range.duration().0 + overlap_ns).saturating_sub(mutator_ns + gc_ns),
        }
    }

    /// When the last event was, once [`settle`](Self::settle)d.
    #[must_use]
    pub const fn end(&self) -> Nanos {
        self.end
    }

    /// How many threads there are.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.all.len()
    }

    /// How many runs there are.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.lanes.iter().map(|lane| lane.runs.len()).sum()
    }

    /// Names a thread.
    pub fn label(&mut self, thread: ThreadId, label: &str) {
        let index = self.threads.index(thread) as usize;
        self.threads.all[index].label = Some(label.into());
    }

    /// The label of a thread.
    #[must_use]
    pub fn label_of(&self, thread: ThreadId) -> Option<&str> {
        let index = self.threads.find(thread)? as usize;
        self.threads.all[index].label.as_deref()
    }

    /// The thread of a run of a capability's lane.
    #[must_use]
    pub fn thread_of(&self, cap: CapId, place: usize) -> Option<ThreadId> {
        let thread = *self.cap(cap)?.runs.threads.get(place)?;
        Some(self.threads.all[thread as usize].id)
    }

    /// The thread that runs on a capability at a time. `place` is where the
    /// last question ended: questions that come nearly in the order of time
    /// are answered at once.
    #[must_use]
    pub fn running(&self, cap: CapId, time: Nanos, place: &mut usize) -> Option<ThreadId> {
        /// So many runs are stepped over before a search is faster.
        const STEPS: usize = 16;
        let runs = &self.cap(cap)?.runs;
        let ended = |at: usize| runs.ends.get(at).is_some_and(|&end| end <= time.0);
        let mut at = (*place).min(runs.len());
        let steps = (0..STEPS).take_while(|i| ended(at + i)).count();
        at += steps;
        if steps == STEPS || (at > 0 && !ended(at - 1)) {
            at = runs.ends.partition_point(|&end| end <= time.0);
        }
        *place = at;
        let start = *runs.starts.get(at)?;
        (start <= time.0).then(|| self.thread_of(cap, at))?
    }

    /// Why a run of a capability's lane ended.
    #[must_use]
    pub fn code_of(&self, cap: CapId, place: usize) -> Option<StopCode> {
        self.cap(cap)?.runs.codes.get(place).copied()
    }

    /// The threads that `filter` lets through, the busiest first, and how
    /// many there are without its limit.
    #[must_use]
    pub fn threads(&self, filter: &ThreadFilter) -> (Vec<ThreadRow>, usize) {
        let text = filter.text.to_lowercase();
        let matches = |thread: &Thread| {
            let label = thread.label.as_deref().unwrap_or_default();
            text.is_empty()
                || label.to_lowercase().contains(&text)
                || thread.id.to_string() == text.trim_start_matches('#')
        };
        let mut found: Vec<&Thread> = self
            .threads
            .all
            .iter()
            .filter(|thread| matches(thread))
            .collect();
        let total = found.len();
        found.sort_unstable_by_key(|thread| (std::cmp::Reverse(thread.run_ns), thread.id));
        let rows = found
            .into_iter()
            .take(filter.limit)
            .map(|thread| ThreadRow {
                id: thread.id,
                label: thread.label.as_deref().map(str::to_owned),
                created: thread.created,
                finished: thread.finished,
                run_ns: thread.run_ns,
                runs: thread.runs,
            });
        (rows.collect(), total)
    }

    /// The life of a thread; only once the log is read to its end.
    #[must_use]
    pub fn thread_lane(&self, thread: ThreadId) -> Option<ThreadLane<'_>> {
        if self.by_thread.is_empty() {
            return None;
        }
        let at = self.threads.find(thread)?;
        let thread = &self.threads.all[at as usize];
        let built = self.indexes.get(&at).and_then(|slot| {
            slot.get_or_init(|| index_of(&ThreadLane::new(self, thread, None)))
                .as_ref()
        });
        Some(ThreadLane::new(self, thread, built))
    }

    pub(crate) fn thread_run(&self, place: usize) -> RunRef {
        let global = self.by_thread[place];
        let lane = self.lane_starts.partition_point(|&start| start <= global) - 1;
        RunRef {
            lane: u32::try_from(lane).unwrap_or(u32::MAX),
            place: global - self.lane_starts[lane],
        }
    }

    fn runs_of(&self, run: RunRef) -> &RunLane {
        &self.lanes[run.lane as usize].runs
    }

    pub(crate) fn run_span(&self, run: RunRef) -> (u64, u64) {
        self.runs_of(run).span(run.place as usize)
    }

    pub(crate) fn run_code(&self, run: RunRef) -> StopCode {
        self.runs_of(run).codes[run.place as usize]
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
    fn push_run(
        &mut self,
        thread: ThreadId,
        cap: Option<CapId>,
        span: Span,
        stop: Option<StopStatus>,
    ) {
        let index = self.threads.index(thread);
        let code = stop.map_or(StopCode::OPEN, |status| StopCode(status.code()));
        let lane = Self::lane_of(cap);
        let runs = &mut self.lane_mut(cap).runs;
        // Overlaps are only in damaged logs; the later run is clipped.
        let start = runs
            .ends
            .last()
            .map_or(span.start.0, |&end| end.max(span.start.0));
        let end = span.end.0.max(start);
        let place = runs.starts.len();
        runs.starts.push(start);
        runs.ends.push(end);
        runs.threads.push(index);
        runs.codes.push(code);
        runs.index.push(RunLane::class_of(code), end - start);
        if let Some(StopStatus::BlockedOnBlackHole(Some(owner))) = stop {
            let run = RunRef {
                lane: u32::try_from(lane).unwrap_or(u32::MAX),
                place: u32::try_from(place).unwrap_or(u32::MAX),
            };
            self.owners.insert(run, owner);
        }
        let thread = &mut self.threads.all[index as usize];
        thread.runs += 1;
        if stop.is_some() {
            thread.run_ns += end - start;
        }
        thread.finished = code == StopCode::FINISHED;
    }

    /// A span of waiting ended, or the log did. The waits after runs follow
    /// from the runs; what does not is kept.
    fn waited(&mut self, thread: ThreadId, reason: Reason, waited: &ThreadSpan) {
        if reason == Reason::Created {
            let index = self.threads.index(thread) as usize;
            self.threads.all[index].created = Some(waited.span.start);
        }
        // Stopped again while it did not run: an empty run keeps the reason.
        if waited.stop.is_some() {
            let at = waited.span.end;
            self.push_run(thread, None, Span::new(at, at), waited.stop);
        }
    }

    /// Completes the lanes when the log is read: whose runs are which, and
    /// where collections and runs overlap.
    pub fn settle(&mut self, end: Nanos) {
        self.end = end;
        for lane in &mut self.lanes {
            lane.gc.settle();
            lane.overlap = overlap(&lane.runs, &lane.gc);
        }
        self.group_by_thread();
        for (index, thread) in self.threads.all.iter().enumerate() {
            if thread.runs as usize > super::lane::BLOCK {
                self.indexes
                    .insert(u32::try_from(index).unwrap_or(u32::MAX), OnceLock::new());
            }
        }
    }

    /// Lists each thread's runs in the order of time, by a merge of the lanes.
    fn group_by_thread(&mut self) {
        let mut first = 0;
        for thread in &mut self.threads.all {
            thread.first = first;
            first += thread.runs;
        }
        let mut next: Vec<u32> = self.threads.all.iter().map(|thread| thread.first).collect();
        let mut start = 0;
        self.lane_starts.clear();
        for lane in &self.lanes {
            self.lane_starts.push(start);
            start += u32::try_from(lane.runs.len()).unwrap_or(u32::MAX);
        }
        self.by_thread = vec![0; first as usize];
        let mut heads = vec![0usize; self.lanes.len()];
        loop {
            let head = |lane: usize| {
                self.lanes[lane]
                    .runs
                    .starts
                    .get(heads[lane])
                    .map(|&start| (start, lane))
            };
            let Some((_, lane)) = (0..self.lanes.len()).filter_map(head).min() else {
                break;
            };
            let place = heads[lane];
            heads[lane] += 1;
            let thread = self.lanes[lane].runs.threads[place] as usize;
            let slot = next[thread] as usize;
            next[thread] += 1;
            self.by_thread[slot] =
                self.lane_starts[lane] + u32::try_from(place).unwrap_or(u32::MAX);
        }
    }
}

/// Where two lanes overlap.
fn overlap(runs: &RunLane, gc: &PlainLane) -> PlainLane {
    let mut overlap = PlainLane::new(Class::Gc);
    for i in 0..gc.len() {
        let (start, end) = gc.span(i);
        let mut run = runs.first_ending_after(start);
        while run < runs.len() && runs.starts[run] < end {
            let (from, to) = (runs.starts[run].max(start), runs.ends[run].min(end));
            if from < to && runs.class(run) == Class::Running {
                overlap.push(Span::new(Nanos(from), Nanos(to)));
            }
            run += 1;
        }
    }
    overlap
}

impl SpanSink for Store {
    fn gc(&mut self, cap: CapId, span: Span) {
        self.lane_mut(Some(cap)).gc.push(span);
    }

    fn thread(&mut self, thread: ThreadId, span: ThreadSpan) {
        match span.activity {
            Activity::Running(cap) => self.push_run(thread, cap, span.span, span.stop),
            Activity::Blocked(reason) => self.waited(thread, reason, &span),
        }
    }

    fn oddity(&mut self, at: Nanos, cap: Option<CapId>, oddity: Oddity) {
        self.oddity_count += 1;
        if self.oddities.len() < ODDITIES_KEPT {
            self.oddities.push(Found { at, cap, oddity });
        }
    }

    fn open(&mut self, open: Open) {
        match open {
            // No collection until its end is seen, as everywhere.
            Open::Gc(..) => {}
            Open::Thread(thread, span) => self.thread(thread, span),
        }
    }
}
