//! The numbers of a log by name, for scripts and guards: each with its unit, whether less
//! or more is better, and the events that it needs. The names never change.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use analysis::numbers::summary::{Generation, SparkTotals, Summary};
use analysis::timeline::thread_table::ThreadsIn;
use analysis::timeline::user_spans::UserSpan;
use analysis::yielder::{NoYield, Yield, block_on};
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;
use model::class::WaitReason;
use model::gauge::Samples;
use model::time::Interval;
use serde::{Deserialize, Serialize};

use crate::context::{GcPause, Input, RuleContext};
use crate::finding::Subject;
use crate::report::Report;
use crate::window::Window;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Things.
    Count,
    /// A share; 1 is all.
    Share,
    /// Nanoseconds, bytes or things in each second: of the metric before `.rate`.
    PerSecond,
}

/// Whether less or more of it is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither.
    Neutral,
}

/// How much a metric differs between runs of the same program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It is counted: hardly.
    Counted,
    /// It is measured in time: by as much as other work on the machine.
    Timed,
}

/// The numbers of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// One.
    One(f64),
    /// As many as there were, of which statistics can be had.
    Many(Vec<Seen>),
}

/// One number of many, with where it is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// The number.
    pub value: f64,
    /// When.
    pub range: Interval,
    /// What it is of: a collection, or the thread of a span, if one begins and ends it.
    pub subject: Option<Subject>,
}

impl Seen {
    fn new(value: u64, range: Interval, subject: Option<Subject>) -> Self {
        Self {
            value: value as f64,
            range,
            subject,
        }
    }

    /// Of a collection.
    fn of_stop(value: u64, (from, to): (Nanos, Nanos), stop: &GcPause<'_>) -> Self {
        let collection = stop.told.map(|told| Subject::Collection(told.number));
        Self::new(value, Interval::new(from, to), collection)
    }
}

impl fmt::Display for Seen {
    /// Where it is, as `--from` and `--to` take it.
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

/// Labels that choose among the numbers of a metric: `{gen=1}`.
pub type Labels = BTreeMap<String, String>;

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoNumber {
    /// The log does not tell: what is missing, and the flag that helps.
    NoData(String),
    /// There are too few runs to tell.
    Inconclusive(String),
    /// It cannot be asked like this.
    Usage(String),
}

/// A number of a log.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Metric {
    /// What it is called.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// How much it differs between runs.
    pub class: Class,
    /// Whether there are many, of which a statistic must be chosen.
    pub has_many: bool,
    /// The labels that choose among its numbers.
    pub labels: &'static [&'static str],
    /// What it is.
    pub help: &'static str,
    /// The events that it needs.
    #[serde(skip)]
    pub inputs: &'static [Input],
    #[serde(skip)]
    read: fn(&MetricContext<'_>, &Labels) -> Option<Numbers>,
}

/// A log, and what many metrics ask of it.
#[derive(Debug)]
pub struct MetricContext<'a> {
    /// The part of the log.
    pub context: RuleContext<'a>,
    summary: Summary,
    /// What the rules say, once somebody asks.
    report: OnceCell<Report>,
    /// Parts of it that were asked for by what the program said.
    windows: RefCell<SeededMap<Window, Rc<Self>>>,
}

impl<'a> MetricContext<'a> {
    /// A part of a log.
    #[must_use]
    pub fn new(context: RuleContext<'a>) -> Self {
        Self {
            summary: context.log.summary(Some(context.range)),
            report: OnceCell::new(),
            windows: RefCell::default(),
            context,
        }
    }

    /// The same, with all that takes long known already; others are heard meanwhile.
    pub async fn prepared(context: RuleContext<'a>, yielder: &dyn Yield) -> Self {
        context.threads(yielder).await;
        let for_rules = context.of_rules();
        let report = Report::of(for_rules.as_ref().unwrap_or(&context), yielder).await;
        Self {
            report: OnceCell::from(report),
            ..Self::new(context)
        }
    }

    /// What the rules say.
    pub fn report(&self) -> &Report {
        let report = || {
            let for_rules = self.context.of_rules();
            block_on(Report::of(
                for_rules.as_ref().unwrap_or(&self.context),
                &NoYield,
            ))
        };
        self.report.get_or_init(report)
    }

    fn threads(&self) -> &ThreadsIn {
        block_on(self.context.threads(&NoYield))
    }

    /// A part of it.
    ///
    /// # Errors
    ///
    /// If the program did not say what the part is named after.
    pub fn within(&self, window: &Window) -> Result<Rc<Self>, NoNumber> {
        if let Some(known) = self.windows.borrow().get(window) {
            return Ok(Rc::clone(known));
        }
        let range = window.range(self.context.log, self.context.range);
        let range = range.map_err(NoNumber::NoData)?;
        let looked = Rc::new(Self::new(RuleContext::new(self.context.log, Some(range))));
        let mut windows = self.windows.borrow_mut();
        windows.insert(window.clone(), Rc::clone(&looked));
        Ok(looked)
    }

    /// A number of all collections, or of those of a generation.
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

    fn stops(&self, labels: &Labels) -> impl Iterator<Item = &GcPause<'a>> {
        let generation = labels.get("gen").cloned();
        self.context.stops.iter().filter(move |stop| {
            let has = stop.pause.generation.map(|number| number.to_string());
            generation.is_none() || generation == has
        })
    }
}

macro_rules! metrics {
    ($($name:literal $unit:ident $direction:ident $class:ident $many:literal [$($label:literal)*] [$($input:ident)*] $help:literal $read:expr;)*) => {
        /// All metrics, by name.
        pub static METRICS: &[Metric] = &[$(Metric {
            name: $name,
            unit: Unit::$unit,
            direction: Direction::$direction,
            class: Class::$class,
            has_many: $many,
            labels: &[$($label),*],
            help: $help,
            inputs: &[$(Input::$input),*],
            read: $read,
        }),*];
    };
}

fn one(number: u64) -> Option<Numbers> {
    Some(Numbers::One(number as f64))
}

fn share_of_caps(
    looked: &MetricContext<'_>,
    of: impl Fn(&analysis::account::report::CapTimes) -> u64,
) -> Option<Numbers> {
    let all = looked.context.times.all_caps();
    let known_ns = all.known_ns();
    (known_ns > 0).then(|| Numbers::One(of(&all) as f64 / known_ns as f64))
}

fn samples(looked: &MetricContext<'_>, samples: &impl Samples) -> Option<Numbers> {
    let range = looked.context.range;
    let places =
        samples.first_at(range.start().0)..samples.first_at(range.end().0.saturating_add(1));
    let at = |place| Interval::at(Nanos(samples.time(place)));
    let seen = |place| Seen::new(samples.value(place), at(place), None);
    let values: Vec<Seen> = places.map(seen).collect();
    (!values.is_empty()).then_some(Numbers::Many(values))
}

/// The spans of the program of a name, in nanoseconds, that begin and end in the range.
fn spans(looked: &MetricContext<'_>, labels: &Labels) -> Option<Vec<Seen>> {
    let range = looked.context.range;
    let name = labels.get("name");
    let listed = looked.context.log.tracks.spans.listed().iter();
    let listed = listed.filter(|listed| name.is_none_or(|name| is_like(name, &listed.info.name)));
    let all = listed.flat_map(|listed| listed.spans.iter());
    let inside =
        all.filter(|span| Nanos(span.start) >= range.start() && Nanos(span.end) <= range.end());
    let seen = |span: &UserSpan| {
        let range = Interval::new(Nanos(span.start), Nanos(span.end));
        let thread = looked.context.thread_of(span).map(Subject::Thread);
        Seen::new(span.end - span.start, range, thread)
    };
    let lengths: Vec<Seen> = inside.map(seen).collect();
    (!lengths.is_empty()).then_some(lengths)
}

/// Whether a text is like a pattern in which `*` stands for anything.
#[must_use]
pub fn is_like(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let between = text.strip_prefix(head);
    let Some(mut between) = between.and_then(|text| text.strip_suffix(tail)) else {
        return false;
    };
    // The first place of each part leaves the most for those behind it, so that no other needs to be tried.
    middle.split('*').all(|part| {
        let found = between.split_once(part);
        between = found.map_or(between, |(_, behind)| behind);
        found.is_some()
    })
}

fn is_like_reason(pattern: &str, reason: WaitReason) -> bool {
    is_like(&pattern.to_lowercase(), &reason.name().to_lowercase())
}

/// Refuses a reason that no thread can be blocked for: a guard with a misspelt one would always hold.
fn check_reason(pattern: &str) -> Result<(), NoNumber> {
    if WaitReason::ALL
        .into_iter()
        .any(|reason| is_like_reason(pattern, reason))
    {
        return Ok(());
    }
    let names = WaitReason::ALL.map(WaitReason::name).join(", ");
    Err(NoNumber::Usage(format!(
        "threads are blocked for no reason {pattern}: the reasons are {names}"
    )))
}

fn waits(looked: &MetricContext<'_>, labels: &Labels) -> Option<Numbers> {
    let reason = labels.get("reason");
    let wanted = |of: &&WaitReason| match reason {
        Some(pattern) => is_like_reason(pattern, **of),
        None => **of != WaitReason::ForeignCall,
    };
    let all = looked.threads();
    let blocked = WaitReason::ALL
        .iter()
        .filter(wanted)
        .map(|reason| all.times.blocked_ns[*reason as usize]);
    one(blocked.sum())
}

metrics! {
    "alloc.bytes" Bytes Lower Counted false [] [GcStatistics] "Bytes that the program allocated." |of, _| one(of.summary.bytes_allocated?);
    "cap.busy" Share Higher Timed false [] [Threads] "The share of the capabilities' time, of what the log tells of, in which they ran threads." |of, _| Some(Numbers::One(of.summary.cap_busy?));
    "cap.idle" Share Lower Timed false [] [Threads] "The share of the capabilities' time in which they were idle with no thread ready." |of, _| share_of_caps(of, |all| all.idle_ns);
    "cap.lost" Share Lower Timed false [] [Threads] "The share of the capabilities' time in which they were idle while a thread was ready." |of, _| share_of_caps(of, |all| all.idle_ready_ns);
    "finding.count" Count Lower Timed false [] [] "How many findings there are that matter." |of, _| one(of.report().findings.iter().filter(|found| found.severity > crate::finding::Severity::Minor).count() as u64);
    "gc.balance" Share Higher Timed false [] [GcStatistics] "How evenly the threads of parallel collections shared the work." |of, _| Some(Numbers::One(of.summary.work_balance?));
    "gc.copied" Bytes Lower Counted false [] [GcStatistics] "Bytes that collections copied." |of, _| one(of.summary.bytes_copied?);
    "gc.count" Count Lower Counted false ["gen"] [Collections] "How many collections began." |of, labels| of.collections(labels, of.summary.collections, |row| row.collections);
    "gc.pause" Ns Lower Timed true ["gen"] [Collections] "From the start to the end of each collection." |of, labels| Some(Numbers::Many(of.stops(labels).map(|stop| Seen::of_stop(stop.pause_ns(), (stop.pause.start, stop.pause.end), stop)).collect()));
    "gc.sync" Ns Lower Timed true ["gen"] [Collections] "Until all capabilities had stopped, for each collection." |of, labels| Some(Numbers::Many(of.stops(labels).map(|stop| Seen::of_stop(stop.sync_ns(), (stop.pause.requested, stop.pause.start), stop)).collect()));
    "gc.time" Ns Lower Timed false ["gen"] [Collections] "In collections, all together, with the time in which they counted the heap for a profile." |of, labels| of.collections(labels, of.summary.in_collections_ns(), |row| row.elapsed_ns);
    "heap.live" Bytes Lower Counted true [] [GcStatistics] "What was live after each collection of the oldest generation." |of, _| samples(of, &of.context.log.numbers.live());
    "heap.size" Bytes Lower Counted true [] [Collections] "What the runtime held of the system's memory." |of, _| samples(of, &of.context.log.numbers.heap_sizes());
    "os.threads" Count Lower Timed false [] [Threads] "OS threads that ran Haskell or collected." |of, _| one(of.summary.os_threads?);
    "span.count" Count Neutral Counted false ["name"] [] "Spans of the program, by START and STOP messages." |of, labels| one(spans(of, labels)?.len() as u64);
    "span.time" Ns Lower Timed true ["name"] [] "How long each span of the program lasted." |of, labels| Some(Numbers::Many(spans(of, labels)?));
    "spark.collected" Count Lower Counted false [] [Sparks] "Sparks that were garbage before they were evaluated." |of, _| one(of.sparks()?.gcd);
    "spark.converted" Count Higher Counted false [] [Sparks] "Sparks that were evaluated by a capability." |of, _| one(of.sparks()?.converted);
    "spark.count" Count Neutral Counted false [] [Sparks] "Sparks." |of, _| one(of.sparks()?.count);
    "spark.dud" Count Lower Counted false [] [Sparks] "Sparks of values that had been evaluated." |of, _| one(of.sparks()?.dud);
    "spark.fizzled" Count Lower Counted false [] [Sparks] "Sparks that somebody else evaluated before." |of, _| one(of.sparks()?.fizzled);
    "spark.overflowed" Count Lower Counted false [] [Sparks] "Sparks that were dropped, as the pool was full." |of, _| one(of.sparks()?.overflowed);
    "thread.blocked" Ns Lower Timed false ["reason"] [Threads] "How long threads were blocked, all together: without foreign calls, which reason=\"foreign call\" has." waits;
    "thread.count" Count Neutral Counted false [] [Threads] "Threads that lived." |of, _| one(of.threads().count);
    "thread.ready" Ns Lower Timed false [] [Threads] "How long threads waited for a capability outside of collections, all together." |of, _| one(of.threads().times.ready_ns());
    "thread.run" Ns Lower Timed false [] [Threads] "How long threads ran, all together." |of, _| one(of.context.times.all_caps().running_ns);
    "time.exit" Ns Lower Timed false [] [Threads] "EXIT by +RTS -s: the runtime ends." |of, _| one(of.summary.exit_ns?);
    "time.gc" Ns Lower Timed false [] [Collections] "GC by +RTS -s: collections, without PROF." |of, _| one(of.summary.gc_ns?);
    "time.init" Ns Lower Timed false [] [Threads] "INIT by +RTS -s: the runtime starts." |of, _| one(of.summary.init_ns?);
    "time.mutator" Ns Lower Timed false [] [Collections] "MUT by +RTS -s: the program outside of collections." |of, _| one(of.summary.mutator_ns?);
    "time.productivity" Share Higher Timed false [] [Collections] "MUT, and PROF if there is one, as a share of the total." |of, _| Some(Numbers::One(of.summary.productivity?));
    "time.prof" Ns Lower Timed false [] [Collections] "PROF by +RTS -s of a program built for profiling: the heap is counted for a profile." |of, _| one(of.summary.prof_ns?);
    "time.unexplained" Ns Lower Timed false [] [Threads] "Time that was lost, and that no finding claims." |of, _| one(of.report().unexplained_ns);
    "time.wall" Ns Lower Timed false [] [] "Total by +RTS -s: elapsed time, from the start of the log's clock." |of, _| one(of.summary.total_ns);
}

/// The metric of a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

impl Metric {
    /// The part of the log that its numbers are of: rules have one of their own.
    #[must_use]
    pub fn range(&self, looked: &MetricContext<'_>) -> Interval {
        match self.name {
            "finding.count" | "time.unexplained" => looked.report().range,
            _ => looked.context.range,
        }
    }

    /// Its numbers in a log.
    ///
    /// # Errors
    ///
    /// If the log does not tell, or if it has no such label.
    pub fn read(&self, looked: &MetricContext<'_>, labels: &Labels) -> Result<Numbers, NoNumber> {
        if let Some(label) = labels
            .keys()
            .find(|label| !self.labels.contains(&label.as_str()))
        {
            return Err(NoNumber::Usage(format!(
                "{} has no label {label}",
                self.name
            )));
        }
        if let Some(reason) = labels.get("reason") {
            check_reason(reason)?;
        }
        let missing = self
            .inputs
            .iter()
            .find(|input| !input.is_in(&looked.context.log.info));
        if let Some(missing) = missing {
            return Err(NoNumber::NoData(missing.how().to_owned()));
        }
        let nothing = || NoNumber::NoData(format!("the log has nothing of {}", self.name));
        (self.read)(looked, labels).ok_or_else(nothing)
    }
}
