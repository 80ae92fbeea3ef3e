//! Description of tables and columns.

use std::fmt;

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;

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

/// A column. Its name includes the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, including the unit.
    pub name: &'static str,
    /// Type of the cells.
    pub kind: Kind,
    /// Description for the documentation.
    pub help: &'static str,
}

/// Type of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// Signed 64-bit integer; larger values saturate.
    Number,
    /// 64-bit floating-point number.
    Ratio,
    /// Boolean value.
    Flag,
}

impl Column {
    /// Creates a column of texts.
    pub const fn text(name: &'static str, help: &'static str) -> Self {
        Self::new(Kind::Text, name, help)
    }

    /// Creates a column of whole numbers.
    pub const fn number(name: &'static str, help: &'static str) -> Self {
        Self::new(Kind::Number, name, help)
    }

    /// Creates a column of floating-point numbers.
    pub const fn ratio(name: &'static str, help: &'static str) -> Self {
        Self::new(Kind::Ratio, name, help)
    }

    /// Creates a column of truth values.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::new(Kind::Flag, name, help)
    }

    const fn new(kind: Kind, name: &'static str, help: &'static str) -> Self {
        Self { name, kind, help }
    }
}
