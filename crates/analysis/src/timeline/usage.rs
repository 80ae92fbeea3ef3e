//! How each capability spent a range.

use serde::{Deserialize, Serialize};

use super::store::Store;
use eventlog::ids::CapId;
use model::time::Span;

/// How one capability spent a range, for the table below the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRow {
    /// The capability.
    pub cap: CapId,
    /// Running threads, in nanoseconds.
    pub mutator_ns: u64,
    /// Collecting.
    pub gc_ns: u64,
    /// Neither.
    pub idle_ns: u64,
}

/// The usage of every capability in `range`.
#[must_use]
pub fn usage(
    store: &Store,
    lives: impl Iterator<Item = (CapId, Span)>,
    range: Span,
) -> Vec<UsageRow> {
    lives
        .map(|(cap, life)| {
            let usage = store.usage(cap, life, range);
            UsageRow {
                cap,
                mutator_ns: usage.mutator_ns,
                gc_ns: usage.gc_ns,
                idle_ns: usage.idle_ns,
            }
        })
        .collect()
}
