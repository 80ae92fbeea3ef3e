//! Recursion taken out of stacks: every frame stands once.

use super::apply::Transformed;
use model::profile::frames::{FrameId, Frames};
use model::profile::stacks::{StackId, Stacks};

/// A frame that is in the stack already pops back to where it first stands, as
/// cost-centre stacks themselves do (`pushCostCentre` in `rts/Profiling.c`).
///
/// One walk through the tree; each stack costs one look at where its frame
/// stood last, so that deep stacks cost no more than flat ones.
pub(super) fn collapse_recursion(frames: &Frames, stacks: &Stacks) -> Transformed {
    let order = stacks.order();
    let mut map = vec![Some(StackId::EMPTY); stacks.len()];
    let mut path = Path::new(frames.len());
    // Around the current stack, outermost first: up to which position in the
    // walk each goes, and what it changed.
    let mut around: Vec<(u32, Undo)> = Vec::new();
    for position in 1..order.end(0) {
        while let Some((_, undo)) = around.pop_if(|(end, _)| *end <= position) {
            path.undo(undo);
        }
        let stack = order.at(position);
        let Some(frame) = stacks.frame(stack) else {
            continue;
        };
        let undo = path.push(frame);
        map[stack.index()] = Some(path.innermost());
        around.push((order.end(position), undo));
    }
    Transformed {
        frames: frames.clone(),
        stacks: path.into,
        map,
        shortened: 0,
    }
}

/// The stack without recursion that the walk is at.
struct Path {
    into: Stacks,
    /// The stack up to each of its frames. What stands behind `len` belongs to
    /// stacks that the walk may go back to.
    at: Vec<StackId>,
    len: usize,
    /// Where each frame was put last. It stands there still if that place has
    /// this frame.
    place: Vec<usize>,
}

/// How to go back to the stack before a frame was put on it.
struct Undo {
    len: usize,
    /// The frame that was put on the stack, where it stood before, and what
    /// stood in its place.
    put: Option<(FrameId, usize, Option<StackId>)>,
}

impl Path {
    fn new(frames: usize) -> Self {
        Self {
            into: Stacks::default(),
            at: Vec::new(),
            len: 0,
            place: vec![usize::MAX; frames],
        }
    }

    fn innermost(&self) -> StackId {
        let last = self.len.checked_sub(1).and_then(|last| self.at.get(last));
        last.copied().unwrap_or(StackId::EMPTY)
    }

    fn push(&mut self, frame: FrameId) -> Undo {
        let len = self.len;
        let Some(place) = self.place.get_mut(frame.0 as usize) else {
            return Undo { len, put: None };
        };
        let stands = self.at.get(*place).filter(|_| *place < len);
        if stands.is_some_and(|&stack| self.into.frame(stack) == Some(frame)) {
            self.len = *place + 1;
            return Undo { len, put: None };
        }
        let before = std::mem::replace(place, len);
        let stack = self.into.push(self.innermost(), frame);
        let replaced = match self.at.get_mut(len) {
            Some(old) => Some(std::mem::replace(old, stack)),
            None => {
                self.at.push(stack);
                None
            }
        };
        self.len = len + 1;
        Undo {
            len,
            put: Some((frame, before, replaced)),
        }
    }

    fn undo(&mut self, undo: Undo) {
        if let Some((frame, before, replaced)) = undo.put {
            if let Some(place) = self.place.get_mut(frame.0 as usize) {
                *place = before;
            }
            if let (Some(at), Some(old)) = (self.at.get_mut(undo.len), replaced) {
                *at = old;
            }
        }
        self.len = undo.len;
    }
}
