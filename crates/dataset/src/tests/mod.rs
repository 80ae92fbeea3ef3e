//! Data sets of test logs: what is in them, and what is left after interruptions. Tests of killed processes are in
//! `tests/dataset.rs` of the workspace.

mod compaction;
mod contents;
mod evolution;
mod values;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_json::LineDelimitedWriter;
use arrow_json::writer::{LineDelimited, WriterBuilder};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::{Added, Choices, Dataset, Options, Rules, add_logs};

/// Logs with threads, damage, heap profiles and samples, of several GHC versions.
const LOGS: [&str; 6] = [
    "ghc-9.6.6/fib-forkio-N2-l",
    "ghc-9.6.6/cut-mid-event",
    "ghc-9.6.6/heap-N2-hT-l-au",
    "ghc-9.10.3/prof-heap-N1-hc-l-au",
    "ghc-9.6.6/prof-ffi-safe-N1-p-l",
    "ghc-9.0.2/binmsg-N1-l-au",
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn log(name: &str) -> PathBuf {
    fixtures().join(format!("logs/{name}.eventlog"))
}

fn some_logs() -> Vec<PathBuf> {
    LOGS.map(log).into()
}

fn keys(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|&key| key.to_owned()).collect()
}

fn by(keys: &[String]) -> Choices {
    Choices {
        partition: Some(keys.into()),
        ..Choices::default()
    }
}

fn add(dataset: &Dataset, logs: &[PathBuf]) -> Added {
    add_by(dataset, logs, &Rules::default())
}

fn add_by(dataset: &Dataset, logs: &[PathBuf], rules: &Rules) -> Added {
    let options = Options {
        jobs: NonZeroUsize::new(2).expect("two"),
        memory_bytes: 1 << 30,
        clock_origin_ns: None,
        isolation: None,
    };
    add_logs(dataset, logs, rules, &options, &|_, _| {}).expect("added")
}

/// Returns the paths of all files below a folder, relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path.strip_prefix(folder).expect("below").to_owned()),
            }
        }
    }
    found.sort();
    found
}

fn batches(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let batches = reader.build().expect("Parquet");
    batches.map(|batch| batch.expect("rows")).collect()
}

/// Returns the rows of a file as JSON.
fn rows(path: &Path) -> Vec<String> {
    let builder = WriterBuilder::new().with_explicit_nulls(true);
    let mut writer: LineDelimitedWriter<Vec<u8>> = builder.build::<_, LineDelimited>(Vec::new());
    for batch in batches(path) {
        writer.write(&batch).expect("JSON");
    }
    writer.finish().expect("JSON");
    let text = String::from_utf8(writer.into_inner()).expect("UTF-8");
    text.lines().map(str::to_owned).collect()
}

/// Returns the rows of all files that engines read below a folder, by table, sorted.
fn tables(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files(folder) {
        let name = file.file_name().expect("a name").to_string_lossy();
        let is_read = file.extension().is_some_and(|end| end == "parquet");
        if is_read && !name.starts_with(['.', '_']) {
            let table = file.iter().next().expect("a folder").to_string_lossy();
            let rows = rows(&folder.join(&file));
            tables.entry(table.into_owned()).or_default().extend(rows);
        }
    }
    tables.values_mut().for_each(|rows| rows.sort());
    tables
}

/// Returns the hidden files below a folder, locks apart.
fn hidden(folder: &Path) -> Vec<PathBuf> {
    let mut files = files(folder);
    files.retain(|file| {
        let name = file.file_name().expect("a name").to_string_lossy();
        name.starts_with('.') && !name.ends_with(".lock")
    });
    files
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(&file);
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        fs::copy(from.join(&file), target).expect("a copy");
    }
}
