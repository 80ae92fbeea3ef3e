//! The runs on each capability, in columns.

use rustc_hash::FxHashMap;

use super::phases::PhaseLane;
use super::turns::Run;
use eventlog::ids::Nanos;
use model::class::{Class, ClassTimes, StopCode};
use model::lane::{Lane, LaneIndex, PlainLane};
use model::time::Span;

/// One run of a thread: which lane, and which place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunRef {
    /// The number of the capability whose lane it is on.
    pub lane: u32,
    pub(crate) place: u32,
}

/// The runs on one capability.
#[derive(Clone, Debug)]
pub struct RunLane {
    starts: Vec<u64>,
    ends: Vec<u64>,
    threads: Vec<u32>,
    codes: Vec<StopCode>,
    /// For how long the thread was awake before, as far as 32 bits hold it.
    awake_ns: Vec<u32>,
    /// For longer ones, by place.
    awake_longer_ns: FxHashMap<u32, u64>,
    index: LaneIndex<2>,
}

impl Default for RunLane {
    fn default() -> Self {
        Self {
            starts: Vec::new(),
            ends: Vec::new(),
            threads: Vec::new(),
            codes: Vec::new(),
            awake_ns: Vec::new(),
            awake_longer_ns: FxHashMap::default(),
            index: LaneIndex::new([Class::Running, Class::Open]),
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

    /// Appends a run of the thread of that index; it must not begin before
    /// the last one's end.
    pub(crate) fn push(&mut self, thread: u32, run: Run) {
        let awake_ns = u32::try_from(run.awake_ns).unwrap_or(u32::MAX);
        if awake_ns == u32::MAX {
            let place = u32::try_from(self.starts.len()).unwrap_or(u32::MAX);
            self.awake_longer_ns.insert(place, run.awake_ns);
        }
        self.starts.push(run.start);
        self.ends.push(run.end);
        self.threads.push(thread);
        self.codes.push(run.code);
        self.awake_ns.push(awake_ns);
        self.index
            .push(Self::class_of(run.code), run.end - run.start);
    }

    /// When the last run ended; 0 if there is none.
    pub(crate) fn last_end(&self) -> u64 {
        self.ends.last().copied().unwrap_or_default()
    }

    /// When a run begins and ends, if there are so many.
    pub fn span_at(&self, place: usize) -> Option<(u64, u64)> {
        Some((*self.starts.get(place)?, *self.ends.get(place)?))
    }

    /// The index of the thread of a run, if there are so many.
    pub(crate) fn thread_at(&self, place: usize) -> Option<u32> {
        self.threads.get(place).copied()
    }

    /// Why a run ended, if there are so many.
    pub(crate) fn code_at(&self, place: usize) -> Option<StopCode> {
        self.codes.get(place).copied()
    }

    /// The run that goes on at a time. `place` is where the last question
    /// ended.
    pub fn at(&self, time: u64, place: &mut usize) -> Option<usize> {
        /// So many runs are stepped over before a search is faster.
        const STEPS: usize = 16;
        let ended = |at: usize| self.ends.get(at).is_some_and(|&end| end <= time);
        let mut at = (*place).min(self.len());
        let steps = (0..STEPS).take_while(|i| ended(at + i)).count();
        at += steps;
        if steps == STEPS || (at > 0 && !ended(at - 1)) {
            at = self.ends.partition_point(|&end| end <= time);
        }
        *place = at;
        (*self.starts.get(at)? <= time).then_some(at)
    }

    /// All that is kept of a run.
    pub(crate) fn run(&self, place: usize) -> Run {
        let mut awake_ns = u64::from(self.awake_ns[place]);
        if awake_ns == u64::from(u32::MAX) {
            let longer = u32::try_from(place).ok();
            let longer = longer.and_then(|place| self.awake_longer_ns.get(&place));
            awake_ns = longer.copied().unwrap_or(awake_ns);
        }
        Run {
            start: self.starts[place],
            end: self.ends[place],
            code: self.codes[place],
            awake_ns,
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
    /// The same collections in their phases, with the waits before them.
    pub phases: PhaseLane,
    /// Where runs and collections overlap: a sound log has hardly any of that.
    pub(crate) overlap: PlainLane,
}

impl Default for Cap {
    fn default() -> Self {
        Self {
            runs: RunLane::default(),
            gc: PlainLane::new(Class::Gc),
            phases: PhaseLane::default(),
            overlap: PlainLane::new(Class::Gc),
        }
    }
}

/// Where two lanes overlap.
pub(crate) fn overlap(runs: &RunLane, gc: &PlainLane) -> PlainLane {
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
