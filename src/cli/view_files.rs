//! The files that are opened in the page.

use std::fs::File;
use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tempfile::NamedTempFile;

use super::Failure;
use super::output_file::remove_unfinished_on_signals;
use native::add_unfinished;

/// What is escaped in the name of a file as a part of an address.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A file that is served.
#[derive(Debug)]
pub(super) struct Served {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What it is called in the page.
    name: String,
    /// Keeps what came through a pipe until the end.
    _kept: Option<NamedTempFile>,
}

impl Served {
    /// A file that can be read; `-` is standard input. What is no regular file is read to
    /// its end first.
    ///
    /// # Errors
    /// If it is not there, is a folder, or may not be read.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::File(path.to_owned(), error);
        if path.as_os_str() == "-" {
            let kept = keep(&mut io::stdin().lock()).map_err(failed)?;
            return Ok(Self::kept("standard input", kept));
        }
        let mut file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if about.is_dir() {
            let error = Error::new(ErrorKind::IsADirectory, "that is a folder");
            return Err(failed(error));
        }
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy();
        if !about.is_file() {
            return Ok(Self::kept(&name, keep(&mut file).map_err(failed)?));
        }
        Ok(Self {
            path: std::path::absolute(path).map_err(failed)?,
            name: name.into_owned(),
            _kept: None,
        })
    }

    /// What is in a temporary file, under another name.
    pub(super) fn kept(name: &str, kept: NamedTempFile) -> Self {
        Self {
            path: kept.path().to_owned(),
            name: name.to_owned(),
            _kept: Some(kept),
        }
    }

    /// Its name as a part of an address.
    pub(super) fn escaped_name(&self) -> String {
        utf8_percent_encode(&self.name, ESCAPED).to_string()
    }
}

/// A temporary file, which is removed when the process ends, also by a signal.
pub(super) fn temporary_file() -> io::Result<NamedTempFile> {
    // Ctrl+C is the usual end of `view`.
    remove_unfinished_on_signals(0);
    let file = NamedTempFile::with_prefix("eventscope-")?;
    add_unfinished(file.path());
    Ok(file)
}

/// Reads to the end, into a temporary file.
fn keep(from: &mut impl io::Read) -> io::Result<NamedTempFile> {
    let mut kept = temporary_file()?;
    io::copy(from, &mut kept)?;
    Ok(kept)
}
