//! Merging files of a table into larger ones: ordered by run, the rows of a run as they were.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::journal::NewFile;
use super::plan::InputFile;
use crate::log_input::hash_text;
use crate::table_file::TableFile;
use crate::tables::Table;
use crate::{Dataset, Error, files};
use export::formats::parquet::failed;
use export::rows;

/// Rows that are read at a time.
const BATCH_ROWS: usize = 8192;
/// The same for digests, which have up to some 100 kB.
const DIGEST_BATCH_ROWS: usize = 64;
/// Prefix of the hidden names of merged files.
pub(super) const HIDDEN_PREFIX: &str = ".merged-";

/// A merged file under its hidden name.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) file: NewFile,
    pub(super) bytes: u64,
}

impl From<Merged> for NewFile {
    fn from(merged: Merged) -> Self {
        merged.file
    }
}

/// Merges files of a partition of a table. A new file begins between two runs when one has `target_bytes`.
pub(super) fn merge(
    dataset: &Dataset,
    table: &Table,
    partition: &str,
    inputs: &[InputFile],
    target_bytes: u64,
) -> Result<Vec<Merged>, Error> {
    let folder = dataset.table_folder(table.name, partition);
    let mut output = Output {
        table,
        below: format!("{}/{partition}", table.name),
        folder,
        target_bytes,
        current: None,
        merged: Vec::new(),
    };
    // The file with the least run is next. Files of one log are opened when they are needed, so that few are open.
    let mut next: BinaryHeap<Reverse<(String, usize)>> = BinaryHeap::new();
    let mut readers: Vec<Option<RunReader>> = inputs.iter().map(|_| None).collect();
    for (place, input) in inputs.iter().enumerate() {
        next.extend(input.runs.first().map(|run| Reverse((run.clone(), place))));
    }
    while let Some(Reverse((run, place))) = next.pop() {
        let input = &inputs[place];
        let path = dataset.folder().join(&input.file);
        let mut reader = match readers[place].take() {
            Some(reader) => reader,
            None => RunReader::open(table, &path).map_err(Error::about(&path))?,
        };
        output.begin_run(&run)?;
        while let Some(batch) = reader.next_of(&run).map_err(Error::about(&path))? {
            output.add(&batch)?;
        }
        if let Some(following) = reader.next_run().map_err(Error::about(&path))? {
            next.push(Reverse((following, place)));
            readers[place] = Some(reader);
        }
    }
    output.finish()
}

/// Reads a file run by run.
struct RunReader {
    batches: ParquetRecordBatchReader,
    /// Rows that were read, but not returned.
    rest: Option<RecordBatch>,
}

impl RunReader {
    fn open(table: &Table, path: &Path) -> io::Result<Self> {
        let batch_rows = match table.name {
            "digests" => DIGEST_BATCH_ROWS,
            _ => BATCH_ROWS,
        };
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(failed)?;
        let batches = builder.with_batch_size(batch_rows).build();
        Ok(Self {
            batches: batches.map_err(failed)?,
            rest: None,
        })
    }

    /// Reads rows, if none are left over.
    fn rest(&mut self) -> io::Result<Option<&RecordBatch>> {
        while self.rest.as_ref().is_none_or(|rest| rest.num_rows() == 0) {
            match self.batches.next() {
                None => return Ok(None),
                Some(batch) => self.rest = Some(batch.map_err(rows::failed)?),
            }
        }
        Ok(self.rest.as_ref())
    }

    /// Returns the run of the next row.
    fn next_run(&mut self) -> io::Result<Option<String>> {
        let Some(rest) = self.rest()? else {
            return Ok(None);
        };
        let runs = runs(rest)?;
        Ok(Some(runs.value(0).to_owned()))
    }

    /// Returns the next rows of a run; `None` after the last.
    fn next_of(&mut self, run: &str) -> io::Result<Option<RecordBatch>> {
        let Some(rest) = self.rest()? else {
            return Ok(None);
        };
        let runs = runs(rest)?;
        let count = (0..rest.num_rows())
            .take_while(|&row| runs.value(row) == run)
            .count();
        let (batch, after) = (
            rest.slice(0, count),
            rest.slice(count, rest.num_rows() - count),
        );
        self.rest = Some(after);
        Ok((count > 0).then_some(batch))
    }
}

fn runs(batch: &RecordBatch) -> io::Result<&arrow_array::StringArray> {
    let column = batch.column_by_name("run");
    let runs = column.and_then(|column| column.as_string_opt::<i32>());
    runs.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it has no column “run”"))
}

/// The files that are written.
struct Output<'a> {
    table: &'a Table,
    folder: PathBuf,
    /// Path of the folder below that of the data set.
    below: String,
    target_bytes: u64,
    current: Option<Current>,
    merged: Vec<Merged>,
}

/// The file that is being written.
struct Current {
    file: TableFile,
    hidden: String,
    runs: Vec<String>,
}

impl Output<'_> {
    fn begin_run(&mut self, run: &str) -> Result<(), Error> {
        let is_full = |current: &Current| current.file.bytes() >= self.target_bytes;
        if self.current.as_ref().is_some_and(is_full) {
            self.end_file()?;
        }
        if self.current.is_none() {
            let hidden = format!("{HIDDEN_PREFIX}{}.unfinished", self.merged.len());
            let path = self.folder.join(&hidden);
            let create = || TableFile::create(self.table, File::create(&path)?);
            self.current = Some(Current {
                file: create().map_err(Error::about(&path))?,
                hidden,
                runs: Vec::new(),
            });
        }
        if let Some(current) = &mut self.current {
            current.runs.push(run.to_owned());
        }
        Ok(())
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        match &mut self.current {
            Some(current) => current.file.add(batch).map_err(Error::about(&self.folder)),
            None => Ok(()),
        }
    }

    fn end_file(&mut self) -> Result<(), Error> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        let bytes = current.file.finish().map_err(Error::about(&self.folder))?;
        let hash = hash_text(&current.runs.join("\n"));
        let name = format!("merged-{}-{}.parquet", current.runs.len(), &hash[..16]);
        self.merged.push(Merged {
            file: NewFile {
                hidden: format!("{}/{}", self.below, current.hidden),
                file: format!("{}/{name}", self.below),
                runs: current.runs,
            },
            bytes,
        });
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Merged>, Error> {
        self.end_file()?;
        files::sync_folder(&self.folder)?;
        Ok(self.merged)
    }
}
