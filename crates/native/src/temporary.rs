//! Temporary file for data that does not fit into memory.

use std::fs::File;
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

use eventlog::Backing;

/// An unnamed file in the system's temporary folder. It is created on the first write, and vanishes when the
/// process ends, in whatever way.
#[derive(Debug, Default)]
pub struct TemporaryFile {
    /// `None` if it could not be created.
    file: OnceLock<Option<File>>,
    len: Mutex<u64>,
}

impl Backing for TemporaryFile {
    fn append(&self, bytes: &[u8]) -> Option<u64> {
        let mut len = self.len.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self
            .file
            .get_or_init(|| tempfile::tempfile().ok())
            .as_ref()?;
        let at = *len;
        write_all_at(file, bytes, at).ok()?;
        *len += bytes.len() as u64;
        Some(at)
    }

    fn read(&self, at: u64, into: &mut [u8]) -> bool {
        let file = self.file.get().and_then(Option::as_ref);
        file.is_some_and(|file| read_exact_at(file, into, at).is_ok())
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_exact_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(count..).unwrap_or_default();
        at += count as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut into: &mut [u8], mut at: u64) -> io::Result<()> {
    while !into.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, into, at)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        into = into.get_mut(count..).unwrap_or_default();
        at += count as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_appended_comes_back() {
        let file = TemporaryFile::default();
        assert!(!file.read(0, &mut [0]));
        assert_eq!(file.append(b"first"), Some(0));
        assert_eq!(file.append(b"second"), Some(5));
        let mut bytes = [0; 7];
        assert!(file.read(4, &mut bytes));
        assert_eq!(&bytes, b"tsecond");
        assert!(!file.read(5, &mut bytes));
    }
}
