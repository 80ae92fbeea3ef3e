//! Eventlog writer, for the few events that represent a textual heap profile.

use super::job::{Breakdown, Job};
use super::stack::Centre;
use crate::cursor::CapsetType;
use crate::encode::header_bytes;
use crate::event::{EventType, SizeClass};
use crate::header::END_OF_DATA;
use crate::ids::Nanos;

/// The declared types.
const TYPES: &[(EventType, &str)] = &[
    (EventType::BLOCK_MARKER, "Block marker"),
    (EventType::CAPSET_CREATE, "Create capability set"),
    (EventType::CAPSET_DELETE, "Delete capability set"),
    (EventType::PROGRAM_ARGS, "Program arguments"),
    (EventType::USER_MARKER, "User marker"),
    (EventType::HACK_BUG_T9003, "Empty event for bug #9003"),
    (EventType::HEAP_PROF_BEGIN, "Start of heap profile"),
    (EventType::HEAP_PROF_COST_CENTRE, "Cost center definition"),
    (
        EventType::HEAP_PROF_SAMPLE_BEGIN,
        "Start of heap profile sample",
    ),
    (
        EventType::HEAP_BIO_PROF_SAMPLE_BEGIN,
        "Start of heap profile (biographical) sample",
    ),
    (
        EventType::HEAP_PROF_SAMPLE_COST_CENTRE,
        "Heap profile cost-centre sample",
    ),
    (
        EventType::HEAP_PROF_SAMPLE_STRING,
        "Heap profile string sample",
    ),
    (
        EventType::HEAP_PROF_SAMPLE_END,
        "End of heap profile sample",
    ),
];

/// Size at which a block is ended.
const BLOCK_BYTES: usize = 1 << 20;
/// Payload size of a block marker, after type and time: size, end, capability.
const MARKER_BYTES: u16 = 14;
/// Capability set for the process.
const PROCESS: u32 = 0;
/// Number of the profile.
const PROFILE: u8 = 0;
/// Text of a marker, since the file does not name them.
const MARK: &[u8] = b"MARK";
/// Maximum depth of a stack in the runtime.
const MAX_CENTRES: usize = 255;

/// Writer of an eventlog.
#[derive(Debug)]
pub(super) struct LogWriter {
    out: Vec<u8>,
    /// Start of the open block.
    block: Option<usize>,
    last: Nanos,
    /// Offset of the breakdown, which may be filled in at the end.
    breakdown_at: usize,
}

/// Saved writer state, for rollback.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriterState {
    bytes: usize,
    block: Option<usize>,
    last: Nanos,
}

impl LogWriter {
    /// Saves the state.
    pub(super) const fn save(&self) -> WriterState {
        WriterState {
            bytes: self.out.len(),
            block: self.block,
            last: self.last,
        }
    }

    /// Rolls back to a saved state.
    pub(super) fn roll_back(&mut self, state: WriterState) {
        self.out.truncate(state.bytes);
        self.block = state.block;
        self.last = state.last;
    }

    pub(super) fn new() -> Self {
        let types = TYPES.iter();
        let out =
            header_bytes(types.map(|&(id, description)| (id, payload_bytes(id), description)));
        Self {
            out,
            block: None,
            last: Nanos(0),
            breakdown_at: 0,
        }
    }

    /// Returns the number of bytes written.
    pub(super) fn len(&self) -> u64 {
        self.out.len() as u64
    }

    /// Writes the definition of the process and its profile.
    pub(super) fn begin(&mut self, job: &Job) {
        let start = Nanos(0);
        self.event(EventType::CAPSET_CREATE, start, |out| {
            out.extend(PROCESS.to_be_bytes());
            out.extend(CapsetType::OS_PROCESS.0.to_be_bytes());
        });
        if !job.arguments.is_empty() {
            self.event(EventType::PROGRAM_ARGS, start, |out| {
                out.extend(PROCESS.to_be_bytes());
                out.extend(job.arguments.join(&0));
            });
        }
        self.event(EventType::HEAP_PROF_BEGIN, start, |out| {
            out.push(PROFILE);
            out.extend(job.period_ns.to_be_bytes());
            out.extend([0; 4]);
            for filter in &job.filters {
                text(out, filter);
            }
        });
        let filters: usize = job.filters.iter().map(|filter| filter.len() + 1).sum();
        self.breakdown_at = self.out.len() - filters - 4;
    }

    /// Writes a mark of the program.
    pub(super) fn marker(&mut self, time: Nanos) {
        self.event(EventType::USER_MARKER, time, |out| out.extend(MARK));
    }

    /// Writes the start of a census. Biographical censuses, which an eventlog has at its end, have a time field.
    pub(super) fn census(&mut self, time: Nanos, number: u64, job: &Job) {
        if job.is_biographical() {
            self.event(EventType::HEAP_BIO_PROF_SAMPLE_BEGIN, time, |out| {
                out.extend(number.to_be_bytes());
                out.extend(time.0.to_be_bytes());
            });
        } else {
            self.event(EventType::HEAP_PROF_SAMPLE_BEGIN, time, |out| {
                out.extend(number.to_be_bytes());
            });
        }
    }

    /// Writes the end of a census.
    pub(super) fn census_end(&mut self, time: Nanos, number: u64) {
        self.event(EventType::HEAP_PROF_SAMPLE_END, time, |out| {
            out.extend(number.to_be_bytes());
        });
    }

    /// Writes a band of a census.
    pub(super) fn band(&mut self, time: Nanos, bytes: u64, label: &[u8]) {
        self.event(EventType::HEAP_PROF_SAMPLE_STRING, time, |out| {
            out.push(PROFILE);
            out.extend(bytes.to_be_bytes());
            text(out, label);
        });
    }

    /// Writes a band that is a cost centre stack.
    pub(super) fn stack(&mut self, time: Nanos, bytes: u64, stack: &[u32]) {
        let stack = &stack[..stack.len().min(MAX_CENTRES)];
        self.event(EventType::HEAP_PROF_SAMPLE_COST_CENTRE, time, |out| {
            out.push(PROFILE);
            out.extend(bytes.to_be_bytes());
            out.push(stack.len() as u8);
            for centre in stack {
                out.extend(centre.to_be_bytes());
            }
        });
    }

    /// Writes the definition of a cost centre.
    pub(super) fn cost_centre(&mut self, time: Nanos, id: u32, centre: Centre<'_>) {
        self.event(EventType::HEAP_PROF_COST_CENTRE, time, |out| {
            out.extend(id.to_be_bytes());
            text(out, centre.label);
            text(out, centre.module);
            // Source location and flags are unknown.
            text(out, b"");
            out.push(0);
        });
    }

    /// Writes an event. Its time is clamped to the previous one, as a mark may be inside a census.
    fn event(&mut self, id: EventType, time: Nanos, payload: impl FnOnce(&mut Vec<u8>)) {
        let time = time.max(self.last);
        if self.block.is_none() {
            self.block = Some(self.out.len());
            self.prefix(EventType::BLOCK_MARKER, time);
            // Size and end are filled in when the block ends. The events have no capability.
            self.out.extend([0; 12]);
            self.out.extend(u16::MAX.to_be_bytes());
        }
        self.prefix(id, time);
        if payload_bytes(id).is_none() {
            let at = self.out.len();
            self.out.extend([0; 2]);
            payload(&mut self.out);
            let len = u16::try_from(self.out.len() - at - 2).unwrap_or(u16::MAX);
            self.out[at..at + 2].copy_from_slice(&len.to_be_bytes());
        } else {
            payload(&mut self.out);
        }
        self.last = time;
        if self
            .block
            .is_some_and(|at| self.out.len() - at > BLOCK_BYTES)
        {
            self.end_block();
        }
    }

    fn prefix(&mut self, id: EventType, time: Nanos) {
        self.out.extend(id.0.to_be_bytes());
        self.out.extend(time.0.to_be_bytes());
    }

    fn end_block(&mut self) {
        const SIZE_AT: usize = 10;
        let Some(at) = self.block.take() else { return };
        let size = (self.out.len() - at) as u32;
        let fields = &mut self.out[at + SIZE_AT..at + SIZE_AT + 12];
        fields[..4].copy_from_slice(&size.to_be_bytes());
        fields[4..].copy_from_slice(&self.last.0.to_be_bytes());
    }

    /// Writes the end of the program and returns the log.
    pub(super) fn finish(&mut self, breakdown: Option<Breakdown>) -> Vec<u8> {
        self.event(EventType::CAPSET_DELETE, self.last, |out| {
            out.extend(PROCESS.to_be_bytes());
        });
        self.end_block();
        let breakdown = breakdown.map_or(0, |breakdown| breakdown as u32);
        let at = self.breakdown_at;
        self.out[at..at + 4].copy_from_slice(&breakdown.to_be_bytes());
        self.out.extend(END_OF_DATA.to_be_bytes());
        std::mem::take(&mut self.out)
    }
}

/// Returns the payload size for the header; `None` for events that carry their length.
fn payload_bytes(id: EventType) -> Option<u16> {
    match id {
        EventType::BLOCK_MARKER => Some(MARKER_BYTES),
        EventType::HACK_BUG_T9003 => Some(0),
        _ => match id.expected_class() {
            Some(SizeClass::Fixed) => id.min_payload_bytes(),
            _ => None,
        },
    }
}

/// Writes a NUL-terminated text. NULs inside it are replaced by 0xFF, which is invalid in UTF-8 and displayed as
/// such. (So no text can look like an event either.)
fn text(out: &mut Vec<u8>, text: &[u8]) {
    let from = out.len();
    out.extend(text);
    for byte in &mut out[from..] {
        if *byte == 0 {
            *byte = 0xFF;
        }
    }
    out.push(0);
}
