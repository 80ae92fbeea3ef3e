//! Points in time, each with or without a thread; ranges are found by binary search.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::columns::Column;
use crate::packed_column::{BLOCK, PackedColumn};
use crate::spill_store::SpillStore;
use crate::time::Interval;

/// Points in time, in ascending order. Either all have a thread index, or none has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Moments {
    #[serde(skip)]
    threads: PackedColumn<u32>,
    #[serde(skip)]
    times_ns: PackedColumn<u64>,
    latest_ns: u64,
}

impl Moments {
    /// Appends a moment with a thread. Times go back only in damaged logs; such a moment gets the latest time so
    /// far.
    #[inline]
    pub fn push(&mut self, thread: u32, at_ns: u64) {
        self.threads.push(thread);
        self.push_time(at_ns);
    }

    /// Reserves room for further moments, with or without threads.
    pub fn reserve(&mut self, moments: usize, have_threads: bool) {
        self.times_ns.unpacked_mut().reserve(moments);
        if have_threads {
            self.threads.unpacked_mut().reserve(moments);
        }
    }

    /// Appends a moment without a thread. Times are made ascending as in [`push`](Self::push).
    #[inline]
    pub fn push_time(&mut self, at_ns: u64) {
        self.latest_ns = self.latest_ns.max(at_ns);
        self.times_ns.push(self.latest_ns);
    }

    /// Appends all moments of `later` except those at the indices `skipped` (ascending).
    ///
    /// `thread` maps each thread index. Times that go back are raised to the latest time so far, as in
    /// [`push`](Self::push).
    pub fn append(
        &mut self,
        later: &Self,
        skipped: &[u32],
        thread: impl Fn(u32) -> u32,
        spill_store: &SpillStore,
    ) {
        let latest_ns = self.latest_ns;
        let times_ns = later.times_ns.unpacked().iter();
        let times_ns = times_ns.map(|&time| time.max(latest_ns));
        let threads = later.threads.unpacked().iter().map(|&one| thread(one));
        if skipped.is_empty() {
            self.times_ns.extend(times_ns, spill_store);
            self.threads.extend(threads, spill_store);
        } else {
            self.times_ns
                .extend(skip_indices(times_ns, skipped), spill_store);
            self.threads
                .extend(skip_indices(threads, skipped), spill_store);
        }
        self.latest_ns = self.times_ns.last().unwrap_or(latest_ns);
    }

    /// Calls `see` with each column, always in the same order. Only the unpacked part of a column is visited, so
    /// nothing may have been [appended](Self::append) before.
    pub fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        see(self.threads.unpacked_mut().into());
        see(self.times_ns.unpacked_mut().into());
    }

    /// Drops the thread column; from now on [`thread`](Self::thread) returns `None`.
    pub fn forget_threads(&mut self) {
        self.threads = PackedColumn::new();
    }

    /// Returns the number of moments.
    pub fn len(&self) -> usize {
        self.times_ns.len()
    }

    /// Returns whether there are no moments.
    pub fn is_empty(&self) -> bool {
        self.times_ns.is_empty()
    }

    /// Appends the moments from index `from` to the end of its block of [`BLOCK`] to `next`, each with its time
    /// and thread. Appends nothing if `from` is beyond the last one.
    pub fn read(&self, from: usize, next: &mut Vec<(u64, Option<u32>)>) {
        let (mut times_ns, mut threads) = ([0; BLOCK], [0; BLOCK]);
        let room = BLOCK - from % BLOCK;
        let count = self.times_ns.read(from, &mut times_ns[..room]);
        let known = self.threads.read(from, &mut threads[..count]);
        let threads = threads[..known].iter().map(|&thread| Some(thread));
        let threads = threads.chain(std::iter::repeat(None));
        next.extend(times_ns[..count].iter().copied().zip(threads));
    }

    /// Returns the time of the moment at `index`; `None` beyond the last one.
    pub fn time_ns(&self, index: usize) -> Option<u64> {
        self.times_ns.get(index)
    }

    /// Returns the thread index of the moment at `index`; `None` beyond the last one, or if moments have no
    /// threads.
    pub fn thread(&self, index: usize) -> Option<u32> {
        self.threads.get(index)
    }

    /// Returns time and thread index of the moments at the indices `indices`, read block by block; none if moments
    /// have no threads.
    pub fn range(&self, indices: Range<usize>) -> impl Iterator<Item = (u64, u32)> + '_ {
        let times_ns = self.times_ns.range(indices.clone());
        times_ns.zip(self.threads.range(indices))
    }

    /// Returns the number of moments before `time_ns`.
    pub fn count_before(&self, time_ns: u64) -> usize {
        self.times_ns.partition_point(|at| at < time_ns)
    }

    /// Returns the number of moments at or before `time_ns`.
    pub fn count_up_to(&self, time_ns: u64) -> usize {
        self.times_ns.partition_point(|at| at <= time_ns)
    }

    /// Returns the index of the first moment of `thread` within `indices`.
    pub fn first_of_thread(&self, thread: u32, indices: Range<usize>) -> Option<usize> {
        let mut threads = self.threads.range(indices.clone());
        Some(indices.start + threads.position(|one| one == thread)?)
    }

    /// Returns the index of the last moment of `thread` within `indices`. Searches block by block from the end.
    pub fn last_of_thread(&self, thread: u32, indices: Range<usize>) -> Option<usize> {
        let mut end = indices.end;
        while end > indices.start {
            let start = end.saturating_sub(BLOCK).max(indices.start);
            let threads = self.threads.range(start..end);
            let mine = threads.enumerate().filter(|(_, one)| *one == thread);
            if let Some((i, _)) = mine.last() {
                return Some(start + i);
            }
            end = start;
        }
        None
    }

    /// Returns the thread indices of the moments after the start of `range` and up to and including its end, one
    /// per moment; without a range, of all moments.
    pub fn threads_in_range(&self, range: Option<Interval>) -> impl Iterator<Item = u32> + '_ {
        let indices = range.map_or(0..self.threads.len(), |range| {
            self.count_up_to(range.start().0)..self.count_up_to(range.end().0)
        });
        self.threads.range(indices)
    }
}

/// Skips the items at the indices `skipped`, which are ascending.
fn skip_indices<T>(all: impl Iterator<Item = T>, skipped: &[u32]) -> impl Iterator<Item = T> {
    let mut skipped = skipped.iter().map(|&index| index as usize).peekable();
    all.enumerate()
        .filter_map(move |(index, one)| skipped.next_if_eq(&index).is_none().then_some(one))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use eventlog::ids::Nanos;

    proptest! {
        #[test]
        fn finds_what_a_list_finds(
            steps in prop::collection::vec((0u64..4, 0u32..40), 0..400),
            a in 0u64..90, b in 0u64..90,
        ) {
            const UNIT: u64 = 3_000_000_000;
            let (mut moments, mut list, mut at) = (Moments::default(), Vec::new(), 0);
            for (step, thread) in steps {
                at += step * UNIT;
                moments.push(thread, at);
                list.push((at, thread));
            }
            let (from, to) = (a.min(b) * UNIT, a.max(b) * UNIT);
            let expected: Vec<u32> = list
                .iter()
                .copied()
                .filter(|(at, _)| from < *at && *at <= to)
                .map(|(_, thread)| thread)
                .collect();
            let range = Interval::new(Nanos(from), Nanos(to));
            prop_assert!(moments.threads_in_range(Some(range)).eq(expected));
            for (index, &(at, thread)) in list.iter().enumerate() {
                prop_assert_eq!(moments.time_ns(index), Some(at));
                prop_assert_eq!(moments.thread(index), Some(thread));
            }
            prop_assert!(moments.range(0..list.len() + 1).eq(list.iter().copied()));
            prop_assert_eq!(moments.time_ns(list.len()), None);
            prop_assert_eq!(moments.count_before(to), list.iter().filter(|(at, _)| *at < to).count());
            let from = (a as usize).min(list.len());
            let mut read = Vec::new();
            let mut before = usize::MAX;
            while before != read.len() {
                before = read.len();
                moments.read(from + before, &mut read);
            }
            let rest = list[from..].iter().map(|&(at, thread)| (at, Some(thread)));
            prop_assert_eq!(read, rest.collect::<Vec<_>>());
            let is_three = |(_, thread): &(u64, u32)| *thread == 3;
            let (first, last) = (list.iter().position(is_three), list.iter().rposition(is_three));
            prop_assert_eq!(moments.first_of_thread(3, 0..list.len()), first);
            prop_assert_eq!(moments.last_of_thread(3, 0..list.len()), last);
        }
    }

    #[test]
    fn times_that_go_back_stay_in_order() {
        let mut moments = Moments::default();
        moments.push(1, 100);
        moments.push(2, 50);
        moments.push(3, 101);
        let range = Interval::new(Nanos(99), Nanos(100));
        assert!(moments.threads_in_range(Some(range)).eq([1, 2]));
        assert!(moments.threads_in_range(None).eq([1, 2, 3]));
    }
}
