//! Merging the small files of each table and partition.
//!
//! A partition is compacted as one transaction. First the merged files are written under hidden names. Then a
//! journal names them, the files that they replace and the logs in them: from here on the new files count. Then the
//! old files are removed, the new ones get their names, the entries of the manifest are changed, and the journal is
//! removed. All of these steps can be repeated, so whoever finds a journal finishes them. Old files are removed
//! before new ones appear, so that no query ever sees a row twice; while the journal is there, one may miss rows.
//!
//! Only the holder of the lock does any of this. Logs that are being added have no entry in the manifest yet, and
//! so take no part.

mod journal;
mod merge;
mod plan;

use std::fs::{self, File, TryLockError};
use std::path::PathBuf;

use crate::{Dataset, Error, files, tables};
use journal::{Journal, Replacement};
use merge::merge;
use plan::{Partition, plan};

pub use journal::Step;

/// How far a compaction was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Files that were merged.
    pub files_before: u64,
    /// Their size in bytes.
    pub bytes_before: u64,
    /// Files that they became.
    pub files_after: u64,
    /// Size of these in bytes.
    pub bytes_after: u64,
}

/// Merges the small files of all tables and partitions into files of about `target_bytes` bytes. `observe` is called
/// with the path of each partition when it is done.
///
/// # Errors
/// If another process compacts the data set, or it cannot be read or written. Nothing is lost then.
pub fn compact(
    dataset: &Dataset,
    target_bytes: u64,
    observe: &mut dyn FnMut(&str),
) -> Result<Compacted, Error> {
    compact_until(dataset, target_bytes, observe, &mut |_| Ok(()))
}

/// Like [`compact`], but stops with the error of `before`, which is called before each step that others could see.
/// For tests of interruptions.
///
/// # Errors
/// See [`compact`].
pub fn compact_until(
    dataset: &Dataset,
    target_bytes: u64,
    observe: &mut dyn FnMut(&str),
    before: &mut dyn FnMut(Step) -> Result<(), Error>,
) -> Result<Compacted, Error> {
    let Some(_lock) = lock(dataset)? else {
        return Err(Error::Refused(format!(
            "another process compacts {}: wait until it is done",
            dataset.folder().display()
        )));
    };
    if let Some(journal) = Journal::read(dataset)? {
        journal.finish(dataset, &mut |_| Ok(()))?;
    }
    let mut compacted = Compacted::default();
    for partition in plan(dataset, target_bytes)? {
        remove_unfinished(dataset, &partition)?;
        let journal = write_merged(dataset, &partition, target_bytes, &mut compacted)?;
        if !journal.is_empty() {
            before(Step::Journal)?;
            journal.write(dataset)?;
            journal.finish(dataset, before)?;
        }
        observe(&partition.path);
    }
    dataset.write_views()?;
    Ok(compacted)
}

/// Finishes a compaction whose process was killed. Does nothing while a compaction is running.
pub(crate) fn repair(dataset: &Dataset) -> Result<(), Error> {
    if Journal::read(dataset)?.is_none() {
        return Ok(());
    }
    let Some(_lock) = lock(dataset)? else {
        return Ok(());
    };
    // Another process may have finished it meanwhile.
    match Journal::read(dataset)? {
        Some(journal) => journal.finish(dataset, &mut |_| Ok(())),
        None => Ok(()),
    }
}

/// Takes the lock of compactions, which ends with the process; `None` if another process has it.
fn lock(dataset: &Dataset) -> Result<Option<File>, Error> {
    let path = dataset.folder().join(".compaction.lock");
    let file = File::create(&path).map_err(Error::about(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Error::File(path, error)),
    }
}

/// Writes the merged files of a partition under hidden names.
fn write_merged(
    dataset: &Dataset,
    partition: &Partition,
    target_bytes: u64,
    compacted: &mut Compacted,
) -> Result<Journal, Error> {
    let mut journal = Journal::default();
    for (table, inputs) in &partition.tables {
        let Some(table) = tables::named(table) else {
            continue;
        };
        let merged = merge(dataset, table, &partition.path, inputs, target_bytes)?;
        compacted.files_before += inputs.len() as u64;
        compacted.bytes_before += inputs.iter().map(|input| input.bytes).sum::<u64>();
        compacted.files_after += merged.len() as u64;
        compacted.bytes_after += merged.iter().map(|file| file.bytes).sum::<u64>();
        journal.replacements.push(Replacement {
            table: table.name.to_owned(),
            old: inputs.iter().map(|input| input.file.clone()).collect(),
            new: merged.into_iter().map(Into::into).collect(),
        });
    }
    Ok(journal)
}

/// Removes what a compaction that was killed before it wrote its journal left in a partition.
fn remove_unfinished(dataset: &Dataset, partition: &Partition) -> Result<(), Error> {
    for table in partition.tables.keys() {
        let folder = dataset.table_folder(table, &partition.path);
        for entry in fs::read_dir(&folder).map_err(Error::about(&folder))? {
            let name = entry.map_err(Error::about(&folder))?.file_name();
            if name.to_string_lossy().starts_with(merge::HIDDEN_PREFIX) {
                let path: PathBuf = folder.join(name);
                files::remove(&path)?;
            }
        }
    }
    Ok(())
}
