//! Visitor that writes the three OTLP signals of a log in batches.

use std::io;
use std::path::Path;

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::logs::v1::{
    LogRecord, LogsData, ResourceLogs, ScopeLogs, SeverityNumber,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, TracesData};

use super::metrics::Metrics;
use super::output::{Encoding, Output};
use super::traces::Spans;
use super::{Clock, any, number, resource, scope, text, thread};
use crate::format::Error;
use crate::log::Log;
use crate::trace::walk::{CapCollection, CapRun, Thread, UserSpan};
use crate::trace::{Counter, Visitor};
use analysis::timeline::messages::{Message, MessageKind};
use analysis::timeline::walk::WaitAndRun;
use eventlog::ids::{Nanos, ThreadId};

/// Spans, log records or data points per batch.
pub(super) const BATCH: usize = 1000;

/// Writer for the three signals of a log.
pub(super) struct Signals {
    resource: Resource,
    clock: Clock,
    spans: Spans,
    batch: Vec<Span>,
    traces: Output,
    pub(super) metrics: Metrics,
    records: Vec<LogRecord>,
    logs: Output,
}

impl Signals {
    pub(super) fn begin(
        log: &Log<'_>,
        base: &Path,
        encoding: Encoding,
        clock: Clock,
    ) -> Result<Self, Error> {
        let output = |signal| Output::begin(log, base, signal, encoding);
        let resource = resource(log);
        Ok(Self {
            clock,
            spans: Spans::new(&log.run_id(), clock),
            batch: Vec::new(),
            traces: output("traces")?,
            metrics: Metrics::new(log, resource.clone(), clock, output("metrics")?),
            records: Vec::new(),
            logs: output("logs")?,
            resource,
        })
    }

    fn span(&mut self, span: Span) -> io::Result<()> {
        self.batch.push(span);
        if self.batch.len() < BATCH {
            return Ok(());
        }
        self.flush_spans()
    }

    fn flush_spans(&mut self) -> io::Result<()> {
        let spans = std::mem::take(&mut self.batch);
        if spans.is_empty() {
            return Ok(());
        }
        let scope_spans = vec![ScopeSpans {
            scope: Some(scope()),
            spans,
            ..ScopeSpans::default()
        }];
        let resource_spans = vec![ResourceSpans {
            resource: Some(self.resource.clone()),
            scope_spans,
            ..ResourceSpans::default()
        }];
        self.traces.write_message(&TracesData { resource_spans })
    }

    fn record(&mut self, record: LogRecord) -> io::Result<()> {
        self.records.push(record);
        if self.records.len() < BATCH {
            return Ok(());
        }
        self.flush_records()
    }

    fn flush_records(&mut self) -> io::Result<()> {
        let log_records = std::mem::take(&mut self.records);
        if log_records.is_empty() {
            return Ok(());
        }
        let scope_logs = vec![ScopeLogs {
            scope: Some(scope()),
            log_records,
            ..ScopeLogs::default()
        }];
        let resource_logs = vec![ResourceLogs {
            resource: Some(self.resource.clone()),
            scope_logs,
            ..ResourceLogs::default()
        }];
        self.logs.write_message(&LogsData { resource_logs })
    }

    /// Writes the labeling of a thread.
    pub(super) fn label(&mut self, at: Nanos, of: ThreadId, label: &str) -> io::Result<()> {
        let at = self.clock.unix_ns(at);
        self.record(LogRecord {
            time_unix_nano: at,
            observed_time_unix_nano: at,
            body: any(Value::StringValue(label.to_owned())),
            attributes: vec![text("kind", "ThreadLabel"), thread(of)],
            ..LogRecord::default()
        })
    }

    /// Writes the pending batches and completes the files.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.flush_spans()?;
        self.flush_records()?;
        self.traces.finish()?;
        self.logs.finish()?;
        self.metrics.finish()
    }
}

impl Visitor for Signals {
    fn cap_run(&mut self, run: &CapRun<'_>) -> io::Result<()> {
        let span = self.spans.cap_run(run);
        self.span(span)
    }

    fn collection(&mut self, collection: &CapCollection<'_>) -> io::Result<()> {
        let span = self.spans.collection(collection);
        self.span(span)
    }

    fn wait_and_run(&mut self, thread: &Thread<'_>, turn: &WaitAndRun) -> io::Result<()> {
        if let Some(wait) = &turn.wait {
            let span = self.spans.wait(thread, wait);
            self.span(span)?;
        }
        if let Some(run) = &turn.run {
            let span = self.spans.run(thread, run);
            self.span(span)?;
        }
        Ok(())
    }

    fn user_span(&mut self, _: u32, name: &str, span: &UserSpan) -> io::Result<()> {
        let span = self.spans.user_span(name, span);
        self.span(span)
    }

    fn message(&mut self, message: &Message) -> io::Result<()> {
        let (kind, severity) = match message.kind {
            MessageKind::Message => ("UserMessage", SeverityNumber::Debug),
            MessageKind::Marker => ("UserMarker", SeverityNumber::Trace),
        };
        let at = self.clock.unix_ns(message.time);
        let mut attributes = vec![text("kind", kind)];
        attributes.extend(message.cap.map(|cap| number("evCap", cap.0)));
        self.record(LogRecord {
            time_unix_nano: at,
            observed_time_unix_nano: at,
            severity_number: severity.into(),
            severity_text: match message.kind {
                MessageKind::Message => "DEBUG".to_owned(),
                MessageKind::Marker => "TRACE".to_owned(),
            },
            body: any(Value::StringValue(message.text.clone())),
            attributes,
            ..LogRecord::default()
        })
    }

    fn counter(&mut self, counter: &Counter) -> io::Result<()> {
        self.metrics.counter(counter)
    }

    fn sample(&mut self, counter: &Counter, at: Nanos, value: u64) -> io::Result<()> {
        self.metrics.sample(counter, at, value)
    }
}
