//! Export of the garbage collection table. Files and the command line share one list of columns. Times are in
//! nanoseconds, sizes in bytes.

use crate::cells::{Cell, RowFormat, rows_text};
use analysis::numbers::Collection;
use analysis::numbers::collections_query::CollectionsReply;

/// Function that extracts a cell from a row.
type Content = fn(&Collection) -> Cell<'static>;

/// Column names with their content.
const COLUMNS: [(&str, Content); 16] = [
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
];

/// Returns a statistic; without statistics (no generation), only the times of a collection are known.
fn statistic_cell(gc: &Collection, number: u64) -> Cell<'static> {
    gc.generation.map(|_| number).into()
}

/// Returns the column names.
pub fn names() -> [&'static str; COLUMNS.len()] {
    COLUMNS.map(|(name, _)| name)
}

/// Returns the cells of a row, one per column.
pub fn cells(gc: &Collection) -> [Cell<'static>; COLUMNS.len()] {
    COLUMNS.map(|(_, content)| content(gc))
}

/// Formats the rows with [`rows_text`]; a long table can be formatted in parts.
pub fn collection_text(table: &CollectionsReply, how: RowFormat, is_first: bool) -> String {
    rows_text(how, &names(), table.rows.iter().map(cells), is_first)
}
