//! What has to be known of logs before they are merged.

use super::pairs::Messages;
use super::plan::Align;
use crate::renumber::{MOST_CAPS, NO_NUMBER};
use eventlog::EventSet;
use eventlog::Record;
use eventlog::Sink;
use eventlog::cursor::FieldKind;
use eventlog::event::{Event, EventType};
use eventlog::header::{Header, TypeDecl};
use eventlog::ids::Nanos;

/// What says more of a log than the numbers it uses.
const SAYING: EventSet = EventSet::of(&[
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

/// The kind of a capability set that is an OS process.
pub(super) const OS_PROCESS: u16 = 2;

/// What a log says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// What its file is called.
    pub name: String,
    /// The types that it declares, without [`EventType::CUT_RANGE`].
    pub types: Vec<TypeDecl>,
    /// How many numbers its capabilities take: one more than the largest.
    pub caps: u32,
    /// The same of its threads.
    pub threads: u64,
    /// The same of its capability sets.
    pub capsets: u64,
    /// The same of its cost centres.
    pub cost_centres: u64,
    /// The same of the counters of `perf`.
    pub counters: u64,
    /// The same of Mercury's texts.
    pub texts: u64,
    /// The first time that it says what the wall clock is: when, and how many nanoseconds since 1970.
    pub wall_clock: Option<(Nanos, u128)>,
    /// The process id.
    pub pid: Option<u32>,
    /// Whether it has a capability set for its process.
    pub has_process: bool,
    /// Whether it has a heap profile.
    pub has_censuses: bool,
    /// The range that it was cut to: its start, and its end.
    pub cut_range: Option<(Nanos, Nanos)>,
    /// Its first time.
    pub first: Option<Nanos>,
    /// When it first has the marker that was asked for.
    pub marker: Option<Nanos>,
    /// The messages that it says were sent and received.
    pub messages: Messages,
}

/// Gathers the facts of the log that is read into it.
#[derive(Debug, Default)]
pub struct Survey {
    facts: Facts,
    align: Align,
}

impl Survey {
    /// Of a file with that name; looks for what aligns logs so, too.
    #[must_use]
    pub fn new(name: &str, align: &Align) -> Self {
        Self {
            facts: Facts {
                name: name.to_owned(),
                ..Facts::default()
            },
            align: align.clone(),
        }
    }

    /// What was found; `header` is that of the log.
    #[must_use]
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

    fn said(&mut self, record: &Record<'_>) {
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
                facts.has_process |= capset_type.0 == OS_PROCESS;
            }
            Event::Startup { n_caps } if u32::from(n_caps) <= MOST_CAPS => {
                facts.caps = facts.caps.max(u32::from(n_caps));
            }
            Event::HeapProfSampleBegin { .. } | Event::HeapBioProfSampleBegin { .. } => {
                facts.has_censuses = true;
            }
            Event::UserMarker { markername: text } | Event::UserMessage { msg: text } => {
                match &self.align {
                    Align::Marker(wanted) if wanted.as_bytes() == text.0 => {
                        facts.marker.get_or_insert(record.time);
                    }
                    Align::Messages(send, receive) => {
                        facts.messages.hear(text.0, record.time, (send, receive));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// The number that stands there, if it is one of up to 32 bits.
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
                (FieldKind::Cap, _) if number < MOST_CAPS => {
                    facts.caps = facts.caps.max(number + 1)
                }
                (FieldKind::Thread, _) => facts.threads = facts.threads.max(after),
                (FieldKind::Capset, _) => facts.capsets = facts.capsets.max(after),
                (FieldKind::CostCentre, _) => facts.cost_centres = facts.cost_centres.max(after),
                (FieldKind::Plain, "perfNum") => facts.counters = facts.counters.max(after),
                (FieldKind::Plain, "sId") => facts.texts = facts.texts.max(after),
                _ => {}
            }
        });
        if SAYING.contains(record.id) {
            self.said(record);
        }
    }
}
