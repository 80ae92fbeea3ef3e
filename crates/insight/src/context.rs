//! What rules look at: a log and a part of it, with what many of them ask for.

use std::cell::OnceCell;

use crate::disturbance::{Disturbed, disturbed};
use crate::finding::{Axis, Evidence, Finding, Severity, Subject, Value};
use crate::flags::option_bytes;
use crate::loss_budget::{LossBudget, Pool};
use crate::lost_time::union;
use crate::threads::is_of_runtime;
use analysis::account::pauses::Pause;
use analysis::account::report::ProgramTimes;
use analysis::info::Info;
use analysis::numbers::Collection;
use analysis::numbers::summary::SparkTotals;
use analysis::process::Way;
use analysis::recording::Recording;
use analysis::timeline::thread_table::ThreadsIn;
use analysis::yielder::{Steps, Yield, sort};
use eventlog::hash::SeededSet;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::{EventSet, EventType};
use model::lane::Lane;
use model::time::Interval;

/// A log that is read, and a part of it.
#[derive(Debug)]
pub struct RuleContext<'a> {
    /// The log.
    pub log: &'a Recording,
    /// The part that is looked at.
    pub range: Interval,
    /// Whether it is the whole log.
    is_whole: bool,
    /// Where the time went in it.
    pub times: ProgramTimes,
    /// The capabilities that live in it.
    pub caps: u64,
    /// The collections that begin in it.
    pub stops: Vec<GcPause<'a>>,
    /// What all threads did in it, once somebody asks.
    threads: OnceCell<ThreadsIn>,
    /// The places of the collections that nothing but a wish asked for, likewise.
    asked_for: OnceCell<Vec<usize>>,
    /// The places of the collections that took much longer than others of the same size.
    disturbed: OnceCell<Vec<Disturbed>>,
    /// The threads of the runtime: each rule asks for each thread.
    runtime_threads: OnceCell<SeededSet<ThreadId>>,
}

/// A collection: the program stands still, first until all have stopped.
#[derive(Clone, Copy, Debug)]
pub struct GcPause<'a> {
    /// When.
    pub pause: &'a Pause,
    /// What the runtime says of it, if it does.
    pub told: Option<&'a Collection>,
    /// Whether all generations were collected.
    pub is_major: bool,
    range: Interval,
}

impl GcPause<'_> {
    /// From the request to the end, in nanoseconds.
    #[must_use]
    pub fn all_ns(&self) -> u64 {
        self.pause.span().duration().0
    }

    /// Until all had stopped, in nanoseconds of the range.
    #[must_use]
    pub fn sync_ns(&self) -> u64 {
        let sync = Interval::new(self.pause.requested, self.pause.start);
        sync.clip(self.range).duration().0
    }

    /// The collection itself, in nanoseconds of the range.
    #[must_use]
    pub fn pause_ns(&self) -> u64 {
        let pause = Interval::new(self.pause.start, self.pause.end);
        pause.clip(self.range).duration().0
    }
}

/// Events that rules need, by what turns them on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Threads: `+RTS -l` or `-ls`.
    Threads,
    /// As [`Threads`](Self::Threads), of which each run is looked at.
    EachRun,
    /// Collections: `+RTS -l` or `-lg`.
    Collections,
    /// What a collection copied: `+RTS -l` or `-lg`, GHC 7.6 and later.
    GcStatistics,
    /// Sums of sparks: `+RTS -l` or `-lp`.
    Sparks,
    /// Each spark: `+RTS -lf`.
    EachSpark,
    /// Censuses of the heap: `+RTS -hT -l` or another `-h`.
    Censuses,
    /// The concurrent collector: `+RTS --nonmoving-gc -l`, GHC 8.10 and later.
    Nonmoving,
}

/// What the runtime logs with each class of collections, even before the first one: a log that has any of
/// these and no collection is of a program without collections (GHC 7.6 and later).
const OF_COLLECTIONS: [EventType; 6] = [
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
            Self::Collections => &OF_COLLECTIONS,
            Self::GcStatistics => OF_COLLECTIONS.split_at(5).0,
            Self::Sparks => &[EventType::SPARK_COUNTERS],
            Self::EachSpark => &[EventType::SPARK_RUN, EventType::SPARK_STEAL],
            Self::Censuses => &[EventType::HEAP_PROF_SAMPLE_BEGIN],
            Self::Nonmoving => &[EventType::CONC_MARK_BEGIN],
        }
    }

    /// Whether a log has it.
    #[must_use]
    pub fn is_in(self, info: &Info) -> bool {
        info.has(EventSet::of(self.events()))
    }

    /// What to run the program with to have it.
    #[must_use]
    pub const fn how(self) -> &'static str {
        match self {
            Self::Threads | Self::EachRun => {
                "the log has no events of threads: run the program with +RTS -ls"
            }
            Self::Collections => "the log has no collections: run the program with +RTS -lg",
            Self::GcStatistics => {
                "the log has no statistics of collections: run the program with +RTS -lg (GHC 7.6 or later)"
            }
            Self::Sparks => {
                "the log has no sparks: the program makes none, or it was run without +RTS -lp"
            }
            Self::EachSpark => "the log has no single sparks: run the program with +RTS -lf",
            Self::Nonmoving => {
                "the nonmoving collector did not run; with +RTS --nonmoving-gc -l it would"
            }
            Self::Censuses => {
                "the log has no census of the heap: run the program with +RTS -hT -l, or another kind of heap profile"
            }
        }
    }
}

impl<'a> RuleContext<'a> {
    /// A part of a log, or all of it.
    #[must_use]
    pub fn new(log: &'a Recording, range: Option<Interval>) -> Self {
        let range = log.within_cut(range);
        let is_whole = range.is_none();
        let range = range.unwrap_or_else(|| log.whole());
        let times = log.times(Some(range));
        let lived = times.caps.iter().filter(|(_, times)| times.life_ns > 0);
        Self {
            log,
            range,
            is_whole,
            caps: (lived.count() as u64).max(1),
            times,
            stops: stops_in(log, range),
            threads: OnceCell::new(),
            asked_for: OnceCell::new(),
            disturbed: OnceCell::new(),
            runtime_threads: OnceCell::new(),
        }
    }

    /// What rules look at if nothing else is asked for: from the first run of a thread to the
    /// collection with which the runtime ends, which no program can avoid.
    #[must_use]
    pub fn for_rules(log: &'a Recording, range: Option<Interval>) -> Self {
        Self {
            is_whole: range.is_none(),
            ..Self::new(log, Some(range.unwrap_or_else(|| working(log))))
        }
    }

    /// The same for rules.
    #[must_use]
    pub(crate) fn of_rules(&self) -> Option<Self> {
        self.is_whole.then(|| Self::for_rules(self.log, None))
    }

    /// What the program allocated; of the whole log also what the last collection tells, which
    /// ends the scope of rules.
    #[must_use]
    pub fn allocated_bytes(&self) -> Option<u64> {
        let range = (!self.is_whole).then_some(self.range);
        self.log.numbers.bytes_allocated(self.log.end(), range)
    }

    /// What became of the sparks. A scope that reaches to the end of the program's work has what the
    /// runtime tells at its end, too: counters come with collections, and there may be no other.
    pub(crate) fn sparks(&self) -> SparkTotals {
        let (start, end) = (self.range.start(), self.range.end());
        let is_to_end = end >= working(self.log).end();
        let end = if is_to_end { self.log.end() } else { end };
        let of = self.log.sparks(Some(Interval::new(start, end)));
        of.rows.first().map(|all| all.totals).unwrap_or_default()
    }

    /// How many runs of threads begin in it.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs_until(self.range.end())
    }

    /// How many of them begin before a time.
    pub(crate) fn runs_until(&self, time: Nanos) -> u64 {
        let runs = self.cap_ids().filter_map(|cap| {
            let runs = &self.log.store.cap(cap)?.runs;
            let first = |time: Nanos| runs.first_starting_at(time.0) as u64;
            Some(first(time).saturating_sub(first(self.range.start())))
        });
        runs.sum()
    }

    /// How long it is, in nanoseconds.
    #[must_use]
    pub fn length_ns(&self) -> u64 {
        self.range.duration().0.max(1)
    }

    /// The share that so many nanoseconds of the program are.
    #[must_use]
    pub fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.length_ns() as f64
    }

    /// A finding of time that claims so many nanoseconds of capabilities of a pool.
    #[must_use]
    pub fn of_time(
        &self,
        rule: &'static str,
        title: String,
        loss_budget: &mut LossBudget,
        claim: (Pool, u64),
    ) -> Finding {
        self.of_pools(rule, title, loss_budget, &[claim])
    }

    /// The same of several pools that have nothing in common.
    pub(crate) fn of_pools(
        &self,
        rule: &'static str,
        title: String,
        loss_budget: &mut LossBudget,
        claims: &[(Pool, u64)],
    ) -> Finding {
        // A rule counts as if all capabilities lived all the time.
        let of = |&(pool, cap_ns): &(Pool, u64)| (pool, cap_ns.min(loss_budget.all_ns(pool)));
        let claims: Vec<(Pool, u64)> = claims.iter().map(of).collect();
        let claimed = claims
            .iter()
            .map(|(pool, cap_ns)| loss_budget.claim(*pool, *cap_ns));
        Finding {
            claimed_ns: claimed.sum(),
            ..self.costing(rule, title, claims.iter().map(|(_, cap_ns)| cap_ns).sum())
        }
    }

    /// A finding that costs so many nanoseconds of capabilities, of which it claims none yet.
    fn costing(&self, rule: &'static str, title: String, cap_ns: u64) -> Finding {
        let cost_ns = cap_ns / self.caps;
        let share = self.share(cost_ns);
        // Of a few milliseconds any share is a matter of chance.
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

    /// A finding of threads that were blocked beside idle capabilities, for so many nanoseconds
    /// of capabilities. It claims what capabilities were idle in those stretches, whatever the
    /// cause by the account, without stretches that another finding explains.
    pub(crate) async fn of_blocked(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (waits, cap_ns): (Vec<(u64, u64)>, u64),
        yielder: &dyn Yield,
    ) -> Finding {
        let idle_ns =
            loss_budget.all_ns(Pool::Idle) + loss_budget.all_ns(Pool::CapIdleWorkAvailable);
        let cost = cap_ns.min(idle_ns);
        self.of_stretches((rule, title), loss_budget, (waits, cost), yielder)
            .await
    }

    /// The same of stretches in which no thread was ready.
    pub(crate) async fn of_idle(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (stretches, cap_ns): (Vec<(u64, u64)>, u64),
        yielder: &dyn Yield,
    ) -> Finding {
        let cost = cap_ns.min(loss_budget.all_ns(Pool::Idle));
        self.of_stretches((rule, title), loss_budget, (stretches, cost), yielder)
            .await
    }

    async fn of_stretches(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (mut waits, cap_ns): (Vec<(u64, u64)>, u64),
        yielder: &dyn Yield,
    ) -> Finding {
        sort(&mut waits, yielder).await;
        let stretches = union(&waits);
        let whole_ns = self.idle_in(&stretches, yielder).await.all_ns();
        let free = loss_budget.claim_idle(&stretches);
        let parts = self.idle_in(&free, yielder).await;
        // A thread waits beside one capability at most.
        let beside = cap_ns as f64 / whole_ns.max(cap_ns).max(1) as f64;
        let claimed_ns = loss_budget.claim_parts(&parts.times(beside));
        Finding {
            claimed_ns,
            ..self.costing(rule, title, cap_ns)
        }
    }

    /// The bytes that a capability may allocate before a collection (`-A`): as the runtime says,
    /// which knows options that are compiled into the program too, else as the arguments say,
    /// else the default of the GHC.
    #[must_use]
    pub fn allocation_area_bytes(&self) -> u64 {
        let process = self.log.info.process();
        if let Some(heap) = process.heap.filter(|heap| heap.allocation_area_bytes > 0) {
            return heap.allocation_area_bytes;
        }
        let said = self
            .option_value("-A")
            .and_then(|value| option_bytes(&value));
        let default = match process.ghc.as_deref().map(version) {
            Some(version) if version < (9, 2) => 1 << 20,
            _ => 4 << 20,
        };
        said.unwrap_or(default)
    }

    /// To how many times of what was alive the old generation may grow before it is
    /// collected (`-F`): as the arguments say, else 2, which is the default of every GHC.
    #[must_use]
    pub fn old_generation_factor(&self) -> f64 {
        let said = self.option_value("-F");
        let said = said.and_then(|value| value.parse().ok());
        said.filter(|factor: &f64| factor.is_finite() && *factor >= 1.0)
            .unwrap_or(2.0)
    }

    /// The major collections that nothing but a wish asked for, with their places: before
    /// them no capability allocated nearly as much as brings one about.
    pub async fn asked_for(&self, yielder: &dyn Yield) -> Vec<(usize, &GcPause<'a>)> {
        let places = match self.asked_for.get() {
            Some(places) => places,
            None => {
                let places = self.look_for_asked(yielder).await;
                self.asked_for.get_or_init(|| places)
            }
        };
        places
            .iter()
            .map(|place| (*place, &self.stops[*place]))
            .collect()
    }

    /// How much brings one about, minor collections tell, which come for no other reason;
    /// the arguments do not have what was compiled into the program (`-with-rtsopts`).
    async fn look_for_asked(&self, yielder: &dyn Yield) -> Vec<usize> {
        const NEARLY: f64 = 0.9;
        let mut steps = Steps::new(yielder);
        let (mut before_minors, mut majors) = (Vec::new(), Vec::new());
        for (place, stop) in self.stops_where(|stop| stop.told.is_some()) {
            steps.step().await;
            let next = self.stops.get(place + 1);
            let next = next.map_or(Nanos(u64::MAX), |next| next.pause.start);
            let allocated = self
                .log
                .numbers
                .most_allocated_bytes(stop.pause.start, next);
            if stop.is_major {
                majors.push((place, allocated));
            } else {
                before_minors.push(allocated);
            }
        }
        before_minors.sort_unstable();
        let usual = before_minors.get(before_minors.len() / 2);
        let area = self.allocation_area_bytes();
        let limit = usual.map_or(area, |usual| area.min(*usual)) as f64 * NEARLY;
        majors.retain(|(_, allocated)| (*allocated as f64) < limit);
        majors.into_iter().map(|(place, _)| place).collect()
    }

    /// Whether the old generation is collected while the program runs, as far as the log
    /// tells: what is compiled into the program (`-with-rtsopts`) shows in the events alone.
    #[must_use]
    pub fn is_nonmoving(&self) -> bool {
        Input::Nonmoving.is_in(&self.log.info)
            || self.has_argument("--nonmoving-gc")
            || self.has_argument("-xn")
    }

    /// Whether it is the log of a machine of Eden, of which there are several.
    #[must_use]
    pub fn is_of_eden(&self) -> bool {
        let types = [EventType::CREATE_MACHINE, EventType::CREATE_PROCESS];
        self.log.info.has(EventSet::of(&types))
    }

    /// Whether the program has a single thread of the operating system: not even a collector
    /// runs beside it then.
    #[must_use]
    pub fn is_not_threaded(&self) -> bool {
        self.log.info.process().ways.contains(&Way::NotThreaded)
    }

    /// The collections that took much longer than others that copied as much, by place.
    pub(crate) fn disturbed(&self) -> &[Disturbed] {
        self.disturbed.get_or_init(|| disturbed(self))
    }

    /// Whether a collection took much longer than others that copied as much.
    #[must_use]
    pub fn is_disturbed(&self, place: usize) -> bool {
        let found = self.disturbed();
        found.binary_search_by_key(&place, |one| one.place).is_ok()
    }

    /// Whether the heap was counted for a profile in a collection.
    #[must_use]
    pub fn has_census(&self, stop: &GcPause<'_>) -> bool {
        let times = self.log.times(Some(stop.pause.span()));
        times.all_caps().census_ns > 0
    }

    /// For how long no thread of the program ran on any capability before a moment, in
    /// nanoseconds. The runtime's own threads look after timers and files meanwhile.
    #[must_use]
    pub fn quiet_before_ns(&self, time: Nanos) -> u64 {
        /// More runs of the runtime's own threads are not looked at.
        const MOST_RUNS: usize = 100;
        let last_end = self.cap_ids().filter_map(|cap| {
            let runs = &self.log.store.cap(cap)?.runs;
            let next = runs.first_starting_at(time.0);
            let places = (next.saturating_sub(MOST_RUNS)..next).rev();
            let is_of_program = |place: &usize| {
                let thread = self.log.store.thread_of(cap, *place);
                !thread.is_some_and(|thread| self.is_of_runtime(thread))
            };
            let last = { places }.find(is_of_program);
            let oldest = next.checked_sub(MOST_RUNS + 1);
            Some(runs.span(last.or(oldest)?).1.min(time.0))
        });
        time.0.saturating_sub(last_end.max().unwrap_or(0))
    }

    /// What all threads did together in the range, the runtime's own included: what is
    /// little here need not be looked for in each.
    pub async fn threads(&self, yielder: &dyn Yield) -> &ThreadsIn {
        if let Some(all) = self.threads.get() {
            return all;
        }
        let all = self.log.store.threads_in(self.range, yielder).await;
        self.threads.get_or_init(|| all)
    }

    /// Whether a thread is one of the runtime's own.
    pub(crate) fn is_of_runtime(&self, thread: ThreadId) -> bool {
        self.runtime_threads().contains(&thread)
    }

    /// The runtime's own threads.
    pub(crate) fn runtime_threads(&self) -> &SeededSet<ThreadId> {
        let labelled = || self.log.store.threads_labelled(is_of_runtime).collect();
        self.runtime_threads.get_or_init(labelled)
    }

    /// What a thread is called: its label, else its number.
    #[must_use]
    pub fn thread_name(&self, thread: ThreadId) -> String {
        match self.log.store.label_of(thread) {
            Some(label) => format!("Thread {thread} ({label})"),
            None => format!("Thread {thread}"),
        }
    }

    /// Evidence of collections: each with what `amount` says of it.
    pub fn evidence_of<'s>(
        stops: impl IntoIterator<Item = &'s GcPause<'s>>,
        amount: impl Fn(&GcPause<'s>) -> Value,
    ) -> Vec<Evidence> {
        let evidence = |stop: &'s GcPause<'s>| Evidence {
            range: stop.pause.span(),
            subjects: stop
                .told
                .map(|told| Subject::Collection(told.number))
                .into_iter()
                .collect(),
            amount: amount(stop),
        };
        stops.into_iter().map(evidence).collect()
    }

    /// Its capabilities.
    pub fn cap_ids(&self) -> impl Iterator<Item = CapId> + '_ {
        self.times.caps.iter().map(|(cap, _)| *cap)
    }

    /// Collections of which `wanted` holds, with their places.
    pub fn stops_where(
        &self,
        wanted: impl Fn(&GcPause<'a>) -> bool,
    ) -> impl Iterator<Item = (usize, &GcPause<'a>)> {
        let all = self.stops.iter().enumerate();
        all.filter(move |(_, stop)| wanted(stop))
    }
}

pub(crate) fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

fn stops_in(log: &Recording, range: Interval) -> Vec<GcPause<'_>> {
    let told = log.numbers.told_collections();
    let pauses = log.store.account().pauses().starting_in(range).iter();
    let stop = |pause| GcPause {
        pause,
        told: None,
        is_major: false,
        range,
    };
    let mut stops: Vec<GcPause<'_>> = pauses.map(stop).collect();
    let mut next = told.partition_point(|told| told.start < range.start());
    for stop in &mut stops {
        while told
            .get(next)
            .is_some_and(|told| told.start < stop.pause.start)
        {
            next += 1;
        }
        stop.told = told.get(next).filter(|told| told.start == stop.pause.start);
        let generation = stop.pause.generation;
        stop.is_major = generation.is_some_and(|number| log.numbers.is_oldest(number));
    }
    stops
}

/// From the first run of a thread to the collection at the runtime's end, after which
/// no thread runs for long.
fn working(log: &Recording) -> Interval {
    /// Finalizers and the flushing of handles take less.
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
