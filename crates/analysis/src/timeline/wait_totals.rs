//! Why a thread waited in a range of time: by reason, and by who ended the wait.
//!
//! The times by reason come from the index of the thread. Who woke it is asked for each
//! wait, of no more than [`WaitTotals::MOST_TURNS`] waits.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::store::Store;
use super::turns::Turn;
use super::waits::Wait;
use crate::listen::Listen;
use eventlog::ids::{Nanos, ThreadId};
use model::class::WaitReason;
use model::lane::Lane;
use model::sorting::SortSmall;
use model::time::Interval;

/// Why a thread waited in a range, or in all of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitTotalsQuery {
    /// The thread.
    pub thread: ThreadId,
    /// The time that counts.
    pub range: Option<Interval>,
}

/// Who ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Waker {
    /// A thread that ran where the wakeup was logged.
    Thread(ThreadId),
    /// The runtime: no thread ran there, or it was the thread itself.
    Runtime,
    /// The log does not say: no wakeup is logged, or the wait did not end.
    NotTold,
}

/// Waits of one kind, or ended by one waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitTotal<T> {
    /// Which.
    pub of: T,
    /// How long they are as far as they lie in the range, in nanoseconds.
    pub ns: u64,
    /// How many ended there.
    pub count: u64,
    /// The longest that was looked at.
    pub longest: Option<LongestWait>,
}

/// The longest of some waits, the first of equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongestWait {
    /// How long it is as far as it lies in the range, in nanoseconds; of a wait for a capability
    /// without collections, as everywhere.
    pub ns: u64,
    /// When it is, all of it.
    pub span: Interval,
}

/// Why a thread waited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitTotals {
    /// The thread.
    pub thread: ThreadId,
    /// All waits by what for, the longest first.
    pub reasons: Vec<WaitTotal<Wait>>,
    /// The waits in which it could not run, outside of foreign calls, by who ended them,
    /// the longest first: of those that were looked at.
    pub wakers: Vec<WaitTotal<Waker>>,
    /// The labels of those wakers that have one.
    pub labels: Vec<(ThreadId, String)>,
    /// How many waits there are.
    pub waits: u64,
    /// How many of them were looked at: the first ones.
    pub looked_at: u64,
}

impl WaitTotals {
    /// Of so many waits it is asked who ended them, which takes some tenths of a second.
    pub const MOST_TURNS: usize = 50_000;
}

/// A sum of waits that grows.
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
        see(&mut self.longest, LongestWait { ns, span: wait });
    }
}

fn see(longest: &mut Option<LongestWait>, wait: LongestWait) {
    if longest.is_none_or(|longest| wait.ns > longest.ns) {
        *longest = Some(wait);
    }
}

impl Store {
    /// Why a thread waited; `None` if the log does not have it, or is not read to its end.
    pub async fn wait_totals(
        &self,
        query: &WaitTotalsQuery,
        listen: &dyn Listen,
    ) -> Option<WaitTotals> {
        /// So many waits are looked at within a millisecond or two.
        const AT_ONCE: usize = 128;
        self.is_settled().then_some(())?;
        self.prepare_life(query.thread, listen).await;
        let lane = self.thread_lane(query.thread)?;
        let all = Interval::new(Nanos(0), Nanos(u64::MAX));
        let range = query.range.unwrap_or(all);
        let cuts = (self.cut(range.start()), self.cut(range.end()));
        let sums = self.waits_between(&lane, &cuts.0, &cuts.1);
        let runs = lane.runs_in(&cuts.0, &cuts.1);
        let turns = if lane.is_empty() {
            0..0
        } else {
            runs.start..runs.end + 1
        };
        let looked = turns.start..turns.end.min(turns.start + WaitTotals::MOST_TURNS);
        let mut longest: BTreeMap<Wait, Option<LongestWait>> = BTreeMap::new();
        let (account, inside) = (self.account(), range.start().0..range.end().0);
        let mut wakers: BTreeMap<Waker, Sum> = BTreeMap::new();
        for first in looked.clone().step_by(AT_ONCE) {
            listen.listen().await;
            for turn in lane.turns(first..looked.end.min(first + AT_ONCE)) {
                let clipped = turn.clipped(&inside, |from, to| account.ready_parts(from, to));
                for (wait, ns) in Wait::all_of(&clipped) {
                    let part = usize::from(!matches!(wait, Wait::Blocked(_)));
                    let span = span(&turn, part);
                    see(longest.entry(wait).or_default(), LongestWait { ns, span });
                }
                let blocked = span(&turn, 0);
                if !blocked.is_empty() && blocked.overlaps(range) && is_woken(&turn) {
                    let waker = self.waker(query.thread, &turn);
                    wakers.entry(waker).or_default().add(blocked, range);
                }
            }
        }
        let reasons = sums.iter().filter(|&(_, ns, count)| ns > 0 || count > 0);
        let mut reasons: Vec<WaitTotal<Wait>> = reasons
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
        wakers.sort_small_by_key(|total| (total.of == Waker::NotTold, Reverse(total.ns)));
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
            looked_at: looked.len() as u64,
        })
    }

    /// Who ended the block of a turn.
    fn waker(&self, thread: ThreadId, turn: &Turn) -> Waker {
        match self.waking(thread, turn) {
            None => Waker::NotTold,
            Some(waking) => waking.waker.map_or(Waker::Runtime, Waker::Thread),
        }
    }
}

/// Whether somebody has to end the block of a turn: of the end of a foreign call the log
/// says nothing.
fn is_woken(turn: &Turn) -> bool {
    let reason = turn.wait_reason();
    reason.is_some_and(|reason| reason != WaitReason::ForeignCall)
}

fn span(turn: &Turn, part: usize) -> Interval {
    let (from, to) = turn.part(part);
    Interval::new(Nanos(from), Nanos(to))
}
