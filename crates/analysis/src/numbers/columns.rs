//! What is kept of the runtime's counters, as the graphs of the timeline want it.

use super::{Collection, Counters, Numbers};
use eventlog::ids::{CapId, Nanos};
use model::gauge::Samples;
use model::time::Interval;

/// The bytes of a megablock where the log does not tell (`rts/include/rts/Constants.h`).
const MEGABLOCK_BYTES: u64 = 1 << 20;

/// What becomes of sparks, in threes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SparkFates {
    /// Created; dud, as the value was there already; overflowed, as the pool
    /// was full.
    AtBirth,
    /// Converted, that is run; fizzled, as the value was computed meanwhile;
    /// garbage collected, as nobody needed it.
    AtEnd,
}

impl Numbers {
    /// Bytes that the runtime holds of the system's memory.
    #[must_use]
    pub fn heap_sizes(&self) -> impl Samples + use<'_> {
        self.heap_size.column(|bytes| *bytes)
    }

    /// Bytes that are live after collections of the oldest generation, when each
    /// of them told so (`HEAP_LIVE`).
    #[must_use]
    pub fn live(&self) -> impl Samples + use<'_> {
        &self.live
    }

    /// Whether the log tells how much is allocated.
    #[must_use]
    pub fn has_allocations(&self) -> bool {
        self.allocations().next().is_some()
    }

    /// Bytes allocated since the start, for each capability that tells.
    pub(crate) fn allocations(&self) -> impl Iterator<Item = impl Samples + use<'_>> {
        self.allocations_by_cap().map(|(_, bytes)| bytes)
    }

    /// Bytes allocated since the start, for each capability that tells, with the capability.
    pub fn allocations_by_cap(&self) -> impl Iterator<Item = (CapId, impl Samples + use<'_>)> {
        let caps = self.allocated.caps();
        caps.map(|(cap, steps)| (cap, steps.column(|bytes| *bytes)))
    }

    /// The most bytes that one capability allocated from a time to a later one, as far
    /// as it tells: it does so in collections (`HEAP_ALLOCATED`).
    #[must_use]
    pub fn most_allocated_bytes(&self, from: Nanos, to: Nanos) -> u64 {
        let until = |steps: &dyn Fn(u64) -> u64| steps(to.0).saturating_sub(steps(from.0));
        let grown = self.allocations().map(|steps| {
            until(&|time| {
                let last = steps.first_after(time).checked_sub(1);
                last.map_or(0, |last| steps.value(last))
            })
        });
        grown.max().unwrap_or(0)
    }

    /// The capabilities with counters of sparks.
    pub fn spark_caps(&self) -> impl Iterator<Item = CapId> {
        self.spark_counters.caps().map(|(cap, _)| cap)
    }

    /// Three counters of the sparks of a capability.
    #[must_use]
    pub fn sparks_of(&self, cap: CapId, fates: SparkFates) -> Option<[impl Samples + use<'_>; 3]> {
        let of: [fn(&Counters) -> u64; 3] = match fates {
            SparkFates::AtBirth => [|c| c.created, |c| c.dud, |c| c.overflowed],
            SparkFates::AtEnd => [|c| c.converted, |c| c.fizzled, |c| c.gcd],
        };
        let steps = self.spark_counters.cap(cap)?;
        Some(of.map(|of| steps.column(of)))
    }

    /// How many sparks wait in the pool of a capability.
    #[must_use]
    pub fn sparks_waiting(&self, cap: CapId) -> Option<impl Samples + use<'_>> {
        Some(self.spark_counters.cap(cap)?.column(|c| c.remaining))
    }

    /// The bytes of a megablock.
    pub(crate) fn megablock_bytes(&self) -> u64 {
        let told = self.heap_info.map(|info| info.megablock_bytes);
        told.filter(|bytes| *bytes > 0).unwrap_or(MEGABLOCK_BYTES)
    }

    /// The collections with statistics, in the order in which they end.
    pub fn told_collections(&self) -> &[Collection] {
        &self.collections.all
    }

    /// Those before a range of a log that ends at `end`, and those that begin
    /// inside of it; without a range all begin inside.
    pub(crate) fn told_around(
        &self,
        end: Nanos,
        range: Option<Interval>,
    ) -> (&[Collection], impl Iterator<Item = &Collection>) {
        let window = Self::window(end, range);
        let all = &self.collections.all[..];
        let places = self.collections.tallies.places(all, window);
        let before = all.get(..places.start).unwrap_or_default();
        let inside = all.get(places).unwrap_or_default().iter();
        (before, inside.filter(move |gc| window.has(gc.start.0)))
    }

    /// Those without, known once the log is read.
    pub(crate) fn untold_collections(&self) -> &[Collection] {
        &self.collections.untold
    }

    /// How many collections there are.
    pub fn collection_count(&self) -> usize {
        self.collections.all.len() + self.collections.untold.len()
    }

    /// The collection of that number; the first is 1.
    pub fn collection(&self, number: u32) -> Option<&Collection> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        let (told, untold) = (&self.collections.all, &self.collections.untold);
        told.get(place).or_else(|| untold.get(place - told.len()))
    }

    /// Whether a generation is the oldest, as far as is known.
    pub fn is_oldest(&self, generation: u16) -> bool {
        self.oldest_generation()
            .is_some_and(|oldest| generation >= oldest)
    }
}
