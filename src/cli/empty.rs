//! Why a query found nothing.

use analysis::info::Info;
use eventlog::EventType;
use model::time::Interval;

const SCHEDULER: [EventType; 3] = [
    EventType::CREATE_THREAD,
    EventType::RUN_THREAD,
    EventType::STOP_THREAD,
];
const GC: [EventType; 2] = [EventType::GC_START, EventType::GC_END];

/// Why there are no threads.
pub(super) fn no_threads(info: &Info, range: Option<Interval>) -> &'static str {
    match (has_events(info, &SCHEDULER), range) {
        (false, _) => {
            "no threads: the log has no scheduler events; run the program with +RTS -ls, or -l for all events"
        }
        (true, Some(_)) => "no threads: none lived in the range",
        (true, None) => "no threads: the log names none",
    }
}

/// Why there are no collections.
pub(super) fn no_collections(info: &Info, range: Option<Interval>) -> &'static str {
    match (has_events(info, &GC), range) {
        (false, _) => {
            "no collections: the log has no GC events; run the program with +RTS -lg, or -l for all events"
        }
        (true, Some(_)) => "no collections: none is in the range",
        (true, None) => "no collections: the log has the end of none",
    }
}

fn has_events(info: &Info, types: &[EventType]) -> bool {
    let counts = info.types();
    counts
        .iter()
        .any(|counted| types.contains(&EventType(counted.id)))
}
