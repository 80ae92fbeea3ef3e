//! Changes of a number in time.

use std::ops::Range;

use serde::Serialize;

use super::effects::Effect;
use statistics::robust::{deviation, median};

/// Change of a number in time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Value of the label `app`, if the fleet has several programs.
    pub app: Option<String>,
    /// Last run before the change.
    pub before_run: u32,
    /// First run after the change.
    pub after_run: u32,
    /// Number of runs between the neighboring changes and this one, before and after it.
    pub counts: (usize, usize),
    /// Medians before and after, and the change without what crossed labels account for.
    pub effect: Effect,
    /// Probability of such a change in a series without any.
    pub p: f64,
    /// Labels that differ between the sides.
    pub labels: Vec<LabelChange>,
}

/// Label that differs between the sides of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelChange {
    /// Name of the label.
    pub key: String,
    /// Value of nearly all runs shortly before the change.
    pub before: String,
    /// Value of nearly all runs shortly after it.
    pub after: String,
}

/// ChangePoint in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChangePoint {
    /// Index of the first value after the step.
    pub(super) at: usize,
    pub(super) p: f64,
}

/// Search for the steps of a series.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangePointSearch<'a> {
    /// Values in the order of time.
    pub(super) values: &'a [f64],
    /// Whether a label changes at a value: steps are likely there.
    pub(super) is_boundary: &'a [bool],
    /// Groups of neighboring values that may resemble each other, as runs of one day do; ascending numbers.
    pub(super) blocks: &'a [u32],
    /// Probability of a step in a series without any.
    pub(super) alpha: f64,
    /// Minimum size of a step.
    pub(super) min_size: f64,
}

/// Minimum number of values on each side of a step.
const MIN_SIDE: usize = 5;
/// Maximum number of steps of a series.
const MAX_STEPS: usize = 20;
/// Number of times that a range without a step is halved to find short excursions, each half with an overlapping
/// one (seeded binary segmentation, Kovács and others 2020).
const HALVINGS: u32 = 3;

impl ChangePointSearch<'_> {
    /// Finds the steps in ascending order. Among places that are nearly as good, boundaries are preferred.
    pub(super) fn steps(&self) -> Vec<ChangePoint> {
        let mut steps: Vec<ChangePoint> = Vec::new();
        let mut open = Vec::from([(0, self.values.len())]);
        while let Some((from, to)) = open.pop() {
            let step = self.step_within(from..to);
            let Some(step) = step.filter(|_| steps.len() < MAX_STEPS) else {
                continue;
            };
            steps.push(step);
            open.extend([(step.at, to), (from, step.at)]);
        }
        steps.sort_unstable_by_key(|step| step.at);
        self.confirm(steps)
    }

    /// Searches each step again between its neighbors, which were not known when it was found, and drops those that
    /// are none then.
    fn confirm(&self, mut steps: Vec<ChangePoint>) -> Vec<ChangePoint> {
        for _ in 0..MAX_STEPS {
            let old = steps.clone();
            let mut index = 0;
            while index < steps.len() {
                let from = index.checked_sub(1).map_or(0, |before| steps[before].at);
                let to = steps
                    .get(index + 1)
                    .map_or(self.values.len(), |after| after.at);
                match self.step(from..to, self.alpha, 1.0) {
                    Some(step) => {
                        steps[index] = step;
                        index += 1;
                    }
                    None => {
                        steps.remove(index);
                    }
                }
            }
            if steps == old {
                break;
            }
        }
        steps
    }

    /// Returns the most likely step in a range, or else in a part of it.
    fn step_within(&self, range: Range<usize>) -> Option<ChangePoint> {
        let whole = self.step(range.clone(), self.alpha / 2.0, 1.0);
        if whole.is_some() {
            return whole;
        }
        let parts = (1..=HALVINGS).flat_map(|halving| {
            let length = range.len() >> halving;
            let count = if length < 2 * MIN_SIDE {
                0
            } else {
                (2_usize << halving) - 1
            };
            let start = range.start;
            let room = range.len() - length;
            (0..count).map(move |part| {
                let from = start + room * part / (count - 1).max(1);
                from..from + length
            })
        });
        let parts: Vec<Range<usize>> = parts.collect();
        let alpha = self.alpha / 2.0 / parts.len().max(1) as f64;
        let inflation = self.block_inflation(range);
        let steps = parts
            .into_iter()
            .filter_map(|part| self.step(part, alpha, inflation));
        steps.min_by(|a, b| a.p.total_cmp(&b.p))
    }

    /// Returns how many times as much the sums of blocks vary as those of independent values: parts have too few
    /// blocks to tell.
    fn block_inflation(&self, range: Range<usize>) -> f64 {
        let ranks = centered_ranks(&self.values[range.clone()]);
        let own = ranks.iter().map(|rank| rank * rank).sum::<f64>();
        let by_block = block_variance(&ranks, &self.blocks[range]) * ranks.len() as f64;
        if own > 0.0 { by_block / own } else { 1.0 }
    }

    /// Returns the most likely step, if it is significant and large enough. The variance is at least `inflation`
    /// times that of independent values.
    fn step(&self, range: Range<usize>, alpha: f64, inflation: f64) -> Option<ChangePoint> {
        let count = range.len();
        if count < 2 * MIN_SIDE {
            return None;
        }
        let (values, is_boundary) = (
            &self.values[range.clone()],
            &self.is_boundary[range.clone()],
        );
        let ranks = centered_ranks(values);
        let mut sum = 0.0;
        let sums = ranks.iter().map(|rank| {
            let before = sum;
            sum += rank;
            before
        });
        let sums: Vec<f64> = sums.collect();
        let places = MIN_SIDE..=count - MIN_SIDE;
        let greatest = |places: &mut dyn Iterator<Item = usize>| {
            places.max_by(|a, b| sums[*a].abs().total_cmp(&sums[*b].abs()))
        };
        let best = greatest(&mut places.clone())?;
        let near = uncertainty(values, best);
        let mut as_good = places.filter(|&at| is_boundary[at] && at.abs_diff(best) as f64 <= near);
        let at = greatest(&mut as_good).unwrap_or(best);
        let own = ranks.iter().map(|rank| rank * rank).sum::<f64>() / count as f64;
        let least = own * inflation.max(1.0);
        let variance = long_run_variance(&ranks, at, &self.blocks[range.clone()]).max(least);
        if variance <= 0.0 {
            return None;
        }
        let p = bridge_p(sums[best].abs() / (variance * count as f64).sqrt());
        let size = median(values[at..].iter().copied()) - median(values[..at].iter().copied());
        let is_found = p <= alpha && size.abs() >= self.min_size;
        is_found.then_some(ChangePoint {
            at: range.start + at,
            p,
        })
    }
}

/// Returns the number of values by which a step may be off: it falls with the square of the step's size in standard
/// deviations.
fn uncertainty(values: &[f64], at: usize) -> f64 {
    let (before, after) = values.split_at(at);
    let middles = [before, after].map(|side| median(side.iter().copied()));
    let spread = deviation(before, middles[0]).max(deviation(after, middles[1]));
    let size = (middles[1] - middles[0]).abs() / spread;
    if size > 0.0 {
        (8.0 / (size * size)).max(2.0)
    } else {
        0.0
    }
}

/// Returns the ranks of values as shares, with mean 0; equal values have equal ranks.
fn centered_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let (middle, count) = (values.len() as f64 / 2.0, values.len() as f64);
    let mut below = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = below as f64 + equal.len() as f64 / 2.0;
        for &index in equal {
            ranks[index] = (rank - middle) / count;
        }
        below += equal.len();
    }
    ranks
}

/// Returns the long-run variance of a series with a step: by autocovariances with Bartlett's weights, or by the sums
/// of blocks if these vary more. Subtracting the means of both sides takes away some of the variance of long waves,
/// which is added again.
fn long_run_variance(ranks: &[f64], at: usize, blocks: &[u32]) -> f64 {
    let count = ranks.len() as f64;
    let mean = |side: &[f64]| side.iter().sum::<f64>() / side.len().max(1) as f64;
    let (before, after) = ranks.split_at(at);
    let means = [mean(before), mean(after)];
    let rest = ranks
        .iter()
        .enumerate()
        .map(|(index, rank)| rank - means[usize::from(index >= at)]);
    let rest: Vec<f64> = rest.collect();
    let lag = count.cbrt().ceil() as usize;
    let covariance = |distance: usize| -> f64 {
        let products = rest.iter().zip(&rest[distance..]).map(|(a, b)| a * b);
        products.sum::<f64>() / count
    };
    let others = (1..=lag.min(ranks.len() - 1)).map(|distance| {
        let weight = 1.0 - distance as f64 / (lag + 1) as f64;
        2.0 * weight * covariance(distance)
    });
    let lost = 1.0 - 3.0 * (lag + 1) as f64 / count;
    let by_lag = (covariance(0) + others.sum::<f64>()) / lost.max(0.25);
    by_lag.max(block_variance(&rest, blocks))
}

/// Returns the variance of a value that explains the sums of blocks.
fn block_variance(rest: &[f64], blocks: &[u32]) -> f64 {
    let mut places = 0..rest.len();
    let sums = blocks.chunk_by(|a, b| a == b).map(|block| {
        let own = places.by_ref().take(block.len());
        own.map(|place| rest[place]).sum::<f64>().powi(2)
    });
    let sums: Vec<f64> = sums.collect();
    let lost = 1.0 - BLOCKS_LOST / sums.len() as f64;
    sums.iter().sum::<f64>() / rest.len() as f64 / lost.max(0.25)
}

/// Number of blocks whose variance is lost with the means of both sides, the place of the step being the best one.
const BLOCKS_LOST: f64 = 5.0;

/// Returns the probability that a Brownian bridge reaches `height` on either side (Kolmogorov's distribution).
fn bridge_p(height: f64) -> f64 {
    if height < 0.3 {
        return 1.0;
    }
    let terms = (1..=20).map(|k| {
        let k = f64::from(k);
        let sign = if k % 2.0 == 1.0 { 2.0 } else { -2.0 };
        sign * (-2.0 * (k * height).powi(2)).exp()
    });
    terms.sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fleet::tests::noise;

    /// Returns the places of steps in values of which `runs` each belong to a block.
    fn places(alpha: f64, runs: usize, values: &[f64]) -> Vec<usize> {
        let blocks: Vec<u32> = (0..values.len())
            .map(|place| (place / runs) as u32)
            .collect();
        let search = ChangePointSearch {
            values,
            is_boundary: &vec![false; values.len()],
            blocks: &blocks,
            alpha,
            min_size: 0.0,
        };
        search.steps().iter().map(|step| step.at).collect()
    }

    /// Returns the share of series with a step.
    fn share_with_step(runs: usize, series: impl Fn(&mut fastrand::Rng) -> Vec<f64>) -> f64 {
        const SERIES: usize = 400;
        let mut random = fastrand::Rng::with_seed(7);
        let found = (0..SERIES).filter(|_| !places(0.05, runs, &series(&mut random)).is_empty());
        found.count() as f64 / SERIES as f64
    }

    #[test]
    fn at_most_one_in_twenty_equal_series_has_a_step() {
        for count in [10, 12, 30, 100, 300, 1000] {
            let share = share_with_step(1, |random| (0..count).map(|_| noise(random)).collect());
            assert!(share <= 0.05 + 0.02, "{count}: {share}");
        }
        // Skewed, with ties.
        let share = share_with_step(1, |random| {
            (0..200)
                .map(|_| (noise(random) * 2.0).exp().floor())
                .collect()
        });
        assert!(share <= 0.07, "{share}");
    }

    #[test]
    fn days_that_differ_are_no_steps() {
        for (days, runs) in [(30, 10), (60, 5), (20, 50)] {
            let share = share_with_step(runs, |random| {
                let day = |_| {
                    let level = noise(random);
                    (0..runs).map(|_| level + noise(random)).collect::<Vec<_>>()
                };
                (0..days).flat_map(day).collect()
            });
            assert!(share <= 0.08, "{days} × {runs}: {share}");
        }
    }

    #[test]
    fn steps_are_found() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut values = |levels: &[(usize, f64)]| -> Vec<f64> {
            let runs = levels
                .iter()
                .flat_map(|(count, level)| vec![*level; *count]);
            runs.map(|level| level + noise(&mut random)).collect()
        };
        let one = values(&[(60, 0.0), (40, 3.0)]);
        assert_eq!(places(0.001, 1, &one), [60]);
        let three = places(
            0.001,
            1,
            &values(&[(100, 0.0), (100, 4.0), (100, 1.0), (200, 5.0)]),
        );
        assert_eq!(three.len(), 3, "{three:?}");
        assert!(
            three
                .iter()
                .zip([100, 200, 300])
                .all(|(at, known)| at.abs_diff(known) <= 2),
            "{three:?}"
        );
        // A short excursion is two steps.
        let excursion = places(0.001, 1, &values(&[(200, 0.0), (40, 4.0), (200, 0.0)]));
        assert_eq!(excursion.len(), 2, "{excursion:?}");
    }

    #[test]
    fn boundaries_are_preferred() {
        let mut random = fastrand::Rng::with_seed(5);
        let values: Vec<f64> = (0..100)
            .map(|i| f64::from(u8::from(i >= 50)) * 2.0 + noise(&mut random))
            .collect();
        let boundaries: Vec<bool> = (0..100).map(|i| i % 10 == 0).collect();
        let blocks: Vec<u32> = (0..100).collect();
        let search = ChangePointSearch {
            values: &values,
            is_boundary: &boundaries,
            blocks: &blocks,
            alpha: 0.01,
            min_size: 0.0,
        };
        assert_eq!(
            search
                .steps()
                .iter()
                .map(|step| step.at)
                .collect::<Vec<_>>(),
            [50]
        );
    }

    #[test]
    fn bridges_have_kolmogorovs_distribution() {
        // Smirnov's table.
        for (height, p) in [(1.224, 0.10), (1.358, 0.05), (1.628, 0.01), (0.1, 1.0)] {
            assert!((bridge_p(height) - p).abs() < 5e-4, "{height}");
        }
    }

    proptest! {
        #[test]
        fn any_series_is_searched(values in prop::collection::vec(prop_oneof![any::<f64>(), Just(1.0), 0.0..9.0_f64], 0..60)) {
            let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
            let found = places(0.5, 3, &values);
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(found.iter().all(|at| (MIN_SIDE..=values.len() - MIN_SIDE).contains(at)));
        }
    }
}
