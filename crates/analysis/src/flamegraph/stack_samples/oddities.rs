//! What a sound log of `ghc-stack-profiler` does not have.

use std::fmt;

use rustc_hash::FxHashSet;

use eventlog::ids::Nanos;

/// Something wrong with a message or a reference; it costs only itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StackProblem {
    /// Of the stack of a thread the last part is missing.
    LastPartMissing(u64),
    /// A capability or thread of a number that none has.
    NoSuchCapability(u32),
    /// A text that is never defined.
    UnknownText(u64),
    /// A location that is never defined.
    UnknownLocation(u64),
    /// So many more than are kept.
    More(u64),
}

impl fmt::Display for StackProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LastPartMissing(thread) => {
                write!(f, "a stack sample of thread {thread} has no last part")
            }
            Self::NoSuchCapability(cap) => {
                write!(
                    f,
                    "a stack sample of capability {cap} and a thread that cannot be"
                )
            }
            Self::UnknownText(id) => {
                write!(f, "stack samples refer to text {id}, which is not defined")
            }
            Self::UnknownLocation(id) => {
                write!(
                    f,
                    "stack samples refer to location {id}, which is not defined"
                )
            }
            Self::More(count) => write!(f, "{count} more"),
        }
    }
}

/// A problem and when it was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackOddity {
    /// When.
    pub at: Nanos,
    /// What.
    pub what: StackProblem,
}

/// What was odd, each problem once; bad messages do not fill the memory.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    kept: Vec<StackOddity>,
    seen: FxHashSet<StackProblem>,
    more: u64,
}

impl Oddities {
    const KEPT: usize = 1000;

    pub(super) fn push(&mut self, at: Nanos, what: StackProblem) {
        if self.seen.contains(&what) {
            return;
        }
        if self.kept.len() >= Self::KEPT {
            self.more += 1;
            return;
        }
        self.seen.insert(what);
        self.kept.push(StackOddity { at, what });
    }

    /// All that are kept, by time; then how many are not.
    pub(super) fn finish(mut self, end: Nanos) -> Vec<StackOddity> {
        self.kept.sort_by_key(|oddity| oddity.at);
        if self.more > 0 {
            let what = StackProblem::More(self.more);
            self.kept.push(StackOddity { at: end, what });
        }
        self.kept
    }
}
