//! Threads by what they are called, for looking at how many threads waited:
//! those with one label are together, and of a million without one those that
//! waited least.

use std::cmp::Reverse;
use std::sync::LazyLock;

use super::rows::Rows;
use super::store::{FEW_THREADS, Store};
use super::threads::Thread;
use crate::listen::{Alone, Listen, at_once};
use eventlog::hash::SeededMap;
use eventlog::ids::ThreadId;
use model::class::StopCode;
use model::place::place32;

/// So many threads without a label, and so many labels, stand for themselves.
pub(crate) const MOST_GROUPS: usize = 10_000;
/// How many of the threads that waited longest are listed.
pub const MOST_LISTED: usize = 1000;

/// What the threads of a group are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupName {
    /// Their label.
    Label(Box<str>),
    /// One thread without a label.
    Thread(ThreadId),
    /// So many threads that are not worth a group of their own.
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

/// A thread that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// The thread that waited.
    pub thread: ThreadId,
    /// For how long, in the whole log.
    pub ns: u64,
    /// How often it ran.
    pub runs: u32,
}

/// Threads that waited, by group.
#[derive(Clone, Debug, Default)]
pub struct WaitGroups {
    /// What each group is called.
    pub names: Vec<GroupName>,
    /// The threads that waited longest.
    pub longest: Vec<Waited>,
    /// The threads that were asked for; `None` is all.
    places: Option<Vec<u32>>,
    labels: SeededMap<Box<str>, u32>,
    /// Threads without a label, by their places, that are groups.
    alone: SeededMap<u32, u32>,
    /// The group of all others.
    more: Option<u32>,
}

/// What is known of a label.
#[derive(Clone, Copy, Debug)]
struct OfLabel {
    ns: u64,
    /// The first thread that has it.
    first: u32,
    threads: u64,
}

/// For how long a thread waited: it lived and did not run.
fn waited_ns(store: &Store, thread: &Thread) -> u64 {
    let Some(life) = thread.life(store.end()) else {
        return 0;
    };
    // Only of a thread that ran in the end the last run is not in the sum.
    let lane = Some(*thread).filter(|thread| thread.why == StopCode::OPEN);
    let lane = lane.and_then(|thread| store.bare_life_of(thread));
    let open = lane.and_then(|lane| Some(lane.turn(lane.runs().checked_sub(1)?)));
    let ran = thread.run_ns + open.map_or(0, |turn| turn.duration(2));
    life.duration().0.saturating_sub(ran)
}

impl WaitGroups {
    /// The groups of some threads, given by their places in the order in which threads
    /// were first met; `None` is all.
    async fn of(store: &Store, places: Option<Vec<u32>>, listen: &dyn Listen) -> Self {
        let mut groups = Self {
            places,
            ..Self::default()
        };
        let mut labels: SeededMap<&str, OfLabel> = SeededMap::default();
        let mut alone = Rows::new(0..MOST_GROUPS as u64);
        let mut longest = Rows::new(0..MOST_LISTED as u64);
        let mut reader = store.threads.reader();
        for place in groups.places(store) {
            if place.is_multiple_of(FEW_THREADS) {
                listen.listen().await;
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
                alone.push((Reverse(ns), place, thread.id));
                continue;
            };
            let of = labels.entry(label).or_insert(OfLabel {
                ns: 0,
                first: place,
                threads: 0,
            });
            of.ns = of.ns.saturating_add(ns);
            of.threads += 1;
        }
        let longest = longest.finish().into_iter();
        let waited = |(Reverse(ns), thread, runs)| Waited { thread, ns, runs };
        groups.longest = longest.map(waited).collect();
        groups.name(labels, alone);
        groups
    }

    /// Names the groups that waited longest, in the order in which their threads were
    /// met, and makes one of all others.
    fn name(
        &mut self,
        labels: SeededMap<&str, OfLabel>,
        alone: Rows<(Reverse<u64>, u32, ThreadId)>,
    ) {
        let mut of_labels = Rows::new(0..MOST_GROUPS as u64);
        let mut more = alone.total();
        for (label, of) in labels {
            more += of.threads;
            of_labels.push((Reverse(of.ns), of.first, of.threads, label));
        }
        let mut kept: Vec<(u32, GroupName)> = Vec::new();
        for (_, first, threads, label) in of_labels.finish() {
            more -= threads;
            kept.push((first, GroupName::Label(label.into())));
        }
        for (_, first, thread) in alone.finish() {
            more -= 1;
            kept.push((first, GroupName::Thread(thread)));
        }
        kept.sort_unstable_by_key(|&(first, _)| first);
        for (group, (first, name)) in (0..).zip(kept) {
            match &name {
                GroupName::Label(label) => _ = self.labels.insert(label.clone(), group),
                _ => _ = self.alone.insert(first, group),
            }
            self.names.push(name);
        }
        if more > 0 {
            self.more = u32::try_from(self.names.len()).ok();
            self.names.push(GroupName::More(more));
        }
    }

    /// The places of all threads that were asked for.
    pub(crate) fn places(&self, store: &Store) -> impl Iterator<Item = u32> + use<> {
        let all = if self.places.is_none() {
            0..place32(store.thread_count())
        } else {
            0..0
        };
        all.chain(self.places.clone().unwrap_or_default())
    }

    /// The group of a thread that waited.
    pub(crate) fn group_of(&self, store: &Store, place: u32, thread: &Thread) -> Option<usize> {
        let group = match store.threads.label(thread) {
            Some(label) => self.labels.get(label),
            None => self.alone.get(&place),
        };
        Some(group.copied().or(self.more)? as usize)
    }
}

impl Store {
    /// All threads that waited; none before the log is read to its end.
    #[must_use]
    pub(crate) fn wait_groups(&self) -> &WaitGroups {
        static NONE: LazyLock<WaitGroups> = LazyLock::new(WaitGroups::default);
        if !self.is_settled() {
            return &NONE;
        }
        let all = || at_once(WaitGroups::of(self, None, &Alone));
        self.wait_groups.get_or_init(all)
    }

    /// Makes what [`wait_groups`](Self::wait_groups) has, if it is not there yet.
    pub(crate) async fn prepare_wait_groups(&self, listen: &dyn Listen) {
        if self.is_settled() && self.wait_groups.get().is_none() {
            let all = WaitGroups::of(self, None, listen).await;
            // Another answer may have made the same meanwhile.
            let _ = self.wait_groups.set(all);
        }
    }

    /// Those of some threads.
    #[must_use]
    pub(crate) fn wait_groups_of(&self, threads: &[ThreadId]) -> WaitGroups {
        if !self.is_settled() {
            return WaitGroups::default();
        }
        let found = threads
            .iter()
            .filter_map(|thread| self.threads.find(*thread));
        let mut places: Vec<u32> = found.collect();
        places.sort_unstable();
        places.dedup();
        at_once(WaitGroups::of(self, Some(places), &Alone))
    }
}
