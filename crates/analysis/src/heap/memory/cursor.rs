//! Computes the memory after each collection, in order.

use super::{MemoryFlags, MemoryMoment, MemoryPart, MemoryParts, ReturnedMemory};
use crate::numbers::Collection;
use crate::recording::Recording;

/// Figures of the last major collection, valid until the next.
#[derive(Clone, Copy, Debug)]
struct MajorFigures {
    live_bytes: u64,
    /// Bytes of blocks with live data, including their unused ends.
    live_blocks_bytes: u64,
    slop_bytes: u64,
    runtime_bytes: u64,
    /// Bytes held beyond the need; `None` if the log does not have the need.
    stuck_bytes: Option<u64>,
    needed_bytes: Option<u64>,
}

/// Cursor over collections that tracks the memory held.
#[derive(Debug)]
pub(super) struct MemoryCursor<'a> {
    log: &'a Recording,
    flags: MemoryFlags,
    /// Sorted creation times of capabilities, and their deletion times.
    lives: [Vec<u64>; 2],
    last_major: Option<MajorFigures>,
    last: Option<MemoryMoment>,
}

impl<'a> MemoryCursor<'a> {
    /// Creates a cursor positioned after these collections.
    pub(super) fn starting_after(log: &'a Recording, before: &[Collection]) -> Self {
        let caps = || log.info.lives.caps();
        let mut lives = [
            caps().map(|(_, life)| life.start().0).collect::<Vec<_>>(),
            caps().map(|(_, life)| life.end().0).collect(),
        ];
        lives.iter_mut().for_each(|times| times.sort_unstable());
        let mut cursor = Self {
            log,
            flags: MemoryFlags::from_recording(log),
            lives,
            last_major: None,
            last: None,
        };
        // Only the last collection and the last major one have a lasting effect.
        let told = |gc: &&Collection| gc.heap_size_bytes.is_some();
        let major = before
            .iter()
            .rfind(|gc| told(gc) && gc.live_bytes.is_some());
        let last = before.iter().rfind(told);
        for gc in [major, last].into_iter().flatten() {
            cursor.step(gc);
        }
        cursor
    }

    pub(super) const fn flags(&self) -> &MemoryFlags {
        &self.flags
    }

    /// Returns the memory after the last collection.
    pub(super) const fn last(&self) -> Option<MemoryMoment> {
        self.last
    }

    /// Advances past a collection, and returns the memory after it; `None` if the log does not have the memory
    /// held.
    pub(super) fn step(&mut self, gc: &Collection) -> Option<MemoryMoment> {
        let held_bytes = gc.heap_size_bytes?;
        let in_use = held_bytes.saturating_sub(gc.fragmentation_bytes);
        let capabilities = self.capabilities_at(gc.end.0);
        if let Some(live_bytes) = gc.live_bytes {
            self.last_major = Some(self.major_figures(gc, live_bytes, in_use, capabilities));
        }
        let last_major = self.last_major;
        let parts = self.divide(held_bytes, in_use, capabilities);
        let expected = last_major.and_then(|last_major| {
            self.flags
                .expected_bytes(last_major.live_blocks_bytes, capabilities)
        });
        let moment = MemoryMoment {
            at: gc.end,
            collection: gc.number,
            major: gc.live_bytes.is_some(),
            held_bytes,
            parts,
            live_bytes: last_major.map(|last_major| last_major.live_bytes),
            needed_bytes: last_major.and_then(|last_major| last_major.needed_bytes),
            expected_bytes: expected,
            capabilities,
        };
        self.last = Some(moment);
        Some(moment)
    }

    fn major_figures(
        &self,
        gc: &Collection,
        live_bytes: u64,
        in_use: u64,
        capabilities: u64,
    ) -> MajorFigures {
        let live_blocks_bytes = live_bytes.saturating_add(gc.slop_bytes);
        let beyond_live = in_use.saturating_sub(live_blocks_bytes);
        let nurseries = self.nurseries_bytes(capabilities);
        let needed_bytes = self.logged_return(gc).map(|[_, needed, _]| needed);
        MajorFigures {
            live_bytes,
            live_blocks_bytes,
            slop_bytes: gc.slop_bytes,
            // Without the size of nurseries, the rest cannot be attributed.
            runtime_bytes: nurseries.map_or(0, |bytes| beyond_live.saturating_sub(bytes)),
            stuck_bytes: needed_bytes
                .map(|needed| gc.heap_size_bytes.unwrap_or(0).saturating_sub(needed)),
            needed_bytes,
        }
    }

    /// Divides the memory held. Each part takes at most what is left, so the parts add up.
    fn divide(&self, held_bytes: u64, in_use: u64, capabilities: u64) -> MemoryParts {
        let mut parts = MemoryParts::default();
        let mut used = Remainder(in_use);
        let mut free = Remainder(held_bytes.saturating_sub(in_use));
        let nurseries = self.nurseries_bytes(capabilities);
        if let Some(last_major) = self.last_major {
            parts.put(MemoryPart::Live, used.take(last_major.live_bytes));
            parts.put(MemoryPart::Slop, used.take(last_major.slop_bytes));
            parts.put(MemoryPart::Nursery, used.take(nurseries.unwrap_or(0)));
            parts.put(MemoryPart::Runtime, used.take(last_major.runtime_bytes));
            let rest = if nurseries.is_some() {
                MemoryPart::Grown
            } else {
                MemoryPart::Unknown
            };
            parts.put(rest, used.0);
        } else {
            parts.put(MemoryPart::Nursery, used.take(nurseries.unwrap_or(0)));
            parts.put(MemoryPart::Unknown, used.0);
        }
        match self
            .last_major
            .and_then(|last_major| last_major.stuck_bytes)
        {
            Some(stuck) => {
                parts.put(MemoryPart::Stuck, free.take(stuck));
                parts.put(MemoryPart::Reserve, free.0);
            }
            None => parts.put(MemoryPart::Free, free.0),
        }
        parts
    }

    /// Adds the memory returned at a major collection to `sum`.
    pub(super) fn add_returned(&self, gc: &Collection, sum: &mut ReturnedMemory) {
        let Some([current, needed, returned]) = self.logged_return(gc) else {
            return;
        };
        sum.asked += u64::from(current > needed);
        sum.returned_bytes = sum.returned_bytes.saturating_add(returned);
    }

    /// Returns the bytes held before, needed, and returned by a collection, as logged during it (`MemReturn`).
    fn logged_return(&self, gc: &Collection) -> Option<[u64; 3]> {
        let megablocks = self.log.tracks.graphs.returned_at(gc.end)?;
        let bytes = self.log.numbers.megablock_bytes();
        Some(megablocks.map(|count| u64::from(count).saturating_mul(bytes)))
    }

    fn nurseries_bytes(&self, capabilities: u64) -> Option<u64> {
        let one = self.flags.nursery_bytes()?;
        Some(one.saturating_mul(capabilities))
    }

    fn capabilities_at(&self, time: u64) -> u64 {
        let [came, went] = &self.lives;
        let came = came.partition_point(|&at| at <= time);
        let went = went.partition_point(|&at| at < time);
        came.saturating_sub(went) as u64
    }
}

/// Bytes not assigned yet.
struct Remainder(u64);

impl Remainder {
    /// Takes up to `bytes` of the rest.
    const fn take(&mut self, bytes: u64) -> u64 {
        let taken = if bytes < self.0 { bytes } else { self.0 };
        self.0 -= taken;
        taken
    }
}
