//! Parquet tables: compressed columns, which SQL engines read without a schema.

use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::writer::{ColumnCloseResult, get_column_writer, get_typed_column_writer};
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use ::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::ColumnPath;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::format::{Format, OutputKind};
use crate::rows::{self, Encode};
use crate::tables;
use prost::bytes::Bytes;

/// Parquet tables.
pub(super) const FORMAT: Format = Format {
    name: "parquet",
    help: "Tables for DuckDB, Spark and other engines: compressed columns",
    is_trace: false,
    output: OutputKind::Tables(|log, folder| tables::write(log, folder, &ENCODING)),
};

const ENCODING: rows::Encoding = rows::Encoding {
    extension: "parquet",
    begin: |schema, file| Ok(Box::new(Writer::new(schema, file).map_err(failed)?)),
};

/// Rows per row group: held in memory while writing, and readable separately by engines.
pub const ROW_GROUP_ROWS: usize = 128 << 10;

/// Returns the properties of files with this schema: compression, encodings, size of the row groups.
pub fn properties(schema: &Schema) -> WriterPropertiesBuilder {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_created_by("eventscope".to_owned());
    // Times rarely repeat, but each is close to the previous one.
    let times = schema.fields().iter().filter(|field| is_time(field));
    for time in times {
        let column = ColumnPath::from(time.name().as_str());
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    properties
}

fn is_time(field: &Field) -> bool {
    field.name().ends_with("_ns") && *field.data_type() == DataType::Int64
}

/// Writes the files column by column, as [`ArrowWriter`] does, except for the column `run`: it has the same text in
/// all rows of a file, and hashing that in each would take as long as to encode the times.
struct Writer {
    file: SerializedFileWriter<BufWriter<File>>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The row group that is being encoded, if it has rows.
    group: Option<RowGroup>,
    /// The column `run` of the last row group, which most others have too.
    runs: Option<EncodedRuns>,
}

struct RowGroup {
    run: String,
    /// All columns but `run`.
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
}

/// The encoded column `run` of a row group.
struct EncodedRuns {
    bytes: Bytes,
    chunk: ColumnCloseResult,
}

impl Writer {
    fn new(schema: SchemaRef, file: BufWriter<File>) -> Result<Self, ParquetError> {
        let properties = properties(&schema).build();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))?;
        let (file, factory) = writer.into_serialized_writer()?;
        Ok(Self {
            file,
            factory,
            schema,
            group: None,
            runs: None,
        })
    }

    /// Adds a batch. Row groups end with the batch that fills them.
    fn add(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let group = match &mut self.group {
            Some(group) => group,
            none => {
                let number = self.file.flushed_row_groups().len();
                let mut columns = self.factory.create_column_writers(number)?;
                columns.remove(0);
                none.insert(RowGroup {
                    run: batch.column(0).as_string::<i32>().value(0).to_owned(),
                    columns,
                    rows: 0,
                })
            }
        };
        let columns = self.schema.fields().iter().zip(batch.columns()).skip(1);
        for ((field, column), writer) in columns.zip(&mut group.columns) {
            for leaf in compute_leaves(field, column)? {
                writer.write(&leaf)?;
            }
        }
        group.rows += batch.num_rows();
        match group.rows {
            0..ROW_GROUP_ROWS => Ok(()),
            _ => self.end_group(),
        }
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        let Some(group) = self.group.take() else {
            return Ok(());
        };
        let has_all = |runs: &EncodedRuns| runs.chunk.rows_written == group.rows as u64;
        let runs = match self.runs.take().filter(has_all) {
            Some(runs) => runs,
            None => EncodedRuns::new(&self.file, &group.run, group.rows)?,
        };
        let mut writer = self.file.next_row_group()?;
        writer.append_column(&runs.bytes, runs.chunk.clone())?;
        for column in group.columns {
            column.close()?.append_to_row_group(&mut writer)?;
        }
        writer.close()?;
        self.runs = Some(runs);
        Ok(())
    }
}

impl EncodedRuns {
    /// Encodes the first column of a file, with the same text in all rows.
    fn new(
        file: &SerializedFileWriter<BufWriter<File>>,
        run: &str,
        rows: usize,
    ) -> Result<Self, ParquetError> {
        let mut bytes = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut bytes));
        let column = file.schema_descr().column(0);
        let writer = get_column_writer(column, Arc::clone(file.properties()), pages);
        let mut writer = get_typed_column_writer::<ByteArrayType>(writer);
        writer.write_batch(&vec![ByteArray::from(run); rows], None, None)?;
        let chunk = writer.close()?;
        let bytes = bytes.into_inner()?.into();
        Ok(Self { bytes, chunk })
    }
}

impl Encode for Writer {
    fn batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.add(batch).map_err(failed)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.end_group().map_err(failed)?;
        let file = self.file.into_inner().map_err(failed)?;
        file.into_inner().map(drop).map_err(io::Error::from)
    }
}

/// Extracts the system error, if there is one.
pub fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
