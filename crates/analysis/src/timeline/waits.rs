//! Waits of threads in any range of time, by reason: the times of the thread table in more detail, and the number
//! of waits that ended in the range.
//!
//! For threads with many runs, the index stores the sums before each block of turns, so that any range is a
//! subtraction plus two edges.

use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::store::{FEW_THREADS, LanePositions, Store};
use super::thread_lane::ThreadLane;
use super::threads::Thread;
use super::turns::{PARTS, Turn};
use crate::account::TimeAttribution;
use crate::yielder::Yield;
use eventlog::ids::{Nanos, ThreadId};
use model::class::{Class, StopCode, WAIT_REASONS, WaitReason};
use model::lane::{Lane, partition};
use model::time::Interval;

model::named_enum! {
    /// Reason why a ready thread waits for a capability.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum QueueReason {
        /// The thread is new.
        Created: "created";
        /// It stopped with a heap or stack overflow: a collection may be due.
        Overflow: "heap or stack overflow";
        /// It yielded, or was migrated.
        Yielded: "yield";
        /// Its block ended.
        Woken: "woken";
    }
    /// Returns a short phrase for the user interface.
    fn name;
}

/// Number of reasons to wait for a capability.
const QUEUE_REASONS: usize = 4;

impl QueueReason {
    const fn from_stop(last_stop: StopCode) -> Self {
        match last_stop {
            StopCode::CREATED => Self::Created,
            StopCode(1 | 2) => Self::Overflow,
            StopCode(3 | 19) => Self::Yielded,
            _ => Self::Woken,
        }
    }
}

/// Kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WaitKind {
    /// Blocked, for a reason.
    Blocked(WaitReason),
    /// Ready, waiting for a capability.
    Queued(QueueReason),
    /// Ready, during a collection or while capabilities are being stopped for one.
    Collection,
}

/// Number of kinds of waits.
const WAITS: usize = WAIT_REASONS + QUEUE_REASONS + 1;

impl WaitKind {
    /// Number of kinds of waits.
    pub const KINDS: usize = WAITS;

    /// Returns all kinds by number.
    pub fn all() -> impl Iterator<Item = Self> {
        let blocked = WaitReason::ALL.into_iter().map(Self::Blocked);
        let queued = QueueReason::ALL.into_iter().map(Self::Queued);
        blocked.chain(queued).chain([Self::Collection])
    }

    /// Returns the number of the kind, below [`KINDS`](Self::KINDS).
    pub const fn index(self) -> usize {
        match self {
            Self::Blocked(reason) => reason as usize,
            Self::Queued(reason) => WAIT_REASONS + reason as usize,
            Self::Collection => WAITS - 1,
        }
    }

    /// Returns the kind of a part of a turn, ignoring collections; `None` for a run.
    pub(super) fn from_turn_part(turn: &Turn, part: usize) -> Option<Self> {
        match part {
            0 => turn.wait_reason().map(Self::Blocked),
            1 => Some(Self::Queued(QueueReason::from_stop(turn.last_stop))),
            _ => None,
        }
    }

    /// Returns the non-empty waits of a turn and their lengths in nanoseconds.
    pub(super) fn all_of(turn: &Turn) -> impl Iterator<Item = (Self, u64)> {
        let paused_ns = turn.ready_parts.paused_ns;
        let waited_ns = turn.runnable_ns().saturating_sub(paused_ns);
        let waits = [
            (Self::from_turn_part(turn, 0), turn.blocked_ns()),
            (Self::from_turn_part(turn, 1), waited_ns),
            (Some(Self::Collection), paused_ns),
        ];
        let waits = waits.into_iter().filter(|&(_, ns)| ns > 0);
        waits.filter_map(|(wait, ns)| Some((wait?, ns)))
    }

    /// Returns the thread state as a word: `blocked`, `queued` or `ready`.
    pub const fn state(self) -> &'static str {
        match self {
            Self::Blocked(_) => "blocked",
            Self::Queued(_) => "queued",
            Self::Collection => "ready",
        }
    }

    /// Returns the class of the wait, which determines its color.
    pub const fn class(self) -> Class {
        match self {
            Self::Blocked(reason) => reason.class(),
            Self::Queued(_) => Class::Ready,
            Self::Collection => Class::RunnableDuringGc,
        }
    }

    /// Returns the reason of the wait as a phrase.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Blocked(reason) => reason.name(),
            Self::Queued(reason) => reason.name(),
            Self::Collection => "in a collection",
        }
    }
}

/// Sums over waits of threads, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitSums {
    ns: [u64; WAITS],
    /// Number of waits that ended.
    count: [u64; WAITS],
}

/// Range that contains all times.
const ALL_TIME: Range<u64> = 0..u64::MAX;

impl WaitSums {
    /// Adds the part of a turn in a range.
    fn add_turn(&mut self, turn: &Turn, range: &Range<u64>, account: TimeAttribution<'_>) {
        let inside = turn.clipped(range, |from, to| account.ready_parts(from, to));
        for (wait, ns) in WaitKind::all_of(&inside) {
            let at = wait.index();
            self.ns[at] = self.ns[at].wrapping_add(ns);
        }
        for (wait, _) in WaitKind::all_of(turn) {
            let (_, end) = turn.part(usize::from(!matches!(wait, WaitKind::Blocked(_))));
            let ends_inside = range.start < end && end <= range.end;
            self.count[wait.index()] += u64::from(ends_inside);
        }
    }

    /// Adds a whole turn.
    pub(super) fn add_whole(&mut self, turn: &Turn) {
        for (wait, ns) in WaitKind::all_of(turn) {
            let at = wait.index();
            self.ns[at] = self.ns[at].wrapping_add(ns);
            self.count[at] += 1;
        }
    }

    /// Adds the difference between two cumulative sums.
    fn add_between(&mut self, from: &Self, to: &Self) {
        for at in 0..WAITS {
            let ns = to.ns[at].wrapping_sub(from.ns[at]);
            self.ns[at] = self.ns[at].wrapping_add(ns);
            self.count[at] += to.count[at] - from.count[at];
        }
    }

    /// Returns each kind of wait with its time in nanoseconds and the number of waits that ended.
    pub fn iter(&self) -> impl Iterator<Item = (WaitKind, u64, u64)> + '_ {
        WaitKind::all().map(|wait| (wait, self.ns[wait.index()], self.count[wait.index()]))
    }

    /// Returns the total time in nanoseconds.
    pub fn all_ns(&self) -> u64 {
        let add = |sum: u64, ns: &u64| sum.saturating_add(*ns);
        self.ns.iter().fold(0, add)
    }
}

/// Part of a thread's life: a wait or a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPiece {
    /// Start and end of the part.
    pub span: Interval,
    /// Kind of the wait; `None` for a run.
    pub wait: Option<WaitKind>,
}

impl Store {
    /// Passes the waits of some threads, given by index, to `each`, without threads that did not wait. A `range`
    /// of `None` is all time. Does nothing until the log has been read to its end.
    pub(crate) async fn waits_in(
        &self,
        range: Option<Interval>,
        threads: impl Iterator<Item = u32>,
        mut each: impl FnMut(u32, &Thread, &WaitSums),
        yielder: &dyn Yield,
    ) {
        let range = range.map_or(ALL_TIME, |range| range.start().0..range.end().0);
        let (from, to) = (
            self.positions_at(Nanos(range.start)),
            self.positions_at(Nanos(range.end)),
        );
        let mut reader = self.threads.reader();
        let cursors = Rc::default();
        for index in threads {
            if index.is_multiple_of(FEW_THREADS) {
                yielder.yield_if_due().await;
            }
            let Some(thread) = reader.get(index) else {
                continue;
            };
            self.prepare_life_of(index, thread, yielder).await;
            let Some(lane) = self.life_of(index, thread) else {
                continue;
            };
            let lane = lane.with_cursors(&cursors);
            let sums = self.waits_between(&lane, &from, &to);
            if sums != WaitSums::default() {
                each(index, lane.thread(), &sums);
            }
        }
    }

    /// Returns the waits of a thread between two times, given by their positions.
    pub(super) fn waits_between(
        &self,
        lane: &ThreadLane<'_>,
        from: &LanePositions,
        to: &LanePositions,
    ) -> WaitSums {
        if lane.is_empty() {
            return WaitSums::default();
        }
        let runs = lane.runs_in(from, to);
        self.waits_of_turns(lane, &runs, &(from.time_ns..to.time_ns))
    }

    /// Returns the waits of a thread in a range; `runs` are its runs that end in the range.
    fn waits_of_turns(
        &self,
        lane: &ThreadLane<'_>,
        runs: &Range<usize>,
        range: &Range<u64>,
    ) -> WaitSums {
        let mut sums = WaitSums::default();
        let mut add = |turns: Range<usize>| {
            for turn in lane.turns(turns) {
                sums.add_turn(&turn, range, self.account());
            }
        };
        // The first and the last turn may extend beyond the range.
        let Some((index, blocks)) = lane.whole_blocks(runs.start + 1..runs.end, 1) else {
            add(runs.start..runs.end + 1);
            return sums;
        };
        add(runs.start..blocks.start * index.block());
        add(blocks.end * index.block()..runs.end + 1);
        let (before, after) = index.waits(&blocks);
        sums.add_between(before, after);
        sums
    }

    /// Emits a thread's life in a range in pieces.
    ///
    /// Where many pieces are shorter than `width_ns`, they are merged: within such a stretch, each kind of wait
    /// becomes one piece of their total length.
    pub(crate) fn wait_pieces(
        &self,
        thread: ThreadId,
        range: Interval,
        width_ns: u64,
        mut emit: impl FnMut(WaitPiece),
    ) {
        /// Number of turns up to which merging is not worthwhile.
        const FEW: usize = 4;
        let Some(index) = self.threads.find(thread) else {
            return;
        };
        let lane = self.lane_at(index);
        let Some(lane) = lane.filter(|lane| !lane.is_empty()) else {
            return;
        };
        let Some(life) = lane.thread().life(self.end()) else {
            return;
        };
        let inside = life.clip(range);
        let (mut at, end) = (inside.start().0, inside.end().0);
        let ended = |time: u64| partition(lane.runs(), |run| lane.span(PARTS * run + 2).1 <= time);
        let mut piece = |from: u64, to: u64, wait| {
            if from < to {
                let span = Interval::new(Nanos(from), Nanos(to));
                emit(WaitPiece { span, wait });
            }
        };
        let pauses = self.account().pauses();
        // Time in collections is emitted as separate pieces.
        let push = |piece: &mut dyn FnMut(u64, u64, Option<WaitKind>), mut start, end, wait| {
            if matches!(wait, Some(WaitKind::Queued(_))) {
                let first = pauses.first_ending_after(Nanos(start));
                let pauses = pauses.all().get(first..).unwrap_or_default().iter();
                for pause in pauses.take_while(|pause| pause.requested.0 < end) {
                    let (from, to) = (pause.requested.0.max(start), pause.end.0.min(end));
                    piece(start, from, wait);
                    piece(from, to, Some(WaitKind::Collection));
                    start = to.max(start);
                }
            }
            piece(start, end, wait);
        };
        while at < end {
            let first = ended(at);
            let turn = lane.turn(first);
            let Some(part) = (0..PARTS).find(|&part| turn.part(part).1 > at) else {
                break;
            };
            let stop = turn.part(part).1.min(end);
            if stop - at >= width_ns || stop == end {
                push(&mut piece, at, stop, WaitKind::from_turn_part(&turn, part));
                at = stop;
                continue;
            }
            let to = at.saturating_add(width_ns).min(end);
            let last = ended(to);
            if last - first <= FEW {
                for turn in lane.turns(first..last + 1) {
                    for part in 0..PARTS {
                        let (start, end) = turn.part(part);
                        let (from, to) = (start.max(at), end.min(to));
                        push(&mut piece, from, to, WaitKind::from_turn_part(&turn, part));
                    }
                }
            } else {
                let sums = self.waits_of_turns(&lane, &(first..last), &(at..to));
                let mut from = at + (to - at).saturating_sub(sums.all_ns());
                piece(at, from, None);
                for (wait, ns, _) in sums.iter() {
                    piece(from, (from + ns).min(to), Some(wait));
                    from = (from + ns).min(to);
                }
            }
            at = to;
        }
    }
}
