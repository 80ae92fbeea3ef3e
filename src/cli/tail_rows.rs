//! `tail --what events` and `--what spans`: one row for each event or span.

use std::io;

use super::events::json_object;
use super::tail::span_automata;
use super::{Out, Output, Table, cap_or_dash, spans};
use analysis::automata::thread_state::ThreadSpan;
use analysis::spans::{SpanSink, Spans, WaitReasons};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::sentence::write_sentence;
use eventlog::{Names, Record, Sink};
use model::class::ManagerThread;
use model::time::Interval;

/// Printer of events. A thread has its label only from the labeling event on.
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
        if self.table.is_json() {
            return self.table.object(&json_object(&event, record));
        }
        self.text.clear();
        write_sentence(&mut self.text, &event, record.header, &self.names);
        let (time, text) = (record.time.into(), self.text.as_str().into());
        self.table
            .row(&[time, cap_or_dash(record.cap), event.name().into(), text])
    }

    /// Ends the log: forgets all names.
    pub(super) fn end(&mut self) {
        self.names = Names::default();
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.table.flush()
    }
}

/// Spans that have ended but are not printed yet.
#[derive(Debug, Default)]
struct EndedSpans {
    rows: Vec<spans::Row>,
    wait_reasons: WaitReasons,
}

impl SpanSink for EndedSpans {
    fn gc(&mut self, cap: CapId, span: Interval) {
        self.rows.push(spans::Row::gc(cap, span));
    }

    fn thread(&mut self, thread: ThreadId, span: ThreadSpan, _: Option<Nanos>) {
        let wait = self.wait_reasons.end(thread, &span);
        self.rows.push(spans::Row::thread(thread, span, wait));
    }

    fn woken_by(&mut self, thread: ThreadId, manager: ManagerThread) {
        self.wait_reasons.woken_by(thread, manager);
    }
}

/// Printer of thread and collection spans, in the order of their ends.
pub(super) struct SpanRows<'a> {
    table: Table<'a>,
    spans: Spans<EndedSpans>,
}

impl<'a> SpanRows<'a> {
    pub(super) fn new(out: &'a mut Out, output: Output) -> io::Result<Self> {
        let columns = spans::Analysis::ThreadState.columns();
        Ok(Self {
            table: Table::lines(out, output, columns)?,
            spans: span_automata(),
        })
    }

    pub(super) fn event(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.spans.event(record);
        let columns = spans::Analysis::ThreadState.columns();
        for row in self.spans.sink.rows.drain(..) {
            self.table.row(&row.cells(columns))?;
        }
        Ok(())
    }

    /// Ends the log: resets the state.
    pub(super) fn end(&mut self) {
        self.spans = span_automata();
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.table.flush()
    }
}
