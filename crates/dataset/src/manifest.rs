//! The manifest: one file per log, written last.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Error, files};

/// What became of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It is in the tables, completely.
    Ok,
    /// Everything readable of it is in the tables; some events are missing.
    Damaged,
    /// It is not in the tables.
    Failed,
}

/// Entry of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Identifies the log in the column `run` of all tables: its size and 64 bits of the hash. If the file could
    /// not be read, `unread-` and a hash of its path.
    pub run: String,
    /// SHA-256 of the bytes of the file, in hexadecimal digits; `None` if it could not be read.
    pub sha256: Option<String>,
    /// Size of the file in bytes.
    pub bytes: Option<u64>,
    /// File name without the folder.
    pub file: String,
    /// Absolute path of the file when it was added.
    pub path: String,
    /// Partition values by key.
    pub partition: BTreeMap<String, Option<String>>,
    /// Path of the partition below the folder of a table; empty for failed logs.
    pub partition_path: String,
    /// What became of the log.
    pub status: Status,
    /// Damage with byte offsets, or why the log could not be read: what, where, what to try.
    pub messages: Vec<String>,
    /// Tables in which the log has rows, by name.
    pub tables: BTreeMap<String, TableEntry>,
    /// Version of the columns: [`SCHEMA_VERSION`](crate::SCHEMA_VERSION) of the writer.
    pub schema_version: u32,
    /// Version of the program that added the log.
    pub eventscope: String,
    /// Date and time (UTC) at which it was added.
    pub added: String,
}

/// Rows of a log in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    /// File that has the rows, below the folder of the data set. After a compaction it has those of other logs too.
    pub file: String,
    /// Number of rows of this log.
    pub rows: u64,
    /// Size in bytes of the file that had only this log.
    pub bytes: u64,
}

impl Entry {
    /// Returns whether the log is in the tables.
    pub fn is_added(&self) -> bool {
        self.status != Status::Failed
    }
}

/// Manifest of a data set.
#[derive(Clone, Debug)]
pub struct Manifest {
    folder: PathBuf,
}

impl Manifest {
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, run: &str) -> PathBuf {
        self.folder.join(format!("{run}.json"))
    }

    /// Returns the entry of a log; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn entry(&self, run: &str) -> Result<Option<Entry>, Error> {
        let path = self.path(run);
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::File(path, error)),
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                let path = path.display();
                Error::Refused(format!("{path} is no entry of a manifest: {error}"))
            }),
        }
    }

    /// Returns whether a log is in the tables.
    pub(crate) fn is_added(&self, run: &str) -> Result<bool, Error> {
        Ok(self.entry(run)?.is_some_and(|entry| entry.is_added()))
    }

    /// Returns all entries, ordered by run.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let mut runs = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(Error::about(&self.folder))? {
            let name = entry.map_err(Error::about(&self.folder))?.file_name();
            let name = name.to_string_lossy();
            if let Some(run) = name.strip_suffix(".json")
                && !run.starts_with('.')
            {
                runs.push(run.to_owned());
            }
        }
        runs.sort_unstable();
        let mut entries = Vec::with_capacity(runs.len());
        for run in runs {
            // Entries of files that could not be read vanish once they can.
            entries.extend(self.entry(&run)?);
        }
        Ok(entries)
    }

    /// Writes an entry. Only the holder of the log's claim, or of the compaction lock, may do so.
    pub(crate) fn put(&self, entry: &Entry) -> Result<(), Error> {
        let mut bytes = serde_json::to_vec_pretty(entry).unwrap_or_default();
        bytes.push(b'\n');
        files::replace(&self.path(&entry.run), &bytes)
    }

    pub(crate) fn remove(&self, run: &str) -> Result<(), Error> {
        files::remove(&self.path(run))
    }
}
