//! Mapping from thread IDs to thread indexes.
//!
//! A runtime numbers its threads from 1, and most appear in that order or nearly so. The difference between ID and
//! index is therefore about the same for many threads, and pages of these differences are packed to about a byte
//! per thread.

use std::collections::VecDeque;

use eventlog::hash::SeededMap;
use eventlog::ids::ThreadId;
use model::packed_column::{pack, unpack};

/// IDs per page.
const PAGE: usize = 1024;
/// Number of pages that stay unpacked, as more of their threads are expected soon.
const OPEN_PAGES: usize = 8;
/// Number of pages for all IDs.
const MAX_PAGES: usize = u32::MAX as usize / PAGE + 1;
/// Number of threads from which on there are pages.
const MIN_THREADS: usize = 64;
/// Size of the direct-mapped cache of recent lookups.
const RECENT: usize = 1024;

/// Mapping from thread IDs to thread indexes.
#[derive(Clone, Debug)]
pub(crate) struct ThreadIndexMap {
    /// Direct-mapped cache of recent lookups: the ID, and the index plus 1.
    recent: Box<[(u32, u32); RECENT]>,
    /// Number of the first page among all possible ones: a slice begins anywhere in the numbering.
    first_page: usize,
    pages: Vec<Page>,
    /// Number of threads.
    len: usize,
    /// Indexes plus 1 of threads with IDs outside the pages. Pages are only added if many threads have appeared:
    /// a damaged log may contain any ID, and memory must stay proportional to the number of threads.
    far: SeededMap<u32, u32>,
    /// Open pages, oldest first.
    open: VecDeque<u32>,
}

/// Threads of a range of IDs.
#[derive(Clone, Debug, Default)]
enum Page {
    /// No thread of this range has appeared.
    #[default]
    Empty,
    /// Indexes plus 1; 0 for IDs that have not appeared.
    Open(Box<[u32; PAGE]>),
    /// A bit per ID for whether it has appeared, followed by the packed differences.
    Packed(Box<[u64]>),
}

const BITS: usize = u64::BITS as usize;
/// Number of words of the bit set at the beginning of a packed page.
const SEEN_WORDS: usize = PAGE / BITS;

impl Page {
    fn pack(slots: &[u32; PAGE]) -> Self {
        let mut words = vec![0; SEEN_WORDS];
        let mut last = 0;
        let distances = (0..).zip(slots).map(|(slot, &number)| {
            if number > 0 {
                words[slot / BITS] |= 1 << (slot % BITS);
                last = Self::distance(number, slot);
            }
            last
        });
        let distances: Vec<u32> = distances.collect();
        let mut packed = Vec::new();
        pack(&distances, &mut packed);
        words.append(&mut packed);
        Self::Packed(words.into())
    }

    const fn distance(number: u32, slot: usize) -> u32 {
        number.wrapping_add((PAGE - slot) as u32)
    }

    /// Returns the index of a thread plus 1; 0 if it has not appeared.
    fn get(&self, slot: usize) -> u32 {
        match self {
            Self::Empty => 0,
            Self::Open(slots) => slots[slot],
            Self::Packed(words) => {
                let (met, distances) = words.split_at(SEEN_WORDS);
                if met[slot / BITS] >> (slot % BITS) & 1 == 0 {
                    return 0;
                }
                (unpack(distances, slot) as u32).wrapping_sub((PAGE - slot) as u32)
            }
        }
    }

    /// Returns the entries of the page for modification, if it is open.
    const fn open(&mut self) -> Option<&mut [u32; PAGE]> {
        match self {
            Self::Open(slots) => Some(slots),
            _ => None,
        }
    }
}

impl Default for ThreadIndexMap {
    fn default() -> Self {
        Self {
            recent: Box::new([(0, 0); RECENT]),
            first_page: 0,
            pages: Vec::new(),
            len: 0,
            far: SeededMap::default(),
            open: VecDeque::new(),
        }
    }
}

impl ThreadIndexMap {
    /// Returns the index of a thread. A new thread is assigned the index `next`.
    #[inline]
    pub(crate) fn index(&mut self, id: ThreadId, next: u32) -> u32 {
        let (of, number) = self.recent[id.0 as usize % RECENT];
        if number > 0 && of == id.0 {
            return number - 1;
        }
        self.look(id, next)
    }

    fn look(&mut self, id: ThreadId, next: u32) -> u32 {
        let mut number = self.get(id);
        if number == 0 {
            number = next.saturating_add(1);
            self.set(id.0, number);
        }
        self.recent[id.0 as usize % RECENT] = (id.0, number);
        number - 1
    }

    /// Returns the index of a thread, if it has appeared.
    pub(crate) fn find(&self, id: ThreadId) -> Option<u32> {
        self.get(id).checked_sub(1)
    }

    fn get(&self, id: ThreadId) -> u32 {
        let (page, slot) = (self.page_of(id.0), id.0 as usize % PAGE);
        match self.pages.get(page) {
            Some(page) => page.get(slot),
            None => self.far.get(&id.0).copied().unwrap_or(0),
        }
    }

    /// Returns the index of the page of an ID; beyond all pages if it is before the first one.
    fn page_of(&self, id: u32) -> usize {
        (id as usize / PAGE).wrapping_sub(self.first_page)
    }

    /// Adds a thread.
    fn set(&mut self, id: u32, number: u32) {
        self.len += 1;
        let page = self.page_of(id);
        // Rules out IDs before the first page, which adding pages does not help.
        let is_beyond = self.pages.len() <= page && page < MAX_PAGES;
        if is_beyond && self.len > (self.pages.len() * PAGE / 4).max(MIN_THREADS) {
            self.grow();
        }
        self.set_slot(id, number);
    }

    fn set_slot(&mut self, id: u32, number: u32) {
        let (page, slot) = (self.page_of(id), id as usize % PAGE);
        let Some(page_of) = self.pages.get_mut(page) else {
            self.far.insert(id, number);
            return;
        };
        if page_of.open().is_none() {
            let slots = std::array::from_fn(|slot| page_of.get(slot));
            *page_of = Page::Open(Box::new(slots));
            self.open.extend(u32::try_from(page));
        }
        if let Some(slots) = page_of.open() {
            slots[slot] = number;
        }
    }

    #[cold]
    fn grow(&mut self) {
        if self.pages.is_empty() {
            // Of the threads so far, a few may be from long before.
            let mut ids: Vec<u32> = self.far.keys().copied().collect();
            ids.sort_unstable();
            let median = ids.get(ids.len() / 2).copied();
            self.first_page = median.unwrap_or_default() as usize / PAGE;
        }
        let len = (2 * self.pages.len()).max(1);
        self.pages.resize(len, Page::Empty);
        let mut far = std::mem::take(&mut self.far);
        let first_page = self.first_page;
        let page_of = |id: u32| (id as usize / PAGE).wrapping_sub(first_page);
        for (id, number) in far.extract_if(|&id, _| page_of(id) < len) {
            self.set_slot(id, number);
        }
        self.far = far;
    }

    /// Packs the oldest open pages.
    pub(crate) fn pack_oldest(&mut self) {
        while self.open.len() > OPEN_PAGES
            && let Some(page) = self.open.pop_front()
        {
            let page = &mut self.pages[page as usize];
            if let Page::Open(slots) = page {
                *page = Page::pack(slots);
            }
        }
    }

    /// Removes all threads.
    pub(crate) fn clear(&mut self) {
        self.recent.fill((0, 0));
        self.first_page = 0;
        self.pages.clear();
        self.len = 0;
        self.far.clear();
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn is_a_map(parts in prop::collection::vec((0u32..6, any::<u32>(), 1u32..4_000), 1..8)) {
            let mut by_id = ThreadIndexMap::default();
            let mut model = HashMap::new();
            for (kind, seed, count) in parts {
                for i in 0..count {
                    // IDs in order, swapped pairs, with gaps, distant ones, arbitrary ones, repeated ones.
                    let id = match kind {
                        0 => (seed % 50_000) + i,
                        1 => (seed % 50_000) + (i ^ 1),
                        2 => i * (seed % 100),
                        3 => seed.wrapping_add(i),
                        4 => seed.wrapping_mul(i.wrapping_mul(2_654_435_761)),
                        _ => i / 2,
                    };
                    let next = model.len() as u32;
                    let index = *model.entry(id).or_insert(next);
                    prop_assert_eq!(by_id.index(ThreadId(id), next), index);
                    if i % 512 == seed % 512 {
                        by_id.pack_oldest();
                    }
                }
            }
            by_id.pack_oldest();
            for (&id, &index) in &model {
                prop_assert_eq!(by_id.find(ThreadId(id)), Some(index));
                let other = id ^ 0x55;
                prop_assert_eq!(by_id.find(ThreadId(other)), model.get(&other).copied());
            }
            prop_assert!(by_id.open.len() <= OPEN_PAGES);
            prop_assert!(by_id.pages.len() * PAGE <= 8 * model.len() + 2 * PAGE);
            by_id.clear();
            prop_assert_eq!(by_id.find(ThreadId(1)), None);
        }
    }

    #[test]
    fn threads_in_order_take_little() {
        let mut by_id = ThreadIndexMap::default();
        for i in 0..100_000 {
            assert_eq!(by_id.index(ThreadId(1 + (i ^ 5)), i), i);
        }
        by_id.pack_oldest();
        let bytes = by_id.pages.iter().map(|page| match page {
            Page::Packed(words) => size_of_val(&**words),
            _ => 0,
        });
        let bytes: usize = bytes.sum();
        assert!(bytes < 100_000, "{bytes}");
        assert!(by_id.far.is_empty());
    }
}
