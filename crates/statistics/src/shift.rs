//! Size of the difference between two sides of runs: the Hodges–Lehmann shift, which is the median of all
//! differences of a run after and a run before. Its confidence interval contains the shifts that the rank test
//! does not reject. The interval of a median comes from order statistics.

use model::sorting::CompactSort;

/// Sides with more runs are reduced to this many quantiles, as the number of differences is the product of both
/// sides.
const MAX_VALUES: usize = 400;

/// Shift with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Estimated shift.
    pub middle: f64,
    /// Confidence interval; `None` with too few runs.
    pub interval: Option<(f64, f64)>,
}

/// Estimates the shift between two sides, with a confidence interval at `1 - alpha`; `None` if a side is empty.
///
/// The interval reaches from the `k`-th smallest to the `k`-th greatest difference, where the probability of fewer
/// than `k` pairs in order is at most `alpha / 2` (Hollander and Wolfe, Nonparametric Statistical Methods, 4.3).
/// Ties make it slightly too wide.
pub fn shift(before: &[f64], after: &[f64], alpha: f64) -> Option<Shift> {
    let (before, after) = (thinned(before), thinned(after));
    let mut all: Vec<f64> = after
        .iter()
        .flat_map(|after| before.iter().map(move |before| after - before))
        .collect();
    all.sort_small_by(f64::total_cmp);
    let middle = median_of_sorted(&all)?;
    let cut = pairs_cut(before.len(), after.len(), alpha);
    let interval = cut.and_then(|cut| {
        let last = all.len().checked_sub(1 + cut)?;
        Some((*all.get(cut)?, *all.get(last)?))
    });
    Some(Shift { middle, interval })
}

/// Returns the median; `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_small_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// Returns minimum and maximum; `None` for no values.
pub fn min_max(values: &[f64]) -> Option<(f64, f64)> {
    let values = values.iter().copied();
    let least = values.clone().reduce(f64::min)?;
    Some((least, values.fold(least, f64::max)))
}

/// Returns the indices of values outside Tukey's fences: more than 1.5 interquartile ranges below the lower or
/// above the upper quartile (interpolated). Returns none for fewer than five values, each of which may be a
/// quartile.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    const MIN_VALUES: usize = 5;
    const FENCE: f64 = 1.5;
    if values.len() < MIN_VALUES {
        return Vec::new();
    }
    let mut sorted = values.to_vec();
    sorted.sort_small_by(f64::total_cmp);
    let quartile = |share: f64| {
        let index = share * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[index as usize], sorted[index.ceil() as usize]);
        low + (high - low) * index.fract()
    };
    let (lower, upper) = (quartile(0.25), quartile(0.75));
    let room = FENCE * (upper - lower);
    let is_out = |value: f64| value < lower - room || value > upper + room;
    let indices = 0..values.len();
    indices.filter(|index| is_out(values[*index])).collect()
}

/// Returns the confidence interval of the median at `1 - alpha`, between two of the values; `None` with too few
/// values. The median is below the `k`-th smallest of `n` values with the probability that fewer than `k` of `n`
/// coin tosses are heads.
pub fn median_interval(values: &[f64], alpha: f64) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_small_by(f64::total_cmp);
    let throws = sorted.len();
    let cut = heads_cut(throws, alpha)?;
    Some((*sorted.get(cut)?, *sorted.get(throws - 1 - cut)?))
}

/// Returns the greatest `k` such that at most `k` heads have a probability of at most `alpha / 2`; `None` if 0
/// heads are already more likely.
fn heads_cut(throws: usize, alpha: f64) -> Option<usize> {
    /// With more tosses the normal approximation is as good, and avoids underflow.
    const MAX_EXACT: usize = 500;
    if throws > MAX_EXACT {
        let throws = throws as f64;
        let cut = throws / 2.0 - normal_quantile(alpha / 2.0) * throws.sqrt() / 2.0 - 1.0;
        return (cut >= 0.0).then_some(cut as usize);
    }
    let mut ways = 0.5_f64.powi(throws as i32);
    let (mut tail, mut cut) = (0.0, None);
    for heads in 0..throws / 2 {
        tail += ways;
        if tail > alpha / 2.0 {
            break;
        }
        cut = Some(heads);
        ways *= (throws - heads) as f64 / (heads + 1) as f64;
    }
    cut
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(half.checked_sub(1)?)?;
    Some(lower + (upper - lower) / 2.0)
}

fn thinned(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_small_by(f64::total_cmp);
    if sorted.len() <= MAX_VALUES {
        return sorted;
    }
    let last = sorted.len() - 1;
    let indices = (0..MAX_VALUES).map(|index| index * last / (MAX_VALUES - 1));
    indices.map(|index| sorted[index]).collect()
}

/// Returns how many of the smallest differences, and of the greatest, are outside the interval; `None` if there are
/// too few runs for an interval.
///
/// The number of pairs in order has the distribution of Mann and Whitney's U. With more than 20 runs on a side,
/// this uses the normal approximation.
fn pairs_cut(before: usize, after: usize, alpha: f64) -> Option<usize> {
    let most = crate::rank_test::MAX_EXACT;
    if before.max(after) > most {
        let (n, m) = (before as f64, after as f64);
        let z = normal_quantile(alpha / 2.0);
        let cut = n * m / 2.0 - z * (n * m * (n + m + 1.0) / 12.0).sqrt() - 0.5;
        return (cut >= 1.0).then_some(cut as usize);
    }
    let counts = crate::rank_test::pairs_in_order(before, after);
    let all: f64 = counts.iter().map(|count| *count as f64).sum();
    let mut tail = 0.0;
    let mut cut = None;
    for (pairs, count) in counts.iter().enumerate() {
        tail += *count as f64 / all;
        if tail > alpha / 2.0 {
            break;
        }
        cut = Some(pairs);
    }
    cut
}

/// Returns the distance from the mean, in standard deviations, beyond which the normal distribution has this tail.
/// It bisects, as the tail has no simple inverse.
pub fn normal_quantile(tail: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if crate::rank_test::two_sided_tail(middle) / 2.0 > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rank_test::RankTest;

    #[test]
    fn published_tables() {
        // The greatest U significant at 0.05, two-sided (Mann and Whitney's table as printed in Siegel,
        // Nonparametric Statistics, table K).
        let table = [
            ((4, 4), Some(0)),
            ((5, 5), Some(2)),
            ((6, 6), Some(5)),
            ((7, 7), Some(8)),
            ((8, 8), Some(13)),
            ((5, 10), Some(8)),
            ((10, 10), Some(23)),
            ((10, 12), Some(29)),
            ((15, 15), Some(64)),
            ((20, 20), Some(127)),
            ((3, 3), None),
        ];
        for ((before, after), cut) in table {
            assert_eq!(pairs_cut(before, after, 0.05), cut, "{before}, {after}");
        }
        // Ranks between which the median lies (Conover, Practical Nonparametric Statistics, from binomial tables).
        let ranks = |runs: u32| {
            let values: Vec<f64> = (1..=runs).map(f64::from).collect();
            median_interval(&values, 0.05)
        };
        assert_eq!(ranks(5), None);
        assert_eq!(ranks(6), Some((1.0, 6.0)));
        assert_eq!(ranks(10), Some((2.0, 9.0)));
        assert_eq!(ranks(20), Some((6.0, 15.0)));
        assert_eq!(ranks(100), Some((40.0, 61.0)));
        assert_eq!(ranks(1000), Some((469.0, 532.0)));
        assert_eq!(ranks(0), None);
    }

    #[test]
    fn published_example() {
        // Hollander and Wolfe, 4.2 and 4.3: the shift of the permeabilities is 0.305, with a 96 % interval from
        // -0.15 to 0.76.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let found = shift(&early, &term, 0.05).expect("both sides have runs");
        assert!((found.middle - 0.305).abs() < 1e-9);
        let (low, high) = found.interval.expect("there are enough");
        assert!(
            (low + 0.15).abs() < 1e-9 && (high - 0.76).abs() < 1e-9,
            "{low} {high}"
        );
    }

    fn runs() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(1.0..1e9_f64, 1..15)
    }

    proptest! {
        /// The interval contains exactly the shifts that the test does not reject.
        #[test]
        fn the_interval_is_the_test_turned_over(before in runs(), after in runs(), by in -1e9..1e9_f64) {
            let moved: Vec<f64> = before.iter().map(|value| value + by).collect();
            let p = RankTest::default().p(&moved, &after);
            let interval = shift(&before, &after, 0.05).and_then(|shift| shift.interval);
            let is_in = interval.is_none_or(|(low, high)| low <= by && by <= high);
            prop_assert_eq!(is_in, p > 0.05, "{:?} {} {}", interval, by, p);
        }

        #[test]
        fn swapped_and_scaled(before in runs(), after in runs(), times in 0.01..100.0_f64) {
            let forth = shift(&before, &after, 0.05).expect("runs");
            let back = shift(&after, &before, 0.05).expect("runs");
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
            prop_assert!(near(forth.middle, -back.middle));
            prop_assert_eq!(forth.interval.is_some(), back.interval.is_some());
            if let (Some(forth), Some(back)) = (forth.interval, back.interval) {
                prop_assert!(near(forth.0, -back.1) && near(forth.1, -back.0));
            }
            let scaled = |side: &[f64]| side.iter().map(|value| value * times).collect::<Vec<_>>();
            let more = shift(&scaled(&before), &scaled(&after), 0.05).expect("runs");
            prop_assert!((more.middle - forth.middle * times).abs() <= 1e-6 * times);
        }

        /// With many runs, quantiles stand in for all values.
        #[test]
        fn many_runs(by in 0.1..100.0_f64) {
            let before: Vec<f64> = (0..5_000).map(f64::from).collect();
            let after: Vec<f64> = before.iter().map(|value| value + by).collect();
            let found = shift(&before, &after, 0.05).expect("runs");
            prop_assert!((found.middle - by).abs() < 1e-6);
            let (low, high) = found.interval.expect("enough");
            prop_assert!(low < by && by < high);
        }
    }
}
