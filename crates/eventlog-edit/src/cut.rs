//! A part of a log, as a log.

use std::io::{self, Write};
use std::sync::Arc;

use super::anonymous::Anonymiser;
use super::boundary::{Activity, EntryState, ExitState, OwnedEvent, own_thread, slot};
use super::definition::is_definition;
use super::writer::{LogWriter, NewEvent};
use eventlog::Event;
use eventlog::Record;
use eventlog::Sink;
use eventlog::event::EventType;
use eventlog::hash::SeededSet;
use eventlog::header::Header;
use eventlog::ids::{ByteOffset, CapId, Nanos, ThreadId};
use eventlog::is_undated;

/// What is wanted of a log. Whatever is `None` limits nothing.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// From when on.
    pub from: Option<Nanos>,
    /// Until when; an event at that time is not wanted.
    pub to: Option<Nanos>,
    /// Of which capabilities.
    pub caps: Option<SeededSet<CapId>>,
    /// About which threads, or on a capability while it ran one of them.
    pub threads: Option<SeededSet<ThreadId>>,
    /// Of which types.
    pub types: Option<SeededSet<EventType>>,
    /// Of which types nothing is wanted, not even what later events refer to.
    pub left_out: SeededSet<EventType>,
}

impl Selection {
    /// Whether a range of time is wanted.
    const fn has_range(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
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
/// [`definition`](super::definition). Of a range the events outside of it stay on which its numbers
/// depend, and [`EventType::CUT_RANGE`] is written: who analyses the new log gets the numbers that the range
/// has in the whole log. Times stay as they are. An event that the runtime
/// dates back (the end of a collection) is of the part in which the event before it is.
#[derive(Debug)]
pub struct Cut<W> {
    selection: Selection,
    anonymiser: Option<Anonymiser>,
    writer: LogWriter<W>,
    header: Option<Arc<Header>>,
    activity: Activity,
    /// Until the range begins.
    entry: Option<EntryState>,
    /// Once the range has ended.
    exit: Option<ExitState>,
    extents: Extents,
    latest: Nanos,
    payload: Vec<u8>,
    counts: CutCounts,
    /// Why nothing more could be written.
    failed: Option<io::Error>,
}

/// Where a time is.
enum Place {
    Before,
    Inside,
    Behind,
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
            activity: Activity::default(),
            entry: None,
            exit: None,
            extents: Extents::default(),
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
        self.end_log()?;
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
        self.end_log()?;
        self.header = Some(Arc::clone(header));
        self.latest = Nanos(0);
        self.activity = Activity::default();
        self.exit = None;
        self.entry = self.selection.from.map(|_| EntryState::default());
        self.begin(header)
    }

    /// Declares the types of the log, and that of the range where it is cut.
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        let types = match &mut self.anonymiser {
            Some(anonymiser) => anonymiser.declared_types(header),
            None => {
                let types = header.types.iter();
                types
                    .map(|decl| (decl.id, decl.size, decl.description.to_string()))
                    .collect()
            }
        };
        let cut = (EventType::CUT_RANGE, Some(CUT_RANGE_BYTES), CUT_RANGE_NAME);
        let needs_type = self.selection.has_range() && header.decl(EventType::CUT_RANGE).is_none();
        let types = types
            .iter()
            .map(|(id, size, description)| (*id, *size, description.as_str()));
        self.writer.begin(types.chain(needs_type.then_some(cut)))
    }

    /// Writes what is left of a log whose events were all read.
    fn end_log(&mut self) -> io::Result<()> {
        let Some(header) = self.header.take() else {
            return Ok(());
        };
        self.write_entry(&header)?;
        let extents = std::mem::take(&mut self.extents);
        let can_declare = header
            .decl(EventType::CUT_RANGE)
            .is_none_or(|decl| decl.known);
        if self.selection.has_range() && can_declare {
            let range = extents.range(&self.selection);
            for (event, payload) in extents.events(range) {
                self.counts.written += 1;
                let payload = &payload;
                self.writer.event(&NewEvent { payload, ..event })?;
            }
        }
        Ok(())
    }

    fn place(&self) -> Place {
        let is_from = |from| self.latest >= from;
        if self.selection.to.is_some_and(is_from) {
            Place::Behind
        } else if self.selection.from.is_none_or(is_from) {
            Place::Inside
        } else {
            Place::Before
        }
    }

    /// Whether an event is wanted, wherever its time is.
    fn is_wanted(&self, record: &Record<'_>) -> bool {
        let wanted = &self.selection;
        if wanted.left_out.contains(&record.id) {
            return false;
        }
        let of_cap = |caps: &SeededSet<CapId>| record.cap.is_some_and(|cap| caps.contains(&cap));
        let is_chosen = self.is_about_thread(record)
            && wanted.caps.as_ref().is_none_or(of_cap)
            && (wanted.types.as_ref()).is_none_or(|types| types.contains(&record.id));
        is_chosen || is_definition(record)
    }

    /// Whether an event is about a thread that is wanted, or happens while one runs.
    fn is_about_thread(&self, record: &Record<'_>) -> bool {
        let Some(threads) = &self.selection.threads else {
            return true;
        };
        let ran = || self.activity.running(record.cap);
        own_thread(record)
            .or_else(ran)
            .is_some_and(|thread| threads.contains(&thread))
    }

    fn write(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.follow(record.header)?;
        self.counts.read += 1;
        if !is_undated(record.id.0) {
            self.latest = self.latest.max(record.time);
        }
        if self.selection.has_range() && self.extents.note(record) {
            return Ok(());
        }
        let is_wanted = self.is_wanted(record);
        match self.place() {
            Place::Before => {
                let (entry, activity) = (&mut self.entry, &mut self.activity);
                match entry {
                    Some(entry) if is_wanted && !(entry.is_empty() && is_definition(record)) => {
                        entry.note(record, activity);
                        return Ok(());
                    }
                    _ => activity.note(record),
                }
                if is_wanted { self.put(record) } else { Ok(()) }
            }
            Place::Inside => {
                self.write_entry(record.header)?;
                self.activity.note(record);
                if is_wanted { self.put(record) } else { Ok(()) }
            }
            Place::Behind => {
                self.write_entry(record.header)?;
                let end = self.selection.to.unwrap_or_default();
                let exit = || ExitState::new(self.activity.clone(), end);
                let exit = self.exit.get_or_insert_with(exit);
                let is_needed = exit.needs(record);
                let before = exit.take_before();
                if is_wanted && is_needed {
                    if let Some(event) = before {
                        self.put_owned(&event, record.header)?;
                    }
                    self.put(record)
                } else {
                    Ok(())
                }
            }
        }
    }

    /// Writes the events that were before the range.
    fn write_entry(&mut self, header: &Arc<Header>) -> io::Result<()> {
        let Some(entry) = self.entry.take() else {
            return Ok(());
        };
        for event in entry.into_events(&self.activity) {
            self.put_owned(&event, header)?;
        }
        Ok(())
    }

    fn put_owned(&mut self, event: &OwnedEvent, header: &Arc<Header>) -> io::Result<()> {
        self.put(&Record {
            offset: ByteOffset(0),
            id: event.id,
            time: event.time,
            cap: event.cap,
            payload: &event.payload,
            header,
        })
    }

    fn put(&mut self, record: &Record<'_>) -> io::Result<()> {
        let mut event = NewEvent::from(record);
        if let Some(anonymiser) = &mut self.anonymiser {
            if !anonymiser.rewrite(record, &mut self.payload) {
                self.counts.unknown += 1;
                return Ok(());
            }
            event.payload = &self.payload;
        }
        self.extents.wrote(record);
        self.counts.written += 1;
        self.writer.event(&event)
    }
}

/// What headers call [`EventType::CUT_RANGE`].
pub(crate) const CUT_RANGE_NAME: &str = "Range that the log was cut to";
/// Bytes of its payload.
const CUT_RANGE_BYTES: u16 = 32;

/// From when to when capabilities have logged, before they were cut.
#[derive(Debug, Default)]
struct Extents {
    /// First of no capability, then of 0, 1, ...
    streams: Vec<Extent>,
    /// The range that the log was cut to already.
    range: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// The first and the last event.
    events: Option<(u64, u64)>,
    /// The last event that was written.
    written: u64,
}

impl Extent {
    fn add(&mut self, first: u64, last: u64) {
        let own = self.events.unwrap_or((first, last));
        self.events = Some((own.0.min(first), own.1.max(last)));
    }
}

impl Extents {
    /// Takes an event of the log. Whether it is [`EventType::CUT_RANGE`].
    fn note(&mut self, record: &Record<'_>) -> bool {
        let (cap, time) = (record.cap, record.time.0);
        if record.id == EventType::CUT_RANGE
            && let Event::CutRange {
                from,
                to,
                first,
                last,
            } = record.event()
        {
            let (a, b) = self.range.unwrap_or((from, to));
            self.range = Some((a.min(from), b.max(to)));
            slot(&mut self.streams, cap).add(first, last);
            return true;
        }
        if !is_undated(record.id.0) {
            slot(&mut self.streams, None).add(time, time);
            slot(&mut self.streams, cap).add(time, time);
        }
        false
    }

    fn wrote(&mut self, record: &Record<'_>) {
        let written = &mut slot(&mut self.streams, record.cap).written;
        *written = record.time.0.max(*written);
    }

    /// What is selected of the range that the log was cut to already.
    fn range(&self, selection: &Selection) -> (u64, u64) {
        let from = selection.from.map_or(0, |from| from.0);
        let to = selection.to.map_or(u64::MAX, |to| to.0);
        self.range.map_or((from, to), |(first, last)| {
            (from.clamp(first, last), to.clamp(first, last))
        })
    }

    /// The events that declare the range, without and with their payloads.
    fn events(self, (from, to): (u64, u64)) -> impl Iterator<Item = (NewEvent<'static>, Vec<u8>)> {
        let caps = std::iter::once(None).chain((0..=u16::MAX).map(|cap| Some(CapId(cap))));
        caps.zip(self.streams).filter_map(move |(cap, extent)| {
            let (first, last) = extent.events?;
            let event = NewEvent {
                id: EventType::CUT_RANGE,
                time: Nanos(last.min(to).max(extent.written)),
                cap,
                payload: &[],
            };
            let fields = [from, to, first, last].map(u64::to_be_bytes);
            Some((event, fields.concat()))
        })
    }
}

impl<W: Write> Sink for Cut<W> {
    fn event(&mut self, record: &Record<'_>) {
        if self.failed.is_none() {
            self.failed = self.write(record).err();
        }
    }
}
