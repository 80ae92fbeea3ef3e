//! Census range of an answer, and sparklines of bands.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use analysis::heap::HeapProfile;
use eventlog::ids::Nanos;
use model::census::{BandId, Censuses};
use model::time::Interval;

/// One census of a profile, with its total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusInfo {
    /// Index in the profile.
    pub census: u32,
    /// Time of the census; `None` if the profile has no times.
    pub time: Option<Nanos>,
    /// Bytes of all bands.
    pub bytes: u64,
}

impl CensusInfo {
    pub(super) fn new(profile: &HeapProfile, census: u32) -> Self {
        Self {
            census,
            time: profile.time(census),
            bytes: profile.censuses.total(census),
        }
    }
}

/// Range of censuses that an answer covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusRange {
    /// Number of censuses in the range.
    pub censuses: u32,
    /// Number of censuses in the profile.
    pub of: u32,
    /// Whether the censuses have times, so that a range can be selected.
    pub timed: bool,
    /// First and last census in the range.
    pub ends: Option<(CensusInfo, CensusInfo)>,
    /// Census nearest to the range, if the range has none.
    pub nearest: Option<CensusInfo>,
}

impl CensusRange {
    pub(super) fn new(profile: &HeapProfile, places: &Range<u32>, range: Option<Interval>) -> Self {
        let moment = |census| CensusInfo::new(profile, census);
        let has_some = !places.is_empty();
        Self {
            censuses: places.len() as u32,
            of: profile.censuses.len() as u32,
            timed: profile.is_timed(),
            ends: has_some.then(|| (moment(places.start), moment(places.end - 1))),
            nearest: range
                .filter(|_| !has_some)
                .and_then(|range| nearest(profile.censuses.times(), range))
                .map(moment),
        }
    }
}

/// Returns the census nearest to a range without censuses.
fn nearest(times: &[Nanos], range: Interval) -> Option<u32> {
    let after = times.partition_point(|&time| time < range.start());
    let before = after.checked_sub(1);
    let distance = |place: usize| {
        let time = times.get(place)?;
        let away = range.start().0.saturating_sub(time.0);
        Some((away.max(time.0.saturating_sub(range.end().0)), place as u32))
    };
    let sides = [before.and_then(distance), distance(after)];
    sides.into_iter().flatten().min().map(|(_, place)| place)
}

/// Maximum number of points of a sparkline.
pub const SPARK_POINTS: u32 = 60;

/// Returns the number of points of a sparkline for a range of censuses.
pub(super) fn spark_points(places: &Range<u32>) -> u32 {
    (places.len() as u32).min(SPARK_POINTS)
}

/// Appends a sparkline to `into`: each point is the band's maximum in one part of the censuses, scaled so that the
/// overall maximum is 255.
///
/// Returns the first census with the maximum; `None` if the band holds nothing.
pub(super) fn draw_spark(
    censuses: &Censuses,
    band: BandId,
    places: &Range<u32>,
    into: &mut Vec<u8>,
) -> Option<u32> {
    if places.is_empty() {
        return None;
    }
    let mut peak = (0, None);
    let (points, count) = (spark_points(places) as usize, places.len() as u64);
    let mut most = vec![0_u64; points];
    let part = |census: u32| (u64::from(census - places.start) * points as u64 / count) as usize;
    for run in censuses.runs(band, places.clone()) {
        let parts = part(run.censuses.start)..=part(run.censuses.end - 1);
        if run.bytes > peak.0 {
            peak = (run.bytes, Some(run.censuses.start));
        }
        for most in most.get_mut(parts).unwrap_or_default() {
            *most = run.bytes.max(*most);
        }
    }
    let top = most.iter().max().copied().unwrap_or(0).max(1);
    // Rounds up so that nonzero values stay visible.
    let height = |most: u64| u128::from(most) * 255;
    into.extend(
        most.iter()
            .map(|&most| height(most).div_ceil(top.into()) as u8),
    );
    peak.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_census_is_named() {
        let times = [10, 20, 50].map(Nanos);
        let of = |start, end| nearest(&times, Interval::new(Nanos(start), Nanos(end)));
        assert_eq!(of(0, 5), Some(0));
        assert_eq!(of(22, 40), Some(1));
        assert_eq!(of(30, 49), Some(2));
        assert_eq!(of(60, 90), Some(2));
        assert_eq!(nearest(&[], Interval::new(Nanos(0), Nanos(1))), None);
    }

    #[test]
    fn a_picture_has_the_peaks_of_its_parts() {
        let mut censuses = Censuses::default();
        let band = censuses.add_band();
        for census in 0..600_u64 {
            censuses.begin(Nanos(census));
            censuses.add(band, if census == 305 { 5_100 } else { census / 300 });
        }
        censuses.end();
        let picture = |places: Range<u32>| {
            let mut into = Vec::new();
            let peak = draw_spark(&censuses, band, &places, &mut into);
            (into, peak)
        };
        let (all, peak) = picture(0..600);
        assert_eq!(peak, Some(305));
        assert_eq!(all.len(), 60);
        assert_eq!((all[29], all[30], all[31]), (0, 255, 1));
        assert_eq!(picture(304..307), (vec![1, 255, 1], Some(305)));
        assert_eq!(picture(310..320).1, Some(310), "the first of equals");
        assert_eq!(picture(7..7), (vec![], None));
        assert_eq!(picture(0..2), (vec![0, 0], None));
    }
}
