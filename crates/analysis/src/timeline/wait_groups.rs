//! Grouping of threads by label, to analyze the waits of many threads. Threads with the same label form a group;
//! of a million threads without one, those with the shortest waits form a group.

use std::cmp::Reverse;
use std::sync::LazyLock;

use super::row_selection::RowSelection;
use super::store::{FEW_THREADS, Store};
use super::threads::Thread;
use crate::yielder::{NoYield, Yield, block_on};
use eventlog::hash::SeededMap;
use eventlog::ids::ThreadId;
use model::class::StopCode;
use model::saturating::saturating_u32;
use model::sorting::CompactSort;

/// Maximum number of threads without a label, and of labels, that form groups of their own.
pub(crate) const MAX_GROUPS: usize = 10_000;
/// Maximum number of listed threads, by longest wait.
pub const MAX_LISTED: usize = 1000;

/// Name of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupName {
    /// Common label of the threads.
    Label(Box<str>),
    /// A single thread without a label.
    Thread(ThreadId),
    /// The given number of remaining threads.
    More(u64),
}

impl std::fmt::Display for GroupName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Label(label) => f.write_str(label),
            Self::Thread(thread) => write!(f, "thread {thread}"),
            Self::More(count) => write!(f, "{count} more threads"),
        }
    }
}

/// Wait time of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadWaitTime {
    /// Thread that waited.
    pub thread: ThreadId,
    /// Wait time in the whole log, in nanoseconds.
    pub ns: u64,
    /// Number of runs.
    pub runs: u32,
}

/// Groups of threads that waited.
#[derive(Clone, Debug, Default)]
pub struct WaitGroups {
    /// Name of each group.
    pub names: Vec<GroupName>,
    /// Threads with the longest waits.
    pub longest: Vec<ThreadWaitTime>,
    /// Indexes of the included threads; `None` for all.
    places: Option<Vec<u32>>,
    labels: SeededMap<Box<str>, u32>,
    /// Groups of single threads without a label, by thread index.
    unlabeled: SeededMap<u32, u32>,
    /// Group of the remaining threads, if there are any.
    more: Option<u32>,
}

/// Sums over the threads with one label.
#[derive(Clone, Copy, Debug)]
struct LabelSums {
    ns: u64,
    /// Index of the first thread with the label.
    first: u32,
    threads: u64,
}

/// Returns the time that a thread lived and did not run, in nanoseconds.
fn waited_ns(store: &Store, thread: &Thread) -> u64 {
    let Some(life) = thread.life(store.end()) else {
        return 0;
    };
    // The sum only lacks the last run of a thread that was running at the end.
    let lane = Some(*thread).filter(|thread| thread.last_stop == StopCode::OPEN);
    let lane = lane.and_then(|thread| {
        let place = store.threads.find(thread.id)?;
        store.bare_life_of(place, thread)
    });
    let open = lane.and_then(|lane| Some(lane.turn(lane.runs().checked_sub(1)?)));
    let ran = thread.run_ns + open.map_or(0, |turn| turn.run_ns());
    life.duration().0.saturating_sub(ran)
}

impl WaitGroups {
    /// Computes the groups of some threads, given by index, or of all.
    async fn compute(store: &Store, places: Option<Vec<u32>>, yielder: &dyn Yield) -> Self {
        let mut groups = Self {
            places,
            ..Self::default()
        };
        let mut labels: SeededMap<&str, LabelSums> = SeededMap::default();
        let mut unlabeled = RowSelection::new(MAX_GROUPS);
        let mut longest = RowSelection::new(MAX_LISTED);
        let mut reader = store.threads.reader();
        for place in groups.thread_indexes(store) {
            if place.is_multiple_of(FEW_THREADS) {
                yielder.yield_if_due().await;
            }
            let Some(thread) = reader.get(place) else {
                continue;
            };
            let ns = waited_ns(store, &thread);
            if ns == 0 {
                continue;
            }
            longest.push((Reverse(ns), thread.id, thread.runs));
            let Some(label) = store.threads.label(&thread) else {
                unlabeled.push((Reverse(ns), place, thread.id));
                continue;
            };
            let of = labels.entry(label).or_insert(LabelSums {
                ns: 0,
                first: place,
                threads: 0,
            });
            of.ns = of.ns.saturating_add(ns);
            of.threads += 1;
        }
        let longest = longest.finish().into_iter();
        let waited = |(Reverse(ns), thread, runs)| ThreadWaitTime { thread, ns, runs };
        groups.longest = longest.map(waited).collect();
        groups.name(labels, unlabeled);
        groups
    }

    /// Creates the groups with the longest waits, in the order of first appearance of their threads, and one group
    /// of the remaining threads.
    fn name(
        &mut self,
        labels: SeededMap<&str, LabelSums>,
        unlabeled: RowSelection<(Reverse<u64>, u32, ThreadId)>,
    ) {
        let mut of_labels = RowSelection::new(MAX_GROUPS);
        let mut more = unlabeled.total();
        for (label, of) in labels {
            more += of.threads;
            of_labels.push((Reverse(of.ns), of.first, of.threads, label));
        }
        let mut kept: Vec<(u32, GroupName)> = Vec::new();
        for (_, first, threads, label) in of_labels.finish() {
            more -= threads;
            kept.push((first, GroupName::Label(label.into())));
        }
        for (_, first, thread) in unlabeled.finish() {
            more -= 1;
            kept.push((first, GroupName::Thread(thread)));
        }
        kept.sort_small_by_key(|&(first, _)| first);
        for (group, (first, name)) in (0..).zip(kept) {
            match &name {
                GroupName::Label(label) => _ = self.labels.insert(label.clone(), group),
                _ => _ = self.unlabeled.insert(first, group),
            }
            self.names.push(name);
        }
        if more > 0 {
            self.more = u32::try_from(self.names.len()).ok();
            self.names.push(GroupName::More(more));
        }
    }

    /// Returns the indexes of the included threads.
    pub(crate) fn thread_indexes(&self, store: &Store) -> impl Iterator<Item = u32> + use<> {
        let all = if self.places.is_none() {
            0..saturating_u32(store.thread_count())
        } else {
            0..0
        };
        all.chain(self.places.clone().unwrap_or_default())
    }

    /// Returns the group of a thread that waited.
    pub(crate) fn group_of(&self, store: &Store, place: u32, thread: &Thread) -> Option<usize> {
        let group = match store.threads.label(thread) {
            Some(label) => self.labels.get(label),
            None => self.unlabeled.get(&place),
        };
        Some(group.copied().or(self.more)? as usize)
    }
}

impl Store {
    /// Returns the groups of all threads; empty until the log has been read to its end.
    pub(crate) fn wait_groups(&self) -> &WaitGroups {
        static NONE: LazyLock<WaitGroups> = LazyLock::new(WaitGroups::default);
        if !self.is_finished() {
            return &NONE;
        }
        let all = || block_on(WaitGroups::compute(self, None, &NoYield));
        self.wait_groups.get_or_init(all)
    }

    /// Computes the result of [`wait_groups`](Self::wait_groups), unless it is cached.
    pub(crate) async fn prepare_wait_groups(&self, yielder: &dyn Yield) {
        if self.is_finished() && self.wait_groups.get().is_none() {
            let all = WaitGroups::compute(self, None, yielder).await;
            // Another computation may have set it meanwhile.
            let _ = self.wait_groups.set(all);
        }
    }

    /// Returns the groups of some threads.
    pub(crate) fn wait_groups_of(&self, threads: &[ThreadId]) -> WaitGroups {
        if !self.is_finished() {
            return WaitGroups::default();
        }
        let found = threads
            .iter()
            .filter_map(|thread| self.threads.find(*thread));
        let mut places: Vec<u32> = found.collect();
        places.sort_unstable();
        places.dedup();
        block_on(WaitGroups::compute(self, Some(places), &NoYield))
    }
}
