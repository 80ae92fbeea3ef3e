//! How long each spark ran, from the fine-grained events of `+RTS -lf`.

use rustc_hash::FxHashMap;

use super::steps::Window;
use eventlog::ids::{CapId, Nanos, ThreadId};

/// A spark that runs or waits with its thread.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: Nanos,
    /// How long it ran before its thread last stopped.
    ran_ns: u64,
    /// Since when it runs again.
    since: Nanos,
}

/// The runs of sparks. A spark runs from `SparkRun` or `SparkSteal` to the next of
/// them on its capability, or to the end of the thread that runs sparks there. While
/// that thread is stopped, the spark does not run.
///
/// | a capability's spark | event | becomes | yields |
/// |---|---|---|---|
/// | any | `SparkRun`, `SparkSteal` | a new one | a run, if there was one |
/// | some | `StopThread`, finished | none | a run |
/// | some | `StopThread`, else | none; it waits with the thread | |
/// | none | `StopThread` | none | |
/// | any | `RunThread` of one that stopped with a spark | that spark | |
/// | any | `RunThread` of another | none | |
#[derive(Debug, Default)]
pub(super) struct SparkRuns {
    /// Whether there are fine-grained events.
    pub(super) fine: bool,
    caps: Vec<Option<Open>>,
    /// How many of them run a spark.
    running: usize,
    waiting: FxHashMap<ThreadId, Open>,
    starts: Vec<u64>,
    durations: Vec<u64>,
}

impl SparkRuns {
    fn cap(&mut self, cap: CapId) -> &mut Option<Open> {
        let index = usize::from(cap.0);
        if index >= self.caps.len() {
            self.caps.resize(index + 1, None);
        }
        &mut self.caps[index]
    }

    fn close(&mut self, open: Option<Open>, at: Nanos) {
        let Some(open) = open else { return };
        self.starts.push(open.start.0);
        self.durations.push(open.paused(at).ran_ns);
    }

    pub(super) fn spark(&mut self, cap: CapId, at: Nanos) {
        self.fine = true;
        let next = Open {
            start: at,
            ran_ns: 0,
            since: at,
        };
        let before = self.cap(cap).replace(next);
        self.running += usize::from(before.is_none());
        self.close(before, at);
    }

    pub(super) fn run(&mut self, cap: CapId, thread: ThreadId, at: Nanos) {
        let open = self.waiting.remove(&thread);
        self.running += usize::from(open.is_some());
        let next = open.map(|open| Open { since: at, ..open });
        let before = std::mem::replace(self.cap(cap), next);
        self.running -= usize::from(before.is_some());
    }

    pub(super) fn stop(&mut self, cap: CapId, thread: ThreadId, finished: bool, at: Nanos) {
        let Some(open) = self.cap(cap).take() else {
            return;
        };
        self.running -= 1;
        if finished {
            self.close(Some(open), at);
        } else {
            self.waiting.insert(thread, open.paused(at));
        }
    }

    /// Whether no spark runs or waits, so that runs of threads do not matter.
    pub(super) fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

    /// Start and duration in nanoseconds of the sparks that start in a window.
    pub(super) fn within(&self, window: Window) -> impl Iterator<Item = (u64, u64)> + '_ {
        let runs = self.starts.iter().zip(&self.durations);
        let runs = runs.map(|(&start, &duration)| (start, duration));
        runs.filter(move |&(start, _)| window.has(start))
    }
}

impl Open {
    const fn paused(self, at: Nanos) -> Self {
        Self {
            ran_ns: self.ran_ns.saturating_add(at.since(self.since).0),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: CapId = CapId(1);
    const OTHER: CapId = CapId(0);
    const THREAD: ThreadId = ThreadId(7);

    fn runs(steps: impl FnOnce(&mut SparkRuns)) -> Vec<(u64, u64)> {
        let mut runs = SparkRuns::default();
        steps(&mut runs);
        runs.within(Window::whole(1000)).collect()
    }

    #[test]
    fn a_spark_ends_where_the_next_begins() {
        let found = runs(|sparks| {
            sparks.run(CAP, THREAD, Nanos(5));
            sparks.spark(CAP, Nanos(10));
            sparks.spark(OTHER, Nanos(11));
            sparks.spark(CAP, Nanos(14));
            sparks.stop(CAP, THREAD, true, Nanos(20));
        });
        assert_eq!(found, [(10, 4), (14, 6)]);
    }

    #[test]
    fn a_spark_waits_with_its_thread() {
        let found = runs(|sparks| {
            sparks.run(CAP, THREAD, Nanos(5));
            sparks.spark(CAP, Nanos(10));
            sparks.stop(CAP, THREAD, false, Nanos(13));
            // Another thread's spark on the same capability meanwhile.
            sparks.run(CAP, ThreadId(8), Nanos(14));
            sparks.spark(CAP, Nanos(15));
            sparks.stop(CAP, ThreadId(8), true, Nanos(16));
            sparks.run(OTHER, THREAD, Nanos(20));
            sparks.stop(OTHER, THREAD, true, Nanos(24));
        });
        assert_eq!(found, [(15, 1), (10, 7)]);
    }

    #[test]
    fn what_never_ends_is_no_run() {
        let found = runs(|sparks| {
            sparks.spark(CAP, Nanos(10));
            sparks.stop(OTHER, THREAD, true, Nanos(12));
        });
        assert_eq!(found, []);
    }
}
