//! Table cells of collections.

use analysis::numbers::Collection;
use scene::format;

/// Column titles of [`cells`].
pub const TITLES: [&str; 11] = [
    "No.",
    "Start",
    "Gen",
    "Kind",
    "Threads",
    "Pause",
    "Sync",
    "Copied",
    "Slop",
    "Live after",
    "Allocated",
];

/// Formats a collection as a table row.
pub fn cells(gc: &Collection) -> [String; TITLES.len()] {
    let nothing = || format::NO_VALUE.to_owned();
    let time = format::duration_ns;
    let kind = match gc.is_parallel() {
        true => "parallel",
        false => "sequential",
    };
    // A collection without statistics only has times.
    let told = |text: String| match gc.generation {
        Some(_) => text,
        None => nothing(),
    };
    [
        format::count(gc.number.into()),
        format::time(gc.start),
        generation(gc.generation),
        told(kind.to_owned()),
        told(gc.threads.to_string()),
        time(gc.pause_ns()),
        gc.sync_ns.map_or_else(nothing, time),
        told(format::bytes(gc.copied_bytes)),
        told(format::bytes(gc.slop_bytes)),
        gc.live_bytes.map_or_else(nothing, format::bytes),
        told(format::bytes(gc.allocated_bytes)),
    ]
}

/// Formats a generation; a dash if it is unknown.
pub fn generation(of: Option<u16>) -> String {
    of.map_or_else(|| format::NO_VALUE.to_owned(), |of| of.to_string())
}
