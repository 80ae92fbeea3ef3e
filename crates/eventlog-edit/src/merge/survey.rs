//! Survey of a log before merging.

use super::pairs::Messages;
use super::plan::Align;
use crate::renumber::{MAX_CAPS, NO_NUMBER};
use eventlog::EventSet;
use eventlog::Record;
use eventlog::Sink;
use eventlog::cursor::{CapsetType, FieldKind};
use eventlog::event::{Event, EventType};
use eventlog::header::{Header, TypeDecl};
use eventlog::ids::Nanos;

/// Event types with facts other than the numbers in use.
const FACT_EVENTS: EventSet = EventSet::from_types(&[
    EventType::WALL_CLOCK_TIME,
    EventType::OSPROCESS_PID,
    EventType::CAPSET_CREATE,
    EventType::STARTUP,
    EventType::HEAP_PROF_SAMPLE_BEGIN,
    EventType::HEAP_BIO_PROF_SAMPLE_BEGIN,
    EventType::USER_MARKER,
    EventType::USER_MSG,
    EventType::CUT_RANGE,
]);

/// Facts about a log that planning a merge requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Name of the file.
    pub name: String,
    /// The declared types, without [`EventType::CUT_RANGE`].
    pub types: Vec<TypeDecl>,
    /// Size of the range of capability numbers: one more than the largest.
    pub caps: u32,
    /// Size of the range of thread numbers.
    pub threads: u64,
    /// Size of the range of capability set numbers.
    pub capsets: u64,
    /// Size of the range of cost centre numbers.
    pub cost_centres: u64,
    /// Size of the range of `perf` counter numbers.
    pub counters: u64,
    /// Size of the range of numbers of Mercury's texts.
    pub texts: u64,
    /// First event with the wall clock: its time, and the wall clock in nanoseconds since 1970.
    pub wall_clock: Option<(Nanos, u128)>,
    /// Id of the OS process.
    pub pid: Option<u32>,
    /// Whether there is a capability set for the process.
    pub has_process: bool,
    /// Whether there is a heap profile.
    pub has_censuses: bool,
    /// Whether messages annotate foreign calls (`ANN_…`), so that numbers of spans are those of calls.
    pub has_calls: bool,
    /// Start and end of the range that the log was cut to.
    pub cut_range: Option<(Nanos, Nanos)>,
    /// Time of the first event.
    pub first: Option<Nanos>,
    /// Time of the first occurrence of the marker for [`Align::Marker`].
    pub marker: Option<Nanos>,
    /// Sent and received messages for [`Align::Messages`].
    pub messages: Messages,
}

/// Sink that collects the facts of a log.
#[derive(Debug, Default)]
pub struct Survey {
    facts: Facts,
    align: Align,
}

impl Survey {
    /// Creates a survey of a file with this name, including what `align` requires.
    pub fn new(name: &str, align: &Align) -> Self {
        Self {
            facts: Facts {
                name: name.to_owned(),
                ..Facts::default()
            },
            align: align.clone(),
        }
    }

    /// Returns the facts; `header` is that of the log.
    pub fn finish(self, header: Option<&Header>) -> Facts {
        Facts {
            types: header
                .into_iter()
                .flat_map(|header| &header.types)
                .filter(|decl| decl.id != EventType::CUT_RANGE)
                .cloned()
                .collect(),
            ..self.facts
        }
    }

    fn observe(&mut self, record: &Record<'_>) {
        let facts = &mut self.facts;
        match record.event() {
            Event::WallClockTime { sec, nsec, .. } => {
                let unix = u128::from(sec) * 1_000_000_000 + u128::from(nsec);
                facts.wall_clock.get_or_insert((record.time, unix));
            }
            Event::CutRange { from, to, .. } => {
                let (start, end) = facts.cut_range.unwrap_or((Nanos(from), Nanos(to)));
                facts.cut_range = Some((start.min(Nanos(from)), end.max(Nanos(to))));
            }
            Event::OsProcessPid { pid, .. } => drop(facts.pid.get_or_insert(pid)),
            Event::CapsetCreate { capset_type, .. } => {
                facts.has_process |= capset_type == CapsetType::OS_PROCESS;
            }
            Event::Startup { n_caps } if u32::from(n_caps) <= MAX_CAPS => {
                facts.caps = facts.caps.max(u32::from(n_caps));
            }
            Event::HeapProfSampleBegin { .. } | Event::HeapBioProfSampleBegin { .. } => {
                facts.has_censuses = true;
            }
            Event::UserMarker { markername: text } | Event::UserMessage { msg: text } => {
                facts.has_calls |= text.0.starts_with(b"ANN_");
                match &self.align {
                    Align::Marker(wanted) if wanted.as_bytes() == text.0 => {
                        facts.marker.get_or_insert(record.time);
                    }
                    Align::Messages(send, receive) => {
                        facts.messages.record(text.0, record.time, (send, receive));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// Reads a number of 16 or 32 bits.
fn number(bytes: &[u8]) -> Option<u32> {
    match *bytes {
        [a, b] => Some(u32::from(u16::from_be_bytes([a, b]))),
        [a, b, c, d] => Some(u32::from_be_bytes([a, b, c, d])),
        _ => None,
    }
}

impl Sink for Survey {
    fn event(&mut self, record: &Record<'_>) {
        self.facts.first.get_or_insert(record.time);
        if let Some(cap) = record.cap {
            self.facts.caps = self.facts.caps.max(u32::from(cap.0) + 1);
        }
        if !record.header.knows(record.id) {
            return;
        }
        let facts = &mut self.facts;
        Event::locate(record.id, record.payload, |key, range, kind| {
            let number = number(&record.payload[range]).filter(|&number| number < NO_NUMBER);
            let Some(number) = number else {
                return;
            };
            let after = u64::from(number) + 1;
            match (kind, key) {
                (FieldKind::Cap, _) if number < MAX_CAPS => facts.caps = facts.caps.max(number + 1),
                (FieldKind::Thread, _) => facts.threads = facts.threads.max(after),
                (FieldKind::Capset, _) => facts.capsets = facts.capsets.max(after),
                (FieldKind::CostCentre, _) => facts.cost_centres = facts.cost_centres.max(after),
                (FieldKind::Plain, "perfNum") => facts.counters = facts.counters.max(after),
                (FieldKind::Plain, "sId") => facts.texts = facts.texts.max(after),
                _ => {}
            }
        });
        if FACT_EVENTS.contains(record.id) {
            self.observe(record);
        }
    }
}
