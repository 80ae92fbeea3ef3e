//! Pull interface to the events of a log, with batches of some thousand events.

use std::ops::Range;
use std::sync::Arc;

use eventlog::Need;
use eventlog::Record;
use eventlog::event::EventType;
use eventlog::header::Header;
use eventlog::ids::{CapId, Nanos};
use eventlog::is_undated;
use eventlog::problem::{LogError, system_words};
use eventlog::source::Source;
use eventlog::{LogReader, Stage, Step};

/// Number of events per batch.
const BATCH_EVENTS: usize = 4096;

/// Log reader that is advanced as its events are needed.
#[derive(Debug)]
pub struct Feed<S> {
    reader: LogReader,
    source: S,
    buffer: Vec<u8>,
    batch: Batch,
    /// Index of the next event in the batch.
    next: usize,
    is_done: bool,
}

/// A buffered event of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchEvent<'a> {
    pub(crate) id: EventType,
    pub(crate) time: Nanos,
    pub(crate) cap: Option<CapId>,
    pub(crate) payload: &'a [u8],
    pub(crate) header: &'a Arc<Header>,
}

#[derive(Debug, Default)]
struct Batch {
    events: Vec<Entry>,
    payloads: Vec<u8>,
    headers: Vec<Arc<Header>>,
    /// Latest time so far, over all batches.
    latest: Nanos,
}

#[derive(Debug)]
struct Entry {
    id: EventType,
    time: Nanos,
    /// Time at which it is due: its own time, or the latest time before it.
    key: Nanos,
    cap: Option<CapId>,
    payload: Range<usize>,
    header: usize,
}

impl Batch {
    fn clear(&mut self) {
        self.events.clear();
        self.payloads.clear();
        self.headers.clear();
    }

    fn push(&mut self, record: &Record<'_>) {
        let same = |own: &Arc<Header>| Arc::ptr_eq(own, record.header);
        if !self.headers.last().is_some_and(same) {
            self.headers.push(Arc::clone(record.header));
        }
        if !is_undated(record.id.0) {
            self.latest = self.latest.max(record.time);
        }
        let from = self.payloads.len();
        self.payloads.extend_from_slice(record.payload);
        self.events.push(Entry {
            id: record.id,
            time: record.time,
            key: self.latest,
            cap: record.cap,
            payload: from..self.payloads.len(),
            header: self.headers.len() - 1,
        });
    }
}

impl<S: Source> Feed<S> {
    /// Creates a feed for the log that `reader` reads from `source`.
    pub fn new(reader: LogReader, source: S) -> Self {
        Self {
            reader,
            source,
            buffer: Vec::new(),
            batch: Batch::default(),
            next: 0,
            is_done: false,
        }
    }

    /// Returns the time at which the next event is due; `None` at the end of the log.
    pub(super) fn key(&mut self) -> Result<Option<Nanos>, LogError> {
        if self.next >= self.batch.events.len() {
            self.fetch()?;
        }
        Ok(self.batch.events.get(self.next).map(|entry| entry.key))
    }

    /// Returns the next event; call [`key`](Self::key) before.
    pub(super) fn event(&self) -> Option<BatchEvent<'_>> {
        let entry = self.batch.events.get(self.next)?;
        Some(BatchEvent {
            id: entry.id,
            time: entry.time,
            cap: entry.cap,
            payload: self.batch.payloads.get(entry.payload.clone())?,
            header: self.batch.headers.get(entry.header)?,
        })
    }

    /// Advances to the next event.
    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    /// Returns whether the log has a regular end, once all its events were fetched.
    pub(super) fn has_end(&self) -> bool {
        self.reader.has_end()
    }

    fn fetch(&mut self) -> Result<(), LogError> {
        self.batch.clear();
        self.next = 0;
        while self.batch.events.is_empty() && !self.is_done {
            let batch = &mut self.batch;
            let mut sink = |record: &Record<'_>| batch.push(record);
            match self.reader.advance(&mut sink, BATCH_EVENTS)? {
                Step::Need(needs) => self.supply(needs)?,
                Step::More | Step::Indexed => {}
                Step::Done => self.is_done = true,
            }
        }
        Ok(())
    }

    fn supply(&mut self, needs: Vec<Need>) -> Result<(), LogError> {
        for Need(range) in needs {
            let at = range.start;
            let why = match self.source.read(range, &mut self.buffer) {
                Ok([]) => "no bytes".into(),
                Ok(bytes) => {
                    self.reader.supply(at, bytes);
                    continue;
                }
                Err(error) => system_words(&error),
            };
            // If the source fails, the part read so far is kept.
            if self.reader.progress().stage != Stage::Analyzing {
                return Err(LogError::Read { at, why });
            }
            self.reader.truncate(at);
        }
        Ok(())
    }
}
