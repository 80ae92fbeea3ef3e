//! Inversion of stacks: the innermost frame becomes the root, and its callers follow.

use std::cmp::Reverse;

use super::apply::{Transformed, is_marked};
use model::profile::frames::{FrameId, Frames};
use model::profile::stacks::{StackId, Stacks};

/// Limit on the resulting frames. Inverted stacks share few frames: 100,000 stacks of 200 frames would need 20
/// million. Beyond this limit, the remaining stacks (those with the fewest samples) keep only their innermost
/// frames.
const MANY: usize = 1 << 21;
/// Limit on the visited frames, which can exceed the resulting ones because stacks share frames. Beyond it, the
/// remaining stacks are shortened too, so that very deep stacks do not cost the square of their depth.
const MAX_FRAMES: usize = 1 << 23;
/// Number of innermost frames that shortened stacks keep.
const KEPT: usize = 16;

/// Part of each stack to invert.
#[derive(Clone, Copy)]
pub(super) enum Paths<'a> {
    /// The whole stack, up to its outermost frame.
    Whole,
    /// The part up to the outermost marked frame; stacks without one are removed.
    From(&'a [bool]),
}

/// Inverts the stacks that have samples, those with the most first.
///
/// Weights are always exact. If there are very many stacks, the rare ones lose their outermost callers.
pub(super) fn invert(
    frames: &Frames,
    stacks: &Stacks,
    seen: Option<&[u32]>,
    paths: Paths<'_>,
) -> Transformed {
    let ends = match paths {
        Paths::Whole => stacks.ids().map(Some).collect(),
        Paths::From(marked) => outermost(stacks, marked),
    };
    // Several stacks may end at the same frame, which is inverted once.
    let mut samples = vec![None; stacks.len()];
    for (stack, end) in stacks.ids().zip(&ends) {
        let count = seen.map_or(Some(1), |seen| seen.get(stack.index()).copied());
        if let (Some(end), Some(count @ 1..)) = (end, count) {
            *samples[end.index()].get_or_insert(0_u64) += u64::from(count);
        }
    }
    let mut order: Vec<(Reverse<u64>, StackId)> = stacks
        .ids()
        .zip(&samples)
        .filter_map(|(stack, count)| Some((Reverse((*count)?), stack)))
        .collect();
    order.sort_unstable();
    let mut into = Stacks::default();
    let mut inverted = vec![None; stacks.len()];
    let root = match paths {
        Paths::Whole => None,
        Paths::From(marked) => (0..).zip(marked).find(|(_, is_marked)| **is_marked),
    };
    let root = root.map(|(id, _)| FrameId(id));
    let (mut walked, mut shortened) = (0_usize, 0);
    for (_, stack) in order {
        let depth = usize::from(stacks.depth(stack));
        let room = into.len() < MANY && walked < MAX_FRAMES;
        let kept = if room { usize::MAX } else { KEPT };
        shortened += u64::from(depth > kept);
        walked += depth.min(kept);
        let inner = root.or_else(|| stacks.frame(stack));
        let outer = stacks.innermost_first(stack).skip(1);
        let path = inner.into_iter().chain(outer).take(kept);
        inverted[stack.index()] = Some(into.intern(path));
    }
    let new = |end: Option<StackId>| end.and_then(|end| inverted[end.index()]);
    Transformed {
        frames: frames.clone(),
        stacks: into,
        map: ends.into_iter().map(new).collect(),
        shortened,
    }
}

/// Returns for each stack the prefix that ends at its outermost marked frame.
fn outermost(stacks: &Stacks, marked: &[bool]) -> Vec<Option<StackId>> {
    let mut ends: Vec<Option<StackId>> = Vec::with_capacity(stacks.len());
    for stack in stacks.ids() {
        let outer = ends.get(stacks.parent(stack).index()).copied().flatten();
        let here = stacks
            .frame(stack)
            .filter(|&frame| is_marked(marked, frame));
        ends.push(outer.or(here.map(|_| stack)));
    }
    ends
}
