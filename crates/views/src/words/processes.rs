//! Texts for logs of several processes.

use std::fmt::{self, Write};

use analysis::numbers::process_numbers::ProcessNumbers;
use scene::format;
use session::tracks::processes::Processes;

/// Explanation of the totals of a log of several processes.
pub const TOGETHER: &str = "All other numbers are for all processes together: allocated, copied and counted amounts are added up; the heap is the sum of the last values of each. During a collection of one process, the others may run.";

/// Placeholder for a number that is only meaningful per process.
pub const OF_EACH: &str = "of each process only, as above";

/// Returns the remark of a panel about a log of several processes; `panel` is its name in links. `None` for logs
/// of one process, and for panels that attribute everything to a process or where that does not matter.
pub fn about(panel: &str, processes: &Processes) -> Option<String> {
    let what = match panel {
        "summary" => TOGETHER,
        "findings" => {
            "Rules apply to a single program. Open the log of each process separately to get its findings."
        }
        "threads" => {
            "Ready time counts as in a collection, or as with an idle capability, even if another process collects or idles."
        }
        "gc" => {
            "Each collection stops one process, which its capability identifies. Allocation since the previous one is counted over all processes."
        }
        "heap" | "compare" => "Information about the whole log applies to all processes together.",
        _ => return None,
    };
    let several = processes.about()?;
    Some(format!("{several} {what}"))
}

/// Columns of the process table, with their explanations.
pub const COLUMNS: [(&str, &str); 9] = [
    ("Process", "Program name; process ID, if it is in the log."),
    ("Capabilities", "Number of its capabilities."),
    ("From", "Time of its first event, on the axis of the log."),
    ("Length", "From its first event to its last."),
    (
        "Running",
        "Share of the time of its capabilities in which they ran threads, excluding time that is not in the log.",
    ),
    (
        "In collections",
        "Share of the same time spent on collections: stopping, collecting, waiting, resuming.",
    ),
    ("Collections", "Number of its collections."),
    (
        "GC",
        "Total time of its collections, from the stop of all capabilities to the end.",
    ),
    (
        "Allocated",
        "Bytes allocated by its capabilities, counted at collections.",
    ),
];

/// Formats a process as a row of the table.
pub fn row(own: &ProcessNumbers) -> [String; 9] {
    let name = match own.pid {
        Some(pid) => format!("{} (pid {pid})", own.name),
        None => own.name.clone(),
    };
    let known_ns = own.times.known_ns();
    let in_collections = match known_ns {
        0 => format::NO_VALUE.to_owned(),
        _ => format::percent(own.times.collection_cost_ns(), known_ns),
    };
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| format::NO_VALUE.to_owned());
    [
        name,
        format::count(own.capabilities),
        format::time(own.span.start()),
        format::duration(own.span.duration()),
        or_nothing(own.productivity().map(format::fraction)),
        in_collections,
        format::count(own.collections),
        format::duration_ns(own.gc_ns),
        or_nothing(own.bytes_allocated.map(format::bytes)),
    ]
}

/// Prints the table for a terminal, one process per line.
///
/// # Errors
/// Returns errors of `out`.
pub(crate) fn print(all: &[ProcessNumbers], out: &mut dyn Write) -> fmt::Result {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "  This log contains {} processes:", all.len())?;
    for own in all {
        let [
            name,
            _,
            from,
            length,
            running,
            in_collections,
            _,
            gc,
            allocated,
        ] = row(own);
        let caps = format::pluralize(own.capabilities, "capability");
        let collections = format::pluralize(own.collections, "collection");
        writeln!(
            out,
            "  {name}: from {from}, {length} long, {caps}; running {running}, in collections {in_collections}; {collections} in {gc}; {allocated} allocated"
        )?;
    }
    writeln!(out, "\n  {TOGETHER}\n")
}
