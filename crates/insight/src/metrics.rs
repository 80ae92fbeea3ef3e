//! Metrics: numbers of a log by name, for scripts and guards. Each has a unit, a preferred direction, and the
//! events that it needs. The names are stable.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use analysis::numbers::summary::{Generation, SparkTotals, Summary};
use analysis::timeline::thread_table::ThreadsInRange;
use analysis::timeline::user_spans::UserSpan;
use analysis::yielder::block_on;
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;
use model::class::WaitReason;
use model::time::Interval;
use serde::{Deserialize, Serialize};

use crate::collection_in_range::CollectionInRange;
use crate::context::RuleContext;
use crate::finding::Subject;
use crate::input::Input;
use crate::report::Report;
use crate::window::Window;

/// Unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Number of items.
    Count,
    /// Share of a whole, from 0 to 1.
    Share,
    /// The unit of the metric before `.rate`, per second.
    PerSecond,
}

/// Preferred direction of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither is better.
    Neutral,
}

/// Variability of a metric between runs of the same program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variability {
    /// Counted: hardly varies.
    Counted,
    /// Measured in time: varies with other work on the machine.
    Timed,
}

/// Value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Single number.
    One(f64),
    /// One number for each occurrence, to be reduced by a statistic.
    Many(Vec<LocatedNumber>),
}

/// One of many numbers, with its position in the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LocatedNumber {
    /// The number, in the unit of the metric.
    pub value: f64,
    /// Range of the log to which it belongs.
    pub range: Interval,
    /// The collection, or the thread of a span if the same thread logged begin and end.
    pub subject: Option<Subject>,
}

impl LocatedNumber {
    fn new(value: u64, range: Interval, subject: Option<Subject>) -> Self {
        Self {
            value: value as f64,
            range,
            subject,
        }
    }

    /// Creates the number of a collection.
    fn for_collection(value: u64, (from, to): (Nanos, Nanos), gc: &CollectionInRange<'_>) -> Self {
        Self::new(value, Interval::new(from, to), gc.subject())
    }
}

impl fmt::Display for LocatedNumber {
    /// Formats the position with times as `--from` and `--to` accept them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.range.start(), self.range.end());
        match from == to {
            true => write!(f, "at {} ns", from.0)?,
            false => write!(f, "from {} to {} ns", from.0, to.0)?,
        }
        match self.subject {
            Some(subject) => write!(f, ", {subject}"),
            None => Ok(()),
        }
    }
}

/// Labels that select among the numbers of a metric: `{gen=1}`.
pub type Labels = BTreeMap<String, String>;

/// Reason why there is no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// The log is not sufficient: what is missing, and the flag that helps.
    NoData(String),
    /// There are too few runs to decide.
    Inconclusive(String),
    /// The request is invalid.
    Usage(String),
}

/// Definition of a metric.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Metric {
    /// Stable name.
    pub name: &'static str,
    /// Unit of its numbers.
    pub unit: Unit,
    /// Whether less or more is better.
    pub direction: Direction,
    /// Variability between runs.
    pub class: Variability,
    /// Whether the metric has many numbers, so that a statistic must be selected.
    pub has_many: bool,
    /// Labels that can select among its numbers.
    pub labels: &'static [&'static str],
    /// One-sentence description for users.
    pub help: &'static str,
    /// Events that it needs.
    #[serde(skip)]
    pub inputs: &'static [Input],
}

/// Computes a metric; `None` if the log has nothing of it.
type Evaluate = fn(&MetricContext<'_>, &Labels) -> Option<Numbers>;

/// Context with cached results that several metrics use.
#[derive(Debug)]
pub struct MetricContext<'a> {
    /// Log and range.
    pub context: RuleContext<'a>,
    summary: Summary,
    /// Answers of the rules, computed on first use.
    report: OnceCell<Report>,
    /// Cached contexts of the windows requested so far.
    windows: RefCell<SeededMap<Window, Rc<Self>>>,
}

impl<'a> MetricContext<'a> {
    /// Creates the evaluation of a context; nothing is computed except the summary.
    pub fn new(context: RuleContext<'a>) -> Self {
        Self {
            summary: context.log.summary(Some(context.range)),
            report: OnceCell::new(),
            windows: RefCell::default(),
            context,
        }
    }

    /// Sets the answers of the rules for the same range, if they are known.
    #[must_use]
    pub fn with_report(self, report: Option<Report>) -> Self {
        Self {
            report: report.map(OnceCell::from).unwrap_or_default(),
            ..self
        }
    }

    /// Returns the answers of the rules.
    pub fn report(&self) -> &Report {
        let report = || {
            let for_rules = self.context.rules_context();
            block_on(Report::evaluate(
                for_rules.as_ref().unwrap_or(&self.context),
            ))
        };
        self.report.get_or_init(report)
    }

    fn threads(&self) -> &ThreadsInRange {
        block_on(self.context.threads())
    }

    /// Returns the evaluation of a window of the log.
    ///
    /// # Errors
    ///
    /// If the log does not have what the window is named after.
    pub fn within(&self, window: &Window) -> Result<Rc<Self>, NumberError> {
        if let Some(known) = self.windows.borrow().get(window) {
            return Ok(Rc::clone(known));
        }
        let range = window.range(self.context.log, self.context.range);
        let range = range.map_err(NumberError::NoData)?;
        let metrics = Rc::new(Self::new(RuleContext::new(self.context.log, Some(range))));
        let mut windows = self.windows.borrow_mut();
        windows.insert(window.clone(), Rc::clone(&metrics));
        Ok(metrics)
    }

    /// Returns a number of all collections, or of those of one generation.
    fn collections(
        &self,
        labels: &Labels,
        all: Option<u64>,
        of: fn(&Generation) -> u64,
    ) -> Option<Numbers> {
        let Some(wanted) = labels.get("gen") else {
            return one(all?);
        };
        let mut rows = self.summary.generations.iter();
        let row = rows.find(|row| row.generation.to_string() == *wanted);
        one(row.map_or(0, of))
    }

    fn sparks(&self) -> Option<SparkTotals> {
        self.summary.sparks
    }

    fn collections_in_range(
        &self,
        labels: &Labels,
    ) -> impl Iterator<Item = &CollectionInRange<'a>> {
        let generation = labels.get("gen").cloned();
        self.context.collections.iter().filter(move |gc| {
            let has = gc.pause.generation.map(|number| number.to_string());
            generation.is_none() || generation == has
        })
    }
}

macro_rules! metrics {
    ($($name:literal $unit:ident $direction:ident $class:ident $many:literal [$($label:literal)*] [$($input:ident)*] $help:literal $evaluate:expr;)*) => {
        /// All metrics, sorted by name.
        pub static METRICS: &[Metric] = &[$(Metric {
            name: $name,
            unit: Unit::$unit,
            direction: Direction::$direction,
            class: Variability::$class,
            has_many: $many,
            labels: &[$($label),*],
            help: $help,
            inputs: &[$(Input::$input),*],
        }),*];

        /// Functions of the metrics, by name. They are apart from what describes a metric, so that a program that only
        /// shows metrics does not contain all rules.
        static EVALUATIONS: &[(&str, Evaluate)] = &[$(($name, $evaluate)),*];
    };
}

fn one(number: u64) -> Option<Numbers> {
    Some(Numbers::One(number as f64))
}

fn share_of_caps(
    metrics: &MetricContext<'_>,
    of: impl Fn(&analysis::account::report::CapTimes) -> u64,
) -> Option<Numbers> {
    let all = metrics.context.times.all_caps();
    let known_ns = all.known_ns();
    (known_ns > 0).then(|| Numbers::One(of(&all) as f64 / known_ns as f64))
}

/// Returns samples, given by time and value.
fn samples(all: impl Iterator<Item = (u64, u64)>) -> Option<Numbers> {
    let seen = |(at, value)| LocatedNumber::new(value, Interval::empty_at(Nanos(at)), None);
    let values: Vec<LocatedNumber> = all.map(seen).collect();
    (!values.is_empty()).then_some(Numbers::Many(values))
}

/// Returns the wait for each collection whose request is in the log; `None` if there are only others.
fn gc_syncs(metrics: &MetricContext<'_>, labels: &Labels) -> Option<Numbers> {
    let all: Vec<&CollectionInRange<'_>> = metrics.collections_in_range(labels).collect();
    let known = all.iter().filter(|gc| gc.has_request());
    let seen = |gc: &&CollectionInRange<'_>| {
        LocatedNumber::for_collection(gc.sync_ns(), (gc.pause.requested, gc.pause.start), gc)
    };
    let waits: Vec<LocatedNumber> = known.map(seen).collect();
    (all.is_empty() || !waits.is_empty()).then_some(Numbers::Many(waits))
}

/// Returns the lengths in nanoseconds of the spans of this name that begin and end in the range.
fn spans(metrics: &MetricContext<'_>, labels: &Labels) -> Option<Vec<LocatedNumber>> {
    let range = metrics.context.range;
    let name = labels.get("name");
    let listed = metrics.context.log.tracks.spans.listed().iter();
    let listed =
        listed.filter(|listed| name.is_none_or(|name| matches_pattern(name, &listed.info.name)));
    let all = listed.flat_map(|listed| listed.calls());
    let inside =
        all.filter(|span| Nanos(span.start) >= range.start() && Nanos(span.end) <= range.end());
    let seen = |span: &UserSpan| {
        let range = Interval::new(Nanos(span.start), Nanos(span.end));
        let thread = metrics.context.thread_of(span).map(Subject::Thread);
        LocatedNumber::new(span.end - span.start, range, thread)
    };
    let lengths: Vec<LocatedNumber> = inside.map(seen).collect();
    (!lengths.is_empty()).then_some(lengths)
}

/// Returns whether a text matches a pattern, in which `*` matches any text.
pub fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let between = text.strip_prefix(head);
    let Some(mut between) = between.and_then(|text| text.strip_suffix(tail)) else {
        return false;
    };
    // The first match of each piece leaves the most text for later ones, so no backtracking is needed.
    middle.split('*').all(|part| {
        let found = between.split_once(part);
        between = found.map_or(between, |(_, behind)| behind);
        found.is_some()
    })
}

fn matches_reason(pattern: &str, reason: WaitReason) -> bool {
    matches_pattern(&pattern.to_lowercase(), &reason.name().to_lowercase())
}

/// Rejects a pattern that matches no reason: a guard with a misspelled one would always hold.
fn check_reason(pattern: &str) -> Result<(), NumberError> {
    if WaitReason::ALL
        .into_iter()
        .any(|reason| matches_reason(pattern, reason))
    {
        return Ok(());
    }
    let names = WaitReason::ALL.map(WaitReason::name).join(", ");
    Err(NumberError::Usage(format!(
        "unknown reason {pattern}: the reasons for blocking are {names}"
    )))
}

fn waits(metrics: &MetricContext<'_>, labels: &Labels) -> Option<Numbers> {
    let reason = labels.get("reason");
    let wanted = |of: &&WaitReason| match reason {
        Some(pattern) => matches_reason(pattern, **of),
        None => **of != WaitReason::ForeignCall,
    };
    let all = metrics.threads();
    let blocked = WaitReason::ALL
        .iter()
        .filter(wanted)
        .map(|reason| all.times.blocked_ns[*reason as usize]);
    one(blocked.sum())
}

metrics! {
    "alloc.bytes" Bytes Lower Counted false [] [GcStatistics] "Bytes that the program allocated." |metrics, _| one(metrics.summary.bytes_allocated?);
    "cap.busy" Share Higher Timed false [] [Threads] "Share of the known capability time in which threads ran." |metrics, _| Some(Numbers::One(metrics.summary.cap_busy?));
    "cap.idle" Share Lower Timed false [] [Threads] "Share of capability time that was idle with no thread ready." |metrics, _| share_of_caps(metrics, |all| all.idle_ns);
    "cap.lost" Share Lower Timed false [] [Threads] "Share of capability time that was idle while a thread was ready." |metrics, _| share_of_caps(metrics, |all| all.idle_work_available_ns);
    "finding.count" Count Lower Timed false [] [] "Number of significant findings." |metrics, _| one(metrics.report().findings.iter().filter(|found| found.severity > crate::finding::Severity::Minor).count() as u64);
    "gc.balance" Share Higher Timed false [] [GcStatistics] "Balance of work between the threads of parallel collections." |metrics, _| Some(Numbers::One(metrics.summary.work_balance?));
    "gc.copied" Bytes Lower Counted false [] [GcStatistics] "Bytes that collections copied." |metrics, _| one(metrics.summary.bytes_copied?);
    "gc.count" Count Lower Counted false ["gen"] [Collections] "Number of collections that began." |metrics, labels| metrics.collections(labels, metrics.summary.collections, |row| row.collections);
    "gc.pause" Ns Lower Timed true ["gen"] [Collections] "From the start to the end of each collection." |metrics, labels| Some(Numbers::Many(metrics.collections_in_range(labels).map(|gc| LocatedNumber::for_collection(gc.pause_ns(), (gc.pause.start, gc.pause.end), gc)).collect()));
    "gc.sync" Ns Lower Timed true ["gen"] [Collections] "Wait until all capabilities had stopped, per collection." gc_syncs;
    "gc.time" Ns Lower Timed false ["gen"] [Collections] "Total time in collections, including heap censuses." |metrics, labels| metrics.collections(labels, metrics.summary.in_collections_ns(), |row| row.elapsed_ns);
    "heap.live" Bytes Lower Counted true [] [GcStatistics] "Live bytes after each major collection." |metrics, _| samples(metrics.context.log.numbers.live_in(metrics.context.log.end(), metrics.context.range));
    "heap.size" Bytes Lower Counted true [] [Collections] "System memory that the runtime held, at the start of the range and after each collection." |metrics, _| samples(metrics.context.log.numbers.heap_sizes_in(metrics.context.log.end(), metrics.context.range));
    "os.threads" Count Lower Timed false [] [Threads] "OS threads that ran Haskell or collected for the first time." |metrics, _| one(metrics.summary.os_threads?);
    "span.count" Count Neutral Counted false ["name"] [] "Spans of the program, by START and STOP messages." |metrics, labels| one(spans(metrics, labels)?.len() as u64);
    "span.time" Ns Lower Timed true ["name"] [] "Length of each span of the program." |metrics, labels| Some(Numbers::Many(spans(metrics, labels)?));
    "spark.collected" Count Lower Counted false [] [Sparks] "Sparks that were garbage before they were evaluated." |metrics, _| one(metrics.sparks()?.gcd);
    "spark.converted" Count Higher Counted false [] [Sparks] "Sparks that were evaluated by a capability." |metrics, _| one(metrics.sparks()?.converted);
    "spark.count" Count Neutral Counted false [] [Sparks] "Sparks." |metrics, _| one(metrics.sparks()?.count);
    "spark.dud" Count Lower Counted false [] [Sparks] "Sparks of values that had been evaluated." |metrics, _| one(metrics.sparks()?.dud);
    "spark.fizzled" Count Lower Counted false [] [Sparks] "Sparks whose values were evaluated before a capability ran them." |metrics, _| one(metrics.sparks()?.fizzled);
    "spark.overflowed" Count Lower Counted false [] [Sparks] "Sparks that were dropped, as the pool was full." |metrics, _| one(metrics.sparks()?.overflowed);
    "thread.blocked" Ns Lower Timed false ["reason"] [Threads] "Total blocked time of threads: without foreign calls, which reason=\"foreign call\" has." waits;
    "thread.count" Count Neutral Counted false [] [Threads] "Threads that lived." |metrics, _| one(metrics.threads().count);
    "thread.ready" Ns Lower Timed false [] [Threads] "Total time that threads waited for a capability outside of collections." |metrics, _| one(metrics.threads().times.ready_ns());
    "thread.run" Ns Lower Timed false [] [Threads] "Total run time of threads." |metrics, _| one(metrics.context.times.all_caps().running_ns);
    "time.exit" Ns Lower Timed false [] [Threads] "EXIT by +RTS -s: the runtime ends." |metrics, _| one(metrics.summary.exit_ns?);
    "time.gc" Ns Lower Timed false [] [Collections] "GC by +RTS -s: collections, without PROF." |metrics, _| one(metrics.summary.gc_ns?);
    "time.init" Ns Lower Timed false [] [Threads] "INIT by +RTS -s: the runtime starts." |metrics, _| one(metrics.summary.init_ns?);
    "time.mutator" Ns Lower Timed false [] [Collections] "MUT by +RTS -s: the program outside of collections." |metrics, _| one(metrics.summary.mutator_ns?);
    "time.productivity" Share Higher Timed false [] [Collections] "MUT, and PROF if there is one, as a share of the total." |metrics, _| Some(Numbers::One(metrics.summary.productivity?));
    "time.prof" Ns Lower Timed false [] [Collections] "PROF by +RTS -s of a profiling build: heap censuses." |metrics, _| one(metrics.summary.prof_ns?);
    "time.unexplained" Ns Lower Timed false [] [Threads] "Lost time that no finding claims." |metrics, _| one(metrics.report().unexplained_ns);
    "time.wall" Ns Lower Timed false [] [] "Total by +RTS -s: elapsed time, from the start of the log's clock." |metrics, _| one(metrics.summary.total_ns);
}

/// Returns the metric with this name.
pub fn metric_by_name(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

impl Metric {
    /// Returns the range of the log that the metric covers: metrics of rules use the range of the rules.
    pub fn range(&self, metrics: &MetricContext<'_>) -> Interval {
        match self.name {
            "finding.count" | "time.unexplained" => metrics.report().range,
            _ => metrics.context.range,
        }
    }

    /// Evaluates the metric.
    ///
    /// # Errors
    ///
    /// If the log is not sufficient, or if the metric has no such label.
    pub fn evaluate(
        &self,
        metrics: &MetricContext<'_>,
        labels: &Labels,
    ) -> Result<Numbers, NumberError> {
        if let Some(label) = labels
            .keys()
            .find(|label| !self.labels.contains(&label.as_str()))
        {
            return Err(NumberError::Usage(format!(
                "{} has no label {label}",
                self.name
            )));
        }
        if let Some(reason) = labels.get("reason") {
            check_reason(reason)?;
        }
        if let Some(missing) = Input::missing_in(self.inputs, &metrics.context.log.info) {
            return Err(NumberError::NoData(missing.to_owned()));
        }
        let nothing = || NumberError::NoData(format!("the log has nothing of {}", self.name));
        let function = EVALUATIONS.iter().find(|(name, _)| *name == self.name);
        let numbers = function.and_then(|(_, evaluate)| evaluate(metrics, labels));
        numbers.ok_or_else(nothing)
    }
}
