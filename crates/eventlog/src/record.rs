//! One encoded event: type, time and payload, delimited by the sizes in the header.

use std::sync::Arc;

use super::event::{Event, EventType};
use super::header::{BLOCK_MARKER, END_OF_DATA, Header, PayloadSize};
use super::problem::DamageKind;
use crate::ids::{ByteOffset, CapId, Nanos};

/// Bytes before every payload: `u16` type, `u64` time.
pub const PREFIX: usize = 10;
/// Size of the longest possible event: prefix, length and 65,535 bytes of payload.
pub(crate) const MAX_EVENT_BYTES: usize = PREFIX + 2 + 0xFFFF;

/// One undecoded event, which borrows its payload.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Offset in the (uncompressed) file.
    pub offset: ByteOffset,
    /// Event type number, which the header may give another meaning than GHC's.
    pub id: EventType,
    /// Timestamp of the event.
    pub time: Nanos,
    /// The capability whose block contains the event.
    pub cap: Option<CapId>,
    /// Payload bytes, without type, time and length.
    pub payload: &'a [u8],
    /// The header that declares the event.
    pub header: &'a Arc<Header>,
}

impl<'a> Record<'a> {
    /// Decodes the event.
    pub fn event(&self) -> Event<'a> {
        if self.header.knows(self.id) {
            Event::decode(self.id, self.payload, self.header.stop_codes)
        } else {
            Event::UnknownEvent {
                id: self.id.0,
                payload: self.payload,
            }
        }
    }
}

/// Extent of one event in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) id: u16,
    pub(crate) time: Nanos,
    /// Start of the payload, relative to the start of the event.
    pub(crate) payload: usize,
    /// End of the event, relative to its start.
    pub(crate) end: usize,
}

impl Extent {
    /// Whether the event carries its length.
    pub(crate) fn is_variable(&self) -> bool {
        self.payload > PREFIX
    }
}

/// Reason why a buffer does not start with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoEvent {
    /// The bytes end inside an event of this type.
    Short(u16),
    /// The header does not declare the type, or the bytes are all zero.
    Undeclared(u16),
    /// The bytes start with the end-of-data marker.
    EndOfData,
}

impl NoEvent {
    /// Returns the damage to report for the bytes.
    pub(crate) const fn kind(self) -> DamageKind {
        match self {
            Self::Short(id) => DamageKind::Overrun(id),
            Self::Undeclared(id) => DamageKind::UndeclaredType(id),
            Self::EndOfData => DamageKind::UndeclaredType(END_OF_DATA),
        }
    }
}

/// Reads type and time from the start of `bytes`.
pub(crate) fn prefix(bytes: &[u8]) -> Option<(u16, Nanos)> {
    let [a, b, time @ ..] = *bytes.first_chunk::<PREFIX>()?;
    let time = Nanos(u64::from_be_bytes(time));
    Some((u16::from_be_bytes([a, b]), time))
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|b| u16::from_be_bytes(*b))
}

/// Finds the event at the start of `bytes`.
#[inline]
pub(crate) fn extent(header: &Header, bytes: &[u8]) -> Result<Extent, NoEvent> {
    let id = be16(bytes, 0).ok_or(NoEvent::Short(0))?;
    let (payload, len) = match header.size(id) {
        PayloadSize::Fixed(len) => (PREFIX, usize::from(len)),
        PayloadSize::Variable => {
            let len = be16(bytes, PREFIX).ok_or(NoEvent::Short(id))?;
            (PREFIX + 2, usize::from(len))
        }
        PayloadSize::Undeclared if id == END_OF_DATA => return Err(NoEvent::EndOfData),
        PayloadSize::Undeclared => return Err(NoEvent::Undeclared(id)),
    };
    let time = bytes.get(2..).and_then(|b| b.first_chunk());
    let time = Nanos(u64::from_be_bytes(*time.ok_or(NoEvent::Short(id))?));
    // Zeros, as in a hole of a file, would read as the creation of a thread.
    if id == 0 && time == Nanos(0) {
        return Err(NoEvent::Undeclared(0));
    }
    let mut end = payload + len;
    if id == EventType::IPE.0 {
        end = provenance_end(header, bytes, payload, end);
    }
    if end > bytes.len() {
        return Err(NoEvent::Short(id));
    }
    Ok(Extent {
        id,
        time,
        payload,
        end,
    })
}

/// Returns the end of an info table provenance event.
///
/// GHC 9.6.5 and later (commit of January 2024 for #24287) declare one byte more than the event holds. Its fields,
/// a `u64` and six strings, give the true end. They are trusted if they end one byte early, unless an event
/// follows at the declared end and none one byte before it.
fn provenance_end(header: &Header, bytes: &[u8], payload: usize, declared: usize) -> usize {
    // Bound by the declared end, because the rest of the window may be long.
    let event = &bytes[..bytes.len().min(declared)];
    let mut pos = payload + 8;
    for _ in 0..6 {
        let Some(len) = event
            .get(pos..)
            .and_then(|b| b.iter().position(|&b| b == 0))
        else {
            return declared;
        };
        pos += len + 1;
    }
    if pos + 1 != declared {
        return declared;
    }
    let goes_on_at = |at| match be16(bytes, at) {
        None | Some(END_OF_DATA) => true,
        Some(next) => header.size(next) != PayloadSize::Undeclared,
    };
    if !goes_on_at(pos) && goes_on_at(declared) {
        declared
    } else {
        pos
    }
}

/// Ten years of 365 days, the upper bound of plausible timestamps.
pub const DECADE: Nanos = Nanos(315_360_000_000_000_000);

/// Block marker: the header of a run of events of one capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Size of the block in bytes, including the marker.
    pub(crate) size: u32,
    /// Time at which the block was begun.
    pub(crate) begin: Nanos,
    /// Time at which the block was flushed; 0 if it never was.
    pub(crate) end: Nanos,
    /// The capability whose events the block holds.
    pub(crate) cap: Option<CapId>,
}

impl Marker {
    /// Size of a marker in bytes: prefix, size, time and capability.
    pub const BYTES: usize = PREFIX + 14;

    /// Parses the marker at the start of `bytes`, if there is one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.first_chunk()?;
        let u64_at = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            Nanos(u64::from_be_bytes(word))
        };
        if u16::from_be_bytes([bytes[0], bytes[1]]) != BLOCK_MARKER {
            return None;
        }
        let cap = u16::from_be_bytes([bytes[22], bytes[23]]);
        Some(Self {
            size: u32::from_be_bytes([bytes[10], bytes[11], bytes[12], bytes[13]]),
            begin: u64_at(2),
            end: u64_at(14),
            cap: (cap != 0xFFFF).then_some(CapId(cap)),
        })
    }

    /// Parses the start of `bytes` as a marker, whatever its type number.
    pub(crate) fn parse_as_if(bytes: &[u8]) -> Option<Self> {
        let mut bytes: [u8; Self::BYTES] = *bytes.first_chunk()?;
        bytes[..2].copy_from_slice(&BLOCK_MARKER.to_be_bytes());
        Self::parse(&bytes)
    }

    /// Whether this could be a real marker, for the search in damaged data.
    pub(crate) fn is_plausible(&self) -> bool {
        self.size_is_plausible() && self.times_are_plausible() && self.cap_is_plausible()
    }

    pub(crate) fn size_is_plausible(&self) -> bool {
        self.size as usize >= Self::BYTES && self.size < 1 << 28
    }

    pub(crate) fn times_are_plausible(&self) -> bool {
        let ordered = self.end == Nanos(0) || (self.begin <= self.end && self.end < DECADE);
        ordered && self.begin < DECADE
    }

    pub(crate) fn cap_is_plausible(&self) -> bool {
        self.cap.is_none_or(|cap| cap.0 < 1024)
    }
}
