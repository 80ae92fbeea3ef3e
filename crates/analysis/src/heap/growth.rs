//! What grows: bands that grow steadily, those of one shape with a suspect, and
//! bursts.
//!
//! | what | rule |
//! |---|---|
//! | grows | bytes per second of the line through its bytes are positive, and it is in at least half of the censuses: a line through the few censuses of a band that comes and goes says nothing about the range |
//! | companion | Pearson's correlation with the suspect is at least 0.9: more than 0.9² = 81 % of what one does follows from the other |
//! | burst | the band holds more than twice its median, more than its median and six times its usual distance from it (the median of all distances), and rises by at least 1 % of the most that all bands held, in at most a tenth of the censuses, and comes down again |
//!
//! The median and the usual distance do not move with a burst, as the mean and the
//! standard deviation would. Six usual distances are four standard deviations if
//! values are spread evenly around their median, so that a restless band has no
//! bursts; neither has one that grows evenly, or goes up and down like a saw, as
//! these never hold more than twice their median. What lasts for more than a tenth
//! of the range is a phase, not a burst.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use model::census::{BandId, BandSums, Censuses, Run};
use model::sorting::SortSmall;

/// The least correlation of companions.
const LEAST_CORRELATION: f64 = 0.9;
/// At how many censuses bands are compared.
const MOST_COMPARED: usize = 512;
/// In fewer censuses than this any two bands look alike, and nothing has a usual
/// size.
pub const LEAST_CENSUSES: usize = 8;
/// Companions and bursts are looked for among so many bands.
const MOST_BANDS: usize = 2_000;
/// A companion holds at least one in so many of the bytes of the range.
const COMPANION_PART: u128 = 1_000;
/// A burst rises by at least one in so many of the most bytes of all bands.
const BURST_PART: u64 = 100;
/// A burst is this many times as high as the median of its band.
const TIMES_MEDIAN: u64 = 2;
/// How many usual distances it rises above the median.
const TIMES_DISTANCE: u64 = 6;
/// It is in at most one in so many of the censuses.
const LONGEST_PART: u32 = 10;

/// Whether a band grows steadily enough to be told: see the [module](self).
#[must_use]
pub fn grows(sums: &BandSums) -> bool {
    let often = sums.held >= sums.censuses.div_ceil(2);
    often
        && sums
            .growth()
            .is_some_and(|line| line.bytes_per_second > 0.0)
}

/// A band that rises and falls with another one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Companion {
    /// The band.
    pub band: BandId,
    /// Pearson's correlation of both, −1 to 1.
    pub correlation: f64,
}

/// Pearson's correlation of two series, −1 to 1; none if one of them never
/// changes. Series of different lengths are compared as far as both go.
#[must_use]
pub fn correlation(one: &[u64], other: &[u64]) -> Option<f64> {
    let n = one.len().min(other.len()) as i128;
    let pairs = || one.iter().zip(other);
    let sum = |of: &dyn Fn(i128, i128) -> i128| -> Option<i128> {
        pairs().try_fold(0_i128, |sum, (&a, &b)| {
            sum.checked_add(of(a.into(), b.into()))
        })
    };
    let (a, b) = (sum(&|a, _| a)?, sum(&|_, b| b)?);
    // n² times the covariance and the variances. Bytes are less than 2⁴⁸, so that
    // products of up to 2¹⁴ of them fit.
    let about = |products: i128, a: i128, b: i128| {
        Some((n.checked_mul(products)?.checked_sub(a.checked_mul(b)?)?) as f64)
    };
    let both = about(sum(&|a, b| a.saturating_mul(b))?, a, b)?;
    let variances = [
        about(sum(&|a, _| a.saturating_mul(a))?, a, a)?,
        about(sum(&|_, b| b.saturating_mul(b))?, b, b)?,
    ];
    let scale: f64 = variances.iter().map(|variance| variance.sqrt()).product();
    (scale > 0.0).then(|| (both / scale).clamp(-1.0, 1.0))
}

/// At most `most` of some censuses, evenly chosen, with the first and the last.
fn evenly(censuses: &Range<u32>, most: usize) -> Vec<u32> {
    let count = censuses.len().min(most);
    let last = censuses.len().saturating_sub(1) as u64;
    let place = |at: usize| censuses.start + (at as u64 * last / (count as u64 - 1).max(1)) as u32;
    (0..count).map(place).collect()
}

/// The bytes of a band in some censuses, which are in order.
fn bytes_at(censuses: &Censuses, band: BandId, chosen: &[u32]) -> Vec<u64> {
    let mut bytes = vec![0; chosen.len()];
    let (Some(first), Some(last)) = (chosen.first(), chosen.last()) else {
        return bytes;
    };
    let mut at = 0;
    for run in censuses.runs(band, *first..last + 1) {
        while let Some(census) = chosen.get(at).filter(|census| **census < run.censuses.end) {
            if let Some(bytes) = bytes.get_mut(at).filter(|_| run.censuses.start <= *census) {
                *bytes = run.bytes;
            }
            at += 1;
        }
    }
    bytes
}

/// The bands that rise and fall with a suspect, the most alike first; looked for
/// among those that hold at least a thousandth of the bytes of all. `bands` has all of
/// them with their sums in these censuses.
#[must_use]
pub fn companions(
    censuses: &Censuses,
    places: &Range<u32>,
    bands: &[(BandId, BandSums)],
    suspect: BandId,
) -> Vec<Companion> {
    if places.len() < LEAST_CENSUSES {
        return Vec::new();
    }
    let all: u128 = bands.iter().map(|(_, sums)| sums.bytes).sum();
    let matters = |sums: &BandSums| sums.bytes.saturating_mul(COMPANION_PART) >= all;
    let mut among: Vec<_> = bands.iter().filter(|(_, sums)| matters(sums)).collect();
    among.sort_small_by_key(|(band, sums)| (std::cmp::Reverse(sums.bytes), *band));
    among.truncate(MOST_BANDS);
    let chosen = evenly(places, MOST_COMPARED);
    let shape = bytes_at(censuses, suspect, &chosen);
    let likeness = |&&(band, _): &&(BandId, BandSums)| {
        let other = bytes_at(censuses, band, &chosen);
        let correlation = correlation(&shape, &other)?;
        (correlation >= LEAST_CORRELATION).then_some(Companion { band, correlation })
    };
    let others = among.iter().filter(|(band, _)| *band != suspect);
    let mut found: Vec<Companion> = others.filter_map(likeness).collect();
    found.sort_small_by(|a, b| {
        b.correlation
            .total_cmp(&a.correlation)
            .then(a.band.cmp(&b.band))
    });
    found
}

/// A band held far more than usual for a few censuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Burst {
    /// The band.
    pub band: BandId,
    /// The censuses in which it did.
    pub censuses: Range<u32>,
    /// The one of them with the most bytes.
    pub peak: u32,
    /// What it held then.
    pub bytes: u64,
    /// What it usually holds: the median.
    pub usual_bytes: u64,
}

impl Burst {
    /// How far it rises above what is usual.
    #[must_use]
    pub const fn rise_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.usual_bytes)
    }
}

/// The bursts of all bands, those first that rise the most. `bands` has all of
/// them with their sums in these censuses.
#[must_use]
pub fn bursts(
    censuses: &Censuses,
    places: &Range<u32>,
    bands: &[(BandId, BandSums)],
) -> Vec<Burst> {
    let totals = censuses.totals();
    let totals = totals.get(places.start as usize..places.end as usize);
    let most = totals
        .unwrap_or_default()
        .iter()
        .max()
        .copied()
        .unwrap_or(0);
    let least_rise = most.div_ceil(BURST_PART).max(1);
    let mut among: Vec<_> = bands
        .iter()
        .filter(|(_, sums)| sums.max >= least_rise)
        .collect();
    among.sort_small_by_key(|(band, sums)| (std::cmp::Reverse(sums.max), *band));
    among.truncate(MOST_BANDS);
    let of_band = |&&(band, _): &&(BandId, BandSums)| {
        let runs: Vec<Run> = censuses.runs(band, places.clone()).collect();
        bursts_of(band, &runs, places, least_rise)
    };
    let mut found: Vec<Burst> = among.iter().flat_map(of_band).collect();
    found.sort_small_by_key(|burst| {
        (
            std::cmp::Reverse(burst.rise_bytes()),
            burst.band,
            burst.peak,
        )
    });
    found
}

/// The bursts of one band, by its runs in some censuses.
fn bursts_of(band: BandId, runs: &[Run], places: &Range<u32>, least_rise: u64) -> Vec<Burst> {
    if places.len() < LEAST_CENSUSES {
        return Vec::new();
    }
    let held = |run: &Run| (run.bytes, run.censuses.len());
    let told: usize = runs.iter().map(|run| run.censuses.len()).sum();
    // Where there is no run, the band holds nothing.
    let untold = (0, places.len().saturating_sub(told));
    let median = weighted_median(runs.iter().map(held).chain([untold]));
    let away = |(bytes, many): (u64, usize)| (bytes.abs_diff(median), many);
    let usual = weighted_median(runs.iter().map(held).chain([untold]).map(away));
    let limit = [
        median.saturating_mul(TIMES_MEDIAN),
        median.saturating_add(usual.saturating_mul(TIMES_DISTANCE)),
        median.saturating_add(least_rise - 1),
    ];
    let limit = limit.into_iter().max().unwrap_or(u64::MAX);
    let longest = (places.len() as u32 / LONGEST_PART).max(1);
    let mut found: Vec<Burst> = Vec::new();
    for run in runs.iter().filter(|run| run.bytes > limit) {
        let goes_on = |burst: &&mut Burst| burst.censuses.end == run.censuses.start;
        if let Some(burst) = found.last_mut().filter(goes_on) {
            burst.censuses.end = run.censuses.end;
            if run.bytes > burst.bytes {
                (burst.peak, burst.bytes) = (run.censuses.start, run.bytes);
            }
            continue;
        }
        found.push(Burst {
            band,
            censuses: run.censuses.clone(),
            peak: run.censuses.start,
            bytes: run.bytes,
            usual_bytes: median,
        });
    }
    let is_burst =
        |burst: &Burst| burst.censuses.len() as u32 <= longest && burst.censuses.end < places.end;
    found.retain(is_burst);
    found
}

/// The lower median of values that each stand for so many.
fn weighted_median(values: impl Iterator<Item = (u64, usize)>) -> u64 {
    let mut values: Vec<(u64, usize)> = values.collect();
    values.sort_unstable();
    let count: usize = values.iter().map(|(_, many)| many).sum();
    let mut before = 0;
    let middle = values.iter().find(|(_, many)| {
        before += many;
        2 * before >= count
    });
    middle.map_or(0, |&(value, _)| value)
}

#[cfg(test)]
mod tests;
