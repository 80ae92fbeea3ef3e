//! The tables, each a file. Their names and columns never change; new ones may come.

mod capabilities;
mod collections;
mod events;
mod findings;
mod heap;
mod idle;
mod numbers;
mod runs;
mod samples;
mod spans;
mod threads;

use std::path::Path;

use crate::format::Error;
use crate::log::Log;
use crate::rows::{Encoding, Rows};
use crate::table::Table;

/// All tables.
pub const TABLES: [&Table; 11] = [
    &runs::TABLE,
    &numbers::TABLE,
    &findings::TABLE,
    &capabilities::TABLE,
    &spans::TABLE,
    &threads::TABLE,
    &collections::TABLE,
    &heap::TABLE,
    &samples::SAMPLES,
    &samples::STACKS,
    &events::TABLE,
];

/// Writes all tables of a log below a folder: `TABLE/run=ID/part-0.…`, which engines read as one
/// table with the column `run`.
pub(crate) fn write(log: &Log<'_>, folder: &Path, encoding: &Encoding) -> Result<(), Error> {
    let run = log.run();
    for table in TABLES {
        let mut rows = Rows::begin(table, (log, &run), folder, encoding)?;
        (table.fill)(log, &mut rows)?;
        rows.finish()?;
    }
    Ok(())
}
