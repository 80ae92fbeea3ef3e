//! The formats, each a file.

mod csv;
mod jsonl;
mod parquet;

use crate::format::Format;

/// All formats, in the order in which they are listed.
pub const FORMATS: [&Format; 3] = [&parquet::FORMAT, &csv::FORMAT, &jsonl::FORMAT];

/// The format of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.into_iter().find(|format| format.name == name)
}
