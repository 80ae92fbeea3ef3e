//! Input of rules: a log and a range of it, with cached results that many rules need.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::collection_in_range::{CollectionInRange, collections_in};
use crate::disturbance::{DisturbedCollection, find_disturbed};
use crate::heartbeats;
use crate::threads::is_runtime_label;
use crate::turn_cache::{TurnCache, TurnCacheFiller};
use crate::wakeup_list::WakeupList;
use analysis::account::report::ProgramTimes;
use analysis::numbers::summary::SparkTotals;
use analysis::process::Way;
use analysis::recording::Recording;
use analysis::timeline::thread_table::ThreadsInRange;
use analysis::yielder::{NoYield, Steps, Yield, sort};
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::{EventSet, EventType};
use model::lane::Lane;
use model::time::Interval;

/// A completely read log and a range of it.
#[derive(Debug)]
pub struct RuleContext<'a> {
    /// Log to examine.
    pub log: &'a Recording,
    /// Range to examine.
    pub range: Interval,
    /// Whether no range was given, so that the whole log is meant.
    is_whole: bool,
    /// Whether rules use it, which look at turns again and again.
    pub(crate) is_for_rules: bool,
    /// Policy by which evaluations yield to the event loop.
    pub(crate) yielder: &'a dyn Yield,
    /// Account of time in the range.
    pub times: ProgramTimes,
    /// Number of capabilities that exist in the range; at least 1.
    pub caps: u64,
    /// Collections that begin in the range.
    pub collections: Vec<CollectionInRange<'a>>,
    /// Sums over all threads in the range, computed on first use.
    threads: OnceCell<ThreadsInRange>,
    /// Run time of each thread in the range.
    run_times: OnceCell<Vec<(ThreadId, u64)>>,
    /// Indices into `collections` of collections that were requested explicitly, computed on first use.
    pub(crate) requested_collections: OnceCell<Vec<usize>>,
    /// Disturbed collections, sorted by index, computed on first use.
    disturbed: OnceCell<Vec<DisturbedCollection>>,
    /// Threads of the runtime. Cached, as each rule checks each thread.
    runtime_threads: OnceCell<SeededSet<ThreadId>>,
    /// Threads of the runtime that evaluate sparks.
    spark_evaluators: OnceCell<SeededSet<ThreadId>>,
    /// Threads that only mark time, computed on first use.
    heartbeats: OnceCell<BTreeSet<ThreadId>>,
    /// Wakeups in the range once a rule has looked at all of them; `None` if there are too many.
    pub(crate) wakeups: OnceCell<Option<WakeupList>>,
    /// Threads that are bound to OS threads, computed on first use.
    pub(crate) bound_threads: OnceCell<SeededSet<ThreadId>>,
    /// Turns of threads in the range, as far as rules or the sums of threads have read them.
    pub(crate) turn_cache: TurnCache,
}

impl<'a> RuleContext<'a> {
    /// Creates the context of a range of a log; `None` is the whole log.
    pub fn new(log: &'a Recording, range: Option<Interval>) -> Self {
        let range = log.clip_to_cut(range);
        let is_whole = range.is_none();
        // Shares are of a part of the log, not of time before or after it.
        let whole = log.whole_range();
        let range = range.map_or(whole, |range| range.clip(whole));
        let times = log.times(Some(range));
        let lived = times.caps.iter().filter(|(_, times)| times.life_ns > 0);
        Self {
            log,
            range,
            is_whole,
            is_for_rules: false,
            yielder: &NoYield,
            caps: (lived.count() as u64).max(1),
            times,
            collections: collections_in(log, range),
            threads: OnceCell::new(),
            run_times: OnceCell::new(),
            requested_collections: OnceCell::new(),
            disturbed: OnceCell::new(),
            runtime_threads: OnceCell::new(),
            spark_evaluators: OnceCell::new(),
            heartbeats: OnceCell::new(),
            wakeups: OnceCell::new(),
            bound_threads: OnceCell::new(),
            turn_cache: TurnCache::default(),
        }
    }

    /// Creates the context that rules use. The default range is from the first run of a thread to the collection
    /// with which the runtime ends, which no program can avoid.
    pub fn for_rules(log: &'a Recording, range: Option<Interval>) -> Self {
        Self {
            is_whole: range.is_none(),
            is_for_rules: true,
            ..Self::new(log, Some(range.unwrap_or_else(|| program_range(log))))
        }
    }

    /// Sets the policy by which evaluations yield to the event loop; without it, they never do.
    #[must_use]
    pub fn yielding(self, yielder: &'a dyn Yield) -> Self {
        Self { yielder, ..self }
    }

    /// Returns a counter for a loop of cheap steps.
    pub(crate) fn steps(&self) -> Steps<'a> {
        Steps::new(self.yielder)
    }

    /// Sorts `items` (stable) and yields between chunks.
    pub(crate) async fn sort<T: Ord>(&self, items: &mut [T]) {
        sort(items, self.yielder).await;
    }

    /// Returns the context that rules use for a range of the same log.
    pub(crate) fn for_rules_in(&self, range: Option<Interval>) -> Self {
        Self::for_rules(self.log, range).yielding(self.yielder)
    }

    /// Returns the context for rules if this one is of the whole log.
    pub(crate) fn rules_context(&self) -> Option<Self> {
        self.is_whole.then(|| self.for_rules_in(None))
    }

    /// Returns whether no range was given, so that the whole log is meant.
    pub(crate) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the bytes allocated. For the whole log, this includes the data of the last collection, at which the
    /// default range of rules ends.
    pub fn allocated_bytes(&self) -> Option<u64> {
        let range = (!self.is_whole).then_some(self.range);
        self.log.numbers.bytes_allocated(self.log.end(), range)
    }

    /// Returns the spark counters. A range up to the end of the program's work includes what the runtime logs at
    /// its end: counters come with collections, and there may be no other.
    pub(crate) fn sparks(&self) -> SparkTotals {
        let (start, end) = (self.range.start(), self.range.end());
        let is_to_end = end >= program_range(self.log).end();
        let end = if is_to_end { self.log.end() } else { end };
        let sparks = self.log.sparks(Some(Interval::new(start, end)));
        sparks
            .rows
            .first()
            .map(|all| all.totals)
            .unwrap_or_default()
    }

    /// Returns the number of runs of threads that begin in the range.
    pub fn runs(&self) -> u64 {
        self.runs_until(self.range.end())
    }

    /// Returns the number of runs in the range that begin before a time.
    pub(crate) fn runs_until(&self, time: Nanos) -> u64 {
        let runs = self.cap_ids().filter_map(|cap| {
            let runs = &self.log.store.cap(cap)?.runs;
            let first = |time: Nanos| runs.first_starting_at(time.0) as u64;
            Some(first(time).saturating_sub(first(self.range.start())))
        });
        runs.sum()
    }

    /// Returns the length of the range in nanoseconds, at least 1.
    pub fn length_ns(&self) -> u64 {
        self.range.duration().0.max(1)
    }

    /// Returns `ns` as a share of the range.
    pub fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.length_ns() as f64
    }

    /// Returns the length of a span without collections, in nanoseconds; 0 if it ends before it begins.
    pub(crate) fn unpaused_ns(&self, (from, to): (u64, u64)) -> u64 {
        if to <= from {
            return 0;
        }
        let paused_ns = self.log.store.account().pauses().paused_in_ns(from, to);
        (to - from).saturating_sub(paused_ns)
    }

    /// Returns a number in the range as one per second.
    pub(crate) fn per_second(&self, count: u64) -> f64 {
        count as f64 * 1e9 / self.length_ns() as f64
    }

    /// Returns whether the log is of one machine of an Eden program, which has several.
    pub fn is_eden_machine(&self) -> bool {
        let types = [EventType::CREATE_MACHINE, EventType::CREATE_PROCESS];
        self.log.info.has(EventSet::from_types(&types))
    }

    /// Returns whether the program uses the non-threaded runtime; then not even collector threads run in parallel.
    pub fn is_not_threaded(&self) -> bool {
        self.log.info.process().ways.contains(&Way::NotThreaded)
    }

    /// Returns the disturbed collections, sorted by index.
    pub(crate) fn disturbed(&self) -> &[DisturbedCollection] {
        self.disturbed.get_or_init(|| find_disturbed(self))
    }

    /// Returns whether the collection with this index took much longer than others that copied as much.
    pub fn is_disturbed(&self, index: usize) -> bool {
        let found = self.disturbed();
        found.binary_search_by_key(&index, |one| one.index).is_ok()
    }

    /// Returns whether the collection included a heap census.
    pub fn has_census(&self, gc: &CollectionInRange<'_>) -> bool {
        let times = self.log.times(Some(gc.pause.span()));
        times.all_caps().census_ns > 0
    }

    /// Returns for how long before `time` no thread of the program ran on any capability, in nanoseconds, if that is at
    /// least `min_ns`. Runs of the runtime's own threads, for timers and files, do not count.
    pub(crate) fn quiet_before_ns(&self, time: Nanos, min_ns: u64) -> Option<u64> {
        let mut quiet_ns = time.0;
        for cap in self.cap_ids() {
            let end_ns = self.last_end_before_ns(cap, time).unwrap_or(0);
            quiet_ns = quiet_ns.min(time.0.saturating_sub(end_ns));
            // The other capabilities need not be searched.
            if quiet_ns < min_ns {
                return None;
            }
        }
        Some(quiet_ns)
    }

    /// Returns the end of the last run of the program on a capability that begins before `time`, at most `time`.
    fn last_end_before_ns(&self, cap: CapId, time: Nanos) -> Option<u64> {
        /// Give up after this many runs of the runtime's threads.
        const MAX_RUNS: usize = 100;
        let runs = &self.log.store.cap(cap)?.runs;
        let next = runs.first_starting_at(time.0);
        let indices = (next.saturating_sub(MAX_RUNS)..next).rev();
        let is_of_program = |index: &usize| {
            let thread = self.log.store.thread_of(cap, *index);
            !thread.is_some_and(|thread| self.is_runtime_thread(thread))
        };
        let last = { indices }.find(is_of_program);
        let oldest = next.checked_sub(MAX_RUNS + 1);
        Some(runs.span(last.or(oldest)?).1.min(time.0))
    }

    /// Returns sums over all threads in the range, including the runtime's. If a sum is small, rules need not look
    /// at each thread.
    pub async fn threads(&self) -> &ThreadsInRange {
        let find = async {
            let store = &self.log.store;
            let mut all = if self.is_for_rules {
                let mut filler = TurnCacheFiller::new(&self.turn_cache);
                let visiting = (self.yielder, &mut filler);
                store.threads_in_visiting(self.range, visiting).await
            } else {
                store.threads_in(self.range, self.yielder).await
            };
            // Those of each thread come from the same sums.
            if let Some(all) = all.run_times.take() {
                self.run_times.get_or_init(|| self.of_program(all));
            }
            all
        };
        cached(&self.threads, find).await
    }

    /// Returns the run time in nanoseconds of each thread of the program that ran in the range, in order of first
    /// appearance.
    pub(crate) async fn run_times(&self) -> &[(ThreadId, u64)] {
        let find = async {
            let all = self.log.store.run_times_in(self.range, self.yielder);
            self.of_program(all.await)
        };
        cached(&self.run_times, find).await
    }

    /// Removes the runtime's own threads.
    fn of_program(&self, mut run_times: Vec<(ThreadId, u64)>) -> Vec<(ThreadId, u64)> {
        run_times.retain(|(thread, _)| !self.is_runtime_thread(*thread));
        run_times
    }

    /// Returns the sums over all threads if an earlier rule has computed them.
    pub(crate) fn known_threads(&self) -> Option<&ThreadsInRange> {
        self.threads.get()
    }

    pub(crate) fn is_runtime_thread(&self, thread: ThreadId) -> bool {
        self.runtime_threads().contains(&thread)
    }

    pub(crate) fn runtime_threads(&self) -> &SeededSet<ThreadId> {
        self.runtime_threads.get_or_init(|| {
            let labelled = self.log.store.threads_labeled(is_runtime_label);
            labelled.chain(self.unlabelled_managers()).collect()
        })
    }

    /// Returns whether a thread evaluates sparks for the runtime, by its label.
    pub(crate) fn is_spark_evaluator(&self, thread: ThreadId) -> bool {
        let evaluators = self.spark_evaluators.get_or_init(|| {
            let is_evaluator = |label: &str| label == "spark evaluator";
            self.log.store.threads_labeled(is_evaluator).collect()
        });
        evaluators.contains(&thread)
    }

    /// Returns the threads that only mark time: they sleep, hardly run and wake nobody.
    pub(crate) async fn heartbeats(&self) -> &BTreeSet<ThreadId> {
        cached(&self.heartbeats, heartbeats::find(self)).await
    }

    /// Returns the capabilities in the range.
    pub fn cap_ids(&self) -> impl Iterator<Item = CapId> + '_ {
        self.times.caps.iter().map(|(cap, _)| *cap)
    }

    /// Returns the collections with statistics of the oldest generation, or of the younger ones, with their indices.
    pub(crate) fn measured_collections(
        &self,
        is_major: bool,
    ) -> impl Iterator<Item = (usize, &CollectionInRange<'a>)> {
        self.collections_where(move |gc| gc.statistics.is_some() && gc.is_major == is_major)
    }

    /// Returns the collections for which `wanted` holds, with their indices.
    pub fn collections_where(
        &self,
        wanted: impl Fn(&CollectionInRange<'a>) -> bool,
    ) -> impl Iterator<Item = (usize, &CollectionInRange<'a>)> {
        let all = self.collections.iter().enumerate();
        all.filter(move |(_, gc)| wanted(gc))
    }
}

/// Returns the value of a cell, which it computes if it is empty.
pub(crate) async fn cached<T>(cell: &OnceCell<T>, find: impl Future<Output = T>) -> &T {
    match cell.get() {
        Some(known) => known,
        None => {
            let found = find.await;
            cell.get_or_init(|| found)
        }
    }
}

/// Returns the range from the first run of a thread to the final collection of the runtime, after which threads
/// hardly run.
fn program_range(log: &Recording) -> Interval {
    /// Upper bound of what finalizers and flushing handles take.
    const AFTER_END_NS: u64 = 5_000_000;
    let account = log.store.account();
    let all = account.log();
    let first = account.caps().iter().filter_map(|cap| {
        let runs = &log.store.cap(*cap)?.runs;
        (!runs.is_empty()).then(|| runs.start(0))
    });
    let start = Nanos(first.min().unwrap_or(all.start().0));
    let last = account.pauses().all().last();
    let last = last.filter(|last| {
        let rest = Interval::new(last.end, all.end());
        account.program(Some(rest)).all_caps().running_ns < AFTER_END_NS
    });
    let end = last.map_or(all.end(), |last| last.requested);
    if start < end {
        Interval::new(start, end)
    } else {
        all
    }
}
