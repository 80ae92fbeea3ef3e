//! Detects bands that grow steadily, companions of a suspect, and bursts.
//!
//! | finding | rule |
//! |---|---|
//! | growth | the regression line rises, and the band is in at least half of the censuses |
//! | companion | Pearson correlation with the suspect of at least 0.9: 0.9² = 81 % of shared variance |
//! | burst | bytes rise far above the usual size in at most a tenth of the censuses, and fall again |
//!
//! A line through the few censuses of a band that comes and goes is not representative of the range. In a burst,
//! the band holds more than twice its median, more than the median plus six times the median absolute deviation
//! (MAD), and at least the median plus 1 % of the maximum of all bands together.
//!
//! Median and MAD are robust against bursts, unlike mean and standard deviation. Six MADs are about four standard
//! deviations of a normal distribution, so a noisy band has no bursts. Neither has one that grows evenly or
//! follows a sawtooth, because it never exceeds twice its median. Anything longer than a tenth of the range is a
//! phase, not a burst.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use model::census::{BandId, BandSums, Censuses, Run};
use model::sorting::CompactSort;

/// Minimum correlation of companions.
const MIN_CORRELATION: f64 = 0.9;
/// Limit of censuses at which bands are compared.
const MAX_COMPARED: usize = 512;
/// Minimum number of censuses. With fewer, any two bands look similar, and no size is usual.
pub const MIN_CENSUSES: usize = 8;
/// Limit of bands considered as companions or for bursts.
const MAX_BANDS: usize = 2_000;
/// A companion holds at least this fraction (1/n) of all bytes in the range.
const COMPANION_PART: u128 = 1_000;
/// A burst rises by at least this fraction (1/n) of the maximum of all bands together.
const BURST_PART: u64 = 100;
/// A burst exceeds this multiple of its band's median.
const TIMES_MEDIAN: u64 = 2;
/// A burst exceeds the median by this multiple of the MAD.
const TIMES_DISTANCE: u64 = 6;
/// A burst lasts at most this fraction (1/n) of the censuses.
const LONGEST_PART: u32 = 10;

/// Returns whether a band grows steadily enough to be reported; see the [module](self).
pub fn grows(sums: &BandSums) -> bool {
    let often = sums.held >= sums.censuses.div_ceil(2);
    often
        && sums
            .growth()
            .is_some_and(|line| line.bytes_per_second > 0.0)
}

/// A band that rises and falls with a suspect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Companion {
    /// Band that correlates with the suspect.
    pub band: BandId,
    /// Pearson correlation with the suspect, −1 to 1.
    pub correlation: f64,
}

/// Returns the Pearson correlation of two series, −1 to 1; `None` if one is constant.
///
/// Ignores the tail of the longer one.
pub fn correlation(one: &[u64], other: &[u64]) -> Option<f64> {
    let n = one.len().min(other.len()) as i128;
    let pairs = || one.iter().zip(other);
    let sum = |of: &dyn Fn(i128, i128) -> i128| -> Option<i128> {
        pairs().try_fold(0_i128, |sum, (&a, &b)| {
            sum.checked_add(of(a.into(), b.into()))
        })
    };
    let (a, b) = (sum(&|a, _| a)?, sum(&|_, b| b)?);
    // Computes n² times the covariance and the variances. Bytes are below 2⁴⁸, so sums of up to 2¹⁴ products fit.
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

/// Returns at most `most` of the censuses, evenly spaced, with the first and the last.
fn sample_evenly(censuses: &Range<u32>, most: usize) -> Vec<u32> {
    let count = censuses.len().min(most);
    let last = censuses.len().saturating_sub(1) as u64;
    let place = |at: usize| censuses.start + (at as u64 * last / (count as u64 - 1).max(1)) as u32;
    (0..count).map(place).collect()
}

/// Returns the bytes of a band in the chosen censuses, which must be sorted.
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

/// Returns the bands that rise and fall with `suspect`, the highest correlation first.
///
/// Considers bands with at least a thousandth of all bytes. `bands` must hold all bands and their sums in these
/// censuses.
pub fn companions(
    censuses: &Censuses,
    places: &Range<u32>,
    bands: &[(BandId, BandSums)],
    suspect: BandId,
) -> Vec<Companion> {
    if places.len() < MIN_CENSUSES {
        return Vec::new();
    }
    let all: u128 = bands.iter().map(|(_, sums)| sums.bytes).sum();
    let matters = |sums: &BandSums| sums.bytes.saturating_mul(COMPANION_PART) >= all;
    let mut among: Vec<_> = bands.iter().filter(|(_, sums)| matters(sums)).collect();
    among.sort_small_by_key(|(band, sums)| (std::cmp::Reverse(sums.bytes), *band));
    among.truncate(MAX_BANDS);
    let chosen = sample_evenly(places, MAX_COMPARED);
    let shape = bytes_at(censuses, suspect, &chosen);
    let correlated = |&&(band, _): &&(BandId, BandSums)| {
        let other = bytes_at(censuses, band, &chosen);
        let correlation = correlation(&shape, &other)?;
        (correlation >= MIN_CORRELATION).then_some(Companion { band, correlation })
    };
    let others = among.iter().filter(|(band, _)| *band != suspect);
    let mut found: Vec<Companion> = others.filter_map(correlated).collect();
    found.sort_small_by(|a, b| {
        b.correlation
            .total_cmp(&a.correlation)
            .then(a.band.cmp(&b.band))
    });
    found
}

/// A few censuses in which a band holds far more than usual.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Burst {
    /// Band of the burst.
    pub band: BandId,
    /// Censuses of the burst.
    pub censuses: Range<u32>,
    /// Census with the most bytes.
    pub peak: u32,
    /// Bytes of the band at the peak.
    pub bytes: u64,
    /// Median bytes of the band in the range.
    pub usual_bytes: u64,
}

impl Burst {
    /// Returns the rise of the peak above the median.
    pub const fn rise_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.usual_bytes)
    }
}

/// Returns the bursts of all bands, the largest rise first.
///
/// `bands` must hold all bands and their sums in these censuses.
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
    among.truncate(MAX_BANDS);
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

/// Returns the bursts of one band, from its runs in some censuses.
fn bursts_of(band: BandId, runs: &[Run], places: &Range<u32>, least_rise: u64) -> Vec<Burst> {
    if places.len() < MIN_CENSUSES {
        return Vec::new();
    }
    let held = |run: &Run| (run.bytes, run.censuses.len());
    let told: usize = runs.iter().map(|run| run.censuses.len()).sum();
    // The band holds nothing in censuses without a run.
    let zeros = (0, places.len().saturating_sub(told));
    let median = weighted_median(runs.iter().map(held).chain([zeros]));
    let away = |(bytes, many): (u64, usize)| (bytes.abs_diff(median), many);
    let usual = weighted_median(runs.iter().map(held).chain([zeros]).map(away));
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

/// Returns the lower median of values with multiplicities.
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
