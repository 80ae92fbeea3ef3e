//! Table `runs`: one row per log, identifying the run of the program.

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::Table;
use session::cells::Column;
use views::words::process::ways;

/// One row per log.
pub(super) const TABLE: Table = Table {
    name: "runs",
    help: "One row per log: which program it is of, and how that ran.",
    columns: &[
        Column::text("file", "Name of the log's file, without its folder"),
        Column::text("program", "Name of the program, without its folder"),
        Column::text(
            "command_line",
            "The program and its arguments, including those for the runtime, quoted for a shell",
        ),
        Column::text("ghc", "Version of GHC, such as 9.6.6"),
        Column::text(
            "runtime",
            "Identifier of the runtime, such as GHC-9.6.6 rts_thr",
        ),
        Column::text("way", "Features of the runtime: threaded, profiling, …"),
        Column::number("pid", "Identifier of the process"),
        Column::text(
            "started",
            "Date and time (UTC) at which the clock of the log was 0",
        ),
        Column::number("started_unix_ns", "The same, in nanoseconds since 1970"),
        Column::number("first_ns", "Time of the first event"),
        Column::number("last_ns", "Time of the last event"),
        Column::number("duration_ns", "Time between both"),
        Column::number(
            "from_ns",
            "Start of the exported range; empty for the whole log",
        ),
        Column::number("to_ns", "End of that range"),
        Column::number("capabilities", "Number of capabilities"),
        Column::number("threads", "Number of threads"),
        Column::number("events", "Number of events in the whole log"),
        Column::number("bytes", "Size of the log, uncompressed"),
        Column::number("generations", "Number of generations of the heap"),
        Column::number(
            "allocation_area_bytes",
            "Size of the allocation area of a capability (-A)",
        ),
        Column::number("max_heap_bytes", "Maximum size of the heap (-M)"),
        Column::flag("damaged", "Whether events are missing"),
        Column::number("lost_bytes", "Bytes of the log that could not be read"),
    ],
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let overview = log.session.overview();
    let process = log.session.process();
    let command_line = process.command_line();
    let started = process.started;
    let unix_ns = started.map(|at| {
        let seconds = at.seconds.saturating_mul(1_000_000_000);
        seconds.saturating_add(at.nanoseconds.into())
    });
    let way = (!process.ways.is_empty()).then(|| ways(&process.ways));
    let span = overview.span;
    let reader = log.original.unwrap_or_else(|| log.session.reader());
    let bytes = match log.original {
        Some(original) => original.len().0,
        None => overview.bytes,
    };
    let heap = process.heap;
    rows.row(&[
        log.name.into(),
        overview.program.into(),
        Some(command_line).filter(|text| !text.is_empty()).into(),
        overview.ghc.into(),
        process.rts.into(),
        way.into(),
        process.pid.into(),
        started.map(|at| at.to_string()).into(),
        unix_ns.into(),
        span.map(|span| span.start()).into(),
        span.map(|span| span.end()).into(),
        span.map(|span| span.duration()).into(),
        log.range.map(|range| range.start()).into(),
        log.range.map(|range| range.end()).into(),
        (overview.caps.len() as u64).into(),
        overview.threads.into(),
        overview.events.into(),
        bytes.into(),
        heap.map(|heap| u64::from(heap.generations)).into(),
        heap.map(|heap| heap.allocation_area_bytes).into(),
        heap.and_then(|heap| heap.max_heap_bytes).into(),
        session::cells::Cell::Flag(reader.damage().loses_data(), "damaged"),
        reader.damage().lost_bytes.into(),
    ])
}
