//! Table of threads: times and counts of each, in the whole log or in a range.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::instants::InstantKind;
use super::store::{FEW_THREADS, LanePositions, ReadCursors, Store};
use super::thread_lane::ThreadLane;
use super::threads::Thread;
use super::turns::{Turn, TurnSums};
use crate::yielder::Yield;
use eventlog::hash::SeededMap;
use eventlog::ids::{Nanos, ThreadId};
use model::class::{StopCode, WAIT_REASONS, WaitReason};
use model::lane::{BLOCK, Lane};
use model::time::Interval;

/// Column that the table can be sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ThreadColumn {
    /// Thread ID.
    Thread,
    /// Label; threads without one come last.
    Label,
    /// Creation time; threads without one come last.
    Created,
    /// Finish time; threads without one come last.
    Finished,
    /// Final state: finished, running, waiting for a capability, blocked.
    End,
    /// Time that the thread ran.
    #[default]
    Running,
    /// Time that it waited for a capability, outside of collections.
    Ready,
    /// Ready time during collections.
    RunnableDuringGc,
    /// Ready time behind other threads.
    RunnableBehind,
    /// Ready time while some capability was idle.
    ThreadRunnableCapIdle,
    /// Blocked time, without foreign calls.
    Blocked,
    /// Blocked time for this reason.
    BlockedOn(WaitReason),
    /// Number of runs.
    Runs,
    /// Longest wait for a capability.
    LongestReady,
    /// Mean wait for a capability.
    MeanReady,
    /// Number of wakeups.
    Wakeups,
    /// Number of migrations to another capability.
    Migrations,
    /// Time not covered by the log.
    Unknown,
}

/// Defines all columns in display order, with their names.
macro_rules! named_columns {
    ($($column:ident $(($reason:ident))?: $name:literal,)+) => {
        impl ThreadColumn {
            /// All columns in display order.
            pub const ALL: [Self; [$($name),+].len()] =
                [$(Self::$column $((WaitReason::$reason))?),+];

            /// Returns its stable name in links.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$column $((WaitReason::$reason))? => $name,)+
                }
            }
        }
    };
}

named_columns! {
    Running: "running",
    Ready: "ready",
    RunnableDuringGc: "ready-gc",
    RunnableBehind: "ready-behind",
    ThreadRunnableCapIdle: "ready-idle",
    LongestReady: "longest",
    MeanReady: "mean",
    Blocked: "blocked",
    BlockedOn(Mvar): "mvar",
    BlockedOn(BlackHole): "blackhole",
    BlockedOn(Stm): "stm",
    BlockedOn(ThrowTo): "throwto",
    BlockedOn(ForeignCall): "foreign",
    BlockedOn(Delay): "delay",
    BlockedOn(Io): "io",
    BlockedOn(Other): "other",
    Unknown: "unknown",
    Runs: "runs",
    Wakeups: "wakeups",
    Migrations: "migrations",
    Thread: "thread",
    Label: "label",
    Created: "created",
    Finished: "finished",
    End: "end",
}

impl ThreadColumn {
    /// Returns the column with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Returns whether large values are more interesting than small ones.
    pub const fn largest_first(self) -> bool {
        !matches!(
            self,
            Self::Thread | Self::Label | Self::Created | Self::Finished | Self::End
        )
    }
}

/// Display settings of the table, stored in links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadTableSettings {
    /// Part of the label, or the thread ID; empty for all threads.
    pub filter: String,
    /// Column that the rows are sorted by.
    pub sort: ThreadColumn,
    /// Whether the largest values come first.
    pub descending: bool,
}

impl Default for ThreadTableSettings {
    fn default() -> Self {
        Self::sorted_by(ThreadColumn::default())
    }
}

impl ThreadTableSettings {
    /// Creates settings that show all threads, sorted by a column with the most interesting values first.
    pub const fn sorted_by(sort: ThreadColumn) -> Self {
        Self {
            filter: String::new(),
            sort,
            descending: sort.largest_first(),
        }
    }

    /// Returns the query for rows of this table, of all threads in the whole log.
    pub fn query(&self, rows: Range<u64>) -> ThreadTableQuery {
        ThreadTableQuery {
            filter: self.filter.trim().to_owned(),
            sort: self.sort,
            descending: self.descending,
            rows,
            ..ThreadTableQuery::default()
        }
    }
}

/// Query for rows of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThreadTableQuery {
    /// Range whose times count, limited to threads that lived in it; `None` for the whole log and all threads.
    pub range: Option<Interval>,
    /// Threads to include; all if empty.
    pub only: Vec<ThreadId>,
    /// Part of the label, or the thread ID; empty for all threads.
    pub filter: String,
    /// Sort column; ties are broken by thread ID.
    pub sort: ThreadColumn,
    /// Whether the largest values come first.
    pub descending: bool,
    /// Range of rows to return.
    pub rows: Range<u64>,
}

/// Final state of a thread, as far as it is logged. Killed threads count as finished, as the runtime logs the same
/// stop for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreadEnd {
    /// The thread finished.
    Finished,
    /// It was running when the log ended.
    Running,
    /// It was waiting for a capability when the log ended.
    Ready,
    /// It was blocked when the log ended.
    Blocked {
        /// Reason of its last stop.
        code: StopCode,
        /// Owner of the black hole it waited for, if that is known.
        owner: Option<ThreadId>,
    },
    /// The log has neither its creation nor a run of it.
    Unknown,
}

impl ThreadEnd {
    /// Returns a phrase for the user interface.
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

/// Sums over one or several threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSums {
    /// Times by state.
    pub times: TurnSums,
    /// Number of runs that started in the range.
    pub runs: u64,
    /// Longest wait for a capability without collections, in nanoseconds.
    pub longest_ready_ns: u64,
    /// Time of that wait, including the collections in it.
    pub longest_ready: Option<Interval>,
    /// Number of wakeups. A wakeup from another capability is logged two or more times.
    pub wakeups: u64,
    /// Number of migrations to another capability.
    pub migrations: u64,
}

impl ThreadSums {
    /// Returns the mean wait for a capability in nanoseconds, without empty ones; `None` if there are none.
    pub const fn mean_ready_ns(&self) -> Option<u64> {
        self.times.ready_ns().checked_div(self.times.ready_waits)
    }

    pub(super) fn add(&mut self, other: &Self) {
        // Saturating, as many threads of a damaged log may each seem to have lived for years.
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

/// Row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTableRow {
    /// ID of the thread.
    pub id: ThreadId,
    /// Label, if the program set one.
    pub label: Option<String>,
    /// Creation time, if it was logged.
    pub created: Option<Nanos>,
    /// Finish time, if it finished.
    pub finished: Option<Nanos>,
    /// Time from its creation or first run to its finish, or else to the end of the log; `None` if the log has
    /// neither creation nor run.
    pub life: Option<Interval>,
    /// Final state at the end of the log, even if the sums are those of a range.
    pub end: ThreadEnd,
    /// Sums in the range.
    pub sums: ThreadSums,
}

/// Response to a [`ThreadTableQuery`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTable {
    /// Number of the first returned row.
    pub first: u64,
    /// Requested rows, as far as they exist.
    pub rows: Vec<ThreadTableRow>,
    /// Total number of rows.
    pub total: u64,
    /// Sums over all rows, including those not returned.
    pub all: ThreadSums,
    /// Thread with the longest wait for a capability of all rows.
    pub longest_ready_of: Option<ThreadId>,
}

impl ThreadTable {
    /// Returns the row with that number, if it was requested.
    pub fn row(&self, number: u64) -> Option<&ThreadTableRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }
}

/// Sums over all threads in a range, and which of them were blocked for which reason.
#[derive(Clone, Debug, Default)]
pub struct ThreadsInRange {
    /// Number of threads that lived in the range.
    pub count: u64,
    /// Sums of their times by state.
    pub times: TurnSums,
    /// Sorted indexes of the blocked threads by [`WaitReason`].
    blocked: [Vec<u32>; WAIT_REASONS],
    /// Sorted indexes of the threads that were ready for [`LONG_READY_NS`] or longer in sum.
    queued: Vec<u32>,
    /// Run times as of [`Store::run_times_in`]; `None` if there are more than [`MAX_RUN_TIMES`].
    pub run_times: Option<Vec<(ThreadId, u64)>>,
}

/// Maximum number of run times that are returned with sums: 8 MiB.
pub const MAX_RUN_TIMES: usize = 1 << 19;

/// Returns the run time of a thread in nanoseconds; `None` if it did not run.
fn ran_ns(sums: &ThreadSums) -> Option<u64> {
    let ran_ns = sums.times.running_ns + sums.times.open_ns;
    (ran_ns > 0).then_some(ran_ns)
}

/// Ready time from which a thread is listed as one that queued, in nanoseconds.
pub const LONG_READY_NS: u64 = 1_000_000;

/// Visitor of the turns from which sums are computed, so that they need not be read again.
pub trait TurnVisitor {
    /// Whether it visits any.
    const VISITS: bool;
    /// Begins the turns of a thread.
    fn begin(&mut self);
    /// Visits the next turn of the thread that overlaps the range, with its number.
    fn turn(&mut self, number: usize, turn: &Turn);
    /// Ends the turns of the thread: it has visited all. `is_listed` tells whether the thread is one of those that
    /// were blocked or [queued](LONG_READY_NS).
    fn end(&mut self, place: u32, is_listed: bool);
}

/// Visits none.
struct NoVisitor;

impl TurnVisitor for NoVisitor {
    const VISITS: bool = false;
    fn begin(&mut self) {}
    fn turn(&mut self, _: usize, _: &Turn) {}
    fn end(&mut self, _: u32, _: bool) {}
}

/// Counter per thread; most counts are small.
#[derive(Debug)]
struct ThreadCounts {
    few: Vec<u8>,
    more: SeededMap<u32, u64>,
}

impl ThreadCounts {
    fn count(threads: impl Iterator<Item = u32>, all: usize) -> Self {
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

/// Range prepared for computing the sums of many threads.
pub(super) struct PreparedRange {
    from: LanePositions,
    to: LanePositions,
    /// Number of wakeups of each thread in the range.
    wakeups: ThreadCounts,
    /// Number of migrations of each thread in the range.
    migrations: ThreadCounts,
    range: Option<Interval>,
    cursors: Rc<RefCell<ReadCursors>>,
}

impl PreparedRange {
    pub(super) fn new(store: &Store, range: Option<Interval>) -> Self {
        let count = |kind| {
            let threads = store.instants.threads(kind, range);
            ThreadCounts::count(threads, store.threads.len())
        };
        let whole = Interval::new(Nanos(0), Nanos(u64::MAX));
        let span = range.unwrap_or(whole);
        Self {
            from: store.positions_at(span.start()),
            to: store.positions_at(span.end()),
            wakeups: count(InstantKind::Woken),
            migrations: count(InstantKind::Migrated),
            range,
            cursors: Rc::default(),
        }
    }

    /// Returns the life of a thread, for sums in the range: with an index, unless few of its runs are in the
    /// range.
    async fn life<'a>(
        &self,
        store: &'a Store,
        (index, thread): (u32, &Thread),
        yielder: &dyn Yield,
    ) -> Option<ThreadLane<'a>> {
        /// If less than one in `FEW` runs is in the range, reading these is faster than indexing all.
        const FEW: usize = 8;
        let bare = store.bare_life_with((index, *thread), &self.cursors)?;
        if bare.runs() <= BLOCK {
            return Some(bare);
        }
        let inside = bare.runs_in(&self.from, &self.to).len();
        if inside * FEW < bare.runs() {
            return Some(bare);
        }
        store.prepare_life_of(index, *thread, yielder).await;
        let life = store.life_of(index, *thread)?;
        Some(life.with_cursors(&self.cursors))
    }

    /// Returns the sums of a thread; `None` if it did not live in the range.
    pub(super) async fn sums(
        &self,
        store: &Store,
        thread: (u32, &Thread),
        yielder: &dyn Yield,
    ) -> Option<ThreadSums> {
        self.sums_visiting(store, thread, (yielder, &mut NoVisitor))
            .await
    }

    /// [`sums`](Self::sums), passing the turns to `visitor` if they are read one by one in a range.
    async fn sums_visiting<V: TurnVisitor>(
        &self,
        store: &Store,
        (index, thread): (u32, &Thread),
        (yielder, visitor): (&dyn Yield, &mut V),
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
        if lives && let Some(lane) = self.life(store, (index, thread), yielder).await {
            let is_visited = V::VISITS && lane.has_no_index() && !lane.is_empty();
            let mut visited = None;
            if is_visited {
                visitor.begin();
                let mut each = |number: usize, turn: &Turn| visitor.turn(number, turn);
                visited = lane.turn_sums_visiting((&self.from, &self.to), &mut each);
            }
            let turns = visited.unwrap_or_else(|| lane.turn_sums_in(&self.from, &self.to));
            sums.times = turns.sums;
            if is_visited {
                let is_blocked = sums.times.blocked_ns.iter().any(|ns| *ns > 0);
                visitor.end(index, is_blocked || sums.times.ready_ns() >= LONG_READY_NS);
            }
            let longest = turns.longest_ready;
            sums.longest_ready_ns = longest.waited_ns;
            sums.longest_ready = (longest.waited_ns > 0).then_some(longest.span);
            sums.runs = turns.runs - store.repeated_stops_in(index, &lane, self);
        }
        Some(sums)
    }
}

impl Store {
    /// Returns how many empty runs of a thread in the range only represent further stops.
    fn repeated_stops_in(
        &self,
        index: u32,
        lane: &super::thread_lane::ThreadLane<'_>,
        range: &PreparedRange,
    ) -> u64 {
        let Some(stops) = self.repeated_stops.get(&index) else {
            return 0;
        };
        let runs = lane.runs_in(&range.from, &range.to);
        let in_range = stops.iter().filter(|&&run| runs.contains(&(run as usize)));
        in_range.count() as u64
    }

    /// Computes the response to a query; `None` until the log has been read to its end.
    pub async fn thread_table(
        &self,
        query: &ThreadTableQuery,
        yielder: &dyn Yield,
    ) -> Option<ThreadTable> {
        self.is_finished().then_some(())?;
        let order = self.thread_order(query, yielder).await;
        let range = PreparedRange::new(self, query.range);
        let mut rows = Vec::new();
        for index in order.rows(&query.rows) {
            let thread = self.threads.get(index)?;
            let sums = range.sums(self, (index, &thread), yielder).await?;
            rows.push(self.thread_times(index, &thread, sums));
        }
        Some(ThreadTable {
            first: query.rows.start,
            rows,
            total: order.total(),
            all: order.all,
            longest_ready_of: order.longest_ready_of,
        })
    }

    /// Returns the sums over all threads in a range; empty until the log has been read to its end.
    pub async fn threads_in(&self, range: Interval, yielder: &dyn Yield) -> ThreadsInRange {
        self.threads_in_visiting(range, (yielder, &mut NoVisitor))
            .await
    }

    /// [`threads_in`](Self::threads_in) that passes the turns to `visitor` as far as it reads them: all that overlap the
    /// range of threads with few of them.
    pub async fn threads_in_visiting<V: TurnVisitor>(
        &self,
        range: Interval,
        (yielder, visitor): (&dyn Yield, &mut V),
    ) -> ThreadsInRange {
        let mut all = ThreadsInRange::default();
        let mut sums = ThreadSums::default();
        let mut run_times = Some(Vec::new());
        let look = |(index, thread): (u32, &Thread), of_thread: ThreadSums| {
            all.count += 1;
            if let (Some(list), Some(ran_ns)) = (&mut run_times, ran_ns(&of_thread)) {
                match list.len() < MAX_RUN_TIMES {
                    true => list.push((thread.id, ran_ns)),
                    false => run_times = None,
                }
            }
            sums.add(&of_thread);
            for (blocked_ns, threads) in of_thread.times.blocked_ns.iter().zip(&mut all.blocked) {
                if *blocked_ns > 0 {
                    threads.push(index);
                }
            }
            if of_thread.times.ready_ns() >= LONG_READY_NS {
                all.queued.push(index);
            }
        };
        self.for_each_thread_in(range, (yielder, visitor), look)
            .await;
        all.times = sums.times;
        all.run_times = run_times.filter(|_| self.is_finished());
        all
    }

    /// Returns the run time in nanoseconds of each thread that ran in a range, in order of first appearance; empty
    /// until the log has been read to its end.
    pub async fn run_times_in(&self, range: Interval, yielder: &dyn Yield) -> Vec<(ThreadId, u64)> {
        let mut all = Vec::new();
        let look = |(_, thread): (u32, &Thread), of_thread: ThreadSums| {
            all.extend(ran_ns(&of_thread).map(|ran_ns| (thread.id, ran_ns)));
        };
        let none = (yielder, &mut NoVisitor);
        self.for_each_thread_in(range, none, look).await;
        all
    }

    async fn for_each_thread_in<V: TurnVisitor>(
        &self,
        range: Interval,
        (yielder, visitor): (&dyn Yield, &mut V),
        mut look: impl FnMut((u32, &Thread), ThreadSums),
    ) {
        if !self.is_finished() {
            return;
        }
        let range = PreparedRange::new(self, Some(range));
        for (index, thread) in self.threads.iter() {
            if index.is_multiple_of(FEW_THREADS) {
                yielder.yield_if_due().await;
            }
            let sums = range.sums_visiting(self, (index, &thread), (yielder, &mut *visitor));
            if let Some(sums) = sums.await {
                look((index, &thread), sums);
            }
        }
    }

    /// Returns the lives of the threads that were blocked for any of `reasons`, in order of first appearance.
    pub fn lives_blocked(
        &self,
        all: &ThreadsInRange,
        reasons: impl Iterator<Item = WaitReason>,
    ) -> impl Iterator<Item = ThreadLane<'_>> {
        let lists = reasons.filter_map(|reason| all.blocked.get(reason as usize));
        let mut indexes: Vec<u32> = lists.flatten().copied().collect();
        indexes.sort_unstable();
        indexes.dedup();
        self.lives_at(indexes)
    }

    /// Returns the lives of the threads that were ready for [`LONG_READY_NS`] or longer in sum, in order of first
    /// appearance.
    pub fn lives_queued(&self, all: &ThreadsInRange) -> impl Iterator<Item = ThreadLane<'_>> {
        self.lives_at(all.queued.clone())
    }

    fn lives_at(&self, indexes: Vec<u32>) -> impl Iterator<Item = ThreadLane<'_>> {
        let cursors = Rc::default();
        let mut reader = self.threads.reader();
        indexes
            .into_iter()
            .filter_map(move |index| self.bare_life_with((index, reader.get(index)?), &cursors))
    }

    /// Passes the rows of the whole table to `take` one by one in the order of thread IDs, without storing them.
    /// None until the log has been read to its end.
    pub async fn for_each_thread(
        &self,
        range: Option<Interval>,
        yielder: &dyn Yield,
        mut take: impl FnMut(&ThreadTableRow),
    ) {
        if !self.is_finished() {
            return;
        }
        let range = PreparedRange::new(self, range);
        for (place, index) in (0..).zip(self.threads_by_id()) {
            if u32::is_multiple_of(place, FEW_THREADS) {
                yielder.yield_if_due().await;
            }
            let Some(thread) = self.threads.get(index) else {
                continue;
            };
            if let Some(sums) = range.sums(self, (index, &thread), yielder).await {
                take(&self.thread_times(index, &thread, sums));
            }
        }
    }

    /// Returns the sort value of a thread for any column but the label; `None` if it has none.
    pub(super) fn value(
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
            ThreadColumn::Finished => thread.finished.then_some(thread.last_run_end_ns)?,
            ThreadColumn::End => self.thread_end(index, thread).rank(),
            ThreadColumn::Running => times.running_ns,
            ThreadColumn::Ready => times.ready_ns(),
            ThreadColumn::RunnableDuringGc => times.runnable_during_gc_ns,
            ThreadColumn::RunnableBehind => times.runnable_behind_ns,
            ThreadColumn::ThreadRunnableCapIdle => times.runnable_cap_idle_ns,
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

    fn thread_times(&self, index: u32, thread: &Thread, sums: ThreadSums) -> ThreadTableRow {
        ThreadTableRow {
            id: thread.id,
            label: self.threads.label(thread).map(str::to_owned),
            created: thread.created(),
            finished: thread.finished.then_some(Nanos(thread.last_run_end_ns)),
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
        if last.last_stop == StopCode::OPEN {
            return ThreadEnd::Running;
        }
        if last.last_stop.wait_reason().is_none() || last.runnable_ns() > 0 {
            return ThreadEnd::Ready;
        }
        ThreadEnd::Blocked {
            code: last.last_stop,
            owner: lane.owner(lane.len() - 1),
        }
    }
}
