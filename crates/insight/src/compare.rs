//! Comparison of two sides of runs: first what should be equal, then number by number, with claims that the runs
//! support.
//!
//! # Statistics
//!
//! The value of a side is the median of its runs. The Mann–Whitney rank test ([`statistics::rank_test`]) decides
//! whether the sides differ. The Hodges–Lehmann shift of the logarithms, which is a ratio, estimates by how much, with
//! the confidence interval that belongs to the test ([`statistics::shift`]). A number [changed](Claim::Changed) if the
//! test says so at [`Options::alpha`] and the ratio differs from 1 by more than [`Options::noise`].
//!
//! [Counted](Variability::Counted) numbers hardly vary between runs of one program. With too few runs for the test, they
//! changed if the sides are disjoint, with a gap above [`Options::tolerance`] and more than ten times the spread
//! within a side. Nothing is claimed about timed numbers then.
//!
//! Among hundreds of numbers, some differ by chance. In at least `1 - alpha` of all comparisons of a program with
//! itself, no row claims a difference:
//!
//! - The verdict covers a few numbers chosen in advance ([`Difference::is_gated`]): those that a guard asks for
//!   ([`NumberGroup::Asked`]), else [`HEADLINES`]. They use four fifths of alpha, with Holm's correction
//!   ([`holm`](statistics::rank_test::holm)).
//! - All other numbers share the last fifth, or all of alpha once a number of the verdict changed. They are
//!   corrected by permutations of whole runs ([`statistics::splits`]).

mod candidates;
mod facts;
mod findings;
pub mod guard;
mod main_reason;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use candidates::against_baseline;
pub use facts::UnequalFact;
pub use findings::{FindingChange, FindingState, changed_findings};
pub use main_reason::MainReason;
pub use rows::HEADLINES;

use crate::digest::{Digest, Key, MissingNumber, NumberGroup};
use crate::metrics::{Direction, Unit, Variability};
use model::sorting::CompactCollect;

/// Runs per side needed to claim a change of [`HEADLINES`]. A comparison that gates more numbers needs more runs
/// ([`Comparison::runs_needed`]).
pub const RUNS_NEEDED: usize = 5;

/// Parameters of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Probability, at most, of claiming any difference between runs of the same program.
    pub alpha: f64,
    /// Relative change below which a difference of timed numbers does not matter.
    pub noise: f64,
    /// Relative change below which a difference of counted numbers does not matter.
    pub tolerance: f64,
    /// Name of the spans whose number divides totals, if totals are to be divided.
    pub per_span: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            noise: 0.02,
            tolerance: 0.001,
            per_span: None,
        }
    }
}

/// Result of a comparison of two sides of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Parameters that were used.
    pub options: Options,
    /// Number of runs before.
    pub runs_before: usize,
    /// Number of runs after.
    pub runs_after: usize,
    /// Facts that should be equal but differ: other possible causes of differences.
    pub unequal: Vec<UnequalFact>,
    /// Numbers by group, within a group in the order of the digests.
    pub rows: Vec<Difference>,
    /// Findings: new ones first, then gone, worse, better, unchanged.
    pub findings: Vec<FindingChange>,
    /// Number of names by group that could not be compared because a digest left them out.
    pub left_out: Vec<(NumberGroup, u64)>,
    /// Requested numbers that a run does not have.
    pub no_data: Vec<MissingNumber>,
}

/// Values of one number in the runs of a side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Values in order of the runs, only of runs that have the number.
    pub values: Vec<f64>,
    /// Median of the values; 0 if there are none.
    pub median: f64,
    /// Confidence interval of the median at `1 - alpha`; `None` with too few runs.
    pub interval: Option<(f64, f64)>,
    /// Minimum of the values; 0 if there are none.
    pub least: f64,
    /// Indices into `values` of [`outliers`](statistics::shift::outliers), which are not excluded.
    pub outliers: Vec<usize>,
}

/// Conclusion about a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// The number differs between the sides.
    Changed,
    /// No difference, or one too small to detect.
    NoDifference,
    /// Too few runs for a conclusion.
    TooFewRuns,
    /// All runs before have the number, and no run after.
    OnlyBefore,
    /// All runs after have the number, and no run before.
    OnlyAfter,
}

/// Direction of the estimated change, whether or not it is significant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trend {
    /// Better after than before.
    Better,
    /// Worse after than before.
    Worse,
    /// No change, or no preferred direction.
    Neutral,
}

impl Trend {
    /// Returns the direction of a change of a number, which may be on another scale.
    pub(crate) fn new(direction: Direction, change: f64) -> Self {
        match direction {
            Direction::Lower if change < 0.0 => Self::Better,
            Direction::Lower if change > 0.0 => Self::Worse,
            Direction::Higher if change > 0.0 => Self::Better,
            Direction::Higher if change < 0.0 => Self::Worse,
            _ => Self::Neutral,
        }
    }
}

/// A number before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Identity of the number.
    pub key: Key,
    /// Unit of the values.
    pub unit: Unit,
    /// Whether less or more is better.
    pub direction: Direction,
    /// Variability between runs.
    pub class: Variability,
    /// Runs before.
    pub before: Side,
    /// Runs after.
    pub after: Side,
    /// Estimated change, after minus before, in the unit: the Hodges–Lehmann shift. With one run per side it is
    /// the difference; 0 if a side has none.
    pub change: f64,
    /// Confidence interval of the change; `None` with too few runs.
    pub change_interval: Option<(f64, f64)>,
    /// Estimated ratio, after to before; `None` unless all values are positive.
    pub ratio: Option<f64>,
    /// Confidence interval of the ratio.
    pub ratio_interval: Option<(f64, f64)>,
    /// P-value of the rank test; `None` with too few runs.
    pub p: Option<f64>,
    /// P-value corrected for all numbers tested together with this one; `None` with too few runs for that.
    pub corrected_p: Option<f64>,
    /// Whether the verdict covers this number.
    pub is_gated: bool,
    /// Whether the change is better or worse.
    pub trend: Trend,
    /// Conclusion that the runs support.
    pub claim: Claim,
    /// Whether the minimum of each side is informative too: for times of a program that computes on one capability
    /// without waiting, other work on the machine only adds time.
    pub least_tells: bool,
    /// Other numbers with the same values in each run, which have no row of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equal: Vec<Key>,
}

impl Difference {
    /// Returns the name as in guards, followed by the names in `equal`.
    pub fn name(&self) -> String {
        let equal = self.equal.iter().map(|key| {
            let is_same = key.name == self.key.name;
            let name = if is_same {
                key.part.to_string()
            } else {
                key.full_name()
            };
            format!(" = {name}")
        });
        self.key.full_name() + &equal.collect::<String>()
    }
}

/// Conclusion about a comparison as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// None of the gated numbers shows a difference.
    Alike,
    /// At least one gated number changed.
    Changed,
    /// No gated number is known to have changed, but some have too few runs.
    TooFewRuns,
}

impl Comparison {
    /// Compares two sides of runs.
    pub fn compare(before: &[Digest], after: &[Digest], options: &Options) -> Self {
        let (rows, left_out) = rows::differences(before, after, options);
        let runs = before.iter().chain(after);
        let no_data: BTreeSet<&MissingNumber> =
            runs.flat_map(|digest| &digest.no_data).collect_small();
        Self {
            options: options.clone(),
            runs_before: before.len(),
            runs_after: after.len(),
            unequal: facts::unequal_facts(before, after),
            rows,
            findings: findings::changes(before, after),
            left_out,
            no_data: no_data.into_iter().cloned().collect(),
        }
    }

    /// Returns the numbers that the verdict covers.
    pub fn gated(&self) -> impl Iterator<Item = &Difference> {
        self.rows.iter().filter(|row| row.is_gated)
    }

    /// Returns the conclusion about the comparison as a whole.
    pub fn verdict(&self) -> Verdict {
        let claims = |wanted: &[Claim]| self.gated().any(|row| wanted.contains(&row.claim));
        if claims(&[Claim::Changed, Claim::OnlyBefore, Claim::OnlyAfter]) {
            Verdict::Changed
        } else if claims(&[Claim::TooFewRuns]) {
            Verdict::TooFewRuns
        } else {
            Verdict::Alike
        }
    }

    /// Returns the minimum number of runs per side for a claim on a timed number of the verdict.
    pub fn runs_needed(&self) -> usize {
        statistics::rank_test::runs_needed(
            self.options.alpha * rows::VERDICT_SHARE_OF_ALPHA,
            self.gated().count(),
        )
    }
}
