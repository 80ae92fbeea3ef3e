//! Findings of two sides, matched by identity.

use std::collections::BTreeMap;

use model::sorting::CompactSort;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, FindingSummary};
use statistics::rank_test::{RankTest, min_p};
use statistics::shift::min_max;

/// Factor in cost from which a finding is worse or better: most costs are times, which vary between runs.
const NOTABLE_FACTOR: f64 = 1.5;
/// Significance level. It is strict, as there are many findings, and one that only some runs have is neither new
/// nor gone. With too few runs for this level, the sides must be disjoint.
const SIGNIFICANCE_LEVEL: f64 = 0.01;

/// Change of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingState {
    /// More runs have it after than before, significantly.
    New,
    /// Fewer runs have it after than before, significantly.
    Gone,
    /// Costs more than 1.5 times as much, significantly.
    Worse,
    /// Costs less than two thirds as much, significantly.
    Better,
    /// None of the other changes.
    Same,
}

/// A finding before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingChange {
    /// Identity of the finding.
    pub identity: String,
    /// Kind of change.
    pub state: FindingState,
    /// Number of runs before that have it.
    pub runs_before: usize,
    /// Number of runs after that have it.
    pub runs_after: usize,
    /// The finding in the run before with the median cost.
    pub before: Option<FindingSummary>,
    /// The finding in the run after with the median cost.
    pub after: Option<FindingSummary>,
}

/// Returns the findings that changed.
pub fn changed_findings(all: &[FindingChange]) -> impl Iterator<Item = &FindingChange> {
    all.iter()
        .filter(|change| change.state != FindingState::Same)
}

/// Matches the findings of two sides.
pub(super) fn changes(before: &[Digest], after: &[Digest]) -> Vec<FindingChange> {
    let mut all: BTreeMap<&str, [Vec<&FindingSummary>; 2]> = BTreeMap::new();
    for (side, digests) in [before, after].into_iter().enumerate() {
        for known in digests.iter().flat_map(|digest| &digest.findings) {
            all.entry(&known.identity).or_default()[side].push(known);
        }
    }
    let has_few_runs = min_p(before.len(), after.len()) > SIGNIFICANCE_LEVEL;
    let mut test = RankTest::default();
    let mut differ = |before: &[f64], after: &[f64]| {
        if has_few_runs {
            are_disjoint(before, after)
        } else {
            test.p(before, after) <= SIGNIFICANCE_LEVEL
        }
    };
    let change = |(identity, [had, has]): (&str, [Vec<&FindingSummary>; 2])| {
        let (runs_before, runs_after) = (had.len(), has.len());
        let has_it = |runs: usize, of: &[Digest]| -> Vec<f64> {
            (0..of.len())
                .map(|run| f64::from(u8::from(run < runs)))
                .collect()
        };
        let costs = |side: &[&FindingSummary]| -> Vec<f64> {
            side.iter().map(|known| known.cost.size()).collect()
        };
        let is_in = [has_it(runs_before, before), has_it(runs_after, after)];
        let state = if differ(&is_in[0], &is_in[1]) {
            let share = |runs: usize, of: &[Digest]| runs as f64 / of.len().max(1) as f64;
            if share(runs_after, after) > share(runs_before, before) {
                FindingState::New
            } else {
                FindingState::Gone
            }
        } else if differ(&costs(&had), &costs(&has)) {
            state_of(median(&had), median(&has))
        } else {
            FindingState::Same
        };
        let (was, now) = (median(&had), median(&has));
        FindingChange {
            identity: identity.to_owned(),
            state,
            runs_before,
            runs_after,
            before: was.cloned(),
            after: now.cloned(),
        }
    };
    let mut changes: Vec<FindingChange> = all.into_iter().map(change).collect();
    changes.sort_small_by_key(|change| {
        let gravest = change.before.iter().chain(&change.after);
        let gravest = gravest.map(|known| known.severity).max();
        (change.state, std::cmp::Reverse(gravest))
    });
    changes
}

/// Returns whether all values of one side are below all of the other; `false` if a side is empty.
fn are_disjoint(before: &[f64], after: &[f64]) -> bool {
    let both = min_max(before).zip(min_max(after));
    both.is_some_and(|(before, after)| before.1 < after.0 || after.1 < before.0)
}

fn median<'a>(known: &[&'a FindingSummary]) -> Option<&'a FindingSummary> {
    let mut known = known.to_vec();
    known.sort_small_by(|a, b| a.cost.size().total_cmp(&b.cost.size()));
    let middle = known.len().checked_sub(1)? / 2;
    known.get(middle).copied()
}

fn state_of(before: Option<&FindingSummary>, after: Option<&FindingSummary>) -> FindingState {
    let (Some(before), Some(after)) = (before, after) else {
        return FindingState::Same;
    };
    let (was, is) = (before.cost.size(), after.cost.size());
    if is > was * NOTABLE_FACTOR {
        FindingState::Worse
    } else if was > is * NOTABLE_FACTOR {
        FindingState::Better
    } else {
        FindingState::Same
    }
}
