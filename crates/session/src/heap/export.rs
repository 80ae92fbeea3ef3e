//! Export of the band table. Files and the command line share one list of columns. Sizes are in bytes.

use super::table::BandRow;
use crate::cells::{Cell, Columns};
use analysis::heap::names::BandDescription;

/// Columns of the table.
pub(crate) const COLUMNS: Columns<BandRow, 17> = Columns([
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
]);

fn described(row: &BandRow, of: fn(&BandDescription) -> Option<&String>) -> Cell<'_> {
    row.described
        .as_ref()
        .and_then(of)
        .map(String::as_str)
        .into()
}
