//! Removal of recursion: each frame occurs once in a stack.

use super::apply::Transformed;
use model::profile::frames::{FrameId, Frames};
use model::profile::stacks::{StackId, Stacks};

/// Collapses recursion: a frame that is already on the stack pops back to its first occurrence, as in cost-centre
/// stacks (`pushCostCentre` in `rts/Profiling.c`).
///
/// This is a single walk through the tree with one lookup per stack, so deep stacks cost no more than flat ones.
pub(super) fn collapse_recursion(frames: &Frames, stacks: &Stacks) -> Transformed {
    let order = stacks.order();
    let mut map = vec![Some(StackId::EMPTY); stacks.len()];
    let mut path = Path::new(frames.len());
    // Ancestors of the current stack, outermost first: end of each subtree in preorder, and how to undo its frame.
    let mut around: Vec<(u32, Undo)> = Vec::new();
    for position in 1..order.end(0) {
        while let Some((_, undo)) = around.pop_if(|(end, _)| *end <= position) {
            path.undo(undo);
        }
        let stack = order.stack_at(position);
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

/// Collapsed stack at the current position of the walk.
struct Path {
    into: Stacks,
    /// Prefixes of the stack. Entries at `len` and beyond belong to stacks to which the walk may return.
    at: Vec<StackId>,
    len: usize,
    /// Latest index of each frame in `at`. It is valid only if that entry still ends with the frame.
    place: Vec<usize>,
}

/// State to restore when a frame is popped.
struct Undo {
    len: usize,
    /// Pushed frame, its previous index, and the entry that it replaced.
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
        let previous_entry = self.at.get(*place).filter(|_| *place < len);
        if previous_entry.is_some_and(|&stack| self.into.frame(stack) == Some(frame)) {
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
