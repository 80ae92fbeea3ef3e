//! Cache of the most recently used results.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// LRU cache of `N` results; the most recently used one is last.
#[derive(Debug)]
pub(crate) struct CountLru<K, V, const N: usize>(Mutex<Vec<(K, Arc<V>)>>);

impl<K, V, const N: usize> Default for CountLru<K, V, N> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, V, const N: usize> CountLru<K, V, N> {
    fn lock(&self) -> MutexGuard<'_, Vec<(K, Arc<V>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the result for a key, which `make` computes if it is not cached.
    pub(crate) fn get(&self, key: K, make: impl FnOnce(&K) -> V) -> Arc<V> {
        let mut kept = self.lock();
        let value = match kept.iter().position(|(known, _)| *known == key) {
            Some(place) => kept.remove(place).1,
            None => {
                if kept.len() >= N {
                    kept.remove(0);
                }
                Arc::new(make(&key))
            }
        };
        kept.push((key, Arc::clone(&value)));
        value
    }

    /// Forgets all results.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }
}
