//! What a table is.

use std::fmt;

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;

/// A table, which every format writes.
#[derive(Clone, Copy)]
pub struct Table {
    /// The name of its folder.
    pub name: &'static str,
    /// What a row is.
    pub help: &'static str,
    /// Its columns; the first of all is `run`, which is not listed.
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

/// A column. Its name carries its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What it is called.
    pub name: &'static str,
    /// What its cells are.
    pub kind: Kind,
    /// What it means.
    pub help: &'static str,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text (UTF-8).
    Text,
    /// A whole number with 64 bits and a sign. What is larger stands there as the largest.
    Number,
    /// A floating-point number with 64 bits.
    Ratio,
    /// Whether something is so.
    Flag,
}

impl Column {
    pub(crate) const fn text(name: &'static str, help: &'static str) -> Self {
        Self::of(Kind::Text, name, help)
    }

    pub(crate) const fn number(name: &'static str, help: &'static str) -> Self {
        Self::of(Kind::Number, name, help)
    }

    pub(crate) const fn ratio(name: &'static str, help: &'static str) -> Self {
        Self::of(Kind::Ratio, name, help)
    }

    pub(crate) const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::of(Kind::Flag, name, help)
    }

    const fn of(kind: Kind, name: &'static str, help: &'static str) -> Self {
        Self { name, kind, help }
    }
}
