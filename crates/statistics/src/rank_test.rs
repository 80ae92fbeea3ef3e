//! Two-sided Mann–Whitney rank test: whether one side of runs tends to have greater values than the other.
//!
//! Up to [`MAX_EXACT`] runs per side the p-value is exact: among all splits of the runs into sides of these
//! sizes, the share in which a side's rank sum is at least as far from its mean as observed. Ties get their mean
//! rank, and the splits are counted with these ranks. With more runs it is the normal approximation, corrected for
//! ties and for continuity.

use eventlog::hash::SeededMap;
use model::sorting::CompactSort;

/// Maximum number of runs per side for the exact test.
pub const MAX_EXACT: usize = 20;

/// Rank test that caches exact distributions: many numbers have the same pattern of ranks.
#[derive(Debug, Default)]
pub struct RankTest {
    /// Number of subsets by doubled rank sum; the key is the size of the first side and the doubled ranks of all
    /// values.
    known: SeededMap<(usize, Vec<u32>), Vec<u64>>,
}

impl RankTest {
    /// Returns the p-value: the probability of ranks that differ at least as much if both sides come from one
    /// distribution; 1 if a side is empty.
    pub fn p(&mut self, before: &[f64], after: &[f64]) -> f64 {
        let (ranks, sum) = doubled_ranks(before, after);
        if before.is_empty() || after.is_empty() {
            return 1.0;
        }
        if before.len().max(after.len()) > MAX_EXACT {
            return normal_p(&ranks, sum, before.len());
        }
        let size = before.len();
        let key = (size, ranks);
        if !self.known.contains_key(&key) {
            let counts = subsets_by_sum(&key.1, size);
            self.known.insert(key.clone(), counts);
        }
        let counts = self.known.get(&key).map(Vec::as_slice).unwrap_or_default();
        share_as_far(counts, sum, size, before.len() + after.len())
    }
}

/// Returns the doubled ranks of all values in ascending order, and their sum for the first side. Mean ranks of
/// ties may be half-integers, so all are doubled.
fn doubled_ranks(before: &[f64], after: &[f64]) -> (Vec<u32>, u64) {
    let tagged = |side: &[f64], is_before| -> Vec<(f64, bool)> {
        side.iter().map(|value| (*value, is_before)).collect()
    };
    let mut all = tagged(before, true);
    all.append(&mut tagged(after, false));
    all.sort_small_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = Vec::with_capacity(all.len());
    let mut sum = 0;
    for equal in all.chunk_by(|a, b| a.0 == b.0) {
        // Twice the mean of the first and the last rank of the ties.
        let doubled = (2 * ranks.len() + equal.len() + 1) as u32;
        let of_before = equal.iter().filter(|(_, is_before)| *is_before).count();
        sum += u64::from(doubled) * of_before as u64;
        ranks.resize(ranks.len() + equal.len(), doubled);
    }
    (ranks, sum)
}

/// Counts the subsets of `size` ranks by sum. 40 ranks have at most 1.4e11 subsets.
fn subsets_by_sum(ranks: &[u32], size: usize) -> Vec<u64> {
    let mut greatest = ranks.to_vec();
    greatest.sort_unstable();
    let most: u32 = greatest.iter().rev().take(size).sum();
    let width = most as usize + 1;
    // By number of ranks taken, then by their sum.
    let mut counts = vec![vec![0_u64; width]; size + 1];
    counts[0][0] = 1;
    for &rank in ranks {
        let rank = rank as usize;
        for taken in (1..=size).rev() {
            let (fewer, more) = counts.split_at_mut(taken);
            let (from, to) = (&fewer[taken - 1], &mut more[0]);
            for (to, from) in to.iter_mut().skip(rank).zip(from) {
                *to += from;
            }
        }
    }
    counts.pop().unwrap_or_default()
}

/// Returns the share of subsets whose sum is at least as far from the mean.
fn share_as_far(counts: &[u64], sum: u64, size: usize, all: usize) -> f64 {
    // The mean of the doubled ranks is `all + 1`.
    let mean = (size * (all + 1)) as u64;
    let far = sum.abs_diff(mean);
    let (mut as_far, mut ways) = (0_u64, 0_u64);
    for (sum, count) in (0..).zip(counts) {
        ways += count;
        if mean.abs_diff(sum) >= far {
            as_far += count;
        }
    }
    as_far as f64 / ways.max(1) as f64
}

fn normal_p(ranks: &[u32], sum: u64, size: usize) -> f64 {
    let (n, all) = (size as f64, ranks.len() as f64);
    let mean = n * (all + 1.0) / 2.0;
    let ties = ranks.chunk_by(|a, b| a == b).map(|equal| {
        let equal = equal.len() as f64;
        equal.powi(3) - equal
    });
    let ties: f64 = ties.sum();
    let variance = n * (all - n) / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let far = ((sum as f64 / 2.0 - mean).abs() - 0.5).max(0.0);
    two_sided_tail(far / variance.sqrt())
}

/// Returns the probability that a normal variable is at least `z` standard deviations from its mean, `z >= 0`: the
/// complementary error function by Chebyshev polynomials (Numerical Recipes, 6.2), with a relative error below
/// 1.2e-7.
pub fn two_sided_tail(z: f64) -> f64 {
    const TERMS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    let polynomial = TERMS.iter().rev().fold(0.0, |sum, term| sum * t + term);
    (t * (polynomial - x * x).exp()).min(1.0)
}

/// Corrects p-values of several tests so that the probability of any false claim stays below alpha (Holm 1979):
/// the smallest times the number of tests, the next times one less and so on, made non-decreasing.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_small_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut most: f64 = 0.0;
    for (before, index) in order.into_iter().enumerate() {
        let times = (probabilities.len() - before) as f64;
        most = most.max((probabilities[index] * times).min(1.0));
        corrected[index] = most;
    }
    corrected
}

/// Returns the minimum p-value for these numbers of runs: all values of one side are greater than all of the
/// other.
pub fn min_p(before: usize, after: usize) -> f64 {
    (2.0 / split_count(before, after)).min(1.0)
}

/// Returns the number of splits into sides of these sizes.
pub fn split_count(before: usize, after: usize) -> f64 {
    let factors = (1..=before).map(|index| (after + index) as f64 / index as f64);
    factors.product()
}

/// Returns the runs per side needed for the minimum p-value, corrected for this many tests, to be at most alpha;
/// 200 at most.
pub fn runs_needed(alpha: f64, tests: usize) -> usize {
    let enough = |runs: &usize| min_p(*runs, *runs) * tests.max(1) as f64 <= alpha;
    (1..200).find(enough).unwrap_or(200)
}

/// Counts the orders of distinct values by their number of pairs, one value from each side, that are in order;
/// from no pair to all.
pub fn pairs_in_order(before: usize, after: usize) -> Vec<u64> {
    let ranks: Vec<u32> = (1..=(before + after) as u32).collect();
    let counts = subsets_by_sum(&ranks, before);
    // The smallest rank sum is that of the first ranks, with no pair in order.
    counts.into_iter().skip(before * (before + 1) / 2).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p(before: &[f64], after: &[f64]) -> f64 {
        RankTest::default().p(before, after)
    }

    /// Reference implementation that enumerates all splits.
    fn by_enumeration(before: &[f64], after: &[f64]) -> f64 {
        let all: Vec<f64> = before.iter().chain(after).copied().collect();
        let rank = |value: f64| {
            let less = all.iter().filter(|other| **other < value).count() as f64;
            let equal = all.iter().filter(|other| **other == value).count() as f64;
            less + (equal + 1.0) / 2.0
        };
        let mean = before.len() as f64 * (all.len() as f64 + 1.0) / 2.0;
        let far = |ranks: f64| (ranks - mean).abs();
        let seen = far(before.iter().map(|value| rank(*value)).sum());
        let (mut as_far, mut ways) = (0_u32, 0_u32);
        for dealt in 0_u32..1 << all.len() {
            if dealt.count_ones() as usize == before.len() {
                let first = (0..all.len()).filter(|index| dealt >> index & 1 == 1);
                let ranks: f64 = first.map(|index| rank(all[index])).sum();
                ways += 1;
                as_far += u32::from(far(ranks) >= seen - 1e-9);
            }
        }
        f64::from(as_far) / f64::from(ways)
    }

    #[test]
    fn published_examples() {
        // Hollander and Wolfe, Nonparametric Statistical Methods, 4.1: permeability of the human chorioamnion. U
        // is 35, one-sided 0.1272.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        assert!((p(&term, &early) - 2.0 * 0.127_206).abs() < 1e-5);
        // All of one side above the other: 2 of all splits.
        assert!((p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]) - 0.1).abs() < 1e-12);
        let ten = |from: u32| (from..from + 10).map(f64::from).collect::<Vec<_>>();
        assert!((p(&ten(0), &ten(10)) - 2.0 / 184_756.0).abs() < 1e-15);
        assert_eq!(p(&[1.0; 20], &[1.0; 20]), 1.0);
        assert_eq!(p(&[], &[1.0]), 1.0);
    }

    #[test]
    fn many_runs_have_the_normal_distribution() {
        for (z, share) in [
            (0.0, 1.0),
            (1.0, 0.317_310_5),
            (1.959_964, 0.05),
            (2.575_829, 0.01),
            (5.0, 5.733e-7),
        ] {
            assert!((two_sided_tail(z) / share - 1.0).abs() < 1e-4, "{z}");
        }
        // At the boundary between them, exact and normal nearly agree, with ties too.
        let side = |runs: u32, shift: f64| -> Vec<f64> {
            (0..runs).map(|run| f64::from(run % 13) + shift).collect()
        };
        for shift in [0.0, 1.0, 2.0, 3.0, 4.0] {
            let (before, after) = (side(20, 0.0), side(20, shift));
            let (ranks, sum) = doubled_ranks(&before, &after);
            let (exact, normal) = (p(&before, &after), normal_p(&ranks, sum, 20));
            assert!((exact - normal).abs() < 0.01, "{shift}: {exact} {normal}");
        }
    }

    #[test]
    fn several_tests_are_corrected_as_holm_has_it() {
        // Example from R's `p.adjust`.
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (corrected, expected) in corrected.iter().zip(expected) {
            assert!((corrected - expected).abs() < 1e-12);
        }
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert_eq!(holm(&[]), [0.0; 0]);
    }

    #[test]
    fn so_many_runs_are_needed() {
        assert!((min_p(3, 3) - 0.1).abs() < 1e-12);
        assert!((min_p(4, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert!((min_p(3, 5) - 2.0 / 56.0).abs() < 1e-12);
        assert_eq!(min_p(1, 1), 1.0);
        assert_eq!([1, 2, 7].map(|tests| runs_needed(0.05, tests)), [4, 5, 6]);
    }

    proptest! {
        #[test]
        fn is_what_enumeration_gives(
            before in prop::collection::vec(0_u8..9, 1..7),
            after in prop::collection::vec(0_u8..9, 1..7),
        ) {
            let [before, after] = [before, after].map(|side| {
                side.into_iter().map(f64::from).collect::<Vec<_>>()
            });
            let by_sums = p(&before, &after);
            prop_assert!((by_sums - by_enumeration(&before, &after)).abs() < 1e-12);
            // The p-value is invariant under swapped sides and monotonic transformations.
            prop_assert_eq!(by_sums, p(&after, &before));
            let scaled = |side: &[f64]| side.iter().map(|value| value.exp() * 3.0).collect::<Vec<_>>();
            prop_assert_eq!(by_sums, p(&scaled(&before), &scaled(&after)));
        }

        #[test]
        fn any_sides_have_a_probability(
            before in prop::collection::vec(any::<f64>(), 0..30),
            after in prop::collection::vec(any::<f64>(), 0..30),
        ) {
            prop_assert!((0.0..=1.0).contains(&p(&before, &after)));
        }
    }
}
