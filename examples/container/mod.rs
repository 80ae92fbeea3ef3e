//! Shared by the generators of this folder: the container format of eventlogs, and pseudo-random numbers. Depends
//! only on the standard library.

use std::io::{self, Write};

/// Event type of the header: number, payload bytes (`None`: variable), name.
pub(super) type Type = (u16, Option<u16>, &'static str);

/// Type of the marker at the start of each block.
pub(super) const BLOCK_MARKER: Type = (18, Some(14), "Block marker");

/// Capability number of blocks without a capability.
pub(super) const NO_CAPABILITY: u16 = 0xFFFF;

/// Deterministic pseudo-random numbers (xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    /// Returns the next number, with 64 random bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `limit`; 0 if `limit` is 0.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

/// Appends an event; `any` adds the length field of types with variable size.
pub(super) fn event(into: &mut Vec<u8>, id: u16, at_ns: u64, any: bool, payload: &[u8]) {
    into.extend(id.to_be_bytes());
    into.extend(at_ns.to_be_bytes());
    if any {
        into.extend((payload.len() as u16).to_be_bytes());
    }
    into.extend(payload);
}

/// Writes the header, up to the start of the blocks.
pub(super) fn header(out: &mut impl Write, types: &[Type]) -> io::Result<()> {
    out.write_all(b"hdrbhetb")?;
    for (id, size, name) in types {
        out.write_all(b"etb\0")?;
        out.write_all(&id.to_be_bytes())?;
        out.write_all(&size.unwrap_or(0xFFFF).to_be_bytes())?;
        out.write_all(&(name.len() as u32).to_be_bytes())?;
        out.write_all(name.as_bytes())?;
        out.write_all(b"\0\0\0\0ete\0")?;
    }
    out.write_all(b"hetehdredatb")
}

/// Writes a block; see [`NO_CAPABILITY`].
pub(super) fn block(
    out: &mut impl Write,
    cap: u16,
    (from_ns, to_ns): (u64, u64),
    events: &[u8],
) -> io::Result<()> {
    out.write_all(&BLOCK_MARKER.0.to_be_bytes())?;
    out.write_all(&from_ns.to_be_bytes())?;
    out.write_all(&(24 + events.len() as u32).to_be_bytes())?;
    out.write_all(&to_ns.to_be_bytes())?;
    out.write_all(&cap.to_be_bytes())?;
    out.write_all(events)
}

/// Writes the end of the log.
pub(super) fn end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(&[0xFF, 0xFF])?;
    out.flush()
}
