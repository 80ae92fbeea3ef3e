//! What a slice of a log is worth: all that its events say, in columns, found without
//! what is before it.
//!
//! What most events of a log are about becomes columns at once: threads and points in
//! time, labels, messages, values and samples of profiles. The others are kept as they
//! are, for [`Recording`] to hear them in order.

use serde::{Deserialize, Serialize};

use crate::flamegraph::foreign::may_be_about_calls;
use crate::flamegraph::ticks::{SliceTicks, Ticks};
use crate::heap::values::{HeapValueAnalysis, HeapValues};
use crate::info::{Info, PREFIX_BYTES};
use crate::kept::Kept;
use crate::labels::{LabelAnalysis, Labels};
use crate::recording::Recording;
use crate::timeline::messages::Messages;
use crate::timeline::slice::{Entry, Says, SliceThreadAnalysis, SliceThreads};
use crate::timeline::threads::ById;
use eventlog::conventions::Convention;
use eventlog::{EventSet, EventType, Record, Sink, SlicePart, SliceReader, SliceStep};
use model::columns::Column;
use model::place::watch_places;

/// What a slice is worth.
#[derive(Debug, Serialize, Deserialize)]
pub struct Segment {
    /// What its reader found out.
    pub part: SlicePart,
    pub(crate) info: Info,
    pub(crate) threads: SliceThreads,
    pub(crate) labels: Labels,
    pub(crate) messages: Messages,
    pub(crate) ticks: SliceTicks,
    pub(crate) heap: HeapValues,
    kept: Kept,
    /// Whether the slice has more of something than can be counted.
    pub(crate) is_too_large: bool,
}

impl Segment {
    /// Shows each long list of numbers, always in the same order: they travel as they
    /// are, the rest by serde.
    pub fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        self.threads.columns(see);
        self.labels.columns(see);
        self.messages.columns(see);
        self.ticks.columns(see);
        self.heap.columns(see);
        see((&mut self.kept.bytes).into());
    }

    /// The events that are kept as they are, in order, with how many are before each.
    pub(crate) fn kept(&self, take: impl FnMut(u32, &Record<'_>)) {
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
    labels: LabelAnalysis,
    messages: Messages,
    ticks: Ticks,
    heap: HeapValueAnalysis,
    kept: Kept,
    keeps: EventSet,
    is_too_large: bool,
}

/// What becomes of the events of a type, and how many there are.
#[derive(Clone, Copy, Debug)]
struct OfType {
    met: bool,
    /// What they say of threads or points in time.
    says: Option<Says>,
    becomes: Becomes,
    count: u64,
    payload_bytes: u64,
}

impl OfType {
    const NOT_MET: Self = Self {
        met: false,
        says: None,
        becomes: Becomes::Counted,
        count: 0,
        payload_bytes: 0,
    };
}

/// What becomes of an event beside what it says of threads or points in time.
#[derive(Clone, Copy, Debug)]
enum Becomes {
    /// It is counted.
    Counted,
    /// It is heard in order later.
    Kept,
    Label,
    /// A message, which may follow a convention: then it is kept too.
    Message,
    /// A message that is none of the program's if it follows no convention.
    BinaryMessage,
    /// A sample of cost centres.
    Tick,
    /// A value of a heap profile.
    HeapValue,
}

impl Becomes {
    /// What becomes of events of that type, if the log knows it.
    fn of(id: EventType, keeps: &EventSet) -> Self {
        if id == EventType::THREAD_LABEL {
            Self::Label
        } else if id == EventType::USER_BINARY_MSG {
            Self::BinaryMessage
        } else if Messages::CONSUMES.contains(id) {
            Self::Message
        } else if SliceTicks::CONSUMES.contains(id) {
            Self::Tick
        } else if HeapValues::CONSUMES.contains(id) {
            Self::HeapValue
        } else if keeps.contains(id) {
            Self::Kept
        } else {
            Self::Counted
        }
    }
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
            labels: LabelAnalysis::default(),
            messages: Messages::default(),
            ticks: Ticks::default(),
            heap: HeapValueAnalysis::default(),
            kept: Kept::default(),
            keeps: Recording::keeps(),
            is_too_large: false,
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
        let (((threads, map), labels, ticks, heap), too_large) = watch_places(|| {
            let (ticks, heap) = (self.ticks.into_slice(), self.heap.finish());
            (self.threads.finish(), self.labels.finish(), ticks, heap)
        });
        let segment = Segment {
            part,
            info: self.info,
            threads,
            labels,
            messages: self.messages,
            ticks,
            heap,
            kept: self.kept,
            is_too_large: self.is_too_large | too_large,
        };
        (segment, Scratch { threads: map })
    }

    /// Takes the events of a slice as far as the supplied bytes and `max_events` allow. It stands here
    /// for the loop over all events to be compiled as this crate is: for speed.
    pub fn read(&mut self, reader: &mut SliceReader, max_events: usize) -> SliceStep {
        let (step, too_large) = watch_places(|| reader.advance(self, max_events));
        self.is_too_large |= too_large;
        step
    }

    /// What becomes of the events of the type of the first one.
    #[cold]
    fn meet(record: &Record<'_>, keeps: &EventSet) -> OfType {
        let met = OfType {
            met: true,
            ..OfType::NOT_MET
        };
        if !record.header.knows(record.id) {
            return met;
        }
        OfType {
            says: Says::of(record.id),
            becomes: Becomes::of(record.id, keeps),
            ..met
        }
    }

    fn become_of(&mut self, becomes: Becomes, id: u8, record: &Record<'_>) {
        match becomes {
            Becomes::Counted => {}
            Becomes::Kept => self.kept.push(id, record),
            Becomes::Label => self.labels.take(record),
            Becomes::Message => {
                let text = self.messages.take(record).unwrap_or_default();
                if may_be_about_calls(text) || Convention::of_text(text).is_some() {
                    self.kept.push(id, record);
                }
            }
            Becomes::BinaryMessage => {
                if Convention::of_bytes(record.payload).is_some() {
                    self.kept.push(id, record);
                }
            }
            Becomes::Tick => self.ticks.event(&record.event(), record.time),
            Becomes::HeapValue => self.heap.take(record, self.kept.count),
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
        let of = &mut self.types[usize::from(id)];
        if !of.met {
            *of = Self::meet(record, &self.keeps);
        }
        of.count += 1;
        of.payload_bytes += record.payload.len() as u64;
        let becomes = of.becomes;
        if let Some(says) = of.says {
            self.threads.event(says, record);
        }
        if !matches!(becomes, Becomes::Counted) {
            self.become_of(becomes, id, record);
        }
    }
}
