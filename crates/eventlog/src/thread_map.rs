//! Map with thread keys. A runtime numbers its threads from 1 on, so nearly all lookups go into a paged array,
//! which never moves when it grows and allocates no pages for threads that are not in the log.

use crate::hash::SeededMap;
use crate::ids::ThreadId;

/// Number of threads per page.
const PAGE: usize = 256;

/// A value for each thread, initially the default.
#[derive(Clone, Debug, Default)]
pub struct ThreadMap<T> {
    pages: Vec<Option<Box<[T]>>>,
    /// Threads with numbers beyond the pages. The pages grow only with the number of such threads: a damaged log
    /// may contain any thread number, and memory must stay proportional to the number of threads.
    large: SeededMap<ThreadId, T>,
}

impl<T: Default> ThreadMap<T> {
    /// Returns the value of a thread, inserting the default if absent.
    #[inline]
    pub fn get_mut(&mut self, thread: ThreadId) -> &mut T {
        let (page, place) = Self::page_and_slot(thread);
        if page >= self.pages.len() {
            if self.large.len() >= self.pages.len() * PAGE / 4 {
                self.grow();
            }
            if page >= self.pages.len() {
                return self.large.entry(thread).or_default();
            }
        }
        &mut self.pages[page].get_or_insert_with(Self::page)[place]
    }

    /// Returns the value of a thread; `None` implies the default.
    pub fn get(&self, thread: ThreadId) -> Option<&T> {
        let (page, place) = Self::page_and_slot(thread);
        match self.pages.get(page) {
            Some(page) => page.as_ref().map(|page| &page[place]),
            None => self.large.get(&thread),
        }
    }

    const fn page_and_slot(thread: ThreadId) -> (usize, usize) {
        (thread.0 as usize / PAGE, thread.0 as usize % PAGE)
    }

    fn page() -> Box<[T]> {
        std::iter::repeat_with(T::default).take(PAGE).collect()
    }

    #[cold]
    fn grow(&mut self) {
        let len = (2 * self.pages.len()).max(1);
        self.pages.resize_with(len, || None);
        let fits = |thread: &ThreadId, _: &mut T| Self::page_and_slot(*thread).0 < len;
        for (thread, value) in self.large.extract_if(fits) {
            let (page, place) = Self::page_and_slot(thread);
            self.pages[page].get_or_insert_with(Self::page)[place] = value;
        }
    }

    /// Returns all threads with their values, by number. May include threads that were never accessed, with the
    /// default value.
    pub fn into_sorted(self) -> impl Iterator<Item = (ThreadId, T)> {
        let mut large: Vec<_> = self.large.into_iter().collect();
        large.sort_unstable_by_key(|(thread, _)| *thread);
        let pages = (0..).step_by(PAGE).zip(self.pages);
        let small = pages.filter_map(|(first, page)| Some((first..).map(ThreadId).zip(page?)));
        small.flatten().chain(large)
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
            // Mixes ascending, repeated and arbitrary numbers.
            id = match i % 5 {
                0 => id.wrapping_mul(2_654_435_761).wrapping_add(i),
                1 => id % 3000,
                _ => i / 3,
            };
            *map.get_mut(ThreadId(id)) += i;
            *model.entry(id).or_default() += i;
        }
        assert!(map.pages.len() * PAGE <= 8 * (map.large.len() + 1) + 8 * model.len());
        let all = map.into_sorted().filter(|(_, value)| *value > 0);
        let all: Vec<_> = all.map(|(thread, value)| (thread.0, value)).collect();
        assert_eq!(all, model.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_large_number_takes_no_large_list() {
        let mut map = ThreadMap::<u64>::default();
        *map.get_mut(ThreadId(u32::MAX)) = 1;
        assert!(map.pages.len() <= 1);
    }
}
