//! Native drivers of a [`LogReader`], or of whatever reads with one: they supply its ranges
//! from memory or from a file. The browser's driver is the worker.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use crate::problem::system_words;
use crate::{LogError, LogReader, Need, Sink, Stage, Step};

/// A file that can be read at any place.
pub trait Source {
    /// Its length in bytes.
    fn byte_len(&self) -> u64;

    /// Puts bytes from the start of `range` into `into`: all of them, or
    /// fewer (but some).
    ///
    /// # Errors
    /// What the system says.
    fn read(&mut self, range: Range<u64>, into: &mut Vec<u8>) -> io::Result<()>;
}

impl Source for &[u8] {
    fn byte_len(&self) -> u64 {
        self.len() as u64
    }

    fn read(&mut self, range: Range<u64>, into: &mut Vec<u8>) -> io::Result<()> {
        let bytes = &self[range.start as usize..range.end as usize];
        into.extend_from_slice(bytes);
        Ok(())
    }
}

/// A file on disk.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    len: u64,
}

impl FileSource {
    /// Opens a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &std::path::Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(Self { file, len })
    }
}

impl Source for FileSource {
    fn byte_len(&self) -> u64 {
        self.len
    }

    fn read(&mut self, range: Range<u64>, into: &mut Vec<u8>) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(range.start))?;
        let count = range.end - range.start;
        self.file.by_ref().take(count).read_to_end(into).map(drop)
    }
}

/// What reads a log and names the ranges that it needs.
pub trait Driven {
    /// Goes on as far as the supplied bytes allow.
    ///
    /// # Errors
    /// If the file is no eventlog that can be read.
    fn advance(&mut self) -> Result<Step, LogError>;
    /// Takes bytes of the file that begin at `at`.
    fn supply(&mut self, at: u64, bytes: &[u8]);
    /// The source fails from `at` on. Whether what was read before is kept.
    fn cut(&mut self, at: u64) -> bool;
}

/// A reader with its sink.
struct Reading<'a, S>(LogReader, &'a mut S);

impl<S: Sink> Driven for Reading<'_, S> {
    fn advance(&mut self) -> Result<Step, LogError> {
        self.0.advance(self.1, usize::MAX)
    }
    fn supply(&mut self, at: u64, bytes: &[u8]) {
        self.0.supply(at, bytes);
    }
    fn cut(&mut self, at: u64) -> bool {
        let keeps = self.0.progress().stage == Stage::Analysing;
        if keeps {
            self.0.cut(at);
        }
        keeps
    }
}

/// Reads a whole log from `source` into `sink`.
///
/// # Errors
/// If it is no eventlog, or the source fails before its header is read; a
/// source that fails later ends the log there.
pub fn read_log(source: &mut impl Source, sink: &mut impl Sink) -> Result<LogReader, LogError> {
    let mut reading = Reading(LogReader::new(source.byte_len()), sink);
    drive(source, &mut reading)?;
    Ok(reading.0)
}

/// Supplies what `log` needs from `source` until it is read to its end.
///
/// # Errors
/// As [`read_log`].
pub fn drive(source: &mut impl Source, log: &mut impl Driven) -> Result<(), LogError> {
    let mut bytes = Vec::new();
    loop {
        match log.advance()? {
            Step::Need(needs) => {
                for Need(range) in needs {
                    bytes.clear();
                    let at = range.start;
                    let read = source.read(range, &mut bytes);
                    if read.is_ok() && !bytes.is_empty() {
                        log.supply(at, &bytes);
                    } else if !log.cut(at) {
                        let why =
                            read.map_or_else(|error| system_words(&error), |()| "no bytes".into());
                        return Err(LogError::Read { at, why });
                    }
                }
            }
            Step::More | Step::Indexed => {}
            Step::Done => return Ok(()),
        }
    }
}
