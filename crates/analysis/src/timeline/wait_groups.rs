//! Threads by what they are called, for looking at how many threads waited:
//! those with one label are together, and of a million without one those that
//! waited least.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::store::Store;
use super::threads::Thread;
use eventlog::ids::ThreadId;
use model::class::StopCode;

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
    /// The threads, by their places in the order in which they were first
    /// met, each with the number of its group.
    pub members: Vec<(u32, u32)>,
    /// The threads that waited longest.
    pub longest: Vec<Waited>,
}

/// For how long a thread waited: it lived and did not run.
fn waited_ns(store: &Store, thread: &Thread) -> u64 {
    let Some(life) = thread.life(store.end()) else {
        return 0;
    };
    let lane = store.bare_life_of(*thread);
    let last = lane.and_then(|lane| Some(lane.turn(lane.runs().checked_sub(1)?)));
    let open = last.filter(|turn| turn.code == Some(StopCode::OPEN));
    let ran = thread.run_ns + open.map_or(0, |turn| turn.duration(2));
    life.duration().0.saturating_sub(ran)
}

impl WaitGroups {
    /// The groups of some threads, given by their places in the order in
    /// which threads were first met.
    pub(super) fn of(store: &Store, threads: impl Iterator<Item = u32>) -> Self {
        let mut groups = Self::default();
        // The waiting time of each group.
        let mut ns: Vec<u64> = Vec::new();
        let mut labels: FxHashMap<&str, u32> = FxHashMap::default();
        let mut reader = store.threads.reader();
        for index in threads {
            let Some(thread) = reader.get(index) else {
                continue;
            };
            let waited = waited_ns(store, &thread);
            if waited == 0 {
                continue;
            }
            let next = u32::try_from(ns.len()).unwrap_or(u32::MAX);
            let label = store.threads.label(&thread);
            let group = match label {
                Some(label) => *labels.entry(label).or_insert(next),
                None => next,
            };
            if group == next {
                ns.push(0);
                groups.names.push(match label {
                    Some(label) => GroupName::Label(label.into()),
                    None => GroupName::Thread(thread.id),
                });
            }
            if let Some(ns) = ns.get_mut(group as usize) {
                *ns = ns.saturating_add(waited);
            }
            groups.members.push((index, group));
            groups.longest.push(Waited {
                thread: thread.id,
                ns: waited,
                runs: thread.runs,
            });
        }
        groups.list_longest();
        groups.merge_least(&ns);
        groups
    }

    fn list_longest(&mut self) {
        let key = |waited: &Waited| (Reverse(waited.ns), waited.thread);
        if self.longest.len() > MOST_LISTED {
            self.longest.select_nth_unstable_by_key(MOST_LISTED, key);
            self.longest.truncate(MOST_LISTED);
        }
        self.longest.sort_unstable_by_key(key);
        self.longest.shrink_to_fit();
    }

    /// Makes one group of those that waited least.
    fn merge_least(&mut self, ns: &[u64]) {
        let mut kept = vec![false; ns.len()];
        for labelled in [true, false] {
            let is_of = |group: &usize| {
                matches!(self.names.get(*group), Some(GroupName::Label(_))) == labelled
            };
            let mut some: Vec<usize> = (0..ns.len()).filter(is_of).collect();
            if some.len() > MOST_GROUPS {
                some.select_nth_unstable_by_key(MOST_GROUPS, |&group| (Reverse(ns[group]), group));
                some.truncate(MOST_GROUPS);
            }
            some.into_iter().for_each(|group| kept[group] = true);
        }
        if kept.iter().all(|kept| *kept) {
            return;
        }
        let mut next = 0;
        let new: Vec<Option<u32>> = kept
            .iter()
            .map(|kept| {
                next += u32::from(*kept);
                kept.then(|| next - 1)
            })
            .collect();
        let mut kept = kept.iter();
        self.names.retain(|_| kept.next().copied().unwrap_or(false));
        let mut more = 0;
        for (_, group) in &mut self.members {
            *group = new[*group as usize].unwrap_or_else(|| {
                more += 1;
                next
            });
        }
        self.names.push(GroupName::More(more));
    }
}

impl Store {
    /// All threads that waited; none before the log is read to its end.
    #[must_use]
    pub(crate) fn wait_groups(&self) -> &WaitGroups {
        static NONE: WaitGroups = WaitGroups {
            names: Vec::new(),
            members: Vec::new(),
            longest: Vec::new(),
        };
        if !self.is_settled() {
            return &NONE;
        }
        let all = || (0..).take(self.thread_count());
        self.wait_groups.get_or_init(|| WaitGroups::of(self, all()))
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
        WaitGroups::of(self, places.into_iter())
    }

    /// The thread at a place in the order in which threads were first met.
    #[must_use]
    pub(crate) fn thread_at(&self, place: u32) -> Option<ThreadId> {
        self.threads.get(place).map(|thread| thread.id)
    }
}
