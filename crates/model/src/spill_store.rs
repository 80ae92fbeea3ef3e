//! Storage for packed columns: in memory up to a budget, beyond that spilled to a file and read back on access.
//!
//! Stored data is immutable: it is written once, and dropping it needs no write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use eventlog::Backing;

use crate::byte_lru::ByteLru;

/// Storage for lists of words. Clones share the same storage.
#[derive(Clone, Debug, Default)]
pub struct SpillStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Most bytes to hold in memory, not counting the cache.
    budget_bytes: u64,
    backing: Option<Box<dyn Backing>>,
    used_bytes: Arc<AtomicU64>,
    spilled_bytes: AtomicU64,
    exceeded_budget: AtomicBool,
    unreadable: AtomicBool,
    /// Lists read back from the backing, by their offset in it.
    cache: ByteLru<u64, [u64]>,
}

impl Default for Inner {
    fn default() -> Self {
        Self::new(u64::MAX, None)
    }
}

impl Inner {
    fn new(budget_bytes: u64, backing: Option<Box<dyn Backing>>) -> Self {
        /// The cache of spilled lists gets one part in this many of the budget.
        const CACHE_SHARE: u64 = 4;
        let cache_bytes = backing.as_ref().map_or(0, |_| budget_bytes / CACHE_SHARE);
        Self {
            budget_bytes: budget_bytes - cache_bytes,
            backing,
            used_bytes: Arc::default(),
            spilled_bytes: AtomicU64::new(0),
            exceeded_budget: AtomicBool::new(false),
            unreadable: AtomicBool::new(false),
            cache: ByteLru::new(cache_bytes),
        }
    }
}

fn bytes_of(words: &[u64]) -> u64 {
    size_of_val(words) as u64
}

impl SpillStore {
    /// Creates storage that holds up to `budget_bytes` in memory and spills the rest to `backing`.
    ///
    /// Without a backing, or when it is full, everything stays in memory, which
    /// [`exceeded_budget`](Self::exceeded_budget) reports.
    pub fn new(budget_bytes: u64, backing: Option<Box<dyn Backing>>) -> Self {
        Self {
            inner: Arc::new(Inner::new(budget_bytes, backing)),
        }
    }

    /// Returns the bytes held in memory, including those [charged for others](Self::charge_external).
    pub fn used_bytes(&self) -> u64 {
        self.inner.used_bytes.load(Ordering::Relaxed)
    }

    /// Charges `bytes` of memory held by others to the budget, which leaves less for later lists.
    pub fn charge_external(&self, bytes: u64) {
        let used_bytes = &self.inner.used_bytes;
        used_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes spilled to the backing.
    pub fn spilled_bytes(&self) -> u64 {
        self.inner.spilled_bytes.load(Ordering::Relaxed)
    }

    /// Returns whether the budget was exceeded because the backing was missing or full.
    pub fn exceeded_budget(&self) -> bool {
        self.inner.exceeded_budget.load(Ordering::Relaxed)
    }

    /// Returns whether reading spilled data back ever failed. Results computed from that data are wrong.
    pub fn is_unreadable(&self) -> bool {
        self.inner.unreadable.load(Ordering::Relaxed)
    }

    /// Stores a list of words, in memory if the budget allows, else in the backing.
    pub fn store(&self, words: &[u64]) -> StoredWords {
        let inner = &*self.inner;
        if self.used_bytes() + bytes_of(words) > inner.budget_bytes {
            if let Some(at) = self.spill(words) {
                return StoredWords::Spilled(SpilledWords {
                    spill_store: self.clone(),
                    at,
                    words: words.len(),
                });
            }
            inner.exceeded_budget.store(true, Ordering::Relaxed);
        }
        let used_bytes = Arc::clone(&inner.used_bytes);
        used_bytes.fetch_add(bytes_of(words), Ordering::Relaxed);
        StoredWords::Resident(Arc::new(ResidentWords {
            words: words.into(),
            used_bytes,
        }))
    }

    fn spill(&self, words: &[u64]) -> Option<u64> {
        let le: Vec<u64> = words.iter().map(|word| word.to_le()).collect();
        let at = self
            .inner
            .backing
            .as_ref()?
            .append(bytemuck::cast_slice(&le))?;
        let spilled_bytes = &self.inner.spilled_bytes;
        spilled_bytes.fetch_add(bytes_of(words), Ordering::Relaxed);
        Some(at)
    }
}

/// A handle to a stored list of words.
#[derive(Clone, Debug)]
pub enum StoredWords {
    /// Held in memory.
    Resident(Arc<ResidentWords>),
    /// Spilled to the backing.
    Spilled(SpilledWords),
}

/// Location of a list of words in the backing.
#[derive(Clone, Debug)]
pub struct SpilledWords {
    spill_store: SpillStore,
    /// Byte offset in the backing.
    at: u64,
    /// Length in words.
    words: usize,
}

impl SpilledWords {
    /// Reads the words, from the cache if possible. If reading fails, returns zeros and sets
    /// [`SpillStore::is_unreadable`].
    pub fn fetch(&self) -> Arc<[u64]> {
        let inner = &*self.spill_store.inner;
        if let Some(words) = inner.cache.get(&self.at) {
            return words;
        }
        let mut all: Arc<[u64]> = std::iter::repeat_n(0, self.words).collect();
        let backing = inner.backing.as_ref();
        // The `Arc` is not shared yet, so this always succeeds.
        let into = Arc::get_mut(&mut all).unwrap_or_default();
        if !backing.is_some_and(|backing| backing.read(self.at, bytemuck::cast_slice_mut(into))) {
            inner.unreadable.store(true, Ordering::Relaxed);
            into.fill(0);
        }
        into.iter_mut().for_each(|word| *word = u64::from_le(*word));
        let bytes = bytes_of(&all);
        inner.cache.insert(self.at, all, bytes)
    }
}

/// Words in memory, charged to the budget until they are dropped.
#[derive(Debug)]
pub struct ResidentWords {
    words: Box<[u64]>,
    used_bytes: Arc<AtomicU64>,
}

impl Drop for ResidentWords {
    fn drop(&mut self) {
        self.used_bytes
            .fetch_sub(bytes_of(&self.words), Ordering::Relaxed);
    }
}

impl StoredWords {
    /// Calls `look` with the words, reading them back first if they were spilled.
    #[inline]
    pub fn with<R>(&self, look: impl FnOnce(&[u64]) -> R) -> R {
        match self {
            Self::Resident(here) => look(&here.words),
            Self::Spilled(away) => look(&away.fetch()),
        }
    }
}

/// In-memory backing for tests.
#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Debug, Default)]
    pub(crate) struct List(Mutex<Vec<u8>>);

    impl Backing for List {
        fn append(&self, bytes: &[u8]) -> Option<u64> {
            let mut all = self.0.lock().ok()?;
            let at = all.len() as u64;
            all.extend_from_slice(bytes);
            Some(at)
        }
        fn read(&self, at: u64, into: &mut [u8]) -> bool {
            let Ok(all) = self.0.lock() else { return false };
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let Some(bytes) = all.get(at..).and_then(|all| all.get(..into.len())) else {
                return false;
            };
            into.copy_from_slice(bytes);
            true
        }
    }

    #[test]
    fn what_is_beyond_the_budget_is_put_away_and_comes_back() {
        let spill_store = SpillStore::new(64, Some(Box::<List>::default()));
        let stored: Vec<StoredWords> = (0..9)
            .map(|i| spill_store.store(&[i, i + 1, i + 2]))
            .collect();
        assert_eq!(spill_store.used_bytes(), 48);
        assert_eq!(spill_store.spilled_bytes(), 7 * 24);
        for (i, stored) in (0..).zip(&stored).chain((0..).zip(&stored)) {
            assert_eq!(stored.with(<[u64]>::to_vec), [i, i + 1, i + 2]);
        }
        assert!(!spill_store.exceeded_budget() && !spill_store.is_unreadable());
        drop(stored);
        assert_eq!(spill_store.used_bytes(), 0);
    }

    #[test]
    fn without_another_place_it_stays_in_memory() {
        let spill_store = SpillStore::new(8, None);
        let stored = [spill_store.store(&[1]), spill_store.store(&[2])];
        assert!(spill_store.exceeded_budget());
        assert_eq!(stored[1].with(<[u64]>::to_vec), [2]);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        #[derive(Debug)]
        struct Lost;
        impl Backing for Lost {
            fn append(&self, _: &[u8]) -> Option<u64> {
                Some(0)
            }
            fn read(&self, _: u64, _: &mut [u8]) -> bool {
                false
            }
        }
        let spill_store = SpillStore::new(0, Some(Box::new(Lost)));
        assert_eq!(spill_store.store(&[7]).with(<[u64]>::to_vec), [0]);
        assert!(spill_store.is_unreadable());
    }
}
