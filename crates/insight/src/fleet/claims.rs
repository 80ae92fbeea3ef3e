//! Claims of all numbers by subject: a version that changes nine numbers is one claim.

use serde::Serialize;

use super::analysis::NumberAnalysis;
use super::changes::{Change, LabelChange};
use super::effects::Effect;
use super::{Fleet, RunIndex};
use crate::compare::Trend;

/// Claim about a change, the value of a label, or a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Value of the label `app`, if the fleet has several programs.
    pub app: Option<String>,
    /// What differs.
    pub subject: ClaimSubject,
    /// Numbers that differ; headline numbers first, then by size.
    pub numbers: Vec<ClaimedNumber>,
}

/// Subject of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ClaimSubject {
    /// Change in time.
    Change {
        /// Last run before it, in the number that changed most.
        before_run: RunIndex,
        /// First run after it.
        after_run: RunIndex,
        /// Labels that differ between the sides.
        labels: Vec<LabelChange>,
    },
    /// Value of a label that differs from all others.
    Label {
        /// Name of the label.
        key: String,
        /// Value of the label.
        value: String,
        /// Number of runs with the value.
        runs: usize,
    },
    /// Run that differs from comparable ones.
    Run {
        /// Run in question.
        run: RunIndex,
    },
}

impl ClaimSubject {
    /// Returns the order of kinds: changes, labels, runs.
    pub const fn kind(&self) -> usize {
        match self {
            Self::Change { .. } => 0,
            Self::Label { .. } => 1,
            Self::Run { .. } => 2,
        }
    }
}

/// Number with the difference that a claim is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimedNumber {
    /// Index in [`Analysis::numbers`](super::Analysis::numbers).
    pub number: usize,
    /// Difference of the number.
    pub effect: Effect,
}

impl ClaimedNumber {
    /// Returns the size of the effect for ranking: the logarithm of the ratio; a difference of shares counts tenfold.
    fn size(&self) -> f64 {
        let Effect {
            ratio,
            difference,
            from,
            to,
            ..
        } = self.effect;
        match (ratio, difference) {
            (Some(ratio), _) => ratio.ln().abs(),
            (_, Some(difference)) if difference.abs() <= 1.0 => difference.abs() * 10.0,
            (_, Some(difference)) => difference.abs() / from.abs().max(to.abs()).max(1e-9),
            _ => 0.0,
        }
    }
}

impl Claim {
    /// Merges the claims of all numbers by subject. Changes first, then labels, then runs, each by the number of
    /// headline numbers that got worse and the largest difference.
    pub(super) fn merged(fleet: &Fleet, numbers: &[NumberAnalysis]) -> Vec<Self> {
        let mut all = merged_changes(fleet, numbers);
        for (number, analysis) in numbers.iter().enumerate() {
            for difference in &analysis.differences {
                let subject = ClaimSubject::Label {
                    key: difference.key.clone(),
                    value: difference.value.clone(),
                    runs: difference.count,
                };
                let effect = difference.effect;
                add(
                    &mut all,
                    difference.app.as_deref(),
                    subject,
                    ClaimedNumber { number, effect },
                );
            }
            for outlier in &analysis.outliers {
                let app = fleet.label("app").filter(|label| label.values.len() > 1);
                let app = app.and_then(|label| label.value(outlier.run as usize));
                let (subject, effect) = (ClaimSubject::Run { run: outlier.run }, outlier.effect);
                add(&mut all, app, subject, ClaimedNumber { number, effect });
            }
        }
        let is_headline = |claimed: &ClaimedNumber| numbers[claimed.number].is_headline;
        for claim in &mut all {
            claim.numbers.sort_by(|a, b| {
                let is_neutral = |claimed: &ClaimedNumber| claimed.effect.trend == Trend::Neutral;
                (is_headline(b).cmp(&is_headline(a)))
                    .then(is_neutral(a).cmp(&is_neutral(b)))
                    .then(b.size().total_cmp(&a.size()))
            });
        }
        let rank = |claim: &Self| {
            let worse = claim
                .numbers
                .iter()
                .filter(|claimed| is_headline(claimed) && claimed.effect.trend == Trend::Worse);
            let size = claim
                .numbers
                .iter()
                .map(ClaimedNumber::size)
                .fold(0.0, f64::max);
            (worse.count() > 0, size)
        };
        all.sort_by(|a, b| {
            let ((a_worse, a_size), (b_worse, b_size)) = (rank(a), rank(b));
            (a.subject.kind().cmp(&b.subject.kind()))
                .then(b_worse.cmp(&a_worse))
                .then(b_size.total_cmp(&a_size))
        });
        all
    }
}

/// Adds a number to the claim with an equal subject, or a new claim.
fn add(all: &mut Vec<Claim>, app: Option<&str>, subject: ClaimSubject, number: ClaimedNumber) {
    let is_same = |claim: &&mut Claim| match (&claim.subject, &subject) {
        (
            ClaimSubject::Label { key, value, .. },
            ClaimSubject::Label {
                key: other,
                value: other_value,
                ..
            },
        ) => (key, value, claim.app.as_deref()) == (other, other_value, app),
        (one, other) => one == other,
    };
    match all.iter_mut().find(is_same) {
        Some(claim) => claim.numbers.push(number),
        None => all.push(Claim {
            app: app.map(str::to_owned),
            subject,
            numbers: vec![number],
        }),
    }
}

/// Merges changes of the same program that are at nearly the same place, or at which the same labels change.
fn merged_changes(fleet: &Fleet, numbers: &[NumberAnalysis]) -> Vec<Claim> {
    let near = (fleet.runs.len() / 100).max(3) as RunIndex;
    let mut changes: Vec<(usize, &Change)> = Vec::new();
    for (number, analysis) in numbers.iter().enumerate() {
        changes.extend(analysis.changes.iter().map(|change| (number, change)));
    }
    // Of several, one at which labels change decides about the place, or else the most certain one.
    changes
        .sort_by(|(_, a), (_, b)| (b.labels.len().cmp(&a.labels.len())).then(a.p.total_cmp(&b.p)));
    let mut all: Vec<Claim> = Vec::new();
    for (number, change) in changes {
        let is_same = |claim: &&mut Claim| match &claim.subject {
            ClaimSubject::Change {
                after_run, labels, ..
            } => {
                let is_near = after_run.abs_diff(change.after_run) <= near;
                let is_of_same_labels = !labels.is_empty() && *labels == change.labels;
                let is_new = claim.numbers.iter().all(|claimed| claimed.number != number);
                claim.app == change.app && is_new && (is_near || is_of_same_labels)
            }
            _ => false,
        };
        let effect = change.effect;
        match all.iter_mut().find(is_same) {
            Some(claim) => claim.numbers.push(ClaimedNumber { number, effect }),
            None => all.push(Claim {
                app: change.app.clone(),
                subject: ClaimSubject::Change {
                    before_run: change.before_run,
                    after_run: change.after_run,
                    labels: change.labels.clone(),
                },
                numbers: vec![ClaimedNumber { number, effect }],
            }),
        }
    }
    all
}
