//! Export of the band table. Files and the command line share one list of columns. Sizes are in bytes.

use super::table::BandRow;
use crate::cells::{Cell, Column, Columns};
use analysis::heap::names::BandDescription;

/// Columns of the table.
pub(crate) const COLUMNS: Columns<BandRow, 17> = Columns([
    Column::text("label", "Label in the log").value(|row| row.band_label.key.as_str().into()),
    Column::text("name", "Name in lists and charts")
        .value(|row| row.band_label.name.as_str().into()),
    Column::text("what", "Description, for a band of closures")
        .value(|row| described(row, |it| Some(&it.what))),
    Column::text("type", "Type of the closures")
        .value(|row| described(row, |it| it.type_.as_ref())),
    Column::text("module", "Module of the closures")
        .value(|row| described(row, |it| it.module.as_ref())),
    Column::text("place", "Source location").value(|row| described(row, |it| it.place.as_ref())),
    Column::number("censuses", "Number of censuses with bytes of the band")
        .value(|row| row.numbers.held.into()),
    Column::ratio("mean", "Mean bytes").value(|row| row.numbers.mean.into()),
    Column::ratio("share", "Share of the bytes of all bands").value(|row| row.numbers.share.into()),
    Column::number("max", "Maximum bytes").value(|row| row.numbers.max.into()),
    Column::number("first", "Bytes in the first census").value(|row| row.numbers.first.into()),
    Column::number("last", "Bytes in the last census").value(|row| row.numbers.last.into()),
    Column::ratio("gained", "Growth from the first to the last census")
        .value(|row| (row.numbers.gained() as f64).into()),
    Column::ratio("integral_byte_seconds", "Integral of the bytes over time")
        .value(|row| row.numbers.integral_byte_seconds.into()),
    Column::ratio("stddev", "Standard deviation of the bytes")
        .value(|row| row.numbers.stddev.into()),
    Column::ratio("bytes_per_second", "Slope of the regression line")
        .value(|row| row.numbers.bytes_per_second.into()),
    Column::ratio("r2", "How well a line fits: 1 is a perfect fit")
        .value(|row| row.numbers.r2.into()),
]);

fn described(row: &BandRow, of: fn(&BandDescription) -> Option<&String>) -> Cell<'_> {
    row.described
        .as_ref()
        .and_then(of)
        .map(String::as_str)
        .into()
}
