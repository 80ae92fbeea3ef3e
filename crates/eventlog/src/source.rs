//! Drivers of a [`LogReader`] or of a type that wraps one: they supply the requested ranges from memory or from a
//! file. In the browser, the worker drives the reader instead, as bytes arrive.

use std::io;
use std::ops::Range;

use crate::problem::system_words;
use crate::{Inflated, LogError, LogReader, Need, Sink, Stage, Step};

/// Random-access input.
pub trait Source {
    /// Returns the length in bytes.
    fn byte_len(&self) -> u64;

    /// Reads the bytes from the start of `range`: all of them, or at least one. They may be stored in `buffer`,
    /// which is reused from call to call.
    ///
    /// # Errors
    /// Any I/O error of the system.
    fn read<'a>(&'a mut self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]>;
}

/// Random-access input that several threads can read at once, each at its own position.
pub trait SharedSource: Sync {
    /// See [`Source::byte_len`].
    fn byte_len(&self) -> u64;

    /// See [`Source::read`].
    ///
    /// # Errors
    /// Any I/O error of the system.
    fn read_at<'a>(&'a self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]>;
}

impl<S: SharedSource + ?Sized> Source for &S {
    fn byte_len(&self) -> u64 {
        (**self).byte_len()
    }

    fn read<'a>(&'a mut self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.read_at(range, buffer)
    }
}

impl SharedSource for [u8] {
    fn byte_len(&self) -> u64 {
        self.len() as u64
    }

    fn read_at<'a>(&'a self, range: Range<u64>, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let [from, to] = [range.start, range.end]
            .map(|at| usize::try_from(at).map_or(self.len(), |at| at.min(self.len())));
        Ok(self.get(from..to).unwrap_or_default())
    }
}

impl SharedSource for Vec<u8> {
    fn byte_len(&self) -> u64 {
        self.as_slice().byte_len()
    }

    fn read_at<'a>(&'a self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.as_slice().read_at(range, buffer)
    }
}

impl SharedSource for Inflated {
    fn byte_len(&self) -> u64 {
        self.byte_len()
    }

    fn read_at<'a>(&'a self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        if self.read(range, buffer) {
            return Ok(buffer);
        }
        Err(io::Error::other(
            "the decompressed data could not be read back",
        ))
    }
}

/// Pull parser: it reads a log and requests the ranges that it needs.
pub trait PullReader {
    /// Advances as far as the supplied bytes allow.
    ///
    /// # Errors
    /// If the file is not a readable eventlog.
    fn advance(&mut self) -> Result<Step, LogError>;
    /// Supplies bytes of the file, starting at offset `at`.
    fn supply(&mut self, at: u64, bytes: &[u8]);
    /// Ends the input at `at`, where the source fails. Returns whether the part read so far is kept.
    fn truncate(&mut self, at: u64) -> bool;
}

/// [`PullReader`] adapter for a reader and its sink.
struct ReaderWithSink<'a, S>(LogReader, &'a mut S);

impl<S: Sink> PullReader for ReaderWithSink<'_, S> {
    fn advance(&mut self) -> Result<Step, LogError> {
        self.0.advance(self.1, usize::MAX)
    }
    fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.0.supply(at, bytes);
    }
    fn truncate(&mut self, at: u64) -> bool {
        let keeps = self.0.progress().stage == Stage::Analyzing;
        if keeps {
            self.0.truncate(at);
        }
        keeps
    }
}

/// Reads a whole log from `source` into `sink`.
///
/// # Errors
/// If the file is not an eventlog, or if the source fails before the header is read. A source that fails later
/// ends the log there.
pub fn read_log(source: &mut impl Source, sink: &mut impl Sink) -> Result<LogReader, LogError> {
    let reader = LogReader::new(source.byte_len());
    read_log_by(reader, source, sink)
}

/// Reads a log as [`read_log`] does, with a reader that the caller configured.
///
/// # Errors
/// See [`read_log`].
pub fn read_log_by(
    reader: LogReader,
    source: &mut impl Source,
    sink: &mut impl Sink,
) -> Result<LogReader, LogError> {
    let mut reading = ReaderWithSink(reader, sink);
    drive(source, &mut reading)?;
    Ok(reading.0)
}

/// Supplies the ranges that `log` requests from `source` until it is done.
///
/// # Errors
/// See [`read_log`].
pub fn drive(source: &mut impl Source, log: &mut impl PullReader) -> Result<(), LogError> {
    let mut buffer = Vec::new();
    loop {
        match log.advance()? {
            Step::Need(needs) => {
                for Need(range) in needs {
                    let at = range.start;
                    let why = match source.read(range, &mut buffer) {
                        Ok([]) => "no bytes".into(),
                        Ok(bytes) => {
                            log.supply(at, bytes);
                            continue;
                        }
                        Err(error) => system_words(&error),
                    };
                    if !log.truncate(at) {
                        return Err(LogError::Read { at, why });
                    }
                }
            }
            Step::More | Step::Indexed => {}
            Step::Done => return Ok(()),
        }
    }
}
