//! Bytes of every band of heap profiles in every census.

use crate::log::Log;
use analysis::heap::Breakdown;
use eventlog::ids::Nanos;
use session::heap::choice::HeapChoice;

/// Bytes of a band in one census.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BandBytes<'a> {
    /// Number of the heap profile, from 0.
    pub(crate) profile: u32,
    /// Criterion by which the profile distinguishes bands.
    pub(crate) breakdown: Breakdown,
    /// Number of the census, from 0.
    pub(crate) census: u32,
    /// Time of the census, if it is in the log.
    pub(crate) at: Option<Nanos>,
    /// Era of the census (`-he`).
    pub(crate) era: Option<u64>,
    /// Label of the band in the log; for a cost-centre stack, its cost centres, innermost first.
    pub(crate) label: &'a str,
    /// Display name in lists and charts.
    pub(crate) name: &'a str,
    /// Bytes in this census.
    pub(crate) bytes: u64,
}

/// Calls `take` for all bands, census by census.
///
/// # Errors
/// Returns the first error of `take`.
pub(crate) fn for_each<E>(
    log: &Log<'_>,
    mut take: impl FnMut(&BandBytes<'_>) -> Result<(), E>,
) -> Result<(), E> {
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
        for (census, bands) in chosen.by_census(profile) {
            for (place, bytes) in bands {
                take(&BandBytes {
                    profile: number,
                    breakdown: profile.kind.breakdown,
                    census,
                    at: profile.time(census),
                    era: profile.era(census),
                    label: &labels[place],
                    name: chosen.bands.name(chosen.shown[place]),
                    bytes,
                })?;
            }
        }
    }
    Ok(())
}
