//! A thread's life in turns. In each turn the thread first is blocked, then waits for a capability, then runs.
//! Sums over any range of turns come from an index with an entry per block of at least 32 turns.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::waits::WaitSums;
use crate::account::runs::Run;
use crate::account::{ReadyParts, TimeAttribution};
use eventlog::ids::Nanos;
use model::class::{Class, ClassTimes, ManagerThread, StopCode, WAIT_REASONS, WaitReason};
use model::forest::{Aggregate, Forest, Longest};
use model::lane::BLOCK;
use model::saturating::saturating_u32;
use model::time::Interval;

/// Number of spans of a turn: blocked, ready, running. Any may be empty. In the last turn of a thread, time not
/// covered by the log takes the place of the run.
pub const PARTS: usize = 3;

/// Last wait of a thread that was ready when the log ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadyAtEnd {
    /// Division of its ready time.
    pub(crate) parts: ReadyParts,
    /// Manager thread that woke it, if one did.
    pub(crate) woken_by: Option<ManagerThread>,
}

/// One turn of a thread's life: a wait and the run after it.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Reason why the thread had stopped.
    pub last_stop: StopCode,
    /// Start of the wait.
    pub(super) from: u64,
    /// Time at which the thread became ready; the rest of the wait is for a capability.
    pub(super) ready: u64,
    /// Start of the run.
    pub(super) start: u64,
    /// End of the run.
    pub(super) end: u64,
    /// Reason why the run ended; `None` in the last turn, which has no run.
    pub code: Option<StopCode>,
    /// Division of the ready time.
    pub(crate) ready_parts: ReadyParts,
    /// Manager thread that ended the block, if one did.
    pub woken_by: Option<ManagerThread>,
}

impl Turn {
    /// Creates the turn that ends with `run`.
    pub(crate) fn new(
        last_stop: StopCode,
        from: u64,
        run: Run,
        account: TimeAttribution<'_>,
    ) -> Self {
        let start = run.start.max(from);
        let stored_ready_ns = start - run.ready_ns.unwrap_or(0).min(start - from);
        // Of several stops at one time, which only damaged logs have, the stored ready time may be that of another
        // one.
        let ready = match last_stop.wait_reason() {
            None => from,
            Some(WaitReason::ForeignCall) => start,
            Some(_) => stored_ready_ns,
        };
        let ready_parts = match run.idle_ns {
            Some(idle_ns) if ready == stored_ready_ns => ReadyParts {
                paused_ns: if run.paused {
                    account.pauses().paused_in_ns(ready, start)
                } else {
                    0
                },
                idle_ns,
            },
            _ => account.ready_parts(ready, start),
        };
        Self {
            last_stop,
            from,
            ready,
            start,
            end: run.end.max(start),
            code: Some(run.code),
            ready_parts,
            woken_by: run.woken_by,
        }
    }

    /// Creates the last turn: a wait up to `end`, which the log covers up to `known`. `ready` is the time at which
    /// the thread became ready.
    pub(crate) fn last(
        last_stop: StopCode,
        from: u64,
        ready: Option<u64>,
        (known, end): (u64, u64),
        ready_at_end: ReadyAtEnd,
    ) -> Self {
        let known = known.max(from);
        Self {
            last_stop,
            from,
            ready: ready.unwrap_or(known).clamp(from, known),
            start: known,
            end: end.max(known),
            code: None,
            ready_parts: ready_at_end.parts,
            woken_by: ready_at_end.woken_by,
        }
    }

    /// Returns the time since which a thread is ready that stopped at `from` for this reason and was woken at
    /// `woken`; `None` if it is not ready, as far as logged.
    ///
    /// After some stops a thread is ready immediately; after others it must be woken. The return from a foreign
    /// call is not logged, so the whole wait counts as the call.
    pub(crate) fn ready_since(last_stop: StopCode, from: u64, woken: Option<u64>) -> Option<u64> {
        match last_stop.wait_reason() {
            None => Some(from),
            Some(WaitReason::ForeignCall) => None,
            Some(_) => woken.map(|woken| woken.max(from)),
        }
    }

    /// Returns the reason of the wait; `None` if the thread was ready immediately. If a manager thread ended the
    /// wait, it was for time or I/O, whatever the reason of the stop.
    pub fn wait_reason(&self) -> Option<WaitReason> {
        let by_stop = self.last_stop.wait_reason()?;
        let by_waker = |manager: ManagerThread| manager.reason_of_wait(by_stop);
        Some(self.woken_by.map_or(by_stop, by_waker))
    }

    /// Returns start and end of one of its [`PARTS`].
    pub const fn part(&self, part: usize) -> (u64, u64) {
        match part {
            0 => self.blocked_span(),
            1 => self.runnable_span(),
            _ => self.run_span(),
        }
    }

    /// Returns the class of one of its [`PARTS`].
    pub(crate) fn class(&self, part: usize) -> Class {
        match part {
            0 => self.wait_reason().map_or(Class::Ready, WaitReason::class),
            1 => Class::Ready,
            _ if self.code.is_none() => Class::Unknown,
            _ if self.code == Some(StopCode::OPEN) => Class::Open,
            _ => Class::Running,
        }
    }

    /// Returns the length of one of its [`PARTS`] in nanoseconds.
    pub const fn duration(&self, part: usize) -> u64 {
        let (start, end) = self.part(part);
        end - start
    }

    /// Returns the span in which the thread was blocked.
    pub const fn blocked_span(&self) -> (u64, u64) {
        (self.from, self.ready)
    }

    /// Returns the span in which it waited for a capability.
    pub const fn runnable_span(&self) -> (u64, u64) {
        (self.ready, self.start)
    }

    /// Returns the span of its run.
    pub const fn run_span(&self) -> (u64, u64) {
        (self.start, self.end)
    }

    /// Returns the length of [`blocked_span`](Self::blocked_span) in nanoseconds.
    pub const fn blocked_ns(&self) -> u64 {
        self.ready - self.from
    }

    /// Returns the length of [`runnable_span`](Self::runnable_span) in nanoseconds.
    pub const fn runnable_ns(&self) -> u64 {
        self.start - self.ready
    }

    /// Returns the length of [`run_span`](Self::run_span) in nanoseconds.
    pub const fn run_ns(&self) -> u64 {
        self.end - self.start
    }

    /// Clips the turn to `range`. `parts` computes the division of ready time between two times.
    pub(crate) fn clipped(
        self,
        range: &Range<u64>,
        parts: impl FnOnce(u64, u64) -> ReadyParts,
    ) -> Self {
        let clip = |time: u64| time.max(range.start).min(range.end);
        let (ready, start) = (clip(self.ready), clip(self.start));
        let ready_parts = if start - ready == self.start - self.ready {
            self.ready_parts
        } else if ready == start {
            ReadyParts::default()
        } else {
            parts(ready, start)
        };
        Self {
            from: clip(self.from),
            ready,
            start,
            end: clip(self.end),
            ready_parts,
            ..self
        }
    }

    /// Truncates the turn after its first `parts` parts (one or two).
    pub(crate) fn first_parts(self, parts: usize) -> Self {
        let (start, ready_parts) = match parts {
            2 => (self.start, self.ready_parts),
            _ => (self.ready, ReadyParts::default()),
        };
        Self {
            start,
            end: start,
            ready_parts,
            ..self
        }
    }

    /// Returns the division of its ready time.
    pub const fn ready_parts(&self) -> ReadyParts {
        self.ready_parts
    }

    /// Returns the ready time behind other threads in nanoseconds.
    pub const fn behind_ns(&self) -> u64 {
        self.runnable_ns()
            .saturating_sub(self.ready_parts.paused_ns)
            .saturating_sub(self.ready_parts.idle_ns)
    }

    /// Returns the ready time outside of collections in nanoseconds.
    const fn waited_ns(&self) -> u64 {
        self.runnable_ns()
            .saturating_sub(self.ready_parts.paused_ns)
    }

    /// Returns whether the run counts as one before `time`.
    fn ran_before(&self, time: u64) -> bool {
        self.start < time || self.end <= time
    }
}

/// Times of one or several threads by state, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSums {
    /// Running, in runs that ended.
    pub running_ns: u64,
    /// Running when the log ended, so that no stop is known.
    pub open_ns: u64,
    /// Ready, during a collection or while capabilities were being stopped for one.
    pub runnable_during_gc_ns: u64,
    /// Ready, behind other threads.
    pub runnable_behind_ns: u64,
    /// Ready while some capability was idle.
    pub runnable_cap_idle_ns: u64,
    /// Blocked, by [`WaitReason`].
    pub blocked_ns: [u64; WAIT_REASONS],
    /// Not covered by the log.
    pub unknown_ns: u64,
    /// Number of waits for a capability, without empty ones and those entirely in collections.
    pub ready_waits: u64,
}

impl TurnSums {
    /// Returns the blocked time for any reason.
    pub fn all_blocked_ns(&self) -> u64 {
        let sum = |sum: u64, time: &u64| sum.saturating_add(*time);
        self.blocked_ns.iter().fold(0, sum)
    }

    /// Returns the time in foreign calls.
    pub const fn foreign_ns(&self) -> u64 {
        self.blocked_ns[WaitReason::ForeignCall as usize]
    }

    /// Returns the blocked time for any reason but a foreign call.
    pub fn blocked_outside_calls_ns(&self) -> u64 {
        self.all_blocked_ns().saturating_sub(self.foreign_ns())
    }

    /// Returns the ready time outside of collections.
    pub const fn ready_ns(&self) -> u64 {
        self.runnable_behind_ns
            .saturating_add(self.runnable_cap_idle_ns)
    }

    /// Returns the sum of all states, which is the lifetime of the threads.
    pub fn life_ns(&self) -> u64 {
        let parts = [
            self.open_ns,
            self.runnable_during_gc_ns,
            self.ready_ns(),
            self.all_blocked_ns(),
            self.unknown_ns,
        ];
        parts
            .iter()
            .fold(self.running_ns, |sum, part| sum.saturating_add(*part))
    }

    /// Adds a whole turn.
    #[inline]
    pub(crate) fn add(&mut self, turn: &Turn) {
        if let Some(reason) = turn.wait_reason() {
            self.blocked_ns[reason as usize] += turn.blocked_ns();
        }
        self.runnable_during_gc_ns += turn.ready_parts.paused_ns;
        self.runnable_cap_idle_ns += turn.ready_parts.idle_ns;
        self.runnable_behind_ns += turn.behind_ns();
        self.ready_waits += u64::from(turn.waited_ns() > 0);
        let run = match turn.code {
            Some(StopCode::OPEN) => &mut self.open_ns,
            Some(_) => &mut self.running_ns,
            None => &mut self.unknown_ns,
        };
        *run += turn.run_ns();
    }

    /// Calls `with` with each field of `self` and the same field of `other`.
    pub(crate) fn zip(&mut self, other: &Self, with: impl Fn(&mut u64, u64)) {
        with(&mut self.running_ns, other.running_ns);
        with(&mut self.open_ns, other.open_ns);
        with(&mut self.runnable_during_gc_ns, other.runnable_during_gc_ns);
        with(&mut self.runnable_behind_ns, other.runnable_behind_ns);
        with(&mut self.runnable_cap_idle_ns, other.runnable_cap_idle_ns);
        with(&mut self.unknown_ns, other.unknown_ns);
        with(&mut self.ready_waits, other.ready_waits);
        for (mine, theirs) in self.blocked_ns.iter_mut().zip(other.blocked_ns) {
            with(mine, theirs);
        }
    }

    /// Returns the times by class.
    pub fn by_class(&self) -> ClassTimes {
        let mut times = ClassTimes::default();
        times[Class::Running as usize] = self.running_ns;
        times[Class::Open as usize] = self.open_ns;
        times[Class::RunnableDuringGc as usize] = self.runnable_during_gc_ns;
        times[Class::Ready as usize] = self.runnable_behind_ns;
        times[Class::ThreadRunnableCapIdle as usize] = self.runnable_cap_idle_ns;
        times[Class::Unknown as usize] = self.unknown_ns;
        for (reason, time) in WaitReason::ALL.iter().zip(self.blocked_ns) {
            times[reason.class() as usize] += time;
        }
        times
    }
}

/// Sums over the turns of a thread in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeTurnSums {
    /// Times by state.
    pub sums: TurnSums,
    /// Number of runs that start in the range.
    pub runs: u64,
    /// Longest wait for a capability, clipped to the range.
    pub longest_ready: LongestReady,
}

impl RangeTurnSums {
    /// Adds the part of `turn` in `range`. `parts` computes the division of ready time between two times.
    pub(crate) fn add(
        &mut self,
        turn: &Turn,
        range: &Range<u64>,
        parts: impl FnOnce(u64, u64) -> ReadyParts,
    ) {
        let clipped = turn.clipped(range, parts);
        self.sums.add(&clipped);
        self.longest_ready = self
            .longest_ready
            .combine(LongestReady::from_turn(&clipped));
        let begins = turn.ran_before(range.end) && !turn.ran_before(range.start);
        self.runs += u64::from(turn.code.is_some() && begins);
    }
}

/// Longest of several waits for a capability; the first one of equal length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongestReady {
    /// Length without collections in nanoseconds; 0 if there is no wait.
    pub waited_ns: u64,
    /// Time span including collections.
    pub span: Interval,
}

impl LongestReady {
    fn from_turn(turn: &Turn) -> Self {
        let (from, to) = turn.runnable_span();
        Self {
            waited_ns: turn.waited_ns(),
            span: Interval::new(Nanos(from), Nanos(to)),
        }
    }
}

impl Aggregate for LongestReady {
    fn combine(self, later: Self) -> Self {
        if later.waited_ns > self.waited_ns {
            later
        } else {
            self
        }
    }
}

/// Index over the turns of a thread, by block: start, sums over all turns before it, and the longest spans in it.
#[derive(Clone, Debug)]
pub struct TurnIndex {
    /// Turns per block.
    block: usize,
    starts: Vec<u64>,
    before: Vec<TurnSums>,
    waits_before: Vec<WaitSums>,
    longest: Forest<Longest>,
    longest_ready: Forest<LongestReady>,
    total: TurnSums,
    all_waits: WaitSums,
}

/// Longest spans of an incomplete block of turns.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    longest: Option<Longest>,
    longest_ready: LongestReady,
}

impl Block {
    fn add(&mut self, number: usize, turn: &Turn) {
        for part in 0..PARTS {
            let this = Longest {
                duration_ns: turn.duration(part),
                index: saturating_u32(PARTS * number + part),
            };
            let longest = self.longest.map_or(this, |longest| longest.combine(this));
            self.longest = Some(longest);
        }
        let ready = LongestReady::from_turn(turn);
        self.longest_ready = self.longest_ready.combine(ready);
    }
}

/// A [`TurnIndex`] under construction.
#[derive(Debug)]
pub(crate) struct TurnIndexBuilder {
    index: TurnIndex,
    turns: usize,
    last: Block,
}

impl TurnIndexBuilder {
    /// Starts an index of about `turns` turns.
    pub(crate) fn new(turns: usize) -> Self {
        /// Four per pixel at a width of a thousand pixels, which takes 1.5 MiB.
        const MAX_BLOCKS: usize = 1 << 12;
        let block = BLOCK.max(turns.div_ceil(MAX_BLOCKS).next_power_of_two());
        let blocks = turns / block;
        Self {
            index: TurnIndex {
                block,
                starts: Vec::with_capacity(blocks + 1),
                before: Vec::with_capacity(blocks + 1),
                waits_before: Vec::with_capacity(blocks + 1),
                longest: Forest::with_capacity(blocks),
                longest_ready: Forest::with_capacity(blocks),
                total: TurnSums::default(),
                all_waits: WaitSums::default(),
            },
            turns: 0,
            last: Block::default(),
        }
    }

    /// Appends the next turn.
    pub(crate) fn push(&mut self, turn: &Turn) {
        let index = &mut self.index;
        if self.turns.is_multiple_of(index.block) {
            index.starts.push(turn.from);
            index.before.push(index.total);
            index.waits_before.push(index.all_waits);
            self.last = Block::default();
        }
        index.total.add(turn);
        index.all_waits.add_whole(turn);
        self.last.add(self.turns, turn);
        self.turns += 1;
        if self.turns.is_multiple_of(index.block) {
            index.longest.push(self.last.longest.unwrap_or_default());
            index.longest_ready.push(self.last.longest_ready);
        }
    }

    pub(crate) fn finish(self) -> TurnIndex {
        self.index
    }
}

impl TurnIndex {
    /// Returns its size in bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        let forests = size_of::<Longest>() + size_of::<LongestReady>();
        let entry = size_of::<u64>() + size_of::<TurnSums>() + size_of::<WaitSums>();
        (self.starts.capacity() * (entry + 2 * forests)) as u64
    }

    /// Returns the number of turns per block.
    pub(crate) const fn block(&self) -> usize {
        self.block
    }

    /// Returns the last turn up to `turn` for which sums are stored, and these sums over all turns before it.
    pub(crate) fn before(&self, turn: usize) -> (usize, TurnSums) {
        let block = (turn / self.block).min(self.before.len().saturating_sub(1));
        let sums = self.before.get(block).copied().unwrap_or_default();
        (block * self.block, sums)
    }

    /// Returns a range of turns that contains all turns that start or end near `time`; without an end if it
    /// extends to the last turn.
    pub(crate) fn near(&self, time: u64) -> (usize, Option<usize>) {
        let first = self.starts.partition_point(|&start| start < time);
        let end = self.starts.partition_point(|&start| start <= time);
        let end = Some(end).filter(|&end| end < self.starts.len());
        let first = first.saturating_sub(1);
        (first * self.block, end.map(|end| end * self.block))
    }

    /// Returns the first block that starts at `time` or later, and its start.
    pub(crate) fn first_block_from(&self, time: u64) -> Option<(usize, u64)> {
        let block = self.starts.partition_point(|&start| start < time);
        Some((block, *self.starts.get(block)?))
    }

    /// Returns the sums over whole blocks.
    pub(crate) fn blocks(&self, blocks: Range<usize>) -> RangeTurnSums {
        let sums_at = |block: usize| self.before.get(block).copied().unwrap_or(self.total);
        let mut sums = sums_at(blocks.end);
        sums.zip(&sums_at(blocks.start), |to, from| *to -= from);
        let longest = self.longest_ready.query(blocks.start, blocks.end);
        RangeTurnSums {
            sums,
            runs: (blocks.len() * self.block) as u64,
            longest_ready: longest.unwrap_or_default(),
        }
    }

    /// Returns the cumulative waits before and after whole blocks.
    pub(super) fn waits(&self, blocks: &Range<usize>) -> (&WaitSums, &WaitSums) {
        let before = |block: usize| self.waits_before.get(block).unwrap_or(&self.all_waits);
        (before(blocks.start), before(blocks.end))
    }

    /// Returns the longest span in whole blocks.
    pub(crate) fn longest(&self, blocks: Range<usize>) -> Option<Longest> {
        self.longest.query(blocks.start, blocks.end)
    }
}
