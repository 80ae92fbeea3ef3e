//! Weighted stacks as a tree in the order in which it is written, no deeper
//! than readers of the files can take.

use super::LeftOut;
use model::profile::frames::FrameId;
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::Weight;
use model::sorting::SortSmall;

/// How many frames a stack has in a file. A file of folded stacks or of pprof
/// repeats the outer frames with every stack, so that its size would grow with
/// the square of the depth; viewers that recurse fail at some ten thousand.
pub(super) const DEEPEST: u16 = 1024;

/// The frame that stands for all frames beyond [`DEEPEST`].
pub(super) const DEEPER: &str = "(deeper frames)";

/// Where stacks that are too deep are cut off.
#[derive(Clone, Debug, Default)]
pub(super) struct Limit {
    /// What is shown in place of each stack; `None` if none is too deep.
    shown: Option<Vec<StackId>>,
}

impl Limit {
    pub(super) fn new(stacks: &Stacks) -> Self {
        if stacks.ids().all(|stack| stacks.depth(stack) <= DEEPEST) {
            return Self::default();
        }
        let mut shown: Vec<StackId> = Vec::with_capacity(stacks.len());
        for stack in stacks.ids() {
            let too_deep = stacks.depth(stack) > DEEPEST + 1;
            let outer = shown.get(stacks.parent(stack).index()).copied();
            shown.push(outer.filter(|_| too_deep).unwrap_or(stack));
        }
        Self { shown: Some(shown) }
    }

    /// Whether some stacks are too deep.
    pub(super) const fn cuts(&self) -> bool {
        self.shown.is_some()
    }

    /// What is shown in place of a stack: of one that is too deep, the first
    /// [`DEEPEST`] frames and one more, which stands for the rest.
    pub(super) fn of(&self, stack: StackId) -> StackId {
        match &self.shown {
            Some(shown) => shown.get(stack.index()).copied().unwrap_or(stack),
            None => stack,
        }
    }
}

/// A stack of a [`Tree`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// How many frames it has.
    pub(super) depth: u16,
    /// Its innermost frame, by the number that the tree was made with.
    pub(super) key: u32,
    /// What it weighs itself.
    pub(super) own: Weight,
}

/// The stacks that weigh something and those around them, each before what
/// stands on it; those on one stack are sorted by their innermost frame.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    rows: Vec<Row>,
    pub(super) left_out: LeftOut,
}

impl Tree {
    /// Frames with the same key are one. `deeper` is the key of [`DEEPER`].
    pub(super) fn new(
        stacks: &Stacks,
        own: &[Weight],
        key: impl Fn(FrameId) -> u32,
        deeper: u32,
    ) -> Self {
        let mut left_out = LeftOut::default();
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
                left_out.see_deep(depth);
            }
        }
        let mut sums = vec![Weight::default(); into.len()];
        for (stack, &weight) in new.iter().zip(own) {
            sums[stack.index()].add(weight);
        }
        Self {
            rows: in_order(&into, &sums),
            left_out,
        }
    }

    /// The row at a place.
    pub(super) fn get(&self, place: usize) -> Option<Row> {
        self.rows.get(place).copied()
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

const fn weighs(weight: &Weight) -> bool {
    weight.amount > 0 || weight.count > 0
}

/// The rows of the stacks that weigh something or have something in them.
fn in_order(stacks: &Stacks<u32>, own: &[Weight]) -> Vec<Row> {
    let mut used: Vec<bool> = own.iter().map(weighs).collect();
    for stack in stacks.ids().rev().filter(|&stack| stack != StackId::EMPTY) {
        used[stacks.parent(stack).index()] |= used[stack.index()];
    }
    let inner = |stack: &StackId| *stack != StackId::EMPTY && used[stack.index()];
    let mut children: Vec<StackId> = stacks.ids().filter(inner).collect();
    children.sort_small_by_key(|&stack| (stacks.parent(stack), stacks.frame(stack)));
    // Where the children of each begin.
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
