//! Runs that are far from all comparable ones.

use serde::Serialize;

use super::RunIndex;
use super::effects::Effect;
use statistics::robust::{deviation, limit_of_many, median, quantile, sorted};

/// Run whose number is far from that of all comparable runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outlier {
    /// Run in question.
    pub run: RunIndex,
    /// Value that the run would have at the median of comparable runs, and its own value.
    pub effect: Effect,
    /// Distance from the median in standard deviations, as the median absolute deviation estimates them.
    pub score: f64,
}

/// Minimum number of runs among which one can be an outlier.
const MIN_RUNS: usize = 8;
/// Minimum number of runs from which on the form of the tails is known.
const MIN_RUNS_FOR_TAILS: usize = 100;
/// Minimum distance in multiples of what is worth other claims: single runs vary more than medians.
const MIN_SIZE: f64 = 2.0;

/// Returns the indices of outliers among residuals, with their distance from the median and their score.
///
/// An outlier is farther from the median than any value of a normal distribution with this median absolute deviation
/// would be with a probability of `alpha`. With enough runs, it is also farther than any value of an exponential tail
/// through the 90th and the 97.5th percentile of its side would be: times often have heavier tails than the normal
/// distribution, and their ends are no outliers.
pub(super) fn outliers(
    residuals: &[f64],
    alpha: f64,
    (min_size, min_deviation): (f64, f64),
) -> Vec<(usize, f64, f64)> {
    if residuals.len() < MIN_RUNS {
        return Vec::new();
    }
    let center = median(residuals.iter().copied());
    let own = deviation(residuals, center).max(min_deviation);
    let normal = own * limit_of_many(residuals.len(), alpha);
    let least = normal.max(MIN_SIZE * min_size);
    let limits = [-1.0, 1.0].map(|side| tail_limit(residuals, center, side, alpha).max(least));
    let far = residuals
        .iter()
        .enumerate()
        .filter_map(|(index, residual)| {
            let distance = residual - center;
            let limit = limits[usize::from(distance > 0.0)];
            (distance.abs() > limit).then_some((index, distance, distance.abs() / own))
        });
    far.collect()
}

/// Returns the distance that an exponential tail on one side exceeds with a probability of `alpha / 2`; 0 with too
/// few values.
fn tail_limit(residuals: &[f64], center: f64, side: f64, alpha: f64) -> f64 {
    if residuals.len() < MIN_RUNS_FOR_TAILS {
        return 0.0;
    }
    let distances = sorted(residuals.iter().map(|residual| (residual - center) * side));
    let (p90, p975) = (quantile(&distances, 0.9), quantile(&distances, 0.975));
    let length = (p975 - p90) / 4.0_f64.ln();
    p90 + length * (0.1 * residuals.len() as f64 * 2.0 / alpha).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::tests::noise;

    /// Returns the share of samples with an outlier.
    fn share_with_outlier(
        count: usize,
        alpha: f64,
        value: impl Fn(&mut fastrand::Rng) -> f64,
    ) -> f64 {
        const SAMPLES: usize = 400;
        let mut random = fastrand::Rng::with_seed(11);
        let samples = (0..SAMPLES).filter(|_| {
            let values: Vec<f64> = (0..count).map(|_| value(&mut random)).collect();
            !outliers(&values, alpha, (0.0, 0.0)).is_empty()
        });
        samples.count() as f64 / SAMPLES as f64
    }

    #[test]
    fn equal_runs_have_hardly_any() {
        for count in [8, 12, 30, 100, 1000] {
            let share = share_with_outlier(count, 0.02, noise);
            assert!(share <= 0.04, "{count}: {share}");
        }
        // Laplace's distribution, with exponential tails.
        let laplace = |random: &mut fastrand::Rng| {
            (1.0 - random.f64()).ln() * if random.bool() { 1.0 } else { -1.0 }
        };
        for count in [100, 1000] {
            let share = share_with_outlier(count, 0.02, laplace);
            assert!(share <= 0.10, "{count}: {share}");
        }
    }

    #[test]
    fn single_runs_far_away_are_found() {
        let mut random = fastrand::Rng::with_seed(2);
        for (count, far) in [(12, 20.0), (50, 10.0), (300, 9.0), (10_000, 9.0)] {
            let mut values: Vec<f64> = (0..count).map(|_| noise(&mut random)).collect();
            values[3] = far;
            values[count / 2] = -far;
            let found = outliers(&values, 0.001, (0.0, 0.0));
            let places: Vec<usize> = found.iter().map(|(index, ..)| *index).collect();
            assert_eq!(places, [3, count / 2]);
            assert!(found[0].1 > 0.0 && found[1].1 < 0.0 && found[0].2 > 5.0);
        }
    }

    #[test]
    fn equal_values_have_a_least_deviation() {
        let mut values = vec![1.0; 50];
        values[7] = 1.02;
        assert!(outliers(&values, 0.01, (0.05, 0.01)).is_empty());
        values[7] = 1.5;
        assert_eq!(outliers(&values, 0.01, (0.05, 0.01)).len(), 1);
        assert!(outliers(&[1.0, 9.0], 0.01, (0.0, 0.0)).is_empty());
    }
}
