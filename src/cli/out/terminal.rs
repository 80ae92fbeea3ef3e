//! Tables on a terminal: aligned, with units, the most important rows first.

use std::io;

use super::{Out, Rows, in_columns_before_text, titled};
use model::format::count;

/// Maximum number of rows of a table without `--all`.
pub(in super::super) const MAX_ROWS: u64 = 40;

/// How much of a long table is printed on a terminal.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(in super::super) struct RowLimit {
    /// On a terminal, print all rows, not only the first 40
    #[arg(long)]
    all: bool,
}

impl RowLimit {
    /// Returns the maximum number of rows to print.
    pub(in super::super) const fn rows(self) -> u64 {
        if self.all { u64::MAX } else { MAX_ROWS }
    }
}

/// Prints a table: column titles, its first rows, and the number of rows left out. The last column has text.
pub(in super::super) fn print_table(
    out: &mut Out,
    heads: &[&str],
    rows: Rows,
    total: u64,
) -> io::Result<()> {
    let more = total.saturating_sub(rows.len() as u64);
    let mut lines = titled(heads);
    lines.extend(rows);
    out.text(in_columns_before_text(&lines))?;
    if more > 0 {
        out.text(format_args!("… and {} more (--all)\n", count(more)))?;
    }
    Ok(())
}
