//! The table of collections for other programs: one list of columns for files and for the
//! command line. Times are in nanoseconds, sizes in bytes.

use crate::cells::{Cell, Separated, rows_text};
use analysis::numbers::Collection;
use analysis::numbers::collections_query::CollectionsReply;

/// What a column has of a row.
type Content = fn(&Collection) -> Cell<'static>;

/// The columns, each by its name.
const COLUMNS: [(&str, Content); 16] = [
    ("number", |gc| u64::from(gc.number).into()),
    ("cap", |gc| u64::from(gc.cap.0).into()),
    ("start_ns", |gc| gc.start.0.into()),
    ("end_ns", |gc| gc.end.0.into()),
    ("pause_ns", |gc| gc.pause_ns().into()),
    ("sync_ns", |gc| gc.sync_ns.into()),
    ("gen", |gc| gc.generation.map(u64::from).into()),
    ("threads", |gc| told(gc, gc.threads.into())),
    ("copied_bytes", |gc| told(gc, gc.copied_bytes)),
    ("slop_bytes", |gc| told(gc, gc.slop_bytes)),
    ("fragmentation_bytes", |gc| told(gc, gc.fragmentation_bytes)),
    ("max_copied_bytes", |gc| told(gc, gc.max_copied_bytes)),
    ("balance", |gc| gc.balance().into()),
    ("live_bytes", |gc| gc.live_bytes.into()),
    ("heap_size_bytes", |gc| gc.heap_size_bytes.into()),
    ("allocated_bytes", |gc| told(gc, gc.allocated_bytes)),
];

/// Of a collection without statistics only the times are known.
fn told(gc: &Collection, number: u64) -> Cell<'static> {
    gc.generation.map(|_| number).into()
}

/// The names of the columns.
#[must_use]
pub fn names() -> [&'static str; COLUMNS.len()] {
    COLUMNS.map(|(name, _)| name)
}

/// The cells of a row, one for each column.
#[must_use]
pub fn cells(gc: &Collection) -> [Cell<'static>; COLUMNS.len()] {
    COLUMNS.map(|(_, content)| content(gc))
}

/// The rows of a table as a text, which [`rows_text`] makes: a long table may be asked for in parts.
#[must_use]
pub fn collection_text(table: &CollectionsReply, how: Separated, is_first: bool) -> String {
    rows_text(how, &names(), table.rows.iter().map(cells), is_first)
}
