//! Digests in a data set that `eventscope export --dataset` made: a column of its table `digests`.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StringArray};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::fleet_files::ReadRun;

/// Columns that are read: identity of the log, its path, its digest.
const COLUMNS: [&str; 3] = ["run", "path", "digest"];

/// Returns the folder of the table with digests; `None` if the folder is no data set.
pub(super) fn digest_table(folder: &Path) -> Option<PathBuf> {
    let table = folder.join("digests");
    (folder.join("dataset.json").is_file() && table.is_dir()).then_some(table)
}

/// Reads the runs of a file of the table.
pub(super) fn read_table(path: &Path) -> Result<Vec<ReadRun>, String> {
    let file = File::open(path).map_err(|error| eventlog::system_words(&error).to_string())?;
    let wrong = |error: &dyn std::error::Error| format!("not a table of digests: {error}");
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| wrong(&error))?;
    let columns = ProjectionMask::columns(builder.parquet_schema(), COLUMNS);
    let batches = builder.with_projection(columns).build();
    let mut runs = Vec::new();
    for batch in batches.map_err(|error| wrong(&error))? {
        add_runs(&batch.map_err(|error| wrong(&error))?, &mut runs)?;
    }
    Ok(runs)
}

fn add_runs(batch: &RecordBatch, into: &mut Vec<ReadRun>) -> Result<(), String> {
    let column = |name: &str| -> Result<&StringArray, String> {
        let column = batch
            .column_by_name(name)
            .and_then(|column| column.as_string_opt::<i32>());
        column.ok_or_else(|| format!("not a table of digests: no texts in a column {name}"))
    };
    let [run, path, digest] = COLUMNS.map(column);
    let (run, path, digest) = (run?, path?, digest?);
    for row in (0..batch.num_rows()).filter(|row| digest.is_valid(*row)) {
        let parsed = serde_json::from_str(digest.value(row));
        into.push(ReadRun {
            id: run.is_valid(row).then(|| run.value(row).to_owned()),
            path: path.value(row).to_owned(),
            log: Some(path.value(row).to_owned()),
            digest: parsed.map_err(|error| format!("not a digest: {error}")),
        });
    }
    Ok(())
}
