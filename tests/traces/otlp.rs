//! Parser of OTLP exports, with OpenTelemetry's own types. Checks that both encodings are equal, ids have their
//! lengths and are unique, times are those of the wall clock, and deltas add up.

use std::collections::{BTreeMap, BTreeSet};

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::logs::v1::{LogRecord, LogsData};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use opentelemetry_proto::tonic::metrics::v1::{MetricsData, NumberDataPoint};
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData};
use prost::Message;
use serde::de::DeserializeOwned;

use super::{ExportInput, FinishedSpans, Sum, add};
use crate::common::build::LogBuilder;
use crate::common::fixture;
use eventlog::source::read_log;
use eventlog::{Event, Record};

/// Exported OTLP data.
pub(crate) struct Otlp {
    spans: Vec<Span>,
    /// Values of each metric, and whether they are deltas.
    points: BTreeMap<String, (bool, Vec<NumberDataPoint>)>,
    records: Vec<LogRecord>,
}

/// Files of an export by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Decodes the protobuf file of a signal, and checks that the lines of the JSON file have the same content.
fn both<T, P>(files: &mut [Files; 2], signal: &str, parts: impl Fn(T) -> Vec<P>) -> Vec<P>
where
    T: Message + Default + DeserializeOwned,
    P: PartialEq + std::fmt::Debug,
{
    let [protobuf, json] = files;
    let file = |files: &mut Files, extension: &str| {
        let name = format!("a.eventlog.{signal}.{extension}");
        files.remove(&name).expect("a file")
    };
    let protobuf = T::decode(file(protobuf, "binpb").as_slice()).expect("a message");
    let json = String::from_utf8(file(json, "jsonl")).expect("UTF-8");
    let lines = json.lines();
    let lines = lines.map(|line| serde_json::from_str::<T>(line).expect("a message"));
    let json: Vec<P> = lines.flat_map(&parts).collect();
    let protobuf = parts(protobuf);
    assert!(protobuf == json, "{signal}");
    protobuf
}

impl Otlp {
    pub(crate) fn of(export_input: &ExportInput) -> Self {
        let files = &mut ["otlp", "otlp-json"].map(|format| export_input.files(format));
        let spans = both(files, "traces", |data: TracesData| data.resource_spans);
        let spans = spans.into_iter().flat_map(|of| of.scope_spans);
        let logs = both(files, "logs", |data: LogsData| data.resource_logs);
        let logs = logs.into_iter().flat_map(|of| of.scope_logs);
        let metrics = both(files, "metrics", |data: MetricsData| data.resource_metrics);
        assert!(files.iter().all(BTreeMap::is_empty));
        let metrics = metrics.into_iter().flat_map(|of| of.scope_metrics);
        let mut points: BTreeMap<String, (bool, Vec<NumberDataPoint>)> = BTreeMap::new();
        for metric in metrics.flat_map(|of| of.metrics) {
            assert!(!metric.unit.is_empty() && !metric.description.is_empty());
            let (is_delta, more) = match metric.data.expect("values") {
                Data::Gauge(gauge) => (false, gauge.data_points),
                Data::Sum(sum) => {
                    assert!(sum.is_monotonic);
                    assert_eq!(sum.aggregation_temporality, 1, "deltas");
                    (true, sum.data_points)
                }
                other => panic!("{other:?}"),
            };
            let of = points.entry(metric.name).or_insert((is_delta, Vec::new()));
            of.1.extend(more);
        }
        Self {
            spans: spans.flat_map(|of| of.spans).collect(),
            points,
            records: logs.flat_map(|of| of.log_records).collect(),
        }
    }

    /// Returns trace id and span id of all spans.
    pub(crate) fn span_ids(&self) -> BTreeSet<(Vec<u8>, Vec<u8>)> {
        let ids = self.spans.iter();
        ids.map(|span| (span.trace_id.clone(), span.span_id.clone()))
            .collect()
    }

    /// Returns the number of blocked spans by reason.
    pub(crate) fn blocked(&self) -> BTreeMap<String, u64> {
        let mut blocked = BTreeMap::new();
        let names = self
            .spans
            .iter()
            .map(|span| text(&span.attributes, "blocked"));
        for name in names.flatten() {
            *blocked.entry(name).or_default() += 1;
        }
        blocked
    }

    /// Describes the first difference to the log.
    pub(crate) fn check(
        &self,
        export_input: &ExportInput,
        lives: &FinishedSpans,
    ) -> Option<String> {
        self.check_spans(export_input)
            .or_else(|| {
                let found = self.finished_spans();
                let waits = found.waiting != lives.waiting;
                let waits = waits.then(|| format!("{:?}, {:?}", found.waiting, lives.waiting));
                lives.differs(&found).or(waits)
            })
            .or_else(|| self.check_metrics(export_input))
            .or_else(|| self.check_records(export_input))
    }

    fn check_spans(&self, export_input: &ExportInput) -> Option<String> {
        if self.span_ids().len() != self.spans.len() {
            return Some("numbers of spans are not each of one".to_owned());
        }
        let (first, last) = export_input.first_and_last();
        let origin = export_input.origin_ns();
        let wrong = self.spans.iter().find(|span| {
            let status = span.status.as_ref().map(|status| status.code);
            let (start, end) = (span.start_time_unix_nano, span.end_time_unix_nano);
            span.trace_id.len() != 16
                || span.span_id.len() != 8
                || span.kind != 1
                || status != Some(1)
                || start > end
                || start < origin + first
                || end > origin + last
        });
        wrong.map(|span| format!("{span:?}"))
    }

    /// Returns the finished spans.
    fn finished_spans(&self) -> FinishedSpans {
        let mut lives = FinishedSpans::default();
        for span in &self.spans {
            if text(&span.attributes, "open").is_some() {
                continue;
            }
            let ns = span.end_time_unix_nano - span.start_time_unix_nano;
            let number = |key| text(&span.attributes, key).and_then(|text| text.parse().ok());
            let cap = number("capability").map(|cap: u32| cap as u16);
            let thread = number("thread");
            match (span.name.as_str(), cap, thread) {
                ("ghc_eventlog_CapabilityUsage GC", Some(cap), None) => {
                    add(&mut lives.collections, cap, ns);
                }
                ("ghc_eventlog_CapabilityUsage Mutator", Some(cap), None) => {
                    add(&mut lives.runs_on, cap, ns);
                }
                ("ghc_eventlog_ThreadState Running", _, Some(thread)) => {
                    add(&mut lives.running, thread, ns);
                }
                ("ghc_eventlog_ThreadState Blocked", None, Some(thread)) => {
                    assert!(text(&span.attributes, "status").is_some());
                    add(&mut lives.waiting, thread, ns);
                }
                _ => {}
            }
        }
        lives
    }

    /// Sums the values of a delta metric, grouped by `key` of their attributes.
    fn sums<K: Ord>(&self, name: &str, key: impl Fn(&[KeyValue]) -> K) -> BTreeMap<K, Sum> {
        let mut sums = BTreeMap::new();
        let (is_delta, points) = match self.points.get(name) {
            Some(of) => of,
            None => return sums,
        };
        assert!(is_delta, "{name}");
        for point in points {
            assert!(point.start_time_unix_nano <= point.time_unix_nano);
            let Some(number_data_point::Value::AsInt(value)) = point.value else {
                panic!("{point:?}");
            };
            add(&mut sums, key(&point.attributes), value as u64);
        }
        sums
    }

    fn check_metrics(&self, export_input: &ExportInput) -> Option<String> {
        let recording = export_input.session.recording();
        let cap = |key| move |of: &[KeyValue]| text(of, key).expect("a capability");
        let allocated = self.sums("ghc_eventlog_HeapAllocated", cap("evCap"));
        for (of, samples) in recording.numbers.allocations_by_cap() {
            use model::gauge::Samples;
            let last = samples.value(samples.len() - 1) - samples.initial();
            let found = allocated.get(&of.to_string()).map(|(_, bytes)| *bytes);
            let most = (0..samples.len())
                .map(|at| samples.value(at) - samples.initial())
                .max();
            if found != Some(last) && most == Some(last) {
                return Some(format!("capability {of}: allocated {last}, {found:?}"));
            }
        }
        let used = self.sums("ghc_eventlog_CapabilityUsageDuration", |of| {
            (text(of, "cap"), text(of, "category"))
        });
        let usage = |cap: u16, category: &str| {
            let key = (Some(cap.to_string()), Some(category.to_owned()));
            used.get(&key).map_or(0, |(_, ns)| *ns)
        };
        for (cap, life) in recording.info.lives.caps() {
            use model::lane::Lane;
            let Some(lanes) = recording.store.cap(cap) else {
                continue;
            };
            let running: u64 = lanes.runs.time_in(life).iter().sum();
            let collecting: u64 = lanes.gc.time_in(life).iter().sum();
            let found = ["Mutator", "GC", "Idle"].map(|category| usage(cap.0, category));
            let idle = life.duration().0.saturating_sub(running + collecting);
            if found[..2] != [running, collecting] || found[2] < idle {
                return Some(format!(
                    "capability {cap}: {found:?}, {running} {collecting} {idle}"
                ));
            }
        }
        None
    }

    /// Checks the bands of heap profiles against the events of the log. Returns the number of values.
    pub(crate) fn check_bands(&self, bytes: &[u8]) -> usize {
        let mut logged = Vec::new();
        let mut described = false;
        let mut take = |record: &Record<'_>| match record.event() {
            Event::HeapProfSampleString { residency, .. }
            | Event::HeapProfSampleCostCentre { residency, .. } => logged.push(residency as i64),
            Event::InfoTableProv { .. } => described = true,
            _ => {}
        };
        read_log(&mut { bytes }, &mut take).expect("a log");
        logged.retain(|&bytes| bytes > 0);
        let (is_delta, points) = &self.points["ghc_eventlog_HeapProfSample"];
        assert!(!is_delta);
        let value = |point: &NumberDataPoint| match point.value {
            Some(number_data_point::Value::AsInt(value)) => value,
            _ => panic!("{point:?}"),
        };
        let mut found: Vec<i64> = points.iter().map(value).collect();
        logged.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, logged);
        let told = |point: &NumberDataPoint| text(&point.attributes, "ipName").is_some();
        assert_eq!(points.iter().any(told), described);
        found.len()
    }

    fn check_records(&self, export_input: &ExportInput) -> Option<String> {
        let of = |kind: &str| {
            let records = self.records.iter();
            records
                .filter(|record| text(&record.attributes, "kind").as_deref() == Some(kind))
                .count()
        };
        let said = export_input.session.recording().messages.len();
        let found = of("UserMessage") + of("UserMarker");
        let types = export_input.session.overview().types;
        let labels = types.iter().find(|of| of.name == "ThreadLabel");
        let labels = labels.map_or(0, |of| of.count as usize);
        if (found, of("ThreadLabel")) != (said, labels) {
            return Some(format!(
                "{found} messages of {said}, {} labels of {labels}",
                of("ThreadLabel")
            ));
        }
        (found + labels != self.records.len()).then(|| "other records".to_owned())
    }
}

/// Returns an attribute as text.
fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.key == key)?;
    Some(match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::BoolValue(flag) => flag.to_string(),
        other => panic!("{other:?}"),
    })
}

/// The bytes allocated in the parts of a log add up to those in the whole.
#[test]
fn sums_of_parts_add_up_to_the_whole() {
    let case = fixture("ghc-9.6.6/gc-heavy-N1-l");
    let mut export_input = ExportInput::of(&case.bytes()).expect("a log");
    let (first, last) = export_input.first_and_last();
    let mut allocated = |range| {
        export_input.range = range;
        let sums = Otlp::of(&export_input).sums("ghc_eventlog_HeapAllocated", |_| ());
        sums.get(&()).map_or(0, |(_, bytes)| *bytes)
    };
    let whole = allocated(None);
    assert!(whole > 1_000_000);
    for parts in [2, 3, 7] {
        let at = |part: u64| first + (last + 1 - first) * part / parts;
        let ranges = (0..parts).map(|part| Some((at(part), at(part + 1))));
        assert_eq!(
            ranges.map(&mut allocated).sum::<u64>(),
            whole,
            "{parts} parts"
        );
    }
}

/// Empty runs and waits of a thread at one time alternate, and each has an id of its own.
#[test]
fn empty_spans_at_one_time_have_ids_of_their_own() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (10, 100), |block| {
        block.event(0, 11, &1_u32.to_be_bytes());
        for _ in 0..5 {
            block.run(20, 1).stop(20, 1, 3);
        }
        block.run(30, 1).stop(40, 1, 5)
    });
    let export_input = ExportInput::of(&log.end().bytes).expect("a log");
    let otlp = Otlp::of(&export_input);
    let empty = |span: &&Span| span.start_time_unix_nano == span.end_time_unix_nano;
    let named = |name: &str| {
        let named = otlp.spans.iter().filter(|span| span.name.ends_with(name));
        named.filter(empty).count()
    };
    assert!(named("Running") > 1 && named("Blocked") > 1);
    assert_eq!(otlp.span_ids().len(), otlp.spans.len());
}
