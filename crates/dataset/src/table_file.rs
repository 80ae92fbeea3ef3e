//! Parquet files of a table: row groups in which the rows of each log are sorted by time.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array, new_null_array};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::{KeyValue, SortingColumn};

use crate::tables::Table;
use crate::{SCHEMA_VERSION, files};
use export::formats::parquet::{ROW_GROUP_ROWS, failed, properties};
use export::rows;

/// Key of the schema version in the metadata of a file.
pub(crate) const VERSION_KEY: &str = "eventscope.schema_version";

/// A file of a table that is being written.
pub(crate) struct TableFile {
    writer: ArrowWriter<BufWriter<File>>,
    schema: SchemaRef,
    /// Index of the column of the time.
    time: Option<usize>,
    /// Rows of the row group that is not written yet.
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    pending_bytes: usize,
    rows: u64,
}

/// Memory in bytes at which a row group is written, however few rows it has: digests are large.
const ROW_GROUP_BYTES: usize = 64 << 20;

impl TableFile {
    /// Begins a file.
    pub(crate) fn create(table: &Table, file: File) -> io::Result<Self> {
        let schema = rows::schema(table.columns());
        let time = table.time.and_then(|name| schema.index_of(name).ok());
        let column = |column_idx: usize| SortingColumn {
            column_idx: i32::try_from(column_idx).unwrap_or(0),
            descending: false,
            nulls_first: true,
        };
        let sorting = std::iter::once(0).chain(time).map(column).collect();
        let pair = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
        let metadata = vec![
            pair(VERSION_KEY, SCHEMA_VERSION.to_string()),
            pair("eventscope.table", table.name.to_owned()),
            pair("eventscope.version", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        let properties = properties(&schema)
            .set_key_value_metadata(Some(metadata))
            .set_sorting_columns(Some(sorting))
            .build();
        let file = BufWriter::new(file);
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties));
        Ok(Self {
            writer: writer.map_err(failed)?,
            schema,
            time,
            pending: Vec::new(),
            pending_rows: 0,
            pending_bytes: 0,
            rows: 0,
        })
    }

    /// Adds rows. Columns that the batch lacks are empty: it may be of an older schema version.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let mut batch = with_schema(batch, &self.schema)?;
        self.rows += batch.num_rows() as u64;
        while batch.num_rows() > 0 {
            let count = batch.num_rows().min(ROW_GROUP_ROWS - self.pending_rows);
            let part = batch.slice(0, count);
            self.pending_bytes += part.columns().iter().map(slice_bytes).sum::<usize>();
            self.pending.push(part);
            self.pending_rows += count;
            batch = batch.slice(count, batch.num_rows() - count);
            if self.pending_rows == ROW_GROUP_ROWS || self.pending_bytes >= ROW_GROUP_BYTES {
                self.write_row_group()?;
            }
        }
        Ok(())
    }

    /// Number of rows so far.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Estimated size of the file in bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        // Rows that are not encoded yet will take about what the others did.
        let written = self.writer.bytes_written() as u64;
        let pending = self.pending_rows as u64;
        match self.rows.saturating_sub(pending) {
            0 => 0,
            rows => written + written * pending / rows,
        }
    }

    fn write_row_group(&mut self) -> io::Result<()> {
        let rows = concat_batches(&self.schema, &std::mem::take(&mut self.pending));
        (self.pending_rows, self.pending_bytes) = (0, 0);
        let rows = sorted(&rows.map_err(rows::failed)?, self.time)?;
        self.writer.write(&rows).map_err(failed)?;
        self.writer.flush().map_err(failed)
    }

    /// Completes the file, with all bytes on the disk.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if self.pending_rows > 0 {
            self.write_row_group()?;
        }
        let mut file = self.writer.into_inner().map_err(failed)?;
        file.flush()?;
        files::sync(file.get_ref())?;
        Ok(file.get_ref().metadata()?.len())
    }
}

fn slice_bytes(column: &ArrayRef) -> usize {
    // Sizes of slices are known for all types of tables.
    column.to_data().get_slice_memory_size().unwrap_or(0)
}

/// Returns the batch with the columns of a schema by name.
fn with_schema(batch: &RecordBatch, schema: &SchemaRef) -> io::Result<RecordBatch> {
    if batch.schema_ref() == schema {
        return Ok(batch.clone());
    }
    let column = |name: &str, kind| -> ArrayRef {
        let column = batch.column_by_name(name).map(Arc::clone);
        column.unwrap_or_else(|| new_null_array(kind, batch.num_rows()))
    };
    let fields = schema.fields().iter();
    let columns = fields.map(|field| column(field.name(), field.data_type()));
    RecordBatch::try_new(Arc::clone(schema), columns.collect()).map_err(rows::failed)
}

/// Returns the rows with those of each run by time. Runs are in order already.
fn sorted(rows: &RecordBatch, time: Option<usize>) -> io::Result<RecordBatch> {
    let Some(times) = time.and_then(|time| rows.column(time).as_primitive_opt::<Int64Type>())
    else {
        return Ok(rows.clone());
    };
    let Some(runs) = rows.column(0).as_string_opt::<i32>() else {
        return Ok(rows.clone());
    };
    let time = |row: usize| times.is_valid(row).then(|| times.value(row));
    let compare = |&a: &u32, &b: &u32| -> Ordering {
        let [a, b] = [a, b].map(|row| row as usize);
        let by_run = runs.value(a).cmp(runs.value(b));
        by_run.then_with(|| time(a).cmp(&time(b)))
    };
    let mut order: Vec<u32> = (0_u32..).take(rows.num_rows()).collect();
    if order.is_sorted_by(|a, b| compare(a, b) != Ordering::Greater) {
        return Ok(rows.clone());
    }
    order.sort_by(compare);
    take_record_batch(rows, &UInt32Array::from(order)).map_err(rows::failed)
}
