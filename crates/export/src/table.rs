//! Description of tables.

use std::fmt;

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use session::cells::Column;

/// A table, which every table format writes.
#[derive(Clone, Copy)]
pub struct Table {
    /// Name of its folder.
    pub name: &'static str,
    /// What a row contains.
    pub help: &'static str,
    /// Columns, without the first one, `run`, which every table has.
    pub columns: &'static [Column],
    /// Writes the rows of a log.
    pub(crate) fill: fn(&Log<'_>, &mut Rows) -> Result<(), Error>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("name", &self.name)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}
