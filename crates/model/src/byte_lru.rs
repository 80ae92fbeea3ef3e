//! A cache of computed or loaded values that evicts the least recently used ones beyond a byte limit.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eventlog::hash::SeededState;
use lru::LruCache;

/// An LRU cache by key, limited in bytes. A clone begins empty, with the same limit.
#[derive(Debug)]
pub struct ByteLru<K: Eq + Hash, V: ?Sized> {
    most_bytes: u64,
    state: Mutex<LruState<K, V>>,
}

#[derive(Debug)]
struct LruState<K: Eq + Hash, V: ?Sized> {
    bytes: u64,
    /// Each value with its size in bytes.
    entries: LruCache<K, (Arc<V>, u64), SeededState>,
}

impl<K: Eq + Hash, V: ?Sized> Default for ByteLru<K, V> {
    /// Creates a cache with a limit of 128 MiB, little compared with the memory that a large log needs.
    fn default() -> Self {
        Self::new(128 << 20)
    }
}

impl<K: Eq + Hash, V: ?Sized> Clone for ByteLru<K, V> {
    fn clone(&self) -> Self {
        Self::new(self.most_bytes)
    }
}

impl<K: Eq + Hash, V: ?Sized> ByteLru<K, V> {
    /// Creates a cache that holds up to `most_bytes` of values.
    pub fn new(most_bytes: u64) -> Self {
        Self {
            most_bytes,
            state: Mutex::new(LruState {
                bytes: 0,
                entries: LruCache::unbounded_with_hasher(SeededState::default()),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, LruState<K, V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value of a key, if it is cached, and marks it as recently used.
    pub fn get(&self, key: &K) -> Option<Arc<V>> {
        let mut state = self.lock();
        let (value, _) = state.entries.get(key)?;
        Some(Arc::clone(value))
    }

    /// Inserts a value of `bytes` bytes and evicts the least recently used ones beyond the limit.
    ///
    /// The newest value always stays, even if it is larger than the limit.
    pub fn insert(&self, key: K, value: Arc<V>, bytes: u64) -> Arc<V> {
        let mut state = self.lock();
        state.bytes += bytes;
        let before = state.entries.put(key, (Arc::clone(&value), bytes));
        state.bytes -= before.map_or(0, |(_, bytes)| bytes);
        while state.bytes > self.most_bytes && state.entries.len() > 1 {
            let oldest = state.entries.pop_lru();
            state.bytes -= oldest.map_or(0, |(_, (_, bytes))| bytes);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_wanted_for_longest_goes() {
        let numbers: ByteLru<u32, u32> = ByteLru::new(100);
        for number in 0..4 {
            numbers.insert(number, Arc::new(number), 30);
            numbers.get(&0);
        }
        let state = |key| numbers.get(&key).is_some();
        assert_eq!([0, 1, 2, 3].map(state), [true, false, true, true]);
        numbers.insert(2, Arc::new(7), 90);
        assert_eq!([0, 1, 2, 3].map(state), [false, false, true, false]);
        numbers.insert(5, Arc::new(5), 1_000);
        assert_eq!(numbers.get(&5).as_deref(), Some(&5));
        assert!(!state(2) && numbers.clone().get(&5).is_none());
    }
}
