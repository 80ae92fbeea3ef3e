//! A log in a file. Absent on targets without a file system, such as a browser.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use crate::source::{SharedSource, Source};

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
    /// Any I/O error of the system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(Self { file, len })
    }

    /// Uses an open file of `len` bytes.
    pub const fn new(file: File, len: u64) -> Self {
        Self { file, len }
    }
}

impl SharedSource for FileSource {
    fn byte_len(&self) -> u64 {
        self.len
    }

    fn read_at<'a>(&'a self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let count = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        if buffer.len() < count {
            buffer.resize(count, 0);
        }
        loop {
            match read_at(&self.file, &mut buffer[..count], range.start) {
                Ok(count) => return Ok(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

impl Source for FileSource {
    fn byte_len(&self) -> u64 {
        self.len
    }

    fn read<'a>(&'a mut self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.read_at(range, buffer)
    }
}
