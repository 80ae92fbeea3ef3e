//! Sorting with little code size, for short or rarely sorted lists.
//!
//! The standard library's sort is monomorphized for each type and order at about 5 kB each, and saves about 1 ms
//! for 10,000 items. Here all sorts share one function that sorts indices.

use std::cmp::Ordering;
use std::ops::Range;

/// Stable sorting with little code per element type.
pub trait CompactSort<T> {
    /// Sorts stably by a comparison.
    fn sort_small_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts stably.
    fn sort_small(&mut self)
    where
        T: Ord,
    {
        self.sort_small_by(T::cmp);
    }

    /// Sorts stably by a key.
    fn sort_small_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.sort_small_by(|a, b| key(a).cmp(&key(b)));
    }
}

impl<T> CompactSort<T> for [T] {
    fn sort_small_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let places = sorted(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        arrange(places, &mut |a, b| self.swap(a, b));
    }
}

/// Collecting into a map or set by inserting one item after the other. The standard library's `collect` sorts the items
/// first, with a sort of its own for each type.
pub trait CompactCollect: Iterator + Sized {
    /// Collects into a map or set.
    fn collect_small<C: Default + Extend<Self::Item>>(self) -> C {
        let mut all = C::default();
        all.extend(self);
        all
    }
}

impl<I: Iterator> CompactCollect for I {}

/// Returns the indices of the items at the positions `wanted` of a list in stably sorted order. Only these are sorted:
/// a page of a table may have millions of rows before and after it.
pub fn rows_in_order(
    count: usize,
    wanted: &Range<u64>,
    compare: &mut dyn FnMut(usize, usize) -> Ordering,
) -> Vec<usize> {
    let place = |row: u64| usize::try_from(row).map_or(count, |row| row.min(count));
    let (start, end) = (place(wanted.start), place(wanted.end));
    if start >= end {
        return Vec::new();
    }
    let mut places: Vec<usize> = (0..count).collect();
    let mut order = |a: &usize, b: &usize| compare(*a, *b).then(a.cmp(b));
    if end < count {
        places.select_nth_unstable_by(end, &mut order);
        places.truncate(end);
    }
    places.select_nth_unstable_by(start, &mut order);
    places.drain(..start);
    places.sort_unstable_by(&mut order);
    places
}

/// Returns the indices of items, sorted by a comparison of two indices.
fn sorted(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}

/// Applies a permutation in place by following its cycles: the item at index `places[i]` moves to `i`.
fn arrange(mut places: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..places.len() {
        let mut to = first;
        loop {
            let from = std::mem::replace(&mut places[to], to);
            if from == to || from == first {
                places[to] = to;
                break;
            }
            swap(to, from);
            to = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(items: Vec<(u8, u16)>) {
            let (mut ours, mut theirs) = (items.clone(), items);
            ours.sort_small_by_key(|item| item.0);
            theirs.sort_by_key(|item| item.0);
            prop_assert_eq!(&ours, &theirs);
            ours.sort_small_by(|a, b| b.cmp(a));
            theirs.sort_by(|a, b| b.cmp(a));
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn rows_are_those_of_the_sorted_list(items: Vec<u8>, wanted in (0u64..120, 0u64..120)) {
            let places = rows_in_order(items.len(), &(wanted.0..wanted.1), &mut |a, b| items[a].cmp(&items[b]));
            let mut all: Vec<usize> = (0..items.len()).collect();
            all.sort_by_key(|place| items[*place]);
            let count = wanted.1.saturating_sub(wanted.0) as usize;
            let expected: Vec<usize> = all.into_iter().skip(wanted.0 as usize).take(count).collect();
            prop_assert_eq!(places, expected);
        }

        #[test]
        fn it_collects_as_the_standard_library_does(items: Vec<(u8, u16)>) {
            let ours: BTreeMap<u8, u16> = items.iter().copied().collect_small();
            // Of equal keys, the last one counts.
            prop_assert_eq!(ours, items.into_iter().collect::<BTreeMap<_, _>>());
        }
    }
}
