//! Cursor over the runs of a capability, for queries at increasing times.

use super::store::Store;
use crate::account::runs::{RunLane, SweepRun};
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::lane::Lane;

/// Cursor over the runs of a capability in time order. It reads runs block by block, which is several times faster
/// than seeking each.
#[derive(Debug)]
pub struct RunCursor<'a> {
    store: &'a Store,
    lane: Option<&'a RunLane>,
    block: Vec<SweepRun>,
    /// Index of the first run after the block.
    next: usize,
    /// Index in the block of the first run that ends after `last_ns`.
    at: usize,
    last_ns: u64,
}

impl Store {
    /// Returns a cursor at the first run of a capability.
    pub fn run_cursor(&self, cap: CapId) -> RunCursor<'_> {
        RunCursor {
            store: self,
            lane: self.cap(cap).map(|cap| &cap.runs),
            block: Vec::new(),
            next: 0,
            at: 0,
            last_ns: 0,
        }
    }
}

impl RunCursor<'_> {
    /// Returns start and end of the first run that ends after a time; `None` if there is none. Decreasing times
    /// are supported but slow.
    pub fn span_after(&mut self, time_ns: u64) -> Option<(u64, u64)> {
        self.run_after(time_ns).map(|run| (run.start, run.end))
    }

    /// Returns the thread that runs at a time.
    pub fn thread_at(&mut self, time: Nanos) -> Option<ThreadId> {
        let run = self.run_after(time.0).filter(|run| run.start <= time.0)?;
        self.store.thread_id(run.thread)
    }

    fn run_after(&mut self, time_ns: u64) -> Option<SweepRun> {
        let lane = self.lane?;
        if time_ns < self.last_ns {
            self.block.clear();
            (self.next, self.at) = (lane.first_ending_after(time_ns), 0);
        }
        self.last_ns = time_ns;
        loop {
            // The whole block may be in the past.
            if self.block.last().is_none_or(|last| last.end <= time_ns) {
                self.block.clear();
                self.at = 0;
                lane.read(self.next, &mut self.block);
                self.next += self.block.len();
                if self.block.is_empty() {
                    return None;
                }
                continue;
            }
            let run = *self.block.get(self.at)?;
            if run.end > time_ns {
                return Some(run);
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::automata::thread_state::{Activity, ThreadSpan};
    use eventlog::StopStatus;
    use model::time::Interval;

    /// Returns a store with runs of one capability, given by the gap before each and its length.
    fn store(runs: &[(u64, u64)]) -> Store {
        let mut store = Store::default();
        let mut at = 0;
        for (number, (gap, long)) in (1..).zip(runs) {
            let start = at + gap;
            at = start + long;
            let span = ThreadSpan {
                activity: Activity::Running(Some(CapId(0))),
                span: Interval::new(Nanos(start), Nanos(at)),
                stop: Some(StopStatus::ThreadYielding),
            };
            store.add_span(ThreadId(number % 7), span, None);
        }
        store.finish(Nanos(at + 10));
        store
    }

    proptest! {
        #[test]
        fn finds_what_a_search_finds(
            gaps in prop::collection::vec((0_u64..3, 0_u64..4), 0..400),
            times in prop::collection::vec(0_u64..1_500, 0..60),
            in_order in any::<bool>(),
        ) {
            let mut times = times;
            if in_order {
                times.sort_unstable();
            }
            let store = store(&gaps);
            let mut cursor = store.run_cursor(CapId(0));
            for time in times {
                let lane = store.cap(CapId(0)).map(|cap| &cap.runs);
                let span = lane.and_then(|lane| lane.span_at(lane.first_ending_after(time)));
                prop_assert_eq!(cursor.span_after(time), span);
                let mut at = 0;
                let running = store.running(CapId(0), Nanos(time), &mut at);
                prop_assert_eq!(cursor.thread_at(Nanos(time)), running);
            }
        }
    }
}
