//! The table of threads: how each spent its time, in the whole log or in a
//! range of it.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::instants::InstantKind;
use super::rows::Rows;
use super::store::{Cut, FEW_THREADS, Looks, Store};
use super::thread_lane::ThreadLane;
use super::threads::Thread;
use super::turns::TurnSums;
use crate::listen::Listen;
use eventlog::hash::SeededMap;
use eventlog::ids::{Nanos, ThreadId};
use model::class::{StopCode, WAIT_REASONS, WaitReason};
use model::lane::Lane;
use model::time::Interval;

/// What the table can be sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreadColumn {
    /// The number.
    Thread,
    /// The label; threads without one come last.
    Label,
    /// The time of the creation; threads without one come last.
    Created,
    /// The time of the finish; threads without one come last.
    Finished,
    /// How the thread ended: finished, running, waiting for a capability, blocked.
    End,
    /// The time that it ran.
    #[default]
    Running,
    /// The time that it waited for a capability.
    Ready,
    /// The time that it was ready, in a collection.
    ReadyPaused,
    /// The time that it was ready, behind other threads.
    ReadyBehind,
    /// The time that it was ready while some capability was idle.
    ReadyIdle,
    /// The time that it could not run, foreign calls left out.
    Blocked,
    /// The time that it could not run for this reason.
    BlockedOn(WaitReason),
    /// How often it ran.
    Runs,
    /// The longest wait for a capability.
    LongestReady,
    /// The mean wait for a capability.
    MeanReady,
    /// How often it was woken.
    Wakeups,
    /// How often it was moved to another capability.
    Migrations,
    /// The time of which the log does not tell.
    Unknown,
}

impl ThreadColumn {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 25] = [
        Self::Running,
        Self::Ready,
        Self::ReadyPaused,
        Self::ReadyBehind,
        Self::ReadyIdle,
        Self::LongestReady,
        Self::MeanReady,
        Self::Blocked,
        Self::BlockedOn(WaitReason::Mvar),
        Self::BlockedOn(WaitReason::BlackHole),
        Self::BlockedOn(WaitReason::Stm),
        Self::BlockedOn(WaitReason::ThrowTo),
        Self::BlockedOn(WaitReason::ForeignCall),
        Self::BlockedOn(WaitReason::Delay),
        Self::BlockedOn(WaitReason::Io),
        Self::BlockedOn(WaitReason::Other),
        Self::Unknown,
        Self::Runs,
        Self::Wakeups,
        Self::Migrations,
        Self::Thread,
        Self::Label,
        Self::Created,
        Self::Finished,
        Self::End,
    ];

    /// Its name in links, which never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Label => "label",
            Self::Created => "created",
            Self::Finished => "finished",
            Self::End => "end",
            Self::Running => "running",
            Self::Ready => "ready",
            Self::ReadyPaused => "ready-gc",
            Self::ReadyBehind => "ready-behind",
            Self::ReadyIdle => "ready-idle",
            Self::Unknown => "unknown",
            Self::Blocked => "blocked",
            Self::BlockedOn(reason) => match reason {
                WaitReason::Mvar => "mvar",
                WaitReason::BlackHole => "blackhole",
                WaitReason::Stm => "stm",
                WaitReason::ThrowTo => "throwto",
                WaitReason::ForeignCall => "foreign",
                WaitReason::Delay => "delay",
                WaitReason::Io => "io",
                WaitReason::Other => "other",
            },
            Self::Runs => "runs",
            Self::LongestReady => "longest",
            Self::MeanReady => "mean",
            Self::Wakeups => "wakeups",
            Self::Migrations => "migrations",
        }
    }

    /// The column of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Whether large values of it are of more interest than small ones.
    #[must_use]
    pub const fn largest_first(self) -> bool {
        !matches!(
            self,
            Self::Thread | Self::Label | Self::Created | Self::Finished | Self::End
        )
    }
}

/// How the table is shown; a part of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadView {
    /// Part of the label, or the number; empty for all.
    pub filter: String,
    /// By what the rows are sorted.
    pub sort: ThreadColumn,
    /// The largest first.
    pub descending: bool,
}

impl Default for ThreadView {
    fn default() -> Self {
        Self::sorted_by(ThreadColumn::default())
    }
}

impl ThreadView {
    /// All threads, those of interest first.
    #[must_use]
    pub const fn sorted_by(sort: ThreadColumn) -> Self {
        Self {
            filter: String::new(),
            sort,
            descending: sort.largest_first(),
        }
    }
}

/// Which threads, of which time, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTableQuery {
    /// The time that counts, and then only threads that lived in it; all of
    /// the log and every thread without.
    pub range: Option<Interval>,
    /// Only these threads; all if empty.
    pub only: Vec<ThreadId>,
    /// Part of the label, or the number; empty for all.
    pub filter: String,
    /// By what the rows are sorted; equal ones by the number of the thread.
    pub sort: ThreadColumn,
    /// The largest first.
    pub descending: bool,
    /// Which rows are wanted.
    pub rows: Range<u64>,
}

/// How a thread ended, as far as the log says. A thread that was killed has
/// finished: the runtime writes the same stop for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreadEnd {
    /// It finished.
    Finished,
    /// It was running when the log ended.
    Running,
    /// It was waiting for a capability when the log ended.
    Ready,
    /// It was blocked when the log ended.
    Blocked {
        /// What stopped it.
        code: StopCode,
        /// The thread that owned the black hole, if it was one and that is known.
        owner: Option<ThreadId>,
    },
    /// The log has neither its creation nor a run of it.
    Unknown,
}

impl ThreadEnd {
    /// In words.
    #[must_use]
    pub fn explanation(&self) -> String {
        match self {
            Self::Finished => "finished".to_owned(),
            Self::Running => "still running".to_owned(),
            Self::Ready => "still waiting for a capability".to_owned(),
            Self::Blocked { code, owner } => format!("still {}", code.explanation(*owner)),
            Self::Unknown => "unknown".to_owned(),
        }
    }

    fn rank(&self) -> u64 {
        match self {
            Self::Finished => 0,
            Self::Running => 1,
            Self::Ready => 2,
            Self::Blocked { code, .. } => 3 + u64::from(code.0),
            Self::Unknown => u64::MAX,
        }
    }
}

/// What a thread did, or several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSums {
    /// The time, by what was done.
    pub times: TurnSums,
    /// Runs that began.
    pub runs: u64,
    /// The longest wait for a capability.
    pub longest_ready_ns: u64,
    /// When that is, with the collections in it.
    pub longest_ready: Option<Interval>,
    /// Wakeups: a thread that is woken from another capability has two or
    /// more of them.
    pub wakeups: u64,
    /// Moves to another capability.
    pub migrations: u64,
}

impl ThreadSums {
    /// The mean wait for a capability, empty ones left out; `None` if there is none.
    #[must_use]
    pub const fn mean_ready_ns(&self) -> Option<u64> {
        self.times.ready_ns().checked_div(self.times.ready_waits)
    }

    pub(super) fn add(&mut self, other: &Self) {
        // Many threads of a damaged log may claim to have lived for years.
        let add = |mine: &mut u64, theirs: u64| *mine = mine.saturating_add(theirs);
        self.times.zip(&other.times, add);
        self.runs += other.runs;
        if other.longest_ready_ns > self.longest_ready_ns {
            self.longest_ready_ns = other.longest_ready_ns;
            self.longest_ready = other.longest_ready;
        }
        self.wakeups += other.wakeups;
        self.migrations += other.migrations;
    }
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTimes {
    /// The thread.
    pub id: ThreadId,
    /// Its label, if the program gave it one.
    pub label: Option<String>,
    /// When it was created.
    pub created: Option<Nanos>,
    /// When it finished.
    pub finished: Option<Nanos>,
    /// From its creation, or else its first run, to its finish, or else the
    /// end of the log; `None` if the log has neither creation nor run.
    pub life: Option<Interval>,
    /// How it ended; of the log, also where the sums are those of a range.
    pub end: ThreadEnd,
    /// What it did in the range.
    pub sums: ThreadSums,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTable {
    /// The number of the first of the rows.
    pub first: u64,
    /// The rows asked for, as far as there are so many.
    pub rows: Vec<ThreadTimes>,
    /// How many rows there are.
    pub total: u64,
    /// The sums of all rows.
    pub all: ThreadSums,
    /// The thread with the longest wait for a capability of all.
    pub longest_ready_of: Option<ThreadId>,
}

impl ThreadTable {
    /// The row of that number, if it is one of those asked for.
    #[must_use]
    pub fn row(&self, number: u64) -> Option<&ThreadTimes> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }
}

/// What all threads did in a range, and which of them were blocked for what.
#[derive(Clone, Debug, Default)]
pub struct ThreadsIn {
    /// How many lived.
    pub count: u64,
    /// How they spent their time, together.
    pub times: TurnSums,
    /// The indexes of those that were blocked, by [`WaitReason`], each list in order.
    blocked: [Vec<u32>; WAIT_REASONS],
}

/// By what a row is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    value: u64,
    thread: ThreadId,
    index: u32,
}

impl Key {
    /// What is not there comes last in both directions.
    fn new(value: Option<u64>, descending: bool, thread: ThreadId, index: u32) -> Self {
        const LAST: u64 = u64::MAX - 1;
        let value = value.map_or(u64::MAX, |value| match value.min(LAST) {
            value if descending => LAST - value,
            value => value,
        });
        Self {
            value,
            thread,
            index,
        }
    }
}

/// How often something happened to each thread: of most, a few times.
#[derive(Debug)]
struct Counts {
    few: Vec<u8>,
    more: SeededMap<u32, u64>,
}

impl Counts {
    fn of(threads: impl Iterator<Item = u32>, all: usize) -> Self {
        let mut counts = Self {
            few: vec![0; all],
            more: SeededMap::default(),
        };
        for thread in threads {
            if let Some(count) = counts.few.get_mut(thread as usize) {
                *count = count.wrapping_add(1);
                if *count == 0 {
                    *counts.more.entry(thread).or_default() += 1 << u8::BITS;
                }
            }
        }
        counts
    }

    fn get(&self, thread: u32) -> u64 {
        let few = self.few.get(thread as usize).copied().unwrap_or(0);
        u64::from(few) + self.more.get(&thread).copied().unwrap_or(0)
    }
}

/// A range, prepared for asking many threads.
pub(super) struct InRange {
    from: Cut,
    to: Cut,
    /// How often each thread was woken then.
    wakeups: Counts,
    /// How often each was moved.
    migrations: Counts,
    range: Option<Interval>,
    looks: Rc<RefCell<Looks>>,
}

impl InRange {
    pub(super) fn new(store: &Store, range: Option<Interval>) -> Self {
        let count = |kind| {
            let threads = store.instants.threads(kind, range);
            Counts::of(threads, store.threads.len())
        };
        let whole = Interval::new(Nanos(0), Nanos(u64::MAX));
        let cuts = range.unwrap_or(whole);
        Self {
            from: store.cut(cuts.start()),
            to: store.cut(cuts.end()),
            wakeups: count(InstantKind::Woken),
            migrations: count(InstantKind::Migrated),
            range,
            looks: Rc::default(),
        }
    }

    /// The life of a thread, to be summed up in the range: with an index of all of it, unless
    /// few of its runs are in the range.
    async fn life<'a>(
        &self,
        store: &'a Store,
        (index, thread): (u32, &Thread),
        listen: &dyn Listen,
    ) -> Option<ThreadLane<'a>> {
        /// To look at one of so many runs is quicker than to index all.
        const FEW: usize = 8;
        let bare = store.bare_life_of(*thread)?;
        let inside = bare.runs_in(&self.from, &self.to).len();
        if inside * FEW < bare.runs() {
            return Some(bare);
        }
        store.prepare_life_of(index, *thread, listen).await;
        store.life_of(index, *thread)
    }

    /// What a thread did; `None` if it did not live then.
    pub(super) async fn sums(
        &self,
        store: &Store,
        (index, thread): (u32, &Thread),
        listen: &dyn Listen,
    ) -> Option<ThreadSums> {
        let (wakeups, migrations) = (self.wakeups.get(index), self.migrations.get(index));
        let lives = match (self.range, thread.life(store.end())) {
            (None, _) => true,
            (Some(range), Some(life)) => life.start() <= range.end() && range.start() <= life.end(),
            (Some(_), None) => false,
        };
        if !lives && wakeups == 0 && migrations == 0 {
            return None;
        }
        let mut sums = ThreadSums {
            wakeups,
            migrations,
            ..ThreadSums::default()
        };
        if lives && let Some(lane) = self.life(store, (index, thread), listen).await {
            let lane = lane.looking(&self.looks);
            let turns = lane.turns_in(&self.from, &self.to);
            sums.times = turns.sums;
            let longest = turns.longest_ready;
            sums.longest_ready_ns = longest.waited_ns;
            sums.longest_ready = (longest.waited_ns > 0).then_some(longest.span);
            sums.runs = turns.runs - store.stops_again_in(index, &lane, self);
        }
        Some(sums)
    }
}

impl Store {
    /// How many empty runs of a thread are only further stops.
    fn stops_again_in(
        &self,
        index: u32,
        lane: &super::thread_lane::ThreadLane<'_>,
        range: &InRange,
    ) -> u64 {
        let Some(stops) = self.stops_again.get(&index) else {
            return 0;
        };
        let runs = lane.runs_in(&range.from, &range.to);
        let in_range = stops.iter().filter(|&&run| runs.contains(&(run as usize)));
        in_range.count() as u64
    }

    /// Answers a query; `None` until the log is read to its end.
    pub async fn thread_table(
        &self,
        query: &ThreadTableQuery,
        listen: &dyn Listen,
    ) -> Option<ThreadTable> {
        self.is_settled().then_some(())?;
        let range = InRange::new(self, query.range);
        let by_label = query.sort == ThreadColumn::Label;
        let ranks = by_label.then(|| self.threads.label_ranks());
        let mut rows = Rows::new(query.rows.clone());
        let mut all = ThreadSums::default();
        let mut longest_ready_of = None;
        let mut only = query.only.clone();
        only.sort_unstable();
        let wanted = |thread: &Thread| only.is_empty() || only.binary_search(&thread.id).is_ok();
        let matches = self.threads.matching(&query.filter);
        for (index, thread) in self.threads.iter() {
            if index.is_multiple_of(FEW_THREADS) {
                listen.listen().await;
            }
            if !matches(&thread) || !wanted(&thread) {
                continue;
            }
            if let Some(sums) = range.sums(self, (index, &thread), listen).await {
                let value = match &ranks {
                    Some(ranks) => thread.label.of(ranks).map(u64::from),
                    None => self.value(query.sort, index, &thread, &sums),
                };
                rows.push(Key::new(value, query.descending, thread.id, index));
                if sums.longest_ready_ns > all.longest_ready_ns {
                    longest_ready_of = Some(thread.id);
                }
                all.add(&sums);
            }
        }
        let total = rows.total();
        let mut shown = Vec::new();
        for Key { index, .. } in rows.finish() {
            let thread = self.threads.get(index)?;
            let sums = range.sums(self, (index, &thread), listen).await?;
            shown.push(self.thread_times(index, &thread, sums));
        }
        Some(ThreadTable {
            first: query.rows.start,
            rows: shown,
            total,
            all,
            longest_ready_of,
        })
    }

    /// What all threads did in a range; nothing until the log is read to its end.
    pub async fn threads_in(&self, range: Interval, listen: &dyn Listen) -> ThreadsIn {
        let mut all = ThreadsIn::default();
        let mut sums = ThreadSums::default();
        let look = |(index, _): (u32, &Thread), of_thread: ThreadSums| {
            all.count += 1;
            sums.add(&of_thread);
            for (blocked_ns, threads) in of_thread.times.blocked_ns.iter().zip(&mut all.blocked) {
                if *blocked_ns > 0 {
                    threads.push(index);
                }
            }
        };
        self.each_thread_in(range, listen, look).await;
        all.times = sums.times;
        all
    }

    /// How long each thread ran in a range, in nanoseconds, of those that did, in the order in
    /// which they were first met; nothing until the log is read to its end.
    pub async fn ran_in(&self, range: Interval, listen: &dyn Listen) -> Vec<(ThreadId, u64)> {
        let mut all = Vec::new();
        let look = |(_, thread): (u32, &Thread), of_thread: ThreadSums| {
            let ran_ns = of_thread.times.running_ns + of_thread.times.open_ns;
            if ran_ns > 0 {
                all.push((thread.id, ran_ns));
            }
        };
        self.each_thread_in(range, listen, look).await;
        all
    }

    async fn each_thread_in(
        &self,
        range: Interval,
        listen: &dyn Listen,
        mut look: impl FnMut((u32, &Thread), ThreadSums),
    ) {
        if !self.is_settled() {
            return;
        }
        let range = InRange::new(self, Some(range));
        for (index, thread) in self.threads.iter() {
            if index.is_multiple_of(FEW_THREADS) {
                listen.listen().await;
            }
            if let Some(sums) = range.sums(self, (index, &thread), listen).await {
                look((index, &thread), sums);
            }
        }
    }

    /// The lives of threads that were blocked for any of some reasons, in the order in which
    /// they were first met.
    pub fn lives_blocked(
        &self,
        all: &ThreadsIn,
        reasons: impl Iterator<Item = WaitReason>,
    ) -> impl Iterator<Item = ThreadLane<'_>> {
        let lists = reasons.filter_map(|reason| all.blocked.get(reason as usize));
        let mut indexes: Vec<u32> = lists.flatten().copied().collect();
        indexes.sort_unstable();
        indexes.dedup();
        let looks = Rc::default();
        let mut reader = self.threads.reader();
        indexes.into_iter().filter_map(move |index| {
            let life = self.bare_life_of(reader.get(index)?)?;
            Some(life.looking(&looks))
        })
    }

    /// The rows of the whole table one by one, by number: no more than one is in memory. None until the log is
    /// read to its end.
    pub async fn for_each_thread(
        &self,
        range: Option<Interval>,
        listen: &dyn Listen,
        mut take: impl FnMut(&ThreadTimes),
    ) {
        if !self.is_settled() {
            return;
        }
        let range = InRange::new(self, range);
        for (place, index) in (0..).zip(self.threads_by_id()) {
            if u32::is_multiple_of(place, FEW_THREADS) {
                listen.listen().await;
            }
            let Some(thread) = self.threads.get(index) else {
                continue;
            };
            if let Some(sums) = range.sums(self, (index, &thread), listen).await {
                take(&self.thread_times(index, &thread, sums));
            }
        }
    }

    /// By what a thread is sorted that has it, but for labels.
    fn value(
        &self,
        sort: ThreadColumn,
        index: u32,
        thread: &Thread,
        sums: &ThreadSums,
    ) -> Option<u64> {
        let times = &sums.times;
        Some(match sort {
            ThreadColumn::Thread => thread.id.0.into(),
            ThreadColumn::Label => return None,
            ThreadColumn::Created => thread.created()?.0,
            ThreadColumn::Finished => thread.finished.then_some(thread.ran_ns)?,
            ThreadColumn::End => self.thread_end(index, thread).rank(),
            ThreadColumn::Running => times.running_ns,
            ThreadColumn::Ready => times.ready_ns(),
            ThreadColumn::ReadyPaused => times.ready_paused_ns,
            ThreadColumn::ReadyBehind => times.ready_behind_ns,
            ThreadColumn::ReadyIdle => times.ready_idle_ns,
            ThreadColumn::Unknown => times.unknown_ns,
            ThreadColumn::Blocked => times.blocked_outside_calls_ns(),
            ThreadColumn::BlockedOn(reason) => times.blocked_ns[reason as usize],
            ThreadColumn::Runs => sums.runs,
            ThreadColumn::LongestReady => sums.longest_ready_ns,
            ThreadColumn::MeanReady => sums.mean_ready_ns()?,
            ThreadColumn::Wakeups => sums.wakeups,
            ThreadColumn::Migrations => sums.migrations,
        })
    }

    fn thread_times(&self, index: u32, thread: &Thread, sums: ThreadSums) -> ThreadTimes {
        ThreadTimes {
            id: thread.id,
            label: self.threads.label(thread).map(str::to_owned),
            created: thread.created(),
            finished: thread.finished.then_some(Nanos(thread.ran_ns)),
            life: thread.life(self.end()),
            end: self.thread_end(index, thread),
            sums,
        }
    }

    fn thread_end(&self, index: u32, thread: &Thread) -> ThreadEnd {
        if thread.finished {
            return ThreadEnd::Finished;
        }
        let lane = self.life_of(index, *thread);
        let Some(lane) = lane.filter(|lane| !lane.is_empty()) else {
            return ThreadEnd::Unknown;
        };
        let last = lane.turn(thread.runs as usize);
        if last.why == StopCode::OPEN {
            return ThreadEnd::Running;
        }
        if last.why.wait_reason().is_none() || last.duration(1) > 0 {
            return ThreadEnd::Ready;
        }
        ThreadEnd::Blocked {
            code: last.why,
            owner: lane.owner(lane.len() - 1),
        }
    }
}
