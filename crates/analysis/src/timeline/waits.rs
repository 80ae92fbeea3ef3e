//! What threads waited for while they did not run, by reason, in any range of
//! time: the same times as in the table of threads, taken apart further, and
//! how many waits ended there.
//!
//! The sums of all turns before every 64th, all threads put end to end, make
//! any range of any thread a subtraction and two edges. They take 2.25 bytes
//! for each run, and are made when they are first asked for.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::store::{Cut, Store};
use super::thread_lane::ThreadLane;
use super::threads::Thread;
use super::turns::{PARTS, Turn};
use crate::account::Account;
use eventlog::ids::{Nanos, ThreadId};
use model::class::{StopCode, WAIT_REASONS, WaitReason};
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
    fn of(turn: &Turn, part: usize) -> Option<Self> {
        match part {
            0 => turn.why.wait_reason().map(Self::Blocked),
            1 => Some(Self::Queued(QueueReason::of(turn.why))),
            _ => None,
        }
    }

    /// The waits of a turn, with their times.
    fn all_of(turn: &Turn) -> impl Iterator<Item = (Self, u64)> {
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

    /// Adds what lies between two entries of the index.
    fn add_between(&mut self, from: &Before, to: &Before) {
        for at in 0..WAITS {
            let ns = to.ns[at].wrapping_sub(from.ns[at]);
            self.ns[at] = self.ns[at].wrapping_add(ns);
            self.count[at] += u64::from(to.count[at].wrapping_sub(from.count[at]));
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

/// So many turns are summed up in one entry.
const BLOCK: usize = 64;

/// The waits of all turns before one; the sums of all threads may wrap around.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    ns: [u64; WAITS],
    count: [u32; WAITS],
}

impl Before {
    fn add_turn(&mut self, turn: &Turn) {
        for (wait, ns) in Wait::all_of(turn) {
            let at = wait.index();
            self.ns[at] = self.ns[at].wrapping_add(ns);
            self.count[at] = self.count[at].wrapping_add(1);
        }
    }
}

/// The sums of all turns before each block of turns, in the order of the list
/// of the runs of all threads.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitIndex {
    before: Vec<Before>,
}

impl WaitIndex {
    fn of(store: &Store) -> Self {
        let mut before = Vec::with_capacity(store.run_count() / BLOCK + 1);
        let mut sums = Before::default();
        let mut place = 0_usize;
        for (_, thread) in store.threads.iter() {
            let Some(lane) = store.bare_life_of(thread) else {
                continue;
            };
            for turn in lane.turns(0..lane.runs()) {
                if place.is_multiple_of(BLOCK) {
                    before.push(sums);
                }
                sums.add_turn(&turn);
                place += 1;
            }
        }
        if place.is_multiple_of(BLOCK) {
            before.push(sums);
        }
        Self { before }
    }

    /// The entries before and after some blocks.
    fn around(&self, blocks: &Range<usize>) -> Option<(&Before, &Before)> {
        Some((self.before.get(blocks.start)?, self.before.get(blocks.end)?))
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
    pub(crate) fn waits_in(
        &self,
        range: Option<Interval>,
        threads: impl Iterator<Item = u32>,
        mut each: impl FnMut(u32, &Thread, &WaitSums),
    ) {
        let range = range.map_or(ALL_TIME, |range| range.start().0..range.end().0);
        let (from, to) = (self.cut(Nanos(range.start)), self.cut(Nanos(range.end)));
        let mut reader = self.threads.reader();
        for index in threads {
            let thread = reader.get(index);
            let Some(lane) = thread.and_then(|thread| self.bare_life_of(thread)) else {
                continue;
            };
            let sums = self.waits_between(&lane, &from, &to);
            if sums != WaitSums::default() {
                each(index, lane.thread(), &sums);
            }
        }
    }

    fn waits_between(&self, lane: &ThreadLane<'_>, from: &Cut, to: &Cut) -> WaitSums {
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
        // The first and the last turn may lie in the range in part.
        let whole = runs.start + 1..runs.end;
        let first = lane.thread().first as usize;
        let blocks = (first + whole.start).div_ceil(BLOCK)..(first + whole.end) / BLOCK;
        let indexed = Some(()).filter(|()| blocks.start < blocks.end);
        let indexed = indexed.and_then(|()| self.wait_index().around(&blocks));
        let mut add = |turns: Range<usize>| {
            for turn in lane.turns(turns) {
                sums.add_turn(&turn, range, self.account());
            }
        };
        let Some((before, after)) = indexed else {
            add(runs.start..runs.end + 1);
            return sums;
        };
        add(runs.start..blocks.start * BLOCK - first);
        add(blocks.end * BLOCK - first..runs.end + 1);
        sums.add_between(before, after);
        sums
    }

    fn wait_index(&self) -> &WaitIndex {
        self.wait_index.get_or_init(|| WaitIndex::of(self))
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
        let thread = self.threads.get(index);
        let lane = thread.and_then(|thread| self.bare_life_of(thread));
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
