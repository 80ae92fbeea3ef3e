//! Export formats: their names and writers.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::log::Log;
use crate::trace::left_out::left_out;
use eventlog::{LogError, system_words};
use native::CreateError;

/// An export format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Name for `--format`.
    pub name: &'static str,
    /// One-line description.
    pub help: &'static str,
    /// Whether it has spans and messages of the program as the analyses keep them, which is not all of them.
    pub is_trace: bool,
    /// Kind of output, with the function that writes it.
    pub output: OutputKind,
}

impl Format {
    /// Returns a clause about each kind of data that the output lacks because of a limit, with its amount.
    pub fn left_out(&self, log: &Log<'_>) -> Vec<String> {
        match self.is_trace {
            true => left_out(log),
            false => Vec::new(),
        }
    }
}

/// Kind of output of a format.
#[derive(Clone, Copy)]
pub enum OutputKind {
    /// Tables: files below a folder that several logs may share.
    Tables(fn(&Log<'_>, &Path) -> Result<(), Error>),
    /// Several files per log: the path is what their paths begin with.
    Files(fn(&Log<'_>, &Path) -> Result<(), Error>),
    /// One file per log.
    File {
        /// File extension without the dot.
        extension: &'static str,
        /// Writes the file; writes nothing if the log has no data for this format.
        write: fn(&Log<'_>, &mut dyn Write) -> Result<(), Error>,
    },
}

impl fmt::Debug for OutputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tables(_) => "Tables",
            Self::Files(_) => "Files",
            Self::File { extension, .. } => extension,
        })
    }
}

/// Reason why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The log could not be read again.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The output file of a log could not be written.
    #[error("{}", system_words(.0))]
    Output(#[from] io::Error),
    /// The output file of a table could not be written.
    #[error("{}: {}", .0.display(), system_words(.1))]
    File(PathBuf, io::Error),
    /// The output file is one of the inputs.
    #[error("{} is an input: name another output", .0.display())]
    IsInput(PathBuf),
    /// The log cannot be represented in this format; the reason is a sentence.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// Converts an error from creating the file at `path`.
    pub(crate) fn create(path: &Path, error: CreateError) -> Self {
        match error {
            CreateError::IsInput => Self::IsInput(path.to_owned()),
            CreateError::Io(error) => Self::File(path.to_owned(), error),
        }
    }
}
