//! Groups events into blocks.
//!
//! Readers merge blocks by time, and break ties by the order of blocks in the file. To preserve the order in which
//! events were written, blocks are written in the order in which they were begun, and an event that must follow
//! one of another capability at the same time is never put into an earlier block. Events of several processes at
//! the same time need no order, only those of one process do.

use std::collections::VecDeque;
use std::io::{self, Write};

use eventlog::encode::header_bytes;
use eventlog::event::EventType;
use eventlog::header::{BLOCK_MARKER, END_OF_DATA};
use eventlog::ids::{CapId, Nanos};
use eventlog::is_undated;
use eventlog::record::{Marker, PREFIX, Record};

/// Maximum size of a block ...
const MAX_BLOCK_BYTES: usize = 1 << 20;
/// ... unless there are so many capabilities that all blocks would exceed this limit.
const ALL_BLOCKS_BYTES: usize = 64 << 20;
/// Minimum of the maximum size.
const MIN_BLOCK_BYTES: usize = 16 << 10;
/// Encoding of "no capability".
const NO_CAP: u16 = 0xFFFF;

/// An event to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewEvent<'a> {
    /// Event type, which the header must declare.
    pub id: EventType,
    /// Timestamp of the event.
    pub time: Nanos,
    /// The capability to whose block the event is added.
    pub cap: Option<CapId>,
    /// Payload bytes, without type, time and length.
    pub payload: &'a [u8],
}

impl<'a> From<&Record<'a>> for NewEvent<'a> {
    fn from(record: &Record<'a>) -> Self {
        Self {
            id: record.id,
            time: record.time,
            cap: record.cap,
            payload: record.payload,
        }
    }
}

/// The block of a capability that is being filled.
#[derive(Debug, Default)]
struct OpenBlock {
    /// Sequence number of the block; 0 if the capability has no open block.
    place: u64,
    /// Its events, after space for the marker.
    bytes: Vec<u8>,
    /// Times of the first and the last event.
    times: Option<(Nanos, Nanos)>,
    /// Start of the last collection in the block: its end may be back-dated to it.
    collection: Nanos,
}

/// Writer of a log in blocks.
///
/// ```
/// use eventlog::ids::{CapId, Nanos};
/// use eventlog::source::read_log;
/// use eventlog_edit::{LogWriter, NewEvent};
/// use eventlog::{EventType, Record};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let types = [(EventType::BLOCK_MARKER, Some(14), "Block marker"), (EventType::USER_MSG, None, "User message")];
/// let mut writer = LogWriter::new(Vec::new());
/// writer.begin(types)?;
/// writer.event(&NewEvent {
///     id: EventType::USER_MSG,
///     time: Nanos(7),
///     cap: Some(CapId(0)),
///     payload: b"hello",
/// })?;
/// let (log, bytes) = writer.finish()?;
/// assert_eq!(log.len() as u64, bytes);
/// let mut events = 0;
/// let reader = read_log(&mut log.as_slice(), &mut |record: &Record<'_>| {
///     assert_eq!((record.time, record.payload), (Nanos(7), &b"hello"[..]));
///     events += 1;
/// })?;
/// assert_eq!((events, reader.damage().count()), (1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LogWriter<W> {
    out: W,
    written_bytes: u64,
    /// Whether a log is begun and not ended.
    begun: bool,
    /// Bitmap of the types whose events carry their length.
    variable: Box<[u64; 1024]>,
    /// The block of each capability; the first is for events without one, then 0, 1, ...
    open: Vec<OpenBlock>,
    /// Indices of the open blocks, in the order in which they were begun.
    order: VecDeque<usize>,
    begun_blocks: u64,
    /// For each process, the latest time so far, and the last block with an event of that time.
    latest: Vec<(Nanos, u64)>,
}

impl<W: Write> LogWriter<W> {
    /// Creates a writer to `out`.
    pub fn new(out: W) -> Self {
        Self {
            out,
            written_bytes: 0,
            begun: false,
            variable: Box::new([0; 1024]),
            open: Vec::new(),
            order: VecDeque::new(),
            begun_blocks: 0,
            latest: Vec::new(),
        }
    }

    /// Whether a header was written.
    pub const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Begins a log with the given types: number, payload size in bytes (`None` if each event carries its length),
    /// description. Ends a previous log: a file may contain several.
    ///
    /// # Errors
    /// If writing fails.
    pub fn begin<'a>(
        &mut self,
        types: impl IntoIterator<Item = (EventType, Option<u16>, &'a str), IntoIter: Clone>,
    ) -> io::Result<()> {
        self.end()?;
        let types = types.into_iter();
        self.variable.fill(0);
        for (id, size, _) in types.clone() {
            // Of several declarations, the last one wins.
            let (word, bit) = (usize::from(id.0 >> 6), 1 << (id.0 & 63));
            self.variable[word] &= !bit;
            if size.is_none() {
                self.variable[word] |= bit;
            }
        }
        self.begun = true;
        self.latest.clear();
        let header = header_bytes(types);
        self.write_bytes(&header)
    }

    /// Writes an event.
    ///
    /// # Errors
    /// If writing fails.
    pub fn event(&mut self, event: &NewEvent<'_>) -> io::Result<()> {
        self.event_of_process(0, event)
    }

    /// Writes an event of one of several processes. Events at the same time keep their order only within a
    /// process.
    ///
    /// # Errors
    /// If writing fails.
    pub fn event_of_process(&mut self, process: usize, event: &NewEvent<'_>) -> io::Result<()> {
        let NewEvent { id, time, .. } = *event;
        let at = event.cap.map_or(0, |cap| usize::from(cap.0) + 1);
        if at >= self.open.len() {
            self.open.resize_with(at + 1, OpenBlock::default);
        }
        if process >= self.latest.len() {
            self.latest.resize(process + 1, (Nanos(0), 0));
        }
        let latest = self.latest[process];
        let undated = is_undated(id.0);
        let open = &self.open[at];
        if open.place != 0 {
            // It must follow an event of the same time in a later block.
            if !undated && time == latest.0 && open.place < latest.1 {
                self.write_blocks(latest.1)?;
            } else if !undated && !open.may_follow(id, time) {
                self.write_blocks(open.place)?;
            }
        }
        let open = &mut self.open[at];
        if open.place == 0 {
            self.begun_blocks += 1;
            open.begin(self.begun_blocks);
            self.order.push_back(at);
        }
        let (word, bit) = (usize::from(id.0 >> 6), 1 << (id.0 & 63));
        open.push(event, self.variable[word] & bit != 0);
        if !undated {
            open.note(id, time);
            let latest = &mut self.latest[process];
            if time > latest.0 {
                *latest = (time, open.place);
            } else if time == latest.0 {
                latest.1 = latest.1.max(open.place);
            }
        }
        let share = ALL_BLOCKS_BYTES / self.order.len().max(1);
        if open.bytes.len() >= share.clamp(MIN_BLOCK_BYTES, MAX_BLOCK_BYTES) {
            let place = open.place;
            self.write_blocks(place)?;
        }
        Ok(())
    }

    /// Writes the blocks up to the one with sequence number `to`.
    fn write_blocks(&mut self, to: u64) -> io::Result<()> {
        while let Some(&at) = self.order.front()
            && self.open[at].place <= to
        {
            self.order.pop_front();
            let cap = at.checked_sub(1).and_then(|cap| u16::try_from(cap).ok());
            let open = &mut self.open[at];
            open.write_marker(cap.unwrap_or(NO_CAP));
            self.out.write_all(&open.bytes)?;
            self.written_bytes += open.bytes.len() as u64;
            open.end();
        }
        Ok(())
    }

    /// Ends the current log.
    fn end(&mut self) -> io::Result<()> {
        self.write_blocks(u64::MAX)?;
        if std::mem::take(&mut self.begun) {
            self.write_bytes(&END_OF_DATA.to_be_bytes())?;
        }
        Ok(())
    }

    /// Ends the log. Returns the output and its size in bytes.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        self.end()?;
        self.finish_without_end()
    }

    /// Completes the log without an end marker, as the log of a program that was killed. Returns the output and its
    /// size in bytes.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish_without_end(mut self) -> io::Result<(W, u64)> {
        self.write_blocks(u64::MAX)?;
        self.out.flush()?;
        Ok((self.out, self.written_bytes))
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written_bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

impl OpenBlock {
    fn begin(&mut self, place: u64) {
        self.place = place;
        self.bytes.resize(Marker::BYTES, 0);
        self.times = None;
        self.collection = Nanos(0);
    }

    fn end(&mut self) {
        self.place = 0;
        self.bytes.clear();
    }

    /// Whether an event may follow those in the block: it is not earlier, or is the back-dated end of a
    /// collection.
    fn may_follow(&self, id: EventType, time: Nanos) -> bool {
        let Some((_, last)) = self.times else {
            return true;
        };
        let earliest = if id == EventType::GC_END {
            self.collection
        } else {
            last
        };
        earliest <= time
    }

    fn note(&mut self, id: EventType, time: Nanos) {
        if id == EventType::GC_START {
            self.collection = time;
        }
        self.times = Some(match self.times {
            None => {
                self.collection = time;
                (time, time)
            }
            Some((first, last)) => (first.min(time), last.max(time)),
        });
    }

    fn push(&mut self, event: &NewEvent<'_>, is_variable: bool) {
        let mut prefix = [0; PREFIX + 2];
        prefix[..2].copy_from_slice(&event.id.0.to_be_bytes());
        prefix[2..PREFIX].copy_from_slice(&event.time.0.to_be_bytes());
        if is_variable {
            let len = u16::try_from(event.payload.len()).unwrap_or(u16::MAX);
            prefix[PREFIX..].copy_from_slice(&len.to_be_bytes());
            self.bytes.extend_from_slice(&prefix);
            let payload = &event.payload[..usize::from(len)];
            self.bytes.extend_from_slice(payload);
        } else {
            self.bytes.extend_from_slice(&prefix[..PREFIX]);
            self.bytes.extend_from_slice(event.payload);
        }
    }

    /// Fills in the marker before the events.
    fn write_marker(&mut self, cap: u16) {
        let (first, last) = self.times.unwrap_or_default();
        let size = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let Some(marker) = self.bytes.get_mut(..Marker::BYTES) else {
            return;
        };
        marker[..2].copy_from_slice(&BLOCK_MARKER.to_be_bytes());
        marker[2..10].copy_from_slice(&first.0.to_be_bytes());
        marker[10..14].copy_from_slice(&size.to_be_bytes());
        marker[14..22].copy_from_slice(&last.0.to_be_bytes());
        marker[22..24].copy_from_slice(&cap.to_be_bytes());
    }
}
