//! Claims: at most one process at a time adds a log, and another can clean up when it was killed.
//!
//! A claim is a locked file `manifest/.RUN.started`, which the system unlocks when its process ends in whatever way.
//! Before any file of the log is written, the claim records the partition that it goes to. So whoever finds an
//! unlocked claim knows where half-written files are.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::{Dataset, Error, files, tables};

/// Exclusive right to write the files of a log. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct LogClaim<'a> {
    dataset: &'a Dataset,
    run: String,
    file: File,
    path: PathBuf,
}

/// Whether to wait for a claim of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    None,
    Endless,
}

const EXTENSION: &str = ".started";

impl<'a> LogClaim<'a> {
    /// Claims a log. If another process has it, waits until it is free, or returns `None`.
    pub(crate) fn take(
        dataset: &'a Dataset,
        run: &str,
        patience: Patience,
    ) -> Result<Option<Self>, Error> {
        let path = dataset.manifest_folder().join(format!(".{run}{EXTENSION}"));
        loop {
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            let file = options.open(&path).map_err(Error::about(&path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => match patience {
                    Patience::None => return Ok(None),
                    Patience::Endless => file.lock().map_err(Error::about(&path))?,
                },
                Err(TryLockError::Error(error)) => return Err(Error::File(path, error)),
            }
            // The process that had the claim may have removed the file before it was locked here.
            if is_at(&file, &path) {
                return Ok(Some(Self {
                    dataset,
                    run: run.to_owned(),
                    file,
                    path,
                }));
            }
        }
    }

    /// Claims the logs of all processes that ended without finishing them, and removes their files.
    pub(crate) fn clean_up(dataset: &Dataset) -> Result<(), Error> {
        let folder = dataset.manifest_folder();
        for entry in fs::read_dir(&folder).map_err(Error::about(&folder))? {
            let name = entry.map_err(Error::about(&folder))?.file_name();
            let name = name.to_string_lossy();
            let run = name.strip_suffix(EXTENSION);
            if let Some(run) = run.and_then(|run| run.strip_prefix('.'))
                && let Some(mut claim) = LogClaim::take(dataset, run, Patience::None)?
            {
                claim.remove_leftovers()?;
                claim.release()?;
            }
        }
        Ok(())
    }

    /// Removes the files of a process that had this claim before and was killed, unless it had finished.
    pub(crate) fn remove_leftovers(&mut self) -> Result<(), Error> {
        let mut partition = String::new();
        let read = self.file.rewind();
        let read = read.and_then(|()| self.file.read_to_string(&mut partition));
        read.map_err(Error::about(&self.path))?;
        // A record that was cut off is older than all files.
        let Some(partition) = partition.strip_suffix('\n') else {
            return Ok(());
        };
        let entry = self.dataset.manifest().entry(&self.run)?;
        let is_added = entry.is_some_and(|entry| entry.is_added());
        for table in &tables::TABLES {
            let path = self.file_path(table.name, partition);
            files::remove(&files::unfinished(&path))?;
            if !is_added {
                files::remove(&path)?;
            }
        }
        Ok(())
    }

    /// Records the partition to which files will be written.
    pub(crate) fn record(&mut self, partition: &str) -> Result<(), Error> {
        let mut write = || {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.file.write_all(format!("{partition}\n").as_bytes())?;
            files::sync(&self.file)
        };
        write().map_err(Error::about(&self.path))
    }

    /// Returns the path of the file of this log in a table.
    pub(crate) fn file_path(&self, table: &str, partition: &str) -> PathBuf {
        let folder = self.dataset.table_folder(table, partition);
        folder.join(format!("{}.parquet", self.run))
    }

    /// Ends the claim after everything was written.
    pub(crate) fn release(self) -> Result<(), Error> {
        files::remove(&self.path)
    }
}

/// Returns whether a path still names an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let handle = || -> io::Result<bool> {
        let open = same_file::Handle::from_file(file.try_clone()?)?;
        Ok(open == same_file::Handle::from_path(path)?)
    };
    handle().unwrap_or(false)
}
