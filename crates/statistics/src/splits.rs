//! Multiple testing of many numbers: the step-down permutation test of Westfall and Young (Resampling-Based
//! Multiple Testing, 1993, algorithm 4.1). Runs of one program claim a difference in any of the numbers no more
//! often than a single test would.
//!
//! If both sides are runs of the same program, every split of the runs into sides of these sizes is equally
//! likely. The test tries all of them, or a sample, and always keeps all numbers of a run together, which
//! preserves their dependence. Each number's statistic is corrected by how often the maximum over all numbers
//! reaches it by chance.

use crate::rank_test::split_count;

/// Up to this number of splits, all are tried; otherwise this many at random.
const MAX_SPLITS: usize = 2_000;

/// One number of all runs, runs before first.
#[derive(Clone, Debug)]
pub struct NumberByRun {
    /// Value in each run; `None` for runs without the number.
    pub by_run: Vec<Option<f64>>,
    /// Standard deviation to add to that of the runs, so that differences below it have a small statistic, however
    /// close the runs of each side are.
    pub noise: f64,
}

/// Returns for each number the probability that any number with at most its statistic reaches it by chance; 1 if a
/// side has no runs.
pub fn corrected_p_values(numbers: &[NumberByRun], before: usize, after: usize) -> Vec<f64> {
    let rows: Vec<StandardizedNumber> = numbers.iter().map(StandardizedNumber::new).collect();
    let seen: Vec<bool> = (0..before + after).map(|run| run < before).collect();
    let shown: Vec<f64> = rows.iter().map(|row| row.distance(&seen)).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by(|a, b| shown[*a].total_cmp(&shown[*b]));
    let splits = splits(before, after);
    let mut as_much = vec![0_usize; rows.len()];
    for split in &splits {
        let mut most: f64 = 0.0;
        for &index in &order {
            most = most.max(rows[index].distance(split));
            // Tolerate rounding: the sums are in another order.
            as_much[index] += usize::from(most >= shown[index] * (1.0 - 1e-9));
        }
    }
    let mut all = vec![1.0; rows.len()];
    let mut least: f64 = 0.0;
    for &index in order.iter().rev() {
        let share = as_much[index] as f64 / splits.len().max(1) as f64;
        least = least.max(share);
        all[index] = least;
    }
    all
}

/// Returns the minimum of [`corrected_p_values`] for these numbers of runs: the observed split, and the same with sides
/// swapped if these have equal size.
pub fn min_corrected_p(before: usize, after: usize) -> f64 {
    let alike = if before == after { 2.0 } else { 1.0 };
    alike / split_count(before, after).min(MAX_SPLITS as f64)
}

/// Returns splits as flags of the runs on the first side; the observed split comes first.
fn splits(before: usize, after: usize) -> Vec<Vec<bool>> {
    let mut split: Vec<bool> = (0..before + after).map(|run| run < before).collect();
    if split_count(before, after) > MAX_SPLITS as f64 {
        // A fixed seed makes results repeatable.
        let mut random = fastrand::Rng::with_seed(0x0065_7665_6e74);
        let mut drawn = split.clone();
        let drawn = std::iter::repeat_with(|| {
            random.shuffle(&mut drawn);
            drawn.clone()
        });
        return std::iter::once(split)
            .chain(drawn)
            .take(MAX_SPLITS)
            .collect();
    }
    let mut all = vec![split.clone()];
    while next_split(&mut split) {
        all.push(split.clone());
    }
    all
}

/// Advances to the next split in lexicographic order, runs before first; returns `false` after the last.
fn next_split(split: &mut [bool]) -> bool {
    let movable = split.windows(2).rposition(|pair| pair[0] && !pair[1]);
    let Some(index) = movable else {
        return false;
    };
    split.swap(index, index + 1);
    let rest = &mut split[index + 2..];
    rest.sort_unstable_by_key(|is_before| !is_before);
    true
}

/// A number of all runs, preprocessed for evaluating many splits.
struct StandardizedNumber {
    /// Deviation of each run from the mean of all; 0 for runs without the number.
    from_mean: Vec<f64>,
    /// Whether each run has the number.
    has: Vec<bool>,
    /// Sum of the squared deviations.
    squares: f64,
    noise: f64,
}

impl StandardizedNumber {
    fn new(numbers: &NumberByRun) -> Self {
        let values = numbers.by_run.iter().flatten();
        let count = values.clone().count().max(1) as f64;
        let mean = values.sum::<f64>() / count;
        let distances = numbers
            .by_run
            .iter()
            .map(|value| value.map_or(0.0, |value| value - mean));
        let from_mean: Vec<f64> = distances.collect();
        Self {
            squares: from_mean.iter().map(|far| far * far).sum(),
            has: numbers.by_run.iter().map(Option::is_some).collect(),
            from_mean,
            noise: numbers.noise,
        }
    }

    /// Returns the difference of the two sides' means in standard errors (Student's t, with the noise added to the
    /// deviation); 0 if a side has no run with the number.
    fn distance(&self, split: &[bool]) -> f64 {
        let (mut count, mut all, mut sum) = (0_u32, 0_u32, 0.0);
        for ((is_before, has), far) in split.iter().zip(&self.has).zip(&self.from_mean) {
            all += u32::from(*has);
            if *is_before {
                count += u32::from(*has);
                sum += far;
            }
        }
        let (n, m) = (f64::from(count), f64::from(all - count));
        if count == 0 || count == all || self.squares == 0.0 {
            return 0.0;
        }
        // The deviations from the common mean sum to 0.
        let apart = sum / n + sum / m;
        let between = apart * apart * n * m / (n + m);
        let within = (self.squares - between).max(0.0);
        let variance = within / (n + m - 2.0).max(1.0);
        let error = ((variance + self.noise * self.noise) * (1.0 / n + 1.0 / m)).sqrt();
        // Without any variance within sides the statistic is infinite.
        if error > 0.0 {
            apart.abs() / error
        } else {
            f64::MAX
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(values: &[f64]) -> NumberByRun {
        NumberByRun {
            by_run: values.iter().copied().map(Some).collect(),
            noise: 0.0,
        }
    }

    #[test]
    fn all_ways_are_tried_each_once() {
        let mut all = splits(3, 4);
        assert_eq!(all.len(), 35);
        assert_eq!(all[0], [true, true, true, false, false, false, false]);
        assert!(
            all.iter()
                .all(|split| split.iter().filter(|is| **is).count() == 3)
        );
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 35);
        let sampled = splits(10, 10);
        assert_eq!(sampled.len(), MAX_SPLITS);
        assert!(
            sampled
                .iter()
                .all(|split| split.iter().filter(|is| **is).count() == 10)
        );
        assert!((min_corrected_p(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        assert!((min_corrected_p(3, 5) - 1.0 / 56.0).abs() < 1e-12);
    }

    #[test]
    fn one_number_alone_has_the_share_of_splits_that_show_as_much() {
        // Two-sample t of 1, 2, 3 and 4, 5, 6: only the observed split and its swap reach it.
        let found = corrected_p_values(&[numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])], 3, 3);
        assert_eq!(found, [2.0 / 20.0]);
        // Student's t by hand: means 1.1733 and 1.015, sums of squares 0.77087 and 0.03645, so 0.1583 /
        // sqrt(0.80732 / 3 * (1 / 3 + 1 / 2)).
        let row = StandardizedNumber::new(&numbers(&[0.80, 0.83, 1.89, 1.15, 0.88]));
        let far = row.distance(&[true, true, true, false, false]);
        assert!((far - 0.334_35).abs() < 1e-4, "{far}");
        assert_eq!(corrected_p_values(&[numbers(&[7.0; 6])], 3, 3), [1.0]);
        assert_eq!(corrected_p_values(&[], 3, 3), [0.0; 0]);
    }

    #[test]
    fn what_stands_out_of_many_is_found_and_its_neighbors_are_not() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut all: Vec<NumberByRun> = (0..100)
            .map(|_| numbers(&(0..10).map(|_| random.f64()).collect::<Vec<_>>()))
            .collect();
        all[42] = numbers(&[1.0, 1.1, 1.0, 1.1, 1.0, 9.0, 9.1, 9.0, 9.1, 9.0]);
        let found = corrected_p_values(&all, 5, 5);
        assert!(found[42] <= 0.01, "{}", found[42]);
        assert!(found.iter().filter(|p| **p <= 0.05).count() == 1);
    }

    proptest! {
        /// If any split is equally likely to be observed, at most a tenth of them claims a difference at 0.1.
        #[test]
        fn a_claim_is_as_rare_as_it_says(
            all in prop::collection::vec(prop::collection::vec(0.0..10.0_f64, 6), 1..5),
        ) {
            let mut claimed = 0;
            let splits = splits(3, 3);
            for split in &splits {
                let dealt: Vec<NumberByRun> = all.iter().map(|row| {
                    let of = |is: bool| row.iter().zip(split).filter(move |(_, b)| **b == is);
                    let values: Vec<f64> = of(true).chain(of(false)).map(|(v, _)| *v).collect();
                    numbers(&values)
                }).collect();
                let least = corrected_p_values(&dealt, 3, 3).into_iter().fold(1.0, f64::min);
                claimed += usize::from(least <= 0.1);
            }
            prop_assert!(claimed as f64 <= 0.1 * splits.len() as f64, "{claimed}");
        }

        /// Neither the order of runs nor of sides matters.
        #[test]
        fn order_does_not_matter(row in prop::collection::vec(0.0..10.0_f64, 8)) {
            let mut turned = row.clone();
            turned.reverse();
            let (forth, back) = (corrected_p_values(&[numbers(&row)], 4, 4), corrected_p_values(&[numbers(&turned)], 4, 4));
            prop_assert_eq!(forth, back);
        }
    }
}
