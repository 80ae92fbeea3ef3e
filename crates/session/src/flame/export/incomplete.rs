//! Report of stacks that a file or a graph has only in part.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::tree::DEEPEST;

/// Counts of incomplete deep stacks in a file or a graph. Weights are always exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncompleteStacks {
    /// Number of truncated stacks.
    pub deep: u64,
    /// Number of frames in the deepest truncated stack.
    pub deepest: u16,
    /// Number of inverted stacks without their outermost frames.
    pub shortened: u64,
}

impl IncompleteStacks {
    /// Returns whether all stacks are complete.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts a truncated stack of `frames` frames.
    pub(super) fn count_deep(&mut self, frames: u16) {
        self.deep += 1;
        self.deepest = self.deepest.max(frames);
    }
}

impl fmt::Display for IncompleteStacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.deep > 0 {
            write!(
                f,
                "{} with up to {} frames: only the outer {} are written.",
                stacks(self.deep),
                self.deepest,
                DEEPEST,
            )?;
        }
        if self.shortened > 0 {
            let space = if self.deep > 0 { " " } else { "" };
            write!(
                f,
                "{space}{} inverted without the outermost callers.",
                stacks(self.shortened)
            )?;
        }
        Ok(())
    }
}

fn stacks(number: u64) -> String {
    match number {
        1 => "1 stack".to_owned(),
        many => format!("{many} stacks"),
    }
}
