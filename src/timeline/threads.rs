//! The threads of a log, and each one's life as a lane.
//!
//! A thread's life is its runs, with the reason why each one stopped. The
//! runs stand in the capabilities' lanes; a thread has only the list of its
//! own, so that a span of running and the span of waiting after it cost one
//! run and four bytes.

use serde::{Deserialize, Serialize};

use super::class::{Class, ClassTimes, StopCode};
use super::lane::{BLOCK, Lane, LaneIndex};
use super::store::RunRef;
use super::store::Store;
use crate::analysis::thread_map::ThreadMap;
use crate::ids::{CapId, Nanos, ThreadId};

/// What is known of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) id: ThreadId,
    pub(crate) created: Option<Nanos>,
    pub(crate) finished: bool,
    pub(crate) run_ns: u64,
    pub(crate) runs: u32,
    pub(crate) label: Option<Box<str>>,
    /// Where its runs begin in the list of all.
    pub(crate) first: u32,
}

impl Thread {
    const fn new(id: ThreadId) -> Self {
        Self {
            id,
            created: None,
            finished: false,
            run_ns: 0,
            runs: 0,
            label: None,
            first: 0,
        }
    }
}

/// The threads, by the order in which they were first met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    pub(crate) all: Vec<Thread>,
    /// One more than the index of each thread; 0 for those not met.
    by_id: ThreadMap<u32>,
}

impl Threads {
    /// The index of a thread, which is made if it is new.
    #[inline]
    pub(crate) fn index(&mut self, id: ThreadId) -> u32 {
        let slot = self.by_id.get_mut(id);
        if *slot == 0 {
            self.all.push(Thread::new(id));
            *slot = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        }
        *slot - 1
    }

    pub(crate) fn find(&self, id: ThreadId) -> Option<u32> {
        self.by_id.get(id)?.checked_sub(1)
    }
}

/// A row of the list of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRow {
    /// The thread.
    pub id: ThreadId,
    /// Its label, if the program gave it one.
    pub label: Option<String>,
    /// When it was created.
    pub created: Option<Nanos>,
    /// Whether it finished.
    pub finished: bool,
    /// How long it ran.
    pub run_ns: u64,
    /// How often.
    pub runs: u32,
}

/// Which threads are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadFilter {
    /// Part of the label, or of the number; empty for all.
    pub text: String,
    /// How many at most; the busiest ones first.
    pub limit: usize,
}

/// The life of one thread: waiting and running in turn. Span 0 is the wait
/// before the first run, span `2k + 1` run `k` and span `2k + 2` the wait
/// after it; waits before the creation and after the end are empty.
#[derive(Debug)]
pub struct ThreadLane<'a> {
    store: &'a Store,
    thread: &'a Thread,
    index: Option<&'a LaneIndex>,
    end: u64,
}

impl<'a> ThreadLane<'a> {
    pub(crate) fn new(store: &'a Store, thread: &'a Thread, index: Option<&'a LaneIndex>) -> Self {
        let end = store.end().0;
        Self {
            store,
            thread,
            index,
            end,
        }
    }

    fn run(&self, run: usize) -> RunRef {
        self.store.thread_run(self.thread.first as usize + run)
    }

    fn run_span(&self, run: usize) -> (u64, u64) {
        self.store.run_span(self.run(run))
    }

    fn runs(&self) -> usize {
        self.thread.runs as usize
    }

    /// Why the thread waits in this span; `None` in a run.
    #[must_use]
    pub fn code(&self, index: usize) -> Option<StopCode> {
        if index % 2 == 1 {
            return None;
        }
        Some(match (index / 2).checked_sub(1) {
            None => StopCode::CREATED,
            Some(run) => self.store.run_code(self.run(run)),
        })
    }

    /// The capability of a run; `None` in a wait.
    #[must_use]
    pub fn cap(&self, index: usize) -> Option<CapId> {
        (index % 2 == 1).then(|| self.store.run_cap(self.run(index / 2)))?
    }

    /// The thread that owns the black hole waited for, if that is known.
    #[must_use]
    pub fn owner(&self, index: usize) -> Option<ThreadId> {
        let run = (index / 2)
            .checked_sub(1)
            .filter(|_| index.is_multiple_of(2))?;
        self.store.run_owner(self.run(run))
    }

    fn duration(&self, index: usize) -> u64 {
        let (start, end) = self.span(index);
        end - start
    }
}

impl Lane for ThreadLane<'_> {
    fn len(&self) -> usize {
        if self.runs() == 0 && self.thread.created.is_none() {
            return 0;
        }
        2 * self.runs() + 1
    }

    fn span(&self, index: usize) -> (u64, u64) {
        let run = index / 2;
        if index % 2 == 1 {
            return self.run_span(run);
        }
        let start = match run.checked_sub(1) {
            Some(before) => self.run_span(before).1,
            None => match self.thread.created {
                Some(created) => created.0,
                None => self.run_span(0).0,
            },
        };
        let end = if run < self.runs() {
            self.run_span(run).0
        } else if self.thread.finished {
            start
        } else {
            self.end
        };
        (start, end.max(start))
    }

    fn class(&self, index: usize) -> Class {
        match self.code(index) {
            None => match self.store.run_code(self.run(index / 2)) {
                StopCode::OPEN => Class::Open,
                _ => Class::Running,
            },
            Some(code) => code.class_after(),
        }
    }

    fn before(&self, index: usize) -> ClassTimes {
        let span = |i: usize| (self.class(i), self.duration(i));
        if let Some(lane_index) = self.index {
            return lane_index.before(index, span);
        }
        let mut times = ClassTimes::default();
        for (class, duration) in (0..index).map(span) {
            times[class as usize] += duration;
        }
        times
    }

    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        let duration = |i: usize| self.duration(i);
        match self.index {
            Some(index) => index.longest(from, to, duration),
            None => (from..to).max_by_key(|&i| (duration(i), std::cmp::Reverse(i))),
        }
    }
}

/// Builds the index of a thread whose life is too long to be scanned.
pub(crate) fn index_of(lane: &ThreadLane<'_>) -> Option<LaneIndex> {
    if lane.len() <= 2 * BLOCK {
        return None;
    }
    let mut index = LaneIndex::default();
    for i in 0..lane.len() {
        index.push(lane.class(i), lane.duration(i));
    }
    Some(index)
}
