//! What a sound log of `ghc-stack-profiler` does not have.

use super::problem::StackProblem;
use crate::diagnostics::{Diagnostic, Diagnostics};
use eventlog::hash::SeededSet;
use eventlog::ids::Nanos;

/// What was odd, each problem once.
#[derive(Clone, Debug, Default)]
pub(super) struct Oddities {
    pub(super) found: Diagnostics,
    seen: SeededSet<StackProblem>,
}

impl Oddities {
    /// Of more than this it is not kept in mind what they were, so that bad
    /// messages do not fill the memory: each mention counts.
    const SEEN: usize = 1 << 16;

    pub(super) fn push(&mut self, at: Nanos, what: StackProblem) {
        if self.seen.len() >= Self::SEEN {
            if !self.seen.contains(&what) {
                self.found.push(Diagnostic::at(at, what));
            }
        } else if self.seen.insert(what) {
            self.found.push(Diagnostic::at(at, what));
        }
    }
}
