//! Export of the garbage collection table. Files and the command line share one list of columns. Times are in
//! nanoseconds, sizes in bytes.

use crate::cells::{Cell, Column, Columns};
use analysis::numbers::Collection;

/// Columns of the table.
pub const COLUMNS: Columns<Collection, 16> = Columns([
    (
        Column::number("number", "Number of the collection in the log"),
        |gc| u64::from(gc.number).into(),
    ),
    (Column::number("cap", "Capability that led it"), |gc| {
        u64::from(gc.cap.0).into()
    }),
    (Column::number("start_ns", "Start"), |gc| gc.start.0.into()),
    (Column::number("end_ns", "End"), |gc| gc.end.0.into()),
    (
        Column::number("pause_ns", "Time for which the program was stopped"),
        |gc| gc.pause_ns().into(),
    ),
    (
        Column::number("sync_ns", "Time until all capabilities had stopped"),
        |gc| gc.sync_ns.into(),
    ),
    (
        Column::number(
            "gen",
            "Oldest generation collected; empty if the log has no statistics of the collection",
        ),
        |gc| gc.generation.map(u64::from).into(),
    ),
    (Column::number("threads", "Number of GC threads"), |gc| {
        statistic_cell(gc, gc.threads.into())
    }),
    (Column::number("copied_bytes", "Bytes copied"), |gc| {
        statistic_cell(gc, gc.copied_bytes)
    }),
    (
        Column::number("slop_bytes", "Bytes lost at the ends of blocks"),
        |gc| statistic_cell(gc, gc.slop_bytes),
    ),
    (
        Column::number(
            "fragmentation_bytes",
            "Bytes that the runtime holds but does not use",
        ),
        |gc| statistic_cell(gc, gc.fragmentation_bytes),
    ),
    (
        Column::number(
            "max_copied_bytes",
            "Bytes copied by the GC thread that copied most",
        ),
        |gc| statistic_cell(gc, gc.max_copied_bytes),
    ),
    (
        Column::ratio(
            "balance",
            "Balance of parallel work: 1 if all GC threads copied the same, 0 if one copied everything",
        ),
        |gc| gc.balance().into(),
    ),
    (
        Column::number("live_bytes", "Live bytes after the collection"),
        |gc| gc.live_bytes.into(),
    ),
    (
        Column::number("heap_size_bytes", "Size of the heap after the collection"),
        |gc| gc.heap_size_bytes.into(),
    ),
    (
        Column::number(
            "allocated_bytes",
            "Bytes allocated since the previous collection",
        ),
        |gc| statistic_cell(gc, gc.allocated_bytes),
    ),
]);

/// Returns a statistic; without statistics (no generation), only the times of a collection are known.
fn statistic_cell(gc: &Collection, number: u64) -> Cell<'static> {
    gc.generation.map(|_| number).into()
}
