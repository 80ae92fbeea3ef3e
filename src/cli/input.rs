//! The log that a command reads: a file, or what comes through a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;

use tempfile::{SpooledData, SpooledTempFile};

use super::Failure;
use eventlog::source::{FileSource, SharedSource, read_log};
use eventlog::system_words;
use eventlog::{LogError, LogReader, Sink};
use views::session::{Session, read_session_on};

/// How much of a pipe is kept in memory. More goes to a temporary file, which may become as
/// large as there is room.
const IN_MEMORY_BYTES: usize = 64 << 20;

/// A log that can be read more than once, and at any place.
pub(super) enum Input {
    /// A file, or all that came through a pipe, a terminal or another stream.
    File(FileSource),
    /// The same, if it was little.
    Bytes(Vec<u8>),
}

impl Input {
    /// Opens a file; `-` is standard input. What is no regular file is read to its end first.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return spool(path, io::stdin().lock());
        }
        let failed = |error| Failure::File(path.to_owned(), error);
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        // Files that the system makes up, as in /proc, have no length either.
        if about.is_file() && about.len() > 0 {
            return Ok(Self::File(FileSource::new(file, about.len())));
        }
        spool(path, file)
    }

    /// Reads the log into a sink.
    pub(super) fn read(&self, sink: &mut impl Sink) -> Result<LogReader, Failure> {
        Ok(match self {
            Self::File(file) => read_log(&mut &*file, sink)?,
            Self::Bytes(bytes) => read_log(&mut bytes.as_slice(), sink)?,
        })
    }

    /// Reads the log with all analyses, on all processors that this process may use.
    pub(super) fn read_session(&self) -> Result<Session, Failure> {
        Ok(match self {
            Self::File(file) => read_session(file)?,
            Self::Bytes(bytes) => read_session(bytes.as_slice())?,
        })
    }

    fn of_spooled(file: SpooledTempFile, len: u64) -> Self {
        match file.into_inner() {
            SpooledData::InMemory(bytes) => Self::Bytes(bytes.into_inner()),
            SpooledData::OnDisk(file) => Self::File(FileSource::new(file, len)),
        }
    }
}

fn read_session(log: &(impl SharedSource + ?Sized)) -> Result<Session, LogError> {
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    read_session_on(threads, Session::new(log.byte_len()), log)
}

fn spool(path: &Path, mut from: impl Read) -> Result<Input, Failure> {
    let mut file = SpooledTempFile::new(IN_MEMORY_BYTES);
    let mut piece = vec![0; 1 << 20];
    let mut len = 0;
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok(Input::of_spooled(file, len)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::File(path.to_owned(), error)),
        };
        io::Write::write_all(&mut file, &piece[..count]).map_err(|error| {
            Failure::Absent(format!(
                "after {len} bytes there is no room for more in the temporary folder {}: {}. \
                 Make room there, name another folder with TMPDIR, or save the log as a file first.",
                std::env::temp_dir().display(),
                system_words(&error)
            ))
        })?;
        len += count as u64;
    }
}
