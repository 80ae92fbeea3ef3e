//! Incremental reading of logs while they are written: from a pipe, a socket, or the end of a growing file.
//!
//! A [`LogReader`](crate::LogReader) seeks in a file; this reader only buffers up to the end of a block and
//! delivers its events as soon as it is complete. Events therefore arrive in file order, sorted by time within
//! each block. A block is written when a capability's buffer is full, so it may come long after other blocks of
//! its time. [`DisplayOrder`](crate::display::DisplayOrder) delays events and sorts them as far as its window
//! reaches.

use std::sync::Arc;

use crate::blocks::MAX_STALE_BYTES;
use crate::header::{Header, MAGIC, Parsed, looks_like};
use crate::ids::{ByteOffset, CapId, Nanos};
use crate::inflate::Compression;
use crate::order::Sink;
use crate::problem::LogError;
use crate::record::{Marker, NoEvent, Record, extent};
use crate::scan::{BlockBoundary, classify_boundary, next_marker};

/// Number of bytes between blocks that suffices for a decision.
const LOOK_BYTES: usize = 1 << 17;

/// Last bytes of a header.
const HEADER_END: &[u8] = b"hdredatb";

/// Schedule for parsing a header that arrives in pieces: often enough to read it as soon as it is complete, and
/// rarely enough that a header without an end takes linear time.
#[derive(Debug, Default)]
struct HeaderTries {
    /// Number of bytes searched for the end of the header.
    searched: usize,
    /// Number of times that an apparent end was found.
    ends: u32,
    /// Length from which the header is parsed in any case.
    next_len: usize,
    /// Total number of bytes parsed.
    parsed_bytes: u64,
}

impl HeaderTries {
    /// Maximum number of apparent ends that cause a parse. No header has as many, unless its descriptions contain
    /// the format's own keywords.
    const MAX_ENDS: u32 = 16;

    fn is_due(&mut self, bytes: &[u8], is_all: bool) -> bool {
        let new = bytes.get(self.searched.saturating_sub(HEADER_END.len())..);
        let has_end = memchr::memmem::find(new.unwrap_or_default(), HEADER_END).is_some();
        self.searched = bytes.len();
        self.ends += u32::from(has_end);
        let ends = has_end && self.ends <= Self::MAX_ENDS;
        let is_due = is_all || ends || bytes.len() >= self.next_len;
        if is_due {
            self.parsed_bytes += bytes.len() as u64;
            self.next_len = bytes.len() + bytes.len() / 4;
        }
        is_due
    }
}

/// Reader of a log that arrives in pieces.
#[derive(Debug, Default)]
pub struct LiveReader {
    /// Bytes not yet read.
    bytes: Vec<u8>,
    /// Offset of these bytes in the log.
    at: u64,
    header: Option<Arc<Header>>,
    header_tries: HeaderTries,
    events: u64,
    lost_bytes: u64,
    /// Whether the bytes are invalid, so that the next marker is searched.
    is_lost: bool,
    has_ended: bool,
    /// Whether the bytes behind the end are not another log.
    is_over: bool,
}

/// Result of an attempt to read from the buffer.
enum Consumed {
    /// This many bytes were read or skipped.
    Bytes(usize),
    /// More bytes are needed.
    Wait,
}

impl LiveReader {
    /// Creates a reader that has received no bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next bytes and delivers the events of all complete blocks.
    ///
    /// # Errors
    /// If the input is not a readable eventlog; then no event of it is delivered.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<(), LogError> {
        self.bytes.extend_from_slice(bytes);
        self.read_buffered(sink, false)
    }

    /// Ends the input and delivers the events of an incomplete block.
    ///
    /// # Errors
    /// If the input is not a readable eventlog.
    pub fn finish(&mut self, sink: &mut impl Sink) -> Result<(), LogError> {
        self.read_buffered(sink, true)?;
        match (&self.header, self.at + self.bytes.len() as u64) {
            (Some(_), _) => Ok(()),
            (None, 0) => Err(LogError::Empty),
            (None, len) => Err(LogError::HeaderCut(len)),
        }
    }

    /// Checks the input when it pauses. A log may have stale bytes before its header, but its writer does not
    /// pause between them.
    ///
    /// # Errors
    /// If the input does not begin like a log.
    pub fn pause(&self) -> Result<(), LogError> {
        if self.header.is_some() || self.bytes.len() < MAGIC.len() || self.bytes.starts_with(MAGIC)
        {
            return Ok(());
        }
        let found = looks_like(&self.bytes);
        Err(LogError::NotAnEventlog { found })
    }

    /// Whether any bytes were received.
    pub fn has_begun(&self) -> bool {
        self.at + self.bytes.len() as u64 > 0
    }

    /// Returns the number of events delivered.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Returns the number of bytes skipped because they are not events.
    pub const fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Returns the number of bytes of incomplete headers that were parsed.
    #[cfg(test)]
    pub(crate) const fn parsed_header_bytes(&self) -> u64 {
        self.header_tries.parsed_bytes
    }

    /// Whether the log contains an end-of-data marker.
    pub const fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn read_buffered(&mut self, sink: &mut impl Sink, is_all: bool) -> Result<(), LogError> {
        // The bytes that were read are removed at the end, all at once.
        let bytes = std::mem::take(&mut self.bytes);
        let mut from = 0;
        let result = loop {
            let rest = &bytes[from..];
            let taken = match &self.header {
                None => self.header(rest, is_all),
                Some(_) if self.is_over => Ok(Consumed::Bytes(rest.len())),
                Some(_) if self.has_ended => Ok(self.after_end(rest, is_all)),
                Some(_) if self.is_lost => Ok(self.look_for_marker(rest, is_all)),
                Some(header) => Ok(self.body(&Arc::clone(header), rest, sink, is_all)),
            };
            match taken {
                Ok(Consumed::Bytes(count)) if !rest.is_empty() => {
                    from += count;
                    self.at += count as u64;
                }
                Ok(_) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.bytes = bytes;
        self.bytes.drain(..from);
        result
    }

    fn header(&mut self, rest: &[u8], is_all: bool) -> Result<Consumed, LogError> {
        if Compression::detect(rest).is_some() {
            let found = "It is compressed: a compressed log cannot be followed.".to_owned();
            return Err(LogError::NotAnEventlog { found });
        }
        if rest.len() < MAGIC.len() {
            return Ok(Consumed::Wait);
        }
        if !rest.starts_with(MAGIC) {
            return self.before_header(rest, is_all);
        }
        if !self.header_tries.is_due(rest, is_all) {
            return Ok(Consumed::Wait);
        }
        Ok(match Header::parse(rest, self.at)? {
            Parsed::Header(header, count) => {
                self.header = Some(Arc::new(*header));
                self.header_tries = HeaderTries::default();
                Consumed::Bytes(count)
            }
            Parsed::NeedMore => Consumed::Wait,
        })
    }

    /// Skips stale bytes before the first header, as few as [`LogReader`](crate::LogReader) does.
    fn before_header(&mut self, rest: &[u8], is_all: bool) -> Result<Consumed, LogError> {
        let near = &rest[..rest.len().min(MAX_STALE_BYTES as usize)];
        if let Some(stale) = memchr::memmem::find(near, b"hdrbhetb") {
            self.lost_bytes += stale as u64;
            return Ok(Consumed::Bytes(stale));
        }
        if near.len() == rest.len() && !is_all {
            return Ok(Consumed::Wait);
        }
        let found = looks_like(rest);
        Err(LogError::NotAnEventlog { found })
    }

    /// Reads a block, or what is between blocks.
    fn body(
        &mut self,
        header: &Arc<Header>,
        rest: &[u8],
        sink: &mut impl Sink,
        is_all: bool,
    ) -> Consumed {
        if rest.is_empty() || (rest.len() < Marker::BYTES && !is_all && !ends(rest)) {
            return Consumed::Wait;
        }
        match classify_boundary(header, &rest[..rest.len().min(LOOK_BYTES)]) {
            BlockBoundary::EndOfData => {
                self.has_ended = true;
                Consumed::Bytes(2)
            }
            BlockBoundary::Block(marker) => {
                let size = marker.size as usize;
                if size > rest.len() && !is_all {
                    return Consumed::Wait;
                }
                let block = &rest[..size.min(rest.len())];
                self.events_of(header, block, Marker::BYTES, marker.cap, sink);
                Consumed::Bytes(block.len())
            }
            // The decision about bytes between blocks depends on what follows them, so it must not depend on the
            // pieces.
            BlockBoundary::Event | BlockBoundary::Junk if rest.len() < LOOK_BYTES && !is_all => {
                Consumed::Wait
            }
            BlockBoundary::Event => match extent(header, rest) {
                Ok(event) => {
                    self.events_of(header, &rest[..event.end], 0, None, sink);
                    Consumed::Bytes(event.end)
                }
                Err(_) => Consumed::Wait,
            },
            BlockBoundary::EndOfFile => Consumed::Wait,
            BlockBoundary::Header => {
                self.header = None;
                Consumed::Bytes(0)
            }
            BlockBoundary::Junk => {
                self.is_lost = true;
                Consumed::Bytes(0)
            }
        }
    }

    /// Skips damaged bytes up to the next marker.
    fn look_for_marker(&mut self, rest: &[u8], is_all: bool) -> Consumed {
        let marker = next_marker(rest).map(|(at, _)| at);
        self.is_lost = marker.is_none();
        // The buffer may end inside a marker.
        let sure = match is_all {
            true => rest.len(),
            false => (rest.len() + 1).saturating_sub(Marker::BYTES),
        };
        let passed = marker.unwrap_or(sure);
        self.lost_bytes += passed as u64;
        match passed {
            0 if self.is_lost => Consumed::Wait,
            passed => Consumed::Bytes(passed),
        }
    }

    /// Skips the bytes behind the end of a log, unless another log begins there.
    fn after_end(&mut self, rest: &[u8], is_all: bool) -> Consumed {
        if rest.starts_with(MAGIC) {
            self.header = None;
            self.has_ended = false;
            return Consumed::Bytes(0);
        }
        if MAGIC.starts_with(rest) && !is_all {
            return Consumed::Wait;
        }
        self.is_over = true;
        Consumed::Bytes(0)
    }

    /// Delivers the consecutive events from `from` on.
    fn events_of(
        &mut self,
        header: &Arc<Header>,
        bytes: &[u8],
        from: usize,
        cap: Option<CapId>,
        sink: &mut impl Sink,
    ) {
        let mut from = from;
        while from < bytes.len() {
            let event = match extent(header, &bytes[from..]) {
                Ok(event) => event,
                Err(why) => {
                    self.has_ended |= why == NoEvent::EndOfData;
                    let left = (bytes.len() - from) as u64;
                    self.lost_bytes += if self.has_ended { left - 2 } else { left };
                    return;
                }
            };
            self.events += 1;
            sink.event(&Record {
                offset: ByteOffset(self.at + from as u64),
                id: crate::event::EventType(event.id),
                time: event.time,
                cap,
                payload: &bytes[from + event.payload..from + event.end],
                header,
            });
            from += event.end;
        }
    }
}

/// Whether `bytes` start with the end-of-data marker.
fn ends(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xFF, 0xFF])
}

/// Statistics of late events, which arrive after later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateStats {
    /// Number of late events.
    pub events: u64,
    /// Maximum lateness in nanoseconds.
    pub most_ns: u64,
    latest: Nanos,
}

impl LateStats {
    /// Records the time of the next event. Returns its lateness in nanoseconds, if it is late.
    pub fn observe(&mut self, time: Nanos) -> Option<u64> {
        if time >= self.latest {
            self.latest = time;
            return None;
        }
        let late_ns = self.latest.0 - time.0;
        self.events += 1;
        self.most_ns = self.most_ns.max(late_ns);
        Some(late_ns)
    }
}
