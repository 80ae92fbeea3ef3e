//! Table `heap`: bytes of every heap profile band in every census.

use crate::bands;
use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::Table;
use session::cells::Column;

/// Bytes of every heap profile band in every census.
pub(super) const TABLE: Table = Table {
    name: "heap",
    help: "One row per census and band that held something, as in `eventscope heap --censuses --json`.",
    columns: &[
        Column::number("profile", "Number of the heap profile, from 0"),
        Column::text(
            "breakdown",
            "Criterion of the bands, as the flag of the runtime: -hc, -hT, …",
        ),
        Column::number("census", "Number of the census, from 0"),
        Column::number("time_ns", "Time of the census"),
        Column::number("era", "Era of the census (-he)"),
        Column::text(
            "band",
            "Label of the band in the log; for a cost-centre stack, its cost centres, innermost first",
        ),
        Column::text("name", "Name of the band in lists and charts"),
        Column::number("bytes", "Bytes that it held"),
    ],
    fill,
};

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    bands::for_each(log, |held| {
        rows.row(&[
            held.profile.into(),
            held.breakdown.flag().into(),
            held.census.into(),
            held.at.into(),
            held.era.into(),
            held.label.into(),
            held.name.into(),
            held.bytes.into(),
        ])
    })
}
