//! `tail --what numbers`: one row of counts for each second of the log's clock.

use std::io;

use super::tail::span_automata;
use super::{Out, Output, Table};
use analysis::spans::{SpanSink, Spans};
use eventlog::ids::CapId;
use eventlog::{Event, EventType, Record, Sink};
use model::time::Interval;

/// One second in nanoseconds.
const SECOND_NS: u64 = 1_000_000_000;

const COLUMNS: &[&str] = &[
    "time",
    "events",
    "late",
    "threads_created",
    "runs",
    "messages",
    "collections",
    "collecting_ns",
    "live_bytes",
    "heap_bytes",
];

/// Event counts of one second.
#[derive(Clone, Copy, Debug, Default)]
struct SecondCounts {
    events: u64,
    late: u64,
    created: u64,
    runs: u64,
    messages: u64,
}

/// Collections that ended, counted once per capability.
#[derive(Clone, Copy, Debug, Default)]
struct CollectionTotals {
    count: u64,
    /// Total duration over all capabilities.
    ns: u64,
}

impl SpanSink for CollectionTotals {
    fn gc(&mut self, _: CapId, span: Interval) {
        self.count += 1;
        self.ns += span.duration().0;
    }
}

/// Printer of one row per second that has events; each row is printed once its second is over.
pub(super) struct Numbers<'a> {
    table: Table<'a>,
    /// Second being counted.
    second: Option<u64>,
    counted: SecondCounts,
    collections: Spans<CollectionTotals>,
    live_bytes: Option<u64>,
    heap_bytes: Option<u64>,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(out: &'a mut Out, output: Output) -> io::Result<Self> {
        Ok(Self {
            table: Table::lines(out, output, COLUMNS)?,
            second: None,
            counted: SecondCounts::default(),
            collections: span_automata(),
            live_bytes: None,
            heap_bytes: None,
        })
    }

    /// Counts an event; a late event counts for the current second.
    pub(super) fn event(&mut self, record: &Record<'_>, late: bool) -> io::Result<()> {
        let second = record.time.0 / SECOND_NS;
        if self.second.is_some_and(|now| now < second) {
            self.row()?;
        }
        if self.second.is_none_or(|now| now < second) {
            self.second = Some(second);
        }
        self.collections.event(record);
        self.counted.events += 1;
        self.counted.late += u64::from(late);
        match record.id {
            EventType::CREATE_THREAD => self.counted.created += 1,
            EventType::RUN_THREAD => self.counted.runs += 1,
            EventType::USER_MSG | EventType::USER_MARKER => self.counted.messages += 1,
            _ => match record.event() {
                Event::HeapLive { live_bytes, .. } => self.live_bytes = Some(live_bytes),
                Event::HeapSize { size_bytes, .. } => self.heap_bytes = Some(size_bytes),
                _ => {}
            },
        }
        Ok(())
    }

    fn row(&mut self) -> io::Result<()> {
        let Some(second) = self.second.take() else {
            return Ok(());
        };
        let counted = std::mem::take(&mut self.counted);
        let collected = std::mem::take(&mut self.collections.sink);
        self.table.row(&[
            (second * SECOND_NS).into(),
            counted.events.into(),
            counted.late.into(),
            counted.created.into(),
            counted.runs.into(),
            counted.messages.into(),
            collected.count.into(),
            collected.ns.into(),
            self.live_bytes.into(),
            self.heap_bytes.into(),
        ])
    }

    /// Ends the log: prints the incomplete second and resets the state.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.row()?;
        self.collections = span_automata();
        (self.live_bytes, self.heap_bytes) = (None, None);
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.table.flush()
    }
}
