//! Spans: one trace per capability, per thread, and per name of user spans.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::{Event, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};

use super::ids::{Ids, TraceSubject};
use super::{Clock, flag, number, text, thread};
use crate::trace::names;
use crate::trace::walk::{CapCollection, CapRun, Thread, UserSpan};
use analysis::timeline::walk::{ThreadRun, WaitSpan};
use model::class::StopCode;
use model::time::Interval;

/// Creates spans with unique ids.
pub(super) struct Spans {
    ids: Ids,
    clock: Clock,
    /// Last span of each kind. Spans of a kind are in time order, so that equal ones follow each other.
    last: BTreeMap<u64, LastSpan>,
}

/// Last span of a kind.
#[derive(Default)]
struct LastSpan {
    trace_id: Vec<u8>,
    span: Interval,
    /// Number of equal spans before it.
    ordinal: u64,
}

/// Names of spans; the position of a name is its kind in span ids.
const GC: &str = "ghc_eventlog_CapabilityUsage GC";
const MUTATOR: &str = "ghc_eventlog_CapabilityUsage Mutator";
const RUNNING: &str = "ghc_eventlog_ThreadState Running";
const BLOCKED: &str = "ghc_eventlog_ThreadState Blocked";

impl Spans {
    pub(super) fn new(run: &str, clock: Clock) -> Self {
        Self {
            ids: Ids::new(run),
            clock,
            last: BTreeMap::new(),
        }
    }

    fn span(
        &mut self,
        of: TraceSubject<'_>,
        (kind, name): (u64, &str),
        span: Interval,
        attributes: Vec<KeyValue>,
    ) -> Span {
        let trace_id = self.ids.trace(of);
        let last = self.last.entry(kind).or_default();
        let is_equal = last.trace_id == trace_id && last.span == span;
        *last = LastSpan {
            trace_id: trace_id.clone(),
            span,
            ordinal: if is_equal { last.ordinal + 1 } else { 0 },
        };
        let ordinal = last.ordinal;
        Span {
            trace_id,
            span_id: self.ids.span(of, kind, span, ordinal),
            name: name.to_owned(),
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: self.clock.unix_ns(span.start()),
            end_time_unix_nano: self.clock.unix_ns(span.end()),
            attributes,
            status: Some(Status {
                code: StatusCode::Ok.into(),
                ..Status::default()
            }),
            ..Span::default()
        }
    }

    pub(super) fn collection(&mut self, collection: &CapCollection<'_>) -> Span {
        let cap = collection.cap.0;
        let attributes = vec![number("capability", cap), text("user", "GC")];
        self.span(
            TraceSubject::Capability(cap),
            (0, GC),
            collection.span,
            attributes,
        )
    }

    pub(super) fn cap_run(&mut self, run: &CapRun<'_>) -> Span {
        let cap = run.cap.0;
        let user = text("user", run.thread.id.to_string());
        let mut attributes = vec![number("capability", cap), user];
        attributes.extend(open(run.code == StopCode::OPEN));
        self.span(
            TraceSubject::Capability(cap),
            (1, MUTATOR),
            run.span,
            attributes,
        )
    }

    pub(super) fn run(&mut self, of: &Thread<'_>, run: &ThreadRun) -> Span {
        let cap = run.cap.map(|cap| number("capability", cap.0));
        let mut attributes: Vec<KeyValue> = cap.into_iter().chain([thread(of.id)]).collect();
        attributes.extend(open(run.code == StopCode::OPEN));
        self.span(
            TraceSubject::Thread(of.id.0),
            (2, RUNNING),
            run.span,
            attributes,
        )
    }

    /// Creates the span of a whole wait; an event in it marks when the thread became runnable.
    pub(super) fn wait(&mut self, of: &Thread<'_>, wait: &WaitSpan) -> Span {
        let mut attributes = vec![thread(of.id), text("status", names::status(wait))];
        let is_blocked = !wait.blocked().is_empty();
        attributes.extend(is_blocked.then(|| text("blocked", names::blocked(wait))));
        attributes.extend(open(wait.is_open));
        let span = self.span(
            TraceSubject::Thread(of.id.0),
            (3, BLOCKED),
            wait.span,
            attributes,
        );
        let runnable = (!wait.ready().is_empty()).then(|| Event {
            time_unix_nano: self.clock.unix_ns(wait.ready),
            name: "runnable".to_owned(),
            ..Event::default()
        });
        Span {
            events: runnable.into_iter().collect(),
            ..span
        }
    }

    pub(super) fn user_span(&mut self, name: &str, span: &UserSpan) -> Span {
        let attributes = open(span.is_open).into_iter().collect();
        self.span(TraceSubject::Named(name), (4, name), span.span, attributes)
    }
}

/// Returns the attribute `open` if the end of the log cut off the span, else none.
fn open(is_open: bool) -> Option<KeyValue> {
    is_open.then(|| flag("open", true))
}
