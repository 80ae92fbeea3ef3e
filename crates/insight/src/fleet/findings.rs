//! Findings by frequency and cost.

use std::cmp::Reverse;

use serde::Serialize;

use super::{FindingColumn, Fleet, LabelColumn, RunIndex};
use crate::digest::FindingSummary;
use crate::finding::{Axis, Severity, Value};

/// Findings of one rule in all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingFrequency {
    /// Name of the rule.
    pub rule: String,
    /// Kind of cost.
    pub axis: Axis,
    /// Number of runs with such a finding.
    pub runs: usize,
    /// Number of runs by severity, from low to high.
    pub by_severity: [usize; 3],
    /// Mean cost in these runs, as a share of the time, or of the heap's peak.
    pub mean_share: f64,
    /// Mean cost of all runs, those without the finding counting as 0.
    pub expected_share: f64,
    /// Worst runs, at most [`FindingFrequency::MAX_WORST`].
    pub worst: Vec<RunFinding>,
    /// Number of runs with the finding by the values of labels.
    pub labels: Vec<FindingByLabel>,
}

/// Frequency of a finding by the values of a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingByLabel {
    /// Name of the label.
    pub key: String,
    /// Value, number of runs with the finding, and number of all runs, in natural order.
    pub values: Vec<(String, usize, usize)>,
}

/// Finding of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunFinding {
    /// Run with the finding.
    pub run: RunIndex,
    /// Statement of the problem in this run.
    pub title: String,
    /// Cost as a share of the time, or of the heap's peak.
    pub share: f64,
    /// Cost in this run.
    pub cost: Value,
    /// Severity in this run.
    pub severity: Severity,
}

impl FindingFrequency {
    /// Maximum number of runs listed per rule.
    pub const MAX_WORST: usize = 10;
    /// Maximum number of values of a label by which frequencies are listed.
    pub const MAX_VALUES: usize = 40;

    /// Summarizes all findings, highest expected cost first; those without a cost come last.
    pub fn of_fleet(fleet: &Fleet) -> Vec<Self> {
        let labels: Vec<&LabelColumn> = fleet
            .dividing_labels()
            .map(|(_, label)| label)
            .filter(|label| label.values.len() <= Self::MAX_VALUES)
            .collect();
        let mut all: Vec<Self> = fleet
            .findings
            .iter()
            .filter_map(|column| Self::of_rule(column, &labels, fleet.runs.len()))
            .collect();
        all.sort_by(|a, b| {
            (a.axis == Axis::Log)
                .cmp(&(b.axis == Axis::Log))
                .then(b.expected_share.total_cmp(&a.expected_share))
                .then(b.runs.cmp(&a.runs))
        });
        all
    }

    fn of_rule(column: &FindingColumn, labels: &[&LabelColumn], all_runs: usize) -> Option<Self> {
        let mut runs: Vec<&(RunIndex, FindingSummary)> = column.runs.iter().collect();
        let (_, first) = runs.first()?;
        let axis = first.axis;
        let count = |severity| {
            runs.iter()
                .filter(|(_, finding)| finding.severity == severity)
                .count()
        };
        let by_severity = [Severity::Low, Severity::Medium, Severity::High].map(count);
        let share = |finding: &FindingSummary| {
            if finding.share.is_finite() {
                finding.share
            } else {
                0.0
            }
        };
        let sum: f64 = runs.iter().map(|(_, finding)| share(finding)).sum();
        runs.sort_by(|(_, a), (_, b)| {
            let key = |finding: &FindingSummary| Reverse(finding.severity);
            key(a)
                .cmp(&key(b))
                .then(share(b).total_cmp(&share(a)))
                .then(b.cost.size().total_cmp(&a.cost.size()))
        });
        let worst = runs
            .iter()
            .take(Self::MAX_WORST)
            .map(|(run, finding)| RunFinding {
                run: *run,
                title: finding.title.clone(),
                share: share(finding),
                cost: finding.cost,
                severity: finding.severity,
            });
        Some(Self {
            rule: column.rule.clone(),
            axis,
            runs: runs.len(),
            by_severity,
            mean_share: sum / runs.len() as f64,
            expected_share: sum / all_runs.max(1) as f64,
            worst: worst.collect(),
            labels: labels.iter().map(|label| by_label(column, label)).collect(),
        })
    }
}

fn by_label(column: &FindingColumn, label: &LabelColumn) -> FindingByLabel {
    let mut counts = vec![(0, 0); label.values.len()];
    for value in label.by_run.iter().flatten() {
        counts[*value as usize].1 += 1;
    }
    for (run, _) in &column.runs {
        if let Some(value) = label.by_run.get(*run as usize).copied().flatten() {
            counts[value as usize].0 += 1;
        }
    }
    let values = label.values.iter().zip(counts);
    FindingByLabel {
        key: label.key.clone(),
        values: values
            .map(|(value, (found, all))| (value.clone(), found, all))
            .collect(),
    }
}
