//! Tables on a terminal: aligned, with units, the most important rows first.

use std::io;

use super::{Out, Rows, in_columns_before_text};
use model::format::count;

/// How many rows of a long table are printed.
pub(in super::super) const MOST_ROWS: u64 = 40;

/// How much of a long table is printed on a terminal.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(in super::super) struct RowLimit {
    /// On a terminal, print every row of a table, not only the first 40
    #[arg(long)]
    all: bool,
}

impl RowLimit {
    /// How many rows are printed.
    pub(in super::super) const fn rows(self) -> u64 {
        if self.all { u64::MAX } else { MOST_ROWS }
    }
}

/// Prints a table: its heads, the first of its rows, and how many more it has. The last column has texts.
pub(in super::super) fn print_table(
    out: &mut Out,
    heads: &[&str],
    rows: Rows,
    total: u64,
) -> io::Result<()> {
    let more = total.saturating_sub(rows.len() as u64);
    let heads = heads.iter().map(|head| (*head).to_owned()).collect();
    let mut lines: Rows = vec![heads];
    lines.extend(rows);
    out.text(in_columns_before_text(&lines))?;
    if more > 0 {
        out.text(format_args!("… and {} more (--all)\n", count(more)))?;
    }
    Ok(())
}
