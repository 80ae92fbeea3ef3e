//! Final computations once a log has been read to its end: the list of each thread's runs, and the time attribution.

use super::grouping::Grouping;
use super::managers::Managers;
use super::store::Store;
use super::threads::NEVER_NS;
use super::turns::{ReadyAtEnd, Turn};
use crate::account::{AttributionData, ReadyParts, TimeAttribution};
use eventlog::ids::Nanos;
use model::byte_lru::ByteLru;
use model::lane::Lane;
use model::saturating::saturating_u32;
use model::sorting::CompactSort;

impl Store {
    /// Completes the store: sorts the lanes, lists the runs of each thread, and computes the time attribution.
    pub fn finish(&mut self, end: Nanos) {
        self.end = end;
        for lane in &mut self.lanes {
            lane.runs.index_all_runs();
            lane.gc.sort_and_clip();
            lane.phases.sort_and_clip();
        }
        self.make_account();
        self.is_finished = true;
    }

    /// Sweeps over the log to compute the time attribution and the list of each thread's runs in time order.
    fn make_account(&mut self) {
        self.threads.finish(&self.spill_store);
        let mut start = 0;
        self.lane_starts.clear();
        for lane in &self.lanes {
            self.lane_starts.push(start);
            start += saturating_u32(lane.runs.len());
        }
        self.indexes = ByteLru::default();
        self.waits = ByteLru::default();
        // Threads that were ready at the end: index, ready since, and end of the log's information about them.
        let mut ready: Vec<(u32, u64, u64)> = Vec::new();
        for (index, thread) in self.threads.unfinished() {
            let woken = self.woken_at_end(thread.id);
            let since = Turn::ready_since(thread.last_stop, thread.last_run_end_ns, woken);
            let has_begun = thread.began_ns != NEVER_NS && !thread.finished;
            if let Some(since) = since.filter(|_| has_begun) {
                ready.push((index, since, self.known_end(&thread).max(since)));
            }
        }
        let known = ready.iter().map(|&(.., known)| known);
        let lost = known.filter(|&known| known < self.end.0).collect();
        let became_runnable = std::mem::take(&mut self.became_runnable);
        let managers = Managers::new(&self.threads, &self.instants, &self.cap_lanes);
        let mut grouping = Grouping::new(
            &self.threads,
            &self.lane_starts,
            managers,
            &self.spill_store,
        );
        let (facts, spill_store) = (&self.facts, &self.spill_store);
        let lanes = (&self.lanes[..], &self.cap_lanes);
        let attribution_data = AttributionData::make(
            facts,
            self.end,
            lanes,
            became_runnable,
            lost,
            &mut grouping,
            spill_store,
        );
        let Grouping {
            runs,
            waits,
            ready: ready_at,
            ..
        } = grouping;
        self.runs_by_thread = runs.finish(&self.threads, &self.spill_store);
        self.attribution_data = attribution_data;
        for (lane, waits) in self.lanes.iter_mut().zip(waits) {
            lane.runs.set_waits(waits.idle, waits.woken_by);
        }
        let account = TimeAttribution::new(&self.lanes, &self.attribution_data);
        let mut sweep_cursor = account.sweep_cursor();
        ready.sort_small_by_key(|&(.., known)| known);
        for (index, since, known) in ready {
            let at = ready_at.get(index).filter(|at| at.since_ns == since);
            let parts = at.map_or_else(
                || account.ready_parts(since, known),
                |at| ReadyParts {
                    paused_ns: account.pauses().paused_in_ns(since, known),
                    idle_ns: sweep_cursor
                        .some_idle_ns(Nanos(known))
                        .saturating_sub(at.idle_ns),
                },
            );
            let woken_by = at.and_then(|at| at.woken_by);
            if let Some(thread) = self.threads.get(index) {
                let ready = ReadyAtEnd { parts, woken_by };
                self.ready_at_end.insert(thread.id, ready);
            }
        }
    }
}
