//! Comparison of one number of several candidates with the same baseline, without digests: for programs timed
//! without a log.

use super::{Difference, Options, rows};
use crate::digest::{Key, NumberGroup, Row};
use crate::metrics::{Direction, Unit, Variability};
use statistics::rank_test::RankTest;

/// Compares the runs of each candidate with those of the baseline, in the order of the candidates. Less is better,
/// and the number is [timed](Variability::Timed).
///
/// All tests form one family with Holm's correction, so the probability of any false claim among the candidates
/// stays below [`Options::alpha`]. [`runs_needed`](statistics::rank_test::runs_needed) returns the number of runs that
/// such a family needs.
pub fn against_baseline(
    (name, unit): (&str, Unit),
    baseline: &[f64],
    candidates: &[Vec<f64>],
    options: &Options,
) -> Vec<Difference> {
    let row = Row {
        key: Key::new(NumberGroup::Asked, name, ""),
        unit,
        direction: Direction::Lower,
        class: Variability::Timed,
        is_total: true,
        value: 0.0,
    };
    let mut test = RankTest::default();
    let compare = |runs: &Vec<f64>| {
        let sides = [baseline.to_vec(), runs.clone()];
        rows::difference(&row, sides, (options, &mut test), true)
    };
    let mut differences: Vec<Difference> = candidates.iter().map(compare).collect();
    rows::set_claims(
        &mut differences.iter_mut().collect::<Vec<_>>(),
        1.0,
        options,
    );
    differences
}
