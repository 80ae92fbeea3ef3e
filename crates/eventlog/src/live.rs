//! Logs that come piece by piece and are read as they come: from a pipe, a socket, the end of
//! a file that grows.
//!
//! A [`LogReader`](crate::LogReader) jumps through a file. Here nothing is waited for but the
//! end of a block: its events are delivered as soon as it is whole. So they come in the order of
//! the file, each block's by time; a block is written when a capability's buffer is full, so that
//! one may come long after others of its time. [`DisplayOrder`](crate::display::DisplayOrder)
//! holds them back and puts them in order as far as its window reaches.

use std::sync::Arc;

use crate::header::{Header, MAGIC, Parsed};
use crate::ids::{ByteOffset, CapId, Nanos};
use crate::inflate::Compression;
use crate::order::Sink;
use crate::problem::LogError;
use crate::record::{Marker, NoEvent, Record, extent};
use crate::scan::{Landing, landing};

/// Between blocks, so much is enough to see what stands there.
const LOOK_BYTES: usize = 1 << 17;

/// A log that comes piece by piece.
#[derive(Debug, Default)]
pub struct LiveReader {
    /// What came and was not read yet.
    bytes: Vec<u8>,
    /// Where in the log that begins.
    at: u64,
    header: Option<Arc<Header>>,
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
                None => self.header(rest),
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

    fn header(&mut self, rest: &[u8]) -> Result<Taken, LogError> {
        if Compression::detect(rest).is_some() {
            let found = "It is compressed, which cannot be read as it comes.".to_owned();
            return Err(LogError::NotAnEventlog { found });
        }
        if rest.len() < MAGIC.len() {
            return Ok(Taken::Wait);
        }
        if !rest.starts_with(MAGIC) {
            let found = crate::header::looks_like(rest);
            return Err(LogError::NotAnEventlog { found });
        }
        Ok(match Header::parse(rest, self.at)? {
            Parsed::Header(header, count) => {
                self.header = Some(Arc::new(*header));
                Taken::Bytes(count)
            }
            Parsed::NeedMore => Taken::Wait,
        })
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
        let marker = next_marker(rest);
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

/// Where the next marker stands that may be one.
fn next_marker(bytes: &[u8]) -> Option<usize> {
    let mut windows = bytes.windows(Marker::BYTES);
    windows.position(|window| Marker::parse(window).is_some_and(|marker| marker.is_plausible()))
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
