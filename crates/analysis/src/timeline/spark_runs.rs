//! Run times of sparks, from the events of individual sparks (`+RTS -lf`).
//!
//! A spark runs in a thread that runs sparks: from `SparkRun` or `SparkSteal` to the next of them in that thread,
//! or to the thread's end. While the thread is stopped, the spark waits with it, even if it continues on another
//! capability.
//!
//! | current spark | event | next spark | result |
//! |---|---|---|---|
//! | any | `SparkRun`, `SparkSteal` in a run of the thread | a new one | the finished spark, if there was one |
//! | some | the thread stops, finished | none | the finished spark |
//! | some | the thread stops otherwise, or runs again | the same | |
//! | some | the log ends | none | |
//!
//! A spark belongs to the thread that runs on its capability at that time. If one run ends and another starts at
//! that time, it belongs to the latter; if none starts, to the former. A spark outside of all runs, as in damaged
//! logs, is ignored.

use serde::{Deserialize, Serialize};

use super::instants::InstantKind;
use super::store::Store;
use super::threads::Thread;
use eventlog::ids::{CapId, Nanos};
use model::lane::Lane;

/// A spark that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SparkRun {
    /// Time at which it was taken from a pool.
    pub start: Nanos,
    /// Run time in nanoseconds, without the time in which its thread was stopped.
    pub ran_ns: u64,
}

impl Store {
    /// Returns the sparks that ran to their end, by start time; none until the log has been read to its end.
    /// Computed on first use.
    pub fn spark_runs(&self) -> &[SparkRun] {
        if !self.is_finished() {
            return &[];
        }
        self.spark_runs.get_or_init(|| self.find_spark_runs())
    }

    fn find_spark_runs(&self) -> Vec<SparkRun> {
        let mut sparks: Vec<(u32, u64)> = Vec::new();
        for cap in self.instants.caps() {
            self.threads_of_sparks(cap, &mut sparks);
        }
        sparks.sort_unstable();
        let mut runs = Vec::with_capacity(sparks.len());
        for sparks in sparks.chunk_by(|a, b| a.0 == b.0) {
            let thread = sparks.first();
            let thread = thread.and_then(|&(thread, _)| self.threads.get(thread));
            if let Some(thread) = thread {
                self.spark_runs_of(&thread, sparks.iter().map(|&(_, at)| at), &mut runs);
            }
        }
        runs.sort_unstable();
        runs
    }

    /// Appends the starts of sparks on a capability, each with the index of its thread.
    fn threads_of_sparks(&self, cap: CapId, sparks: &mut Vec<(u32, u64)>) {
        let Some(lane) = self.cap(cap) else { return };
        let kinds = [InstantKind::SparkRun, InstantKind::SparkStolen];
        for moments in kinds.map(|kind| self.instants.of_kind(cap, kind)) {
            let moments = moments.into_iter().flat_map(|moments| {
                let places = 0..moments.len();
                places.filter_map(|place| moments.time_ns(place))
            });
            let mut place = 0;
            for at in moments {
                let running = lane.runs.run_at(at, &mut place);
                let ending = || {
                    let before = place.checked_sub(1)?;
                    (lane.runs.span(before).1 == at).then_some(before)
                };
                let thread = running.or_else(ending);
                let thread = thread.and_then(|run| lane.runs.thread_at(run));
                sparks.extend(thread.map(|thread| (thread, at)));
            }
        }
    }

    /// Appends the sparks of one thread, which start at `starts`.
    fn spark_runs_of(
        &self,
        thread: &Thread,
        mut starts: impl Iterator<Item = u64>,
        found: &mut Vec<SparkRun>,
    ) {
        let first = thread.first_run as usize;
        let places = first..first + thread.runs as usize;
        let mut runs = places.map(|place| self.run_span(self.thread_run(place)));
        let (mut run, mut ran_ns) = (runs.next(), 0);
        // Run time of the thread up to a time; calls must use increasing times.
        let mut ran_until = |at: u64| {
            while let Some((start, end)) = run.filter(|&(_, end)| end <= at) {
                ran_ns += end - start;
                run = runs.next();
            }
            ran_ns + run.map_or(0, |(start, _)| at.saturating_sub(start))
        };
        let Some(mut start) = starts.next() else {
            return;
        };
        let mut ran_before = ran_until(start);
        for end in starts.chain(thread.finished.then_some(thread.last_run_end_ns)) {
            let ran = ran_until(end);
            found.push(SparkRun {
                start: Nanos(start),
                ran_ns: ran - ran_before,
            });
            (start, ran_before) = (end, ran);
        }
    }
}
