//! Table `collections`: one row per garbage collection.

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::Table;
use analysis::numbers::collections_query::CollectionsQuery;
use session::collection_export::COLUMNS;

/// One row per garbage collection.
pub(super) const TABLE: Table = Table {
    name: "collections",
    help: "One row per garbage collection, as in `eventscope collections`.",
    columns: &COLUMNS.heads(),
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    let query = CollectionsQuery {
        range: log.range,
        rows: 0..u64::MAX,
        ..CollectionsQuery::default()
    };
    for collection in &log.session.ask(&query).rows {
        rows.row(&COLUMNS.cells(collection))?;
    }
    Ok(())
}
