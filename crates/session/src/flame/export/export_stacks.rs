//! Weighted stacks of a query after its steps.

use std::sync::Arc;

use super::tree::Tree;
use crate::flame::cache::{StepCache, TransformedStacks};
use crate::flame::query::{FlameQuery, View};
use model::profile::frames::{FrameId, Frames};
use model::profile::stack_source::{FlameSelection, StackSource, WeightedStacks};
use model::profile::weights::Weight;

/// Weighted stacks after some steps.
pub(super) struct ExportStacks<'a> {
    weighted: WeightedStacks<'a>,
    transformed: Arc<TransformedStacks>,
    /// Weights by stack id.
    own: Vec<Weight>,
}

impl<'a> ExportStacks<'a> {
    pub(super) fn new(
        cache: &StepCache,
        stack_source: &'a dyn StackSource,
        query: &FlameQuery,
    ) -> Self {
        let mut weighted = stack_source.weighted_stacks(&without_comparison(query));
        let transformed =
            cache.transformed(stack_source, &weighted, &query.steps, &View::LeftHeavy);
        let own = transformed.weights(std::mem::take(&mut weighted.own));
        Self {
            weighted,
            transformed,
            own,
        }
    }

    /// Returns the frames of the stacks.
    pub(super) fn frames(&self) -> &Frames {
        self.transformed.frames(&self.weighted.frames)
    }

    /// Returns the stacks with the given keys of frames; `deeper` is the key of [`DEEPER`](super::tree::DEEPER).
    pub(super) fn tree(&self, key: impl Fn(FrameId) -> u32, deeper: u32) -> Tree {
        let stacks = self.transformed.stacks(&self.weighted.stacks);
        let mut tree = Tree::new(stacks, &self.own, key, deeper);
        tree.incomplete.shortened = self.transformed.shortened();
        tree
    }

    /// Returns the number of censuses summed in the weights; 0 for other sources.
    pub(super) const fn censuses(&self) -> u32 {
        self.weighted.censuses.now
    }
}

/// Returns the selection without its baseline, because files have no comparisons.
pub(super) fn without_comparison(query: &FlameQuery) -> FlameSelection {
    FlameSelection {
        before: None,
        ..query.choice.clone()
    }
}
