//! The log that a command reads: a file, or what comes through a pipe.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use super::Failure;
use eventlog::source::{FileSource, Source, read_log};
use eventlog::system_words;
use eventlog::{LogReader, Sink};
use views::session::Session;
use views::session::read_session;

/// How much of a pipe is kept in memory. More goes to a temporary file, which may become as
/// large as there is room.
const IN_MEMORY_BYTES: usize = 64 << 20;

/// A log that can be read more than once, and at any place.
pub(super) enum Input {
    File(PathBuf),
    /// All that came through a pipe, a terminal or another stream, and its length in bytes.
    Spooled(RefCell<SpooledTempFile>, u64),
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
            return Ok(Self::File(path.to_owned()));
        }
        spool(path, file)
    }

    /// Reads the log into a sink.
    pub(super) fn read(&self, sink: &mut impl Sink) -> Result<LogReader, Failure> {
        Ok(match self {
            Self::File(path) => read_log(&mut open_file(path)?, sink)?,
            Self::Spooled(file, len) => read_log(&mut Spooled(file, *len), sink)?,
        })
    }

    /// Reads the log with all analyses.
    pub(super) fn read_session(&self) -> Result<Session, Failure> {
        Ok(match self {
            Self::File(path) => read_session(&mut open_file(path)?)?,
            Self::Spooled(file, len) => read_session(&mut Spooled(file, *len))?,
        })
    }
}

fn open_file(path: &Path) -> Result<FileSource, Failure> {
    FileSource::open(path).map_err(|error| Failure::File(path.to_owned(), error))
}

fn spool(path: &Path, mut from: impl Read) -> Result<Input, Failure> {
    let mut file = SpooledTempFile::new(IN_MEMORY_BYTES);
    let mut piece = vec![0; 1 << 20];
    let mut len = 0;
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok(Input::Spooled(RefCell::new(file), len)),
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

/// What came through a pipe, with its length in bytes.
struct Spooled<'a>(&'a RefCell<SpooledTempFile>, u64);

impl Source for Spooled<'_> {
    fn byte_len(&self) -> u64 {
        self.1
    }

    fn read(&mut self, range: Range<u64>, into: &mut Vec<u8>) -> io::Result<()> {
        let mut file = self.0.borrow_mut();
        file.seek(SeekFrom::Start(range.start))?;
        let count = range.end - range.start;
        file.by_ref().take(count).read_to_end(into).map(drop)
    }
}
