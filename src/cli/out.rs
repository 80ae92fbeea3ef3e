//! Output of commands: rows, JSON documents, texts, and files for other programs.
//!
//! A log may contain any text, including text crafted to control a terminal. Therefore, all output to standard
//! output and standard error passes through this module, which escapes control characters and characters that
//! change the text direction. JSON stays exact, because it uses its own escapes.

mod columns;
mod escaping;
mod table;
mod terminal;

use std::fmt::Display;
use std::io::{self, BufWriter, Write};

use serde::Serialize;

pub(super) use columns::{Rows, in_columns, in_columns_before_text, in_widths, titled};
pub(super) use escaping::{EscapeStyle, escape_line};
pub(super) use table::{Output, Table};
pub(super) use terminal::{MAX_ROWS, RowLimit, print_table};

use escaping::EscapingWriter;

/// Buffered output to standard output or a file.
pub(super) struct Out {
    to: BufWriter<EscapingWriter<Box<dyn Write>>>,
}

impl Out {
    /// Creates an output to `to`, which escapes characters that would control a terminal.
    pub(super) fn new(to: Box<dyn Write>) -> Self {
        let writer = EscapingWriter::new(to, EscapeStyle::Text);
        Self {
            to: BufWriter::with_capacity(1 << 16, writer),
        }
    }

    /// Prints a text of any number of lines.
    pub(super) fn text(&mut self, text: impl Display) -> io::Result<()> {
        self.style(EscapeStyle::Text)?;
        write!(self.to, "{text}")
    }

    /// Prints a value as one line of JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.style(EscapeStyle::Json)?;
        serde_json::to_writer(&mut self.to, value)?;
        self.to.write_all(b"\n")
    }

    /// Prints a part of a JSON document.
    pub(super) fn json_part(&mut self, part: &str) -> io::Result<()> {
        self.style(EscapeStyle::Json)?;
        self.to.write_all(part.as_bytes())
    }

    /// Returns a writer for a file for another program, escaped according to its format.
    pub(super) fn file(&mut self, style: EscapeStyle) -> io::Result<&mut impl Write> {
        self.style(style)?;
        Ok(&mut self.to)
    }

    /// Ends the current text and flushes the output.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let style = self.to.get_ref().style();
        self.begin(style)
    }

    fn style(&mut self, style: EscapeStyle) -> io::Result<()> {
        if self.to.get_ref().style() == style {
            return Ok(());
        }
        self.begin(style)
    }

    fn begin(&mut self, style: EscapeStyle) -> io::Result<()> {
        self.to.flush()?;
        self.to.get_mut().begin(style)?;
        self.to.get_mut().flush()
    }
}

/// Prints a message to standard error, as one line.
///
/// A failure to write is ignored: it could not be reported anywhere, and the exit status remains valid.
pub(super) fn print_message(message: impl Display) {
    let line = format!("eventscope: {}\n", escape_line(&message.to_string()));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}
