//! Input of rules: a log and a range of it, with cached results that many rules need.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::disturbance::{DisturbedCollection, find_disturbed};
use crate::finding::{Axis, Evidence, Finding, Severity, Subject, Value};
use crate::flags::option_bytes;
use crate::heartbeats;
use crate::loss_budget::{LossBudget, Pool};
use crate::threads::is_runtime_label;
use crate::turn_cache::TurnCache;
use analysis::account::pauses::Pause;
use analysis::account::report::ProgramTimes;
use analysis::info::Info;
use analysis::numbers::Collection;
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
    /// Policy by which evaluations yield to the event loop.
    pub(crate) yielder: &'a dyn Yield,
    /// Account of time in the range.
    pub times: ProgramTimes,
    /// Number of capabilities that exist in the range; at least 1.
    pub caps: u64,
    /// Collections that begin in the range.
    pub gc_pauses: Vec<GcPause<'a>>,
    /// Sums over all threads in the range, computed on first use.
    threads: OnceCell<ThreadsInRange>,
    /// Run time of each thread in the range.
    run_times: OnceCell<Vec<(ThreadId, u64)>>,
    /// Indices into `gc_pauses` of collections that were requested explicitly, computed on first use.
    requested_collections: OnceCell<Vec<usize>>,
    /// Disturbed collections, sorted by index, computed on first use.
    disturbed: OnceCell<Vec<DisturbedCollection>>,
    /// Threads of the runtime. Cached, as each rule checks each thread.
    runtime_threads: OnceCell<SeededSet<ThreadId>>,
    /// Threads of the runtime that evaluate sparks.
    spark_evaluators: OnceCell<SeededSet<ThreadId>>,
    /// Threads that only mark time, computed on first use.
    heartbeats: OnceCell<BTreeSet<ThreadId>>,
    /// Turns of threads in the range, as far as rules have read them.
    pub(crate) turn_cache: TurnCache,
}

/// Collection: the program is stopped, at first until all capabilities have stopped.
#[derive(Clone, Copy, Debug)]
pub struct GcPause<'a> {
    /// Times of the request, the start and the end.
    pub pause: &'a Pause,
    /// Statistics logged by the runtime, if there are any.
    pub statistics: Option<&'a Collection>,
    /// Whether the oldest generation was collected.
    pub is_major: bool,
    range: Interval,
}

impl GcPause<'_> {
    /// Returns the time from the request to the end, in nanoseconds.
    pub fn all_ns(&self) -> u64 {
        self.pause.span().duration().0
    }

    /// Returns the time until all capabilities had stopped, clipped to the range, in nanoseconds.
    pub fn sync_ns(&self) -> u64 {
        let sync = Interval::new(self.pause.requested, self.pause.start);
        sync.clip(self.range).duration().0
    }

    /// Returns the time from start to end of the collection, clipped to the range, in nanoseconds.
    pub fn pause_ns(&self) -> u64 {
        let pause = Interval::new(self.pause.start, self.pause.end);
        pause.clip(self.range).duration().0
    }

    /// Returns the subject of evidence, if the runtime logged the number of the collection.
    pub(crate) fn subject(&self) -> Option<Subject> {
        let statistics = self.statistics?;
        Some(Subject::Collection(statistics.number))
    }

    /// Creates evidence of so many nanoseconds.
    pub(crate) fn evidence(&self, ns: u64) -> Evidence {
        Evidence {
            subjects: self.subject().into_iter().collect(),
            ..Evidence::new(self.pause.span(), Value::Ns(ns))
        }
    }

    /// Returns whether several threads collected.
    pub(crate) fn is_parallel(&self) -> bool {
        self.statistics.is_some_and(Collection::is_parallel)
    }
}

/// Events that rules need, by the options that enable them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Thread events: `+RTS -l` or `-ls`.
    Threads,
    /// Same as [`Threads`](Self::Threads), for rules that look at each run.
    EachRun,
    /// Collections: `+RTS -l` or `-lg`.
    Collections,
    /// Statistics of collections: `+RTS -l` or `-lg`, GHC 7.6 and later.
    GcStatistics,
    /// Spark counters: `+RTS -l` or `-lp`.
    Sparks,
    /// Single sparks: `+RTS -lf`.
    EachSpark,
    /// Heap censuses: `+RTS -hT -l` or another `-h`.
    Censuses,
    /// Concurrent collector: `+RTS --nonmoving-gc -l`, GHC 8.10 and later.
    Nonmoving,
}

/// Allocation area of a capability by default, since GHC 9.2 and before.
pub(crate) const AREA_BYTES: u64 = 4 << 20;
pub(crate) const OLD_AREA_BYTES: u64 = 1 << 20;

/// Event types of the GC class. The runtime logs some of them even before the first collection, so a log with any
/// of these and no collection is from a program without collections (GHC 7.6 and later).
const GC_CLASS_EVENTS: [EventType; 6] = [
    EventType::HEAP_INFO_GHC,
    EventType::HEAP_ALLOCATED,
    EventType::HEAP_SIZE,
    EventType::HEAP_LIVE,
    EventType::GC_STATS_GHC,
    EventType::GC_START,
];

impl Input {
    const fn events(self) -> &'static [EventType] {
        match self {
            Self::Threads | Self::EachRun => &[EventType::RUN_THREAD],
            Self::Collections => &GC_CLASS_EVENTS,
            Self::GcStatistics => GC_CLASS_EVENTS.split_at(5).0,
            Self::Sparks => &[EventType::SPARK_COUNTERS],
            Self::EachSpark => &[EventType::SPARK_RUN, EventType::SPARK_STEAL],
            Self::Censuses => &[EventType::HEAP_PROF_SAMPLE_BEGIN],
            Self::Nonmoving => &[EventType::CONC_MARK_BEGIN],
        }
    }

    /// Returns whether a log has any of the events.
    pub fn is_in(self, info: &Info) -> bool {
        info.has(EventSet::from_types(self.events()))
    }

    /// Returns how to run the program to get the first of these inputs that a log does not have.
    pub(crate) fn missing_in(all: &[Self], info: &Info) -> Option<&'static str> {
        let missing = all.iter().find(|input| !input.is_in(info));
        missing.map(|input| input.missing_message())
    }

    /// Returns a message on how to run the program to get the events.
    pub const fn missing_message(self) -> &'static str {
        match self {
            Self::Threads | Self::EachRun => {
                "the log has no events of threads: run the program with +RTS -ls"
            }
            Self::Collections => "the log has no collections: run the program with +RTS -lg",
            Self::GcStatistics => {
                "the log has no statistics of collections: run the program with +RTS -lg (GHC 7.6 or later)"
            }
            Self::Sparks => {
                "the log has no sparks: the program creates none, or ran without +RTS -lp"
            }
            Self::EachSpark => {
                "the log has no events of single sparks: run the program with +RTS -lf"
            }
            Self::Nonmoving => {
                "the nonmoving collector did not run: run the program with +RTS --nonmoving-gc -l"
            }
            Self::Censuses => {
                "the log has no census of the heap: run the program with +RTS -hT -l, or another kind of heap profile"
            }
        }
    }
}

impl<'a> RuleContext<'a> {
    /// Creates the context of a range of a log; `None` is the whole log.
    pub fn new(log: &'a Recording, range: Option<Interval>) -> Self {
        let range = log.within_cut(range);
        let is_whole = range.is_none();
        let range = range.unwrap_or_else(|| log.whole_range());
        let times = log.times(Some(range));
        let lived = times.caps.iter().filter(|(_, times)| times.life_ns > 0);
        Self {
            log,
            range,
            is_whole,
            yielder: &NoYield,
            caps: (lived.count() as u64).max(1),
            times,
            gc_pauses: gc_pauses_in(log, range),
            threads: OnceCell::new(),
            run_times: OnceCell::new(),
            requested_collections: OnceCell::new(),
            disturbed: OnceCell::new(),
            runtime_threads: OnceCell::new(),
            spark_evaluators: OnceCell::new(),
            heartbeats: OnceCell::new(),
            turn_cache: TurnCache::default(),
        }
    }

    /// Creates the context that rules use. The default range is from the first run of a thread to the collection
    /// with which the runtime ends, which no program can avoid.
    pub fn for_rules(log: &'a Recording, range: Option<Interval>) -> Self {
        Self {
            is_whole: range.is_none(),
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

    /// Creates a time finding that claims capability nanoseconds from a pool.
    pub fn time_finding(
        &self,
        rule: &'static str,
        title: String,
        loss_budget: &mut LossBudget,
        claim: (Pool, u64),
    ) -> Finding {
        self.time_finding_from_pools(rule, title, loss_budget, &[claim])
    }

    /// Creates a time finding that claims from several disjoint pools.
    pub(crate) fn time_finding_from_pools(
        &self,
        rule: &'static str,
        title: String,
        loss_budget: &mut LossBudget,
        claims: &[(Pool, u64)],
    ) -> Finding {
        // Rules calculate as if every capability existed all the time.
        let capped = |&(pool, cap_ns): &(Pool, u64)| (pool, cap_ns.min(loss_budget.all_ns(pool)));
        let claims: Vec<(Pool, u64)> = claims.iter().map(capped).collect();
        let claimed = claims
            .iter()
            .map(|(pool, cap_ns)| loss_budget.claim(*pool, *cap_ns));
        Finding {
            claimed_ns: claimed.sum(),
            ..self.unclaimed_time_finding(
                rule,
                title,
                claims.iter().map(|(_, cap_ns)| cap_ns).sum(),
            )
        }
    }

    /// Creates a time finding with a cost in capability nanoseconds and nothing claimed yet.
    fn unclaimed_time_finding(&self, rule: &'static str, title: String, cap_ns: u64) -> Finding {
        let cost_ns = cap_ns / self.caps;
        let share = self.share(cost_ns);
        // A share of only a few milliseconds may be chance.
        const FEW_NS: u64 = 10_000_000;
        let most = if cost_ns < FEW_NS {
            Severity::Low
        } else {
            Severity::High
        };
        Finding {
            severity: Severity::of_share(share).min(most),
            cost: Value::Ns(cost_ns),
            share,
            ..Finding::new(rule, Axis::Time, title)
        }
    }

    /// Creates a finding on threads blocked while capabilities were idle, with a cost in capability nanoseconds.
    /// It claims idle time in those stretches, of any cause in the account, except for stretches that another
    /// finding claimed.
    pub(crate) async fn blocked_finding(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (waits, cap_ns): (Vec<(u64, u64)>, u64),
    ) -> Finding {
        let idle_ns =
            loss_budget.all_ns(Pool::Idle) + loss_budget.all_ns(Pool::CapIdleWorkAvailable);
        let cost = cap_ns.min(idle_ns);
        self.stretches_finding((rule, title), loss_budget, (waits, cost))
            .await
    }

    /// Same as [`blocked_finding`](Self::blocked_finding), for stretches in which no thread was ready.
    pub(crate) async fn idle_finding(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (stretches, cap_ns): (Vec<(u64, u64)>, u64),
    ) -> Finding {
        let cost = cap_ns.min(loss_budget.all_ns(Pool::Idle));
        self.stretches_finding((rule, title), loss_budget, (stretches, cost))
            .await
    }

    async fn stretches_finding(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (waits, cap_ns): (Vec<(u64, u64)>, u64),
    ) -> Finding {
        let stretches = self.stretches(waits).await;
        let whole_ns = self.idle_in(&stretches).await.all_ns();
        let free = loss_budget.claim_idle(&stretches);
        let parts = self.idle_in(&free).await;
        // Each waiting thread accounts for at most one idle capability.
        let share = cap_ns as f64 / whole_ns.max(cap_ns).max(1) as f64;
        let claimed_ns = loss_budget.claim_parts(&parts.scaled(share));
        Finding {
            claimed_ns,
            ..self.unclaimed_time_finding(rule, title, cap_ns)
        }
    }

    /// Returns the allocation area of a capability in bytes (`-A`): as logged by the runtime, which includes
    /// compiled-in options, else from the arguments, else the default of the GHC version.
    pub fn allocation_area_bytes(&self) -> u64 {
        let process = self.log.info.process();
        if let Some(heap) = process.heap.filter(|heap| heap.allocation_area_bytes > 0) {
            return heap.allocation_area_bytes;
        }
        let from_arguments = self
            .option_value("-A")
            .and_then(|value| option_bytes(&value));
        from_arguments.unwrap_or_else(|| match process.ghc.as_deref().map(version) {
            Some(version) if version < (9, 2) => OLD_AREA_BYTES,
            Some(_) => AREA_BYTES,
            None => self.probable_area_bytes(),
        })
    }

    /// Returns the default area that fits what was allocated before collections: a log that was not written to its
    /// end may lack the version of GHC.
    fn probable_area_bytes(&self) -> u64 {
        const ENOUGH: usize = 101;
        let pairs = self.gc_pauses.windows(2).take(ENOUGH);
        let allocated = pairs.map(|two| {
            let numbers = &self.log.numbers;
            numbers.most_allocated_bytes(two[0].pause.start, two[1].pause.start)
        });
        let mut allocated: Vec<u64> = allocated.collect();
        allocated.sort_unstable();
        match allocated.get(allocated.len() / 2) {
            Some(usual) if *usual < AREA_BYTES / 2 => OLD_AREA_BYTES,
            _ => AREA_BYTES,
        }
    }

    /// Returns the factor of live data to which the old generation may grow before it is collected (`-F`): from
    /// the arguments, else 2, the default of every GHC.
    pub fn old_generation_factor(&self) -> f64 {
        let from_arguments = self.option_value("-F");
        let from_arguments = from_arguments.and_then(|value| value.parse().ok());
        from_arguments
            .filter(|factor: &f64| factor.is_finite() && *factor >= 1.0)
            .unwrap_or(2.0)
    }

    /// Returns the major collections that were requested explicitly, with their indices: no capability had
    /// allocated nearly enough to trigger them.
    pub async fn requested_collections(&self) -> Vec<(usize, &GcPause<'a>)> {
        let find = self.find_requested_collections();
        let indices = cached(&self.requested_collections, find).await.iter();
        indices
            .map(|index| (*index, &self.gc_pauses[*index]))
            .collect()
    }

    /// Compares with the usual allocation before minor collections, which have no other trigger. The arguments
    /// alone are not enough: they lack compiled-in options (`-with-rtsopts`).
    async fn find_requested_collections(&self) -> Vec<usize> {
        const NEARLY: f64 = 0.9;
        // Right after another one, with little allocation in between, the old generation cannot have grown by its
        // factor.
        const EARLY: f64 = 0.5;
        const LIVE_BYTES: u64 = 6_000_000;
        let (mut live_bytes, mut since_major, mut was_major) = (0_u64, 0_u64, false);
        let factor = self.old_generation_factor();
        let grows_freely = self.heap_limit_bytes().is_none() && !self.has_argument("-G1");
        let mut steps = self.steps();
        let (mut before_minors, mut majors) = (Vec::new(), Vec::new());
        for (index, gc) in self.gc_pauses_where(|gc| gc.statistics.is_some()) {
            steps.step().await;
            let next = self.gc_pauses.get(index + 1);
            let next = next.map_or(Nanos(u64::MAX), |next| next.pause.start);
            let allocated = self.log.numbers.most_allocated_bytes(gc.pause.start, next);
            let statistics = gc.statistics.copied().unwrap_or_default();
            since_major = since_major.saturating_add(statistics.allocated_bytes);
            if gc.is_major {
                let may_grow = live_bytes as f64 * (factor - 1.0);
                let is_early = was_major
                    && grows_freely
                    && live_bytes >= LIVE_BYTES
                    && (since_major as f64) < EARLY * may_grow;
                majors.push((index, allocated, is_early));
                live_bytes = statistics.live_bytes.unwrap_or(0);
                since_major = 0;
            } else {
                before_minors.push(allocated);
            }
            was_major = gc.is_major;
        }
        before_minors.sort_unstable();
        let usual = before_minors.get(before_minors.len() / 2);
        let area = self.allocation_area_bytes();
        let limit = usual.map_or(area, |usual| area.min(*usual)) as f64 * NEARLY;
        majors.retain(|(_, allocated, is_early)| *is_early || (*allocated as f64) < limit);
        majors.into_iter().map(|(index, ..)| index).collect()
    }

    /// Returns whether the nonmoving collector is used, as far as the log shows: a compiled-in option
    /// (`-with-rtsopts`) shows only in the events.
    pub fn is_nonmoving(&self) -> bool {
        Input::Nonmoving.is_in(&self.log.info)
            || self.has_argument("--nonmoving-gc")
            || self.has_argument("-xn")
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
    pub fn has_census(&self, gc: &GcPause<'_>) -> bool {
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
        let find = self.log.store.threads_in(self.range, self.yielder);
        cached(&self.threads, find).await
    }

    /// Returns the run time in nanoseconds of each thread of the program that ran in the range, in order of first
    /// appearance.
    pub(crate) async fn run_times(&self) -> &[(ThreadId, u64)] {
        let find = async {
            let mut all = self.log.store.run_times_in(self.range, self.yielder).await;
            all.retain(|(thread, _)| !self.is_runtime_thread(*thread));
            all
        };
        cached(&self.run_times, find).await
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
    ) -> impl Iterator<Item = (usize, &GcPause<'a>)> {
        self.gc_pauses_where(move |gc| gc.statistics.is_some() && gc.is_major == is_major)
    }

    /// Returns the collections for which `wanted` holds, with their indices.
    pub fn gc_pauses_where(
        &self,
        wanted: impl Fn(&GcPause<'a>) -> bool,
    ) -> impl Iterator<Item = (usize, &GcPause<'a>)> {
        let all = self.gc_pauses.iter().enumerate();
        all.filter(move |(_, gc)| wanted(gc))
    }
}

/// Returns the value of a cell, which it computes if it is empty.
async fn cached<T>(cell: &OnceCell<T>, find: impl Future<Output = T>) -> &T {
    match cell.get() {
        Some(known) => known,
        None => {
            let found = find.await;
            cell.get_or_init(|| found)
        }
    }
}

pub(crate) fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

fn gc_pauses_in(log: &Recording, range: Interval) -> Vec<GcPause<'_>> {
    let statistics = log.numbers.collections_with_statistics();
    let pauses = log.store.account().pauses().starting_in(range).iter();
    let gc = |pause| GcPause {
        pause,
        statistics: None,
        is_major: false,
        range,
    };
    let mut gc_pauses: Vec<GcPause<'_>> = pauses.map(gc).collect();
    let mut next = statistics.partition_point(|statistics| statistics.start < range.start());
    for gc in &mut gc_pauses {
        while statistics
            .get(next)
            .is_some_and(|statistics| statistics.start < gc.pause.start)
        {
            next += 1;
        }
        gc.statistics = statistics
            .get(next)
            .filter(|statistics| statistics.start == gc.pause.start);
        let generation = gc.pause.generation;
        gc.is_major = generation.is_some_and(|number| log.numbers.is_oldest(number));
    }
    gc_pauses
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
