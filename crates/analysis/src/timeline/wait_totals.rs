//! Waits of a thread in a range of time, by reason and by waker.
//!
//! The times by reason come from the thread's index. Wakers are looked up for each wait, for at most
//! [`WaitTotals::MAX_TURNS`] waits.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::store::Store;
use super::turns::Turn;
use super::waits::WaitKind;
use crate::yielder::Yield;
use eventlog::ids::{Nanos, ThreadId};
use model::class::WaitReason;
use model::lane::Lane;
use model::sorting::CompactSort;
use model::time::Interval;

/// Query for the waits of a thread, in a range or in its whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitTotalsQuery {
    /// Thread whose waits are requested.
    pub thread: ThreadId,
    /// Range of time; `None` for the whole life.
    pub range: Option<Interval>,
}

/// Originator of a wakeup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Waker {
    /// Thread that was running where the wakeup was logged.
    Thread(ThreadId),
    /// The runtime: no thread was running there, or only the woken thread itself.
    Runtime,
    /// Unknown: no wakeup is logged, or the wait did not end.
    Unknown,
}

/// Waits of one kind, or ended by one waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitTotal<T> {
    /// Kind of wait, or waker.
    pub of: T,
    /// Total wait time in the range, in nanoseconds.
    pub ns: u64,
    /// Number of waits that ended in the range.
    pub count: u64,
    /// Longest wait among those examined.
    pub longest: Option<LongestWait>,
}

/// Longest of several waits; the first one of equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongestWait {
    /// Length in the range, in nanoseconds; for a wait for a capability without collections, as everywhere.
    pub ns: u64,
    /// Time span, not clipped to the range.
    pub span: Interval,
}

/// Waits of a thread by reason and by waker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitTotals {
    /// Thread that waited.
    pub thread: ThreadId,
    /// All waits by reason, longest total first.
    pub reasons: Vec<WaitTotal<WaitKind>>,
    /// Blocked waits outside of foreign calls by waker, among the waits examined; longest total first, unknown
    /// wakers last.
    pub wakers: Vec<WaitTotal<Waker>>,
    /// Labels of the wakers that have one.
    pub labels: Vec<(ThreadId, String)>,
    /// Number of waits, counted as turns.
    pub waits: u64,
    /// Number of waits examined, which are the first ones.
    pub examined: u64,
}

impl WaitTotals {
    /// Maximum number of waits whose wakers are looked up, which takes some tenths of a second.
    pub const MAX_TURNS: usize = 50_000;
}

/// Running sum of waits.
#[derive(Clone, Copy, Default)]
struct Sum {
    ns: u64,
    count: u64,
    longest: Option<LongestWait>,
}

impl Sum {
    fn add(&mut self, wait: Interval, range: Interval) {
        let ns = wait.clip(range).duration().0;
        self.ns = self.ns.saturating_add(ns);
        self.count += u64::from(range.start() < wait.end() && wait.end() <= range.end());
        keep_longest(&mut self.longest, LongestWait { ns, span: wait });
    }
}

fn keep_longest(longest: &mut Option<LongestWait>, wait: LongestWait) {
    if longest.is_none_or(|longest| wait.ns > longest.ns) {
        *longest = Some(wait);
    }
}

impl Store {
    /// Returns the waits of a thread; `None` for an unknown thread, or until the log has been read to its end.
    pub async fn wait_totals(
        &self,
        query: &WaitTotalsQuery,
        yielder: &dyn Yield,
    ) -> Option<WaitTotals> {
        /// Number of waits that can be examined within a millisecond or two.
        const AT_ONCE: usize = 128;
        self.is_finished().then_some(())?;
        self.prepare_life(query.thread, yielder).await;
        let lane = self.thread_lane(query.thread)?;
        let all = Interval::new(Nanos(0), Nanos(u64::MAX));
        let range = query.range.unwrap_or(all);
        let positions = (
            self.positions_at(range.start()),
            self.positions_at(range.end()),
        );
        let sums = self.waits_between(&lane, &positions.0, &positions.1);
        let runs = lane.runs_in(&positions.0, &positions.1);
        let turns = if lane.is_empty() {
            0..0
        } else {
            runs.start..runs.end + 1
        };
        let looked = turns.start..turns.end.min(turns.start + WaitTotals::MAX_TURNS);
        let mut longest: BTreeMap<WaitKind, Option<LongestWait>> = BTreeMap::new();
        let (account, inside) = (self.account(), range.start().0..range.end().0);
        let mut wakers: BTreeMap<Waker, Sum> = BTreeMap::new();
        for first in looked.clone().step_by(AT_ONCE) {
            yielder.yield_if_due().await;
            for turn in lane.turns(first..looked.end.min(first + AT_ONCE)) {
                let clipped = turn.clipped(&inside, |from, to| account.ready_parts(from, to));
                for (wait, ns) in WaitKind::all_of(&clipped) {
                    let part = usize::from(!matches!(wait, WaitKind::Blocked(_)));
                    let span = span(&turn, part);
                    keep_longest(longest.entry(wait).or_default(), LongestWait { ns, span });
                }
                let blocked = span(&turn, 0);
                if !blocked.is_empty() && blocked.overlaps(range) && is_woken(&turn) {
                    let waker = self.waker(query.thread, &turn);
                    wakers.entry(waker).or_default().add(blocked, range);
                }
            }
        }
        let reasons = sums.iter().filter(|&(_, ns, count)| ns > 0 || count > 0);
        let mut reasons: Vec<WaitTotal<WaitKind>> = reasons
            .map(|(of, ns, count)| WaitTotal {
                of,
                ns,
                count,
                longest: longest.get(&of).copied().flatten(),
            })
            .collect();
        reasons.sort_small_by_key(|total| Reverse(total.ns));
        let mut wakers: Vec<WaitTotal<Waker>> = wakers
            .into_iter()
            .map(|(of, sum)| WaitTotal {
                of,
                ns: sum.ns,
                count: sum.count,
                longest: sum.longest,
            })
            .collect();
        wakers.sort_small_by_key(|total| (total.of == Waker::Unknown, Reverse(total.ns)));
        let labels = wakers.iter().filter_map(|total| match total.of {
            Waker::Thread(thread) => Some((thread, self.label_of(thread)?.to_owned())),
            _ => None,
        });
        Some(WaitTotals {
            thread: query.thread,
            labels: labels.collect(),
            reasons,
            wakers,
            waits: turns.len() as u64,
            examined: looked.len() as u64,
        })
    }

    /// Returns the waker that ended the block of a turn.
    fn waker(&self, thread: ThreadId, turn: &Turn) -> Waker {
        match self.wake_event(thread, turn) {
            None => Waker::Unknown,
            Some(wake_event) => wake_event.waker.map_or(Waker::Runtime, Waker::Thread),
        }
    }
}

/// Returns whether the block of a turn ends by a wakeup. The end of a foreign call is not logged.
fn is_woken(turn: &Turn) -> bool {
    let reason = turn.wait_reason();
    reason.is_some_and(|reason| reason != WaitReason::ForeignCall)
}

fn span(turn: &Turn, part: usize) -> Interval {
    let (from, to) = turn.part(part);
    Interval::new(Nanos(from), Nanos(to))
}
