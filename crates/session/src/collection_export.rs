//! Export of the garbage collection table. Files and the command line share one list of columns. Times are in
//! nanoseconds, sizes in bytes.

use crate::cells::{Cell, Columns};
use analysis::numbers::Collection;

/// Columns of the table.
pub const COLUMNS: Columns<Collection, 16> = Columns([
    ("number", |gc| u64::from(gc.number).into()),
    ("cap", |gc| u64::from(gc.cap.0).into()),
    ("start_ns", |gc| gc.start.0.into()),
    ("end_ns", |gc| gc.end.0.into()),
    ("pause_ns", |gc| gc.pause_ns().into()),
    ("sync_ns", |gc| gc.sync_ns.into()),
    ("gen", |gc| gc.generation.map(u64::from).into()),
    ("threads", |gc| statistic_cell(gc, gc.threads.into())),
    ("copied_bytes", |gc| statistic_cell(gc, gc.copied_bytes)),
    ("slop_bytes", |gc| statistic_cell(gc, gc.slop_bytes)),
    ("fragmentation_bytes", |gc| {
        statistic_cell(gc, gc.fragmentation_bytes)
    }),
    ("max_copied_bytes", |gc| {
        statistic_cell(gc, gc.max_copied_bytes)
    }),
    ("balance", |gc| gc.balance().into()),
    ("live_bytes", |gc| gc.live_bytes.into()),
    ("heap_size_bytes", |gc| gc.heap_size_bytes.into()),
    ("allocated_bytes", |gc| {
        statistic_cell(gc, gc.allocated_bytes)
    }),
]);

/// Returns a statistic; without statistics (no generation), only the times of a collection are known.
fn statistic_cell(gc: &Collection, number: u64) -> Cell<'static> {
    gc.generation.map(|_| number).into()
}
