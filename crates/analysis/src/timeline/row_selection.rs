//! Selection of a range of rows of a long sorted list. Memory is bounded by the end of the range.

use std::ops::Range;

/// Selects the rows at given positions of the sorted list of all pushed rows.
#[derive(Debug)]
pub(crate) struct RowSelection<K> {
    wanted: Range<usize>,
    least: Vec<K>,
    /// Whether `least` begins with the `wanted.end` least rows up to some row, in order.
    is_full: bool,
    total: u64,
}

impl<K: Ord> RowSelection<K> {
    /// Creates a selection of the rows at positions `wanted`.
    pub(crate) fn new(wanted: Range<u64>) -> Self {
        let place = |row: u64| usize::try_from(row).unwrap_or(usize::MAX);
        Self {
            wanted: place(wanted.start)..place(wanted.end),
            least: Vec::new(),
            is_full: false,
            total: 0,
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: K) {
        /// Minimum number of buffered rows before sorting them pays off.
        const MIN_ROWS: usize = 4096;
        self.total += 1;
        let end = self.wanted.end;
        let Some(last) = end.checked_sub(1) else {
            return;
        };
        // Most rows of a long list come after those that are kept.
        if self.is_full && self.least.get(last).is_some_and(|last| row >= *last) {
            return;
        }
        self.least.push(row);
        if self.least.len() >= end.saturating_mul(2).max(MIN_ROWS) {
            self.least.sort_unstable();
            self.least.truncate(end);
            self.is_full = true;
        }
    }

    /// Returns the number of pushed rows.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the selected rows in order.
    pub(crate) fn finish(self) -> Vec<K> {
        let mut rows = self.least;
        let (start, end) = (self.wanted.start, self.wanted.end.min(rows.len()));
        if start >= end {
            return Vec::new();
        }
        rows.sort_unstable();
        rows.truncate(end);
        rows.drain(..start);
        rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn are_those_of_the_sorted_list(
            mut list in prop::collection::vec(any::<u16>(), 0..20_000),
            start in 0u64..20_000,
            more in 0u64..6_000,
        ) {
            let mut rows = RowSelection::new(start..start + more);
            list.iter().for_each(|&row| rows.push(row));
            prop_assert_eq!(rows.total(), list.len() as u64);
            list.sort_unstable();
            let end = list.len().min((start + more) as usize);
            let part = list.get(start as usize..end).unwrap_or_default();
            prop_assert_eq!(rows.finish(), part);
        }
    }
}
