//! What every band of a heap profile held in every census.

use crate::format::Error;
use crate::log::Log;
use crate::rows::Rows;
use crate::table::{Column, Table};
use views::heap::choice::HeapChoice;

/// What every band of a heap profile held in every census.
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

/// So many censuses are taken out of the bands at once.
const AT_ONCE: u32 = 64;

fn fill(log: &Log<'_>, rows: &mut Rows) -> Result<(), Error> {
    for (number, profile) in (0_u32..).zip(log.session.recording().heap().iter()) {
        let choice = HeapChoice {
            profile: number,
            bands: u32::MAX,
            ..HeapChoice::default()
        };
        let Some(chosen) = log.session.heap(&choice, log.range) else {
            continue;
        };
        let labels: Vec<String> = chosen
            .shown
            .iter()
            .map(|&band| log.session.heap_log().label(profile, band))
            .collect();
        let censuses = chosen.ranking.censuses();
        for from in censuses.clone().step_by(AT_ONCE as usize) {
            let part = from..from.saturating_add(AT_ONCE).min(censuses.end);
            for (census, bands) in part.clone().zip(chosen.by_census(profile, &part)) {
                for (place, bytes) in bands {
                    rows.row(&[
                        u64::from(number).into(),
                        profile.kind.breakdown.flag().into(),
                        u64::from(census).into(),
                        profile.time(census).map(|time| time.0).into(),
                        profile.era(census).into(),
                        labels[place].as_str().into(),
                        chosen.bands.name(chosen.shown[place]).into(),
                        bytes.into(),
                    ])?;
                }
            }
        }
    }
    Ok(())
}
