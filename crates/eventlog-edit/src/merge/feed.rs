//! A log whose events are fetched, some thousand at a time, rather than handed out.

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

/// How many events are fetched at once.
const AT_ONCE: usize = 4096;

/// A log that is read as its events are wanted.
#[derive(Debug)]
pub struct Feed<S> {
    reader: LogReader,
    source: S,
    buffer: Vec<u8>,
    batch: Batch,
    /// The first event of the batch that was not taken.
    next: usize,
    is_done: bool,
}

/// An event of a log that is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'a> {
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
    /// The latest time so far, of all batches.
    latest: Nanos,
}

#[derive(Debug)]
struct Entry {
    id: EventType,
    time: Nanos,
    /// When its turn is: at its time, or at the latest before it.
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
    /// The log that `reader` reads from `source`.
    #[must_use]
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

    /// When the turn of the next event is; `None` at the end of the log.
    pub(super) fn key(&mut self) -> Result<Option<Nanos>, LogError> {
        if self.next >= self.batch.events.len() {
            self.fetch()?;
        }
        Ok(self.batch.events.get(self.next).map(|entry| entry.key))
    }

    /// The event whose key was asked for.
    pub(super) fn event(&self) -> Option<Held<'_>> {
        let entry = self.batch.events.get(self.next)?;
        Some(Held {
            id: entry.id,
            time: entry.time,
            cap: entry.cap,
            payload: self.batch.payloads.get(entry.payload.clone())?,
            header: self.batch.headers.get(entry.header)?,
        })
    }

    /// Goes on to the next event.
    pub(super) fn pass(&mut self) {
        self.next += 1;
    }

    fn fetch(&mut self) -> Result<(), LogError> {
        self.batch.clear();
        self.next = 0;
        while self.batch.events.is_empty() && !self.is_done {
            let batch = &mut self.batch;
            let mut sink = |record: &Record<'_>| batch.push(record);
            match self.reader.advance(&mut sink, AT_ONCE)? {
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
            // What was read is kept, if there is something.
            if self.reader.progress().stage != Stage::Analysing {
                return Err(LogError::Read { at, why });
            }
            self.reader.cut(at);
        }
        Ok(())
    }
}
