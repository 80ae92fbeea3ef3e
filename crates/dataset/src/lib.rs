#![doc = include_str!("../README.md")]

mod add;
mod claim;
pub mod compaction;
mod description;
mod files;
mod isolation;
mod log_input;
mod manifest;
mod partition;
mod table_file;
pub mod tables;
mod views;
mod writer;

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;

use eventlog::system_words;

pub use add::Outcome;
pub use description::{Choices, Dataset, SCHEMA_VERSION, Texts};
pub use isolation::Isolation;
pub use manifest::{Entry, Manifest, Status, TableEntry};
pub use partition::{BUILT_IN_KEYS, MISSING, Rules, escaped};
pub use writer::{Added, Options, add_log, add_logs};

/// Reason why a data set cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder of the data set cannot be read or written.
    #[error("{}: {}", .0.display(), system_words(.1))]
    File(PathBuf, io::Error),
    /// The data set does not accept this; the reason is a sentence.
    #[error("{0}")]
    Refused(String),
    /// No data set accepts this choice; the reason is a sentence.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// Returns a conversion from errors about the file at `path`.
    pub(crate) fn about(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::File(path.to_owned(), error)
    }
}
