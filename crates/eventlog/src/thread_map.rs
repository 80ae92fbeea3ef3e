//! A map from threads to what is known of them. A runtime numbers its threads
//! from 1 on, so that nearly all lookups go into a vector.

use rustc_hash::FxHashMap;

use crate::ids::ThreadId;

/// A value for each thread, the default one at first.
#[derive(Clone, Debug, Default)]
pub struct ThreadMap<T> {
    small: Vec<T>,
    /// Threads with numbers beyond the vector. It grows only when there are
    /// many of them: a damaged log may have any number in it, and memory is to
    /// be in proportion to the threads.
    large: FxHashMap<ThreadId, T>,
}

impl<T: Default> ThreadMap<T> {
    const MIN_SMALL: usize = 256;

    /// The value of a thread.
    #[inline]
    pub fn get_mut(&mut self, thread: ThreadId) -> &mut T {
        let index = thread.0 as usize;
        if index >= self.small.len() {
            if self.large.len() >= self.small.len() / 4 {
                self.grow();
            }
            if index >= self.small.len() {
                return self.large.entry(thread).or_default();
            }
        }
        &mut self.small[index]
    }

    /// The value of a thread; `None` if it surely is the default one.
    pub fn get(&self, thread: ThreadId) -> Option<&T> {
        let small = self.small.get(thread.0 as usize);
        small.or_else(|| self.large.get(&thread))
    }

    #[cold]
    fn grow(&mut self) {
        let len = (2 * self.small.len()).max(Self::MIN_SMALL);
        self.small.resize_with(len, T::default);
        let fits = |thread: &ThreadId, _: &mut T| (thread.0 as usize) < len;
        for (thread, value) in self.large.extract_if(fits) {
            self.small[thread.0 as usize] = value;
        }
    }

    /// All threads and their values, in the order of their numbers; also some
    /// that were never asked for, with the default value.
    pub fn into_sorted(self) -> impl Iterator<Item = (ThreadId, T)> {
        let mut large: Vec<_> = self.large.into_iter().collect();
        large.sort_unstable_by_key(|(thread, _)| *thread);
        let small = (0..).map(ThreadId).zip(self.small);
        small.chain(large)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn behaves_like_a_map() {
        let mut map = ThreadMap::<u32>::default();
        let mut model = BTreeMap::<u32, u32>::new();
        let mut id = 1u32;
        for i in 1..20_000u32 {
            // Numbers in order, numbers again, and any numbers.
            id = match i % 5 {
                0 => id.wrapping_mul(2_654_435_761).wrapping_add(i),
                1 => id % 3000,
                _ => i / 3,
            };
            *map.get_mut(ThreadId(id)) += i;
            *model.entry(id).or_default() += i;
        }
        assert!(map.small.len() <= 8 * (map.large.len() + 1) + 8 * model.len());
        let all = map.into_sorted().filter(|(_, value)| *value > 0);
        let all: Vec<_> = all.map(|(thread, value)| (thread.0, value)).collect();
        assert_eq!(all, model.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_large_number_takes_no_large_vector() {
        let mut map = ThreadMap::<u64>::default();
        *map.get_mut(ThreadId(u32::MAX)) = 1;
        assert!(map.small.len() <= 256);
    }
}
