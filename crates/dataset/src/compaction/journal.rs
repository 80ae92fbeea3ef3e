//! The journal of a compaction: what becomes of which files, until that is done.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use crate::{Dataset, Entry, Error, files};

const NAME: &str = ".compaction.journal";

/// Step of a compaction that others can see, by its index where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The journal is written.
    Journal,
    /// An old file is removed.
    Remove(usize),
    /// A new file gets its name.
    Name(usize),
    /// An entry of the manifest is changed.
    Entry(usize),
    /// The journal is removed.
    Done,
}

/// What a compaction of a partition has to do.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Journal {
    pub(super) replacements: Vec<Replacement>,
}

/// New files in place of old ones. Paths are below the folder of the data set.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Replacement {
    pub(super) table: String,
    pub(super) old: Vec<String>,
    pub(super) new: Vec<NewFile>,
}

/// A merged file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NewFile {
    pub(super) hidden: String,
    pub(super) file: String,
    /// The logs in it.
    pub(super) runs: Vec<String>,
}

impl Journal {
    pub(super) const fn is_empty(&self) -> bool {
        self.replacements.is_empty()
    }

    /// Reads the journal of a compaction that is not done; `None` if there is none.
    pub(super) fn read(dataset: &Dataset) -> Result<Option<Self>, Error> {
        let path = dataset.folder().join(NAME);
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::File(path, error)),
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| Error::Refused(format!("{} is damaged: {error}", path.display()))),
        }
    }

    /// Writes the journal. From here on the new files count, which are on the disk completely.
    pub(super) fn write(&self, dataset: &Dataset) -> Result<(), Error> {
        let folder = dataset.folder();
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        files::replace(&folder.join(NAME), &bytes)?;
        files::sync_folder(folder)
    }

    /// Does what the journal says; what was done already is done again without effect. Stops with the error of
    /// `before`, which is called before each step.
    pub(super) fn finish(
        self,
        dataset: &Dataset,
        before: &mut dyn FnMut(Step) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let root = dataset.folder();
        let new = || self.replacements.iter().flat_map(|files| &files.new);
        let named: BTreeSet<&str> = new().map(|file| file.file.as_str()).collect();
        let old = self.replacements.iter().flat_map(|files| &files.old);
        for (index, file) in old.enumerate() {
            before(Step::Remove(index))?;
            // A new file may replace one of the same name.
            if !named.contains(file.as_str()) {
                files::remove(&root.join(file))?;
            }
        }
        for (index, file) in new().enumerate() {
            before(Step::Name(index))?;
            let (hidden, named) = (root.join(&file.hidden), root.join(&file.file));
            match fs::rename(&hidden, &named) {
                // It has its name already.
                Err(error) if error.kind() == io::ErrorKind::NotFound && named.exists() => {}
                renamed => renamed.map_err(Error::about(&hidden))?,
            }
        }
        for file in new() {
            if let Some(folder) = root.join(&file.file).parent() {
                files::sync_folder(folder)?;
            }
        }
        let mut changes: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for replacement in &self.replacements {
            for file in &replacement.new {
                for run in &file.runs {
                    let change = (replacement.table.as_str(), file.file.as_str());
                    changes.entry(run).or_default().push(change);
                }
            }
        }
        let manifest = dataset.manifest();
        for (index, (run, changes)) in changes.into_iter().enumerate() {
            before(Step::Entry(index))?;
            if let Some(entry) = manifest.entry(run)? {
                manifest.put(&changed(entry, &changes))?;
            }
        }
        before(Step::Done)?;
        files::remove(&dataset.folder().join(NAME))
    }
}

/// Returns the entry of a log with the files that have its rows now, by table.
fn changed(mut entry: Entry, changes: &[(&str, &str)]) -> Entry {
    for (table, file) in changes {
        if let Some(rows) = entry.tables.get_mut(*table) {
            (*file).clone_into(&mut rows.file);
        }
    }
    entry
}
