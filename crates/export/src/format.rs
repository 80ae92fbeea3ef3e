//! What a format is.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::log::Log;
use eventlog::{LogError, system_words};
use native::CreateError;

/// A format of other programs.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// As `--format` takes it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// What is written.
    pub written: Written,
}

/// What a format writes of a log.
#[derive(Clone, Copy)]
pub enum Written {
    /// Tables: files below a folder, in which there may be those of other logs.
    Tables(fn(&Log<'_>, &Path) -> Result<(), Error>),
    /// Several files for each log, in a folder; their names begin with that of the log.
    Files(fn(&Log<'_>, &Path) -> Result<(), Error>),
    /// One file for each log.
    File {
        /// How its name ends, without the dot.
        extension: &'static str,
        /// Writes it. Nothing is written if the log has nothing for this format.
        write: fn(&Log<'_>, &mut dyn Write) -> Result<(), Error>,
    },
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tables(_) => "Tables",
            Self::Files(_) => "Files",
            Self::File { extension, .. } => extension,
        })
    }
}

/// Why a log could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read again.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The file of a log could not be written.
    #[error("{}", system_words(.0))]
    Output(#[from] io::Error),
    /// The file of a table could not be written.
    #[error("{}: {}", .0.display(), system_words(.1))]
    File(PathBuf, io::Error),
    /// The file to be written is one of those that are read.
    #[error("{} is an input: name another output", .0.display())]
    IsInput(PathBuf),
    /// The log cannot be said in this format: why, in a sentence.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// Why the file at `path` could not be created.
    pub(crate) fn create(path: &Path, error: CreateError) -> Self {
        match error {
            CreateError::IsInput => Self::IsInput(path.to_owned()),
            CreateError::Io(error) => Self::File(path.to_owned(), error),
        }
    }
}
