//! Points in time, each with a thread or without: eight bytes or four. Any
//! range of them is found by a search.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::columns::Column;
use crate::time::Interval;

/// Points in time, in order. Either each has the index of a thread, or none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Moments {
    #[serde(skip)]
    threads: Vec<u32>,
    /// Nanoseconds since the base of the stretch.
    #[serde(skip)]
    offsets: Vec<u32>,
    stretches: Vec<Stretch>,
    /// Of the last stretch.
    base_ns: u64,
    latest_ns: u64,
}

/// Moments whose distance from one base fits into 32 bits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Stretch {
    base_ns: u64,
    first: usize,
}

impl Moments {
    /// Appends a moment with a thread. Times go back only in damaged logs; the
    /// later moment then counts as of the time of the earlier.
    #[inline]
    pub fn push(&mut self, thread: u32, at_ns: u64) {
        self.threads.push(thread);
        self.push_time(at_ns);
    }

    /// Appends a moment without a thread.
    #[inline]
    pub fn push_time(&mut self, at_ns: u64) {
        self.latest_ns = self.latest_ns.max(at_ns);
        let offset = match u32::try_from(self.latest_ns - self.base_ns) {
            Ok(offset) if !self.offsets.is_empty() => offset,
            _ => self.begin_stretch(),
        };
        self.offsets.push(offset);
    }

    #[cold]
    fn begin_stretch(&mut self) -> u32 {
        self.base_ns = self.latest_ns;
        self.stretches.push(Stretch {
            base_ns: self.base_ns,
            first: self.offsets.len(),
        });
        0
    }

    /// Adds later moments, but for those at some places, which are in order. A
    /// thread's index is that of `thread`. Where times go back, they count as of the
    /// latest time, as in [`push`](Self::push).
    pub fn append(&mut self, later: &Self, but: &[u32], thread: impl Fn(u32) -> u32) {
        let goes_back = later.time_ns(0).is_some_and(|first| first < self.latest_ns);
        if goes_back || !but.is_empty() {
            let mut but = but.iter().map(|&place| place as usize).peekable();
            for place in 0..later.len() {
                if but.next_if_eq(&place).is_some() {
                    continue;
                }
                self.threads.extend(later.thread(place).map(&thread));
                self.push_time(later.time_ns(place).unwrap_or_default());
            }
            return;
        }
        let first = self.offsets.len();
        self.offsets.extend_from_slice(&later.offsets);
        self.threads
            .extend(later.threads.iter().map(|&one| thread(one)));
        let stretches = later.stretches.iter().map(|stretch| Stretch {
            first: first + stretch.first,
            ..*stretch
        });
        self.stretches.extend(stretches);
        if !later.is_empty() {
            self.base_ns = later.base_ns;
        }
        self.latest_ns = self.latest_ns.max(later.latest_ns);
    }

    /// Shows each long list of numbers, always in the same order.
    pub fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        see((&mut self.threads).into());
        see((&mut self.offsets).into());
    }

    /// From now on the threads are not known.
    pub fn forget_threads(&mut self) {
        self.threads = Vec::new();
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// When one of them was.
    pub fn time_ns(&self, place: usize) -> Option<u64> {
        let offset = *self.offsets.get(place)?;
        let after = self.stretches.partition_point(|one| one.first <= place);
        let stretch = self.stretches.get(after.checked_sub(1)?)?;
        Some(stretch.base_ns + u64::from(offset))
    }

    /// The thread of one of them.
    pub fn thread(&self, place: usize) -> Option<u32> {
        self.threads.get(place).copied()
    }

    /// How many are before `time_ns`.
    pub fn before(&self, time_ns: u64) -> usize {
        time_ns.checked_sub(1).map_or(0, |time| self.up_to(time))
    }

    /// How many are not after `time_ns`.
    pub fn up_to(&self, time_ns: u64) -> usize {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.base_ns <= time_ns);
        let Some(stretch) = after.checked_sub(1).and_then(|i| self.stretches.get(i)) else {
            return 0;
        };
        let last = self.stretches.get(after);
        let last = last.map_or(self.offsets.len(), |next| next.first);
        let offset = time_ns - stretch.base_ns;
        let offsets = self.offsets.get(stretch.first..last).unwrap_or_default();
        stretch.first + offsets.partition_point(|&at| u64::from(at) <= offset)
    }

    /// The places of those of `places` that are of a thread.
    pub fn of_thread(
        &self,
        thread: u32,
        places: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = usize> {
        let threads = self.threads.get(places.clone()).unwrap_or_default();
        let mine = threads
            .iter()
            .enumerate()
            .filter(move |(_, one)| **one == thread);
        mine.map(move |(i, _)| places.start + i)
    }

    /// The threads of the moments after the start of `range` and up to its
    /// end, one for each moment; of all without a range.
    pub fn in_range(&self, range: Option<Interval>) -> &[u32] {
        let Some(range) = range else {
            return &self.threads;
        };
        let (from, to) = (self.up_to(range.start().0), self.up_to(range.end().0));
        self.threads.get(from..to).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use eventlog::ids::Nanos;

    proptest! {
        /// Steps may be longer than what 32 bits hold.
        #[test]
        fn finds_what_a_list_finds(
            steps in prop::collection::vec((0u64..4, 0u32..40), 0..80),
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
            prop_assert_eq!(moments.in_range(Some(range)), &expected[..]);
            for (place, &(at, thread)) in list.iter().enumerate() {
                prop_assert_eq!(moments.time_ns(place), Some(at));
                prop_assert_eq!(moments.thread(place), Some(thread));
            }
            prop_assert_eq!(moments.time_ns(list.len()), None);
            prop_assert_eq!(moments.before(to), list.iter().filter(|(at, _)| *at < to).count());
            let places: Vec<usize> = moments.of_thread(3, 0..list.len()).collect();
            let of_three = list.iter().enumerate().filter(|(_, (_, thread))| *thread == 3);
            prop_assert_eq!(places, of_three.map(|(place, _)| place).collect::<Vec<_>>());
        }
    }

    #[test]
    fn times_that_go_back_stay_in_order() {
        let mut moments = Moments::default();
        moments.push(1, 100);
        moments.push(2, 50);
        moments.push(3, 101);
        let range = Interval::new(Nanos(99), Nanos(100));
        assert_eq!(moments.in_range(Some(range)), [1, 2]);
        assert_eq!(moments.in_range(None), [1, 2, 3]);
    }
}
