//! Export of the band table. Files and the command line share one list of columns. Sizes are in bytes.

use super::table::{BandRow, BandTable};
use crate::cells::{Cell, RowFormat, rows_text};
use analysis::heap::names::BandDescription;

/// Function that extracts a cell from a row.
type Content = fn(&BandRow) -> Cell<'_>;

/// Column names with their content.
const COLUMNS: [(&str, Content); 17] = [
    ("label", |row| row.band_label.key.as_str().into()),
    ("name", |row| row.band_label.name.as_str().into()),
    ("what", |row| described(row, |it| Some(&it.what))),
    ("type", |row| described(row, |it| it.type_.as_ref())),
    ("module", |row| described(row, |it| it.module.as_ref())),
    ("place", |row| described(row, |it| it.place.as_ref())),
    ("censuses", |row| u64::from(row.numbers.held).into()),
    ("mean", |row| row.numbers.mean.into()),
    ("share", |row| row.numbers.share.into()),
    ("max", |row| row.numbers.max.into()),
    ("first", |row| row.numbers.first.into()),
    ("last", |row| row.numbers.last.into()),
    ("gained", |row| (row.numbers.gained() as f64).into()),
    ("integral_byte_seconds", |row| {
        row.numbers.integral_byte_seconds.into()
    }),
    ("stddev", |row| row.numbers.stddev.into()),
    ("bytes_per_second", |row| {
        row.numbers.bytes_per_second.into()
    }),
    ("r2", |row| row.numbers.r2.into()),
];

fn described(row: &BandRow, of: fn(&BandDescription) -> Option<&String>) -> Cell<'_> {
    row.described
        .as_ref()
        .and_then(of)
        .map(String::as_str)
        .into()
}

/// Formats the rows with [`rows_text`]; a long table can be formatted in parts.
pub(crate) fn band_text(table: &BandTable, how: RowFormat, is_first: bool) -> String {
    let names = COLUMNS.map(|(name, _)| name);
    let cells = |row| COLUMNS.map(|(_, content)| content(row));
    rows_text(how, &names, table.rows.iter().map(cells), is_first)
}
