//! List of the threads of a log, and the life of each as a lane.
//!
//! A thread's life consists of its runs, with the reason why each stopped, and for how long the thread was awake
//! before each. Runs are stored on the lanes of capabilities; a thread only has a list of references to them, so
//! that a run and the wait before it take a single entry.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::flow::WakeEvent;
use super::store::{LanePositions, ReadCursors, Store};
use super::threads::{NEVER_NS, Thread};
use super::turns::{PARTS, RangeTurnSums, ReadyAtEnd, Turn, TurnIndex, TurnSums};
use crate::account::runs::{Run, RunRef};
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::class::{Class, ClassTimes, ManagerThread, StopCode};
use model::lane::{Lane, partition};
use model::time::Interval;

/// Row of the list of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadListRow {
    /// ID of the thread.
    pub id: ThreadId,
    /// Label, if the program set one.
    pub label: Option<String>,
    /// Creation time, if it was logged.
    pub created: Option<Nanos>,
    /// Whether the thread finished.
    pub finished: bool,
    /// Run time in nanoseconds.
    pub run_ns: u64,
    /// Number of runs.
    pub runs: u32,
}

/// Order of the list of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ThreadOrder {
    /// By run time, longest first.
    #[default]
    Activity,
    /// By the start of the first run.
    FirstRun,
    /// By thread ID.
    Id,
    /// By label; threads without one come last.
    Label,
}

/// Filter of the list of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadListQuery {
    /// Part of the label, or the thread ID; empty for all threads.
    pub text: String,
    /// Order of the rows.
    pub order: ThreadOrder,
    /// Maximum number of rows.
    pub limit: usize,
}

/// Life of one thread in turns of three spans: span `3k` is the block before run `k`, span `3k + 1` the wait for a
/// capability after it, and span `3k + 2` the run. Any of them may be empty, such as the block after a yield, or
/// waits after the end.
#[derive(Debug)]
pub struct ThreadLane<'a> {
    store: &'a Store,
    /// Index of the thread.
    place: u32,
    thread: Thread,
    index: Option<Arc<TurnIndex>>,
    cursors: Rc<RefCell<ReadCursors>>,
}

impl<'a> ThreadLane<'a> {
    pub(crate) fn new(
        store: &'a Store,
        (place, thread): (u32, Thread),
        index: Option<Arc<TurnIndex>>,
    ) -> Self {
        Self {
            store,
            place,
            thread,
            index,
            cursors: Rc::default(),
        }
    }

    /// Creates a life without an index that shares the read cursors of other threads' lanes from the start.
    pub(super) fn sharing(
        store: &'a Store,
        (place, thread): (u32, Thread),
        cursors: &Rc<RefCell<ReadCursors>>,
    ) -> Self {
        Self {
            store,
            place,
            thread,
            index: None,
            cursors: Rc::clone(cursors),
        }
    }

    /// Shares the read cursors of other threads' lanes.
    pub(crate) fn with_cursors(self, cursors: &Rc<RefCell<ReadCursors>>) -> Self {
        let cursors = Rc::clone(cursors);
        Self { cursors, ..self }
    }

    /// Returns the number of the thread among all threads of the log, which are numbered from 0 in the order in which
    /// they appear.
    pub const fn place(&self) -> u32 {
        self.place
    }

    pub(crate) const fn thread(&self) -> &Thread {
        &self.thread
    }

    fn run(&self, run: usize) -> RunRef {
        self.store.thread_run(self.thread.first_run as usize + run)
    }

    fn read_run(&self, run: usize) -> Run {
        let place = self.thread.first_run as usize + run;
        self.store.read_run(place, &mut self.cursors.borrow_mut())
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.thread.runs as usize
    }

    /// Returns turns in order. The last turn has no run, and its number is the number of runs.
    ///
    /// Ranges beyond the last turn are clipped, as a page may request turns of another log.
    pub(crate) fn turns(&self, turns: Range<usize>) -> impl Iterator<Item = Turn> {
        let turns = turns.start.min(self.runs())..turns.end.min(self.runs() + 1);
        let before = turns.start.checked_sub(1);
        let (mut last_stop, mut from) =
            before.map_or((StopCode::CREATED, self.thread.began_ns), |run| {
                let run = self.read_run(run);
                (run.code, run.end)
            });
        turns.map(move |turn| {
            if turn >= self.runs() {
                return self.last_turn(from);
            }
            let run = self.read_run(turn);
            let turn = Turn::new(last_stop, from, run, self.store.account());
            (last_stop, from) = (run.code, run.end);
            turn
        })
    }

    fn last_turn(&self, from: u64) -> Turn {
        let last_stop = self.thread.last_stop;
        if self.thread.finished {
            return Turn::last(last_stop, from, None, (from, from), ReadyAtEnd::default());
        }
        let woken = self.store.woken_at_end(self.thread.id);
        let ready = Turn::ready_since(last_stop, from, woken);
        let ends = (self.store.known_end(&self.thread), self.store.end().0);
        Turn::last(
            last_stop,
            from,
            ready,
            ends,
            self.store.ready_at_end(&self.thread),
        )
    }

    /// Returns one turn: its waits and the run after them.
    pub fn turn(&self, turn: usize) -> Turn {
        let mut turns = self.turns(turn..turn + 1);
        let none = || self.last_turn(self.thread.last_run_end_ns);
        turns.next().unwrap_or_else(none)
    }

    /// Returns the sorted indexes of the empty runs that only represent further stops.
    pub(super) fn repeated_stops(&self) -> &[u32] {
        let index = self.store.threads.find(self.thread.id);
        let stops = index.and_then(|index| self.store.repeated_stops.get(&index));
        stops.map_or(&[], Vec::as_slice)
    }

    /// Returns the event that ended the block in a turn, if it is known.
    pub(super) fn wake_event(&self, turn: &Turn) -> Option<WakeEvent> {
        self.store.wake_event(self.thread.id, turn)
    }

    /// Returns why the thread waits in a span, whether blocked or ready; `None` in a run.
    pub fn code(&self, index: usize) -> Option<StopCode> {
        if index % PARTS == 2 {
            return None;
        }
        Some(match (index / PARTS).checked_sub(1) {
            None => StopCode::CREATED,
            Some(run) if run < self.runs() => self.store.run_code(self.run(run)),
            Some(_) => return None,
        })
    }

    /// Returns the manager thread that ended the wait of a span, if one did; `None` in a run.
    pub fn woken_by(&self, index: usize) -> Option<ManagerThread> {
        let turn = (index % PARTS != 2).then(|| self.turn(index / PARTS))?;
        turn.woken_by
    }

    fn is_run(&self, index: usize) -> bool {
        index % PARTS == 2 && index / PARTS < self.runs()
    }

    /// Returns the capability of a run; `None` in a wait.
    pub fn cap(&self, index: usize) -> Option<CapId> {
        self.is_run(index)
            .then(|| self.store.run_cap(self.run(index / PARTS)))?
    }

    /// Returns the owner of the black hole waited for, if it is known.
    pub fn owner(&self, index: usize) -> Option<ThreadId> {
        let run = (index / PARTS)
            .checked_sub(1)
            .filter(|&run| index % PARTS != 2 && run < self.runs())?;
        self.store.run_owner(self.run(run))
    }

    /// Returns the length of the other part of the same wait in nanoseconds: the wait for a capability after a
    /// block, or the block before it; 0 for a run.
    pub fn other_wait_ns(&self, index: usize) -> u64 {
        match index % PARTS {
            0 => self.turn(index / PARTS).runnable_ns(),
            1 => self.turn(index / PARTS).blocked_ns(),
            _ => 0,
        }
    }

    /// Returns the capability of a run, and its index on the capability's lane; `None` for a wait.
    pub fn run_index(&self, index: usize) -> Option<(Option<CapId>, usize)> {
        let run = self.is_run(index).then(|| self.run(index / PARTS))?;
        Some((self.store.run_cap(run), run.place as usize))
    }

    /// Returns the number of the first run that starts at a time or later.
    pub fn first_run_from(&self, start: u64) -> usize {
        partition(self.runs(), |run| {
            self.store.run_span(self.run(run)).0 < start
        })
    }

    /// Returns the number of the run that starts at this time on this capability. If there are several, it is the
    /// last: the others are empty.
    pub fn run_of(&self, start: u64, cap: CapId) -> Option<usize> {
        let first = self.first_run_from(start);
        let here = (first..self.runs()).take_while(|&run| {
            let run = self.run(run);
            self.store.run_span(run).0 == start
        });
        here.filter(|&run| self.store.run_cap(self.run(run)) == Some(cap))
            .last()
    }

    /// Returns the runs that end between two times, given by their positions.
    pub(crate) fn runs_in(&self, from: &LanePositions, to: &LanePositions) -> Range<usize> {
        let before = |positions| self.store.runs_before(&self.thread, positions);
        before(from)..before(to)
    }

    /// Returns the sums of the thread's turns between two times, given by their positions.
    pub(crate) fn turn_sums_in(&self, from: &LanePositions, to: &LanePositions) -> RangeTurnSums {
        let mut all = RangeTurnSums::default();
        if self.is_empty() {
            return all;
        }
        let range = from.time_ns..to.time_ns;
        let account = self.store.account();
        // The first and the last turn may extend beyond the range.
        let Range {
            start: first,
            end: last,
        } = self.runs_in(from, to);
        let Some((index, blocks)) = self.whole_blocks(first + 1..last, 1) else {
            self.turns(first..last + 1)
                .for_each(|turn| all.add(&turn, &range, |from, to| account.ready_parts(from, to)));
            return all;
        };
        let inside = index.block() * blocks.start..index.block() * blocks.end;
        all = index.blocks(blocks);
        let edges = [first..inside.start, inside.end..last + 1];
        for turn in edges.into_iter().flat_map(|edge| self.turns(edge)) {
            all.add(&turn, &range, |from, to| account.ready_parts(from, to));
        }
        all
    }

    /// [`turn_sums_in`](Self::turn_sums_in) without an index, passing each turn that overlaps the range to `visit`, with
    /// its number. None if a turn that counts does not overlap the range, as one that begins at its end.
    pub(crate) fn turn_sums_visiting(
        &self,
        (from, to): (&LanePositions, &LanePositions),
        visit: &mut dyn FnMut(usize, &Turn),
    ) -> Option<RangeTurnSums> {
        let mut all = RangeTurnSums::default();
        let range = from.time_ns..to.time_ns;
        let account = self.store.account();
        let Range {
            start: mut next,
            end: last,
        } = self.runs_in(from, to);
        let overlapping = Interval::new(Nanos(range.start), Nanos(range.end));
        for (number, turn) in self.turns_overlapping(overlapping) {
            visit(number, &turn);
            if number == next && number <= last {
                all.add(&turn, &range, |from, to| account.ready_parts(from, to));
                next += 1;
            }
        }
        (next > last).then_some(all)
    }

    /// Returns whether sums need all turns, as there is no index.
    pub(crate) fn has_no_index(&self) -> bool {
        self.index.is_none()
    }

    /// Returns the complete index blocks in a range of items, with `per_turn` items per turn; `None` if there are
    /// none.
    pub(super) fn whole_blocks(
        &self,
        inside: Range<usize>,
        per_turn: usize,
    ) -> Option<(&TurnIndex, Range<usize>)> {
        let index = self.index.as_deref()?;
        let block = index.block() * per_turn;
        let blocks = inside.start.div_ceil(block)..inside.end / block;
        (blocks.start < blocks.end).then_some((index, blocks))
    }

    /// Returns the sums of all turns before a turn.
    fn sums_before(&self, turn: usize) -> TurnSums {
        let (known, mut sums) = match &self.index {
            Some(index) => index.before(turn),
            None => (0, TurnSums::default()),
        };
        for turn in self.turns(known..turn) {
            sums.add(&turn);
        }
        sums
    }

    /// Returns the longest span, the first one of equal length, by reading each.
    fn longest_of(&self, from: usize, to: usize) -> Option<usize> {
        let mut longest = None;
        for (turn, i) in self
            .turns(from / PARTS..to.div_ceil(PARTS))
            .zip(from / PARTS..)
        {
            for part in 0..PARTS {
                let (span, duration) = (PARTS * i + part, turn.duration(part));
                let longer = longest.is_none_or(|(_, longest)| duration > longest);
                if (from..to).contains(&span) && longer {
                    longest = Some((span, duration));
                }
            }
        }
        longest.map(|(span, _)| span)
    }
}

impl Lane for ThreadLane<'_> {
    fn len(&self) -> usize {
        if self.thread.began_ns == NEVER_NS {
            return 0;
        }
        PARTS * self.runs() + PARTS
    }

    fn span(&self, index: usize) -> (u64, u64) {
        if index % PARTS == 2 && index / PARTS < self.runs() {
            return self.store.run_span(self.run(index / PARTS));
        }
        self.turn(index / PARTS).part(index % PARTS)
    }

    fn class(&self, index: usize) -> Class {
        self.turn(index / PARTS).class(index % PARTS)
    }

    fn times_before_index(&self, index: usize) -> ClassTimes {
        let mut sums = self.sums_before(index / PARTS);
        if !index.is_multiple_of(PARTS) {
            let turn = self.turn(index / PARTS);
            sums.add(&turn.first_parts(index % PARTS));
        }
        sums.by_class()
    }

    /// Ready time consists of several classes, which a single span does not show.
    fn times_between(&self, from: usize, to: usize) -> ClassTimes {
        let (before, mut times) = (self.times_before_index(from), self.times_before_index(to));
        for (time, before) in times.iter_mut().zip(before) {
            *time = time.saturating_sub(before);
        }
        times
    }

    fn time_before(&self, time: u64) -> ClassTimes {
        let index = self.first_ending_after(time);
        if index >= self.len() {
            return self.times_before_index(index);
        }
        let mut sums = self.sums_before(index / PARTS);
        let (turn, account) = (self.turn(index / PARTS), self.store.account());
        sums.add(&turn.clipped(&(0..time), |from, to| account.ready_parts(from, to)));
        sums.by_class()
    }

    fn longest(&self, from: usize, to: usize) -> Option<usize> {
        let Some((index, blocks)) = self.whole_blocks(from..to, PARTS) else {
            return self.longest_of(from, to);
        };
        let spans = PARTS * index.block();
        let (first, last) = (blocks.start * spans, blocks.end * spans);
        let longest = index.longest(blocks);
        let candidates = [
            self.longest_of(from, first),
            longest.map(|longest| longest.index as usize),
            self.longest_of(last, to),
        ];
        let duration = |i: usize| self.turn(i / PARTS).duration(i % PARTS);
        let candidates = candidates.into_iter().flatten();
        candidates.max_by_key(|&i| (duration(i), std::cmp::Reverse(i)))
    }

    /// A merged mark shows only the shares of time.
    fn representative(&self, _: usize, _: usize) -> Option<usize> {
        None
    }

    fn search_bounds(&self, time: u64) -> Range<usize> {
        let Some(index) = &self.index else {
            return 0..self.len();
        };
        let (first, end) = index.near(time);
        PARTS * first..end.map_or(self.len(), |end| PARTS * end)
    }

    fn approx_first_of_bucket(&self, time: u64, bucket_ns: u64) -> Option<usize> {
        /// Minimum number of blocks: with fewer, one block more or less would be visible.
        const MANY: usize = 4;
        let index = self.index.as_ref()?;
        let (block, begin) = index.first_block_from(time)?;
        let (first, _) = index.first_block_from(time.checked_sub(bucket_ns)?)?;
        let is_near = begin - time <= bucket_ns / MANY as u64;
        // A block may start before the bucket and end in it.
        let blocks = first.saturating_sub(1)..block;
        let are_many = first + MANY <= block;
        let longest = index.longest(blocks)?.duration_ns;
        (is_near && are_many && longest < bucket_ns).then_some(PARTS * index.block() * block)
    }

    /// Counts runs, as the waits between them may consist of one part or two.
    fn count(&self, from: usize, to: usize) -> usize {
        let runs_before = |index: usize| (index / PARTS).min(self.runs());
        runs_before(to) - runs_before(from)
    }
}
