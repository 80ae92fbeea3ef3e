//! Capability usage: division of each capability's lifetime into garbage collection, running threads, and idling.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use eventlog::cap_table::CapTable;
use eventlog::ids::{CapId, Nanos};
use eventlog::{Event, EventSet, Record, Sink, Subject};
use model::sorting::CompactSort;
use model::time::Interval;

/// Lifetimes of the capabilities, and the time span of the log.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CapLifetimes {
    /// Time span of other parts of the log.
    log: Option<Interval>,
    caps: BTreeMap<CapId, CapLifetime>,
    /// Time span of the events of each capability, and of those of none.
    events: CapTable<Option<Interval>>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct CapLifetime {
    created: Option<Nanos>,
    deleted: Option<Nanos>,
    events: Option<Interval>,
}

/// Returns the smallest interval that contains both.
#[inline]
fn hull(a: Option<Interval>, b: Option<Interval>) -> Option<Interval> {
    a.into_iter().chain(b).reduce(Interval::hull)
}

impl Sink for CapLifetimes {
    #[inline]
    fn event(&mut self, record: &Record<'_>) {
        self.record_event(record.cap, record.time);
        self.describe(record);
    }
}

/// Maximum number of capabilities that `Startup` (GHC before 7.6) alone declares; further ones need an event of
/// their own. A damaged log may declare any number.
const MAX_STARTED: u16 = 64;

/// Events about the lifetime of capabilities.
const CAPABILITIES: EventSet = EventSet::for_subject(Subject::Capability);

impl CapLifetimes {
    /// Records the capability and time of any event.
    #[inline]
    pub(crate) fn record_event(&mut self, cap: Option<CapId>, time: Nanos) {
        self.record_events(cap, (time, time));
    }

    /// Records the capability of events, and their earliest and latest times.
    #[inline]
    pub(crate) fn record_events(&mut self, cap: Option<CapId>, (from, to): (Nanos, Nanos)) {
        let events = self.events.get_mut(cap);
        *events = hull(*events, Some(Interval::new(from, to)));
    }

    /// Processes an event about the lifetime of a capability; ignores others.
    pub(crate) fn describe(&mut self, record: &Record<'_>) {
        if CAPABILITIES.contains(record.id) {
            self.life_event(record);
        }
    }

    /// Adds the original time span of a log that was cut, or of one of its capabilities.
    pub(crate) fn extend(&mut self, cap: Option<CapId>, events: Interval) {
        self.log = hull(self.log, Some(events));
        if let Some(cap) = cap {
            let life = self.caps.entry(cap).or_default();
            life.events = hull(life.events, Some(events));
        }
    }

    /// Appends the results of the following slice.
    pub(crate) fn append(&mut self, slice: &Self) {
        self.log = hull(self.log, slice.log());
        for (cap, _, events) in slice.caps_with_events() {
            let life = self.caps.entry(cap).or_default();
            life.events = hull(life.events, events);
        }
    }

    fn life_event(&mut self, record: &Record<'_>) {
        match record.event() {
            Event::CapCreate { cap } => {
                let life = self.caps.entry(cap).or_default();
                life.created = life.created.or(Some(record.time));
                life.deleted = None;
            }
            Event::CapDelete { cap } => {
                self.caps.entry(cap).or_default().deleted = Some(record.time);
            }
            Event::Startup { n_caps } => {
                for cap in 0..n_caps.min(MAX_STARTED) {
                    self.caps.entry(CapId(cap)).or_default();
                }
            }
            _ => {}
        }
    }

    /// Returns the times of the log's first and last event; `None` if it has no events.
    pub fn log(&self) -> Option<Interval> {
        let events = self.events.values().iter().copied();
        events.fold(self.log, hull)
    }

    /// Returns each capability with its lifetime: from its creation (or else the log's first event) to its
    /// deletion (or else the log's last event).
    pub fn caps(&self) -> impl Iterator<Item = (CapId, Interval)> + '_ {
        self.caps_with_events().map(|(cap, life, _)| (cap, life))
    }

    /// Returns each capability with its lifetime and the times of its first and last event; the latter is `None`
    /// if it logged nothing.
    pub(crate) fn caps_with_events(
        &self,
    ) -> impl Iterator<Item = (CapId, Interval, Option<Interval>)> + '_ {
        let log = self.log().unwrap_or_default();
        let mut all = self.caps.clone();
        for (cap, events) in self.events.iter() {
            if let (Some(cap), Some(_)) = (cap, events) {
                let life = all.entry(cap).or_default();
                life.events = hull(life.events, *events);
            }
        }
        all.into_iter().map(move |(cap, life)| {
            let start = life.created.unwrap_or(log.start());
            let end = life.deleted.unwrap_or(log.end()).max(start);
            (cap, Interval::new(start, end), life.events)
        })
    }
}

/// Returns the parts of `life` that no interval of `busy` covers, in order.
///
/// `busy` may be unsorted, overlap, and extend beyond `life`.
pub fn idle(life: Interval, busy: &[Interval]) -> Vec<Interval> {
    let mut busy: Vec<Interval> = busy
        .iter()
        .copied()
        .filter(|span| span.start() < span.end())
        .collect();
    busy.sort_small();
    let mut idle = Vec::new();
    let mut covered = life.start();
    for span in busy {
        if span.start() > covered && covered < life.end() {
            idle.push(Interval::new(covered, span.start().min(life.end())));
        }
        covered = covered.max(span.end());
    }
    if covered < life.end() {
        idle.push(Interval::new(covered, life.end()));
    }
    idle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(pairs: &[(u64, u64)]) -> Vec<Interval> {
        pairs
            .iter()
            .map(|&(a, b)| Interval::new(Nanos(a), Nanos(b)))
            .collect()
    }

    #[test]
    fn idle_is_the_rest_of_the_union() {
        let life = Interval::new(Nanos(10), Nanos(100));
        let of = |busy: &[(u64, u64)]| idle(life, &spans(busy));
        assert_eq!(of(&[]), spans(&[(10, 100)]));
        assert_eq!(of(&[(10, 100)]), []);
        assert_eq!(of(&[(0, 500)]), []);
        assert_eq!(
            of(&[(20, 30), (25, 40), (60, 70)]),
            spans(&[(10, 20), (40, 60), (70, 100)])
        );
        assert_eq!(
            of(&[(60, 70), (5, 20), (65, 66)]),
            spans(&[(20, 60), (70, 100)])
        );
        assert_eq!(of(&[(90, 80), (200, 300)]), spans(&[(10, 100)]));
    }
}
