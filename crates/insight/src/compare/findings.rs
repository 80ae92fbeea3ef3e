//! Findings of two sides, matched by what they are known by.

use std::collections::BTreeMap;

use model::sorting::SortSmall;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Known};

/// So many times as much is worse, or better: most costs are times, which differ between runs.
const OF_NOTE: f64 = 1.5;

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingState {
    /// Most runs after have it, and not most before.
    New,
    /// Most runs before had it, and not most after.
    Gone,
    /// It costs half as much again, or more.
    Worse,
    /// It costs less by a third, or more.
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
    let most = |runs: usize, of: &[Digest]| runs * 2 > of.len();
    let change = |(identity, [had, has]): (&str, [Vec<&Known>; 2])| {
        let (runs_before, runs_after) = (had.len(), has.len());
        let is_in = (most(runs_before, before), most(runs_after, after));
        let (was, now) = (median(had), median(has));
        let state = match is_in {
            (false, true) => FindingState::New,
            (true, false) => FindingState::Gone,
            (true, true) => state_of(was, now),
            // Now and then, on both sides.
            (false, false) => FindingState::Same,
        };
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

fn median(mut known: Vec<&Known>) -> Option<&Known> {
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
