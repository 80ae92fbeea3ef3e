//! Table `runs`: one row per log, identifying the run of the program.

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::{Column, Table};
use views::words::process::ways;

/// One row per log.
pub(super) const TABLE: Table = Table {
    name: "runs",
    help: "A row for each log: which run of which program it is of.",
    columns: &[
        Column::text("file", "The name of the log's file, without its folder"),
        Column::text("program", "The name of the program, without its folder"),
        Column::text(
            "command_line",
            "The program with its arguments, those for the runtime too, as a shell takes them",
        ),
        Column::text("ghc", "The version of GHC, such as 9.6.6"),
        Column::text(
            "runtime",
            "The runtime's name for itself, such as GHC-9.6.6 rts_thr",
        ),
        Column::text("way", "What the runtime can do: threaded, profiling, …"),
        Column::number("pid", "The process"),
        Column::text(
            "started",
            "Date and time (UTC) at which the log's clock was 0",
        ),
        Column::number("started_unix_ns", "The same, in nanoseconds since 1970"),
        Column::number("first_ns", "The time of the first event"),
        Column::number("last_ns", "The time of the last event"),
        Column::number("duration_ns", "The time between both"),
        Column::number(
            "from_ns",
            "The part that was asked for begins here; empty for the whole log",
        ),
        Column::number("to_ns", "It ends before this"),
        Column::number("capabilities", "How many capabilities there were"),
        Column::number("threads", "How many threads there were"),
        Column::number("events", "How many events the whole log has"),
        Column::number(
            "bytes",
            "The size of the log; of a compressed one when it is inflated",
        ),
        Column::number("generations", "How many generations the heap has"),
        Column::number(
            "allocation_area_bytes",
            "How much a capability allocates before a collection (-A)",
        ),
        Column::number(
            "max_heap_bytes",
            "The largest size that the heap may have (-M)",
        ),
        Column::flag("damaged", "Whether events are missing"),
        Column::number("lost_bytes", "How many bytes of the log could not be read"),
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
        process.pid.map(u64::from).into(),
        started.map(|at| at.to_string()).into(),
        unix_ns.into(),
        span.map(|span| span.start().0).into(),
        span.map(|span| span.end().0).into(),
        span.map(|span| span.end().since(span.start()).0).into(),
        log.range.map(|range| range.start().0).into(),
        log.range.map(|range| range.end().0).into(),
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
