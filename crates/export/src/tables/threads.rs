//! Table `threads`: one row per thread.

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::Table;
use analysis::yielder::{NoYield, block_on};
use session::thread_export::COLUMNS;

/// One row per thread.
pub(super) const TABLE: Table = Table {
    name: "threads",
    help: "One row per thread, as in `eventscope threads`: how it spent its time.",
    columns: &COLUMNS.heads(),
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let store = &log.session.recording().store;
    let mut written = Ok(());
    block_on(store.for_each_thread(log.range, &NoYield, |thread| {
        if written.is_ok() {
            written = rows.row(&COLUMNS.cells(thread));
        }
    }));
    written
}
