//! Call stacks as a prefix tree: stacks share common outer frames, and each stack is identified by one number.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::frames::FrameId;
use super::tree_order::TreeOrder;
use crate::saturating::saturating_u32;
use eventlog::hash::SeededMap;

/// An interned stack: the index of a node in [`Stacks`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct StackId(pub u32);

impl StackId {
    /// The stack without frames.
    pub const EMPTY: Self = Self(0);

    /// Returns the index in columns that have one entry per stack.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All stacks of a profile, in columns.
///
/// The parent of a stack (the stack without its innermost frame) always has a smaller number. `F` is the type of
/// frames: frame ids, or cost-centre ids until all of these are declared.
#[derive(Clone, Debug)]
pub struct Stacks<F = FrameId> {
    parent: Vec<StackId>,
    /// Innermost frame of each stack except the empty one, so the index is shifted by one.
    frame: Vec<F>,
    /// Number of frames of each stack.
    depth: Vec<u16>,
    children: SeededMap<(StackId, F), StackId>,
    /// Preorder of the tree, built on first use.
    order: OnceLock<TreeOrder>,
}

impl<F> Default for Stacks<F> {
    fn default() -> Self {
        Self {
            parent: vec![StackId::EMPTY],
            frame: Vec::new(),
            depth: vec![0],
            children: SeededMap::default(),
            order: OnceLock::new(),
        }
    }
}

impl<F: Copy + Eq + std::hash::Hash> Stacks<F> {
    /// Returns the stack `parent` extended by an inner frame. A stack of 65,535 frames is not extended further.
    pub fn push(&mut self, parent: StackId, frame: F) -> StackId {
        if let Some(&id) = self.children.get(&(parent, frame)) {
            return id;
        }
        let Some(depth) = self.depth(parent).checked_add(1) else {
            return parent;
        };
        let id = StackId(saturating_u32(self.parent.len()));
        self.parent.push(parent);
        self.frame.push(frame);
        self.depth.push(depth);
        self.order.take();
        self.children.insert((parent, frame), id);
        id
    }

    /// Interns a stack given by its frames, outermost first.
    pub fn intern(&mut self, outermost_first: impl IntoIterator<Item = F>) -> StackId {
        let frames = outermost_first.into_iter();
        frames.fold(StackId::EMPTY, |stack, frame| self.push(stack, frame))
    }

    /// Interns the stack that has the outermost `shared` frames of the `last` one, followed by `inner`; updates
    /// `last`.
    pub fn intern_from(
        &mut self,
        last: &mut LastStack<F>,
        shared: usize,
        inner: impl IntoIterator<Item = F>,
    ) -> StackId {
        last.frames.truncate(shared);
        last.stacks.truncate(shared);
        let mut stack = last.stacks.last().copied().unwrap_or(StackId::EMPTY);
        for frame in inner {
            stack = self.push(stack, frame);
            last.frames.push(frame);
            last.stacks.push(stack);
        }
        stack
    }

    /// Returns the stack without its innermost frame; the empty stack is its own parent.
    pub fn parent(&self, stack: StackId) -> StackId {
        let parent = self.parent.get(stack.index());
        parent.copied().unwrap_or(StackId::EMPTY)
    }

    /// Returns the innermost frame; `None` for the empty stack.
    pub fn frame(&self, stack: StackId) -> Option<F> {
        let place = stack.index().checked_sub(1)?;
        self.frame.get(place).copied()
    }

    /// Returns the number of frames of the stack.
    pub fn depth(&self, stack: StackId) -> u16 {
        self.depth.get(stack.index()).copied().unwrap_or(0)
    }

    /// Iterates over the frames, innermost first.
    pub fn innermost_first(&self, stack: StackId) -> impl Iterator<Item = F> + '_ {
        let parents = std::iter::successors(Some(stack), |&stack| Some(self.parent(stack)));
        parents.map_while(|stack| self.frame(stack))
    }

    /// Returns the frames, outermost first.
    pub fn outermost_first(&self, stack: StackId) -> Vec<F> {
        let mut frames: Vec<F> = self.innermost_first(stack).collect();
        frames.reverse();
        frames
    }

    /// Iterates over all stacks, parents before children; the empty stack is first.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = StackId> + ExactSizeIterator + use<F> {
        let count = saturating_u32(self.parent.len());
        (0..count).map(StackId)
    }

    /// Returns the number of stacks, including the empty one.
    pub const fn len(&self) -> usize {
        self.parent.len()
    }

    /// Returns whether there is no stack besides the empty one.
    pub const fn is_empty(&self) -> bool {
        self.parent.len() <= 1
    }

    /// Returns the preorder of the tree of stacks.
    pub fn order(&self) -> &TreeOrder {
        self.order.get_or_init(|| TreeOrder::new(&self.parent))
    }

    /// Returns the longest common prefix of two stacks.
    pub fn common(&self, a: StackId, b: StackId) -> StackId {
        let order = self.order();
        let mut outer = a;
        while !order.contains(outer, b) {
            outer = self.parent(outer);
        }
        outer
    }

    /// Interns all stacks in `into` with mapped frames. Returns the new id of each stack, indexed by the old one.
    pub fn translate<G: Copy + Eq + std::hash::Hash>(
        &self,
        into: &mut Stacks<G>,
        mut frame: impl FnMut(F) -> G,
    ) -> Vec<StackId> {
        let mut new: Vec<StackId> = Vec::with_capacity(self.len());
        for stack in self.ids() {
            let id = match self.frame(stack) {
                Some(old) => into.push(new[self.parent(stack).index()], frame(old)),
                None => StackId::EMPTY,
            };
            new.push(id);
        }
        new
    }
}

/// The previously interned stack of a series, for [`Stacks::intern_from`]: consecutive stacks often share outer
/// frames.
#[derive(Clone, Debug)]
pub struct LastStack<F> {
    frames: Vec<F>,
    /// The stack up to and including each frame.
    stacks: Vec<StackId>,
}

impl<F> Default for LastStack<F> {
    fn default() -> Self {
        Self {
            frames: Vec::new(),
            stacks: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_share_their_beginnings() {
        let mut stacks = Stacks::default();
        let abc = stacks.intern("abc".chars());
        let abd = stacks.intern("abd".chars());
        assert_eq!(stacks.parent(abc), stacks.parent(abd));
        assert_eq!(stacks.intern("abc".chars()), abc);
        assert_eq!(stacks.len(), 5);
        assert_eq!(stacks.depth(abd), 3);
        assert_eq!(stacks.outermost_first(abd), ['a', 'b', 'd']);
        assert_eq!(stacks.innermost_first(abd).collect::<String>(), "dba");
    }

    #[test]
    fn the_next_stack_is_that_of_all_its_frames() {
        let (mut stacks, mut last) = (Stacks::default(), LastStack::default());
        for (shared, frames) in [(0, "abc"), (2, "abd"), (0, "x"), (1, "xyz"), (3, "xyza")] {
            let next = stacks.intern_from(&mut last, shared, frames.chars().skip(shared));
            assert_eq!(next, stacks.intern(frames.chars()), "{frames}");
        }
        let next = stacks.intern_from(&mut last, 2, "q".chars());
        assert_eq!(stacks.outermost_first(next), ['x', 'y', 'q']);
    }

    #[test]
    fn stacks_have_a_common_beginning() {
        let mut stacks = Stacks::default();
        let [abc, abd, x] = ["abc", "abd", "x"].map(|text| stacks.intern(text.chars()));
        let ab = stacks.intern("ab".chars());
        assert_eq!(stacks.common(abc, abd), ab);
        assert_eq!(stacks.common(abc, ab), ab);
        assert_eq!(stacks.common(ab, abc), ab);
        assert_eq!(stacks.common(abc, x), StackId::EMPTY);
    }

    #[test]
    fn the_empty_stack_has_no_frames() {
        let stacks = Stacks::<char>::default();
        assert!(stacks.is_empty());
        assert_eq!(stacks.outermost_first(StackId::EMPTY), []);
        assert_eq!(stacks.parent(StackId::EMPTY), StackId::EMPTY);
    }

    #[test]
    fn translation_may_make_stacks_equal() {
        let mut stacks = Stacks::default();
        let upper = stacks.intern("aB".chars());
        let lower = stacks.intern("ab".chars());
        let mut into = Stacks::default();
        let new = stacks.translate(&mut into, |c: char| c.to_ascii_lowercase());
        assert_eq!(new[upper.index()], new[lower.index()]);
        assert_eq!(into.outermost_first(new[upper.index()]), ['a', 'b']);
    }

    #[test]
    fn a_very_deep_stack_is_cut() {
        let mut stacks = Stacks::default();
        let deep = stacks.intern(0_u32..70_000);
        assert_eq!(stacks.depth(deep), u16::MAX);
    }
}
