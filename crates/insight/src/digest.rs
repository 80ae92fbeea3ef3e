//! What is compared of a log: the facts that should be equal, and numbers by name. It is
//! small, can be written down as JSON, and knows nothing of the log any more, so that
//! hundreds of runs can be compared.
//!
//! Of each [`Group`] at most [`MOST_NAMES`] names are kept, those with the most of what the
//! group is about; how many were left out is said. Names are cut after 120
//! letters, findings are at most [`MOST_FINDINGS`], curves [`MOST_CURVES`]. So a digest has
//! some hundred kB at most, whatever the log.

pub(crate) mod facts;
mod gather;
mod numbers;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::finding::{Axis, Confidence, Finding, Severity, Value};
use crate::metrics::{Class, Direction, Unit};
use model::time::{Interval, range_ns};

/// So many names of a group are kept.
pub const MOST_NAMES: usize = 150;
/// So many findings are kept, the gravest.
pub const MOST_FINDINGS: usize = 100;
/// So many curves are kept: that of the pauses, and those of the spans with the most time.
pub const MOST_CURVES: usize = 20;
/// So many points a curve has at most: the least, each hundredth, the greatest.
pub const MOST_POINTS: usize = 101;

/// What is compared of a log, or of a range of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// The part of the log.
    #[serde(with = "range_ns")]
    pub range: Interval,
    /// What should be equal if numbers are to be compared, in the order in which it is told.
    pub facts: Vec<Fact>,
    /// The numbers, those of a group and of a name together.
    pub rows: Vec<Row>,
    /// How many names of a group were left out, where any were.
    pub left_out: Vec<(Group, u64)>,
    /// How pauses and spans of the program are distributed.
    pub curves: Vec<Curve>,
    /// What is wrong with the program, the gravest first; what hardly matters is left out.
    pub findings: Vec<Known>,
    /// What was asked for ([`Group::Asked`]) and the log does not tell.
    pub no_data: Vec<NoData>,
}

/// A number that a log does not tell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NoData {
    /// Which one.
    pub name: String,
    /// Why, and which flag would help.
    pub why: String,
}

/// Something that should be equal in logs whose numbers are compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fact {
    /// What it is, such as `GHC`.
    pub name: Cow<'static, str>,
    /// What it is in this log; empty if the log does not tell.
    pub value: String,
}

/// What a number is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Numbers that a guard asks for, by their expressions.
    Asked,
    /// The program as a whole: the metrics of [`crate::metrics`].
    Program,
    /// Threads by label, the number at its end cut off; those without a label are one.
    Threads,
    /// Spans of the program, by name.
    Spans,
    /// Cost centres by module and label, by their samples.
    CostCentres,
    /// Bands of heap profiles, by name.
    Bands,
}

impl Group {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::Asked,
        Self::Program,
        Self::Threads,
        Self::Spans,
        Self::CostCentres,
        Self::Bands,
    ];

    /// What its rows stand under.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Asked => "Asked for",
            Self::Program => "Program",
            Self::Threads => "Threads by label",
            Self::Spans => "Spans of the program",
            Self::CostCentres => "Cost centres",
            Self::Bands => "Heap bands",
        }
    }
}

/// Which number it is: by this, rows of two logs are matched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// What it is about.
    pub group: Group,
    /// Whose number it is: a metric, a label, a span, a cost centre, a band.
    pub name: String,
    /// Which of its numbers, such as `p99` or `ran`; empty if it has but one.
    pub part: Cow<'static, str>,
}

impl Key {
    /// Its name and part: as guards write them, with a dot where that is how they are written.
    #[must_use]
    pub fn full_name(&self) -> String {
        match (self.group, self.part.as_ref()) {
            (_, "") => self.name.clone(),
            (Group::Program | Group::Asked, part) => format!("{}.{part}", self.name),
            (_, part) => format!("{} · {part}", self.name),
        }
    }
}

/// A number of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which one.
    pub key: Key,
    /// What it counts.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// How much it differs between runs. With several capabilities most of what is counted
    /// depends on times, and is [`Class::Timed`] here.
    pub class: Class,
    /// Whether it grows with the work that the program does, so that it can be divided by it.
    pub is_total: bool,
    /// The number.
    pub value: f64,
}

/// How many numbers of a kind are distributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What they are about: [`Group::Program`] for collections, [`Group::Spans`].
    pub group: Group,
    /// Of which metric, or of the spans of which name.
    pub name: String,
    /// What they count.
    pub unit: Unit,
    /// How many there are.
    pub count: u64,
    /// Quantiles at equal steps, from the least to the greatest: with `n` points, the
    /// `i`-th is the number that a share of `i / (n - 1)` is not greater than.
    pub points: Vec<f64>,
}

/// A finding, as far as it is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// What it is known by.
    pub identity: String,
    /// The name of the rule.
    pub rule: Cow<'static, str>,
    /// What is wrong, with the number.
    pub title: String,
    /// What it costs.
    pub axis: Axis,
    /// How much is at stake.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it costs by itself.
    pub cost: Value,
    /// The share of the time, or of the peak of the heap.
    pub share: f64,
}

impl From<&Finding> for Known {
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
    /// The value of a number, if the log has it.
    #[must_use]
    pub fn value(&self, group: Group, name: &str, part: &str) -> Option<f64> {
        let is = |row: &&Row| {
            row.key.group == group && row.key.name == name && row.key.part.as_ref() == part
        };
        self.rows.iter().find(is).map(|row| row.value)
    }

    /// Whether names of a group were left out, so that one that is missing may be among them.
    #[must_use]
    pub fn has_left_out(&self, group: Group) -> bool {
        self.left_out.iter().any(|(of, _)| *of == group)
    }
}
