//! Problems in the messages of `ghc-stack-profiler`.

use serde::{Deserialize, Serialize};

/// A problem with a message or a reference; it affects only that message or frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StackProblem {
    /// The last part of a stack is missing; holds the thread number.
    LastPartMissing(u64),
    /// The capability or thread number is impossible; holds the capability number.
    NoSuchCapability(u32),
    /// A string is never defined; holds its number.
    UnknownText(u64),
    /// A location is never defined; holds its number.
    UnknownLocation(u64),
}
