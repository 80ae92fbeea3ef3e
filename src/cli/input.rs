//! Input of commands: a log from a file or a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use tempfile::{SpooledData, SpooledTempFile};

use super::{Failure, print_message};
use eventlog::FileSource;
use eventlog::source::SharedSource;
use eventlog::{LogError, LogReader, Sink, system_words};
use eventlog_edit::merge::Feed;
use model::time::Interval;
use native::{TemporaryFile, is_same_file, read_records, read_session_on};
use session::{MemoryBudget, Session};
use views::fingerprint::{Fingerprint, fingerprint, sampled};
use views::words::diagnostics::line;

/// Number of bytes of a pipe kept in memory; more goes to a temporary file, limited only by disk space.
const IN_MEMORY_BYTES: usize = 64 << 20;

/// The log that a command reads, and how.
#[derive(Debug, clap::Args)]
pub(super) struct LogFile {
    /// The log, or a heap profile in text (.hp)
    file: PathBuf,
    /// Approximate memory to use, in MiB; more goes to a temporary file
    #[arg(long, value_name = "MIB", default_value_t = MemoryBudget::default().bytes >> 20)]
    memory: u64,
}

impl LogFile {
    /// Returns the log at a path, with the default memory budget.
    pub(super) fn from_path(path: &Path) -> Self {
        Self::with_memory(path, MemoryBudget::default().bytes >> 20)
    }

    /// Returns the log at a path, with a memory budget in MiB.
    pub(super) fn with_memory(path: &Path, memory: u64) -> Self {
        Self {
            file: path.to_owned(),
            memory,
        }
    }

    /// Returns the file name without its folder.
    pub(super) fn name(&self) -> String {
        let name = self.file.file_name().unwrap_or(self.file.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Returns the path; `-` is standard input.
    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// Reads the log with all analyses. The returned range is `range`, clipped to the range of the cut if the log
    /// was cut.
    ///
    /// # Errors
    /// If the log cannot be read, or the range lies outside it.
    pub(super) fn read(&self, range: super::Range) -> Result<(Session, Option<Interval>), Failure> {
        let span = range.span()?;
        let session = self.open()?.read_session()?;
        range.check(session.recording().info.covered())?;
        let span = session.recording().clip_to_cut(span);
        Ok((session, span))
    }

    /// Opens the log; `-` is standard input. Anything but a regular file is read to its end first.
    pub(super) fn open(&self) -> Result<Input, Failure> {
        Ok(Input {
            bytes: Bytes::open(&self.file)?,
            memory: MemoryBudget::from_mib(self.memory),
        })
    }
}

/// Log that can be read repeatedly and at any offset.
pub(super) struct Input {
    bytes: Bytes,
    memory: MemoryBudget,
}

impl Input {
    /// Reads the log into a sink.
    pub(super) fn read(&self, sink: &mut impl Sink) -> Result<LogReader, Failure> {
        let source = self.bytes.source();
        let reader = self.reader(source.byte_len());
        Ok(read_records(reader, source, sink)?)
    }

    /// Reads the log into a sink again, reusing the inflated copy that the session may hold.
    pub(super) fn read_again(
        &self,
        session: &Session,
        sink: &mut impl Sink,
    ) -> Result<(), LogError> {
        let raw = self.bytes.source();
        let inflated = session.inflated().map(|log| log as &dyn SharedSource);
        let source = inflated.unwrap_or(raw);
        let reader = LogReader::new(source.byte_len());
        read_records(reader, source, sink).map(drop)
    }

    /// Returns the fingerprint that identifies the log.
    pub(super) fn fingerprint(&self, path: &Path) -> Result<Fingerprint, Failure> {
        let len = self.bytes.source().byte_len();
        let samples = sampled(len).into_iter();
        let samples: io::Result<Vec<Vec<u8>>> =
            samples.map(|range| self.read_bytes(range)).collect();
        let samples = samples.map_err(|error| Failure::File(path.to_owned(), error))?;
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        Ok(fingerprint(len, &samples))
    }

    /// Returns all bytes if the input is a JSON object; `None` if it may be a log, which never begins with a brace.
    pub(super) fn read_object(&self, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
        let len = self.bytes.source().byte_len();
        let read = |range: Range<u64>| {
            let bytes = self.read_bytes(range);
            bytes.map_err(|error| Failure::File(path.to_owned(), error))
        };
        match read(0..len.min(1))?.first() {
            Some(b'{') => read(0..len).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads a range of bytes, or less at the end of a file that has become shorter.
    fn read_bytes(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let source = self.bytes.source();
        let (mut read, mut buffer) = (Vec::new(), Vec::new());
        while range.start + (read.len() as u64) < range.end {
            let rest = range.start + read.len() as u64..range.end;
            match source.read_at(rest, &mut buffer)? {
                [] => break,
                bytes => read.extend_from_slice(bytes),
            }
        }
        Ok(read)
    }

    /// Returns a reader that pulls events on demand.
    pub(super) fn feed(&self) -> Feed<&dyn SharedSource> {
        let source = self.bytes.source();
        Feed::new(self.reader(source.byte_len()), source)
    }

    fn reader(&self, byte_len: u64) -> LogReader {
        let file = Arc::new(TemporaryFile::default());
        LogReader::new(byte_len).with_inflate_backing(file, self.memory.inflated_bytes())
    }

    /// Reads the log with all analyses, on all processors available to this process.
    pub(super) fn read_session(&self) -> Result<Session, Failure> {
        let source = self.bytes.source();
        let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let file = Arc::new(TemporaryFile::default());
        let session = Session::with_memory_budget(source.byte_len(), self.memory, Some(file));
        let session = read_session_on(threads, session, source)?;
        for diagnostic in session.memory_diagnostics() {
            print_message(line(&diagnostic));
        }
        Ok(session)
    }
}

enum Bytes {
    /// A file, or the spooled contents of a pipe, a terminal or another stream.
    File(FileSource),
    /// Spooled contents that fit in memory.
    Memory(Vec<u8>),
}

impl Bytes {
    fn open(path: &Path) -> Result<Self, Failure> {
        if is_same_file(path, Path::new("/dev/stdout")) {
            let what = format!("{} is also the standard output", path.display());
            return Err(Failure::Usage(what));
        }
        if path.as_os_str() == "-" {
            return spool(path, io::stdin().lock());
        }
        if path.is_dir() {
            return Err(Failure::Absent(format!(
                "{} is a folder: name the .eventlog or .hp file in it",
                path.display()
            )));
        }
        let failed = |error| Failure::File(path.to_owned(), error);
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        // Virtual files, as in /proc, have a length of 0, too.
        if about.is_file() && about.len() > 0 {
            return Ok(Self::File(FileSource::new(file, about.len())));
        }
        spool(path, file)
    }

    fn source(&self) -> &dyn SharedSource {
        match self {
            Self::File(file) => file,
            Self::Memory(bytes) => bytes,
        }
    }

    fn of_spooled(file: SpooledTempFile, len: u64) -> Self {
        match file.into_inner() {
            SpooledData::InMemory(bytes) => Self::Memory(bytes.into_inner()),
            SpooledData::OnDisk(file) => Self::File(FileSource::new(file, len)),
        }
    }
}

fn spool(path: &Path, mut from: impl Read) -> Result<Bytes, Failure> {
    let mut file = SpooledTempFile::new(IN_MEMORY_BYTES);
    let mut piece = vec![0; 1 << 20];
    let mut len = 0;
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok(Bytes::of_spooled(file, len)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::File(path.to_owned(), error)),
        };
        io::Write::write_all(&mut file, &piece[..count]).map_err(|error| {
            Failure::Absent(format!(
                "could not write to the temporary folder {} after {len} bytes: {}. \
                 Free space there, set TMPDIR to another folder, or save the log as a file first.",
                std::env::temp_dir().display(),
                system_words(&error)
            ))
        })?;
        len += count as u64;
    }
}
