//! Export of the band table. Files and the command line share one list of columns. Sizes are in bytes.

use serde::{Deserialize, Serialize};

use super::choice::HeapLog;
use super::table::{BandRow, BandTableQuery};
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

/// Band table as text. The header precedes row 0 only, so that parts can be concatenated. `None` if the log has no
/// such profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandTextQuery {
    /// Rows, order and range.
    pub query: BandTableQuery,
    /// File format of the text.
    pub separated: RowFormat,
}

impl BandTextQuery {
    /// Returns the text; `None` if the log has no such profile.
    #[must_use]
    pub fn text(&self, log: HeapLog<'_>) -> Option<String> {
        let table = self.query.table(log)?;
        let names = COLUMNS.map(|(name, _)| name);
        let cells = |row| COLUMNS.map(|(_, content)| content(row));
        let is_first = self.query.rows.start == 0;
        let rows = table.rows.iter().map(cells);
        Some(rows_text(self.separated, &names, rows, is_first))
    }
}
