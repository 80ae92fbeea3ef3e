//! Files that appear complete or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// Returns the hidden name under which the file at `path` is written. Engines ignore names that begin with a dot.
pub(crate) fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.unfinished"))
}

/// Replaces the file at `path`. Its bytes are on the disk before it gets its name.
///
/// Only one process may do so at a time.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let hidden = unfinished(path);
    let write = || {
        let mut file = File::create(&hidden)?;
        file.write_all(bytes)?;
        sync(&file)?;
        fs::rename(&hidden, path)
    };
    write().map_err(Error::about(path))
}

/// Puts the bytes of a file on the disk.
pub(crate) fn sync(file: &File) -> io::Result<()> {
    // Tests interrupt programs, not the power, and have many files.
    match cfg!(test) {
        true => Ok(()),
        false => file.sync_data(),
    }
}

/// Removes a file if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::about(path)(error)),
        _ => Ok(()),
    }
}

/// Makes renames and removals in a folder durable, where the system can.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), Error> {
    if cfg!(all(unix, not(test))) {
        let sync = || File::open(folder)?.sync_all();
        sync().map_err(Error::about(folder))?;
    }
    Ok(())
}
