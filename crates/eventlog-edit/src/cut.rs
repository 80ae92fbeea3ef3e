//! A part of a log, as a log.

use std::io::{self, Write};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::anonymous::Anonymiser;
use super::definition::is_definition;
use super::writer::{LogWriter, NewEvent};
use eventlog::EventSet;
use eventlog::Record;
use eventlog::Sink;
use eventlog::cursor::Cursor;
use eventlog::event::EventType;
use eventlog::header::Header;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::is_undated;

/// What is wanted of a log. Whatever is `None` limits nothing.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// From when on.
    pub from: Option<Nanos>,
    /// Until when; an event at that time is not wanted.
    pub to: Option<Nanos>,
    /// Of which capabilities.
    pub caps: Option<FxHashSet<CapId>>,
    /// About which threads, or on a capability while it ran one of them.
    pub threads: Option<FxHashSet<ThreadId>>,
    /// Of which types.
    pub types: Option<FxHashSet<EventType>>,
    /// Of which types nothing is wanted, not even what later events refer to.
    pub left_out: FxHashSet<EventType>,
}

/// How much of a log was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutCounts {
    /// Events that the log has.
    pub read: u64,
    /// Events that the new log has.
    pub written: u64,
    /// Events that were left out because they may hold texts that nobody could replace.
    pub unknown: u64,
    /// Bytes of the new log.
    pub bytes: u64,
}

/// Writes a part of the log that is read into it.
///
/// Of what is before the part those events stay to which later ones may refer: see
/// [`definition`](super::definition). Times stay as they are. An event that the runtime
/// dates back (the end of a collection) is of the part in which the event before it is.
#[derive(Debug)]
pub struct Cut<W> {
    selection: Selection,
    anonymiser: Option<Anonymiser>,
    writer: LogWriter<W>,
    header: Option<Arc<Header>>,
    running: Vec<Option<ThreadId>>,
    latest: Nanos,
    payload: Vec<u8>,
    counts: CutCounts,
    /// Why nothing more could be written.
    failed: Option<io::Error>,
}

impl<W: Write> Cut<W> {
    /// Writes what is wanted to `out`, with texts replaced if there is an `anonymiser`.
    #[must_use]
    pub fn new(selection: Selection, anonymiser: Option<Anonymiser>, out: W) -> Self {
        Self {
            selection,
            anonymiser,
            writer: LogWriter::new(out),
            header: None,
            running: Vec::new(),
            latest: Nanos(0),
            payload: Vec::new(),
            counts: CutCounts::default(),
            failed: None,
        }
    }

    /// Ends the log: all events were read. `header` is that of the log, should it have none.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(mut self, header: Option<&Header>) -> io::Result<(W, CutCounts)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if !self.writer.has_begun()
            && let Some(header) = header
        {
            self.begin(header)?;
        }
        let (out, bytes) = self.writer.finish()?;
        let counts = CutCounts {
            bytes,
            ..self.counts
        };
        Ok((out, counts))
    }

    /// Follows a log to which another is appended.
    fn follow(&mut self, header: &Arc<Header>) -> io::Result<()> {
        if self
            .header
            .as_ref()
            .is_some_and(|own| Arc::ptr_eq(own, header))
        {
            return Ok(());
        }
        self.header = Some(Arc::clone(header));
        self.latest = Nanos(0);
        self.running.clear();
        self.begin(header)
    }

    fn begin(&mut self, header: &Header) -> io::Result<()> {
        let Some(anonymiser) = &mut self.anonymiser else {
            return self.writer.begin_as(header);
        };
        let types = anonymiser.declared_types(header);
        let types = types.iter();
        self.writer
            .begin(types.map(|(id, size, description)| (*id, *size, description.as_str())))
    }

    fn is_wanted(&mut self, record: &Record<'_>) -> bool {
        let about_thread = self.is_about_thread(record);
        if !is_undated(record.id.0) {
            self.latest = self.latest.max(record.time);
        }
        let wanted = &self.selection;
        if wanted.to.is_some_and(|to| self.latest >= to) || wanted.left_out.contains(&record.id) {
            return false;
        }
        let of_cap = |caps: &FxHashSet<CapId>| record.cap.is_some_and(|cap| caps.contains(&cap));
        let inside = about_thread
            && wanted.from.is_none_or(|from| self.latest >= from)
            && wanted.caps.as_ref().is_none_or(of_cap)
            && (wanted.types.as_ref()).is_none_or(|types| types.contains(&record.id));
        inside || is_definition(record)
    }

    /// Whether an event is about a thread that is wanted, or happens while one runs.
    fn is_about_thread(&mut self, record: &Record<'_>) -> bool {
        let Some(threads) = &self.selection.threads else {
            return true;
        };
        let own = own_thread(record);
        let ran = record.cap.and_then(|cap| {
            let at = usize::from(cap.0);
            if at >= self.running.len() {
                self.running.resize(at + 1, None);
            }
            match record.id {
                EventType::RUN_THREAD => self.running[at] = own,
                EventType::STOP_THREAD => self.running[at] = None,
                _ => {}
            }
            self.running[at]
        });
        own.or(ran).is_some_and(|thread| threads.contains(&thread))
    }

    fn write(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.follow(record.header)?;
        self.counts.read += 1;
        if !self.is_wanted(record) {
            return Ok(());
        }
        let mut event = NewEvent::from(record);
        if let Some(anonymiser) = &mut self.anonymiser {
            if !anonymiser.rewrite(record, &mut self.payload) {
                self.counts.unknown += 1;
                return Ok(());
            }
            event.payload = &self.payload;
        }
        self.counts.written += 1;
        self.writer.event(&event)
    }
}

/// The thread that an event is about: its first field.
fn own_thread(record: &Record<'_>) -> Option<ThreadId> {
    let is_known = EventSet::OF_A_THREAD.contains(record.id) && record.header.knows(record.id);
    let mut fields = Cursor::new(record.payload, record.header.stop_codes);
    is_known.then(|| fields.field()).flatten()
}

impl<W: Write> Sink for Cut<W> {
    fn event(&mut self, record: &Record<'_>) {
        if self.failed.is_none() {
            self.failed = self.write(record).err();
        }
    }
}
