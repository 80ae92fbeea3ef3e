//! What the commands print: rows, JSON documents, texts and files for other programs.
//!
//! A log may hold any text, and whoever wrote it may have meant a terminal to obey it. So all
//! that goes to standard output or standard error passes through this module, which writes
//! control characters, and those that change the direction of text, as escapes. JSON stays
//! exact: there the escapes are JSON's own.

mod columns;
mod screen;
mod table;
mod terminal;

use std::fmt::Display;
use std::io::{self, BufWriter, Write};

use serde::Serialize;

pub(super) use columns::{Rows, in_columns, in_columns_before_text, in_widths};
pub(super) use screen::{Style, escape_line};
pub(super) use table::{Output, Table};
pub(super) use terminal::{MOST_ROWS, RowLimit, print_table};

use screen::Screen;

/// Standard output, or whatever stands for it.
pub(super) struct Out {
    to: BufWriter<Screen<Box<dyn Write>>>,
}

impl Out {
    /// Prints to `to`, escaping what a terminal would obey.
    pub(super) fn new(to: Box<dyn Write>) -> Self {
        let screen = Screen::new(to, Style::Text);
        Self {
            to: BufWriter::with_capacity(1 << 16, screen),
        }
    }

    /// Prints a text of any number of lines.
    pub(super) fn text(&mut self, text: impl Display) -> io::Result<()> {
        self.style(Style::Text)?;
        write!(self.to, "{text}")
    }

    /// Prints a value as JSON, in one line.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.style(Style::Json)?;
        serde_json::to_writer(&mut self.to, value)?;
        self.to.write_all(b"\n")
    }

    /// Prints a part of a JSON document.
    pub(super) fn json_part(&mut self, part: &str) -> io::Result<()> {
        self.style(Style::Json)?;
        self.to.write_all(part.as_bytes())
    }

    /// Where a file for another program goes, escaped as its format has it.
    pub(super) fn file(&mut self, style: Style) -> io::Result<&mut impl Write> {
        self.style(style)?;
        Ok(&mut self.to)
    }

    /// Ends a text and hands on all that was printed so far.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let style = self.to.get_ref().style();
        self.begin(style)
    }

    fn style(&mut self, style: Style) -> io::Result<()> {
        if self.to.get_ref().style() == style {
            return Ok(());
        }
        self.begin(style)
    }

    fn begin(&mut self, style: Style) -> io::Result<()> {
        self.to.flush()?;
        self.to.get_mut().begin(style)?;
        self.to.get_mut().flush()
    }
}

/// Says something on standard error, in one line.
///
/// If standard error cannot be written to there is nobody left to tell, and the exit status
/// still says what happened.
pub(super) fn say(message: impl Display) {
    let line = format!("eventscope: {}\n", escape_line(&message.to_string()));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}
