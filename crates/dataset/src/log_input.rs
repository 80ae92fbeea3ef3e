//! Opening, hashing and analyzing the file of a log.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use eventlog::source::SharedSource;
use eventlog::{FileSource, LogError, LogReader, Sink};
use eventlog_edit::anonymous::Anonymizer;
use eventlog_edit::cut::{Cut, Selection};
use native::{TemporaryFile, read_records, read_session_on};
use session::{MemoryBudget, Session};
use views::fingerprint::{Fingerprint, fingerprint};

/// File of a log.
#[derive(Debug)]
pub(crate) struct LogInput {
    source: FileSource,
    sha256: String,
}

impl LogInput {
    /// Opens a file and reads it once, for its hash.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let source = FileSource::new(file, about.len());
        let (mut hash, mut buffer, mut at) = (Sha256::new(), Vec::new(), 0);
        while at < about.len() {
            const PIECE: u64 = 1 << 20;
            let end = about.len().min(at + PIECE);
            let bytes = source.read_at(at..end, &mut buffer)?;
            if bytes.is_empty() {
                return Err(io::Error::other("it became shorter while it was read"));
            }
            hash.update(bytes);
            at += bytes.len() as u64;
        }
        Ok(Self {
            source,
            sha256: hexadecimal(&hash.finalize()),
        })
    }

    /// SHA-256 of the bytes, in hexadecimal digits.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Size in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.source.byte_len()
    }

    /// Identifies the log by its content: size in base 36, a dash, and 64 bits of the hash.
    pub(crate) fn run(&self) -> String {
        let size = self.fingerprint().to_string();
        let size = size.split('.').next().unwrap_or_default();
        format!("{size}-{}", &self.sha256[..16])
    }

    /// Identifies the log for exports, which do not use it here.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        fingerprint(self.len(), &[self.sha256.as_bytes()])
    }

    /// Reads the log with all analyses.
    pub(crate) fn analyze(
        &self,
        threads: NonZeroUsize,
        memory: MemoryBudget,
    ) -> Result<Session, LogError> {
        analyze(&self.source, threads, memory)
    }

    /// Reads the log once more.
    pub(crate) fn read_again(
        &self,
        session: &Session,
        sink: &mut impl Sink,
    ) -> Result<(), LogError> {
        let inflated = session.inflated().map(|log| log as &dyn SharedSource);
        let source = inflated.unwrap_or(&self.source);
        let reader = LogReader::new(source.byte_len());
        read_records(reader, source, sink).map(drop)
    }

    /// Writes the log with its texts replaced to an unnamed file. Also returns the reader of the log itself, which
    /// knows its damage.
    pub(crate) fn anonymized(&self, memory: MemoryBudget) -> Result<(Self, LogReader), InputError> {
        let file = tempfile::tempfile().map_err(InputError::Temporary)?;
        let out = BufWriter::new(file.try_clone().map_err(InputError::Temporary)?);
        let mut cut = Cut::new(Selection::default(), Some(Anonymizer::default()), out);
        let backing = Arc::new(TemporaryFile::default());
        let reader = LogReader::new(self.len());
        let reader = reader.with_inflate_backing(backing, memory.inflated_bytes());
        let reader = read_records(reader, &self.source, &mut cut)?;
        let (out, counts) = cut.finish(&reader).map_err(InputError::Temporary)?;
        let flushed = out.into_inner().map_err(|error| error.into_error());
        flushed.map_err(InputError::Temporary)?;
        let input = Self {
            source: FileSource::new(file, counts.bytes),
            sha256: self.sha256.clone(),
        };
        Ok((input, reader))
    }
}

fn analyze(
    source: &FileSource,
    threads: NonZeroUsize,
    memory: MemoryBudget,
) -> Result<Session, LogError> {
    let file = Arc::new(TemporaryFile::default());
    let session = Session::with_memory_budget(source.byte_len(), memory, Some(file));
    read_session_on(threads, session, source)
}

/// Reason why a log cannot be analyzed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The temporary file of the log with its texts replaced cannot be written.
    #[error("the temporary folder: {0}")]
    Temporary(io::Error),
}

/// Returns the SHA-256 of a text in hexadecimal digits.
pub(crate) fn hash_text(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
