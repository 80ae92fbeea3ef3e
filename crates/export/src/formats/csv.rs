//! Tables as CSV, for programs that read nothing better.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use arrow_array::RecordBatch;
use arrow_csv::WriterBuilder;

use crate::format::{Format, Written};
use crate::rows::{Encode, Encoding, failed};
use crate::tables;

/// Tables as CSV.
pub(super) const FORMAT: Format = Format {
    name: "csv",
    help: "The same tables as CSV, with a first line of names",
    written: Written::Tables(|log, folder| tables::write(log, folder, &ENCODING)),
};

const ENCODING: Encoding = Encoding {
    extension: "csv",
    begin: |schema, file| {
        let mut writer = Writer(WriterBuilder::new().with_header(true).build(file));
        // The names stand there if no row follows, too.
        writer.batch(&RecordBatch::new_empty(schema))?;
        Ok(Box::new(writer))
    },
};

struct Writer(arrow_csv::Writer<BufWriter<File>>);

impl Encode for Writer {
    fn batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.0.write(batch).map_err(failed)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.into_inner().flush()
    }
}
