//! How much memory an open log may take, and how much it takes.

use std::sync::Arc;

use super::Session;
use analysis::diagnostics::{Diagnostic, Fact};
use eventlog::Backing;
use model::shelf::Shelf;
use serde::{Deserialize, Serialize};

/// How much memory a tab, or a process, may take. It is no limit that the system enforces:
/// what has no other place stays in memory, which is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryBudget {
    /// All of it.
    pub bytes: u64,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self { bytes: 1 << 30 }
    }
}

impl MemoryBudget {
    /// What is taken beside what can be put away. An empty tab with this page takes some 170 MiB,
    /// and while a log is read its worker has pieces and slices of it.
    const OTHER_BYTES: u64 = 300 << 20;
    /// Messages, censuses, names and all indexes stay in memory: of each so many bytes of a log
    /// about one.
    const INDEXED_BYTES: u64 = 10;

    /// So many MiB.
    #[must_use]
    pub const fn of_mib(mib: u64) -> Self {
        Self {
            bytes: mib.saturating_mul(1 << 20),
        }
    }

    /// How much of what can be put away may be in memory: what the rest leaves, an eighth at
    /// the least.
    #[must_use]
    pub const fn shelf_bytes(self) -> u64 {
        self.shelf_bytes_of(0)
    }

    /// The same for a log of `len` bytes.
    const fn shelf_bytes_of(self, len: u64) -> u64 {
        let other = Self::OTHER_BYTES.saturating_add(len / Self::INDEXED_BYTES);
        let left = self.bytes.saturating_sub(other);
        let least = self.bytes / 8;
        if left > least { left } else { least }
    }

    /// How much a log of `len` bytes may take of it, indexes and all.
    #[must_use]
    pub const fn log_bytes(self, len: u64) -> u64 {
        self.shelf_bytes_of(len)
            .saturating_add(len / Self::INDEXED_BYTES)
    }

    /// What it leaves for a log beside others that take so many bytes: a quarter at the least.
    #[must_use]
    pub const fn beside(self, others_bytes: u64) -> Self {
        let left = self.bytes.saturating_sub(others_bytes);
        let least = self.bytes / 4;
        Self {
            bytes: if left > least { left } else { least },
        }
    }

    /// That of each of two logs, which share what the page leaves.
    #[must_use]
    pub const fn half(self) -> Self {
        self.beside(self.bytes.saturating_sub(Self::OTHER_BYTES) / 2)
    }

    /// A compressed log that is larger, inflated, is put into a file, if there is one.
    #[must_use]
    pub const fn inflated_bytes(self) -> u64 {
        /// Most compressed logs are smaller than that, inflated.
        const MOST: u64 = 64 << 20;
        let shelf_bytes = self.shelf_bytes();
        if MOST < shelf_bytes {
            MOST
        } else {
            shelf_bytes
        }
    }

    /// Whether a file of `len` bytes may turn out to take more. A compressed one becomes a
    /// thousand times as long at most (in gzip exactly 1,032 times), and what is kept of a log
    /// is less than the log.
    #[must_use]
    pub const fn is_small(self, len: u64) -> bool {
        len < self.shelf_bytes() / 1024
    }
}

/// How much an open log takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// In memory, of what can be put away.
    pub here_bytes: u64,
    /// Put away.
    pub away_bytes: u64,
}

impl Session {
    /// Opens a file of `len` bytes within a budget. What there is no memory for goes to
    /// `backing`; without it, all stays in memory.
    #[must_use]
    pub fn within(len: u64, memory: MemoryBudget, backing: Option<Arc<dyn Backing>>) -> Self {
        let shelf_bytes = memory.shelf_bytes_of(len);
        let behind = backing
            .clone()
            .map(|file| Box::new(file) as Box<dyn Backing>);
        let session = Self {
            memory,
            ..Self::new(len).with_shelf(Shelf::new(shelf_bytes, behind))
        };
        match backing {
            Some(backing) => session.inflating_to(backing),
            None => session,
        }
    }

    /// Puts a compressed log there, inflated, if it is large.
    #[must_use]
    pub fn inflating_to(self, backing: Arc<dyn Backing>) -> Self {
        let more_than_bytes = self.memory.inflated_bytes();
        Self {
            reader: self.reader.inflating_to(backing, more_than_bytes),
            ..self
        }
    }

    /// Counts what the index of very small blocks takes beyond what is set aside for indexes.
    pub(crate) fn count_index(&self) {
        let set_aside = self.reader.len().0 / MemoryBudget::INDEXED_BYTES;
        let bytes = self.reader.index().memory_bytes();
        self.shelf.count_elsewhere(bytes.saturating_sub(set_aside));
    }

    /// How much it takes.
    #[must_use]
    pub fn memory_use(&self) -> MemoryUse {
        let inflated = self.inflated().map(eventlog::Inflated::here_and_away_bytes);
        let (here_bytes, away_bytes) = inflated.unwrap_or_default();
        MemoryUse {
            here_bytes: here_bytes + self.shelf.used_bytes(),
            away_bytes: away_bytes + self.shelf.away_bytes(),
        }
    }

    /// What is to be said of it, which changes what a user can expect.
    pub fn about_memory(&self) -> impl Iterator<Item = Diagnostic> {
        let MemoryUse { here_bytes, .. } = self.memory_use();
        let allowed_bytes = self.memory.shelf_bytes();
        let inflated = self.inflated().map(eventlog::Inflated::here_and_away_bytes);
        let is_exceeded = self.shelf.had_no_room()
            || inflated.is_some_and(|(here_bytes, _)| here_bytes > allowed_bytes);
        let exceeded = is_exceeded.then_some(Fact::MemoryExceeded {
            here_bytes,
            allowed_bytes,
        });
        let lost = self.shelf.is_unreadable().then_some(Fact::PutAwayLost);
        exceeded.into_iter().chain(lost).map(Diagnostic::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_tab_counts() {
        assert_eq!(MemoryBudget::default().shelf_bytes(), 724 << 20);
        assert_eq!(MemoryBudget::of_mib(8).shelf_bytes(), 1 << 20);
        assert_eq!(
            MemoryBudget::default().shelf_bytes_of(2000 << 20),
            524 << 20
        );
        assert_eq!(MemoryBudget::default().shelf_bytes_of(1 << 40), 128 << 20);
        assert_eq!(MemoryBudget { bytes: 0 }.shelf_bytes(), 0);
        assert_eq!(MemoryBudget::default().half().shelf_bytes(), 362 << 20);
        let beside = MemoryBudget::default().beside(24 << 20);
        assert_eq!(beside.shelf_bytes(), 700 << 20);
        let least = MemoryBudget::default().beside(u64::MAX);
        assert_eq!(least.shelf_bytes(), 32 << 20);
        assert!(MemoryBudget::default().is_small(700_000));
        assert!(!MemoryBudget::default().is_small(1 << 20));
    }
}
