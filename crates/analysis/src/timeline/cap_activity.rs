//! Activity of a capability in a range of time, to explain what a thread waited for, or missed, in that range.
//!
//! The times come from the indexes of the account. The threads that ran are found by reading runs, at most
//! [`CapActivity::MAX_RUNS`].

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::store::Store;
use crate::account::pauses::Pause;
use crate::account::report::CapTimes;
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::lane::Lane;
use model::sorting::CompactSort;
use model::time::Interval;

/// Activity of a capability in a range of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapActivity {
    /// Times by class.
    pub times: CapTimes,
    /// Threads that ran on it, longest run time first.
    pub threads: Vec<ThreadRunTime>,
    /// Longest collection that overlaps the range.
    pub collection: Option<Interval>,
    /// Time up to which runs were read: the end of the range, unless there are too many.
    pub examined_until: Nanos,
}

/// Run time of a thread on a capability in a range of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadRunTime {
    /// Thread that ran.
    pub thread: ThreadId,
    /// Run time within the range, in nanoseconds.
    pub ns: u64,
    /// Longest of its runs there, not clipped to the range.
    pub longest: Interval,
}

impl CapActivity {
    /// Maximum number of runs to read, which takes a few milliseconds.
    pub const MAX_RUNS: usize = 20_000;
}

impl Store {
    /// Returns the activity of a capability in a range; `None` for an unknown capability, or until the log has
    /// been read to its end.
    pub fn cap_activity(&self, cap: CapId, stretch: Interval) -> Option<CapActivity> {
        let runs = &self.cap(cap).filter(|_| self.is_finished())?.runs;
        let first = runs.first_ending_after(stretch.start().0);
        let end = runs.first_starting_at(stretch.end().0).max(first);
        let looked = end.min(first + CapActivity::MAX_RUNS);
        let examined_until = if looked < end {
            Nanos(runs.span(looked).0)
        } else {
            stretch.end()
        };
        let mut threads: BTreeMap<ThreadId, ThreadRunTime> = BTreeMap::new();
        for place in first..looked {
            let run = runs.interval(place);
            let ns = run.clip(stretch).duration().0;
            let Some(thread) = self.thread_of(cap, place).filter(|_| ns > 0) else {
                continue;
            };
            let ran = threads.entry(thread).or_insert(ThreadRunTime {
                thread,
                ns: 0,
                longest: run,
            });
            ran.ns += ns;
            if run.duration() > ran.longest.duration() {
                ran.longest = run;
            }
        }
        let mut threads: Vec<ThreadRunTime> = threads.into_values().collect();
        threads.sort_small_by_key(|ran| (Reverse(ran.ns), ran.thread));
        let pauses = self.account().pauses();
        let from = pauses.first_ending_after(stretch.start());
        let inside = pauses.all().get(from..).unwrap_or_default().iter();
        let inside = inside
            .take_while(|pause| pause.start < stretch.end())
            .take(CapActivity::MAX_RUNS);
        let longest = inside.max_by_key(|pause| pause.end.since(pause.start));
        Some(CapActivity {
            times: self.account().cap(cap, stretch),
            threads,
            collection: longest.map(|pause: &Pause| Interval::new(pause.start, pause.end)),
            examined_until,
        })
    }
}
