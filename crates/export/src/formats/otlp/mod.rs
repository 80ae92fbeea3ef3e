//! OpenTelemetry protocol (OTLP) files: traces, metrics and logs in one file each, in protobuf or JSON. Names are
//! those that dashboards for eventlogs use: `ghc_eventlog_…`.

mod ids;
mod metrics;
mod output;
mod signals;
mod traces;

use std::path::Path;

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;

use crate::format::{Error, Format, OutputKind};
use crate::log::Log;
use crate::trace::{names, walk};
use eventlog::ids::{Nanos, ThreadId};
use eventlog::{Event, EventSet, EventType};
use model::time::Interval;
use output::Encoding;
use signals::Signals;

/// OTLP in protobuf.
pub(super) const PROTOBUF: Format = Format {
    name: "otlp",
    help: "OpenTelemetry traces, metrics and logs in protobuf, one file each",
    is_trace: true,
    output: OutputKind::Files(|log, base| write(log, base, Encoding::Protobuf)),
};

/// OTLP in JSON.
pub(super) const JSON: Format = Format {
    name: "otlp-json",
    help: "The same as lines of JSON, the format of collectors",
    is_trace: true,
    output: OutputKind::Files(|log, base| write(log, base, Encoding::Json)),
};

fn write(log: &Log<'_>, base: &Path, encoding: Encoding) -> Result<(), Error> {
    let Some(origin_ns) = log.clock_origin_ns else {
        return Err(Error::Refused(
            "the log has no wall-clock time, which OpenTelemetry requires: set the time of the log's \
             time 0, as in --wall-clock 2026-11-20T09:47:03Z"
                .to_owned(),
        ));
    };
    let mut signals = Signals::begin(log, base, encoding, Clock { origin_ns })?;
    walk(log, &mut signals)?;
    metrics::heap_profiles(log, &mut signals)?;
    metrics::capability_usage(log, &mut signals)?;
    labels(log, &mut signals)?;
    signals.finish()
}

/// Writes thread labels as log records, with the time when they were set.
fn labels(log: &Log<'_>, signals: &mut Signals) -> Result<(), Error> {
    const LABELS: EventSet = EventSet::from_types(&[EventType::THREAD_LABEL]);
    if !log.session.recording().info.has(LABELS) {
        return Ok(());
    }
    let mut written = Ok(());
    log.records_by_time(|record| {
        let asked = log.is_selected(Interval::empty_at(record.time)) && written.is_ok();
        if let Event::ThreadLabel { thread, label } = record.event()
            && asked
        {
            written = signals.label(record.time, thread, &label.to_str());
        }
    })?;
    Ok(written?)
}

/// Unix time in nanoseconds at which the clock of the log was 0.
#[derive(Clone, Copy, Debug)]
struct Clock {
    origin_ns: u64,
}

impl Clock {
    const fn unix_ns(self, time: Nanos) -> u64 {
        self.origin_ns.saturating_add(time.0)
    }
}

fn any(value: Value) -> Option<AnyValue> {
    Some(AnyValue { value: Some(value) })
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: any(value),
        ..KeyValue::default()
    }
}

fn text(key: &str, value: impl Into<String>) -> KeyValue {
    attribute(key, Value::StringValue(value.into()))
}

fn number(key: &str, value: impl Into<i64>) -> KeyValue {
    attribute(key, Value::IntValue(value.into()))
}

fn flag(key: &str, value: bool) -> KeyValue {
    attribute(key, Value::BoolValue(value))
}

/// Returns a thread as text, as its number may exceed the integer range of some databases.
fn thread(thread: ThreadId) -> KeyValue {
    text("thread", thread.to_string())
}

/// Returns the resource attributes, which describe the process.
fn resource(log: &Log<'_>) -> Resource {
    let info = &log.session.recording().info;
    let process = info.process();
    let mut attributes = vec![text("service.name", names::program(log))];
    attributes.extend(process.pid.map(|pid| number("process.pid", pid)));
    if process.ghc.is_some() {
        attributes.push(text("process.runtime.name", "GHC"));
    }
    let version = process.ghc.map(|ghc| text("process.runtime.version", ghc));
    attributes.extend(version);
    let rts = process
        .rts
        .map(|rts| text("process.runtime.description", rts));
    attributes.extend(rts);
    Resource {
        attributes,
        ..Resource::default()
    }
}

/// Returns the instrumentation scope, which is this program.
fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "eventscope".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}
