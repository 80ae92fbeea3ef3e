//! Block buffer of one capability, as in the runtime: events are collected in a buffer of 2 MiB, which becomes a
//! block when the next event does not fit.

use std::io::{self, Write};

use super::container::{block, event};

const BLOCK_BYTES: usize = 2 << 20;
const MARKER_BYTES: usize = 24;

/// Buffered events of a capability, or of none.
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

    /// Makes room for an event of `bytes` bytes at `at_ns`, which may be before the latest event.
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

    /// Appends an event; `any` adds the length field of types with variable size.
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

    /// Writes the buffer as a block unless it is empty.
    pub(super) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        if !self.events.is_empty() {
            block(out, self.cap, (self.from_ns, self.to_ns), &self.events)?;
        }
        self.events.clear();
        self.from_ns = self.to_ns;
        Ok(())
    }
}
