//! `dataset.json`: what all writers of a data set have in common.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, Manifest, files, partition, tables, views};

/// Version of the columns and of the manifest. Columns are only added, at the end of a table, so that files of all
/// older versions can be read with those of newer ones.
pub const SCHEMA_VERSION: u32 = 1;

/// Folder of the manifest.
pub(crate) const MANIFEST: &str = "manifest";
const DESCRIPTION: &str = "dataset.json";

/// What becomes of the texts of the programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Texts {
    /// They are kept.
    #[default]
    Keep,
    /// They are replaced as by `eventscope cut --anonymise`: equal texts of a log by equal names.
    Replace,
    /// They are replaced, and columns that have nothing but texts are empty.
    Omit,
}

impl Texts {
    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Replace => "replace",
            Self::Omit => "omit",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Description {
    schema_version: u32,
    partition: Vec<String>,
    texts: Texts,
    /// Names of tables that are not written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
    /// Version of the program that created the data set.
    eventscope: String,
}

/// What a data set is to be like. Without a choice, it is as it was made; a new one is partitioned by `app`, `host` and
/// `day`, keeps texts, and has all tables.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Partition keys, outermost first.
    pub partition: Option<Vec<String>>,
    /// What becomes of texts.
    pub texts: Option<Texts>,
    /// Names of tables that are not written.
    pub without: Option<Vec<String>>,
}

/// Tables that every data set has: what a log is, its numbers and findings, and what the views join.
const ESSENTIAL: [&str; 4] = ["runs", "digests", "measurements", "findings"];

/// A data set that was opened.
#[derive(Clone, Debug)]
pub struct Dataset {
    folder: PathBuf,
    description: Description,
}

impl Dataset {
    /// Opens an existing data set.
    ///
    /// # Errors
    /// If there is none, or a newer version made it.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        refuse_address(folder)?;
        let description = read(folder)?.ok_or_else(|| {
            let folder = folder.display();
            Error::Refused(format!(
                "{folder} is not a data set: it has no {DESCRIPTION}. `eventscope export --dataset {folder} LOG…` makes one"
            ))
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            description,
        })
    }

    /// Opens a data set, or creates it.
    ///
    /// # Errors
    /// If the data set is not as chosen, a newer version made it, or the folder has something else.
    pub fn create(folder: &Path, choices: &Choices) -> Result<Self, Error> {
        refuse_address(folder)?;
        if read(folder)?.is_none() {
            let partition = choices.partition.clone();
            partition::check_names(&partition.unwrap_or_else(default_partition))?;
            check_tables(choices.without.as_deref().unwrap_or_default())?;
            refuse_contents(folder)?;
        }
        let manifest = folder.join(MANIFEST);
        fs::create_dir_all(&manifest).map_err(Error::about(&manifest))?;
        let _lock = lock(folder)?;
        let description = match read(folder)? {
            Some(existing) => existing,
            None => begin(folder, choices)?,
        };
        refuse_other(folder, &description, choices)?;
        let mut dataset = Self {
            folder: folder.to_owned(),
            description,
        };
        dataset.upgrade()?;
        Ok(dataset)
    }

    /// Writes the empty files that have the newest schema of each table, unless they are there.
    fn upgrade(&mut self) -> Result<(), Error> {
        let is_old = self.description.schema_version < SCHEMA_VERSION;
        for table in &tables::TABLES {
            let values = vec![None; self.partition().len()];
            let folder = self.table_folder(table.name, &self.partition_path(&values));
            let path = folder.join("schema.parquet");
            if is_old || !path.exists() {
                fs::create_dir_all(&folder).map_err(Error::about(&folder))?;
                tables::write_schema(table, &path)?;
            }
        }
        if is_old {
            self.description.schema_version = SCHEMA_VERSION;
            let path = self.folder.join(DESCRIPTION);
            files::replace(&path, &json(&self.description))?;
        }
        Ok(())
    }

    /// Returns the folder of the data set.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the partition keys, outermost first.
    pub fn partition(&self) -> &[String] {
        &self.description.partition
    }

    /// Returns what becomes of texts.
    pub const fn texts(&self) -> Texts {
        self.description.texts
    }

    /// Returns the tables that are written, `runs` last.
    pub(crate) fn tables(&self) -> impl DoubleEndedIterator<Item = &'static tables::Table> {
        let without = &self.description.without;
        let is_written = |table: &&tables::Table| !without.iter().any(|name| name == table.name);
        tables::TABLES.iter().filter(is_written)
    }

    /// Returns the manifest, which has an entry for each log of the data set.
    pub fn manifest(&self) -> Manifest {
        Manifest::new(self.manifest_folder())
    }

    pub(crate) fn manifest_folder(&self) -> PathBuf {
        self.folder.join(MANIFEST)
    }

    /// Returns the path of a partition below the folder of a table.
    pub(crate) fn partition_path(&self, values: &[Option<String>]) -> String {
        partition::path(self.partition(), values)
    }

    /// Returns the folder of a partition of a table.
    pub(crate) fn table_folder(&self, table: &str, partition: &str) -> PathBuf {
        self.folder.join(table).join(partition)
    }

    /// Writes the views for DuckDB and Spark, with the present path of the folder.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write_views(&self) -> Result<(), Error> {
        let folder = fs::canonicalize(&self.folder).map_err(Error::about(&self.folder))?;
        let _lock = lock(&self.folder)?;
        for (name, text) in views::files(&folder, self.partition()) {
            let path = self.folder.join(name);
            if !fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
                files::replace(&path, text.as_bytes())?;
            }
        }
        Ok(())
    }
}

fn json(description: &Description) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(description).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Waits until no other process creates the data set, or writes what all logs share. Ends with the returned file.
fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(".dataset.lock");
    let lock = || {
        let file = File::create(&path)?;
        file.lock()?;
        Ok(file)
    };
    lock().map_err(Error::about(&path))
}

/// Reads the description of a data set; `None` if there is none.
fn read(folder: &Path) -> Result<Option<Description>, Error> {
    let path = folder.join(DESCRIPTION);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::File(path, error)),
    };
    let value: serde_json::Value = serde_json::from_slice(&bytes)
        .map_err(|error| Error::Refused(format!("{} is damaged: {error}", path.display())))?;
    // A newer version may have other fields.
    let version = value["schema_version"].as_u64().unwrap_or(0);
    if version > SCHEMA_VERSION.into() {
        return Err(Error::Refused(format!(
            "{} has schema version {version}, this program writes {SCHEMA_VERSION}: use a newer eventscope",
            folder.display()
        )));
    }
    let description: Description = serde_json::from_value(value)
        .map_err(|error| Error::Refused(format!("{} is damaged: {error}", path.display())))?;
    partition::check_names(&description.partition)?;
    Ok(Some(description))
}

fn default_partition() -> Vec<String> {
    ["app", "host", "day"].map(str::to_owned).into()
}

/// Refuses names of tables that there are not, or that cannot be left out.
fn check_tables(without: &[String]) -> Result<(), Error> {
    for name in without {
        let name = name.as_str();
        if ESSENTIAL.contains(&name) || tables::TABLES.iter().all(|table| table.name != name) {
            let others = tables::TABLES.iter().map(|table| table.name);
            let others: Vec<&str> = others.filter(|name| !ESSENTIAL.contains(name)).collect();
            return Err(Error::Usage(format!(
                "--without {name}: the tables that can be left out are {}",
                others.join(", ")
            )));
        }
    }
    Ok(())
}

/// Writes the description of a new data set.
fn begin(folder: &Path, choices: &Choices) -> Result<Description, Error> {
    let choices = choices.clone();
    let description = Description {
        schema_version: SCHEMA_VERSION,
        partition: choices.partition.unwrap_or_else(default_partition),
        texts: choices.texts.unwrap_or_default(),
        without: choices.without.unwrap_or_default(),
        eventscope: env!("CARGO_PKG_VERSION").to_owned(),
    };
    files::replace(&folder.join(DESCRIPTION), &json(&description))?;
    Ok(description)
}

/// Refuses a folder for a new data set that has other files.
fn refuse_contents(folder: &Path) -> Result<(), Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::about(folder))?,
    };
    for entry in entries {
        let name = entry.map_err(Error::about(folder))?.file_name();
        let name = name.to_string_lossy();
        let is_own = name.starts_with('.') || name == MANIFEST || name == DESCRIPTION;
        // Another process may have created the data set meanwhile.
        if !is_own && read(folder)?.is_none() {
            return Err(Error::Refused(format!(
                "{} has files, but is not a data set ({name}): name an empty or a new folder",
                folder.display()
            )));
        }
    }
    Ok(())
}

fn refuse_other(folder: &Path, existing: &Description, choices: &Choices) -> Result<(), Error> {
    let folder = folder.display();
    let differ = |what: String, option: &str| {
        let why = format!("{folder} {what}: leave {option} out, or name another folder");
        Err(Error::Refused(why))
    };
    if let Some(keys) = &choices.partition
        && *keys != existing.partition
    {
        let (is, asked) = (existing.partition.join(","), keys.join(","));
        return differ(
            format!("is partitioned by {is}, not by {asked}"),
            "--partition",
        );
    }
    if let Some(texts) = choices.texts
        && texts != existing.texts
    {
        let (is, asked) = (existing.texts.name(), texts.name());
        return differ(
            format!("was made with --texts {is}, not {asked}"),
            "--texts",
        );
    }
    let sorted = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    if let Some(without) = &choices.without
        && sorted(without) != sorted(&existing.without)
    {
        let what = match existing.without.as_slice() {
            [] => "was made with all tables".to_owned(),
            names => format!("was made --without {}", names.join(",")),
        };
        return differ(what, "--without");
    }
    Ok(())
}

/// Refuses addresses of object stores, which have neither renames nor locks.
fn refuse_address(folder: &Path) -> Result<(), Error> {
    match folder.to_str() {
        Some(address) if address.contains("://") => Err(Error::Refused(format!(
            "{address} is an address, and a data set needs a folder (files are renamed and locked). \
             Write to a folder, and copy it afterwards, such as with `aws s3 sync`: only new files are copied"
        ))),
        _ => Ok(()),
    }
}
