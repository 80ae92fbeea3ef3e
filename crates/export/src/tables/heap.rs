//! Table `heap`: bytes of every heap profile band in every census.

use crate::bands;
use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::{Column, Table};

/// Bytes of every heap profile band in every census.
pub(super) const TABLE: Table = Table {
    name: "heap",
    help: "What every band of a heap profile held in every census, as `eventscope heap --censuses --json` has it: a row for each band that held something, census by census.",
    columns: &[
        Column::number("profile", "The number of the heap profile, from 0"),
        Column::text(
            "breakdown",
            "By what it tells bands apart, as the flag of the runtime: -hc, -hT, …",
        ),
        Column::number("census", "The number of the census, from 0"),
        Column::number("time_ns", "When it was"),
        Column::number("era", "Its era (-he)"),
        Column::text(
            "band",
            "The label of the band in the log; of a stack its cost centres, innermost first",
        ),
        Column::text("name", "What lists and charts call it"),
        Column::number("bytes", "What it held"),
    ],
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    bands::for_each(log, |held| {
        rows.row(&[
            u64::from(held.profile).into(),
            held.breakdown.flag().into(),
            u64::from(held.census).into(),
            held.at.map(|at| at.0).into(),
            held.era.into(),
            held.label.into(),
            held.name.into(),
            held.bytes.into(),
        ])
    })
}
