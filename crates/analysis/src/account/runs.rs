//! The runs on each capability, in columns.

use rustc_hash::FxHashMap;

use super::phases::PhaseLane;
use model::class::{Class, ClassTimes, StopCode};
use model::lane::{Lane, LaneIndex, PlainLane};

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
}

/// One run of a thread: which lane, and which place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunRef {
    /// The number of the capability whose lane it is on.
    pub lane: u32,
    pub(crate) place: u32,
}

/// Durations with a mark each: four bytes, longer ones in a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    /// Nanoseconds above the mark.
    short: Vec<u32>,
    /// Longer ones, by place.
    longer_ns: FxHashMap<u32, u64>,
}

impl Durations {
    const LONGER: u32 = u32::MAX >> 1;

    pub(crate) fn with_capacity(durations: usize) -> Self {
        Self {
            short: Vec::with_capacity(durations),
            ..Self::default()
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, duration_ns: u64, marked: bool) {
        let short = u32::try_from(duration_ns).unwrap_or(u32::MAX);
        let short = short.min(Self::LONGER);
        if short == Self::LONGER {
            let place = u32::try_from(self.short.len()).unwrap_or(u32::MAX);
            self.longer_ns.insert(place, duration_ns);
        }
        self.short.push(short << 1 | u32::from(marked));
    }

    /// Keeps that one is not known.
    pub(crate) fn push_unknown(&mut self) {
        self.short.push(u32::MAX);
    }

    /// Whether one is marked.
    fn is_marked(&self, place: usize) -> bool {
        self.short.get(place).is_some_and(|short| short & 1 == 1)
    }

    /// One of them, if it is known.
    fn get(&self, place: usize) -> Option<u64> {
        let short = *self.short.get(place)? >> 1;
        if short < Self::LONGER {
            return Some(u64::from(short));
        }
        let place = u32::try_from(place).ok()?;
        self.longer_ns.get(&place).copied()
    }
}

/// The runs on one capability.
#[derive(Clone, Debug)]
pub struct RunLane {
    starts: Vec<u64>,
    ends: Vec<u64>,
    threads: Vec<u32>,
    codes: Vec<StopCode>,
    /// For how long the thread was ready before.
    ready: Durations,
    /// For how much of that some capability stood by, and whether there was a
    /// pause in it; known once the log is read.
    idle: Durations,
    index: LaneIndex<2>,
}

impl Default for RunLane {
    fn default() -> Self {
        Self {
            starts: Vec::new(),
            ends: Vec::new(),
            threads: Vec::new(),
            codes: Vec::new(),
            ready: Durations::default(),
            idle: Durations::default(),
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
        self.starts.push(run.start);
        self.ends.push(run.end);
        self.threads.push(thread);
        self.codes.push(run.code);
        self.ready
            .push(run.ready_ns.unwrap_or(0), run.ready_ns.is_some());
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
        Run {
            start: self.starts[place],
            end: self.ends[place],
            code: self.codes[place],
            ready_ns: self.ready.get(place).filter(|_| self.was_ready(place)),
            idle_ns: self.idle.get(place),
            paused: self.idle.is_marked(place),
        }
    }

    /// Whether the thread of a run was ready before it.
    pub(crate) fn was_ready(&self, place: usize) -> bool {
        self.ready.is_marked(place)
    }

    /// Since when the thread of a run was ready before it.
    pub(crate) fn ready_since(&self, place: usize) -> Option<u64> {
        let ready_ns = self.ready.get(place).filter(|_| self.was_ready(place))?;
        Some(self.starts.get(place)?.saturating_sub(ready_ns))
    }

    /// Learns of each run for how long its thread was ready before it while
    /// some capability stood by, and whether there was a pause in that time.
    pub(crate) fn learn_idle(&mut self, idle: Durations) {
        self.idle = idle;
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
