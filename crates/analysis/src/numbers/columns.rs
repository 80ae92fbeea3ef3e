//! What is kept of the runtime's counters, as the graphs of the timeline want it.

use super::{Collection, Counters, Numbers};
use crate::timeline::row::SparkGraph;
use eventlog::ids::CapId;
use model::gauge::Samples;

/// The bytes of a megablock where the log does not tell (`rts/include/rts/Constants.h`).
const MEGABLOCK_BYTES: u64 = 1 << 20;

impl Numbers {
    /// Bytes that the runtime holds of the system's memory.
    pub(crate) fn heap_sizes(&self) -> impl Samples + use<'_> {
        self.heap_size.column(|bytes| *bytes)
    }

    /// Bytes that are live after collections.
    pub(crate) fn live(&self) -> impl Samples + use<'_> {
        &self.live
    }

    /// Bytes allocated since the start, for each capability that tells.
    pub(crate) fn allocations(&self) -> impl Iterator<Item = impl Samples + use<'_>> {
        self.allocated
            .caps()
            .map(|(_, steps)| steps.column(|bytes| *bytes))
    }

    /// The capabilities with counters of sparks.
    pub(crate) fn spark_caps(&self) -> impl Iterator<Item = CapId> {
        self.spark_counters.caps().map(|(cap, _)| cap)
    }

    /// The sparks of a capability, as one of its graphs shows them: three
    /// counters, or how many wait three times.
    pub(crate) fn sparks_of(
        &self,
        cap: CapId,
        graph: SparkGraph,
    ) -> Option<[impl Samples + use<'_>; 3]> {
        let of: [fn(&Counters) -> u64; 3] = match graph {
            SparkGraph::Created => [|c| c.created, |c| c.dud, |c| c.overflowed],
            SparkGraph::Converted => [|c| c.converted, |c| c.fizzled, |c| c.gcd],
            SparkGraph::Pool => [|c| c.remaining; 3],
        };
        let steps = self.spark_counters.cap(cap)?;
        Some(of.map(|of| steps.column(of)))
    }

    /// The bytes of a megablock.
    pub(crate) fn megablock_bytes(&self) -> u64 {
        let told = self.heap_info.map(|info| info.megablock_bytes);
        told.filter(|bytes| *bytes > 0).unwrap_or(MEGABLOCK_BYTES)
    }

    /// All collections, in the order in which they end.
    pub fn all_collections(&self) -> &[Collection] {
        &self.collections.all
    }

    /// In a log without statistics of collections: when the program stood still.
    pub(crate) fn stops(&self) -> &[(u64, u64)] {
        &self.collections.stops
    }

    /// Whether a generation is the oldest, as far as is known.
    pub fn is_oldest(&self, generation: u16) -> bool {
        self.oldest_generation()
            .is_some_and(|oldest| generation >= oldest)
    }
}
