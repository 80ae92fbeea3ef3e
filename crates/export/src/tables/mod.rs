//! The tables, one file each. Names and columns are stable; new ones may be added.

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
use std::sync::{Mutex, PoisonError};

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

/// Writes all tables of a log below a folder as `TABLE/run=ID/part-0.…` (Hive partitioning), which query engines
/// read as one table with the column `run`. Uses one thread per core; one writes both tables that need the answers of
/// the rules, which it then computes once.
pub(crate) fn write(log: &Log<'_>, folder: &Path, encoding: &Encoding) -> Result<(), Error> {
    let run = log.run_id();
    let need_rules = |table: &Table| ["numbers", "findings"].contains(&table.name);
    let together = TABLES.chunk_by(|one, next| need_rules(one) && need_rules(next));
    // Tables are taken from the end, so the largest one starts first.
    let left = Mutex::new(together.collect::<Vec<_>>());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = || {
        while let Some(tables) = next() {
            let written = tables.iter().try_for_each(|table| {
                let rows = Rows::create(table, (log, &run), folder, encoding)?;
                fill(table, log, rows)
            });
            if written.is_err() {
                // A failure is likely to repeat, so skip the remaining tables.
                while next().is_some() {}
                return written;
            }
        }
        Ok(())
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let helpers = (1..cores.min(TABLES.len())).map_while(|_| {
            // If no more threads can be spawned, fewer are used.
            std::thread::Builder::new().spawn_scoped(scope, work).ok()
        });
        let helpers: Vec<_> = helpers.collect();
        let own = work();
        let join = |helper: std::thread::ScopedJoinHandle<'_, _>| {
            let panicked = |panic| std::panic::resume_unwind(panic);
            helper.join().unwrap_or_else(panicked)
        };
        helpers.into_iter().map(join).fold(own, Result::and)
    })
}

/// Writes the rows of a log to `rows`, which has the columns of this table.
///
/// # Errors
/// If the log cannot be read again, or the rows cannot be written.
pub fn fill(table: &Table, log: &Log<'_>, mut rows: Rows) -> Result<(), Error> {
    (table.fill)(log, &mut rows)?;
    rows.finish()
}
