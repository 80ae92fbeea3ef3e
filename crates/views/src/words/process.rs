//! Texts for the metadata of a process.

use std::ops::RangeInclusive;

use analysis::process::{Change, HeapSettings, Way};
use eventlog::quantity::ByteCount;

/// Names a change of a capability, to follow "capability 3".
pub const fn change(change: Change) -> &'static str {
    match change {
        Change::Created => "created",
        Change::Deleted => "deleted",
        Change::Enabled => "enabled",
        Change::Disabled => "disabled",
    }
}

/// Names the numbers of capabilities in a row of the table of parallelism.
pub fn capability_counts(counts: &RangeInclusive<usize>) -> String {
    match (*counts.start(), *counts.end()) {
        (0, _) => "none".to_owned(),
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}–{last}"),
    }
}

/// Names the type of a capability set.
pub fn set_kind(kind: u16) -> String {
    match kind {
        1 => "custom group".to_owned(),
        2 => "OS process".to_owned(),
        3 => "clock domain".to_owned(),
        other => format!("type {other}"),
    }
}

/// Names a way of the runtime: `threaded`.
pub fn way(way: &Way) -> &str {
    match way {
        Way::NotThreaded => "not threaded",
        Way::Threaded => "threaded",
        Way::Profiling => "profiling",
        Way::EventLog => "event log",
        Way::Debugging => "debugging",
        Way::Dynamic => "dynamically linked",
        Way::Vanilla => "vanilla",
        Way::Other(tag) => tag,
    }
}

/// Lists the ways of a runtime: `threaded, profiling`.
pub fn ways(ways: &[Way]) -> String {
    ways.iter().map(way).collect::<Vec<_>>().join(", ")
}

/// Explains the consequences of a way, and returns the GHC option that selects it; both empty if there is nothing
/// to say.
pub const fn way_meaning(way: &Way) -> (&'static str, &'static str) {
    match way {
        Way::Threaded => (
            "Haskell threads run in parallel, one on each capability.",
            "-threaded",
        ),
        Way::NotThreaded => (
            "There is one capability, and a foreign call stops all threads: built without",
            "-threaded",
        ),
        Way::Profiling => (
            "The program records costs by cost centre, which slows it down.",
            "-prof",
        ),
        Way::Debugging => (
            "The runtime checks itself and is slow: its times are misleading.",
            "-debug",
        ),
        Way::EventLog => (
            "It can write eventlogs; from GHC 9.4 on, every runtime can.",
            "-eventlog",
        ),
        Way::Dynamic => ("Libraries are loaded when the program starts.", "-dynamic"),
        Way::Vanilla | Way::Other(_) => ("", ""),
    }
}

/// Formats the heap settings in one line.
pub fn heap(heap: &HeapSettings) -> String {
    let limit = heap.max_heap_bytes.map_or_else(
        || "no limit".to_owned(),
        |bytes| format!("at most {}", ByteCount(bytes)),
    );
    format!(
        "{} generations, {limit}, allocation area {}",
        heap.generations,
        ByteCount(heap.allocation_area_bytes)
    )
}
