//! Memory budget and memory use of an open log.

use std::sync::Arc;

use super::Session;
use analysis::diagnostics::{Diagnostic, Fact};
use eventlog::Backing;
use model::spill_store::SpillStore;
use serde::{Deserialize, Serialize};

/// Memory budget of a tab or a process. It is a target, not an enforced limit: data that cannot be spilled stays
/// in memory, and the excess is reported as a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryBudget {
    /// Total for the tab or process.
    pub bytes: u64,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self { bytes: 1 << 30 }
    }
}

impl MemoryBudget {
    /// Memory that cannot be spilled: an empty tab with this page takes some 170 MiB, and the worker holds pieces
    /// and slices of a log that is being read.
    const OTHER_BYTES: u64 = 300 << 20;
    /// Log bytes per byte of unspillable data: messages, censuses, names and all indexes take about a tenth of the
    /// log's size.
    const INDEXED_BYTES: u64 = 10;

    /// Returns a budget of `mib` MiB.
    pub const fn from_mib(mib: u64) -> Self {
        Self {
            bytes: mib.saturating_mul(1 << 20),
        }
    }

    /// Returns how much spillable data may stay in memory: the budget less everything else, but at least an eighth
    /// of the budget.
    pub fn spill_store_bytes(self) -> u64 {
        self.spill_store_bytes_for(0)
    }

    /// Like `spill_store_bytes`, less the indexes of a log of `len` bytes.
    fn spill_store_bytes_for(self, len: u64) -> u64 {
        let other = Self::OTHER_BYTES.saturating_add(len / Self::INDEXED_BYTES);
        let left = self.bytes.saturating_sub(other);
        left.max(self.bytes / 8)
    }

    /// Returns the share of the budget for a log of `len` bytes, including its indexes.
    pub fn log_bytes(self, len: u64) -> u64 {
        self.spill_store_bytes_for(len)
            .saturating_add(len / Self::INDEXED_BYTES)
    }

    /// Returns the budget that remains for one log when others take `others_bytes`; at least a quarter.
    #[must_use]
    pub fn reserving(self, others_bytes: u64) -> Self {
        let left = self.bytes.saturating_sub(others_bytes);
        let bytes = left.max(self.bytes / 4);
        Self { bytes }
    }

    /// Returns the budget of each of two logs, which split what the page itself leaves.
    #[must_use]
    pub fn per_log_of_two(self) -> Self {
        self.reserving(self.bytes.saturating_sub(Self::OTHER_BYTES) / 2)
    }

    /// Returns the inflated size above which a compressed log is spilled to a file, if there is one.
    pub fn inflated_bytes(self) -> u64 {
        /// Most compressed logs inflate to less than this.
        const MOST: u64 = 64 << 20;
        self.spill_store_bytes().min(MOST)
    }

    /// Returns whether a file of `len` bytes certainly fits. Compressed files grow about a thousandfold at most
    /// (gzip: exactly 1,032 times), and the data kept of a log is smaller than the log.
    pub fn is_small(self, len: u64) -> bool {
        len < self.spill_store_bytes() / 1024
    }
}

/// Memory use of an open log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// Spillable data that is in memory.
    pub resident_bytes: u64,
    /// Data spilled to a file.
    pub spilled_bytes: u64,
}

impl Session {
    /// Opens a file of `len` bytes within a budget. Excess data is spilled to `backing`; without one, everything
    /// stays in memory.
    pub fn with_memory_budget(
        len: u64,
        memory: MemoryBudget,
        backing: Option<Arc<dyn Backing>>,
    ) -> Self {
        let spill_store_bytes = memory.spill_store_bytes_for(len);
        let behind = backing
            .clone()
            .map(|file| Box::new(file) as Box<dyn Backing>);
        let session = Self {
            memory,
            ..Self::new(len).with_spill_store(SpillStore::new(spill_store_bytes, behind))
        };
        match backing {
            Some(backing) => session.with_inflate_backing(backing),
            None => session,
        }
    }

    /// Spills the inflated bytes of a large compressed log to `backing`.
    #[must_use]
    pub fn with_inflate_backing(self, backing: Arc<dyn Backing>) -> Self {
        let more_than_bytes = self.memory.inflated_bytes();
        Self {
            reader: self.reader.with_inflate_backing(backing, more_than_bytes),
            ..self
        }
    }

    /// Charges the index of very small blocks, as far as it exceeds the allowance for indexes.
    pub(crate) fn charge_index(&self) {
        let set_aside = self.reader.len().0 / MemoryBudget::INDEXED_BYTES;
        let bytes = self.reader.index().memory_bytes();
        self.spill_store
            .charge_external(bytes.saturating_sub(set_aside));
    }

    /// Returns the current memory use.
    pub fn memory_use(&self) -> MemoryUse {
        let inflated = self
            .inflated()
            .map(eventlog::Inflated::resident_and_spilled_bytes);
        let (resident_bytes, spilled_bytes) = inflated.unwrap_or_default();
        MemoryUse {
            resident_bytes: resident_bytes + self.spill_store.used_bytes(),
            spilled_bytes: spilled_bytes + self.spill_store.spilled_bytes(),
        }
    }

    /// Returns warnings about memory: an exceeded budget, and spilled data that could not be read back.
    pub fn memory_diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let MemoryUse { resident_bytes, .. } = self.memory_use();
        let allowed_bytes = self.memory.spill_store_bytes();
        let inflated = self
            .inflated()
            .map(eventlog::Inflated::resident_and_spilled_bytes);
        let is_exceeded = self.spill_store.exceeded_budget()
            || inflated.is_some_and(|(resident_bytes, _)| resident_bytes > allowed_bytes);
        let exceeded = is_exceeded.then_some(Fact::MemoryExceeded {
            resident_bytes,
            allowed_bytes,
        });
        let lost = self.spill_store.is_unreadable().then_some(Fact::SpillLost);
        exceeded.into_iter().chain(lost).map(Diagnostic::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_tab_counts() {
        assert_eq!(MemoryBudget::default().spill_store_bytes(), 724 << 20);
        assert_eq!(MemoryBudget::from_mib(8).spill_store_bytes(), 1 << 20);
        assert_eq!(
            MemoryBudget::default().spill_store_bytes_for(2000 << 20),
            524 << 20
        );
        assert_eq!(
            MemoryBudget::default().spill_store_bytes_for(1 << 40),
            128 << 20
        );
        assert_eq!(MemoryBudget { bytes: 0 }.spill_store_bytes(), 0);
        assert_eq!(
            MemoryBudget::default().per_log_of_two().spill_store_bytes(),
            362 << 20
        );
        let reserving = MemoryBudget::default().reserving(24 << 20);
        assert_eq!(reserving.spill_store_bytes(), 700 << 20);
        let least = MemoryBudget::default().reserving(u64::MAX);
        assert_eq!(least.spill_store_bytes(), 32 << 20);
        assert!(MemoryBudget::default().is_small(700_000));
        assert!(!MemoryBudget::default().is_small(1 << 20));
    }
}
