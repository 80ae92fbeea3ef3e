//! What every band of a heap profile held in every census.

use crate::log::Log;
use analysis::heap::Breakdown;
use eventlog::ids::Nanos;
use session::heap::choice::HeapChoice;

/// What a band held in a census.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'a> {
    /// The number of the heap profile, from 0.
    pub(crate) profile: u32,
    /// By what it tells bands apart.
    pub(crate) breakdown: Breakdown,
    /// The number of the census, from 0.
    pub(crate) census: u32,
    /// When that was, if the log tells.
    pub(crate) at: Option<Nanos>,
    /// Its era.
    pub(crate) era: Option<u64>,
    /// The label of the band in the log; of a stack its cost centres, innermost first.
    pub(crate) label: &'a str,
    /// What lists and charts call it.
    pub(crate) name: &'a str,
    /// What it held.
    pub(crate) bytes: u64,
}

/// So many censuses are taken out of the bands at once.
const AT_ONCE: u32 = 64;

/// Tells all of it, census by census.
///
/// # Errors
/// Those of who takes it.
pub(crate) fn each<E>(
    log: &Log<'_>,
    mut take: impl FnMut(&Held<'_>) -> Result<(), E>,
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
        let censuses = chosen.ranking.censuses();
        for from in censuses.clone().step_by(AT_ONCE as usize) {
            let part = from..from.saturating_add(AT_ONCE).min(censuses.end);
            for (census, bands) in part.clone().zip(chosen.by_census(profile, &part)) {
                for (place, bytes) in bands {
                    take(&Held {
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
    }
    Ok(())
}
