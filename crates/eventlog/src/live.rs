//! Logs that come piece by piece and are read as they come: from a pipe, a socket, the end of
//! a file that grows.
//!
//! A [`LogReader`](crate::LogReader) jumps through a file. Here nothing is waited for but the
//! end of a block: its events are delivered as soon as it is whole. So they come in the order of
//! the file, each block's by time; a block is written when a capability's buffer is full, so that
//! one may come long after others of its time. [`DisplayOrder`](crate::display::DisplayOrder)
//! holds them back and puts them in order as far as its window reaches.

use std::sync::Arc;

use crate::blocks::MAX_STALE_BYTES;
use crate::header::{Header, MAGIC, Parsed, looks_like};
use crate::ids::{ByteOffset, CapId, Nanos};
use crate::inflate::Compression;
use crate::order::Sink;
use crate::problem::LogError;
use crate::record::{Marker, NoEvent, Record, extent};
use crate::scan::{Landing, landing, next_marker};

/// Between blocks, so much is enough to see what stands there.
const LOOK_BYTES: usize = 1 << 17;

/// What a header ends with.
const HEADER_END: &[u8] = b"hdredatb";

/// When the header of a log that comes in pieces is parsed once more: often enough to be read as soon as it is whole,
/// and so seldom that a header without an end takes time in proportion to its bytes.
#[derive(Debug, Default)]
struct HeaderTries {
    /// How many bytes were searched for the end of the header.
    searched: usize,
    /// How often the header was parsed because its end seemed to be there.
    ends: u32,
    /// With so many bytes it is parsed in any case.
    next_len: usize,
    /// How many bytes were parsed in all.
    parsed_bytes: u64,
}

impl HeaderTries {
    /// More ends than a header has that describes types with the words of the format.
    const MOST_ENDS: u32 = 16;

    fn is_due(&mut self, bytes: &[u8], is_all: bool) -> bool {
        let new = bytes.get(self.searched.saturating_sub(HEADER_END.len())..);
        let has_end = memchr::memmem::find(new.unwrap_or_default(), HEADER_END).is_some();
        self.searched = bytes.len();
        self.ends += u32::from(has_end);
        let ends = has_end && self.ends <= Self::MOST_ENDS;
        let is_due = is_all || ends || bytes.len() >= self.next_len;
        if is_due {
            self.parsed_bytes += bytes.len() as u64;
            self.next_len = bytes.len() + bytes.len() / 4;
        }
        is_due
    }
}

/// A log that comes piece by piece.
#[derive(Debug, Default)]
pub struct LiveReader {
    /// What came and was not read yet.
    bytes: Vec<u8>,
    /// Where in the log that begins.
    at: u64,
    header: Option<Arc<Header>>,
    header_tries: HeaderTries,
    events: u64,
    lost_bytes: u64,
    /// Whether a marker is looked for, as what stands there is nothing.
    is_lost: bool,
    has_ended: bool,
    /// Whether something else than another log stands behind the end.
    is_over: bool,
}

/// What became of the bytes at hand.
enum Taken {
    /// So many were read or passed over.
    Bytes(usize),
    /// More have to come first.
    Wait,
}

impl LiveReader {
    /// A log of which nothing has come.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what comes next, and delivers the events of all blocks that are whole by now.
    ///
    /// # Errors
    /// If it is no eventlog that can be read; then nothing of it is.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<(), LogError> {
        self.bytes.extend_from_slice(bytes);
        self.go_on(sink, false)
    }

    /// Nothing more comes: delivers what there is of a block that is not whole.
    ///
    /// # Errors
    /// If what came is no eventlog that can be read.
    pub fn finish(&mut self, sink: &mut impl Sink) -> Result<(), LogError> {
        self.go_on(sink, true)?;
        match (&self.header, self.at + self.bytes.len() as u64) {
            (Some(_), _) => Ok(()),
            (None, 0) => Err(LogError::Empty),
            (None, len) => Err(LogError::HeaderCut(len)),
        }
    }

    /// Nothing comes for now. A log may have stale bytes before its header, but its writer does not pause between
    /// them.
    ///
    /// # Errors
    /// If what came does not begin as a log does.
    pub fn pause(&self) -> Result<(), LogError> {
        if self.header.is_some() || self.bytes.len() < MAGIC.len() || self.bytes.starts_with(MAGIC)
        {
            return Ok(());
        }
        let found = looks_like(&self.bytes);
        Err(LogError::NotAnEventlog { found })
    }

    /// Whether anything has come.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.at + self.bytes.len() as u64 > 0
    }

    /// How many events were delivered.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// How many bytes were passed over, as they are no events.
    #[must_use]
    pub const fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// How many bytes of a header that is not whole were parsed so far.
    #[cfg(test)]
    pub(crate) const fn parsed_header_bytes(&self) -> u64 {
        self.header_tries.parsed_bytes
    }

    /// Whether the program has said that nothing follows.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn go_on(&mut self, sink: &mut impl Sink, is_all: bool) -> Result<(), LogError> {
        // What was read goes at the end, all at once.
        let bytes = std::mem::take(&mut self.bytes);
        let mut from = 0;
        let result = loop {
            let rest = &bytes[from..];
            let taken = match &self.header {
                None => self.header(rest, is_all),
                Some(_) if self.is_over => Ok(Taken::Bytes(rest.len())),
                Some(_) if self.has_ended => Ok(self.behind_end(rest, is_all)),
                Some(_) if self.is_lost => Ok(self.look_for_marker(rest, is_all)),
                Some(header) => Ok(self.body(&Arc::clone(header), rest, sink, is_all)),
            };
            match taken {
                Ok(Taken::Bytes(count)) if !rest.is_empty() => {
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

    fn header(&mut self, rest: &[u8], is_all: bool) -> Result<Taken, LogError> {
        if Compression::detect(rest).is_some() {
            let found = "It is compressed, which cannot be read as it comes.".to_owned();
            return Err(LogError::NotAnEventlog { found });
        }
        if rest.len() < MAGIC.len() {
            return Ok(Taken::Wait);
        }
        if !rest.starts_with(MAGIC) {
            return self.before_header(rest, is_all);
        }
        if !self.header_tries.is_due(rest, is_all) {
            return Ok(Taken::Wait);
        }
        Ok(match Header::parse(rest, self.at)? {
            Parsed::Header(header, count) => {
                self.header = Some(Arc::new(*header));
                self.header_tries = HeaderTries::default();
                Taken::Bytes(count)
            }
            Parsed::NeedMore => Taken::Wait,
        })
    }

    /// Passes over stale bytes before the first header, as few as [`LogReader`](crate::LogReader) does.
    fn before_header(&mut self, rest: &[u8], is_all: bool) -> Result<Taken, LogError> {
        let near = &rest[..rest.len().min(MAX_STALE_BYTES as usize)];
        if let Some(stale) = memchr::memmem::find(near, b"hdrbhetb") {
            self.lost_bytes += stale as u64;
            return Ok(Taken::Bytes(stale));
        }
        if near.len() == rest.len() && !is_all {
            return Ok(Taken::Wait);
        }
        let found = looks_like(rest);
        Err(LogError::NotAnEventlog { found })
    }

    /// Reads what stands between blocks, or a block.
    fn body(
        &mut self,
        header: &Arc<Header>,
        rest: &[u8],
        sink: &mut impl Sink,
        is_all: bool,
    ) -> Taken {
        if rest.is_empty() || (rest.len() < Marker::BYTES && !is_all && !ends(rest)) {
            return Taken::Wait;
        }
        match landing(header, &rest[..rest.len().min(LOOK_BYTES)]) {
            Landing::EndOfData => {
                self.has_ended = true;
                Taken::Bytes(2)
            }
            Landing::Block(marker) => {
                let size = marker.size as usize;
                if size > rest.len() && !is_all {
                    return Taken::Wait;
                }
                let block = &rest[..size.min(rest.len())];
                self.events_of(header, block, Marker::BYTES, marker.cap, sink);
                Taken::Bytes(block.len())
            }
            // What stands between blocks is judged by what follows it, however it comes.
            Landing::Event | Landing::Junk if rest.len() < LOOK_BYTES && !is_all => Taken::Wait,
            Landing::Event => match extent(header, rest) {
                Ok(event) => {
                    self.events_of(header, &rest[..event.end], 0, None, sink);
                    Taken::Bytes(event.end)
                }
                Err(_) => Taken::Wait,
            },
            Landing::EndOfFile => Taken::Wait,
            Landing::Header => {
                self.header = None;
                Taken::Bytes(0)
            }
            Landing::Junk => {
                self.is_lost = true;
                Taken::Bytes(0)
            }
        }
    }

    /// Something is damaged: what is there is passed over up to the next marker.
    fn look_for_marker(&mut self, rest: &[u8], is_all: bool) -> Taken {
        let marker = next_marker(rest).map(|(at, _)| at);
        self.is_lost = marker.is_none();
        // A marker may be cut in two.
        let sure = match is_all {
            true => rest.len(),
            false => (rest.len() + 1).saturating_sub(Marker::BYTES),
        };
        let passed = marker.unwrap_or(sure);
        self.lost_bytes += passed as u64;
        match passed {
            0 if self.is_lost => Taken::Wait,
            passed => Taken::Bytes(passed),
        }
    }

    /// Behind the end of a log nothing is read, unless another log begins there.
    fn behind_end(&mut self, rest: &[u8], is_all: bool) -> Taken {
        if rest.starts_with(MAGIC) {
            self.header = None;
            self.has_ended = false;
            return Taken::Bytes(0);
        }
        if MAGIC.starts_with(rest) && !is_all {
            return Taken::Wait;
        }
        self.is_over = true;
        Taken::Bytes(0)
    }

    /// Delivers the events that stand one behind the other from `from` on.
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

/// Whether the end of the data stands there.
fn ends(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xFF, 0xFF])
}

/// How late events came, behind others that are later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// How many.
    pub events: u64,
    /// The most, in nanoseconds.
    pub most_ns: u64,
    latest: Nanos,
}

impl Late {
    /// Takes the time of the next event; by how much it is late, if it is.
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
