//! Cuts a log: writes a part of it as a log.

use std::io::{self, Write};
use std::sync::Arc;

use super::anonymous::Anonymizer;
use super::boundary::{Activity, EntryState, ExitState, OwnedEvent, own_thread, slot};
use super::definition::is_definition;
use super::writer::{LogWriter, NewEvent};
use eventlog::Event;
use eventlog::LogReader;
use eventlog::Record;
use eventlog::Sink;
use eventlog::event::EventType;
use eventlog::hash::SeededSet;
use eventlog::header::Header;
use eventlog::ids::{ByteOffset, CapId, Nanos, ThreadId};
use eventlog::is_undated;

/// Filter for the events of a log. `None` does not restrict anything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Start of the range.
    pub from: Option<Nanos>,
    /// End of the range, exclusive.
    pub to: Option<Nanos>,
    /// Capabilities to keep.
    pub caps: Option<SeededSet<CapId>>,
    /// Threads to keep: events about them, and those on a capability that runs one of them.
    pub threads: Option<SeededSet<ThreadId>>,
    /// Event types to keep.
    pub types: Option<SeededSet<EventType>>,
    /// Event types to drop completely, even if later events refer to them.
    pub excluded: SeededSet<EventType>,
}

impl Selection {
    /// Whether the filter restricts time.
    const fn has_range(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
}

/// Statistics of a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutCounts {
    /// Number of events in the log.
    pub read: u64,
    /// Number of events in the new log.
    pub written: u64,
    /// Number of events dropped because they may contain texts that cannot be identified and replaced.
    pub unknown: u64,
    /// Size of the new log in bytes.
    pub bytes: u64,
}

/// Sink that writes a part of a log.
///
/// Of the events before the part, those are kept to which later ones may refer: see
/// [`definition`](super::definition). For a range, the events outside it on which its metrics depend are kept as
/// well, and [`EventType::CUT_RANGE`] is written: an analysis of the new log yields the metrics that the range has
/// in the whole log. Times are unchanged. An event that the runtime back-dates (the end of a collection) belongs
/// to the same part as the event before it.
#[derive(Debug)]
pub struct Cut<W> {
    selection: Selection,
    anonymizer: Option<Anonymizer>,
    writer: LogWriter<W>,
    header: Option<Arc<Header>>,
    activity: Activity,
    /// `Some` until the range begins.
    entry: Option<EntryState>,
    /// `Some` once the range has ended.
    exit: Option<ExitState>,
    log_times: LogTimes,
    latest: Nanos,
    payload: Vec<u8>,
    counts: CutCounts,
    /// The error of a failed write, after which nothing is written.
    failed: Option<io::Error>,
}

/// Position of a time relative to the range.
enum TimePosition {
    Before,
    Inside,
    Behind,
}

impl<W: Write> Cut<W> {
    /// Creates a cut that writes to `out`, with texts replaced if there is an `anonymizer`.
    pub fn new(selection: Selection, anonymizer: Option<Anonymizer>, out: W) -> Self {
        Self {
            selection,
            anonymizer,
            writer: LogWriter::new(out),
            header: None,
            activity: Activity::default(),
            entry: None,
            exit: None,
            log_times: LogTimes::default(),
            latest: Nanos(0),
            payload: Vec::new(),
            counts: CutCounts::default(),
            failed: None,
        }
    }

    /// Completes the new log after `reader` has read all events. If the log lacks its end, so does the new one: what
    /// the last buffers contained is as unknown there.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self, reader: &LogReader) -> io::Result<(W, CutCounts)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.end_log()?;
        if !self.writer.has_begun()
            && let Some(header) = reader.header()
        {
            self.begin(header)?;
        }
        let (out, bytes) = if reader.has_end() {
            self.writer.finish()?
        } else {
            self.writer.finish_without_end()?
        };
        let counts = CutCounts {
            bytes,
            ..self.counts
        };
        Ok((out, counts))
    }

    /// Starts a new section when the log has another header.
    fn switch_section(&mut self, header: &Arc<Header>) -> io::Result<()> {
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

    /// Declares the types of the log, and `CUT_RANGE` if a range is cut.
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        let types = match &mut self.anonymizer {
            Some(anonymizer) => anonymizer.declared_types(header),
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

    /// Writes the remaining events of a section.
    fn end_log(&mut self) -> io::Result<()> {
        let Some(header) = self.header.take() else {
            return Ok(());
        };
        self.write_entry(&header)?;
        let log_times = std::mem::take(&mut self.log_times);
        let can_declare = header
            .decl(EventType::CUT_RANGE)
            .is_none_or(|decl| decl.known);
        if self.selection.has_range() && can_declare {
            let range = log_times.range(&self.selection);
            for (event, payload) in log_times.events(range) {
                self.counts.written += 1;
                let payload = &payload;
                self.writer.event(&NewEvent { payload, ..event })?;
            }
        }
        Ok(())
    }

    fn time_position(&self) -> TimePosition {
        let is_from = |from| self.latest >= from;
        if self.selection.to.is_some_and(is_from) {
            TimePosition::Behind
        } else if self.selection.from.is_none_or(is_from) {
            TimePosition::Inside
        } else {
            TimePosition::Before
        }
    }

    /// Whether an event passes the filter, irrespective of its time.
    fn is_wanted(&self, record: &Record<'_>) -> bool {
        let wanted = &self.selection;
        if wanted.excluded.contains(&record.id) {
            return false;
        }
        let of_cap = |caps: &SeededSet<CapId>| record.cap.is_some_and(|cap| caps.contains(&cap));
        let is_chosen = self.is_about_thread(record)
            && wanted.caps.as_ref().is_none_or(of_cap)
            && (wanted.types.as_ref()).is_none_or(|types| types.contains(&record.id));
        is_chosen || is_definition(record)
    }

    /// Whether an event is about a selected thread, or occurs while one runs.
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
        self.switch_section(record.header)?;
        self.counts.read += 1;
        if !is_undated(record.id.0) {
            self.latest = self.latest.max(record.time);
        }
        if self.selection.has_range() && self.log_times.observe(record) {
            return Ok(());
        }
        let is_wanted = self.is_wanted(record);
        match self.time_position() {
            TimePosition::Before => {
                let (entry, activity) = (&mut self.entry, &mut self.activity);
                match entry {
                    Some(entry) if is_wanted && !(entry.is_empty() && is_definition(record)) => {
                        entry.observe(record, activity);
                        return Ok(());
                    }
                    _ => activity.observe(record),
                }
                if is_wanted {
                    self.write_event(record)
                } else {
                    Ok(())
                }
            }
            TimePosition::Inside => {
                self.write_entry(record.header)?;
                self.activity.observe(record);
                if is_wanted {
                    self.write_event(record)
                } else {
                    Ok(())
                }
            }
            TimePosition::Behind => {
                self.write_entry(record.header)?;
                let end = self.selection.to.unwrap_or_default();
                let exit = || ExitState::new(self.activity.clone(), end);
                let exit = self.exit.get_or_insert_with(exit);
                let is_needed = exit.observe_is_needed(record);
                let before = exit.take_before();
                if is_wanted && is_needed {
                    if let Some(event) = before {
                        self.write_owned(&event, record.header)?;
                    }
                    self.write_event(record)
                } else {
                    Ok(())
                }
            }
        }
    }

    /// Writes the events before the range.
    fn write_entry(&mut self, header: &Arc<Header>) -> io::Result<()> {
        let Some(entry) = self.entry.take() else {
            return Ok(());
        };
        for event in entry.into_events(&self.activity) {
            self.write_owned(&event, header)?;
        }
        Ok(())
    }

    fn write_owned(&mut self, event: &OwnedEvent, header: &Arc<Header>) -> io::Result<()> {
        self.write_event(&Record {
            offset: ByteOffset(0),
            id: event.id,
            time: event.time,
            cap: event.cap,
            payload: &event.payload,
            header,
        })
    }

    fn write_event(&mut self, record: &Record<'_>) -> io::Result<()> {
        let mut event = NewEvent::from(record);
        if let Some(anonymizer) = &mut self.anonymizer {
            if !anonymizer.rewrite(record, &mut self.payload) {
                self.counts.unknown += 1;
                return Ok(());
            }
            event.payload = &self.payload;
        }
        self.log_times.record_written(record);
        self.counts.written += 1;
        self.writer.event(&event)
    }
}

/// Description of [`EventType::CUT_RANGE`] in headers.
pub(crate) const CUT_RANGE_NAME: &str = "Range that the log was cut to";
/// Payload size of [`EventType::CUT_RANGE`].
const CUT_RANGE_BYTES: u16 = 32;

/// First and last event times of each capability, before the cut.
#[derive(Debug, Default)]
struct LogTimes {
    /// By [`cap_index`](super::boundary::cap_index).
    streams: Vec<TimeRange>,
    /// The range that the input was already cut to.
    range: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TimeRange {
    /// Times of the first and the last event.
    events: Option<(u64, u64)>,
    /// Time of the last event written.
    written: u64,
}

impl TimeRange {
    fn add(&mut self, first: u64, last: u64) {
        let own = self.events.unwrap_or((first, last));
        self.events = Some((own.0.min(first), own.1.max(last)));
    }
}

impl LogTimes {
    /// Records an event of the log. Returns whether it is [`EventType::CUT_RANGE`].
    fn observe(&mut self, record: &Record<'_>) -> bool {
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

    fn record_written(&mut self, record: &Record<'_>) {
        let written = &mut slot(&mut self.streams, record.cap).written;
        *written = record.time.0.max(*written);
    }

    /// Returns the selected range, clamped to the one that the input was already cut to.
    fn range(&self, selection: &Selection) -> (u64, u64) {
        let from = selection.from.map_or(0, |from| from.0);
        let to = selection.to.map_or(u64::MAX, |to| to.0);
        self.range.map_or((from, to), |(first, last)| {
            (from.clamp(first, last), to.clamp(first, last))
        })
    }

    /// Returns the events that declare the range, each with an empty payload and the payload to use.
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
