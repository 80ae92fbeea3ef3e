//! Texts for logs of several processes.

use std::fmt::{self, Write};

use analysis::numbers::of_processes::ProcessNumbers;
use eventlog::ids::Duration;
use scene::format;
use session::tracks::processes::Processes;

/// Explanation of the totals of a log of several processes.
pub const TOGETHER: &str = "All other numbers are of the processes together: what is allocated, copied and counted is added up; the heap is the sum of what each said last. Where a collection of one goes on, the others may run.";

/// Placeholder for a number that is only meaningful per process.
pub const OF_EACH: &str = "of each process only, as above";

/// Returns the remark of a panel about a log of several processes; `panel` is its name in links. `None` for logs
/// of one process, and for panels that attribute everything to a process or where that does not matter.
#[must_use]
pub fn about(panel: &str, processes: &Processes) -> Option<String> {
    let what = match panel {
        "summary" => TOGETHER,
        "findings" => {
            "Rules look at one program. Open the log of each process by itself to see what costs it time or memory."
        }
        "threads" => {
            "Ready time counts as in a collection, or as beside an idle capability, whichever process collects or idles."
        }
        "gc" => {
            "Each collection stops one process; whose, its capability tells. What was allocated since the one before is counted over all processes."
        }
        "heap" | "compare" => "What is said of the whole log is of all processes together.",
        _ => return None,
    };
    let several = processes.about()?;
    Some(format!("{several} {what}"))
}

/// Columns of the process table, with their explanations.
pub const COLUMNS: [(&str, &str); 9] = [
    (
        "Process",
        "The name of its program; its number in the operating system, if the log tells it.",
    ),
    ("Capabilities", "How many it has."),
    ("From", "When its first event was, on the axis of the log."),
    ("Length", "From its first event to its last."),
    (
        "Running",
        "The share of the time of its capabilities in which they ran threads, of all that the log tells of.",
    ),
    (
        "In collections",
        "The share of the same time that collections cost: stopping, collecting, waiting in them, coming back.",
    ),
    ("Collections", "How many it made."),
    (
        "GC",
        "How long its collections took, from all having stopped to the end.",
    ),
    (
        "Allocated",
        "What its capabilities handed out for new values, counted at collections.",
    ),
];

/// Formats a process as a row of the table.
#[must_use]
pub fn row(own: &ProcessNumbers) -> [String; 9] {
    let name = match own.pid {
        Some(pid) => format!("{} (pid {pid})", own.name),
        None => own.name.clone(),
    };
    let known_ns = own.times.known_ns();
    let in_collections = match known_ns {
        0 => format::NOTHING.to_owned(),
        _ => format::percent(own.times.of_collections_ns(), known_ns),
    };
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| format::NOTHING.to_owned());
    [
        name,
        format::count(own.capabilities),
        format::time(own.span.start()),
        format::duration(own.span.duration()),
        or_nothing(own.productivity().map(format::fraction)),
        in_collections,
        format::count(own.collections),
        format::duration(Duration(own.gc_ns)),
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
    writeln!(out, "  This log is of {} processes:", all.len())?;
    for own in all {
        let [
            name,
            caps,
            from,
            length,
            running,
            in_collections,
            collections,
            gc,
            allocated,
        ] = row(own);
        writeln!(
            out,
            "  {name}: from {from}, {length} long, {caps}; running {running}, in collections {in_collections}; {collections} in {gc}; {allocated} allocated"
        )?;
    }
    writeln!(out, "\n  {TOGETHER}\n")
}
