//! Table `collections`: one row per garbage collection.

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::{Column, Table};
use analysis::numbers::collections_query::CollectionsQuery;
use session::collection_export::COLUMNS;

/// One row per garbage collection.
pub(super) const TABLE: Table = Table {
    name: "collections",
    help: "A row for each collection of garbage, as `eventscope collections` has them.",
    columns: &[
        Column::number("number", "Its number in the log"),
        Column::number("cap", "The capability that led it"),
        Column::number("start_ns", "When it begins"),
        Column::number("end_ns", "When it ends"),
        Column::number("pause_ns", "How long the program stood still"),
        Column::number("sync_ns", "How long the capabilities took to stop"),
        Column::number(
            "gen",
            "The oldest generation that it collected; empty if the log has no statistics of it",
        ),
        Column::number("threads", "Number of GC threads"),
        Column::number("copied_bytes", "What it copied"),
        Column::number("slop_bytes", "Memory that is lost at the ends of blocks"),
        Column::number(
            "fragmentation_bytes",
            "Memory that the runtime holds and does not use",
        ),
        Column::number(
            "max_copied_bytes",
            "What the thread copied that copied the most",
        ),
        Column::ratio(
            "balance",
            "The share that was copied in balance: 1 if all threads copied the same",
        ),
        Column::number("live_bytes", "What is live after it"),
        Column::number("heap_size_bytes", "What the runtime holds for the heap"),
        Column::number(
            "allocated_bytes",
            "What was allocated since the collection before",
        ),
    ],
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
