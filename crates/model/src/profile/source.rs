//! Sources of flame graphs and the units of their weights.

use serde::{Deserialize, Serialize};

/// Where the stacks of a flame graph come from: an index into a table of sources, which a higher layer defines.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Source(pub u8);

/// Unit of the amounts of a source, next to sample counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Time in nanoseconds.
    Time,
    /// Live bytes, summed over censuses.
    Bytes,
}
