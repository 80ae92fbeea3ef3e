//! Analysis of a fleet.

use serde::Serialize;

use super::changes::Change;
use super::claims::Claim;
use super::distribution::{Distribution, Histogram};
use super::findings::FindingFrequency;
use super::groups::{GroupDifference, LabelGroups};
use super::outliers::Outlier;
use super::stratum::{Claims, Stratum};
use super::{Fleet, NumberColumn};
use crate::digest::NumberGroup;
use crate::metrics::{Direction, Unit};

/// Probability, at most, of any claim about a fleet without effects.
pub const ALPHA: f64 = 0.05;
/// Share of [`ALPHA`] for headline numbers.
const HEADLINE_SHARE: f64 = 0.8;
/// Number of kinds of claims.
const KINDS: f64 = 3.0;

/// Facts about a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// Numbers, in the order of [`Fleet::numbers`].
    pub numbers: Vec<NumberAnalysis>,
    /// Findings, highest expected cost first.
    pub findings: Vec<FindingFrequency>,
    /// Claims of all numbers, those with the same subject merged, largest first.
    pub claims: Vec<Claim>,
}

/// Facts about a number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberAnalysis {
    /// Full name.
    pub name: String,
    /// Group of the number.
    pub group: NumberGroup,
    /// Unit of all values.
    pub unit: Unit,
    /// Whether less or more is better.
    pub direction: Direction,
    /// Whether it is one of the headline numbers, or was asked for.
    pub is_headline: bool,
    /// Quantiles of all runs.
    pub distribution: Distribution,
    /// Number of runs by value.
    pub histogram: Histogram,
    /// Quantiles by the values of labels.
    pub labels: Vec<LabelGroups>,
    /// Changes in time, by program and time.
    pub changes: Vec<Change>,
    /// Values of labels that differ from all others.
    pub differences: Vec<GroupDifference>,
    /// Runs far from comparable ones, farthest first; at most [`NumberAnalysis::MAX_OUTLIERS`].
    pub outliers: Vec<Outlier>,
    /// Number of outliers, including those that are not listed.
    pub outlier_count: usize,
}

impl NumberAnalysis {
    /// Maximum number of outliers listed.
    pub const MAX_OUTLIERS: usize = 100;

    fn new(fleet: &Fleet, number: &NumberColumn, alpha: f64) -> Option<Self> {
        let distribution = Distribution::of(number.values.iter().copied())?;
        let mut claims = claims(fleet, number, alpha);
        claims.outliers.sort_by(|a, b| b.score.total_cmp(&a.score));
        let outlier_count = claims.outliers.len();
        claims.outliers.truncate(Self::MAX_OUTLIERS);
        let labels = fleet
            .dividing_labels()
            .map(|(_, label)| LabelGroups::of(number, label));
        Some(Self {
            name: number.name.clone(),
            group: number.group,
            unit: number.unit,
            direction: number.direction,
            is_headline: number.is_headline,
            distribution,
            histogram: Histogram::of(&number.values),
            labels: labels.collect(),
            changes: claims.changes,
            differences: claims.differences,
            outliers: claims.outliers,
            outlier_count,
        })
    }
}

/// Makes all claims about a number, program by program.
fn claims(fleet: &Fleet, number: &NumberColumn, alpha: f64) -> Claims {
    let apps = fleet.label("app").filter(|label| label.values.len() > 1);
    let strata: Vec<Stratum<'_>> = match apps {
        None => Stratum::new(fleet, number, None).into_iter().collect(),
        Some(label) => (0..label.values.len() as u32)
            .filter_map(|app| Stratum::new(fleet, number, Some((label, app))))
            .collect(),
    };
    let alpha = alpha / strata.len().max(1) as f64;
    let mut all = Claims::default();
    for stratum in strata {
        let claims = stratum.claims(alpha);
        all.changes.extend(claims.changes);
        all.differences.extend(claims.differences);
        all.outliers.extend(claims.outliers);
    }
    all
}

impl Analysis {
    /// Analyzes all numbers and findings.
    pub fn of(fleet: &Fleet) -> Self {
        let headlines = fleet
            .numbers
            .iter()
            .filter(|number| number.is_headline)
            .count();
        let others = fleet.numbers.len() - headlines;
        let alpha = |number: &NumberColumn| {
            let (share, count) = if number.is_headline {
                (HEADLINE_SHARE, headlines)
            } else {
                (1.0 - HEADLINE_SHARE, others)
            };
            ALPHA / KINDS * share / count.max(1) as f64
        };
        let numbers = fleet.numbers.iter();
        let numbers: Vec<NumberAnalysis> = numbers
            .filter_map(|number| NumberAnalysis::new(fleet, number, alpha(number)))
            .collect();
        Self {
            claims: Claim::merged(fleet, &numbers),
            findings: FindingFrequency::of_fleet(fleet),
            numbers,
        }
    }

    /// Returns a number by its full name.
    pub fn number(&self, name: &str) -> Option<&NumberAnalysis> {
        self.numbers.iter().find(|number| number.name == name)
    }
}
