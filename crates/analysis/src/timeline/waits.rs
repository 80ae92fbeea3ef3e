//! What threads waited for while they did not run, by reason, in any range of
//! time: the same times as in the table of threads, taken apart further, and
//! how many waits ended there.
//!
//! Of a thread that ran often its index has the sums before each block of turns, which
//! make any range a subtraction and two edges.

use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::store::{Cut, FEW_THREADS, Store};
use super::thread_lane::ThreadLane;
use super::threads::Thread;
use super::turns::{PARTS, Turn};
use crate::account::Account;
use crate::listen::Listen;
use eventlog::ids::{Nanos, ThreadId};
use model::class::{Class, StopCode, WAIT_REASONS, WaitReason};
use model::lane::{Lane, partition};
use model::time::Interval;

/// Why a thread that can run waits for a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum QueueReason {
    /// It is new.
    Created = 0,
    /// It ran out of heap or stack: a collection may be due.
    Overflow = 1,
    /// It let others run, or was moved.
    Yielded = 2,
    /// What it was blocked on has come.
    Woken = 3,
}

/// How many reasons to wait for a capability there are.
const QUEUE_REASONS: usize = 4;

impl QueueReason {
    const ALL: [Self; QUEUE_REASONS] = [Self::Created, Self::Overflow, Self::Yielded, Self::Woken];

    const fn of(why: StopCode) -> Self {
        match why {
            StopCode::CREATED => Self::Created,
            StopCode(1 | 2) => Self::Overflow,
            StopCode(3 | 19) => Self::Yielded,
            _ => Self::Woken,
        }
    }

    /// In a few words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Overflow => "heap or stack overflow",
            Self::Yielded => "yield",
            Self::Woken => "woken",
        }
    }
}

/// For what a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Wait {
    /// It cannot run.
    Blocked(WaitReason),
    /// It can run, and waits for a capability.
    Queued(QueueReason),
    /// It can run, but a collection goes on, or is being stopped for.
    Collection,
}

/// How many kinds of waits there are.
const WAITS: usize = WAIT_REASONS + QUEUE_REASONS + 1;

impl Wait {
    /// How many there are.
    pub const KINDS: usize = WAITS;

    /// All of them, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        let blocked = WaitReason::ALL.into_iter().map(Self::Blocked);
        let queued = QueueReason::ALL.into_iter().map(Self::Queued);
        blocked.chain(queued).chain([Self::Collection])
    }

    /// Its number.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Blocked(reason) => reason as usize,
            Self::Queued(reason) => WAIT_REASONS + reason as usize,
            Self::Collection => WAITS - 1,
        }
    }

    /// What a part of a turn is, outside of collections; `None` of a run.
    pub(super) fn of(turn: &Turn, part: usize) -> Option<Self> {
        match part {
            0 => turn.wait_reason().map(Self::Blocked),
            1 => Some(Self::Queued(QueueReason::of(turn.why))),
            _ => None,
        }
    }

    /// The waits of a turn, with their times.
    pub(super) fn all_of(turn: &Turn) -> impl Iterator<Item = (Self, u64)> {
        let paused_ns = turn.ready_parts.paused_ns;
        let waited_ns = turn.duration(1).saturating_sub(paused_ns);
        let waits = [
            (Self::of(turn, 0), turn.duration(0)),
            (Self::of(turn, 1), waited_ns),
            (Some(Self::Collection), paused_ns),
        ];
        let waits = waits.into_iter().filter(|&(_, ns)| ns > 0);
        waits.filter_map(|(wait, ns)| Some((wait?, ns)))
    }

    /// Whether it cannot run, or waits for a capability.
    #[must_use]
    pub const fn state(self) -> &'static str {
        match self {
            Self::Blocked(_) => "blocked",
            Self::Queued(_) => "queued",
            Self::Collection => "ready",
        }
    }

    /// The class of such a wait, and with it its colour.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::Blocked(reason) => reason.class(),
            Self::Queued(_) => Class::Ready,
            Self::Collection => Class::ReadyGc,
        }
    }

    /// For what, or after what.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Blocked(reason) => reason.name(),
            Self::Queued(reason) => reason.name(),
            Self::Collection => "in a collection",
        }
    }
}

/// Waits of threads, summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitSums {
    ns: [u64; WAITS],
    /// How many waits ended.
    count: [u64; WAITS],
}

/// All of the time.
const ALL_TIME: Range<u64> = 0..u64::MAX;

impl WaitSums {
    /// Adds what of a turn lies in a range.
    fn add_turn(&mut self, turn: &Turn, range: &Range<u64>, account: Account<'_>) {
        let inside = turn.clipped(range, |from, to| account.ready_parts(from, to));
        for (wait, ns) in Wait::all_of(&inside) {
            let at = wait.index();
            self.ns[at] = self.ns[at].wrapping_add(ns);
        }
        for (wait, _) in Wait::all_of(turn) {
            let (_, end) = turn.part(usize::from(!matches!(wait, Wait::Blocked(_))));
            let ends_inside = range.start < end && end <= range.end;
            self.count[wait.index()] += u64::from(ends_inside);
        }
    }

    /// Adds all of a turn.
    pub(super) fn add_whole(&mut self, turn: &Turn) {
        for (wait, ns) in Wait::all_of(turn) {
            let at = wait.index();
            self.ns[at] = self.ns[at].wrapping_add(ns);
            self.count[at] += 1;
        }
    }

    /// Adds what is in the later one of two sums and not yet in the earlier one.
    fn add_between(&mut self, from: &Self, to: &Self) {
        for at in 0..WAITS {
            let ns = to.ns[at].wrapping_sub(from.ns[at]);
            self.ns[at] = self.ns[at].wrapping_add(ns);
            self.count[at] += to.count[at] - from.count[at];
        }
    }

    /// Each kind of wait with its nanoseconds and how many ended.
    pub fn iter(&self) -> impl Iterator<Item = (Wait, u64, u64)> + '_ {
        Wait::all().map(|wait| (wait, self.ns[wait.index()], self.count[wait.index()]))
    }

    /// The time of all, in nanoseconds.
    #[must_use]
    pub fn all_ns(&self) -> u64 {
        let add = |sum: u64, ns: &u64| sum.saturating_add(*ns);
        self.ns.iter().fold(0, add)
    }
}

/// A stretch of a thread's life: a wait, or that it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPiece {
    /// When it begins and ends.
    pub span: Interval,
    /// For what it waited; `None` if it ran.
    pub wait: Option<Wait>,
}

impl Store {
    /// What some threads, given by their places in the order in which threads
    /// were first met, waited for; those that did not are left out. `None` is
    /// all of the time. Nothing before the log is read to its end.
    pub(crate) async fn waits_in(
        &self,
        range: Option<Interval>,
        threads: impl Iterator<Item = u32>,
        mut each: impl FnMut(u32, &Thread, &WaitSums),
        listen: &dyn Listen,
    ) {
        let range = range.map_or(ALL_TIME, |range| range.start().0..range.end().0);
        let (from, to) = (self.cut(Nanos(range.start)), self.cut(Nanos(range.end)));
        let mut reader = self.threads.reader();
        let looks = Rc::default();
        for index in threads {
            if index.is_multiple_of(FEW_THREADS) {
                listen.listen().await;
            }
            let Some(thread) = reader.get(index) else {
                continue;
            };
            self.prepare_life_of(index, thread, listen).await;
            let Some(lane) = self.life_of(index, thread) else {
                continue;
            };
            let lane = lane.looking(&looks);
            let sums = self.waits_between(&lane, &from, &to);
            if sums != WaitSums::default() {
                each(index, lane.thread(), &sums);
            }
        }
    }

    /// The waits of a thread between two cuts.
    pub(super) fn waits_between(&self, lane: &ThreadLane<'_>, from: &Cut, to: &Cut) -> WaitSums {
        if lane.is_empty() {
            return WaitSums::default();
        }
        let runs = lane.runs_in(from, to);
        self.waits_of_turns(lane, &runs, &(from.time_ns..to.time_ns))
    }

    /// The waits of a thread in a range in which these of its runs end.
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
        // The first and the last turn may lie in the range in part.
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

    /// A thread's life in a range, piece by piece. Where many pieces are
    /// shorter than `width_ns` they are merged, each kind of wait in such a
    /// stretch to one piece, as long as they are together.
    pub(crate) fn wait_pieces(
        &self,
        thread: ThreadId,
        range: Interval,
        width_ns: u64,
        mut emit: impl FnMut(WaitPiece),
    ) {
        /// So many turns are not worth merging.
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
        // Collections are told apart where they are.
        let push = |piece: &mut dyn FnMut(u64, u64, Option<Wait>), mut start, end, wait| {
            if matches!(wait, Some(Wait::Queued(_))) {
                let first = pauses.first_ending_after(Nanos(start));
                let pauses = pauses.all().get(first..).unwrap_or_default().iter();
                for pause in pauses.take_while(|pause| pause.requested.0 < end) {
                    let (from, to) = (pause.requested.0.max(start), pause.end.0.min(end));
                    piece(start, from, wait);
                    piece(from, to, Some(Wait::Collection));
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
                push(&mut piece, at, stop, Wait::of(&turn, part));
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
                        push(&mut piece, from, to, Wait::of(&turn, part));
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
