//! Columns of the runtime's counters, for graphs of the timeline.

use super::{Collection, Counters, Numbers};
use eventlog::ids::{CapId, Nanos};
use model::gauge::Samples;
use model::time::Interval;

/// Default megablock size, if the log does not have it (`rts/include/rts/Constants.h`).
const MEGABLOCK_BYTES: u64 = 1 << 20;

/// Groups of three spark counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SparkFates {
    /// Created; dud (already evaluated); overflowed (pool full).
    AtBirth,
    /// Converted (run); fizzled (evaluated in the meantime); garbage collected (not needed).
    AtEnd,
}

impl Numbers {
    /// Returns the memory held from the operating system, in bytes over time.
    pub fn heap_sizes(&self) -> impl Samples + use<'_> {
        self.heap_size.column(|bytes| *bytes)
    }

    /// Returns the live bytes reported by collections of the oldest generation (`HEAP_LIVE`).
    pub fn live(&self) -> impl Samples + use<'_> {
        &self.live
    }

    /// Returns the samples of the memory held in a range, with their times, after the value held at its start, if that
    /// is known. `end` is the end of the log.
    pub fn heap_sizes_in(
        &self,
        end: Nanos,
        range: Interval,
    ) -> impl Iterator<Item = (u64, u64)> + use<'_> {
        let window = self.window(end, Some(range));
        let mut samples = self.heap_size_samples.within(window).peekable();
        let has_value_at_start = samples.peek().is_some_and(|(at, _)| *at == window.from);
        let (before, _) = self.heap_size.ends(window);
        let at_start = before.filter(|_| !has_value_at_start);
        at_start
            .map(|bytes| (window.from, bytes))
            .into_iter()
            .chain(samples)
    }

    /// Returns the live bytes reported in a range, with their times. `end` is the end of the log.
    pub fn live_in(
        &self,
        end: Nanos,
        range: Interval,
    ) -> impl Iterator<Item = (u64, u64)> + use<'_> {
        self.live.within(self.window(end, Some(range)))
    }

    /// Returns whether the log has allocation counters.
    pub fn has_allocations(&self) -> bool {
        self.allocations().next().is_some()
    }

    /// Returns the bytes allocated since the start, for each capability with a counter.
    pub(crate) fn allocations(&self) -> impl Iterator<Item = impl Samples + use<'_>> {
        self.allocations_by_cap().map(|(_, bytes)| bytes)
    }

    /// Returns the capabilities with an allocation counter, and their bytes allocated since the start.
    pub fn allocations_by_cap(&self) -> impl Iterator<Item = (CapId, impl Samples + use<'_>)> {
        let caps = self.allocated.caps();
        caps.map(|(cap, steps)| (cap, steps.column(|bytes| *bytes)))
    }

    /// Returns the most bytes that one capability allocated between two times.
    ///
    /// Its counter is sampled in collections (`HEAP_ALLOCATED`).
    pub fn most_allocated_bytes(&self, from: Nanos, to: Nanos) -> u64 {
        let grown = self.allocated.caps().map(|(_, steps)| {
            let [before, after] = [from, to].map(|time| steps.at(time.0).unwrap_or(0));
            after.saturating_sub(before)
        });
        grown.max().unwrap_or(0)
    }

    /// Returns the capabilities with spark counters.
    pub fn spark_caps(&self) -> impl Iterator<Item = CapId> {
        self.spark_counters.caps().map(|(cap, _)| cap)
    }

    /// Returns three spark counters of a capability.
    pub fn sparks_of(&self, cap: CapId, fates: SparkFates) -> Option<[impl Samples + use<'_>; 3]> {
        let of: [fn(&Counters) -> u64; 3] = match fates {
            SparkFates::AtBirth => [|c| c.created, |c| c.dud, |c| c.overflowed],
            SparkFates::AtEnd => [|c| c.converted, |c| c.fizzled, |c| c.gcd],
        };
        let steps = self.spark_counters.cap(cap)?;
        Some(of.map(|of| steps.column(of)))
    }

    /// Returns the number of sparks in the pool of a capability.
    pub fn sparks_waiting(&self, cap: CapId) -> Option<impl Samples + use<'_>> {
        Some(self.spark_counters.cap(cap)?.column(|c| c.remaining))
    }

    /// Returns the megablock size in bytes.
    pub(crate) fn megablock_bytes(&self) -> u64 {
        let told = self.heap_info.map(|info| info.megablock_bytes);
        told.filter(|bytes| *bytes > 0).unwrap_or(MEGABLOCK_BYTES)
    }

    /// Returns the collections with statistics, in the order in which they end.
    pub fn collections_with_statistics(&self) -> &[Collection] {
        &self.collections.all
    }

    /// Splits the collections with statistics into those before a range and those that begin in it.
    ///
    /// Without a range, all begin in it. `end` is the end of the log.
    pub(crate) fn collections_around(
        &self,
        end: Nanos,
        range: Option<Interval>,
    ) -> (&[Collection], impl Iterator<Item = &Collection>) {
        let window = self.window(end, range);
        let all = &self.collections.all[..];
        let places = self.collections.tallies.indexes_in(all, window);
        let before = all.get(..places.start).unwrap_or_default();
        let inside = all.get(places).unwrap_or_default().iter();
        (before, inside.filter(move |gc| window.contains(gc.start.0)))
    }

    /// Returns the collections without statistics; empty until the log has been read to its end.
    pub(crate) fn collections_without_statistics(&self) -> &[Collection] {
        &self.collections.without_statistics
    }

    /// Returns the number of collections, with and without statistics.
    pub fn collection_count(&self) -> usize {
        self.collections.all.len() + self.collections.without_statistics.len()
    }

    /// Returns the collection with this number; numbers begin at 1.
    pub fn collection(&self, number: u32) -> Option<&Collection> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        let (with_statistics, without_statistics) =
            (&self.collections.all, &self.collections.without_statistics);
        with_statistics
            .get(place)
            .or_else(|| without_statistics.get(place - with_statistics.len()))
    }

    /// Returns whether a generation is the oldest known.
    pub fn is_oldest(&self, generation: u16) -> bool {
        self.oldest_generation()
            .is_some_and(|oldest| generation >= oldest)
    }
}
