//! Export of the garbage collection table. Files and the command line share one list of columns. Times are in
//! nanoseconds, sizes in bytes.

use crate::cells::{Cell, Column, Columns};
use analysis::numbers::Collection;

/// Columns of the table.
pub const COLUMNS: Columns<Collection, 16> = Columns([
    Column::number("number", "Number of the collection in the log").value(|gc| gc.number.into()),
    Column::number("cap", "Capability that led it").value(|gc| gc.cap.into()),
    Column::number("start_ns", "Start").value(|gc| gc.start.into()),
    Column::number("end_ns", "End").value(|gc| gc.end.into()),
    Column::number("pause_ns", "Time for which the program was stopped")
        .value(|gc| gc.pause_ns().into()),
    Column::number("sync_ns", "Time until all capabilities had stopped")
        .value(|gc| gc.sync_ns.into()),
    Column::number(
        "gen",
        "Oldest generation collected; empty if the log has no statistics of the collection",
    )
    .value(|gc| gc.generation.map(u64::from).into()),
    Column::number("threads", "Number of GC threads")
        .value(|gc| statistic_cell(gc, gc.threads.into())),
    Column::number("copied_bytes", "Bytes copied").value(|gc| statistic_cell(gc, gc.copied_bytes)),
    Column::number("slop_bytes", "Bytes lost at the ends of blocks")
        .value(|gc| statistic_cell(gc, gc.slop_bytes)),
    Column::number(
        "fragmentation_bytes",
        "Bytes that the runtime holds but does not use",
    )
    .value(|gc| statistic_cell(gc, gc.fragmentation_bytes)),
    Column::number(
        "max_copied_bytes",
        "Bytes copied by the GC thread that copied most",
    )
    .value(|gc| statistic_cell(gc, gc.max_copied_bytes)),
    Column::ratio(
        "balance",
        "Balance of parallel work: 1 if all GC threads copied the same, 0 if one copied everything",
    )
    .value(|gc| gc.balance().into()),
    Column::number("live_bytes", "Live bytes after the collection")
        .value(|gc| gc.live_bytes.into()),
    Column::number("heap_size_bytes", "Size of the heap after the collection")
        .value(|gc| gc.heap_size_bytes.into()),
    Column::number(
        "allocated_bytes",
        "Bytes allocated since the previous collection",
    )
    .value(|gc| statistic_cell(gc, gc.allocated_bytes)),
]);

/// Returns a statistic; without statistics (no generation), only the times of a collection are known.
fn statistic_cell(gc: &Collection, number: u64) -> Cell<'static> {
    gc.generation.map(|_| number).into()
}
