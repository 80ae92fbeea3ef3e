//! Preorder of the tree of stacks: the descendants of a stack directly follow it.

use super::stacks::StackId;
use crate::saturating::saturating_u32;

/// Preorder of a tree of stacks, in columns.
#[derive(Clone, Debug, Default)]
pub struct TreeOrder {
    /// Position of each stack in the order.
    position: Vec<u32>,
    /// Stack at each position.
    stacks: Vec<StackId>,
    /// By position, the end of the range of the stack and its descendants.
    end: Vec<u32>,
}

impl TreeOrder {
    /// Computes the order; each parent must have a smaller number than its children.
    pub(super) fn new(parent: &[StackId]) -> Self {
        let count = parent.len();
        let mut size = vec![1_u32; count];
        for stack in (1..count).rev() {
            size[parent[stack].index()] += size[stack];
        }
        let mut position = vec![0_u32; count];
        // Position of the next child of each stack.
        let mut next = vec![1_u32; count];
        let mut stack_at = vec![StackId::EMPTY; count];
        let mut end = vec![0_u32; count];
        for stack in 0..count {
            if stack > 0 {
                let place = &mut next[parent[stack].index()];
                position[stack] = *place;
                *place += size[stack];
                next[stack] = position[stack] + 1;
            }
            let place = position[stack] as usize;
            stack_at[place] = StackId(saturating_u32(stack));
            end[place] = position[stack] + size[stack];
        }
        Self {
            position,
            stacks: stack_at,
            end,
        }
    }

    /// Returns the position of a stack; 0 for the empty stack and for unknown ones.
    pub fn position(&self, stack: StackId) -> u32 {
        self.position.get(stack.index()).copied().unwrap_or(0)
    }

    /// Returns the stack at a position.
    pub fn stack_at(&self, position: u32) -> StackId {
        let stack = self.stacks.get(position as usize);
        stack.copied().unwrap_or(StackId::EMPTY)
    }

    /// Returns the end position (exclusive) of the stack at a position and its descendants.
    pub fn end(&self, position: u32) -> u32 {
        self.end.get(position as usize).copied().unwrap_or(0)
    }

    /// Returns whether `outer` is a prefix of `inner`, or equal to it.
    pub fn contains(&self, outer: StackId, inner: StackId) -> bool {
        let (outer, inner) = (self.position(outer), self.position(inner));
        outer <= inner && inner < self.end(outer)
    }

    /// Iterates over the stacks that extend `stack` by one frame.
    pub fn children(&self, stack: StackId) -> impl Iterator<Item = StackId> + '_ {
        let place = self.position(stack);
        let end = self.end(place);
        let children = std::iter::successors(Some(place + 1), |&child| Some(self.end(child)));
        children
            .take_while(move |&child| child < end)
            .map(|child| self.stack_at(child))
    }
}

#[cfg(test)]
mod tests {
    use super::super::stacks::Stacks;
    use super::*;

    #[test]
    fn what_begins_with_a_stack_stands_behind_it() {
        let mut stacks = Stacks::default();
        let [ab, c, ad, abe] = ["ab", "c", "ad", "abe"].map(|text| stacks.intern(text.chars()));
        let a = stacks.parent(ab);
        let order = stacks.order();
        let walk: Vec<StackId> = (0..6).map(|place| order.stack_at(place)).collect();
        assert_eq!(walk, [StackId::EMPTY, a, ab, abe, ad, c]);
        let children = |stack| order.children(stack).collect::<Vec<_>>();
        assert_eq!(children(StackId::EMPTY), [a, c]);
        assert_eq!(children(a), [ab, ad]);
        assert_eq!(children(c), []);
        assert!(order.contains(a, abe) && order.contains(a, a));
        assert!(!order.contains(ab, ad) && !order.contains(abe, ab));
    }
}
