//! Tables as tab-separated values, CSV or JSON.

use std::io::{self, IsTerminal};

use super::Out;
use session::cells::{Cell, Formulas, push_csv_row, row_object};

/// How a command prints its rows.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(in super::super) struct Output {
    /// Print the column names as the first row
    #[arg(long)]
    pub(in super::super) header: bool,
    /// Print JSON
    #[arg(long)]
    pub(in super::super) json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// In CSV, do not put an apostrophe before cells that a spreadsheet would run as formulas
    #[arg(long, requires = "csv")]
    raw: bool,
}

impl Output {
    /// Returns whether rows go to a terminal, rather than to another program.
    pub(in super::super) fn is_for_terminal(self) -> bool {
        !(self.header || self.json || self.csv) && io::stdout().is_terminal()
    }

    /// Returns whether rows are CSV.
    pub(in super::super) const fn is_csv(self) -> bool {
        self.csv
    }
}

/// Writer for a table.
///
/// Without `--json`, a row is a line of tab-separated cells or CSV. With it, a row is an object whose keys are the
/// column names.
pub(in super::super) struct Table<'a> {
    out: &'a mut Out,
    output: Output,
    columns: &'a [&'static str],
    objects: Objects,
    line: String,
}

/// Layout of the objects of a JSON table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Objects {
    /// One array; `begun` once it has an element.
    List { begun: bool },
    /// One object per line, for tables of any length.
    Lines,
}

impl<'a> Table<'a> {
    /// Begins a table, with column names if requested. In JSON, the table is an array.
    pub(in super::super) fn begin(
        out: &'a mut Out,
        output: Output,
        columns: &'a [&'static str],
    ) -> io::Result<Self> {
        if output.json {
            out.json_part("[")?;
        }
        Self::new(out, output, columns, Objects::List { begun: false })
    }

    /// Begins a table that in JSON has one object per line.
    pub(in super::super) fn lines(
        out: &'a mut Out,
        output: Output,
        columns: &'a [&'static str],
    ) -> io::Result<Self> {
        Self::new(out, output, columns, Objects::Lines)
    }

    fn new(
        out: &'a mut Out,
        output: Output,
        columns: &'a [&'static str],
        objects: Objects,
    ) -> io::Result<Self> {
        let mut table = Self {
            out,
            output,
            columns,
            objects,
            line: String::new(),
        };
        if output.header && !output.json {
            let names: Vec<Cell<'_>> = columns.iter().map(|name| Cell::from(*name)).collect();
            table.line(&names)?;
        }
        Ok(table)
    }

    /// Prints a whole table; see [`begin`](Self::begin).
    pub(in super::super) fn print<'c>(
        out: &mut Out,
        output: Output,
        columns: &[&'static str],
        rows: impl IntoIterator<Item = impl AsRef<[Cell<'c>]>>,
    ) -> io::Result<()> {
        let mut table = Table::begin(out, output, columns)?;
        for row in rows {
            table.row(row.as_ref())?;
        }
        table.end()
    }

    /// Flushes all rows printed so far.
    pub(in super::super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Returns whether rows are JSON objects.
    pub(in super::super) const fn is_json(&self) -> bool {
        self.output.json
    }

    /// Prints a row with a cell for each column.
    pub(in super::super) fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        if !self.output.json {
            return self.line(cells);
        }
        self.object(&row_object(self.columns, cells))
    }

    /// Prints a row of a JSON table as an object with fields of its own.
    pub(in super::super) fn object(&mut self, object: &serde_json::Value) -> io::Result<()> {
        match &mut self.objects {
            Objects::Lines => self.out.json(object),
            Objects::List { begun } => {
                let separator = if std::mem::replace(begun, true) {
                    ","
                } else {
                    ""
                };
                self.out.json_part(separator)?;
                self.out.json_part(&object.to_string())
            }
        }
    }

    /// Ends the table, closing the array of a JSON table.
    pub(in super::super) fn end(self) -> io::Result<()> {
        match self.objects {
            Objects::List { .. } if self.output.json => self.out.json_part("]\n"),
            _ => Ok(()),
        }
    }

    fn line(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.line.clear();
        if self.output.csv {
            push_csv_row(&mut self.line, cells, Formulas::new(self.output.raw));
            return self.out.text(&self.line);
        }
        for (place, cell) in cells.iter().enumerate() {
            self.line.push_str(if place > 0 { "\t" } else { "" });
            push_plain(&mut self.line, cell);
        }
        self.line.push('\n');
        self.out.text(&self.line)
    }
}

/// Appends a cell, escaping tabs, line breaks and backslashes so that it remains one field.
fn push_plain(line: &mut String, cell: &Cell<'_>) {
    let text = cell.text();
    let mut rest = &*text;
    while let Some(at) = rest.find(['\\', '\t', '\n', '\r']) {
        line.push_str(&rest[..at]);
        line.push_str(match rest.as_bytes()[at] {
            b'\t' => "\\t",
            b'\n' => "\\n",
            b'\r' => "\\r",
            _ => "\\\\",
        });
        rest = &rest[at + 1..];
    }
    line.push_str(rest);
}
