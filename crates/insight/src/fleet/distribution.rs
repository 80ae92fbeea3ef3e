//! Quantiles and histograms.

use serde::Serialize;

use super::robust::{quantile, sorted};

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
    #[must_use]
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
    /// Ratio of the bounds from which on bins have equal ratios.
    pub const WIDE: f64 = 30.0;
    /// Maximum number of bins.
    pub const MAX_BINS: usize = 48;

    /// Counts the finite values. The bins cover the values between the 0.5th and the 99.5th percentile and some
    /// room around, so that single outliers do not hide the form.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let sorted = sorted(values.iter().copied());
        let (low, high) = Self::bounds_of(&sorted);
        let is_whole =
            (1.0..=24.0).contains(&(high - low)) && sorted.iter().all(|value| value.fract() == 0.0);
        let is_logarithmic = !is_whole && low > 0.0 && high / low > Self::WIDE;
        let map = |value: f64| if is_logarithmic { value.ln() } else { value };
        let back = |value: f64| if is_logarithmic { value.exp() } else { value };
        // Whole numbers that spread little get a bin each.
        let (from, to, bins) = if is_whole {
            let (from, to) = (low.round() - 0.5, high.round() + 0.5);
            (from, to, (to - from) as usize)
        } else {
            (map(low), map(high), Self::bins(&sorted, high - low))
        };
        let width = (to - from) / bins as f64;
        let mut counts = vec![0_u64; bins];
        for &value in &sorted {
            // Casts from floats saturate.
            let bin = ((map(value) - from) / width) as usize;
            counts[bin.min(bins - 1)] += 1;
        }
        let bounds = (0..=bins).map(|bin| back(from + width * bin as f64));
        Self {
            bounds: bounds.collect(),
            counts,
            is_logarithmic,
        }
    }

    /// Returns the range of the bins; never empty.
    fn bounds_of(sorted: &[f64]) -> (f64, f64) {
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return (0.0, 1.0);
        };
        let (p0, p100) = (quantile(sorted, 0.005), quantile(sorted, 0.995));
        let room = (p100 - p0) / 2.0;
        let (low, high) = (min.max(p0 - room), max.min(p100 + room));
        if high > low {
            (low, high)
        } else {
            (
                low - low.abs().max(1.0) / 2.0,
                low + low.abs().max(1.0) / 2.0,
            )
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
