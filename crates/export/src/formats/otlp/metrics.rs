//! Metrics: heap and spark counters, bytes of heap profile bands, and the use of capabilities.

use std::collections::BTreeMap;
use std::io;

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Metric, MetricsData, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use super::output::Output;
use super::signals::{BATCH, Signals};
use super::{Clock, number, scope, text};
use crate::bands;
use crate::format::Error;
use crate::log::Log;
use crate::trace::Counter;
use crate::trace::counters::{Kind, Unit};
use analysis::heap::Breakdown;
use analysis::process::Capset;
use eventlog::cursor::CapsetType;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::info_tables::address_of;
use model::class::Class;
use model::lane::Lane as _;
use model::time::Interval;

/// Description of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MetricInfo {
    name: &'static str,
    help: &'static str,
    unit: &'static str,
    /// Whether values are increments since the previous one.
    is_sum: bool,
}

impl MetricInfo {
    const fn for_kind(kind: Kind) -> Self {
        Self {
            name: kind.name(),
            help: kind.help(),
            unit: match kind.unit() {
                Unit::Bytes => "By",
                Unit::Megablocks => "{mblock}",
                Unit::Sparks => "{spark}",
            },
            is_sum: kind.only_grows(),
        }
    }
}

/// Use of a capability by second; consecutive seconds without changes are merged into one value.
const USAGE: MetricInfo = MetricInfo {
    name: "CapabilityUsageDuration",
    help: "How long a capability collected garbage, ran a thread or did neither.",
    unit: "ns",
    is_sum: true,
};

/// Returns the length of an interval of usage values: one second, or longer to limit the number of values.
fn usage_ns(log: &Log<'_>) -> u64 {
    const SECOND_NS: u64 = 1_000_000_000;
    const MOST: u64 = 100_000;
    let times = log.session.recording().info.first_and_last();
    let (first, last) = times.unwrap_or_default();
    let seconds = last.since(first).0.div_ceil(SECOND_NS);
    seconds.div_ceil(MOST).max(1).saturating_mul(SECOND_NS)
}

/// Writes metrics in batches.
pub(super) struct Metrics {
    resource: Resource,
    clock: Clock,
    out: Output,
    /// The capability set of the process, if the log has exactly one.
    capset: Option<u32>,
    /// Metric of the pending points.
    about: Option<MetricInfo>,
    points: Vec<NumberDataPoint>,
    /// Time and value of the previous sample of the current counter.
    last: (Nanos, u64),
}

impl Metrics {
    pub(super) fn new(log: &Log<'_>, resource: Resource, clock: Clock, out: Output) -> Self {
        let capsets = log.session.recording().info.process().capsets;
        let is_process = |capset: &&Capset| capset.kind == CapsetType::OS_PROCESS.0;
        let mut processes = capsets.iter().filter(is_process);
        let first = processes.next().map(|capset| capset.id.0);
        Self {
            resource,
            clock,
            out,
            capset: first.filter(|_| processes.next().is_none()),
            about: None,
            points: Vec::new(),
            last: (Nanos(0), 0),
        }
    }

    pub(super) fn counter(&mut self, counter: &Counter) -> io::Result<()> {
        self.last = counter.start;
        self.begin(MetricInfo::for_kind(counter.kind))
    }

    /// Writes a sample of a counter; for a growing one, the increment since the previous sample.
    pub(super) fn sample(&mut self, counter: &Counter, at: Nanos, value: u64) -> io::Result<()> {
        let grows = counter.kind.only_grows();
        if grows && (at, value) == counter.start {
            return Ok(());
        }
        let mut attributes = Vec::new();
        attributes.extend(counter.cap.map(|cap| number("evCap", cap.0)));
        if counter.kind.unit() != Unit::Sparks {
            attributes.extend(self.capset.map(|capset| number("heapCapset", capset)));
        }
        let (before, last) = std::mem::replace(&mut self.last, (at, value));
        let span = Interval::new(if grows { before } else { at }, at);
        let value = if grows {
            value.saturating_sub(last)
        } else {
            value
        };
        self.point(span, value, attributes)
    }

    /// Starts points of a metric, writing the pending ones of another.
    fn begin(&mut self, about: MetricInfo) -> io::Result<()> {
        if self.about == Some(about) {
            return Ok(());
        }
        self.flush()?;
        self.about = Some(about);
        Ok(())
    }

    fn point(&mut self, span: Interval, value: u64, attributes: Vec<KeyValue>) -> io::Result<()> {
        let is_sum = self.about.is_some_and(|about| about.is_sum);
        let start = if is_sum {
            self.clock.unix_ns(span.start())
        } else {
            0
        };
        self.points.push(NumberDataPoint {
            attributes,
            start_time_unix_nano: start,
            time_unix_nano: self.clock.unix_ns(span.end()),
            value: Some(Value::AsInt(i64::try_from(value).unwrap_or(i64::MAX))),
            ..NumberDataPoint::default()
        });
        if self.points.len() < BATCH {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        let data_points = std::mem::take(&mut self.points);
        let Some(about) = self.about.filter(|_| !data_points.is_empty()) else {
            return Ok(());
        };
        let data = if about.is_sum {
            Data::Sum(Sum {
                data_points,
                aggregation_temporality: AggregationTemporality::Delta.into(),
                is_monotonic: true,
            })
        } else {
            Data::Gauge(Gauge { data_points })
        };
        let metric = Metric {
            name: format!("ghc_eventlog_{}", about.name),
            description: about.help.to_owned(),
            unit: about.unit.to_owned(),
            data: Some(data),
            ..Metric::default()
        };
        let scope_metrics = vec![ScopeMetrics {
            scope: Some(scope()),
            metrics: vec![metric],
            ..ScopeMetrics::default()
        }];
        let resource_metrics = vec![ResourceMetrics {
            resource: Some(self.resource.clone()),
            scope_metrics,
            ..ResourceMetrics::default()
        }];
        self.out.write_message(&MetricsData { resource_metrics })
    }

    fn usage(
        &mut self,
        cap: CapId,
        usage_kind: CapUsage,
        span: Interval,
        ns: u64,
    ) -> io::Result<()> {
        if ns == 0 {
            return Ok(());
        }
        let (category, user) = match usage_kind {
            CapUsage::Gc => ("GC", Some("GC".to_owned())),
            CapUsage::Mutator(thread) => ("Mutator", Some(thread.to_string())),
            CapUsage::Idle => ("Idle", None),
        };
        let mut attributes = vec![number("cap", cap.0), text("category", category)];
        attributes.extend(user.map(|user| text("user", user)));
        self.point(span, ns, attributes)
    }

    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        self.out.finish()
    }
}

/// Use of a capability.
#[derive(Clone, Copy, Debug)]
enum CapUsage {
    Gc,
    Mutator(ThreadId),
    Idle,
}

/// Bytes of each band of a heap profile, by census.
const HEAP_PROFILE: MetricInfo = MetricInfo {
    name: "HeapProfSample",
    help: "What a band of a heap profile holds.",
    unit: "By",
    is_sum: false,
};

/// Writes the bands of heap profiles. Censuses without a time are left out.
pub(super) fn heap_profiles(log: &Log<'_>, signals: &mut Signals) -> io::Result<()> {
    let tables = log.session.recording().names.info_tables();
    let metrics = &mut signals.metrics;
    metrics.begin(HEAP_PROFILE)?;
    bands::for_each(log, |held| {
        let Some(at) = held.at else {
            return Ok(());
        };
        let mut attributes = vec![
            text("heapProfBreakdown", held.breakdown.flag()),
            number("heapProfId", held.profile),
            text("heapProfLabel", held.label),
        ];
        let era = held.era.and_then(|era| i64::try_from(era).ok());
        attributes.extend(era.map(|era| number("heapProfSampleEra", era)));
        let by_table = held.breakdown == Breakdown::InfoTable;
        let table = address_of(held.label).filter(|_| by_table);
        if let Some(table) = table.and_then(|address| tables.get(address)) {
            let closure = table.closure_type.map(|of| of.0.to_string());
            attributes.extend([
                text("ipName", table.name),
                text("ipClosureDesc", closure.unwrap_or_default()),
                text("ipTyDesc", table.type_),
                text("ipLabel", table.label),
                text("ipModule", table.module),
                text("ipSrcLoc", table.location.to_string()),
            ]);
        }
        metrics.point(Interval::empty_at(at), held.bytes, attributes)
    })
}

/// Writes the use of each capability in each second of the log's clock. Consecutive seconds without changes are
/// merged, so that a long log with few events has few values.
pub(super) fn capability_usage(log: &Log<'_>, signals: &mut Signals) -> io::Result<()> {
    let metrics = &mut signals.metrics;
    let seconds = UsageIntervals {
        length_ns: usage_ns(log),
    };
    metrics.begin(USAGE)?;
    for (cap, life) in log.session.recording().info.lives.caps() {
        let life = log.range.map_or(life, |range| life.clip(range));
        mutator(log, cap, (seconds, life), metrics)?;
        let Some(lanes) = log.session.recording().store.cap(cap) else {
            continue;
        };
        let runs = log.session.recording().store.cap_runs(cap);
        let runs = runs.map(|run| (run.start_ns, run.end_ns));
        let collections = (0..lanes.gc.len()).map(|at| lanes.gc.span(at));
        let changes = seconds.changes(runs.chain(collections));
        for span in seconds.split_at_changes(life, changes) {
            let running = lanes.runs.time_in(span);
            let running_ns = running[Class::Running as usize] + running[Class::Open as usize];
            let collecting_ns = lanes.gc.time_in(span)[Class::Gc as usize];
            let used_ns = running_ns.saturating_add(collecting_ns);
            let idle_ns = span.duration().0.saturating_sub(used_ns);
            metrics.usage(cap, CapUsage::Gc, span, collecting_ns)?;
            metrics.usage(cap, CapUsage::Idle, span, idle_ns)?;
        }
    }
    Ok(())
}

/// Division of the log's clock into equal intervals.
#[derive(Clone, Copy, Debug)]
struct UsageIntervals {
    length_ns: u64,
}

impl UsageIntervals {
    /// Extends a span to whole intervals.
    fn around(self, span: Interval) -> Interval {
        let start = span.start().0 / self.length_ns;
        let end = span.end().0.div_ceil(self.length_ns);
        let at = |number: u64| Nanos(number.saturating_mul(self.length_ns));
        Interval::new(at(start), at(end))
    }

    /// Returns the numbers of the intervals in which spans begin or end, ascending.
    fn changes(self, spans: impl Iterator<Item = (u64, u64)>) -> Vec<u64> {
        let mut changes = Vec::new();
        for number in spans.flat_map(|(start, end)| [start, end].map(|at| at / self.length_ns)) {
            if changes.last() != Some(&number) {
                changes.push(number);
            }
        }
        changes.sort_unstable();
        changes.dedup();
        changes
    }

    /// Splits a span into the intervals with changes and the stretches between them.
    fn split_at_changes(self, span: Interval, changes: Vec<u64>) -> impl Iterator<Item = Interval> {
        let edges = changes
            .into_iter()
            .flat_map(|number| [number, number.saturating_add(1)]);
        let edges = edges.map(move |number| number.saturating_mul(self.length_ns));
        let edges = edges.chain([u64::MAX]).scan(0, |before, edge| {
            Some(Interval::new(
                Nanos(std::mem::replace(before, edge)),
                Nanos(edge),
            ))
        });
        edges
            .map(move |part| part.clip(span))
            .filter(|part| !part.is_empty())
    }

    /// Splits a span into its first interval, its last one, and the stretch between them.
    fn split(self, span: Interval) -> impl Iterator<Item = Interval> {
        let changes = self.changes(std::iter::once((span.start().0, span.end().0)));
        self.split_at_changes(span, changes)
    }
}

/// Writes the run time of each thread on a capability, by second.
fn mutator(
    log: &Log<'_>,
    cap: CapId,
    (seconds, life): (UsageIntervals, Interval),
    metrics: &mut Metrics,
) -> io::Result<()> {
    let mut now = Interval::default();
    let mut threads: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for run in log.session.recording().store.cap_runs(cap) {
        let span = Interval::new(Nanos(run.start_ns), Nanos(run.end_ns));
        for span in seconds.split(span.clip(life)) {
            let around = seconds.around(span).clip(life);
            if around != now {
                flush(cap, now, &mut threads, metrics)?;
                now = around;
            }
            *threads.entry(run.thread).or_default() += span.duration().0;
        }
    }
    flush(cap, now, &mut threads, metrics)
}

fn flush(
    cap: CapId,
    span: Interval,
    threads: &mut BTreeMap<ThreadId, u64>,
    metrics: &mut Metrics,
) -> io::Result<()> {
    for (thread, ns) in std::mem::take(threads) {
        metrics.usage(cap, CapUsage::Mutator(thread), span, ns)?;
    }
    Ok(())
}
