//! Statistics over the runs of a fleet: thousands of digests of programs, versions, hosts and days.
//!
//! [`FleetBuilder`] collects the numbers and findings of digests in columns, and [`Analysis`] describes them:
//! quantiles and histograms, also by label, and three kinds of claims.
//!
//! # Statistics
//!
//! Positive numbers are analyzed as logarithms, so that a difference is a ratio; shares, and numbers that are 0 at
//! times, as they are. Each program is analyzed on its own.
//!
//! - A label is *crossed* if its values occur all the time, such as hosts, and *temporal* if each has its time,
//!   such as versions. The medians of crossed labels are fitted by median polish (Tukey) and subtracted before
//!   changes in time are searched for.
//! - [Changes](Change) in time are found by a scan of rank sums (Pettitt 1979), whose variance is the long-run
//!   variance, so that runs of one day may resemble each other. Binary segmentation finds several. A change names
//!   the labels that differ between its sides.
//! - [Differences](GroupDifference) of a value of a crossed label from all others, by the rank test. With six or
//!   more values, the difference must also be an outlier among those of the others, as no two hosts are equal.
//! - [Outliers](Outlier): runs far from the median in units of the median absolute deviation, after changes and
//!   labels are subtracted. The limit depends on the number of runs and on how heavy the tail is.
//!
//! The probability of any claim in a fleet without effects is at most [`ALPHA`], shared equally by the three kinds.
//! Four fifths of it are for the [headline numbers](HEADLINES), the rest for all others, with Bonferroni's
//! correction. Claims of less than 5 % (1 percentage point for shares) are not made.

mod analysis;
mod builder;
mod changes;
mod claims;
mod distribution;
mod effects;
mod findings;
mod groups;
mod headlines;
mod name_pattern;
mod outliers;
mod path_labels;
mod stratum;
#[cfg(test)]
mod tests;

pub use analysis::{ALPHA, Analysis, NumberAnalysis};
pub use builder::{FleetBuilder, MAX_NUMBERS, RunDigest};
pub use changes::{Change, LabelChange};
pub use claims::{Claim, ClaimSubject, ClaimedNumber};
pub use distribution::{Distribution, Histogram};
pub use effects::Effect;
pub use findings::{FindingFrequency, RunFinding};
pub use groups::{GroupDifference, LabelGroups, LabelValueSummary};
pub use headlines::{HEADLINES, Headline, headline};
pub use name_pattern::NamePattern;
pub use outliers::Outlier;
pub use path_labels::path_labels;

use serde::Serialize;

use crate::digest::{FindingSummary, NumberGroup};
use crate::metrics::{Direction, Unit};

/// Index of a run in [`Fleet::runs`].
pub type RunIndex = u32;

/// Runs in the order of time, with their labels and numbers in columns.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// Runs, earliest first as far as [`order`](Self::order) is known.
    pub runs: Vec<FleetRun>,
    /// Source of the order of runs.
    pub order: TimeOrder,
    /// Labels; those that are built in come first.
    pub labels: Vec<LabelColumn>,
    /// Numbers; those that were asked for and the [headlines](HEADLINES) come first.
    pub numbers: Vec<NumberColumn>,
    /// Findings by rule.
    pub findings: Vec<FindingColumn>,
    /// Names of numbers that were left out beyond [`MAX_NUMBERS`].
    pub left_out: u64,
}

/// Run of a program, that of one digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FleetRun {
    /// File name without folder and extension.
    pub name: String,
    /// Path of the digest, as it was given.
    pub path: String,
    /// Path of the log, if it is known.
    pub log: Option<String>,
    /// Wall-clock time at which the log begins, in nanoseconds since 1970, if the log has it.
    pub begin_unix_ns: Option<u64>,
}

/// Source of the order of runs in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeOrder {
    /// Nearly every log has its wall-clock time; runs without one come first.
    Start,
    /// Nearly every run has the label `day`; within a day, the order is that of names. Runs without one come first.
    Day,
    /// Order of names, numbers in them by value: not time, so changes in time are not searched for.
    #[default]
    Name,
}

/// Label of runs, such as `version`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelColumn {
    /// Name of the label.
    pub key: String,
    /// Distinct values, in natural order.
    pub values: Vec<String>,
    /// Index into `values` for each run; `None` for runs without the label.
    pub by_run: Vec<Option<u32>>,
}

impl LabelColumn {
    /// Returns the value of a run.
    pub fn value(&self, run: usize) -> Option<&str> {
        let value = self.by_run.get(run).copied().flatten()?;
        self.values.get(value as usize).map(String::as_str)
    }
}

/// Number of all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberColumn {
    /// Full name, such as `gc.pause.p99`.
    pub name: String,
    /// Group of the number.
    pub group: NumberGroup,
    /// Unit of the values.
    pub unit: Unit,
    /// Whether less or more is better.
    pub direction: Direction,
    /// Whether it is among the numbers that four fifths of the claims are about.
    pub is_headline: bool,
    /// Value by run; NaN for runs without one.
    pub values: Vec<f64>,
}

/// Findings of one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingColumn {
    /// Name of the rule.
    pub rule: String,
    /// Worst finding of each run that has any.
    pub runs: Vec<(RunIndex, FindingSummary)>,
}

impl Fleet {
    /// Returns the label with a key.
    pub fn label(&self, key: &str) -> Option<&LabelColumn> {
        self.labels.iter().find(|label| label.key == key)
    }

    /// Returns the labels that divide the runs: those with several values, but fewer than half as many as runs.
    pub fn dividing_labels(&self) -> impl Iterator<Item = (usize, &LabelColumn)> {
        let most = (self.runs.len() / 2).max(8);
        let divides =
            move |(_, label): &(usize, &LabelColumn)| (2..=most).contains(&label.values.len());
        self.labels.iter().enumerate().filter(divides)
    }
}
