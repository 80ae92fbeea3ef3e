//! Infers the order of frames in the stacks of a log from all of its messages.
//!
//! | evidence, the strongest first | order |
//! |---|---|
//! | the version, 64-bit threads, or the layout of locations | as [`StackMessage::frame_order`] defines |
//! | among stacks in parts, the first part is more often longer | innermost first: the last part has the rest |
//! | among stacks in parts, the last part is more often longer | outermost first |
//! | successive stacks of a thread share more frames at their ends | innermost first: the root is at the end |
//! | otherwise | outermost first |

use std::collections::BTreeMap;

use super::RawFrame;
use eventlog::conventions::stack_profiler::{FrameOrder, StackMessage};
use eventlog::ids::ThreadId;
use model::profile::stacks::{StackId, Stacks};

/// Evidence of the order in the log read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderEvidence {
    outermost_first: bool,
    innermost_first: bool,
    /// Number of stacks whose first part is longer than the last, and of those whose last part is longer.
    longer_parts: [u64; 2],
    /// Number of frames shared by successive stacks of a thread, from their first and from their last frame.
    common: [u64; 2],
    last: BTreeMap<ThreadId, StackId>,
}

impl OrderEvidence {
    pub(super) fn message(&mut self, message: &StackMessage<'_>) {
        match message.frame_order() {
            Some(FrameOrder::OutermostFirst) => self.outermost_first = true,
            Some(FrameOrder::InnermostFirst) => self.innermost_first = true,
            None => {}
        }
    }

    /// Records a stack in several parts, by the lengths of its first and last part.
    pub(super) fn parts(&mut self, first: u16, last: u16) {
        self.longer_parts[0] += u64::from(first > last);
        self.longer_parts[1] += u64::from(last > first);
    }

    /// Records the next stack of a thread, in log order.
    pub(super) fn sample(&mut self, thread: ThreadId, stack: StackId, stacks: &Stacks<RawFrame>) {
        if self.outermost_first || self.innermost_first {
            return self.last.clear();
        }
        let last = self.last.insert(thread, stack);
        let Some(last) = last.filter(|last| *last != stack) else {
            return;
        };
        let [last, stack] = [last, stack].map(|stack| stacks.outermost_first(stack));
        let begins = last.iter().zip(&stack);
        let ends = last.iter().rev().zip(stack.iter().rev());
        self.common[0] += begins.take_while(|(a, b)| a == b).count() as u64;
        self.common[1] += ends.take_while(|(a, b)| a == b).count() as u64;
    }

    pub(super) fn order(&self) -> FrameOrder {
        let [first, last] = self.longer_parts;
        let [begins, ends] = self.common;
        let is_innermost_first = if self.outermost_first {
            false
        } else {
            self.innermost_first || first > last || (first == last && ends > begins)
        };
        if is_innermost_first {
            FrameOrder::InnermostFirst
        } else {
            FrameOrder::OutermostFirst
        }
    }
}
