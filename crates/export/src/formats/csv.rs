//! CSV tables, for programs that read no better format.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_csv::WriterBuilder;
use arrow_schema::SchemaRef;

use crate::format::{Format, OutputKind};
use crate::rows::{Encode, Encoding, failed};
use crate::tables;
use session::cells::{Formulas, guard_formula};

/// CSV tables.
pub(super) const FORMAT: Format = Format {
    name: "csv",
    help: "The same tables as CSV, with a header line",
    output: OutputKind::Tables(|log, folder| {
        let encoding = match log.formulas {
            Formulas::Neutralized => &GUARDED,
            Formulas::AsIs => &RAW,
        };
        tables::write(log, folder, encoding)
    }),
};

const GUARDED: Encoding = Encoding {
    extension: "csv",
    begin: |schema, file| begin(schema, file, Formulas::Neutralized),
};

const RAW: Encoding = Encoding {
    extension: "csv",
    begin: |schema, file| begin(schema, file, Formulas::AsIs),
};

fn begin(
    schema: SchemaRef,
    file: BufWriter<File>,
    formulas: Formulas,
) -> io::Result<Box<dyn Encode>> {
    let csv = WriterBuilder::new().with_header(true).build(file);
    let mut writer = Writer { csv, formulas };
    // Writes the header even if no rows follow.
    writer.batch(&RecordBatch::new_empty(schema))?;
    Ok(Box::new(writer))
}

struct Writer {
    csv: arrow_csv::Writer<BufWriter<File>>,
    formulas: Formulas,
}

/// Returns the column with its texts guarded against formulas; other columns are unchanged.
fn guarded(column: &ArrayRef, formulas: Formulas) -> ArrayRef {
    let Some(texts) = column.as_string_opt::<i32>() else {
        return Arc::clone(column);
    };
    let guarded = |text: Option<&str>| text.map(|text| guard_formula(text, formulas).into_owned());
    let texts: StringArray = texts.iter().map(guarded).collect();
    Arc::new(texts)
}

impl Encode for Writer {
    fn batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        if self.formulas == Formulas::AsIs {
            return self.csv.write(batch).map_err(failed);
        }
        let columns = batch.columns().iter();
        let columns = columns.map(|column| guarded(column, self.formulas));
        let batch = RecordBatch::try_new(batch.schema(), columns.collect()).map_err(failed)?;
        self.csv.write(&batch).map_err(failed)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.csv.into_inner().flush()
    }
}
