//! Numbers by the values of a label.

use serde::Serialize;

use super::distribution::Distribution;
use super::effects::{Effect, by_value};
use super::{LabelColumn, NumberColumn};
use statistics::rank_test::two_sided_tail;
use statistics::robust::{deviation, limit_of_many, median};

/// Value of a label whose runs differ from those of all other values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupDifference {
    /// Value of the label `app`, if the fleet has several programs.
    pub app: Option<String>,
    /// Name of the label.
    pub key: String,
    /// Value of the label.
    pub value: String,
    /// Number of runs with this value.
    pub count: usize,
    /// Median of the other runs and of these, and the difference without changes in time and other labels.
    pub effect: Effect,
    /// Probability of such ranks without a difference.
    pub p: f64,
}

/// Distributions of a number by the values of a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelGroups {
    /// Name of the label.
    pub key: String,
    /// Values in natural order, without those that no run with this number has.
    pub values: Vec<LabelValueSummary>,
    /// Number of values that were left out beyond [`LabelGroups::MAX_VALUES`], those with the fewest runs.
    pub left_out: usize,
}

/// Distribution of a number in the runs with one value of a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelValueSummary {
    /// Value of the label.
    pub value: String,
    /// Quantiles.
    #[serde(flatten)]
    pub distribution: Distribution,
}

impl LabelGroups {
    /// Maximum number of values of a label.
    pub const MAX_VALUES: usize = 400;

    /// Summarizes a number by a label.
    pub fn of(number: &NumberColumn, label: &LabelColumn) -> Self {
        let numbers = number.values.iter().copied();
        let by_value = by_value(numbers, &label.by_run, label.values.len());
        let summaries = label
            .values
            .iter()
            .zip(by_value)
            .filter_map(|(value, own)| {
                Some(LabelValueSummary {
                    value: value.clone(),
                    distribution: Distribution::of(own)?,
                })
            });
        let mut values: Vec<LabelValueSummary> = summaries.collect();
        let left_out = values.len().saturating_sub(Self::MAX_VALUES);
        if left_out > 0 {
            let mut counts: Vec<usize> = values
                .iter()
                .map(|value| value.distribution.count)
                .collect();
            counts.sort_unstable();
            let least = counts[left_out];
            values.retain(|value| value.distribution.count >= least);
            values.truncate(Self::MAX_VALUES);
        }
        Self {
            key: label.key.clone(),
            values,
            left_out,
        }
    }
}

/// Value of a label that differs, with the size on the scale of the residuals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DifferingValue {
    pub(super) value: u32,
    pub(super) size: f64,
    pub(super) p: f64,
}

/// Number of values from which on they must also differ more than the others among themselves.
const MIN_PEERS: usize = 6;
/// Probability that the natural differences of values make one of them an outlier.
const PEER_ALPHA: f64 = 0.02;

/// Finds the values of a label whose residuals differ from those of all others: the one that differs most is set
/// aside, then the others are compared again. At least half of the values remain.
pub(super) fn different_values(
    residuals: &[f64],
    by_run: &[Option<u32>],
    alpha: f64,
    min_size: f64,
) -> Vec<DifferingValue> {
    let mut pool: Vec<(f64, u32)> = residuals
        .iter()
        .zip(by_run)
        .filter_map(|(residual, value)| Some((*residual, (*value)?)))
        .collect();
    pool.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let most = pool.iter().map(|(_, value)| value + 1).max().unwrap_or(0) as usize;
    let mut medians = vec![None; most];
    for (value, median) in medians.iter_mut().enumerate() {
        let own: Vec<f64> = pool
            .iter()
            .filter(|(_, other)| *other as usize == value)
            .map(|(own, _)| *own)
            .collect();
        *median = (!own.is_empty()).then(|| statistics::robust::quantile(&own, 0.5));
    }
    let count = medians.iter().flatten().count();
    let mut found = Vec::new();
    while found.len() < count / 2 {
        let tests = rank_tests(&pool, most);
        let limit = peer_limit(&medians);
        let sizes = tests.into_iter().filter_map(|(value, p)| {
            let own = medians[value as usize]?;
            // With two values, the other one is the reference.
            let others = pool
                .iter()
                .filter(|(_, other)| *other != value)
                .map(|(residual, _)| *residual);
            let is_significant = p <= alpha / count as f64;
            let size = if is_significant {
                own - median(others)
            } else {
                0.0
            };
            (is_significant && size.abs() >= min_size.max(limit)).then_some(DifferingValue {
                value,
                size,
                p,
            })
        });
        let Some(worst) = sizes.max_by(|a, b| a.size.abs().total_cmp(&b.size.abs())) else {
            break;
        };
        pool.retain(|(_, value)| *value != worst.value);
        medians[worst.value as usize] = None;
        found.push(worst);
    }
    found
}

/// Returns the distance from the others that the natural differences of values do not reach.
fn peer_limit(medians: &[Option<f64>]) -> f64 {
    let medians: Vec<f64> = medians.iter().copied().flatten().collect();
    if medians.len() < MIN_PEERS {
        return 0.0;
    }
    let center = median(medians.iter().copied());
    deviation(&medians, center) * limit_of_many(medians.len(), PEER_ALPHA)
}

/// Returns the p-value of the rank test of each value against all others, by the normal distribution. The pool is
/// sorted by residual.
fn rank_tests(pool: &[(f64, u32)], most: usize) -> Vec<(u32, f64)> {
    let (mut sums, mut counts) = (vec![0.0; most], vec![0_usize; most]);
    let (mut below, mut ties) = (0, 0.0);
    for equal in pool.chunk_by(|a, b| a.0 == b.0) {
        let size = equal.len() as f64;
        let rank = below as f64 + (size + 1.0) / 2.0;
        for (_, value) in equal {
            sums[*value as usize] += rank;
            counts[*value as usize] += 1;
        }
        below += equal.len();
        ties += size.powi(3) - size;
    }
    let all = pool.len() as f64;
    let tests = (0..)
        .zip(sums.iter().zip(&counts))
        .filter_map(|(value, (sum, count))| {
            let count = *count as f64;
            let variance = count * (all - count) / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
            let is_testable = count > 0.0 && count < all && variance > 0.0;
            let far = ((sum - count * (all + 1.0) / 2.0).abs() - 0.5).max(0.0);
            is_testable.then(|| (value, two_sided_tail(far / variance.sqrt())))
        });
    tests.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::tests::noise;

    fn found(runs: usize, levels: &[f64], alpha: f64, random: &mut fastrand::Rng) -> Vec<u32> {
        let by_run: Vec<Option<u32>> = (0..runs)
            .map(|run| Some((run % levels.len()) as u32))
            .collect();
        let residuals: Vec<f64> = (0..runs)
            .map(|run| levels[run % levels.len()] + noise(random))
            .collect();
        let mut found: Vec<u32> = different_values(&residuals, &by_run, alpha, 0.1)
            .iter()
            .map(|different| different.value)
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn values_that_differ_are_found_and_no_others() {
        let mut random = fastrand::Rng::with_seed(4);
        let mut levels = [0.0; 20];
        levels[7] = 2.0;
        assert_eq!(found(2000, &levels, 0.001, &mut random), [7]);
        levels[3] = -1.5;
        assert_eq!(found(2000, &levels, 0.001, &mut random), [3, 7]);
        assert_eq!(found(200, &[0.0, 0.0, 2.0], 0.001, &mut random), [2]);
        assert_eq!(found(200, &[0.0, 2.0], 0.001, &mut random).len(), 1);
    }

    #[test]
    fn equal_values_do_not_differ() {
        let mut random = fastrand::Rng::with_seed(5);
        for levels in [2, 5, 20] {
            let wrong =
                (0..200).filter(|_| !found(200, &vec![0.0; levels], 0.05, &mut random).is_empty());
            let share = wrong.count() as f64 / 200.0;
            assert!(share <= 0.07, "{levels}: {share}");
        }
        // Hosts that differ a little by nature.
        let wrong = (0..100).filter(|_| {
            let levels: Vec<f64> = (0..20).map(|_| noise(&mut random) * 0.5).collect();
            !found(1000, &levels, 0.05, &mut random).is_empty()
        });
        assert!(wrong.count() <= 7);
    }
}
