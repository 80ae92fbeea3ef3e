//! Where packed columns are kept: in memory as long as there is room for them, later
//! ones in a file, from which they come back when somebody looks at them.
//!
//! What is kept never changes, so that it is written once, and forgotten at no cost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use eventlog::Backing;

use crate::remembered::Remembered;

/// Keeps lists of words. Clones are the same shelf.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// So many bytes may be in memory.
    budget_bytes: u64,
    backing: Option<Box<dyn Backing>>,
    used_bytes: Arc<AtomicU64>,
    away_bytes: AtomicU64,
    had_no_room: AtomicBool,
    unreadable: AtomicBool,
    /// What came back, by place.
    cache: Remembered<u64, [u64]>,
}

impl Default for Inner {
    fn default() -> Self {
        Self::new(u64::MAX, None)
    }
}

impl Inner {
    fn new(budget_bytes: u64, backing: Option<Box<dyn Backing>>) -> Self {
        /// What was put away and is looked at takes so much of the memory at most.
        const CACHE_SHARE: u64 = 4;
        let cache_bytes = backing.as_ref().map_or(0, |_| budget_bytes / CACHE_SHARE);
        Self {
            budget_bytes: budget_bytes - cache_bytes,
            backing,
            used_bytes: Arc::default(),
            away_bytes: AtomicU64::new(0),
            had_no_room: AtomicBool::new(false),
            unreadable: AtomicBool::new(false),
            cache: Remembered::new(cache_bytes),
        }
    }
}

fn bytes_of(words: &[u64]) -> u64 {
    size_of_val(words) as u64
}

impl Shelf {
    /// Keeps so many bytes in memory, and what is beyond them in `backing`; without
    /// that all of it in memory, if it must be ([`had_no_room`](Self::had_no_room)).
    #[must_use]
    pub fn new(budget_bytes: u64, backing: Option<Box<dyn Backing>>) -> Self {
        Self {
            inner: Arc::new(Inner::new(budget_bytes, backing)),
        }
    }

    /// How many bytes are kept in memory.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.inner.used_bytes.load(Ordering::Relaxed)
    }

    /// Counts bytes that must stay in memory elsewhere: they leave less of the budget for what is kept from now on.
    pub fn count_elsewhere(&self, bytes: u64) {
        let used_bytes = &self.inner.used_bytes;
        used_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// How many bytes were put away.
    #[must_use]
    pub fn away_bytes(&self) -> u64 {
        self.inner.away_bytes.load(Ordering::Relaxed)
    }

    /// Whether more is in memory than should be, as there was no other place.
    #[must_use]
    pub fn had_no_room(&self) -> bool {
        self.inner.had_no_room.load(Ordering::Relaxed)
    }

    /// Whether something that was put away could not be read again: answers about it
    /// are wrong.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        self.inner.unreadable.load(Ordering::Relaxed)
    }

    /// Keeps words.
    #[must_use]
    pub fn keep(&self, words: &[u64]) -> Kept {
        let inner = &*self.inner;
        if self.used_bytes() + bytes_of(words) > inner.budget_bytes {
            if let Some(at) = self.put_away(words) {
                return Kept::Away(Away {
                    shelf: self.clone(),
                    at,
                    words: words.len(),
                });
            }
            inner.had_no_room.store(true, Ordering::Relaxed);
        }
        let used_bytes = Arc::clone(&inner.used_bytes);
        used_bytes.fetch_add(bytes_of(words), Ordering::Relaxed);
        Kept::Here(Arc::new(Here {
            words: words.into(),
            used_bytes,
        }))
    }

    fn put_away(&self, words: &[u64]) -> Option<u64> {
        let le: Vec<u64> = words.iter().map(|word| word.to_le()).collect();
        let at = self
            .inner
            .backing
            .as_ref()?
            .append(bytemuck::cast_slice(&le))?;
        let away_bytes = &self.inner.away_bytes;
        away_bytes.fetch_add(bytes_of(words), Ordering::Relaxed);
        Some(at)
    }
}

/// Words on a shelf.
#[derive(Clone, Debug)]
pub enum Kept {
    /// In memory.
    Here(Arc<Here>),
    /// In the file.
    Away(Away),
}

/// Words in the file.
#[derive(Clone, Debug)]
pub struct Away {
    shelf: Shelf,
    /// Where they begin.
    at: u64,
    /// How many they are.
    words: usize,
}

impl Away {
    /// The words; zeros if it cannot be read.
    #[must_use]
    pub fn fetch(&self) -> Arc<[u64]> {
        let inner = &*self.shelf.inner;
        if let Some(words) = inner.cache.get(&self.at) {
            return words;
        }
        let mut all: Arc<[u64]> = std::iter::repeat_n(0, self.words).collect();
        let backing = inner.backing.as_ref();
        // Nobody else has it yet.
        let into = Arc::get_mut(&mut all).unwrap_or_default();
        if !backing.is_some_and(|backing| backing.read(self.at, bytemuck::cast_slice_mut(into))) {
            inner.unreadable.store(true, Ordering::Relaxed);
            into.fill(0);
        }
        into.iter_mut().for_each(|word| *word = u64::from_le(*word));
        let bytes = bytes_of(&all);
        inner.cache.keep(self.at, all, bytes)
    }
}

/// Words in memory, which are counted.
#[derive(Debug)]
pub struct Here {
    words: Box<[u64]>,
    used_bytes: Arc<AtomicU64>,
}

impl Drop for Here {
    fn drop(&mut self) {
        self.used_bytes
            .fetch_sub(bytes_of(&self.words), Ordering::Relaxed);
    }
}

impl Kept {
    /// Looks at the words.
    #[inline]
    pub fn with<R>(&self, look: impl FnOnce(&[u64]) -> R) -> R {
        match self {
            Self::Here(here) => look(&here.words),
            Self::Away(away) => look(&away.fetch()),
        }
    }
}

/// A shelf for tests: what is put away stands in a list.
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
        let shelf = Shelf::new(64, Some(Box::<List>::default()));
        let kept: Vec<Kept> = (0..9).map(|i| shelf.keep(&[i, i + 1, i + 2])).collect();
        assert_eq!(shelf.used_bytes(), 48);
        assert_eq!(shelf.away_bytes(), 7 * 24);
        for (i, kept) in (0..).zip(&kept).chain((0..).zip(&kept)) {
            assert_eq!(kept.with(<[u64]>::to_vec), [i, i + 1, i + 2]);
        }
        assert!(!shelf.had_no_room() && !shelf.is_unreadable());
        drop(kept);
        assert_eq!(shelf.used_bytes(), 0);
    }

    #[test]
    fn without_another_place_it_stays_in_memory() {
        let shelf = Shelf::new(8, None);
        let kept = [shelf.keep(&[1]), shelf.keep(&[2])];
        assert!(shelf.had_no_room());
        assert_eq!(kept[1].with(<[u64]>::to_vec), [2]);
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
        let shelf = Shelf::new(0, Some(Box::new(Lost)));
        assert_eq!(shelf.keep(&[7]).with(<[u64]>::to_vec), [0]);
        assert!(shelf.is_unreadable());
    }
}
