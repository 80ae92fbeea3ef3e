//! Events and spans, a row each.

use std::io;

use super::events::json_object;
use super::{Out, Output, Table, cap_or_dash, spans};
use analysis::automata::thread_state::ThreadSpan;
use analysis::spans::{Analyses, SpanSink, Spans, WaitReasons};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::sentence::write_sentence;
use eventlog::{Names, Record, Sink};
use model::class::ManagerThread;
use model::time::Interval;

/// The events of a log. A thread has its label from when that was given on.
pub(super) struct EventRows<'a> {
    table: Table<'a>,
    names: Names,
    text: String,
}

impl<'a> EventRows<'a> {
    pub(super) fn new(out: &'a mut Out, output: Output) -> io::Result<Self> {
        Ok(Self {
            table: Table::lines(out, output, &["time", "cap", "name", "text"])?,
            names: Names::default(),
            text: String::new(),
        })
    }

    pub(super) fn event(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.names.offer(record);
        let event = record.event();
        let cap = record.cap.map(|cap| cap.0);
        if self.table.is_json() {
            return self.table.object(&json_object(&event, record.time.0, cap));
        }
        self.text.clear();
        write_sentence(&mut self.text, &event, record.header, &self.names);
        let (time, text) = (record.time.0.into(), self.text.as_str().into());
        self.table
            .row(&[time, cap_or_dash(cap), event.name().into(), text])
    }

    /// The log is over.
    pub(super) fn end(&mut self) {
        self.names = Names::default();
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.table.flush()
    }
}

/// The spans that ended and were not printed yet.
#[derive(Debug, Default)]
struct Ended {
    rows: Vec<spans::Row>,
    wait_reasons: WaitReasons,
}

impl SpanSink for Ended {
    fn gc(&mut self, cap: CapId, span: Interval) {
        self.rows.push(spans::Row::Gc(cap, span));
    }

    fn thread(&mut self, thread: ThreadId, span: ThreadSpan, _: Option<Nanos>) {
        let wait = self.wait_reasons.end(thread, &span);
        self.rows.push(spans::Row::Thread(thread, span, wait));
    }

    fn woken_by(&mut self, thread: ThreadId, manager: ManagerThread) {
        self.wait_reasons.woken_by(thread, manager);
    }
}

/// The spans of threads and of collections, in the order in which they end.
pub(super) struct SpanRows<'a> {
    table: Table<'a>,
    spans: Spans<Ended>,
}

fn automata() -> Spans<Ended> {
    let analyses = Analyses {
        lifecycle: false,
        mutator_by_cap: false,
    };
    Spans::new(analyses, Ended::default())
}

impl<'a> SpanRows<'a> {
    pub(super) fn new(out: &'a mut Out, output: Output) -> io::Result<Self> {
        let columns = spans::Analysis::ThreadState.columns();
        Ok(Self {
            table: Table::lines(out, output, columns)?,
            spans: automata(),
        })
    }

    pub(super) fn event(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.spans.event(record);
        for row in self.spans.sink.rows.drain(..) {
            self.table.row(&row.among_threads())?;
        }
        Ok(())
    }

    /// The log is over.
    pub(super) fn end(&mut self) {
        self.spans = automata();
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.table.flush()
    }
}
