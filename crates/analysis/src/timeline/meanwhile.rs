//! What a capability did in a stretch of time: what a thread that waited for it, or was
//! not on it, missed.
//!
//! The times are those of the account, which takes them from indexes. Which threads ran
//! is told by looking at runs, of which no more than [`Meanwhile::MOST_RUNS`] are looked at.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::store::Store;
use crate::account::pauses::Pause;
use crate::account::report::CapTimes;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::lane::Lane;
use model::sorting::SortSmall;
use model::time::Interval;

/// What a capability did in a stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meanwhile {
    /// How it spent the time.
    pub times: CapTimes,
    /// The threads that ran on it, those that ran longest first.
    pub threads: Vec<RanThere>,
    /// The longest collection in the stretch.
    pub collection: Option<Interval>,
    /// Up to when runs were looked at: the end of the stretch, unless they are too many.
    pub looked_until: Nanos,
}

/// A thread that ran on a capability in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RanThere {
    /// The thread.
    pub thread: ThreadId,
    /// For how long it ran there, in nanoseconds.
    pub ns: u64,
    /// The longest of its runs there, all of it.
    pub longest: Interval,
}

impl Meanwhile {
    /// So many runs are looked at, which takes a few milliseconds.
    pub const MOST_RUNS: usize = 20_000;
}

impl Store {
    /// What a capability did in a stretch of time; `None` if the log does not have it, or
    /// is not read to its end.
    #[must_use]
    pub fn meanwhile(&self, cap: CapId, stretch: Interval) -> Option<Meanwhile> {
        let runs = &self.cap(cap).filter(|_| self.is_settled())?.runs;
        let first = runs.first_ending_after(stretch.start().0);
        let end = runs.first_starting_at(stretch.end().0).max(first);
        let looked = end.min(first + Meanwhile::MOST_RUNS);
        let looked_until = if looked < end {
            Nanos(runs.span(looked).0)
        } else {
            stretch.end()
        };
        let mut threads: BTreeMap<ThreadId, RanThere> = BTreeMap::new();
        for place in first..looked {
            let run = runs.interval(place);
            let ns = run.clip(stretch).duration().0;
            let Some(thread) = self.thread_of(cap, place).filter(|_| ns > 0) else {
                continue;
            };
            let ran = threads.entry(thread).or_insert(RanThere {
                thread,
                ns: 0,
                longest: run,
            });
            ran.ns += ns;
            if run.duration() > ran.longest.duration() {
                ran.longest = run;
            }
        }
        let mut threads: Vec<RanThere> = threads.into_values().collect();
        threads.sort_small_by_key(|ran| (Reverse(ran.ns), ran.thread));
        let pauses = self.account().pauses();
        let from = pauses.first_ending_after(stretch.start());
        let inside = pauses.all().get(from..).unwrap_or_default().iter();
        let inside = inside
            .take_while(|pause| pause.start < stretch.end())
            .take(Meanwhile::MOST_RUNS);
        let longest = inside.max_by_key(|pause| pause.end.since(pause.start));
        Some(Meanwhile {
            times: self.account().cap(cap, stretch),
            threads,
            collection: longest.map(|pause: &Pause| Interval::new(pause.start, pause.end)),
            looked_until,
        })
    }
}
