//! Iteration over the lives of threads: turns in order, the runs of a capability with their threads, and wakeups
//! by capability.

use std::rc::Rc;

use super::instants::InstantKind;
use super::store::Store;
use super::thread_lane::ThreadLane;
use super::turns::Turn;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::StopCode;
use model::lane::{Lane, partition};
use model::time::Interval;

/// A run of a thread on a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOnCap {
    /// Start in nanoseconds.
    pub start_ns: u64,
    /// End in nanoseconds.
    pub end_ns: u64,
    /// Thread that ran.
    pub thread: ThreadId,
    /// Reason why the run ended.
    pub code: StopCode,
    /// Ready time of the thread before the run; `None` if the log does not show that it was ready.
    pub ready_ns: Option<u64>,
}

impl Store {
    /// Returns the lives of all threads in the order of their first events; none until the log has been read to
    /// its end.
    pub fn lives(&self) -> impl Iterator<Item = ThreadLane<'_>> {
        let cursors = Rc::default();
        let lives = self.threads.iter();
        lives.filter_map(move |thread| {
            let life = self.bare_life_with(thread, &cursors)?;
            (!life.is_empty()).then_some(life)
        })
    }

    /// Returns the lives of threads with at least `least` runs, in the same order. In a log with a million threads
    /// most ran only a few times; these are skipped by their run count alone.
    pub fn lives_with_min_runs(&self, least: u32) -> impl Iterator<Item = ThreadLane<'_>> {
        let cursors = Rc::default();
        let counts = self.threads.run_counts();
        let often = counts.filter(move |(_, runs)| *runs >= least);
        let mut reader = self.threads.reader();
        often.filter_map(move |(index, _)| {
            let life = self.bare_life_with((index, reader.get(index)?), &cursors)?;
            (!life.is_empty()).then_some(life)
        })
    }

    /// Returns the number of runs of all threads that ended for a reason in a range.
    pub fn runs_ended_by(&self, code: StopCode, range: Interval) -> usize {
        let lanes = self.lanes.iter();
        lanes.map(|lane| lane.runs.count_of(code, range)).sum()
    }

    /// Returns the runs of a capability that overlap a range, in order, with their indexes on the capability's
    /// lane.
    pub fn runs_overlapping(
        &self,
        cap: CapId,
        range: Interval,
    ) -> impl Iterator<Item = (usize, RunOnCap)> + '_ {
        let runs = self.cap(cap).map(|lane| &lane.runs);
        let (first, end) = runs.map_or((0, 0), |runs| {
            let first = runs.first_ending_after(range.start().0);
            (first, runs.first_starting_at(range.end().0))
        });
        // The block of runs that was read last, and the index of its first.
        let (mut block, mut begin) = (Vec::new(), first);
        (first..end).filter_map(move |place| {
            if place - begin >= block.len() {
                block.clear();
                begin = place;
                runs?.read_places(place..end, &mut block);
            }
            let run = *block.get(place - begin)?;
            let on = RunOnCap {
                start_ns: run.start,
                end_ns: run.end,
                thread: self.thread_id(run.thread)?,
                code: run.code,
                ready_ns: run.ready_ns,
            };
            Some((place, on))
        })
    }

    /// Returns the turn of the thread that contains a run, given by its index on the capability's lane.
    pub fn turn_of_run(&self, cap: CapId, place: usize) -> Option<Turn> {
        let (start, _) = self.cap(cap)?.runs.span_at(place)?;
        let thread = self.cap(cap)?.runs.thread_at(place)?;
        let life = self.bare_life_of(thread, self.threads.get(thread)?)?;
        let number = life.run_of(start, cap)?;
        Some(life.turn(number))
    }

    /// Returns the wakeups logged on a capability in a half-open range, in order.
    pub fn wakeups_on(
        &self,
        cap: CapId,
        range: Interval,
    ) -> impl Iterator<Item = (Nanos, ThreadId)> + '_ {
        self.moments_on(cap, InstantKind::Woken, range)
    }

    /// Returns the thread creations logged on a capability in a half-open range, in order.
    pub fn creations_on(
        &self,
        cap: CapId,
        range: Interval,
    ) -> impl Iterator<Item = (Nanos, ThreadId)> + '_ {
        self.moments_on(cap, InstantKind::ThreadCreated, range)
    }

    fn moments_on(
        &self,
        cap: CapId,
        kind: InstantKind,
        range: Interval,
    ) -> impl Iterator<Item = (Nanos, ThreadId)> + '_ {
        let moments = self.instants.of_kind(cap, kind);
        moments.into_iter().flat_map(move |moments| {
            let places = moments.count_before(range.start().0)..moments.count_before(range.end().0);
            let all = moments.range(places);
            all.filter_map(|(at_ns, thread)| Some((Nanos(at_ns), self.thread_id(thread)?)))
        })
    }
}

impl ThreadLane<'_> {
    /// Returns the ID of the thread.
    pub const fn id(&self) -> ThreadId {
        self.thread().id
    }

    /// Returns the creation time, if it was logged.
    pub fn created(&self) -> Option<Nanos> {
        self.thread().created()
    }

    /// Returns the time span in which the log covers the thread.
    pub fn life(&self) -> Interval {
        let known = (!self.is_empty()).then(|| {
            let end = self.turn(self.runs()).run_span().1;
            Interval::new(Nanos(self.turn(0).blocked_span().0), Nanos(end))
        });
        known.unwrap_or_default()
    }

    /// Returns the lifetime, and the run time in nanoseconds; `None` unless both creation and end were logged.
    /// This does not read the thread's runs.
    pub fn complete_life(&self) -> Option<(Interval, u64)> {
        let thread = self.thread();
        let created = thread.created().filter(|_| thread.finished)?;
        let life = Interval::new(created, Nanos(thread.last_run_end_ns.max(created.0)));
        Some((life, thread.run_ns))
    }

    /// Returns whether the thread finished.
    pub const fn is_finished(&self) -> bool {
        self.thread().finished
    }

    /// Returns the turns that overlap a range, with their numbers.
    pub fn turns_overlapping(&self, range: Interval) -> impl Iterator<Item = (usize, Turn)> {
        // Most threads began in the range: their runs need not be searched.
        let searched = match self.thread().began_ns > range.start().0 {
            true => 0,
            false => self.runs(),
        };
        let first = partition(searched, |run| {
            self.span(super::turns::PARTS * run + 2).1 <= range.start().0
        });
        let all = (first..).zip(self.turns(first..self.runs() + 1));
        all.take_while(move |(_, turn)| turn.blocked_span().0 < range.end().0)
    }
}
