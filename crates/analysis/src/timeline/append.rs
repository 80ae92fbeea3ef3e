//! Appending the threads of a slice to those of the log before it.
//!
//! What the first events of each thread mean for the time before the slice is resolved here, in a few steps per
//! thread; all other columns are copied.

use std::collections::BTreeMap;

use super::deep_stacks::DeepStack;
use super::slice::{BoundaryState, EntryAssumption, SliceThreads, ThreadHead};
use super::store::Store;
use super::threads::{NEVER_NS, Thread};
use super::turns::Turn;
use crate::account::runs::RunRef;
use crate::automata::thread_state::{Activity, Input, State};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::texts::TextId;
use model::saturating::saturating_u32;
use model::sorting::CompactCollect;

/// Sentinel index of a thread that the log does not have yet.
const NO_INDEX: u32 = u32::MAX;

impl Store {
    /// Appends a slice.
    ///
    /// # Errors
    /// Returns the true state at the start of the slice if the slice was analyzed with wrong assumptions. It must
    /// then be analyzed again from this state.
    pub(crate) fn append(&mut self, slice: SliceThreads) -> Result<(), Box<BoundaryState>> {
        // The index in this store of each thread of the slice.
        let known = slice.threads.iter().map(|thread| {
            let index = self.threads.find(thread.id);
            index.unwrap_or(NO_INDEX)
        });
        let mut store_indexes: Vec<u32> = known.collect();
        if !self.assumptions_hold(&slice, &store_indexes) {
            return Err(Box::new(self.boundary_state(&store_indexes)));
        }
        for &index in &slice.order {
            let store_index = &mut store_indexes[index as usize];
            if *store_index == NO_INDEX {
                *store_index = self.threads.index(slice.threads[index as usize].id);
            }
        }
        let mut first_run_ready: Vec<(RunRef, Option<u64>)> = Vec::new();
        let mut spurious_wakeups = Vec::new();
        self.advance_threads(
            &slice,
            &store_indexes,
            &mut first_run_ready,
            &mut spurious_wakeups,
        );
        self.append_columns(slice, &store_indexes, &first_run_ready, &spurious_wakeups);
        Ok(())
    }

    /// Packs threads without recent events. Called after a slice and its labels have been added.
    pub(crate) fn pack_idle(&mut self) {
        self.threads.pack_idle(&self.spill_store);
    }

    /// Returns whether the assumptions of the slice hold, and its runs start after the ends of those before it.
    fn assumptions_hold(&self, slice: &SliceThreads, store_indexes: &[u32]) -> bool {
        let mut lane_ends: BTreeMap<Option<CapId>, u64> = self.lane_ends().collect_small();
        let unseen = Thread::new(ThreadId(0));
        for (head, &store_index) in slice.heads.iter().zip(store_indexes) {
            let thread = self.threads.get(store_index).unwrap_or(unseen);
            let right = match (head.assumption, thread.state) {
                (EntryAssumption::Certain | EntryAssumption::NoEvidence, _) => true,
                (EntryAssumption::NotCreated, state) => state == State::Unseen,
                (
                    EntryAssumption::NotRunning(_, at),
                    State::Unseen | State::Active(_, Activity::Blocked(_)),
                ) => thread.last_run_end_ns <= at.0,
                (EntryAssumption::Running(_, at), State::Active(since, Activity::Running(cap))) => {
                    let before = lane_ends.insert(cap, at.0);
                    let after = before.unwrap_or_default().max(thread.last_run_end_ns);
                    after <= since.0 && since <= at
                }
                _ => false,
            };
            if !right {
                return false;
            }
        }
        let mut lanes = slice.lanes.iter().enumerate();
        lanes.all(|(lane, runs)| {
            let end = lane_ends.get(&slice.cap_lanes.cap(lane));
            let end = end.copied().unwrap_or_default();
            runs.first_start().is_none_or(|start| end <= start)
        })
    }

    /// Returns the end of the last run of each capability with runs.
    fn lane_ends(&self) -> impl Iterator<Item = (Option<CapId>, u64)> + '_ {
        let lanes = self.lanes.iter().enumerate();
        let ends = lanes.map(|(lane, of)| (self.cap_lanes.cap(lane), of.runs.last_end()));
        ends.filter(|&(_, end_ns)| end_ns > 0)
    }

    /// Returns the state at the start of a slice with these threads.
    fn boundary_state(&self, store_indexes: &[u32]) -> BoundaryState {
        let known = store_indexes
            .iter()
            .filter_map(|&store_index| self.threads.get(store_index));
        BoundaryState {
            complete: true,
            threads: known
                .map(|thread| Thread {
                    label: TextId::NONE,
                    runs: 0,
                    run_ns: 0,
                    ..thread
                })
                .collect(),
            lane_ends_ns: self.lane_ends().collect(),
        }
    }

    /// Advances each thread to the point where the slice knows its state, then merges the slice's state.
    fn advance_threads(
        &mut self,
        slice: &SliceThreads,
        store_indexes: &[u32],
        first_run_ready: &mut Vec<(RunRef, Option<u64>)>,
        spurious_wakeups: &mut Vec<u32>,
    ) {
        for ((head, &store_index), local) in
            slice.heads.iter().zip(store_indexes).zip(&slice.threads)
        {
            if self.is_unaffected(head, store_index) {
                spurious_wakeups
                    .extend((head.became_runnable != u32::MAX).then_some(head.became_runnable));
                continue;
            }
            let became_runnable = self.resolve_assumption(head, store_index);
            if head.became_runnable != u32::MAX && !became_runnable {
                spurious_wakeups.push(head.became_runnable);
            }
            let Some(thread) = self.threads.at_mut(store_index) else {
                continue;
            };
            if let Some(run) = head.assumed_run
                && let Some(lane) = slice.lanes.get(run.lane as usize)
                && let Some(start) = lane.start(run.place as usize)
            {
                let has_begun = thread.began_ns != NEVER_NS;
                let woken = thread.woken().map(|woken| woken.0);
                let since = Turn::ready_since(thread.last_stop, thread.last_run_end_ns, woken);
                let since = since.filter(|_| has_begun);
                first_run_ready.push((run, since.map(|since| start.saturating_sub(since))));
            }
            thread.merge_slice(head, local);
        }
        spurious_wakeups.sort_unstable();
    }

    /// Returns whether the slice leaves the state of a thread unchanged, as if it has only wakeups of a finished thread.
    fn is_unaffected(&self, head: &ThreadHead, store_index: u32) -> bool {
        let is_quiet = head.assumption == EntryAssumption::NoEvidence && !head.sets_cap;
        let thread = is_quiet.then(|| self.threads.get(store_index)).flatten();
        thread.is_some_and(|thread| thread.stopped().is_none())
    }

    /// Passes to a thread's automaton the inputs that the slice could not. Returns whether the first wakeup made
    /// the thread ready.
    fn resolve_assumption(&mut self, head: &ThreadHead, store_index: u32) -> bool {
        let Some(thread) = self.threads.at_mut(store_index) else {
            return false;
        };
        let woken = head.woken_ns != NEVER_NS && thread.wake(Nanos(head.woken_ns));
        match head.assumption {
            EntryAssumption::Certain
            | EntryAssumption::NoEvidence
            | EntryAssumption::NotCreated => {}
            EntryAssumption::NotRunning(cap, at) => {
                self.step(store_index, Input::Run(cap), at, cap)
            }
            EntryAssumption::Running(status, at) => {
                self.step(store_index, Input::Stop(status), at, None);
            }
        }
        woken
    }

    fn append_columns(
        &mut self,
        mut slice: SliceThreads,
        store_indexes: &[u32],
        first_run_ready: &[(RunRef, Option<u64>)],
        spurious_wakeups: &[u32],
    ) {
        for &(run, ready_ns) in first_run_ready {
            slice.lanes[run.lane as usize].set_ready(run.place as usize, ready_ns);
        }
        let store_index = |index: u32| {
            store_indexes
                .get(index as usize)
                .copied()
                .unwrap_or(NO_INDEX)
        };
        for (index, runs) in slice.repeated_stops {
            let thread = store_index(index);
            // `runs` already includes the runs of this slice.
            let now = self.threads.get(thread).map_or(0, |thread| thread.runs);
            let before = now - slice.threads[index as usize].runs;
            let all = self.repeated_stops.entry(thread).or_default();
            all.extend(runs.into_iter().map(|run| before + run));
        }
        let lanes = 0..slice.lanes.len();
        let lanes: Vec<usize> = lanes
            .map(|lane| self.make_lane(slice.cap_lanes.cap(lane)))
            .collect();
        for (run, owner) in slice.black_hole_owners {
            let lane = lanes[run.lane as usize];
            let first = saturating_u32(self.lanes[lane].runs.count());
            let run = RunRef {
                lane: saturating_u32(lane),
                place: run.place.saturating_add(first),
            };
            self.black_hole_owners.insert(run, owner);
        }
        let deep_stacks = slice.deep_stacks.into_iter();
        self.deep_stacks.extend(deep_stacks.map(|deep| DeepStack {
            thread: store_index(deep.thread),
            ..deep
        }));
        let spill_store = &self.spill_store;
        for (lane, slice) in lanes.into_iter().zip(&slice.lanes) {
            self.lanes[lane]
                .runs
                .append(slice, store_index, spill_store);
        }
        self.instants
            .append(&slice.instants, store_index, spill_store);
        (self.became_runnable).append(
            &slice.became_runnable,
            spurious_wakeups,
            store_index,
            spill_store,
        );
        self.anomalies.append(&slice.anomalies);
    }
}

impl Thread {
    /// Merges the state at the end of a slice, after its first events were processed.
    fn merge_slice(&mut self, head: &ThreadHead, slice: &Self) {
        if head.assumption == EntryAssumption::NoEvidence {
            if head.sets_cap {
                self.last_cap = slice.last_cap;
            }
            return;
        }
        self.state = slice.state;
        let in_first_run = matches!(head.assumption, EntryAssumption::NotRunning(..))
            && head.assumed_run.is_none();
        if !in_first_run {
            self.woken_ns = slice.woken_ns;
        }
        if head.sets_cap || slice.last_cap.is_some() {
            self.last_cap = slice.last_cap;
        }
        self.began_ns = self.began_ns.min(slice.began_ns);
        self.created |= slice.created;
        if slice.created || slice.runs > 0 || head.assumption == EntryAssumption::Certain {
            self.last_stop = slice.last_stop;
            self.last_run_end_ns = slice.last_run_end_ns;
            self.finished = slice.finished;
        }
        self.runs += slice.runs;
        self.run_ns += slice.run_ns;
    }
}
