//! The runs on each capability, in columns.

use serde::{Deserialize, Serialize};

use super::phases::PhaseLane;
use eventlog::hash::SeededMap;
use model::class::{Class, ClassTimes, ManagerThread, StopCode};
use model::columns::Column;
use model::lane::{BLOCK, Lane, LaneIndex, PlainLane};
use model::pages::{self, Looked, Pages};
use model::place::place32;
use model::shelf::Shelf;

/// One run of a thread, as it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Why it ended.
    pub code: StopCode,
    /// For how long the thread was ready before; `None` if it was not.
    pub(crate) ready_ns: Option<u64>,
    /// For how much of that, outside of pauses, some capability stood by; `None`
    /// if that must be looked up, as where times go back.
    pub(crate) idle_ns: Option<u64>,
    /// Whether a collection went on in it, or was being stopped for.
    pub(crate) paused: bool,
    /// The manager that ended the thread's wait before the run, if one did.
    pub(crate) woken_by: Option<ManagerThread>,
}

/// One run of a thread: which lane, and which place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunRef {
    /// The number of the capability whose lane it is on.
    pub lane: u32,
    pub(crate) place: u32,
}

/// A run, as a walk through all of them needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NextRun {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Since when its thread was ready before it, if it was.
    pub(crate) ready_since: u64,
    /// The index of the thread.
    pub(crate) thread: u32,
    /// Whether the thread was ready before.
    pub(crate) was_ready: bool,
    /// Whether it stays ready.
    pub(crate) stays_ready: bool,
}

/// Durations with a mark each: four bytes, longer ones in a map.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Durations {
    /// Nanoseconds above the mark.
    #[serde(skip)]
    short: Pages<u32>,
    /// Longer ones, by place.
    longer_ns: SeededMap<u32, u64>,
}

impl Durations {
    const LONGER: u32 = u32::MAX >> 1;
    const UNKNOWN: u32 = u32::MAX;

    /// One with its mark as it is kept, at the place behind the last one.
    #[inline]
    fn shorten(&mut self, place: usize, duration_ns: u64, marked: bool) -> u32 {
        let short = u32::try_from(duration_ns).unwrap_or(u32::MAX);
        let short = short.min(Self::LONGER);
        if short == Self::LONGER {
            let place = place32(place);
            self.longer_ns.insert(place, duration_ns);
        }
        short << 1 | u32::from(marked)
    }

    #[inline]
    fn push(&mut self, duration_ns: u64, marked: bool) {
        let short = self.shorten(self.short.len(), duration_ns, marked);
        self.short.push(short);
    }

    /// Appends one that stays as it is; none is not known.
    #[inline]
    pub(crate) fn put(&mut self, duration: Option<(u64, bool)>, shelf: &Shelf) {
        let short = duration.map_or(Self::UNKNOWN, |(duration_ns, marked)| {
            self.shorten(self.short.len(), duration_ns, marked)
        });
        self.short.put(short, shelf);
    }

    /// Changes one of those that were pushed.
    fn set(&mut self, place: usize, duration_ns: u64, marked: bool) {
        if let Ok(place) = u32::try_from(place) {
            self.longer_ns.remove(&place);
        }
        let short = self.shorten(place, duration_ns, marked);
        if let Some(slot) = self.short.unpacked_mut().get_mut(place) {
            *slot = short;
        }
    }

    fn append(&mut self, later: &Self, shelf: &Shelf) {
        let first = place32(self.short.len());
        self.short.extend_from_slice(later.short.unpacked(), shelf);
        let longer = later.longer_ns.iter();
        let longer = longer.map(|(place, &longer)| (place.saturating_add(first), longer));
        self.longer_ns.extend(longer);
    }

    const fn has_mark(short: u32) -> bool {
        short & 1 == 1
    }

    /// One of them, if it is known, and whether it is marked.
    fn look(&self, place: usize, looked: &mut Looked) -> (Option<u64>, bool) {
        let short = self.short.look(place, looked);
        let known = short.and_then(|short| self.lengthen(place, short));
        (known, short.is_some_and(Self::has_mark))
    }

    /// The one at a place, of how it is kept, if it is known.
    #[inline]
    fn lengthen(&self, place: usize, short: u32) -> Option<u64> {
        let short = short >> 1;
        if short < Self::LONGER {
            return Some(u64::from(short));
        }
        let place = u32::try_from(place).ok()?;
        self.longer_ns.get(&place).copied()
    }
}

/// Where somebody looked last at the runs of one lane.
#[derive(Debug, Default)]
pub(crate) struct LookedAt {
    starts: Looked,
    ends: Looked,
    codes: Looked,
    ready: Looked,
    idle: Looked,
    woken_by: Looked,
}

/// The runs on one capability, each in so many lists.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunColumns {
    #[serde(skip)]
    starts: Pages<u64>,
    #[serde(skip)]
    ends: Pages<u64>,
    #[serde(skip)]
    threads: Pages<u32>,
    /// [`StopCode`]s.
    #[serde(skip)]
    codes: Pages<u8>,
    /// For how long the thread was ready before.
    ready: Durations,
}

impl RunColumns {
    /// Shows each long list of numbers, always in the same order, as long as no others
    /// were appended.
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        see(self.starts.unpacked_mut().into());
        see(self.ends.unpacked_mut().into());
        see(self.threads.unpacked_mut().into());
        see(self.codes.unpacked_mut().into());
        see(self.ready.short.unpacked_mut().into());
    }

    /// When the first run began.
    pub(crate) fn first_start(&self) -> Option<u64> {
        self.start(0)
    }

    /// When a run began, if there are so many.
    pub(crate) fn start(&self, place: usize) -> Option<u64> {
        self.starts.get(place)
    }

    /// Learns for how long the thread of a run was ready before it.
    pub(crate) fn set_ready(&mut self, place: usize, ready_ns: Option<u64>) {
        let ready = (ready_ns.unwrap_or(0), ready_ns.is_some());
        self.ready.set(place, ready.0, ready.1);
    }
}

/// The runs on one capability.
#[derive(Clone, Debug)]
pub struct RunLane {
    runs: RunColumns,
    /// For how much of the time that a run's thread was ready before some capability
    /// stood by, and whether there was a pause in it; known once the log is read.
    idle: Durations,
    /// The numbers of the managers that ended the waits before the runs; 0 is none. Known
    /// once the log is read, and empty without managers.
    woken_by: Pages<u8>,
    /// Of the runs that [`append`](Self::append) added, and those before them.
    index: LaneIndex<2>,
    /// No run begins before this.
    after_ns: u64,
}

impl Default for RunLane {
    fn default() -> Self {
        Self {
            runs: RunColumns::default(),
            idle: Durations::default(),
            woken_by: Pages::new(),
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

    /// A lane whose runs begin behind those of another.
    pub(crate) fn begin_after(&mut self, end_ns: u64) {
        self.after_ns = end_ns;
    }

    /// Appends a run of the thread of that index; it must not begin before
    /// the last one's end. [`settle`](Self::settle) lets it be found.
    pub(crate) fn push(&mut self, thread: u32, run: Run) {
        self.runs.starts.push(run.start);
        self.runs.ends.push(run.end);
        self.runs.threads.push(thread);
        self.runs.codes.push(run.code.0);
        let ready = (run.ready_ns.unwrap_or(0), run.ready_ns.is_some());
        self.runs.ready.push(ready.0, ready.1);
    }

    /// Appends later runs; a thread's index is that of `thread`.
    pub(crate) fn append(
        &mut self,
        later: &RunColumns,
        thread: impl Fn(u32) -> u32,
        shelf: &Shelf,
    ) {
        let runs = &mut self.runs;
        runs.starts
            .extend_from_slice(later.starts.unpacked(), shelf);
        runs.ends.extend_from_slice(later.ends.unpacked(), shelf);
        let threads = later.threads.unpacked().iter();
        runs.threads.extend(threads.map(|&one| thread(one)), shelf);
        runs.codes.extend_from_slice(later.codes.unpacked(), shelf);
        self.runs.ready.append(&later.ready, shelf);
        self.settle();
    }

    /// Lets all runs be found.
    pub(crate) fn settle(&mut self) {
        let mut few = Few::default();
        while self.index.len() < self.count() {
            few.read(&self.runs, self.index.len(), self.count());
            for (class, duration_ns) in few.all() {
                self.index.push(class, duration_ns);
            }
        }
    }

    /// What is kept of the runs, without what finds them.
    pub(crate) fn into_columns(self) -> RunColumns {
        self.runs
    }

    /// How many runs there are.
    pub(crate) fn count(&self) -> usize {
        self.runs.starts.len()
    }

    /// When the last run ended; 0 if there is none.
    pub(crate) fn last_end(&self) -> u64 {
        self.runs.ends.last().unwrap_or(self.after_ns)
    }

    /// When a run begins and ends, if there are so many.
    pub fn span_at(&self, place: usize) -> Option<(u64, u64)> {
        Some((self.runs.starts.get(place)?, self.runs.ends.get(place)?))
    }

    /// The index of the thread of a run, if there are so many.
    pub(crate) fn thread_at(&self, place: usize) -> Option<u32> {
        self.runs.threads.get(place)
    }

    /// Why a run ended, if there are so many.
    pub(crate) fn code_at(&self, place: usize) -> Option<StopCode> {
        self.runs.codes.get(place).map(StopCode)
    }

    /// How many runs ended for a reason.
    pub(crate) fn count_of(&self, code: StopCode) -> usize {
        self.runs.codes.iter().filter(|one| *one == code.0).count()
    }

    fn code(&self, place: usize) -> StopCode {
        self.code_at(place).unwrap_or(StopCode::OPEN)
    }

    /// The run that goes on at a time. `place` is where the last question
    /// ended.
    pub fn at(&self, time: u64, place: &mut usize) -> Option<usize> {
        /// So many runs are stepped over before a search is faster.
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

    /// All that is kept of a run.
    pub(crate) fn run(&self, place: usize, looked: &mut LookedAt) -> Run {
        let runs = &self.runs;
        let start = runs.starts.look(place, &mut looked.starts);
        let end = runs.ends.look(place, &mut looked.ends);
        let code = runs.codes.look(place, &mut looked.codes);
        let (ready_ns, was_ready) = runs.ready.look(place, &mut looked.ready);
        let (idle_ns, paused) = self.idle.look(place, &mut looked.idle);
        let woken_by = self.woken_by.look(place, &mut looked.woken_by);
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

    /// Appends to `next` the runs from a place on, some of them at once: to the end of
    /// their block. Nothing if there are no more.
    pub(crate) fn read(&self, from: usize, next: &mut Vec<NextRun>) {
        let (mut starts, mut ends) = ([0; pages::BLOCK], [0; pages::BLOCK]);
        let (mut threads, mut codes) = ([0; pages::BLOCK], [0; pages::BLOCK]);
        let mut short = [0; pages::BLOCK];
        let room = pages::BLOCK - from % pages::BLOCK;
        let runs = &self.runs;
        let count = runs.starts.read(from, &mut starts[..room]);
        runs.ends.read(from, &mut ends[..count]);
        runs.threads.read(from, &mut threads[..count]);
        runs.codes.read(from, &mut codes[..count]);
        runs.ready.short.read(from, &mut short[..count]);
        next.extend((0..count).map(|i| {
            let ready_ns = runs.ready.lengthen(from + i, short[i]);
            NextRun {
                start: starts[i],
                end: ends[i],
                ready_since: starts[i].saturating_sub(ready_ns.unwrap_or_default()),
                thread: threads[i],
                was_ready: Durations::has_mark(short[i]),
                stays_ready: StopCode(codes[i]).stays_ready(),
            }
        }));
    }

    /// Learns of each run for how long its thread was ready before it while
    /// some capability stood by, whether there was a pause in that time, and which manager
    /// made it ready.
    pub(crate) fn learn_waits(&mut self, idle: Durations, woken_by: Pages<u8>) {
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
    fn before(&self, index: usize) -> ClassTimes {
        let block = index.saturating_sub(1) / BLOCK * BLOCK;
        let mut few = Few::default();
        few.read(&self.runs, block, index);
        self.index.before(index, |i| few.get(i - block))
    }
    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        self.index.longest(from, to, |i| {
            let (start, end) = self.span(i);
            end - start
        })
    }
    fn few(&self, from: usize, to: usize) -> ClassTimes {
        let mut few = Few::default();
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

/// As many runs as share an entry of an index, or fewer, read at once.
#[derive(Default)]
struct Few {
    count: usize,
    starts: [u64; BLOCK],
    ends: [u64; BLOCK],
    codes: [u8; BLOCK],
}

impl Few {
    /// Reads the runs from a place on, before another.
    fn read(&mut self, runs: &RunColumns, from: usize, to: usize) {
        let count = to.saturating_sub(from).min(BLOCK);
        runs.starts.read(from, &mut self.starts[..count]);
        runs.ends.read(from, &mut self.ends[..count]);
        self.count = runs.codes.read(from, &mut self.codes[..count]);
    }

    /// What one of them is, and how long it lasted, in nanoseconds.
    fn get(&self, place: usize) -> (Class, u64) {
        let class = RunLane::class_of(StopCode(self.codes[place]));
        (class, self.ends[place] - self.starts[place])
    }

    fn all(&self) -> impl Iterator<Item = (Class, u64)> + '_ {
        (0..self.count).map(|place| self.get(place))
    }
}

/// One capability.
#[derive(Clone, Debug)]
pub struct Cap {
    /// What it ran.
    pub runs: RunLane,
    /// When it collected garbage.
    pub gc: PlainLane,
    /// The phases of its collections, with the waits before them.
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
