//! Findings of two sides, matched by what they are known by.

use std::collections::BTreeMap;

use model::sorting::CompactSort;
use serde::{Deserialize, Serialize};

use super::rank_test::{RankTest, least_p};
use super::shift::ends;
use crate::digest::{Digest, Known};

/// So many times as much is worse, or better: most costs are times, which differ between runs.
const OF_NOTE: f64 = 1.5;
/// What differs is to be as unlikely among runs of one program: there are many findings, and
/// one that some runs have and others not is neither new nor gone. Of fewer runs than can be
/// so unlikely, those of both sides have to lie apart.
const UNLIKELY: f64 = 0.01;

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingState {
    /// Runs after have it, and those before do not.
    New,
    /// Runs before had it, and those after do not.
    Gone,
    /// It costs half as much again, or more, and that is no chance.
    Worse,
    /// It costs less by a third, or more, and that is no chance.
    Better,
    /// Nothing much.
    Same,
}

/// A finding before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingChange {
    /// What it is known by.
    pub identity: String,
    /// What became of it.
    pub state: FindingState,
    /// How many runs before have it.
    pub runs_before: usize,
    /// How many runs after have it.
    pub runs_after: usize,
    /// It in the run before with the median cost.
    pub before: Option<Known>,
    /// It in the run after with the median cost.
    pub after: Option<Known>,
}

/// Those of which something became.
pub fn findings_of_note(all: &[FindingChange]) -> impl Iterator<Item = &FindingChange> {
    all.iter()
        .filter(|change| change.state != FindingState::Same)
}

/// All findings of two sides.
pub(super) fn changes(before: &[Digest], after: &[Digest]) -> Vec<FindingChange> {
    let mut all: BTreeMap<&str, [Vec<&Known>; 2]> = BTreeMap::new();
    for (side, digests) in [before, after].into_iter().enumerate() {
        for known in digests.iter().flat_map(|digest| &digest.findings) {
            all.entry(&known.identity).or_default()[side].push(known);
        }
    }
    let has_few_runs = least_p(before.len(), after.len()) > UNLIKELY;
    let mut test = RankTest::default();
    let mut differ = |before: &[f64], after: &[f64]| {
        if has_few_runs {
            lie_apart(before, after)
        } else {
            test.p(before, after) <= UNLIKELY
        }
    };
    let change = |(identity, [had, has]): (&str, [Vec<&Known>; 2])| {
        let (runs_before, runs_after) = (had.len(), has.len());
        let has_it = |runs: usize, of: &[Digest]| -> Vec<f64> {
            (0..of.len())
                .map(|run| f64::from(u8::from(run < runs)))
                .collect()
        };
        let costs =
            |side: &[&Known]| -> Vec<f64> { side.iter().map(|known| known.cost.size()).collect() };
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

/// Whether all numbers of a side are below all of the other; not if one has none.
fn lie_apart(before: &[f64], after: &[f64]) -> bool {
    let both = ends(before).zip(ends(after));
    both.is_some_and(|(before, after)| before.1 < after.0 || after.1 < before.0)
}

fn median<'a>(known: &[&'a Known]) -> Option<&'a Known> {
    let mut known = known.to_vec();
    known.sort_small_by(|a, b| a.cost.size().total_cmp(&b.cost.size()));
    let middle = known.len().checked_sub(1)? / 2;
    known.get(middle).copied()
}

fn state_of(before: Option<&Known>, after: Option<&Known>) -> FindingState {
    let (Some(before), Some(after)) = (before, after) else {
        return FindingState::Same;
    };
    let (was, is) = (before.cost.size(), after.cost.size());
    if is > was * OF_NOTE {
        FindingState::Worse
    } else if was > is * OF_NOTE {
        FindingState::Better
    } else {
        FindingState::Same
    }
}
