//! Which files of a partition are merged.

use std::collections::BTreeMap;
use std::fs;

use crate::{Dataset, Error};

/// Files that are smaller than this part of the target are merged.
const SMALL_SHARE: u64 = 4;

/// A partition with files to merge.
#[derive(Debug)]
pub(super) struct Partition {
    /// Its path below the folder of a table.
    pub(super) path: String,
    /// Files to merge, by table.
    pub(super) tables: BTreeMap<String, Vec<InputFile>>,
}

/// A file to be merged with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InputFile {
    /// Path below the folder of the data set.
    pub(super) file: String,
    pub(super) bytes: u64,
    /// The logs that it has rows of, in order.
    pub(super) runs: Vec<String>,
}

/// Returns the partitions in which several small files can be merged.
pub(super) fn plan(dataset: &Dataset, target_bytes: u64) -> Result<Vec<Partition>, Error> {
    type Files = BTreeMap<String, Vec<String>>;
    let mut all: BTreeMap<String, BTreeMap<String, Files>> = BTreeMap::new();
    for entry in dataset.manifest().entries()? {
        if !entry.is_added() {
            continue;
        }
        let tables = all.entry(entry.partition_path).or_default();
        for (table, rows) in entry.tables {
            let files = tables.entry(table).or_default();
            files.entry(rows.file).or_default().push(entry.run.clone());
        }
    }
    let mut partitions = Vec::new();
    for (path, tables) in all {
        let mut small = BTreeMap::new();
        for (table, files) in tables {
            let inputs = small_files(dataset, files, target_bytes)?;
            if inputs.len() > 1 {
                small.insert(table, inputs);
            }
        }
        if !small.is_empty() {
            let tables = small;
            partitions.push(Partition { path, tables });
        }
    }
    Ok(partitions)
}

fn small_files(
    dataset: &Dataset,
    files: BTreeMap<String, Vec<String>>,
    target_bytes: u64,
) -> Result<Vec<InputFile>, Error> {
    let mut inputs = Vec::new();
    for (file, runs) in files {
        let path = dataset.folder().join(&file);
        let bytes = fs::metadata(&path).map_err(Error::about(&path))?.len();
        if bytes < target_bytes / SMALL_SHARE {
            inputs.push(InputFile { file, bytes, runs });
        }
    }
    Ok(inputs)
}
