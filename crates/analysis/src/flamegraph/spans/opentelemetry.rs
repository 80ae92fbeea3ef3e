//! Spans of the package opentelemetry, from text and binary messages.
//!
//! A serial number, unique within the process, matches the end of a span to its beginning, on any thread.

use super::{Names, ProgramSpan, SpanProcesses};
use eventlog::conventions::Convention;
use eventlog::conventions::opentelemetry::Telemetry;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos};
use eventlog::{Event, EventSet, EventType, Record, Sink};

/// OpenTelemetry spans, in order of their start.
///
/// An end without a start is ignored, and so is a repeated start of an open span.
#[derive(Clone, Debug, Default)]
pub struct TelemetrySpans {
    names: Names,
    spans: Vec<ProgramSpan>,
    /// Index of each open span, by serial number.
    open: SeededMap<u64, usize>,
}

impl Sink for TelemetrySpans {
    const CONSUMES: EventSet =
        EventSet::from_types(&[EventType::USER_MSG, EventType::USER_BINARY_MSG]);

    fn event(&mut self, record: &Record<'_>) {
        let found = match record.event() {
            Event::UserMessage { msg } => Convention::parse_text(msg.0),
            Event::UserBinaryMessage { payload } => Convention::parse_bytes(payload.0),
            _ => None,
        };
        if let Some(Convention::Telemetry(message)) = found {
            self.message(&message, record.time, record.cap);
        }
    }
}

impl TelemetrySpans {
    pub(super) fn message(&mut self, message: &Telemetry<'_>, at: Nanos, cap: Option<CapId>) {
        match message {
            Telemetry::BeginSpan { span, name } => {
                if self.open.contains_key(span) {
                    return;
                }
                self.open.insert(*span, self.spans.len());
                let name = self.names.id(&name.to_str());
                self.spans.push(ProgramSpan {
                    start: at.0,
                    end: at.0,
                    name,
                    cap,
                    open: true,
                });
            }
            Telemetry::EndSpan { span } => {
                let place = self.open.remove(span);
                if let Some(span) = place.and_then(|place| self.spans.get_mut(place)) {
                    span.end = at.0.max(span.start);
                    span.open = false;
                }
            }
            _ => {}
        }
    }

    /// Closes open spans at the ends of their processes, once the log has been read.
    pub fn finish(&mut self, processes: &SpanProcesses) {
        for (_, place) in std::mem::take(&mut self.open) {
            if let Some(span) = self.spans.get_mut(place) {
                span.end = processes.end(span.cap).0.max(span.start);
            }
        }
        self.spans.shrink_to_fit();
    }

    pub(super) fn spans(&self) -> &[ProgramSpan] {
        &self.spans
    }

    pub(super) fn name(&self, span: &ProgramSpan) -> &str {
        self.names.get(span.name)
    }
}
