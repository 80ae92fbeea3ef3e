//! JSON Lines tables: each line is an object with the cells of a row by column name.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use arrow_array::RecordBatch;
use arrow_json::LineDelimitedWriter;
use arrow_json::writer::{LineDelimited, WriterBuilder};

use crate::format::{Format, OutputKind};
use crate::rows::{Encode, Encoding, failed};
use crate::tables;

/// JSON Lines tables.
pub(super) const FORMAT: Format = Format {
    name: "jsonl",
    help: "The same tables as JSON, one object per line",
    is_trace: false,
    output: OutputKind::Tables(|log, folder| tables::write(log, folder, &ENCODING)),
};

const ENCODING: Encoding = Encoding {
    extension: "jsonl",
    begin: |_, file| {
        let writer = WriterBuilder::new().with_explicit_nulls(true);
        Ok(Box::new(Writer(writer.build::<_, LineDelimited>(file))))
    },
};

struct Writer(LineDelimitedWriter<BufWriter<File>>);

impl Encode for Writer {
    fn batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.0.write(batch).map_err(failed)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.0.finish().map_err(failed)?;
        self.0.into_inner().flush()
    }
}
