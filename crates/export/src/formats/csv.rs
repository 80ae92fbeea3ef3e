//! CSV tables, for programs that read no better format.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, SchemaRef};

use crate::format::{Format, OutputKind};
use crate::rows::{Encode, Encoding};
use crate::tables;
use session::cells::{Formulas, guard_formula};

/// CSV tables.
pub(super) const FORMAT: Format = Format {
    name: "csv",
    help: "The same tables as CSV, with a header line",
    is_trace: false,
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
    mut file: BufWriter<File>,
    formulas: Formulas,
) -> io::Result<Box<dyn Encode>> {
    let names = schema.fields().iter().map(|field| field.name().as_str());
    writeln!(file, "{}", names.collect::<Vec<_>>().join(","))?;
    Ok(Box::new(Writer {
        file,
        lines: Vec::new(),
        formulas,
    }))
}

/// Writes cells itself: a general writer of Arrow takes several times as long.
struct Writer {
    file: BufWriter<File>,
    /// Lines of a batch.
    lines: Vec<u8>,
    formulas: Formulas,
}

/// A column of a batch.
enum Cells<'a> {
    Text(&'a StringArray),
    Number(&'a Int64Array),
    Ratio(&'a Float64Array),
    Flag(&'a BooleanArray),
}

impl<'a> Cells<'a> {
    fn new(column: &'a ArrayRef) -> io::Result<Self> {
        match column.data_type() {
            DataType::Utf8 => Ok(Self::Text(column.as_string())),
            DataType::Int64 => Ok(Self::Number(column.as_primitive())),
            DataType::Float64 => Ok(Self::Ratio(column.as_primitive())),
            DataType::Boolean => Ok(Self::Flag(column.as_boolean())),
            other => Err(io::Error::other(format!("no table has {other}"))),
        }
    }

    /// Appends the cell of a row; nothing if it is null.
    fn write(&self, row: usize, formulas: Formulas, out: &mut Vec<u8>) {
        match self {
            Self::Text(texts) if texts.is_valid(row) => {
                write_text(&guard_formula(texts.value(row), formulas), out);
            }
            Self::Number(numbers) if numbers.is_valid(row) => {
                out.extend(itoa::Buffer::new().format(numbers.value(row)).as_bytes());
            }
            Self::Ratio(ratios) if ratios.is_valid(row) => {
                out.extend(ryu::Buffer::new().format(ratios.value(row)).as_bytes());
            }
            Self::Flag(flags) if flags.is_valid(row) => {
                out.extend(flags.value(row).to_string().as_bytes());
            }
            _ => {}
        }
    }
}

/// Appends a text, in quotes if it has a separator.
fn write_text(text: &str, out: &mut Vec<u8>) {
    let is_special = |byte| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    // Without an early end, this is a few instructions for many bytes.
    if !text.bytes().fold(false, |any, byte| any | is_special(byte)) {
        return out.extend(text.as_bytes());
    }
    out.push(b'"');
    out.extend(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

impl Encode for Writer {
    fn batch(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let columns: Vec<Cells<'_>> = batch
            .columns()
            .iter()
            .map(Cells::new)
            .collect::<io::Result<_>>()?;
        self.lines.clear();
        for row in 0..batch.num_rows() {
            for (place, column) in columns.iter().enumerate() {
                if place > 0 {
                    self.lines.push(b',');
                }
                column.write(row, self.formulas, &mut self.lines);
            }
            self.lines.push(b'\n');
        }
        self.file.write_all(&self.lines)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.file.flush()
    }
}
