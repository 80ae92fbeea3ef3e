//! Builder of eventlogs, byte by byte.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

/// Declared event type: number, payload bytes (`None`: variable), description.
pub type EventTypeDecl = (u16, Option<u16>, &'static str);

/// Event types that the tests use, as GHC 9.6 declares them.
pub const TYPES: &[EventTypeDecl] = &[
    (0, Some(4), "Create thread"),
    (1, Some(4), "Run thread"),
    (2, Some(10), "Stop thread"),
    (3, Some(4), "Thread runnable"),
    (4, Some(6), "Migrate thread"),
    (8, Some(6), "Wakeup thread"),
    (9, Some(0), "Starting GC"),
    (10, Some(0), "Finished GC"),
    (18, Some(14), "Block marker"),
    (19, None, "User message"),
    (44, None, "Thread label"),
    (53, Some(58), "GC statistics"),
    (59, Some(0), "Empty event for #9003"),
    (164, None, "Heap profile string sample"),
    (167, None, "Time profile cost-centre stack"),
    (169, None, "Info Table Source Position"),
];

/// Eventlog under construction.
#[derive(Clone, Debug)]
pub struct LogBuilder {
    types: Vec<EventTypeDecl>,
    /// Bytes written so far.
    pub bytes: Vec<u8>,
}

impl LogBuilder {
    /// Starts a log with the header of [`TYPES`].
    pub fn new() -> Self {
        Self::with_types(TYPES)
    }

    /// Starts a log whose header declares `types`.
    pub fn with_types(types: &[EventTypeDecl]) -> Self {
        let mut log = Self {
            types: types.to_vec(),
            bytes: Vec::new(),
        };
        log.header();
        log
    }

    /// Writes a header, also in the middle of a log.
    pub fn header(&mut self) -> &mut Self {
        self.raw(b"hdrbhetb");
        for (id, size, description) in self.types.clone() {
            self.raw(b"etb\0")
                .raw(&id.to_be_bytes())
                .raw(&size.unwrap_or(0xFFFF).to_be_bytes())
                .raw(&(description.len() as u32).to_be_bytes())
                .raw(description.as_bytes())
                .raw(&[0; 4])
                .raw(b"ete\0");
        }
        self.raw(b"hetehdredatb")
    }

    /// Returns the offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Appends raw bytes.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends an event, with a length field if its type is declared variable.
    pub fn event(&mut self, id: u16, time: u64, payload: &[u8]) -> &mut Self {
        let decl = self.types.iter().find(|(declared, ..)| *declared == id);
        let size = decl.map_or(Some(0), |(_, size, _)| *size);
        self.raw(&id.to_be_bytes()).raw(&time.to_be_bytes());
        if size.is_none() {
            self.raw(&(payload.len() as u16).to_be_bytes());
        }
        self.raw(payload)
    }

    /// Appends a block from `begin` to `end` (ns) with the events that `fill` writes.
    pub fn block(
        &mut self,
        cap: Option<u16>,
        (begin, end): (u64, u64),
        fill: impl FnOnce(&mut Self) -> &mut Self,
    ) -> &mut Self {
        let at = self.bytes.len();
        self.raw(&18u16.to_be_bytes())
            .raw(&begin.to_be_bytes())
            .raw(&[0; 4])
            .raw(&end.to_be_bytes())
            .raw(&cap.unwrap_or(0xFFFF).to_be_bytes());
        fill(self);
        let size = (self.bytes.len() - at) as u32;
        self.bytes[at + 10..at + 14].copy_from_slice(&size.to_be_bytes());
        self
    }

    /// Appends a `RunThread` event.
    pub fn run(&mut self, time: u64, thread: u32) -> &mut Self {
        self.event(1, time, &thread.to_be_bytes())
    }

    /// Appends a `StopThread` event with this status code.
    pub fn stop(&mut self, time: u64, thread: u32, status: u16) -> &mut Self {
        let payload = [
            thread.to_be_bytes().as_slice(),
            &status.to_be_bytes(),
            &[0; 4],
        ]
        .concat();
        self.event(2, time, &payload)
    }

    /// Appends `count` runs of thread 7: each is 1 µs long, with 1 µs before the next.
    pub fn runs(&mut self, from: u64, count: u64) -> &mut Self {
        for i in 0..count {
            self.run(from + i * 2000, 7)
                .stop(from + i * 2000 + 1000, 7, 3);
        }
        self
    }

    /// Appends a collection of the youngest generation by one capability, with its statistics.
    pub fn collection(&mut self, start: u64, end: u64) -> &mut Self {
        self.event(9, start, &[])
            .event(53, end, &[0; 58])
            .event(10, end, &[])
    }

    /// Appends the end-of-data marker.
    pub fn end(&mut self) -> &mut Self {
        self.raw(&[0xFF, 0xFF])
    }
}
