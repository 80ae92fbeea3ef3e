//! What a sound log of `ghc-stack-profiler` does not have.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::findings::{Finding, Findings};
use eventlog::ids::Nanos;

/// Something wrong with a message or a reference; it costs only itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StackProblem {
    /// Of the stack of a thread the last part is missing.
    LastPartMissing(u64),
    /// A capability or thread of a number that none has.
    NoSuchCapability(u32),
    /// A text that is never defined.
    UnknownText(u64),
    /// A location that is never defined.
    UnknownLocation(u64),
}

/// What was odd, each problem once.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    pub(super) found: Findings,
    seen: FxHashSet<StackProblem>,
}

impl Oddities {
    /// Of more than this it is not kept in mind what they were, so that bad
    /// messages do not fill the memory: each mention counts.
    const SEEN: usize = 1 << 16;

    pub(super) fn push(&mut self, at: Nanos, what: StackProblem) {
        if self.seen.len() >= Self::SEEN {
            if !self.seen.contains(&what) {
                self.found.push(Finding::at(at, what));
            }
        } else if self.seen.insert(what) {
            self.found.push(Finding::at(at, what));
        }
    }
}
