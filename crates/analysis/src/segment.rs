//! What a slice of a log is worth: all that its events say, in columns, found without
//! what is before it.
//!
//! What most events of a log are about, threads and points in time, becomes columns
//! at once. The others are kept as they are, for [`Recording`]
//! to hear them in order.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::info::{Info, PREFIX_BYTES};
use crate::recording::Recording;
use crate::timeline::slice::{Entry, Says, SliceThreadAnalysis, SliceThreads};
use crate::timeline::threads::ById;
use eventlog::header::Header;
use eventlog::ids::{ByteOffset, CapId, Nanos};
use eventlog::{EventSet, EventType, Record, Sink, SlicePart};
use model::columns::Column;

/// Events, one after the other, as they stand in the log.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(skip)]
    bytes: Vec<u8>,
}

impl Kept {
    /// Type, capability, length, time, place.
    const PREFIX: usize = 2 + 2 + 4 + 8 + 8;
    const NO_CAP: u16 = u16::MAX;

    fn push(&mut self, record: &Record<'_>) {
        let cap = record.cap.map_or(Self::NO_CAP, |cap| cap.0);
        let len = u32::try_from(record.payload.len()).unwrap_or(u32::MAX);
        self.bytes.extend(record.id.0.to_le_bytes());
        self.bytes.extend(cap.to_le_bytes());
        self.bytes.extend(len.to_le_bytes());
        self.bytes.extend(record.time.0.to_le_bytes());
        self.bytes.extend(record.offset.0.to_le_bytes());
        self.bytes.extend_from_slice(record.payload);
    }

    fn each(&self, header: &Arc<Header>, mut take: impl FnMut(&Record<'_>)) {
        let mut rest = &self.bytes[..];
        while let Some((prefix, behind)) = rest.split_first_chunk::<{ Self::PREFIX }>() {
            let u16_at = |at: usize| u16::from_le_bytes([prefix[at], prefix[at + 1]]);
            let u64_at = |at: usize| prefix[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
            let len = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]) as usize;
            let Some((payload, behind)) = behind.split_at_checked(len) else {
                return;
            };
            rest = behind;
            take(&Record {
                offset: ByteOffset(u64_at(16)),
                id: EventType(u16_at(0)),
                time: Nanos(u64_at(8)),
                cap: Some(u16_at(2))
                    .filter(|&cap| cap != Self::NO_CAP)
                    .map(CapId),
                payload,
                header,
            });
        }
    }
}

/// What a slice is worth.
#[derive(Debug, Serialize, Deserialize)]
pub struct Segment {
    /// What its reader found out.
    pub part: SlicePart,
    pub(crate) info: Info,
    pub(crate) threads: SliceThreads,
    kept: Kept,
}

impl Segment {
    /// Shows each long list of numbers, always in the same order: they travel as they
    /// are, the rest by serde.
    pub fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        self.threads.columns(see);
        see((&mut self.kept.bytes).into());
    }

    /// The events that are kept as they are, in order.
    pub(crate) fn kept(&self, take: impl FnMut(&Record<'_>)) {
        self.kept.each(self.part.header(), take);
    }
}

/// Analyses a slice: it takes its events in order.
#[derive(Debug)]
pub struct SegmentAnalysis {
    /// What becomes of the events of each type below 256.
    types: Box<[OfType; 256]>,
    info: Info,
    threads: SliceThreadAnalysis,
    kept: Kept,
    keeps: EventSet,
}

/// What becomes of the events of a type, and how many there are.
#[derive(Clone, Copy, Debug)]
struct OfType {
    met: bool,
    /// What they say of threads or points in time.
    says: Option<Says>,
    kept: bool,
    count: u64,
    payload_bytes: u64,
}

impl OfType {
    const NOT_MET: Self = Self {
        met: false,
        says: None,
        kept: false,
        count: 0,
        payload_bytes: 0,
    };
}

/// What an analysis of slices leaves for the next one, so that it need not be made anew.
#[derive(Debug, Default)]
pub struct Scratch {
    threads: ById,
}

impl SegmentAnalysis {
    /// Begins a slice at which this is known.
    #[must_use]
    pub fn new(entry: Entry, scratch: Scratch) -> Self {
        Self {
            types: Box::new([OfType::NOT_MET; 256]),
            info: Info::default(),
            threads: SliceThreadAnalysis::new(entry, scratch.threads),
            kept: Kept::default(),
            keeps: Recording::keeps(),
        }
    }

    /// The slice was read.
    #[must_use]
    pub fn finish(mut self, part: SlicePart) -> (Segment, Scratch) {
        for (id, of) in (0..).map(EventType).zip(&*self.types) {
            if of.count > 0 {
                let bytes = of.payload_bytes + of.count * PREFIX_BYTES;
                self.info.count_of(id, (of.count, bytes));
            }
        }
        let (threads, map) = self.threads.finish();
        let segment = Segment {
            part,
            info: self.info,
            threads,
            kept: self.kept,
        };
        (segment, Scratch { threads: map })
    }

    /// What becomes of the events of the type of the first one.
    #[cold]
    fn meet(&mut self, record: &Record<'_>) -> OfType {
        OfType {
            met: true,
            says: Says::of(record.id).filter(|_| record.header.knows(record.id)),
            kept: self.keeps.contains(record.id),
            ..OfType::NOT_MET
        }
    }

    /// An event of a type that no runtime has.
    #[cold]
    fn unknown(&mut self, record: &Record<'_>) {
        let bytes = record.payload.len() as u64 + PREFIX_BYTES;
        self.info.count_of(record.id, (1, bytes));
    }
}

impl Sink for SegmentAnalysis {
    #[inline]
    fn event(&mut self, record: &Record<'_>) {
        self.info.see(record);
        let Ok(id) = u8::try_from(record.id.0) else {
            return self.unknown(record);
        };
        let id = usize::from(id);
        if !self.types[id].met {
            self.types[id] = self.meet(record);
        }
        let of = &mut self.types[id];
        of.count += 1;
        of.payload_bytes += record.payload.len() as u64;
        let kept = of.kept;
        if let Some(says) = of.says {
            self.threads.event(says, record);
        }
        if kept {
            self.kept.push(record);
        }
    }
}
