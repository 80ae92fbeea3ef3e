//! Tables for people.

use std::fmt::Write;

/// Rows of cells; the first has the names of the columns.
pub(in super::super) type Rows = Vec<Vec<String>>;

/// A table in columns, the numbers to the right.
pub(in super::super) fn in_columns(table: &Rows) -> String {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in table {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // A text takes whatever is written to it.
            let _ = match column {
                0 => write!(text, "{cell:<width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}
