//! What flame graphs can be about, and what their weights mean.

use serde::{Deserialize, Serialize};

/// Where the stacks of a flame graph come from: the place in a table of
/// sources, which a later layer has.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Source(pub u8);

/// In what a source counts beside its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes that were alive, summed over censuses.
    Bytes,
}
