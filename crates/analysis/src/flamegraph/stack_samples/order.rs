//! The order of frames in the stacks of a log, inferred from all of its messages.
//!
//! | evidence, the strongest first | order |
//! |---|---|
//! | the version, threads of 64 bits, layout of locations | as [`StackMessage::frame_order`] has it |
//! | of stacks in several parts the first has more frames than the last | innermost first, as the last innermost-first part has the rest |
//! | the last has more than the first | outermost first |
//! | successive stacks of a thread have more in common at their ends | innermost first: that is the root |
//! | neither, or none | outermost first |

use std::collections::BTreeMap;

use super::RawFrame;
use eventlog::conventions::stack_profiler::{FrameOrder, StackMessage};
use eventlog::ids::ThreadId;
use model::profile::stacks::{StackId, Stacks};

/// Evidence of the order, as far as the log is read.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderEvidence {
    outermost_first: bool,
    innermost_first: bool,
    /// Stacks of which the first part is the longer one, and the last.
    longer_parts: [u64; 2],
    /// How many frames successive stacks of a thread have in common, counted from their first frame and
    /// from their last.
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

    /// A stack in several parts, the first and the last of which have so many frames.
    pub(super) fn parts(&mut self, first: u16, last: u16) {
        self.longer_parts[0] += u64::from(first > last);
        self.longer_parts[1] += u64::from(last > first);
    }

    /// The next stack of a thread, in the order of the log.
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
