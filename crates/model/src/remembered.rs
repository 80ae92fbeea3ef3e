//! What was made or read once and may be wanted again, as much as there is memory for.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eventlog::hash::SeededState;
use lru::LruCache;

/// Things by key, those that were wanted last. A clone has none.
#[derive(Debug)]
pub struct Remembered<K: Eq + Hash, V: ?Sized> {
    most_bytes: u64,
    kept: Mutex<Kept<K, V>>,
}

#[derive(Debug)]
struct Kept<K: Eq + Hash, V: ?Sized> {
    bytes: u64,
    /// Each with its bytes.
    things: LruCache<K, (Arc<V>, u64), SeededState>,
}

impl<K: Eq + Hash, V: ?Sized> Default for Remembered<K, V> {
    /// As much as is hardly felt beside a large log.
    fn default() -> Self {
        Self::new(128 << 20)
    }
}

impl<K: Eq + Hash, V: ?Sized> Clone for Remembered<K, V> {
    fn clone(&self) -> Self {
        Self::new(self.most_bytes)
    }
}

impl<K: Eq + Hash, V: ?Sized> Remembered<K, V> {
    /// Remembers things of so many bytes together.
    #[must_use]
    pub fn new(most_bytes: u64) -> Self {
        Self {
            most_bytes,
            kept: Mutex::new(Kept {
                bytes: 0,
                things: LruCache::unbounded_with_hasher(SeededState::default()),
            }),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thing of a key, if it is remembered.
    pub fn get(&self, key: &K) -> Option<Arc<V>> {
        let mut kept = self.kept();
        let (thing, _) = kept.things.get(key)?;
        Some(Arc::clone(thing))
    }

    /// Remembers a thing that takes so many bytes; for it those are forgotten that were
    /// not wanted for longest. The last one always stays.
    pub fn keep(&self, key: K, thing: Arc<V>, bytes: u64) -> Arc<V> {
        let mut kept = self.kept();
        kept.bytes += bytes;
        let before = kept.things.put(key, (Arc::clone(&thing), bytes));
        kept.bytes -= before.map_or(0, |(_, bytes)| bytes);
        while kept.bytes > self.most_bytes && kept.things.len() > 1 {
            let oldest = kept.things.pop_lru();
            kept.bytes -= oldest.map_or(0, |(_, (_, bytes))| bytes);
        }
        thing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_wanted_for_longest_goes() {
        let numbers: Remembered<u32, u32> = Remembered::new(100);
        for number in 0..4 {
            numbers.keep(number, Arc::new(number), 30);
            numbers.get(&0);
        }
        let kept = |key| numbers.get(&key).is_some();
        assert_eq!([0, 1, 2, 3].map(kept), [true, false, true, true]);
        numbers.keep(2, Arc::new(7), 90);
        assert_eq!([0, 1, 2, 3].map(kept), [false, false, true, false]);
        numbers.keep(5, Arc::new(5), 1_000);
        assert_eq!(numbers.get(&5).as_deref(), Some(&5));
        assert!(!kept(2) && numbers.clone().get(&5).is_none());
    }
}
