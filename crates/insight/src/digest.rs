//! Comparable data of a log: facts that should be equal, and numbers by name. A digest is small, serializes to
//! JSON and no longer needs the log, so hundreds of runs can be compared.
//!
//! Each [`NumberGroup`] keeps at most [`MAX_NAMES`] names, those with the largest weight, and records how many it left
//! out. Names are cut after 120 characters. There are at most [`MAX_FINDINGS`] findings and [`MAX_CURVES`]
//! curves, so a digest takes a few hundred kB at most, whatever the size of the log.

pub(crate) mod facts;
mod gather;
mod numbers;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::finding::{Axis, Confidence, Finding, Severity, Value};
use crate::metrics::{Direction, Unit, Variability};
use model::time::{Interval, range_ns};

/// Maximum number of names per group.
pub const MAX_NAMES: usize = 150;
/// Maximum number of findings; the most severe are kept.
pub const MAX_FINDINGS: usize = 100;
/// Maximum number of curves: that of the pauses, and those of the spans with the most total time.
pub const MAX_CURVES: usize = 20;
/// Maximum number of points of a curve: the minimum, every percentile, the maximum.
pub const MAX_POINTS: usize = 101;

/// Comparable data of a log, or of a range of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// Range of the log that the digest covers.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// Facts that should be equal for numbers to be comparable, in display order.
    pub facts: Vec<ComparableFact>,
    /// Wall-clock time of the log's time 0, in nanoseconds since 1970, if the log has it.
    #[serde(default)]
    pub started_unix_ns: Option<u64>,
    /// Numbers; those of one group, and within it of one name, are adjacent.
    pub rows: Vec<Row>,
    /// Number of names left out by group, for groups that left any out.
    pub left_out: Vec<(NumberGroup, u64)>,
    /// Distributions of the pauses and of the program's spans.
    pub curves: Vec<Curve>,
    /// Significant findings, most severe first.
    pub findings: Vec<FindingSummary>,
    /// Requested numbers ([`NumberGroup::Asked`]) that the log does not have.
    pub no_data: Vec<MissingNumber>,
}

/// Requested number that a log does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MissingNumber {
    /// Expression that was requested.
    pub name: String,
    /// Reason, with the flag that would help.
    pub why: String,
}

/// Property that should be equal in logs whose numbers are compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ComparableFact {
    /// Name of the property, such as `GHC`.
    pub name: Cow<'static, str>,
    /// Value in this log; empty if the log does not have it.
    pub value: String,
}

model::named_enum! {
    /// Group of numbers by subject.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum NumberGroup {
        /// Numbers that a guard asks for, named by their expressions.
        Asked: "Asked for";
        /// The program as a whole: the metrics of [`crate::metrics`].
        Program: "Program";
        /// Threads by label without trailing number; all threads without a label form one row.
        Threads: "Threads by label";
        /// Spans of the program, by name.
        Spans: "Spans of the program";
        /// Cost centres by module and label, with the time of their samples.
        CostCentres: "Cost centres";
        /// Bands of heap profiles, by name.
        Bands: "Heap bands";
    }
    /// Returns the heading of the group.
    fn title;
}

/// Identity of a number: rows of two logs are matched by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Group of the number.
    pub group: NumberGroup,
    /// Name within the group: a metric, a label, a span, a cost centre or a band.
    pub name: String,
    /// Statistic of the name, such as `p99` or `ran`; empty if the name has only one number.
    pub part: Cow<'static, str>,
}

impl Key {
    /// Creates a key; `part` is empty if the name has only one number.
    pub fn new(
        group: NumberGroup,
        name: impl Into<String>,
        part: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            group,
            name: name.into(),
            part: part.into(),
        }
    }

    /// Returns the name with its statistic: dotted as in guards where guards can use it (`gc.pause.p99`), else
    /// with ` · `.
    pub fn full_name(&self) -> String {
        match (self.group, self.part.as_ref()) {
            (_, "") => self.name.clone(),
            (NumberGroup::Program | NumberGroup::Asked, part) => format!("{}.{part}", self.name),
            (_, part) => format!("{} · {part}", self.name),
        }
    }
}

/// Number of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Identity of the number.
    pub key: Key,
    /// Unit of the value.
    pub unit: Unit,
    /// Whether less or more is better.
    pub direction: Direction,
    /// Variability between runs. With several capabilities, most counted numbers depend on timing and are
    /// [`Variability::Timed`] here.
    pub class: Variability,
    /// Whether the number grows with the work that the program does, and so can be divided by it.
    pub is_total: bool,
    /// Value in the base of its unit.
    pub value: f64,
}

/// Distribution of a metric or of the lengths of spans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// [`NumberGroup::Program`] for collections, [`NumberGroup::Spans`] for spans.
    pub group: NumberGroup,
    /// Name of the metric or of the spans.
    pub name: String,
    /// Unit of the points.
    pub unit: Unit,
    /// Number of values in the distribution.
    pub count: u64,
    /// Quantiles at equal steps, from the minimum to the maximum: with `n` points, the `i`-th is the `i / (n - 1)`
    /// quantile.
    pub points: Vec<f64>,
}

/// Finding, reduced to what is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingSummary {
    /// Identity that matches findings of two logs: [`Finding::identity`].
    pub identity: String,
    /// Name of the rule.
    pub rule: Cow<'static, str>,
    /// One-line statement of the problem, with its number.
    pub title: String,
    /// Kind of cost.
    pub axis: Axis,
    /// Severity of the finding.
    pub severity: Severity,
    /// Confidence of the finding.
    pub confidence: Confidence,
    /// Total cost, whatever other findings claim of it.
    pub cost: Value,
    /// Cost as a share of the time, or of the heap's peak.
    pub share: f64,
}

impl From<&Finding> for FindingSummary {
    fn from(finding: &Finding) -> Self {
        Self {
            identity: finding.identity(),
            rule: finding.rule.clone(),
            title: finding.title.clone(),
            axis: finding.axis,
            severity: finding.severity,
            confidence: finding.confidence,
            cost: finding.cost,
            share: finding.share,
        }
    }
}

impl Digest {
    /// Returns a number by group, name and statistic, if the log has it.
    pub fn value(&self, group: NumberGroup, name: &str, part: &str) -> Option<f64> {
        let is = |row: &&Row| {
            row.key.group == group && row.key.name == name && row.key.part.as_ref() == part
        };
        self.rows.iter().find(is).map(|row| row.value)
    }

    /// Returns whether names of a group were left out, so that a missing name may be one of them.
    pub fn has_left_out(&self, group: NumberGroup) -> bool {
        self.left_out.iter().any(|(of, _)| *of == group)
    }
}
