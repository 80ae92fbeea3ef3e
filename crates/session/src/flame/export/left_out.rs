//! What a file or a graph does not have of very deep stacks.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::tree::DEEPEST;

/// What a file or a graph does not have of very deep stacks. Weights are exact
/// in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// How many stacks are cut off.
    pub deep: u64,
    /// How many frames the deepest of them has.
    pub deepest: u16,
    /// How many stacks were inverted without their outermost frames.
    pub shortened: u64,
}

impl LeftOut {
    /// Whether nothing is left out.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Counts a stack of so many frames, which is cut off.
    pub(super) fn see_deep(&mut self, frames: u16) {
        self.deep += 1;
        self.deepest = self.deepest.max(frames);
    }
}

impl fmt::Display for LeftOut {
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
