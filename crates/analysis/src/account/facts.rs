//! Facts about a log, other than its spans, that the time attribution needs: lifetimes of capabilities, the parts of
//! them that the log covers, collections and their requests, and heap censuses.

use std::collections::BTreeMap;

use crate::capability::CapLifetimes;
use eventlog::ids::{CapId, Nanos};
use eventlog::{DamageList, Event, EventSet, EventType, Record, Sink};
use model::sorting::{CompactCollect, CompactSort};
use model::time::Interval;

/// Lifetime of a capability, and the part of it that the log covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapFacts {
    /// Capability described here.
    pub cap: CapId,
    /// Lifetime: from its creation to its deletion, or else to the log's first and last event.
    pub life: Interval,
    /// Part of the lifetime that the log covers.
    pub known: Interval,
}

/// Collection as logged by its leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedCollection {
    /// Leader: the capability that posts `GCStatsGHC`.
    pub cap: CapId,
    /// Time from the leader's `StartGC` to its `EndGC`.
    pub span: Interval,
    /// Oldest generation that was collected.
    pub generation: u16,
}

/// All facts of a log.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Times of the log's first and last event.
    pub log: Option<Interval>,
    /// Capabilities, sorted by number.
    pub caps: Vec<CapFacts>,
    /// Collections whose leader is known.
    pub(super) led: Vec<LedCollection>,
    /// Requests for collections.
    pub(super) requests: Requests,
    /// Heap censuses in time order; of several processes together.
    pub(super) censuses: Vec<Interval>,
    /// Capabilities of each process if there are several, as each process collects on its own; empty otherwise.
    processes: Vec<Vec<CapId>>,
}

impl Facts {
    /// Sets the capabilities of each process of a log that several processes wrote, and clips their lifetimes to
    /// the logged time span of their process.
    pub(crate) fn with_processes(
        mut self,
        processes: Vec<Vec<CapId>>,
        lives: &CapLifetimes,
    ) -> Self {
        let logged: BTreeMap<CapId, Interval> = lives
            .caps_with_events()
            .filter_map(|(cap, _, events)| Some((cap, events?)))
            .collect_small();
        for own in &processes {
            let spans = own.iter().filter_map(|cap| logged.get(cap).copied());
            let Some(span) = spans.reduce(Interval::hull) else {
                continue;
            };
            for facts in self
                .caps
                .iter_mut()
                .filter(|facts| own.contains(&facts.cap))
            {
                facts.life = facts.life.clip(span);
                facts.known = facts.known.clip(span);
            }
        }
        Self { processes, ..self }
    }

    /// Returns the facts about the selected capabilities only: those of one process, or those that belong to none.
    fn for_caps(&self, is_own: impl Fn(CapId) -> bool) -> Self {
        let caps = self.caps.iter().filter(|facts| is_own(facts.cap));
        let led = self.led.iter().filter(|led| is_own(led.cap));
        Self {
            log: self.log,
            caps: caps.copied().collect(),
            led: led.copied().collect(),
            requests: self.requests.clone(),
            censuses: self.censuses.clone(),
            processes: Vec::new(),
        }
    }

    /// Returns the facts about each process; empty unless there are several.
    pub(super) fn by_process(&self) -> Vec<Self> {
        let mut owners = BTreeMap::new();
        for (place, cap) in (0..)
            .zip(&self.processes)
            .flat_map(|(place, caps)| caps.iter().map(move |cap| (place, *cap)))
        {
            owners.entry(cap).or_insert(place);
        }
        let count = self.processes.len();
        let places = (0..count).map(Some).chain((count > 0).then_some(None));
        let of = |place: Option<usize>| self.for_caps(|cap| owners.get(&cap).copied() == place);
        places
            .map(of)
            .filter(|facts| !facts.caps.is_empty())
            .collect()
    }

    /// Returns the time in which the log covers a capability.
    pub(crate) fn known(&self, cap: CapId) -> Option<Interval> {
        let at = self.caps.binary_search_by_key(&cap, |facts| facts.cap);
        Some(self.caps.get(at.ok()?)?.known)
    }
}

/// Completeness of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogCompleteness {
    /// Whether the log has a regular end, so that the runtime wrote all buffers. If a program is killed, its
    /// buffers are lost.
    pub ends: bool,
    /// Whether any bytes of the log are lost, inside or at its end.
    pub damaged: bool,
    /// Whether bytes are lost before the end of the log.
    pub has_gaps: bool,
}

impl LogCompleteness {
    /// A complete log: regular end, no lost bytes.
    pub const WHOLE: Self = Self {
        ends: true,
        damaged: false,
        has_gaps: false,
    };

    /// Derives the completeness from the damage of a log; `inflated` is whether a compressed file could be fully
    /// inflated.
    pub fn from_damage(damage: &DamageList, inflated: bool) -> Self {
        Self {
            ends: inflated && !damage.kinds().any(|(kind, _)| kind.is_missing_end()),
            damaged: damage.loses_data(),
            has_gaps: damage
                .kinds()
                .any(|(kind, _)| kind.loses_data() && !kind.is_missing_end()),
        }
    }
}

/// Times at which each capability requested a collection (`RequestSeqGC`, `RequestParGC`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(BTreeMap<CapId, Vec<u64>>);

impl Requests {
    /// Appends a request. If time goes backwards, the time of the last request is used.
    pub(crate) fn push(&mut self, cap: CapId, at: Nanos) {
        let all = self.0.entry(cap).or_default();
        all.push(at.0.max(all.last().copied().unwrap_or_default()));
    }

    /// Returns the time at which a capability requested the collection that began at `start`: its last request up
    /// to `start`, but not before the previous collection `ended`. From this request on, the program waits until
    /// all capabilities have stopped.
    pub(crate) fn latest(&self, cap: CapId, ended: u64, start: u64) -> Option<u64> {
        let all = self.0.get(&cap)?;
        let before = all.partition_point(|&at| at <= start);
        let at = *all.get(before.checked_sub(1)?)?;
        (at >= ended).then_some(at)
    }
}

/// Collects the times of heap censuses. It must receive all events in analysis order.
#[derive(Clone, Debug, Default)]
pub struct CensusCollector {
    censuses: Vec<Interval>,
    counting_since: Option<Nanos>,
}

impl Sink for CensusCollector {
    const CONSUMES: EventSet = EventSet::from_types(&[
        EventType::HEAP_PROF_SAMPLE_BEGIN,
        EventType::HEAP_PROF_SAMPLE_END,
        EventType::HEAP_BIO_PROF_SAMPLE_BEGIN,
    ]);

    fn event(&mut self, record: &Record<'_>) {
        let at = record.time;
        match record.event() {
            Event::HeapProfSampleBegin { .. } => {
                // GHC before 8.10 logs no end; the census then ends with its pause.
                self.census(NEVER);
                self.counting_since = Some(at);
            }
            // The censuses of a biographical profile are logged at the end of the run. They take place at the time
            // in the event, and last until the end of their pause.
            Event::HeapBioProfSampleBegin { time, .. } => {
                self.census(NEVER);
                self.counting_since = Some(Nanos(time).min(at));
                self.census(NEVER);
            }
            Event::HeapProfSampleEnd { .. } => self.census(at),
            _ => {}
        }
    }
}

impl CensusCollector {
    fn census(&mut self, end: Nanos) {
        if let Some(begin) = self.counting_since.take() {
            self.censuses.push(Interval::new(begin, end));
        }
    }

    /// Returns the facts of a log with these capabilities, this completeness, and the collections with a known
    /// leader and requests.
    pub(crate) fn facts(
        mut self,
        lives: &CapLifetimes,
        completeness: LogCompleteness,
        (mut led, requests): (Vec<LedCollection>, Requests),
    ) -> Facts {
        self.census(NEVER);
        led.sort_small_by_key(|led| (led.span, led.cap));
        // A census without an end lasts until the next one at most.
        self.censuses.sort_small();
        let mut next = NEVER;
        for census in self.censuses.iter_mut().rev() {
            *census = census.part_before(next);
            next = census.start();
        }
        let caps = lives.caps_with_events();
        let caps = caps.map(|(cap, life, events)| CapFacts {
            cap,
            life,
            known: known(life, events, completeness),
        });
        Facts {
            log: lives.log(),
            caps: caps.collect(),
            led,
            requests,
            censuses: self.censuses,
            processes: Vec::new(),
        }
    }
}

/// Sentinel time, later than any event.
const NEVER: Nanos = Nanos(u64::MAX);

/// Returns the part of a capability's lifetime that the log covers: all of it if nothing is missing.
///
/// Events in lost buffers came after the capability's last event; those lost to damage may also have come before
/// its first one.
fn known(life: Interval, events: Option<Interval>, completeness: LogCompleteness) -> Interval {
    let first = events.filter(|_| completeness.damaged);
    let start = first.map_or(life.start(), |events| life.nearest(events.start()));
    let end = match events {
        _ if completeness == LogCompleteness::WHOLE => life.end(),
        Some(events) => life.nearest(events.end()),
        None => life.start(),
    };
    Interval::new(start, end)
}
