//! Quantiles and histograms.

use serde::Serialize;

use statistics::robust::{quantile, sorted};

/// Quantiles of a number, linearly interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Distribution {
    /// Number of runs that have the number.
    pub count: usize,
    pub min: f64,
    pub p5: f64,
    pub p25: f64,
    pub p50: f64,
    pub p75: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl Distribution {
    /// Returns the quantiles of the finite values; `None` without any.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let sorted = sorted(values);
        let at = |share| quantile(&sorted, share);
        (!sorted.is_empty()).then(|| Self {
            count: sorted.len(),
            min: at(0.0),
            p5: at(0.05),
            p25: at(0.25),
            p50: at(0.5),
            p75: at(0.75),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        })
    }
}

/// Number of runs by value, in bins of equal width, or of equal ratio if the values spread over more than a factor
/// of [`Histogram::WIDE`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// Bounds of the bins, ascending: one more than there are counts. The first bin includes all values below, the
    /// last one all above.
    pub bounds: Vec<f64>,
    /// Number of runs by bin.
    pub counts: Vec<u64>,
    /// Whether neighboring bounds have equal ratios instead of equal distances.
    pub is_logarithmic: bool,
}

impl Histogram {
    /// Ratio of the 95th and the 5th percentile from which on bins have equal ratios.
    pub const WIDE: f64 = 10.0;
    /// Maximum number of bins.
    pub const MAX_BINS: usize = 48;

    /// Counts the finite values. The bins cover the bulk of the values with some room around, so that single
    /// outliers do not hide the form.
    pub fn of(values: &[f64]) -> Self {
        let sorted = sorted(values.iter().copied());
        let is_positive = sorted.first().is_some_and(|min| *min > 0.0);
        let is_logarithmic =
            is_positive && quantile(&sorted, 0.95) > Self::WIDE * quantile(&sorted, 0.05);
        let back = |value: f64| if is_logarithmic { value.exp() } else { value };
        let mapped: Vec<f64> = if is_logarithmic {
            sorted.iter().map(|value| value.ln()).collect()
        } else {
            sorted
        };
        let (low, high) = Self::bounds_of(&mapped);
        let is_whole = !is_logarithmic
            && (1.0..=24.0).contains(&(high.ceil() - low.floor()))
            && mapped.iter().all(|value| value.fract() == 0.0);
        // Whole numbers that spread little get a bin each.
        let (from, to, bins) = if is_whole {
            let (from, to) = (low.floor() - 0.5, high.ceil() + 0.5);
            (from, to, (to - from) as usize)
        } else {
            (low, high, Self::bins(&mapped, high - low))
        };
        let width = (to - from) / bins as f64;
        let mut counts = vec![0_u64; bins];
        for value in mapped {
            // Casts from floats saturate.
            let bin = ((value - from) / width) as usize;
            counts[bin.min(bins - 1)] += 1;
        }
        let bounds = (0..=bins).map(|bin| back(from + width * bin as f64));
        Self {
            bounds: bounds.collect(),
            counts,
            is_logarithmic,
        }
    }

    /// Returns the range of the bins, never empty: all values, but at most two and a half quartile distances beyond
    /// the quartiles. The distance between the 5th and the 95th percentile counts as that of the quartiles if it is
    /// more than two and a half times as long, as in a normal distribution.
    fn bounds_of(sorted: &[f64]) -> (f64, f64) {
        const ROOM: f64 = 2.5;
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return (0.0, 1.0);
        };
        let [p5, p25, p75, p95] = [0.05, 0.25, 0.75, 0.95].map(|share| quantile(sorted, share));
        let distance = (p75 - p25).max((p95 - p5) / 2.5);
        let (low, high) = if distance > 0.0 {
            (
                min.max(p25 - ROOM * distance),
                max.min(p75 + ROOM * distance),
            )
        } else {
            (min, max)
        };
        if high > low {
            (low, high)
        } else {
            let room = low.abs().max(1.0) / 2.0;
            (low - room, low + room)
        }
    }

    /// Returns the number of bins by Freedman and Diaconis' rule, within limits.
    fn bins(sorted: &[f64], range: f64) -> usize {
        let spread = quantile(sorted, 0.75) - quantile(sorted, 0.25);
        let width = 2.0 * spread / (sorted.len().max(1) as f64).cbrt();
        if width > 0.0 {
            ((range / width).ceil() as usize).clamp(8, Self::MAX_BINS)
        } else {
            8
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_of_a_hundred() {
        let all = Distribution::of((0..=100).map(f64::from)).expect("values");
        assert_eq!((all.count, all.min, all.max), (101, 0.0, 100.0));
        assert_eq!((all.p5, all.p25, all.p50), (5.0, 25.0, 50.0));
        assert_eq!((all.p75, all.p95, all.p99), (75.0, 95.0, 99.0));
        assert_eq!(Distribution::of([f64::NAN]), None);
    }

    #[test]
    fn whole_numbers_have_a_bin_each() {
        let histogram = Histogram::of(&[0.0, 1.0, 1.0, 3.0]);
        assert_eq!(histogram.counts, [1, 2, 0, 1]);
        assert_eq!(histogram.bounds, [-0.5, 0.5, 1.5, 2.5, 3.5]);
    }

    proptest! {
        #[test]
        fn each_value_is_in_one_bin(values in prop::collection::vec(prop_oneof![-1e12..1e12_f64, 0.0..9.0_f64, Just(5.0)], 0..200)) {
            let histogram = Histogram::of(&values);
            prop_assert_eq!(histogram.counts.iter().sum::<u64>(), values.len() as u64);
            prop_assert_eq!(histogram.bounds.len(), histogram.counts.len() + 1);
            prop_assert!(histogram.bounds.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", histogram.bounds);
        }
    }
}
