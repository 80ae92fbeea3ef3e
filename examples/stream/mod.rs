//! The blocks of one capability, as the runtime writes them: events gather in
//! a buffer of 2 MiB, which becomes a block when the next one has no room.

use std::io::{self, Write};

use super::container::{block, event};

const BLOCK_BYTES: usize = 2 << 20;
const MARKER_BYTES: usize = 24;

/// The events of a capability, or of none, that are not yet in a block.
pub(super) struct Stream {
    cap: u16,
    pub(super) events: Vec<u8>,
    from_ns: u64,
    to_ns: u64,
}

impl Stream {
    pub(super) fn new(cap: u16) -> Self {
        let events = Vec::with_capacity(BLOCK_BYTES);
        let (from_ns, to_ns) = (0, 0);
        Self {
            cap,
            events,
            from_ns,
            to_ns,
        }
    }

    /// Makes room for an event of so many bytes, which may be dated back.
    #[inline]
    pub(super) fn room(
        &mut self,
        out: &mut impl Write,
        bytes: usize,
        at_ns: u64,
    ) -> io::Result<()> {
        if MARKER_BYTES + self.events.len() + bytes > BLOCK_BYTES {
            self.flush(out)?;
            self.from_ns = at_ns;
        }
        self.to_ns = self.to_ns.max(at_ns);
        Ok(())
    }

    /// An event; if its type has `any` number of bytes, with their number.
    #[inline]
    pub(super) fn event(
        &mut self,
        out: &mut impl Write,
        id: u16,
        at_ns: u64,
        any: bool,
        payload: &[u8],
    ) -> io::Result<()> {
        self.room(out, 12 + payload.len(), at_ns)?;
        event(&mut self.events, id, at_ns, any, payload);
        Ok(())
    }

    /// Writes what has gathered as a block, if anything has.
    pub(super) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        if !self.events.is_empty() {
            block(out, self.cap, (self.from_ns, self.to_ns), &self.events)?;
        }
        self.events.clear();
        self.from_ns = self.to_ns;
        Ok(())
    }
}
