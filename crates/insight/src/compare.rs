//! Two sides of runs compared: what should be equal first, then number by number, with what
//! the runs allow to be claimed.
//!
//! # How a claim comes about
//!
//! The value of a side is the median of its runs. Whether both sides differ is tested with
//! the rank test of Mann and Whitney ([`rank_test`]); by how much is the shift of Hodges and
//! Lehmann between the logarithms, which is a ratio, with the interval that the test leaves
//! over ([`shift`]). Something [changed](Claim::Changed) if the test says so at
//! [`Options::alpha`] and the ratio is further from 1 than [`Options::noise`].
//!
//! Of numbers that are [counted](Class::Counted), runs of one program hardly differ: where
//! there are too few runs for the test, they changed if the runs of both sides lie apart by
//! more than [`Options::tolerance`], and by ten times as much as runs of one side do. Of
//! numbers that are timed nothing is claimed then.
//!
//! Who looks at hundreds of numbers finds some that changed by chance. So of runs of one
//! program at least `1 - alpha` of all comparisons claim no difference, in any row:
//!
//! - The verdict on the whole is given on a few numbers that are chosen before
//!   ([`Difference::is_gated`]): those that a guard asks for ([`Group::Asked`]), else
//!   [`HEADLINES`]. They have four fifths of alpha, and are corrected after Holm ([`holm`]).
//! - All others together have the last fifth, and all of alpha once one of the verdict
//!   changed. They are corrected by permutations of whole runs (`splits`).

mod candidates;
mod facts;
mod findings;
pub mod guard;
mod lead;
pub mod rank_test;
mod rows;
pub mod shift;
mod splits;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use candidates::against_baseline;
pub use facts::Unequal;
pub use findings::{FindingChange, FindingState, findings_of_note};
pub use lead::Lead;
pub use rank_test::holm;
pub use rows::HEADLINES;

use crate::digest::{Digest, Group, Key, NoData};
use crate::metrics::{Class, Direction, Unit};

/// So many runs a side are needed for a claim about times: so many as [`HEADLINES`] need. What
/// asks for more numbers than these needs more ([`Comparison::runs_needed`]).
pub const RUNS_NEEDED: usize = 5;

/// How runs are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// How likely it may be that a difference is claimed of runs of one program.
    pub alpha: f64,
    /// Changes of timed numbers by less than this share are of no interest.
    pub noise: f64,
    /// The same of counted ones.
    pub tolerance: f64,
    /// Totals are divided by the number of spans of this name, if there is one.
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

/// The difference between two sides of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// How they were compared.
    pub options: Options,
    /// How many runs there are before.
    pub runs_before: usize,
    /// How many there are after.
    pub runs_after: usize,
    /// What should be equal and is not: other causes of what differs.
    pub unequal: Vec<Unequal>,
    /// The numbers, by group; in a group as in the digests.
    pub rows: Vec<Difference>,
    /// The findings: new ones first, then gone, worse, better, the same.
    pub findings: Vec<FindingChange>,
    /// How many names of a group are compared with nothing, as a digest left them out.
    pub left_out: Vec<(Group, u64)>,
    /// What was asked for and a run does not tell.
    pub no_data: Vec<NoData>,
}

/// The runs of a side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The number of each run that has it, in the order of the runs.
    pub values: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// Where the median of all such runs lies, as likely as claims are sure; `None` if there
    /// are too few runs.
    pub interval: Option<(f64, f64)>,
    /// The least of them.
    pub least: f64,
    /// Which runs are [`outliers`](shift::outliers), as places in `values`: they count all
    /// the same.
    pub outliers: Vec<usize>,
}

/// What the runs say of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// It is another one after.
    Changed,
    /// No difference is seen: it is as before, or the difference is too small to be told.
    NoDifference,
    /// There are too few runs to claim anything.
    TooFewRuns,
    /// No run after has it.
    OnlyBefore,
    /// No run before has it.
    OnlyAfter,
}

/// Whether a number is better after than before; whatever can be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trend {
    /// It is.
    Better,
    /// It is worse.
    Worse,
    /// It is the same, or neither is better.
    Neutral,
}

/// A number before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Which one.
    pub key: Key,
    /// What it counts.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// How much it differs between runs.
    pub class: Class,
    /// The runs before.
    pub before: Side,
    /// The runs after.
    pub after: Side,
    /// By how much more it is after, in its unit: the shift of Hodges and Lehmann, of one
    /// run each the difference. 0 if a side has none.
    pub change: f64,
    /// The interval of the change; `None` if there are too few runs.
    pub change_interval: Option<(f64, f64)>,
    /// How many times as much it is after; `None` if a number is not above 0.
    pub ratio: Option<f64>,
    /// The interval of the ratio.
    pub ratio_interval: Option<(f64, f64)>,
    /// How likely such ranks are if nothing differs; `None` if there are too few runs.
    pub p: Option<f64>,
    /// How likely it is that any of the numbers that are tested with this one shows as much if
    /// nothing differs; `None` if there are too few runs for that.
    pub corrected_p: Option<f64>,
    /// Whether the verdict is about it.
    pub is_gated: bool,
    /// Whether it is better.
    pub trend: Trend,
    /// What can be claimed.
    pub claim: Claim,
    /// Whether the least of each side says something too: it is a time of a program that
    /// computes all the time on one capability, which other work on the machine only adds to.
    pub least_tells: bool,
    /// Other numbers that are the same in each run, and have no row of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equal: Vec<Key>,
}

impl Difference {
    /// What it is called: as guards call it, and those that are equal after it.
    #[must_use]
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

/// What is said of two sides as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Of none of the numbers that it is about a difference is seen.
    Alike,
    /// At least one of them changed.
    Changed,
    /// None is known to have changed, but of some there are too few runs for a claim.
    TooFewRuns,
}

impl Comparison {
    /// Of the runs before with those after.
    #[must_use]
    pub fn of(before: &[Digest], after: &[Digest], options: &Options) -> Self {
        let (rows, left_out) = rows::differences(before, after, options);
        let runs = before.iter().chain(after);
        let no_data: BTreeSet<&NoData> = runs.flat_map(|digest| &digest.no_data).collect();
        Self {
            options: options.clone(),
            runs_before: before.len(),
            runs_after: after.len(),
            unequal: facts::unequal(before, after),
            rows,
            findings: findings::changes(before, after),
            left_out,
            no_data: no_data.into_iter().cloned().collect(),
        }
    }

    /// The numbers that the verdict is about.
    pub fn gated(&self) -> impl Iterator<Item = &Difference> {
        self.rows.iter().filter(|row| row.is_gated)
    }

    /// What is said of both sides as a whole.
    #[must_use]
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

    /// How many runs a side needs at least for a claim on a timed number of the verdict.
    #[must_use]
    pub fn runs_needed(&self) -> usize {
        rank_test::runs_needed(
            self.options.alpha * rows::OF_THE_VERDICT,
            self.gated().count(),
        )
    }
}
