//! Files that are opened in the page.

use std::fs::File;
use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tempfile::NamedTempFile;

use super::Failure;
use super::output_file::remove_unfinished_on_signals;
use native::add_unfinished;

/// Characters to escape in a file name that is part of a URL.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// File served to the page.
#[derive(Debug)]
pub(super) struct ServedFile {
    /// Path of the file to read.
    pub(super) path: PathBuf,
    /// Name shown in the page.
    name: String,
    /// Keeps the temporary file with the contents of a pipe.
    _temporary: Option<NamedTempFile>,
}

impl ServedFile {
    /// Opens a readable file; `-` is standard input. Anything but a regular file is first copied to a temporary
    /// file.
    ///
    /// # Errors
    /// If the file does not exist, is a folder, or cannot be read.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::File(path.to_owned(), error);
        if path.as_os_str() == "-" {
            let temporary = spool(&mut io::stdin().lock()).map_err(failed)?;
            return Ok(Self::from_temporary("standard input", temporary));
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
            return Ok(Self::from_temporary(
                &name,
                spool(&mut file).map_err(failed)?,
            ));
        }
        Ok(Self {
            path: std::path::absolute(path).map_err(failed)?,
            name: name.into_owned(),
            _temporary: None,
        })
    }

    /// Serves a temporary file under another name.
    pub(super) fn from_temporary(name: &str, temporary: NamedTempFile) -> Self {
        Self {
            path: temporary.path().to_owned(),
            name: name.to_owned(),
            _temporary: Some(temporary),
        }
    }

    /// Returns the name escaped for a URL.
    pub(super) fn escaped_name(&self) -> String {
        utf8_percent_encode(&self.name, ESCAPED).to_string()
    }
}

/// Creates a temporary file, which is removed when the process ends, even by a signal.
pub(super) fn temporary_file() -> io::Result<NamedTempFile> {
    // Ctrl+C is the usual way to end `view`, so its exit status is 0.
    remove_unfinished_on_signals(0);
    let file = NamedTempFile::with_prefix("eventscope-")?;
    add_unfinished(file.path());
    Ok(file)
}

/// Copies a stream to a temporary file.
fn spool(from: &mut impl io::Read) -> io::Result<NamedTempFile> {
    let mut temporary = temporary_file()?;
    io::copy(from, &mut temporary)?;
    Ok(temporary)
}
