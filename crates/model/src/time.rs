//! Stretches of time.

use eventlog::ids::Nanos;
use serde::{Deserialize, Serialize};

/// A stretch of time. `end` may lie before `start` where a log's times do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Ends")]
pub struct Span {
    /// When it begins.
    pub start: Nanos,
    /// When it ends.
    pub end: Nanos,
}

/// A span as it comes from outside, where nothing keeps its ends in order.
#[derive(Deserialize)]
struct Ends {
    start: Nanos,
    end: Nanos,
}

impl From<Ends> for Span {
    fn from(Ends { start, end }: Ends) -> Self {
        Self::new(start, end.max(start))
    }
}

impl Span {
    /// The span from `start` to `end`.
    #[must_use]
    pub const fn new(start: Nanos, end: Nanos) -> Self {
        Self { start, end }
    }

    /// How long it is; 0 if it ends before it begins.
    #[must_use]
    pub const fn duration(&self) -> Nanos {
        self.end.since(self.start)
    }
}
