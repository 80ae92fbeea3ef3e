//! The counters of a log: heap sizes, allocation, sparks.

use std::io;

use super::walk::Visitor;
use crate::log::Log;
use analysis::numbers::columns::SparkFates;
use eventlog::ids::{CapId, Nanos};
use model::gauge::Samples;
use model::time::Interval;

/// Unit of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes.
    Bytes,
    /// Units in which the runtime takes memory from the operating system, usually 1 MiB.
    Megablocks,
    /// Number of sparks.
    Sparks,
}

impl Unit {
    /// Returns the name for programs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Megablocks => "megablocks",
            Self::Sparks => "sparks",
        }
    }
}

model::named_enum! {
    /// Quantity of a counter, with its display name, its stable name for programs, and a description in one sentence.
    pub(crate) enum Kind {
        HeapSize: "heap size", "HeapSize", "Memory that the runtime holds of the system for the heap.";
        BlocksSize: "blocks in use", "BlocksSize", "Memory of the blocks of the heap that are in use.";
        HeapLive: "live heap", "HeapLive", "What was live after a collection of the oldest generation.";
        MemCurrent: "megablocks held", "MemCurrent", "Megablocks that the runtime held when it gave memory back.";
        MemNeeded: "megablocks needed", "MemNeeded", "Megablocks that it needed then.";
        MemReturned: "megablocks returned", "MemReturned", "Megablocks that it returned to the system then.";
        HeapAllocated: "allocated", "HeapAllocated", "What the program allocated since its start.";
        SparksWaiting: "sparks waiting", "SparksWaiting", "Sparks in the pool.";
        SparksCreated: "sparks created", "SparksCreated", "Sparks that were created since the start.";
        SparksDud: "sparks dud", "SparksDud", "Sparks for values that were there already.";
        SparksOverflowed: "sparks overflowed", "SparksOverflowed", "Sparks that found the pool full.";
        SparksConverted: "sparks converted", "SparksConverted", "Sparks that were run.";
        SparksFizzled: "sparks fizzled", "SparksFizzled", "Sparks whose value was there before they ran.";
        SparksCollected: "sparks garbage collected", "SparksCollected", "Sparks that nobody needed.";
    }
    /// Returns the display name.
    fn title;
    /// Returns the stable name for programs.
    fn name;
    /// Returns a description in one sentence.
    fn help;
}

impl Kind {
    /// Returns the unit of the values.
    pub(crate) const fn unit(self) -> Unit {
        match self {
            Self::HeapSize | Self::BlocksSize | Self::HeapLive | Self::HeapAllocated => Unit::Bytes,
            Self::MemCurrent | Self::MemNeeded | Self::MemReturned => Unit::Megablocks,
            _ => Unit::Sparks,
        }
    }

    /// Returns whether the counter is monotonic, from 0 at the start of the program.
    pub(crate) const fn only_grows(self) -> bool {
        matches!(
            self,
            Self::HeapAllocated
                | Self::SparksCreated
                | Self::SparksDud
                | Self::SparksOverflowed
                | Self::SparksConverted
                | Self::SparksFizzled
                | Self::SparksCollected
        )
    }
}

/// A counter of a capability or of the whole program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(crate) kind: Kind,
    pub(crate) cap: Option<CapId>,
    /// Number of the counter in visiting order, from 0.
    pub(crate) number: u32,
    /// Time from which the exported part has samples, and the value then: that of the log's time 0, or of the start of
    /// a range.
    pub(crate) start: (Nanos, u64),
}

impl Counter {
    /// Returns the display name with the capability.
    pub(crate) fn title(&self) -> String {
        match self.cap {
            Some(cap) => format!("{}, capability {cap}", self.kind.title()),
            None => self.kind.title().to_owned(),
        }
    }
}

/// Passes all counters to a visitor, grouped by kind.
pub(super) fn counters<V: Visitor>(log: &Log<'_>, visitor: &mut V) -> io::Result<()> {
    use Kind as K;
    let recording = log.session.recording();
    let (numbers, graphs) = (&recording.numbers, &recording.tracks.graphs);
    let mut telling = CounterWalk {
        log,
        visitor,
        number: 0,
    };
    telling.visit_samples(K::HeapSize, None, &numbers.heap_sizes())?;
    telling.visit_samples(K::BlocksSize, None, &graphs.blocks())?;
    telling.visit_samples(K::HeapLive, None, &numbers.live())?;
    let megablocks = graphs.megablocks();
    let kinds = [K::MemCurrent, K::MemNeeded, K::MemReturned];
    for (kind, samples) in kinds.into_iter().zip(&megablocks) {
        telling.visit_samples(kind, None, samples)?;
    }
    for (cap, samples) in numbers.allocations_by_cap() {
        telling.visit_samples(K::HeapAllocated, Some(cap), &samples)?;
    }
    // Omit spark counters of programs that create no sparks.
    let created = |cap| numbers.sparks_of(cap, SparkFates::AtBirth);
    let has_sparks = numbers.spark_caps().any(|cap| {
        created(cap).is_some_and(|[created, ..]| (0..created.len()).any(|at| created.value(at) > 0))
    });
    if !has_sparks {
        return Ok(());
    }
    for cap in numbers.spark_caps() {
        if let Some(samples) = numbers.sparks_waiting(cap) {
            telling.visit_samples(K::SparksWaiting, Some(cap), &samples)?;
        }
    }
    let born = [K::SparksCreated, K::SparksDud, K::SparksOverflowed];
    let ended = [K::SparksConverted, K::SparksFizzled, K::SparksCollected];
    for (fates, kinds) in [(SparkFates::AtBirth, born), (SparkFates::AtEnd, ended)] {
        for (place, kind) in kinds.into_iter().enumerate() {
            for cap in numbers.spark_caps() {
                let samples = numbers.sparks_of(cap, fates);
                if let Some(samples) = samples.as_ref().and_then(|all| all.get(place)) {
                    telling.visit_samples(kind, Some(cap), samples)?;
                }
            }
        }
    }
    Ok(())
}

struct CounterWalk<'a, V> {
    log: &'a Log<'a>,
    visitor: &'a mut V,
    number: u32,
}

impl<V: Visitor> CounterWalk<'_, V> {
    /// Passes all samples of a counter within the part to export, if there are any. A range begins with the value that
    /// the counter has there.
    fn visit_samples(
        &mut self,
        kind: Kind,
        cap: Option<CapId>,
        samples: &impl Samples,
    ) -> io::Result<()> {
        let from = self.log.range.map_or(Nanos(0), |range| range.start());
        let first = samples.first_at(from.0);
        let before = first.checked_sub(1).map(|last| samples.value(last));
        let counter = Counter {
            kind,
            cap,
            number: self.number,
            start: (from, before.unwrap_or_else(|| samples.initial())),
        };
        let inside = (first..samples.len())
            .map(|place| (Nanos(samples.time(place)), samples.value(place)))
            .filter(|(at, _)| self.log.is_selected(Interval::empty_at(*at)));
        let has_value_at_start = first < samples.len() && samples.time(first) == from.0;
        let at_start = before.filter(|_| !has_value_at_start);
        let mut all = at_start
            .map(|value| (from, value))
            .into_iter()
            .chain(inside)
            .peekable();
        if all.peek().is_none() {
            return Ok(());
        }
        self.number += 1;
        self.visitor.counter(&counter)?;
        all.try_for_each(|(at, value)| self.visitor.sample(&counter, at, value))
    }
}
