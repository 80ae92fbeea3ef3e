//! Diagnostics about messages of `ghc-stack-profiler`.

use super::problem::StackProblem;
use crate::diagnostics::{Diagnostic, Diagnostics};
use eventlog::hash::SeededSet;
use eventlog::ids::Nanos;

/// Diagnostics, one per distinct problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Anomalies {
    pub(super) found: Diagnostics,
    seen: SeededSet<StackProblem>,
}

impl Anomalies {
    /// Limit of problems remembered for deduplication, so that malformed messages cannot exhaust memory.
    ///
    /// Each occurrence of further problems counts.
    const SEEN: usize = 1 << 16;

    pub(super) fn push(&mut self, at: Nanos, what: StackProblem) {
        if self.seen.len() >= Self::SEEN {
            if !self.seen.contains(&what) {
                self.found.push(Diagnostic::at_time(at, what));
            }
        } else if self.seen.insert(what) {
            self.found.push(Diagnostic::at_time(at, what));
        }
    }
}
