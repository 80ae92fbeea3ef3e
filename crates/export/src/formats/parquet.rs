//! Parquet tables: compressed columns, which SQL engines read without a schema.

use std::fs::File;
use std::io::{self, BufWriter};

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, Encoding};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use ::parquet::schema::types::ColumnPath;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::format::{Format, OutputKind};
use crate::rows::{self, Encode};
use crate::tables;

/// Parquet tables.
pub(super) const FORMAT: Format = Format {
    name: "parquet",
    help: "Tables for DuckDB, Spark and other engines: compressed columns",
    output: OutputKind::Tables(|log, folder| tables::write(log, folder, &ENCODING)),
};

const ENCODING: rows::Encoding = rows::Encoding {
    extension: "parquet",
    begin: |schema, file| Ok(Box::new(Writer::new(schema, file)?)),
};

/// Rows per row group: held in memory while writing, and readable separately by engines.
pub const ROW_GROUP_ROWS: usize = 128 << 10;

/// Returns the properties of files with this schema: compression, encodings, size of the row groups.
#[must_use]
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

struct Writer(ArrowWriter<BufWriter<File>>);

impl Writer {
    fn new(schema: SchemaRef, file: BufWriter<File>) -> io::Result<Self> {
        let properties = properties(&schema);
        let writer = ArrowWriter::try_new(file, schema, Some(properties.build()));
        writer.map(Self).map_err(failed)
    }
}

impl Encode for Writer {
    fn batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.0.write(batch).map_err(failed)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let file = self.0.into_inner().map_err(failed)?;
        file.into_inner().map(drop).map_err(io::Error::from)
    }
}

/// Extracts the system error, if there is one.
#[must_use]
pub fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
