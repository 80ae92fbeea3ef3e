//! What is made once a log is read: whose runs are which, and where the time went.

use super::grouping::Grouping;
use super::managers::Managers;
use super::store::Store;
use super::threads::NEVER_NS;
use super::turns::{ReadyAtEnd, Turn};
use crate::account::{Account, Ledger, ReadyParts};
use eventlog::ids::Nanos;
use model::lane::Lane;
use model::place::place32;
use model::remembered::Remembered;

impl Store {
    /// Completes the lanes when the log is read: whose runs are which, and
    /// where the time went.
    pub fn settle(&mut self, end: Nanos) {
        self.end = end;
        for lane in &mut self.lanes {
            lane.runs.settle();
            lane.gc.settle();
            lane.phases.settle();
        }
        self.make_account();
        self.settled = true;
    }

    /// Walks through the log: for the account of time, and to list each thread's
    /// runs in the order of time.
    fn make_account(&mut self) {
        self.threads.settle(&self.shelf);
        let mut start = 0;
        self.lane_starts.clear();
        for lane in &self.lanes {
            self.lane_starts.push(start);
            start += place32(lane.runs.len());
        }
        self.indexes = Remembered::default();
        self.waits = Remembered::default();
        // Of threads that were ready in the end: up to when the log tells of them.
        let mut ready: Vec<(u32, u64, u64)> = Vec::new();
        for (index, thread) in self.threads.unfinished() {
            let woken = self.woken_at_end(thread.id);
            let since = Turn::ready_since(thread.why, thread.ran_ns, woken);
            let has_begun = thread.began_ns != NEVER_NS && !thread.finished;
            if let Some(since) = since.filter(|_| has_begun) {
                ready.push((index, since, self.known_end(&thread).max(since)));
            }
        }
        let known = ready.iter().map(|&(.., known)| known);
        let lost = known.filter(|&known| known < self.end.0).collect();
        let readied = std::mem::take(&mut self.readied);
        let managers = Managers::new(&self.threads, &self.instants, &self.cap_lanes);
        let mut grouping = Grouping::new(&self.threads, &self.lane_starts, managers, &self.shelf);
        let (facts, shelf) = (&self.facts, &self.shelf);
        let lanes = (&self.lanes[..], &self.cap_lanes);
        let ledger = Ledger::make(facts, self.end, lanes, readied, lost, &mut grouping, shelf);
        let Grouping {
            runs,
            waits,
            ready: ready_at,
            ..
        } = grouping;
        self.by_thread = runs.finish(&self.threads, &self.shelf);
        self.ledger = ledger;
        for (lane, waits) in self.lanes.iter_mut().zip(waits) {
            lane.runs.learn_waits(waits.idle, waits.woken_by);
        }
        let account = Account::new(&self.lanes, &self.ledger);
        let mut walker = account.walker();
        ready.sort_unstable_by_key(|&(.., known)| known);
        for (index, since, known) in ready {
            let at = ready_at.get(index).filter(|at| at.since_ns == since);
            let parts = at.map_or_else(
                || account.ready_parts(since, known),
                |at| ReadyParts {
                    paused_ns: account.pauses().still_in(since, known),
                    idle_ns: walker.some_idle_ns(Nanos(known)).saturating_sub(at.idle_ns),
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
