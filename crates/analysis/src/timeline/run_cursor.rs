//! The runs of a capability for who asks which one goes on at one time after the other.

use super::store::Store;
use crate::account::runs::{NextRun, RunLane};
use eventlog::ids::{CapId, Nanos, ThreadId};
use model::lane::Lane;

/// Goes through the runs of a capability in the order of time. They are read a block at a
/// time, which is several times as fast as to seek each.
#[derive(Debug)]
pub struct RunCursor<'a> {
    store: &'a Store,
    lane: Option<&'a RunLane>,
    block: Vec<NextRun>,
    /// The place of the first run behind the block.
    next: usize,
    /// Which of the block is the first that ends later than what was asked for last.
    at: usize,
    last_ns: u64,
}

impl Store {
    /// The runs of a capability, from its first one on.
    #[must_use]
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
    /// When the first run begins and ends that ends later than a time; `None` if there is none.
    /// Times that go back are found too, but slowly.
    #[must_use]
    pub fn span_after(&mut self, time_ns: u64) -> Option<(u64, u64)> {
        self.run_after(time_ns).map(|run| (run.start, run.end))
    }

    /// The thread that runs at a time.
    #[must_use]
    pub fn thread_at(&mut self, time: Nanos) -> Option<ThreadId> {
        let run = self.run_after(time.0).filter(|run| run.start <= time.0)?;
        self.store.thread_id(run.thread)
    }

    fn run_after(&mut self, time_ns: u64) -> Option<NextRun> {
        let lane = self.lane?;
        if time_ns < self.last_ns {
            self.block.clear();
            (self.next, self.at) = (lane.first_ending_after(time_ns), 0);
        }
        self.last_ns = time_ns;
        loop {
            // Most of a block may be over.
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

    /// Runs of one capability: the gap before each, and how long it is.
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
            store.tell(ThreadId(number % 7), span, None);
        }
        store.settle(Nanos(at + 10));
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
