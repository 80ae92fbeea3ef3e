//! What can be wrong with the messages of `ghc-stack-profiler`.

use serde::{Deserialize, Serialize};

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
