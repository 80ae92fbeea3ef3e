//! Columnar runs of each capability.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::phases::PhaseLane;
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;
use model::class::{Class, ClassTimes, ManagerThread, StopCode};
use model::columns::Column;
use model::lane::{BLOCK, Lane, LaneIndex, PlainLane};
use model::packed_column::{self, PackedColumn, ReadCursor};
use model::saturating::saturating_u32;
use model::spill_store::SpillStore;
use model::time::Interval;

/// All stored fields of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Reason why it ended.
    pub code: StopCode,
    /// Ready time of the thread before the run; `None` if it was not ready.
    pub(crate) ready_ns: Option<u64>,
    /// Part of that time, outside of pauses, in which some capability was idle. `None` if it must be looked up, as
    /// where time goes backwards.
    pub(crate) idle_ns: Option<u64>,
    /// Whether the ready time overlaps a collection or the stopping before one.
    pub(crate) paused: bool,
    /// Manager thread that ended the thread's wait before the run, if one did.
    pub(crate) woken_by: Option<ManagerThread>,
}

/// Reference to a run: lane and index on that lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunRef {
    /// Lane index: 0 is the lane of no capability.
    pub lane: u32,
    pub(crate) place: u32,
}

/// Fields of a run that a sweep over all runs needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SweepRun {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Time since which its thread was ready before it; the start if it was not.
    pub(crate) ready_since: u64,
    /// Index of the thread.
    pub(crate) thread: u32,
    /// Whether the thread was ready before the run.
    pub(crate) was_ready: bool,
    /// Whether the thread can run again immediately after the run.
    pub(crate) stays_ready: bool,
}

/// Fields of a run for readers of one capability's runs in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneRun {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Index of the thread.
    pub(crate) thread: u32,
    /// Reason why it ended.
    pub(crate) code: StopCode,
    /// Ready time of the thread before the run; `None` if it was not ready.
    pub(crate) ready_ns: Option<u64>,
}

/// Durations with one flag bit each: four bytes, with long durations in a map.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Durations {
    /// Nanoseconds, shifted left above the flag bit.
    #[serde(skip)]
    short: PackedColumn<u32>,
    /// Durations that do not fit, by index.
    longer_ns: SeededMap<u32, u64>,
}

impl Durations {
    const LONGER: u32 = u32::MAX >> 1;
    const UNKNOWN: u32 = u32::MAX;

    /// Encodes a duration and its flag for the index `place`; stores a long duration in the map.
    #[inline]
    fn encode(&mut self, place: usize, duration_ns: u64, flag: bool) -> u32 {
        let short = u32::try_from(duration_ns).unwrap_or(u32::MAX);
        let short = short.min(Self::LONGER);
        if short == Self::LONGER {
            let place = saturating_u32(place);
            self.longer_ns.insert(place, duration_ns);
        }
        short << 1 | u32::from(flag)
    }

    #[inline]
    fn push(&mut self, duration_ns: u64, flag: bool) {
        let short = self.encode(self.short.len(), duration_ns, flag);
        self.short.push(short);
    }

    /// Appends a final duration; `None` if it is unknown.
    #[inline]
    pub(crate) fn put(&mut self, duration: Option<(u64, bool)>, spill_store: &SpillStore) {
        let short = duration.map_or(Self::UNKNOWN, |(duration_ns, flag)| {
            self.encode(self.short.len(), duration_ns, flag)
        });
        self.short.push_packing(short, spill_store);
    }

    /// Changes a duration that was added by `push`.
    fn set(&mut self, place: usize, duration_ns: u64, flag: bool) {
        if let Ok(place) = u32::try_from(place) {
            self.longer_ns.remove(&place);
        }
        let short = self.encode(place, duration_ns, flag);
        if let Some(slot) = self.short.unpacked_mut().get_mut(place) {
            *slot = short;
        }
    }

    fn append(&mut self, later: &Self, spill_store: &SpillStore) {
        let first = saturating_u32(self.short.len());
        self.short
            .extend_from_slice(later.short.unpacked(), spill_store);
        let longer = later.longer_ns.iter();
        let longer = longer.map(|(place, &longer)| (place.saturating_add(first), longer));
        self.longer_ns.extend(longer);
    }

    const fn has_flag(short: u32) -> bool {
        short & 1 == 1
    }

    /// Returns a duration, if it is known, and its flag.
    fn look(&self, place: usize, cursors: &mut ReadCursor) -> (Option<u64>, bool) {
        let short = self.short.get_with_cursor(place, cursors);
        let known = short.and_then(|short| self.decode(place, short));
        (known, short.is_some_and(Self::has_flag))
    }

    /// Decodes the duration at index `place`, if it is known.
    #[inline]
    fn decode(&self, place: usize, short: u32) -> Option<u64> {
        let short = short >> 1;
        if short < Self::LONGER {
            return Some(u64::from(short));
        }
        let place = u32::try_from(place).ok()?;
        self.longer_ns.get(&place).copied()
    }
}

/// Read cursors into the columns of one lane.
#[derive(Debug, Default)]
pub(crate) struct RunReadCursor {
    starts: ReadCursor,
    ends: ReadCursor,
    codes: ReadCursor,
    ready: ReadCursor,
    idle: ReadCursor,
    woken_by: ReadCursor,
}

/// Columns of the runs of one capability.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunColumns {
    #[serde(skip)]
    starts: PackedColumn<u64>,
    #[serde(skip)]
    ends: PackedColumn<u64>,
    #[serde(skip)]
    threads: PackedColumn<u32>,
    /// [`StopCode`] of each run.
    #[serde(skip)]
    codes: PackedColumn<u8>,
    /// Ready time of the thread before each run; the flag is set if it was ready.
    ready: Durations,
}

impl RunColumns {
    /// Calls `see` with each column, always in the same order. Only valid before any [`RunLane::append`].
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        see(self.starts.unpacked_mut().into());
        see(self.ends.unpacked_mut().into());
        see(self.threads.unpacked_mut().into());
        see(self.codes.unpacked_mut().into());
        see(self.ready.short.unpacked_mut().into());
    }

    /// Returns the start of the first run.
    pub(crate) fn first_start(&self) -> Option<u64> {
        self.start(0)
    }

    /// Returns the start of a run, if it exists.
    pub(crate) fn start(&self, place: usize) -> Option<u64> {
        self.starts.get(place)
    }

    /// Sets the ready time of a run's thread before it.
    pub(crate) fn set_ready(&mut self, place: usize, ready_ns: Option<u64>) {
        let ready = (ready_ns.unwrap_or(0), ready_ns.is_some());
        self.ready.set(place, ready.0, ready.1);
    }
}

/// Runs of one capability with an index.
#[derive(Clone, Debug)]
pub struct RunLane {
    runs: RunColumns,
    /// Part of each run's ready time in which some capability was idle; the flag is set if it contains a pause.
    /// Known once the log has been read to its end.
    idle: Durations,
    /// Numbers of the manager threads that ended the waits before the runs, or 0. Known once the log has been read
    /// to its end; empty if the log has no managers.
    woken_by: PackedColumn<u8>,
    /// Prefix sums; they cover the runs up to the last call of [`index_all_runs`](Self::index_all_runs).
    index: LaneIndex<2>,
    /// Lower bound of the start of the first run.
    after_ns: u64,
}

impl Default for RunLane {
    fn default() -> Self {
        Self {
            runs: RunColumns::default(),
            idle: Durations::default(),
            woken_by: PackedColumn::new(),
            index: LaneIndex::new([Class::Running, Class::Open]),
            after_ns: 0,
        }
    }
}

impl RunLane {
    fn class_of(code: StopCode) -> Class {
        if code == StopCode::OPEN {
            Class::Open
        } else {
            Class::Running
        }
    }

    /// Sets the lower bound of the start of the first run.
    pub(crate) fn set_earliest_start(&mut self, end_ns: u64) {
        self.after_ns = end_ns;
    }

    /// Appends a run of a thread, given by index. It must not begin before the end of the last one.
    /// [`index_all_runs`](Self::index_all_runs) adds it to the index.
    #[inline]
    pub(crate) fn push(&mut self, thread: u32, run: Run) {
        self.runs.starts.push(run.start);
        self.runs.ends.push(run.end);
        self.runs.threads.push(thread);
        self.runs.codes.push(run.code.0);
        let ready = (run.ready_ns.unwrap_or(0), run.ready_ns.is_some());
        self.runs.ready.push(ready.0, ready.1);
    }

    /// Reserves room for `runs` further runs.
    pub(crate) fn reserve(&mut self, runs: usize) {
        self.runs.starts.unpacked_mut().reserve(runs);
        self.runs.ends.unpacked_mut().reserve(runs);
        self.runs.threads.unpacked_mut().reserve(runs);
        self.runs.codes.unpacked_mut().reserve(runs);
        self.runs.ready.short.unpacked_mut().reserve(runs);
    }

    /// Appends later runs; `thread` maps their thread indexes.
    pub(crate) fn append(
        &mut self,
        later: &RunColumns,
        thread: impl Fn(u32) -> u32,
        spill_store: &SpillStore,
    ) {
        // Of the runs before the slice, few are not in the index yet.
        self.index_all_runs();
        let spans = later.starts.unpacked().iter().zip(later.ends.unpacked());
        for ((start, end), &code) in spans.zip(later.codes.unpacked()) {
            self.index.push(Self::class_of(StopCode(code)), end - start);
        }
        let runs = &mut self.runs;
        runs.starts
            .extend_from_slice(later.starts.unpacked(), spill_store);
        runs.ends
            .extend_from_slice(later.ends.unpacked(), spill_store);
        let threads = later.threads.unpacked().iter();
        runs.threads
            .extend(threads.map(|&one| thread(one)), spill_store);
        runs.codes
            .extend_from_slice(later.codes.unpacked(), spill_store);
        self.runs.ready.append(&later.ready, spill_store);
    }

    /// Extends the index to all runs.
    pub(crate) fn index_all_runs(&mut self) {
        let mut few = RunBlock::default();
        while self.index.len() < self.count() {
            few.read(&self.runs, self.index.len(), self.count());
            for (class, duration_ns) in few.all() {
                self.index.push(class, duration_ns);
            }
        }
    }

    /// Returns the columns without the index.
    pub(crate) fn into_columns(self) -> RunColumns {
        self.runs
    }

    /// Returns the number of runs.
    pub(crate) fn count(&self) -> usize {
        self.runs.starts.len()
    }

    /// Returns the end of the last run, or else the lower bound of the first start.
    pub(crate) fn last_end(&self) -> u64 {
        self.runs.ends.last().unwrap_or(self.after_ns)
    }

    /// Returns start and end of a run, if it exists.
    pub fn span_at(&self, place: usize) -> Option<(u64, u64)> {
        Some((self.runs.starts.get(place)?, self.runs.ends.get(place)?))
    }

    /// Returns the thread index of a run, if it exists.
    pub(crate) fn thread_at(&self, place: usize) -> Option<u32> {
        self.runs.threads.get(place)
    }

    /// Returns the reason why a run ended, if it exists.
    pub(crate) fn code_at(&self, place: usize) -> Option<StopCode> {
        self.runs.codes.get(place).map(StopCode)
    }

    /// Returns the number of runs that ended for a reason in a range.
    pub(crate) fn count_of(&self, code: StopCode, range: Interval) -> usize {
        let ended = |time: Nanos| self.first_ending_after(time.0);
        let codes = self
            .runs
            .codes
            .range(ended(range.start())..ended(range.end()));
        codes.filter(|one| *one == code.0).count()
    }

    fn code(&self, place: usize) -> StopCode {
        self.code_at(place).unwrap_or(StopCode::OPEN)
    }

    /// Returns the index of the run in progress at a time. `place` is the cursor: queries at nearly increasing
    /// times are fast.
    pub fn run_at(&self, time: u64, place: &mut usize) -> Option<usize> {
        /// Runs to step over before a binary search is faster.
        const STEPS: usize = 16;
        let ended = |at: usize| self.runs.ends.get(at).is_some_and(|end| end <= time);
        let mut at = (*place).min(self.len());
        let steps = (0..STEPS).take_while(|i| ended(at + i)).count();
        at += steps;
        if steps == STEPS || (at > 0 && !ended(at - 1)) {
            at = self.runs.ends.partition_point(|end| end <= time);
        }
        *place = at;
        (self.runs.starts.get(at)? <= time).then_some(at)
    }

    /// Returns all stored fields of a run.
    pub(crate) fn run(&self, place: usize, cursors: &mut RunReadCursor) -> Run {
        let runs = &self.runs;
        let start = runs.starts.get_with_cursor(place, &mut cursors.starts);
        let end = runs.ends.get_with_cursor(place, &mut cursors.ends);
        let code = runs.codes.get_with_cursor(place, &mut cursors.codes);
        let (ready_ns, was_ready) = runs.ready.look(place, &mut cursors.ready);
        let (idle_ns, paused) = self.idle.look(place, &mut cursors.idle);
        let woken_by = self.woken_by.get_with_cursor(place, &mut cursors.woken_by);
        Run {
            start: start.unwrap_or_default(),
            end: end.unwrap_or_default(),
            code: code.map_or(StopCode::OPEN, StopCode),
            ready_ns: ready_ns.filter(|_| was_ready),
            idle_ns,
            paused,
            woken_by: woken_by.and_then(ManagerThread::from_number),
        }
    }

    /// Appends to `next` the runs from index `from` to the end of its block; none at the end of the lane.
    pub(crate) fn read(&self, from: usize, next: &mut Vec<SweepRun>) {
        self.read_block(from..self.count(), |run| {
            next.push(SweepRun {
                start: run.start,
                end: run.end,
                ready_since: run.start.saturating_sub(run.ready_ns.unwrap_or_default()),
                thread: run.thread,
                was_ready: run.ready_ns.is_some(),
                stays_ready: run.code.stays_ready(),
            });
        });
    }

    /// Appends to `next` the runs from the start of `places` to the end of its block, but none beyond `places` or the
    /// end of the lane.
    pub(crate) fn read_places(&self, places: Range<usize>, next: &mut Vec<LaneRun>) {
        self.read_block(places, |run| next.push(run));
    }

    /// Passes the runs from the start of `places` to the end of its block to `take`.
    #[inline]
    fn read_block(&self, places: Range<usize>, mut take: impl FnMut(LaneRun)) {
        let (mut starts, mut ends) = ([0; packed_column::BLOCK], [0; packed_column::BLOCK]);
        let (mut threads, mut codes) = ([0; packed_column::BLOCK], [0; packed_column::BLOCK]);
        let mut short = [0; packed_column::BLOCK];
        let from = places.start;
        let room = (packed_column::BLOCK - from % packed_column::BLOCK).min(places.len());
        let runs = &self.runs;
        let count = runs.starts.read(from, &mut starts[..room]);
        runs.ends.read(from, &mut ends[..count]);
        runs.threads.read(from, &mut threads[..count]);
        runs.codes.read(from, &mut codes[..count]);
        runs.ready.short.read(from, &mut short[..count]);
        for i in 0..count {
            let ready_ns = runs.ready.decode(from + i, short[i]);
            take(LaneRun {
                start: starts[i],
                end: ends[i],
                thread: threads[i],
                code: StopCode(codes[i]),
                ready_ns: ready_ns.filter(|_| Durations::has_flag(short[i])),
            });
        }
    }

    /// Returns start and end of the runs at the indices `places`, with their indices, read block by block.
    pub fn spans_at(&self, places: Range<usize>) -> impl Iterator<Item = (usize, (u64, u64))> + '_ {
        let starts = self.runs.starts.range(places.clone());
        let spans = starts.zip(self.runs.ends.range(places.clone()));
        places.zip(spans)
    }

    /// Sets, for each run, the part of its ready time in which some capability was idle (the flag marks a pause in
    /// it), and the manager that ended the wait.
    pub(crate) fn set_waits(&mut self, idle: Durations, woken_by: PackedColumn<u8>) {
        self.idle = idle;
        self.woken_by = woken_by;
    }
}

impl Lane for RunLane {
    fn len(&self) -> usize {
        self.count()
    }
    fn span(&self, index: usize) -> (u64, u64) {
        self.span_at(index).unwrap_or_default()
    }
    fn start(&self, index: usize) -> u64 {
        self.runs.starts.get(index).unwrap_or_default()
    }
    fn class(&self, index: usize) -> Class {
        Self::class_of(self.code(index))
    }
    fn times_before_index(&self, index: usize) -> ClassTimes {
        let block = index.saturating_sub(1) / BLOCK * BLOCK;
        let mut few = RunBlock::default();
        few.read(&self.runs, block, index);
        self.index.times_before_index(index, |i| few.get(i - block))
    }
    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        self.index.longest(from, to, |i| {
            let (start, end) = self.span(i);
            end - start
        })
    }
    fn scan_times(&self, from: usize, to: usize) -> ClassTimes {
        let mut few = RunBlock::default();
        few.read(&self.runs, from, to);
        let mut times = ClassTimes::default();
        for (class, duration_ns) in few.all() {
            let time = &mut times[class as usize];
            *time = time.saturating_add(duration_ns);
        }
        times
    }
    fn first_ending_after(&self, time: u64) -> usize {
        self.runs.ends.partition_point(|end| end <= time)
    }
    fn first_starting_at(&self, time: u64) -> usize {
        self.runs.starts.partition_point(|start| start < time)
    }
}

/// Buffer for up to one index block of runs, read at once.
#[derive(Default)]
struct RunBlock {
    count: usize,
    starts: [u64; BLOCK],
    ends: [u64; BLOCK],
    codes: [u8; BLOCK],
}

impl RunBlock {
    /// Reads the runs from index `from`, up to `to` exclusive and at most a block.
    fn read(&mut self, runs: &RunColumns, from: usize, to: usize) {
        let count = to.saturating_sub(from).min(BLOCK);
        runs.starts.read(from, &mut self.starts[..count]);
        runs.ends.read(from, &mut self.ends[..count]);
        self.count = runs.codes.read(from, &mut self.codes[..count]);
    }

    /// Returns the class and duration of a run in nanoseconds.
    fn get(&self, place: usize) -> (Class, u64) {
        let class = RunLane::class_of(StopCode(self.codes[place]));
        (class, self.ends[place] - self.starts[place])
    }

    fn all(&self) -> impl Iterator<Item = (Class, u64)> + '_ {
        (0..self.count).map(|place| self.get(place))
    }
}

/// Lanes of one capability.
#[derive(Clone, Debug)]
pub struct Cap {
    /// Runs of threads.
    pub runs: RunLane,
    /// Collections, as spans from `StartGC` to `EndGC`.
    pub gc: PlainLane,
    /// Phases of its collections, including the waits before them.
    pub phases: PhaseLane,
}

impl Default for Cap {
    fn default() -> Self {
        Self {
            runs: RunLane::default(),
            gc: PlainLane::new(Class::Gc),
            phases: PhaseLane::default(),
        }
    }
}
