//! Weighted stacks as a tree in output order, with limited depth.

use super::IncompleteStacks;
use model::profile::frames::FrameId;
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::Weight;
use model::sorting::CompactSort;

/// Maximum number of frames in a written stack. Folded and pprof files repeat the outer frames in every stack, so
/// their size would grow with the square of the depth, and recursive viewers fail at some ten thousand frames.
pub(super) const DEEPEST: u16 = 1024;

/// Name of the frame that replaces all frames beyond [`DEEPEST`].
pub(super) const DEEPER: &str = "(deeper frames)";

/// Truncation of stacks that are too deep.
#[derive(Clone, Debug, Default)]
pub(super) struct Limit {
    /// Replacement of each stack; `None` if no stack is too deep.
    truncated: Option<Vec<StackId>>,
}

impl Limit {
    pub(super) fn new(stacks: &Stacks) -> Self {
        if stacks.ids().all(|stack| stacks.depth(stack) <= DEEPEST) {
            return Self::default();
        }
        let mut truncated: Vec<StackId> = Vec::with_capacity(stacks.len());
        for stack in stacks.ids() {
            let too_deep = stacks.depth(stack) > DEEPEST + 1;
            let outer = truncated.get(stacks.parent(stack).index()).copied();
            truncated.push(outer.filter(|_| too_deep).unwrap_or(stack));
        }
        Self {
            truncated: Some(truncated),
        }
    }

    /// Returns whether any stack is truncated.
    pub(super) const fn cuts(&self) -> bool {
        self.truncated.is_some()
    }

    /// Returns the replacement of a stack: if it is too deep, the first [`DEEPEST`] frames and one more for the
    /// rest.
    pub(super) fn truncate(&self, stack: StackId) -> StackId {
        match &self.truncated {
            Some(truncated) => truncated.get(stack.index()).copied().unwrap_or(stack),
            None => stack,
        }
    }
}

/// Stack of a [`Tree`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Number of frames in the stack.
    pub(super) depth: u16,
    /// Key of the innermost frame.
    pub(super) key: u32,
    /// Weight of the stack itself, without its children.
    pub(super) own: Weight,
}

/// Stacks with weight and their ancestors, in preorder. Siblings are sorted by the key of their innermost frame.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    rows: Vec<Row>,
    pub(super) incomplete: IncompleteStacks,
}

impl Tree {
    /// Builds the tree. Frames with the same key are merged. `deeper` is the key of [`DEEPER`].
    pub(super) fn new(
        stacks: &Stacks,
        own: &[Weight],
        key: impl Fn(FrameId) -> u32,
        deeper: u32,
    ) -> Self {
        let mut incomplete = IncompleteStacks::default();
        let mut into: Stacks<u32> = Stacks::default();
        let mut new: Vec<StackId> = Vec::with_capacity(stacks.len());
        for stack in stacks.ids() {
            let outer = new.get(stacks.parent(stack).index()).copied();
            let outer = outer.unwrap_or(StackId::EMPTY);
            let depth = stacks.depth(stack);
            new.push(match stacks.frame(stack) {
                None => StackId::EMPTY,
                Some(frame) if depth <= DEEPEST => into.push(outer, key(frame)),
                Some(_) if depth == DEEPEST + 1 => into.push(outer, deeper),
                Some(_) => outer,
            });
            if depth > DEEPEST && own.get(stack.index()).is_some_and(weighs) {
                incomplete.count_deep(depth);
            }
        }
        let mut sums = vec![Weight::default(); into.len()];
        for (stack, &weight) in new.iter().zip(own) {
            sums[stack.index()].add(weight);
        }
        Self {
            rows: in_order(&into, &sums),
            incomplete,
        }
    }

    /// Returns the row at an index.
    pub(super) fn get(&self, place: usize) -> Option<Row> {
        self.rows.get(place).copied()
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns whether no stack has weight.
    pub(super) fn is_empty(&self) -> bool {
        !self.rows.iter().any(|row| weighs(&row.own))
    }
}

const fn weighs(weight: &Weight) -> bool {
    weight.amount > 0 || weight.count > 0
}

/// Returns the rows of the stacks that have weight or a descendant with weight.
fn in_order(stacks: &Stacks<u32>, own: &[Weight]) -> Vec<Row> {
    let mut used: Vec<bool> = own.iter().map(weighs).collect();
    for stack in stacks.ids().rev().filter(|&stack| stack != StackId::EMPTY) {
        used[stacks.parent(stack).index()] |= used[stack.index()];
    }
    let inner = |stack: &StackId| *stack != StackId::EMPTY && used[stack.index()];
    let mut children: Vec<StackId> = stacks.ids().filter(inner).collect();
    children.sort_small_by_key(|&stack| (stacks.parent(stack), stacks.frame(stack)));
    // Start of each stack's children.
    let mut first = vec![0_usize; stacks.len() + 1];
    for &child in &children {
        first[stacks.parent(child).index() + 1] += 1;
    }
    for place in 1..first.len() {
        first[place] += first[place - 1];
    }
    let mut rows = Vec::with_capacity(children.len() + 1);
    let mut to_come = vec![StackId::EMPTY];
    while let Some(stack) = to_come.pop() {
        rows.push(Row {
            depth: stacks.depth(stack),
            key: stacks.frame(stack).unwrap_or(0),
            own: own[stack.index()],
        });
        let places = first[stack.index()]..first[stack.index() + 1];
        to_come.extend(children[places].iter().rev());
    }
    rows
}
