//! Row buffering: rows become batches of columns, from which every format is written.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::mem::{replace, take};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use serde::Serialize;

use crate::format::Error;
use crate::log::Log;
use crate::table::Table;
use native::OutputFile;
use session::cells::{Cell, CellKind, Column};

/// Encoding of batches into a file.
pub(crate) struct Encoding {
    /// File extension without the dot.
    pub(crate) extension: &'static str,
    /// Starts a file with the given schema.
    pub(crate) begin: fn(SchemaRef, BufWriter<File>) -> io::Result<Box<dyn Encode>>,
}

/// Consumer of the batches of one table of one log, such as a file being written.
pub trait Encode {
    /// Writes a batch of rows.
    ///
    /// # Errors
    /// If the system refuses, or the batch has other columns than the first.
    fn batch(&mut self, batch: &RecordBatch) -> io::Result<()>;
    /// Writes the end of the file and closes it.
    ///
    /// # Errors
    /// If the system refuses.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Extracts the system error, if there is one.
pub fn failed(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}

/// Rows per batch.
const BATCH_ROWS: usize = 8192;

/// Writer for the rows of one table of one log.
pub struct Rows {
    /// The run id, repeated for a full batch.
    runs: ArrayRef,
    columns: Vec<Cells>,
    count: usize,
    schema: SchemaRef,
    encoder: Box<dyn Encode>,
    path: PathBuf,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Rows");
        debug.field("path", &self.path).finish_non_exhaustive()
    }
}

/// A file that gets its final name when it is complete.
struct EncodedFile {
    encoder: Box<dyn Encode>,
    file: OutputFile,
}

impl Encode for EncodedFile {
    fn batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.encoder.batch(batch)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.encoder.finish()?;
        self.file.finish()
    }
}

impl Rows {
    /// Creates the file of a table.
    pub(crate) fn create(
        table: &Table,
        (log, run): (&Log<'_>, &str),
        folder: &Path,
        encoding: &Encoding,
    ) -> Result<Self, Error> {
        let folder = folder.join(table.name).join(format!("run={run}"));
        let path = folder.join(format!("part-0.{}", encoding.extension));
        let schema = schema(table.columns);
        let failed = |error| Error::File(path.clone(), error);
        fs::create_dir_all(&folder).map_err(failed)?;
        let file = OutputFile::create(&path, log.inputs);
        let file = file.map_err(|error| Error::create(&path, error))?;
        let writer = BufWriter::new(file.handle().map_err(failed)?);
        let encoder = (encoding.begin)(schema, writer).map_err(failed)?;
        let encoder = Box::new(EncodedFile { encoder, file });
        Ok(Self::new(table.columns, run, encoder, path))
    }

    /// Writes the rows of a run to `encoder`. `path` stands in error messages.
    pub fn new(columns: &[Column], run: &str, encoder: Box<dyn Encode>, path: PathBuf) -> Self {
        let schema = schema(columns);
        let kinds = columns.iter().map(|column| column.kind);
        let columns = kinds.map(Cells::new).collect();
        let mut runs = StringBuilder::new();
        for _ in 0..BATCH_ROWS {
            runs.append_value(run);
        }
        Self {
            runs: Arc::new(runs.finish()),
            columns,
            count: 0,
            schema,
            encoder,
            path,
        }
    }

    /// Appends a row, with a cell for each column except `run`.
    ///
    /// # Errors
    /// If a full batch cannot be written.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Error> {
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.path.display());
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.count += 1;
        if self.count < BATCH_ROWS {
            return Ok(());
        }
        self.flush()
            .map_err(|error| Error::File(self.path.clone(), error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let runs = self.runs.slice(0, take(&mut self.count));
        let cells = self.columns.iter_mut().map(Cells::finish);
        let columns = std::iter::once(runs).chain(cells);
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns.collect());
        self.encoder.batch(&batch.map_err(failed)?)
    }

    /// Completes the file; only then it gets its final name.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn finish(mut self) -> Result<(), Error> {
        let last = match self.count {
            0 => Ok(()),
            _ => self.flush(),
        };
        let Self { encoder, path, .. } = self;
        let finished = last.and_then(|()| encoder.finish());
        finished.map_err(|error| Error::File(path, error))
    }
}

/// Returns the name that a value has in JSON; for a number with its unit, the name of the unit.
pub fn json_name(value: &impl Serialize) -> Option<String> {
    let json = serde_json::to_value(value).ok()?;
    let name = json.as_str().or_else(|| json.get("unit")?.as_str());
    name.map(str::to_owned)
}

/// Returns the schema of a table with these columns, after the column `run`.
pub fn schema(columns: &[Column]) -> SchemaRef {
    let run = Field::new("run", DataType::Utf8, false);
    let columns = columns.iter().map(|column| {
        let data = match column.kind {
            CellKind::Text => DataType::Utf8,
            CellKind::Number => DataType::Int64,
            CellKind::Ratio => DataType::Float64,
            CellKind::Flag => DataType::Boolean,
        };
        Field::new(column.name, data, true)
    });
    let fields: Vec<Field> = std::iter::once(run).chain(columns).collect();
    Arc::new(Schema::new(fields))
}

/// Cells of a column that are not in a batch yet.
enum Cells {
    Text(StringBuilder),
    Number(Int64Builder),
    Ratio(Float64Builder),
    Flag(BooleanBuilder),
}

impl Cells {
    fn new(kind: CellKind) -> Self {
        match kind {
            CellKind::Text => Self::Text(StringBuilder::new()),
            CellKind::Number => Self::Number(Int64Builder::new()),
            CellKind::Ratio => Self::Ratio(Float64Builder::new()),
            CellKind::Flag => Self::Flag(BooleanBuilder::new()),
        }
    }

    fn push(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Self::Text(cells), Cell::Text(text)) => cells.append_value(text),
            (Self::Text(cells), _) => cells.append_null(),
            (Self::Number(cells), Cell::Number(number)) => {
                cells.append_value(i64::try_from(*number).unwrap_or(i64::MAX));
            }
            (Self::Number(cells), _) => cells.append_null(),
            (Self::Ratio(cells), Cell::Ratio(ratio)) => {
                cells.append_option(ratio.is_finite().then_some(*ratio));
            }
            (Self::Ratio(cells), Cell::Number(number)) => cells.append_value(*number as f64),
            (Self::Ratio(cells), _) => cells.append_null(),
            (Self::Flag(cells), Cell::Flag(is_set, _)) => cells.append_value(*is_set),
            (Self::Flag(cells), _) => cells.append_null(),
        }
    }

    /// Returns the cells and begins again, with room for as many: growing lists would be copied several times.
    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(cells) => {
                let next = StringBuilder::with_capacity(cells.len(), cells.values_slice().len());
                Arc::new(replace(cells, next).finish())
            }
            Self::Number(cells) => {
                let next = Int64Builder::with_capacity(cells.len());
                Arc::new(replace(cells, next).finish())
            }
            Self::Ratio(cells) => {
                let next = Float64Builder::with_capacity(cells.len());
                Arc::new(replace(cells, next).finish())
            }
            Self::Flag(cells) => {
                let next = BooleanBuilder::with_capacity(cells.len());
                Arc::new(replace(cells, next).finish())
            }
        }
    }
}
