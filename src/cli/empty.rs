//! Messages that explain why a query has no results.

use analysis::info::Info;
use eventlog::EventType;
use model::time::Interval;

const SCHEDULER: [EventType; 3] = [
    EventType::CREATE_THREAD,
    EventType::RUN_THREAD,
    EventType::STOP_THREAD,
];
const GC: [EventType; 2] = [EventType::GC_START, EventType::GC_END];

/// Explains why there are no threads.
pub(super) fn no_threads(info: &Info, range: Option<Interval>) -> &'static str {
    match (has_events(info, &SCHEDULER), range) {
        (false, _) => {
            "no threads: the log has no scheduler events; run the program with +RTS -ls, or -l for all events"
        }
        (true, Some(_)) => "no threads: none existed in the range",
        (true, None) => "no threads: the log contains none",
    }
}

/// Explains why there are no collections.
pub(super) fn no_collections(info: &Info, range: Option<Interval>) -> &'static str {
    match (has_events(info, &GC), range) {
        (false, _) => {
            "no collections: the log has no GC events; run the program with +RTS -lg, or -l for all events"
        }
        (true, Some(_)) => "no collections: none in the range",
        (true, None) => "no collections: none ends in the log",
    }
}

fn has_events(info: &Info, types: &[EventType]) -> bool {
    let counts = info.types();
    counts
        .iter()
        .any(|counted| types.contains(&EventType(counted.id)))
}
