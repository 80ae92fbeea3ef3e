//! Whether one side of runs tends to have greater numbers than the other: the rank test of
//! Mann and Whitney, two-sided.
//!
//! Up to [`MOST_EXACT`] runs a side its probability is exact: of all ways to deal the runs
//! to two sides of these sizes, the share in which the sum of ranks of a side is at least as
//! far from its mean as it is. Equal numbers have the mean of their ranks, and the ways are
//! counted with these. Of more runs it is the normal approximation, corrected for ties and
//! for continuity.

use rustc_hash::FxHashMap;

/// Up to so many runs a side the test is exact.
pub const MOST_EXACT: usize = 20;

/// What the test needs of the ranks: twice the sum of those of the first side, and how many
/// subsets there are of each sum. Patterns of ranks repeat from number to number.
#[derive(Debug, Default)]
pub struct RankTest {
    /// By size of the first side and doubled ranks of all: how many subsets of that size
    /// have each sum.
    known: FxHashMap<(usize, Vec<u32>), Vec<u64>>,
}

impl RankTest {
    /// How likely ranks that differ at least as much are if both sides are draws from one
    /// and the same distribution; 1 if a side is empty.
    pub fn p(&mut self, before: &[f64], after: &[f64]) -> f64 {
        let (ranks, sum) = doubled_ranks(before, after);
        if before.is_empty() || after.is_empty() {
            return 1.0;
        }
        if before.len().max(after.len()) > MOST_EXACT {
            return by_normal(&ranks, sum, before.len());
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

/// The doubled ranks of all numbers, the least first, and the sum of those of the first side.
fn doubled_ranks(before: &[f64], after: &[f64]) -> (Vec<u32>, u64) {
    let tagged = |side: &[f64], is_before| -> Vec<(f64, bool)> {
        side.iter().map(|value| (*value, is_before)).collect()
    };
    let mut all = tagged(before, true);
    all.append(&mut tagged(after, false));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = Vec::with_capacity(all.len());
    let mut sum = 0;
    for equal in all.chunk_by(|a, b| a.0 == b.0) {
        // The first has one rank more than are before, the last as many more as there are.
        let doubled = (2 * ranks.len() + equal.len() + 1) as u32;
        let of_before = equal.iter().filter(|(_, is_before)| *is_before).count();
        sum += u64::from(doubled) * of_before as u64;
        ranks.resize(ranks.len() + equal.len(), doubled);
    }
    (ranks, sum)
}

/// How many subsets of `size` of the ranks have each sum. Of 40 ranks there are 1.4e11
/// subsets at most.
fn subsets_by_sum(ranks: &[u32], size: usize) -> Vec<u64> {
    let mut greatest = ranks.to_vec();
    greatest.sort_unstable();
    let most: u32 = greatest.iter().rev().take(size).sum();
    let width = most as usize + 1;
    // By how many were taken, then by their sum.
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

/// The share of subsets whose sum is at least as far from the mean.
fn share_as_far(counts: &[u64], sum: u64, size: usize, all: usize) -> f64 {
    // The mean of doubled ranks is one more than there are.
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

fn by_normal(ranks: &[u32], sum: u64, size: usize) -> f64 {
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
    both_tails(far / variance.sqrt())
}

/// The share of the normal distribution that is at least `z` from its mean, `z` not below 0:
/// the complementary error function by Chebyshev's polynomials (Numerical Recipes, 6.2), right
/// to 1.2e-7 of itself.
pub(super) fn both_tails(z: f64) -> f64 {
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

/// The probabilities of several tests, corrected so that the chance of any false claim among
/// them stays below alpha (Holm 1979): the least times how many there are, the next times one
/// less, and none less than those before it.
#[must_use]
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut most: f64 = 0.0;
    for (before, place) in order.into_iter().enumerate() {
        let times = (probabilities.len() - before) as f64;
        most = most.max((probabilities[place] * times).min(1.0));
        corrected[place] = most;
    }
    corrected
}

/// The least probability that the test can have with so many runs: that all of one side are
/// greater than all of the other.
#[must_use]
pub fn least_p(before: usize, after: usize) -> f64 {
    let ways = (1..=before).map(|place| (after + place) as f64 / place as f64);
    (2.0 / ways.product::<f64>()).min(1.0)
}

/// How many runs a side needs so that the least probability, corrected for so many tests, is
/// not above alpha.
#[must_use]
pub fn runs_needed(alpha: f64, tests: usize) -> usize {
    let enough = |runs: &usize| least_p(*runs, *runs) * tests.max(1) as f64 <= alpha;
    (1..200).find(enough).unwrap_or(200)
}

/// In how many orders of runs without equal ones so many pairs of a run of one side and one
/// of the other are in order: by their number, from none to all.
pub(super) fn pairs_in_order(before: usize, after: usize) -> Vec<u64> {
    let ranks: Vec<u32> = (1..=(before + after) as u32).collect();
    let counts = subsets_by_sum(&ranks, before);
    // The least sum of ranks is that of the first ones: then no pair is in order.
    counts.into_iter().skip(before * (before + 1) / 2).collect()
}
