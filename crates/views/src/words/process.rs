//! What is known of a process, in words.

use analysis::process::{Change, HeapSettings, Way};
use eventlog::quantity::ByteCount;

/// What became of a capability, to follow "capability 3".
#[must_use]
pub const fn change(change: Change) -> &'static str {
    match change {
        Change::Created => "created",
        Change::Deleted => "deleted",
        Change::Enabled => "enabled",
        Change::Disabled => "disabled",
    }
}

/// The type of a set of capabilities, by its number.
#[must_use]
pub fn set_kind(kind: u16) -> String {
    match kind {
        1 => "custom group".to_owned(),
        2 => "OS process".to_owned(),
        3 => "clock domain".to_owned(),
        other => format!("type {other}"),
    }
}

/// The kind of a runtime: `threaded`.
#[must_use]
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

/// All that is said of a runtime's kind: `threaded, profiling`.
#[must_use]
pub fn ways(ways: &[Way]) -> String {
    ways.iter().map(way).collect::<Vec<_>>().join(", ")
}

/// What a kind of runtime means for who reads the log, and the option of GHC
/// that makes it; empty if there is nothing to say.
#[must_use]
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
            "The program counts what its cost centres cost, which slows it down.",
            "-prof",
        ),
        Way::Debugging => (
            "The runtime checks itself and is slow: do not trust its times.",
            "-debug",
        ),
        Way::EventLog => (
            "It can write event logs; from GHC 9.4 on, every runtime can.",
            "-eventlog",
        ),
        Way::Dynamic => ("Libraries are loaded when the program starts.", "-dynamic"),
        Way::Vanilla | Way::Other(_) => ("", ""),
    }
}

/// The settings of the heap in one line.
#[must_use]
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
