//! What the account of time needs to know of a log beyond its spans: how long
//! capabilities lived and how long the log tells of them, which collections
//! there were, who asked for them, and when the heap was counted.

use std::collections::BTreeMap;

use crate::capability::Lives;
use eventlog::ids::{CapId, Nanos};
use eventlog::{DamageKind, DamageList, Event, EventSet, EventType, Record, Sink};
use model::sorting::SortSmall;
use model::time::Interval;

/// A capability, and the time for which the log tells what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapFacts {
    /// The capability that these are about.
    pub cap: CapId,
    /// From its creation to its deletion, or else the log's first and last event.
    pub life: Interval,
    /// The part of its life that the log tells of.
    pub known: Interval,
}

/// A collection as the capability tells it that led it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Led {
    /// The capability that posts `GCStatsGHC`.
    pub cap: CapId,
    /// From its `StartGC` to its `EndGC`.
    pub span: Interval,
    /// Which generation was collected, with all that are younger.
    pub generation: u16,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The log's first and last event.
    pub log: Option<Interval>,
    /// The capabilities, by number.
    pub caps: Vec<CapFacts>,
    /// The collections of which a leader is known.
    pub(super) led: Vec<Led>,
    /// When capabilities asked for collections.
    pub(super) requests: Requests,
    /// When the heap was counted.
    pub(super) censuses: Vec<Interval>,
    /// The capabilities of each process, if there are several: each collects for itself.
    processes: Vec<Vec<CapId>>,
}

impl Facts {
    /// Of a log that processes with these capabilities have written: none of these lives longer
    /// than its process has logged.
    pub(crate) fn of_several(mut self, processes: Vec<Vec<CapId>>, lives: &Lives) -> Self {
        let logged: BTreeMap<CapId, Interval> = lives
            .caps_with_events()
            .filter_map(|(cap, _, events)| Some((cap, events?)))
            .collect();
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

    /// The same of one process of several, or of the capabilities that belong to none.
    fn of_process(&self, is_own: impl Fn(CapId) -> bool) -> Self {
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

    /// What is known of each process, if there are several.
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
        let of = |place: Option<usize>| self.of_process(|cap| owners.get(&cap).copied() == place);
        places
            .map(of)
            .filter(|facts| !facts.caps.is_empty())
            .collect()
    }

    /// The time for which the log tells what a capability did.
    pub(crate) fn known(&self, cap: CapId) -> Option<Interval> {
        let at = self.caps.binary_search_by_key(&cap, |facts| facts.cap);
        Some(self.caps.get(at.ok()?)?.known)
    }
}

/// How much of a log there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether it ends as a log does: the runtime has written all buffers. The
    /// buffers of a program that was killed are lost.
    pub ends: bool,
    /// Whether bytes of it are lost: inside, or where it breaks off.
    pub damaged: bool,
    /// Whether bytes are lost before its end.
    pub has_gaps: bool,
}

impl Condition {
    /// A log of which nothing is missing.
    pub const WHOLE: Self = Self {
        ends: true,
        damaged: false,
        has_gaps: false,
    };

    /// What the damage means. `inflated` is whether all of a compressed file
    /// could be inflated.
    #[must_use]
    pub fn of(damage: &DamageList, inflated: bool) -> Self {
        let cut = |kind| {
            matches!(
                kind,
                DamageKind::NoEndMarker | DamageKind::Truncated | DamageKind::ReportCut
            )
        };
        Self {
            ends: inflated && !damage.kinds().any(|(kind, _)| cut(kind)),
            damaged: damage.loses_data(),
            has_gaps: damage
                .kinds()
                .any(|(kind, _)| kind.loses_data() && !cut(kind)),
        }
    }
}

/// When each capability asked for collections (`RequestSeqGC`, `RequestParGC`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(BTreeMap<CapId, Vec<u64>>);

impl Requests {
    /// A capability asks for one. Where times go back, it asks when it asked last.
    pub(crate) fn push(&mut self, cap: CapId, at: Nanos) {
        let all = self.0.entry(cap).or_default();
        all.push(at.0.max(all.last().copied().unwrap_or_default()));
    }

    /// When a capability asked for the collection that began at `start`: the last
    /// time before it, but not before the collection before had `ended`. From then
    /// on the program waits until all capabilities have stopped.
    pub(crate) fn latest(&self, cap: CapId, ended: u64, start: u64) -> Option<u64> {
        let all = self.0.get(&cap)?;
        let before = all.partition_point(|&at| at <= start);
        let at = *all.get(before.checked_sub(1)?)?;
        (at >= ended).then_some(at)
    }
}

/// Collects when the heap was counted. It takes all events in analysis order.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    censuses: Vec<Interval>,
    counting_since: Option<Nanos>,
}

impl Sink for Watch {
    const CONSUMES: EventSet = EventSet::of(&[
        EventType::HEAP_PROF_SAMPLE_BEGIN,
        EventType::HEAP_PROF_SAMPLE_END,
        EventType::HEAP_BIO_PROF_SAMPLE_BEGIN,
    ]);

    fn event(&mut self, record: &Record<'_>) {
        let at = record.time;
        match record.event() {
            Event::HeapProfSampleBegin { .. } => {
                // GHC before 8.10 logs no end: the pause's end is the census's.
                self.census(NEVER);
                self.counting_since = Some(at);
            }
            // A biography is written at the end of the run: its censuses were
            // when they say, and reach to the end of their pause.
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

impl Watch {
    fn census(&mut self, end: Nanos) {
        if let Some(begin) = self.counting_since.take() {
            self.censuses.push(Interval::new(begin, end));
        }
    }

    /// What was seen, of a log with these capabilities and in this condition, with
    /// its collections of which a leader is known and the requests.
    pub(crate) fn facts(
        mut self,
        lives: &Lives,
        condition: Condition,
        (mut led, requests): (Vec<Led>, Requests),
    ) -> Facts {
        self.census(NEVER);
        led.sort_small_by_key(|led| (led.span, led.cap));
        // A census that has no end reaches to the next one at most.
        self.censuses.sort_unstable();
        let mut next = NEVER;
        for census in self.censuses.iter_mut().rev() {
            *census = census.until(next);
            next = census.start();
        }
        let caps = lives.caps_with_events();
        let caps = caps.map(|(cap, life, events)| CapFacts {
            cap,
            life,
            known: known(life, events, condition),
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

/// Later than anything in a log.
const NEVER: Nanos = Nanos(u64::MAX);

/// The part of a capability's life that the log tells of: all of it if nothing
/// is missing. What a lost buffer held came after the capability's last event;
/// what damage took may also have come before the first.
fn known(life: Interval, events: Option<Interval>, condition: Condition) -> Interval {
    let first = events.filter(|_| condition.damaged);
    let start = first.map_or(life.start(), |events| life.nearest(events.start()));
    let end = match events {
        _ if condition == Condition::WHOLE => life.end(),
        Some(events) => life.nearest(events.end()),
        None => life.start(),
    };
    Interval::new(start, end)
}
