//! Weighted stacks of a query after its steps.

use std::sync::Arc;

use crate::flame::cache::{Staged, StepCache};
use crate::flame::query::{FlameQuery, View};
use model::profile::frames::Frames;
use model::profile::origin::{Choice, Origin, Weighed};
use model::profile::stacks::Stacks;
use model::profile::weights::Weight;

/// Weighted stacks after some steps.
pub(super) struct Shown<'a> {
    weighed: Weighed<'a>,
    staged: Arc<Staged>,
    /// Weights by stack id.
    pub(super) own: Vec<Weight>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(cache: &StepCache, origin: &'a dyn Origin, query: &FlameQuery) -> Self {
        let mut weighed = origin.weighed(&without_comparison(query));
        let staged = cache.staged(origin, &weighed, &query.steps, &View::LeftHeavy);
        let own = staged.weights(std::mem::take(&mut weighed.own));
        Self {
            weighed,
            staged,
            own,
        }
    }

    /// Returns the frames of the stacks.
    pub(super) fn frames(&self) -> &Frames {
        self.staged.frames(&self.weighed.frames)
    }

    /// Returns the transformed stacks.
    pub(super) fn stacks(&self) -> &Stacks {
        self.staged.stacks(&self.weighed.stacks)
    }

    /// Returns the number of censuses summed in the weights; 0 for other sources.
    pub(super) const fn censuses(&self) -> u32 {
        self.weighed.censuses.now
    }

    /// Returns how many inverted stacks lack their outermost frames.
    pub(super) fn shortened(&self) -> u64 {
        self.staged.shortened()
    }
}

/// Returns the selection without its baseline, because files have no comparisons.
pub(super) fn without_comparison(query: &FlameQuery) -> Choice {
    Choice {
        before: None,
        ..query.choice.clone()
    }
}
