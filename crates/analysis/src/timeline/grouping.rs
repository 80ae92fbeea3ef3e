//! Per-thread data collected during the sweep over the log: the list of each thread's runs, and since when it is
//! ready. Both take at most some megabytes of memory at once, for any number of threads.

use super::managers::Managers;
use super::threads::{NEVER_NS, Threads};
use crate::account::runs::{Durations, SweepRun};
use crate::account::sweep::{SweepInstant, SweepVisitor};
use model::class::ManagerThread;
use model::packed_column::{BLOCK, PackedColumn};
use model::saturating::saturating_u32;
use model::spill_store::SpillStore;

/// Grouping of runs by thread. Runs arrive in time order; the result lists them thread by thread. They are
/// collected for groups of threads, each of which is counting-sorted at the end.
#[derive(Debug)]
pub(super) struct RunLists {
    groups: Vec<Group>,
    /// First thread of each group except the first group.
    firsts: Vec<u32>,
}

/// Consecutive threads with at most `MAX_RUNS` runs together, or a single thread.
#[derive(Debug)]
struct Group {
    first_thread: u32,
    end_thread: u32,
    /// Thread of each run, relative to `first_thread`.
    threads: PackedColumn<u32>,
    runs: PackedColumn<u32>,
}

impl Group {
    const MAX_RUNS: u32 = 1 << 22;

    fn new(thread: u32) -> Self {
        Self {
            first_thread: thread,
            end_thread: thread,
            threads: PackedColumn::new(),
            runs: PackedColumn::new(),
        }
    }

    /// Returns the runs of the group, thread by thread.
    fn sorted(&self, threads: &Threads) -> Vec<u32> {
        let [first, end] = [self.first_thread, self.end_thread].map(|thread| thread as usize);
        let blocks = (first - first % BLOCK..end).step_by(BLOCK);
        let firsts = blocks.flat_map(|block| threads.runs_in(block));
        let mut next: Vec<u32> = firsts
            .skip(first % BLOCK)
            .take(end - first)
            .map(|(first, _)| first)
            .collect();
        let base = next.first().copied().unwrap_or_default();
        next.iter_mut().for_each(|place| *place -= base);
        let mut sorted = vec![0; self.runs.len()];
        for (thread, run) in self.threads.iter().zip(self.runs.iter()) {
            if let Some(place) = next.get_mut(thread as usize) {
                if let Some(slot) = sorted.get_mut(*place as usize) {
                    *slot = run;
                }
                *place += 1;
            }
        }
        sorted
    }
}

impl RunLists {
    pub(super) fn new(threads: &Threads) -> Self {
        let mut groups = vec![Group::new(0)];
        let mut runs = 0_u32;
        for (thread, more) in threads.run_counts() {
            runs = runs.saturating_add(more);
            if runs > Group::MAX_RUNS && more > 0 {
                runs = more;
                groups.push(Group::new(thread));
            }
            if let Some(last) = groups.last_mut() {
                last.end_thread = thread + 1;
            }
        }
        let firsts = groups.iter().skip(1).map(|group| group.first_thread);
        Self {
            firsts: firsts.collect(),
            groups,
        }
    }

    /// Appends the next run in time order.
    #[inline]
    pub(super) fn push(&mut self, thread: u32, run: u32, spill_store: &SpillStore) {
        let group = self.firsts.partition_point(|&first| first <= thread);
        if let Some(group) = self.groups.get_mut(group) {
            group
                .threads
                .push_packing(thread - group.first_thread, spill_store);
            group.runs.push_packing(run, spill_store);
        }
    }

    /// Returns the runs of all groups, thread by thread.
    pub(super) fn finish(self, threads: &Threads, spill_store: &SpillStore) -> PackedColumn<u32> {
        let mut all = PackedColumn::new();
        for group in self.groups {
            if group.end_thread - group.first_thread == 1 {
                all.extend(group.runs.iter(), spill_store);
            } else {
                all.extend_from_slice(&group.sorted(threads), spill_store);
            }
        }
        all
    }
}

/// State of a thread when it became ready.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadyAt {
    pub(super) since_ns: u64,
    /// Time in the log, up to then, in which some capability was idle.
    pub(super) idle_ns: u64,
    /// Manager thread that woke it, if one did.
    pub(super) woken_by: Option<ManagerThread>,
}

impl ReadyAt {
    const NEVER: Self = Self {
        since_ns: NEVER_NS,
        idle_ns: 0,
        woken_by: None,
    };
}

/// Set of the threads that are currently ready, as a sparse paged array.
#[derive(Debug)]
pub(super) struct ReadySet {
    pages: Vec<Option<Box<Page>>>,
    /// Free pages, for reuse.
    unused: Vec<Box<Page>>,
}

#[derive(Debug)]
struct Page {
    ready: usize,
    at: [ReadyAt; ReadySet::PAGE],
}

impl ReadySet {
    const PAGE: usize = 256;

    /// Creates an empty set for `threads` threads.
    pub(super) fn new(threads: usize) -> Self {
        let mut pages = Vec::new();
        pages.resize_with(threads.div_ceil(Self::PAGE), || None);
        Self {
            pages,
            unused: Vec::new(),
        }
    }

    /// Marks a thread as ready.
    #[inline]
    pub(super) fn set(&mut self, thread: u32, at: ReadyAt) {
        let (page, place) = (thread as usize / Self::PAGE, thread as usize % Self::PAGE);
        let Some(slot) = self.pages.get_mut(page) else {
            return;
        };
        let page = slot.get_or_insert_with(|| {
            self.unused.pop().unwrap_or_else(|| {
                Box::new(Page {
                    ready: 0,
                    at: [ReadyAt::NEVER; Self::PAGE],
                })
            })
        });
        page.ready += usize::from(page.at[place].since_ns == NEVER_NS);
        page.at[place] = at;
    }

    /// Returns the state of a thread if it is ready.
    pub(super) fn get(&self, thread: u32) -> Option<ReadyAt> {
        let page = self.pages.get(thread as usize / Self::PAGE)?.as_ref()?;
        let at = page.at[thread as usize % Self::PAGE];
        (at.since_ns != NEVER_NS).then_some(at)
    }

    /// Records the manager that woke a thread, if the thread is ready since `since_ns`. Returns whether it is.
    pub(super) fn learn_waker(
        &mut self,
        thread: u32,
        since_ns: u64,
        manager: ManagerThread,
    ) -> bool {
        let (page, place) = (thread as usize / Self::PAGE, thread as usize % Self::PAGE);
        let page = self.pages.get_mut(page).and_then(Option::as_mut);
        let Some(at) = page.map(|page| &mut page.at[place]) else {
            return false;
        };
        let is_ready = at.since_ns == since_ns;
        if is_ready {
            at.woken_by = Some(manager);
        }
        is_ready
    }

    /// Removes a thread. Returns its state if it was ready.
    #[inline]
    pub(super) fn take(&mut self, thread: u32) -> Option<ReadyAt> {
        let slot = self.pages.get_mut(thread as usize / Self::PAGE)?;
        let page = slot.as_mut()?;
        let at = &mut page.at[thread as usize % Self::PAGE];
        let was = std::mem::replace(at, ReadyAt::NEVER);
        let was = Some(was).filter(|was| was.since_ns != NEVER_NS)?;
        page.ready -= 1;
        if page.ready == 0 {
            self.unused.extend(slot.take());
        }
        Some(was)
    }
}

/// Sweep watcher that lists the runs of each thread, and measures for how much of the ready time before them some
/// capability was idle.
pub(super) struct Grouping<'a> {
    lane_starts: &'a [u32],
    spill_store: &'a SpillStore,
    pub(super) runs: RunLists,
    pub(super) ready: ReadySet,
    pub(super) waits: Vec<WaitsBeforeRuns>,
    managers: Managers<'a>,
}

/// Ends of the waits before the runs of a lane.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitsBeforeRuns {
    /// Part of the ready time in which some capability was idle.
    pub(super) idle: Durations,
    /// Numbers of the manager threads that woke the threads, or 0. Empty if the log has no managers.
    pub(super) woken_by: PackedColumn<u8>,
}

impl<'a> Grouping<'a> {
    pub(super) fn new(
        threads: &Threads,
        lane_starts: &'a [u32],
        managers: Managers<'a>,
        spill_store: &'a SpillStore,
    ) -> Self {
        Self {
            lane_starts,
            spill_store,
            runs: RunLists::new(threads),
            ready: ReadySet::new(threads.len()),
            waits: vec![WaitsBeforeRuns::default(); lane_starts.len()],
            managers,
        }
    }
}

impl SweepVisitor for Grouping<'_> {
    #[inline]
    fn run_starts(&mut self, lane: usize, place: usize, run: &SweepRun, now: SweepInstant) {
        let place = self.lane_starts[lane] + saturating_u32(place);
        self.runs.push(run.thread, place, self.spill_store);
        let ready = self.ready.take(run.thread);
        let waits = &mut self.waits[lane];
        if self.managers.any() {
            let woken_by = ready.and_then(|ready| ready.woken_by);
            let number = woken_by.map_or(0, ManagerThread::number);
            waits.woken_by.push_packing(number, self.spill_store);
            self.managers.start_run(lane, run, &mut self.ready);
        }
        let how_long = if run.was_ready {
            let told = ready.filter(|ready| ready.since_ns == run.ready_since);
            told.map(|ready| {
                let idle_ns = now.some_idle_ns - ready.idle_ns;
                (idle_ns, now.paused_until > ready.since_ns)
            })
        } else {
            Some((0, false))
        };
        waits.idle.put(how_long, self.spill_store);
    }

    #[inline]
    fn stays_ready(&mut self, run: &SweepRun, now: SweepInstant) {
        self.became_runnable(run.thread, now);
    }

    #[inline]
    fn became_runnable(&mut self, thread: u32, now: SweepInstant) {
        let at = ReadyAt {
            since_ns: now.time,
            idle_ns: now.some_idle_ns,
            woken_by: self.managers.take_waker(thread, now.time),
        };
        self.ready.set(thread, at);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_ready_ones_are_a_map(steps in prop::collection::vec((0u32..900, any::<bool>()), 0..400)) {
            let (mut ready, mut map) = (ReadySet::new(900), BTreeMap::new());
            for (at, (thread, sets)) in (0..).zip(steps) {
                if sets {
                    ready.set(thread, ReadyAt { since_ns: at, idle_ns: 7, woken_by: None });
                    map.insert(thread, at);
                } else {
                    let was = ready.take(thread).map(|was| was.since_ns);
                    prop_assert_eq!(was, map.remove(&thread));
                }
                prop_assert_eq!(ready.get(thread).map(|at| at.since_ns), map.get(&thread).copied());
            }
        }
    }
}
