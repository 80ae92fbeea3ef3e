//! Messages, and events at points in time.

use super::Entry;
use super::sample::{Made, Sample};
use analysis::timeline::instants::InstantKind;
use analysis::timeline::row::Row;
use eventlog::ids::CapId;
use model::marks::MarkKind;

/// In the middle of a sample, in pixels.
const MIDDLE: f64 = 48.0;

const EVENTS: Row = Row::Instants(CapId(0));

pub(super) fn entries() -> Vec<Entry> {
    let message = |kind| Sample::row(Row::Messages, vec![Made::point(kind, MIDDLE)]);
    let first = [
        Entry::new(
            "A message",
            "The program wrote it to the log (traceEvent). It stands in the track of messages.",
            message(MarkKind::Message),
        ),
        Entry::new(
            "A marker",
            "The program set it (traceMarker). Where messages share a place with it, it stands for them.",
            message(MarkKind::Marker),
        ),
        Entry::new(
            "Several in one place",
            "How many stands beside the sign, if there is room.",
            Sample::row(
                EVENTS,
                vec![Made::event(InstantKind::Woken, 24.0).count(12)],
            ),
        ),
    ];
    first
        .into_iter()
        .chain(InstantKind::ALL.map(event))
        .collect()
}

/// An event on a capability.
fn event(kind: InstantKind) -> Entry {
    let (name, meaning) = words(kind);
    Entry::new(
        name,
        meaning,
        Sample::row(EVENTS, vec![Made::event(kind, MIDDLE)]),
    )
}

/// What it is called, and what it means for the program.
const fn words(kind: InstantKind) -> (&'static str, &'static str) {
    match kind {
        InstantKind::Shutdown => ("Shutdown", "The runtime shuts down."),
        InstantKind::CapDeleted => ("Capability deleted", "The capability is gone."),
        InstantKind::CapCreated => ("Capability created", "The capability is there."),
        InstantKind::CapDisabled => (
            "Capability disabled",
            "No thread is to run on it any more: the program asked for fewer capabilities.",
        ),
        InstantKind::CapEnabled => ("Capability enabled", "Threads may run on it again."),
        InstantKind::Marker => (
            "Marker on a capability",
            "The program set a marker while it ran there.",
        ),
        InstantKind::Message => (
            "Message on a capability",
            "The program wrote a message while it ran there.",
        ),
        InstantKind::SeqGcRequested => (
            "Sequential collection wanted",
            "The capability asks all to stop; one OS thread will collect.",
        ),
        InstantKind::ParGcRequested => (
            "Parallel collection wanted",
            "The capability asks all to stop; several OS threads will collect.",
        ),
        InstantKind::Migrated => (
            "Thread migrated",
            "A thread was sent from here to another capability, usually one that had nothing to do.",
        ),
        InstantKind::SparkOverflowed => (
            "Spark overflowed",
            "The pool was full: the spark is lost, and its value is computed where it is needed.",
        ),
        InstantKind::SparkFizzled => (
            "Spark fizzled",
            "Its value was computed by someone else before the spark ran.",
        ),
        InstantKind::SparkDud => (
            "Spark dud",
            "A spark was wanted for a value that was already there.",
        ),
        InstantKind::SparkStolen => (
            "Spark stolen",
            "The capability had nothing to do and took a spark from the pool of another.",
        ),
        InstantKind::ThreadCreated => (
            "Thread created",
            "A thread was created (forkIO and the like).",
        ),
        InstantKind::SparkThreadCreated => (
            "Spark thread created",
            "A thread was created that runs sparks, one after the other.",
        ),
        InstantKind::Woken => (
            "Thread woken",
            "What the thread waited for is there: it can run as soon as a capability takes it.",
        ),
        InstantKind::Runnable => (
            "Thread runnable",
            "A thread can run. GHC wrote this until 2009.",
        ),
        InstantKind::SparkRun => (
            "Spark run",
            "A spark of the capability's own pool begins to run.",
        ),
        InstantKind::SparkCreated => ("Spark created", "A spark was put into the pool (par)."),
        InstantKind::SparkCollected => (
            "Spark garbage collected",
            "Nobody needs its value any more: the spark was dropped by a collection.",
        ),
        InstantKind::PerfTracepoint => (
            "Tracepoint",
            "A tracepoint of the system was passed (Linux perf).",
        ),
        InstantKind::PerfCounter => (
            "Counter overflow",
            "A counter of the processor reached its period (Linux perf).",
        ),
    }
}
