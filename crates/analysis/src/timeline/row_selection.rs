//! Selection of the first rows of a long list in sorted order. Memory is bounded by their number.

use model::sorting::CompactSort;

/// Selects the first rows of the sorted list of all pushed rows.
#[derive(Debug)]
pub(crate) struct RowSelection<K> {
    /// Maximum number of rows to select.
    wanted: usize,
    /// Candidates. Once `is_full`, they begin with the first `wanted` rows up to some push, in order.
    first: Vec<K>,
    is_full: bool,
    total: u64,
}

impl<K: Ord> RowSelection<K> {
    /// Creates a selection of at most `wanted` rows.
    pub(crate) const fn new(wanted: usize) -> Self {
        Self {
            wanted,
            first: Vec::new(),
            is_full: false,
            total: 0,
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: K) {
        /// Minimum number of candidates before sorting them pays off.
        const MIN_ROWS: usize = 4096;
        self.total += 1;
        let Some(last) = self.wanted.checked_sub(1) else {
            return;
        };
        // Most rows of a long list come after those that are kept.
        if self.is_full && self.first.get(last).is_some_and(|last| row >= *last) {
            return;
        }
        self.first.push(row);
        if self.first.len() >= self.wanted.saturating_mul(2).max(MIN_ROWS) {
            self.cut();
        }
    }

    /// Sorts the candidates and drops those after the wanted ones.
    fn cut(&mut self) {
        self.first.sort_small();
        self.first.truncate(self.wanted);
        self.is_full = self.first.len() == self.wanted;
    }

    /// Returns the number of pushed rows.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the selected rows in order.
    pub(crate) fn finish(mut self) -> Vec<K> {
        self.cut();
        self.first
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn are_the_first_of_the_sorted_list(
            mut list in prop::collection::vec(any::<u16>(), 0..20_000),
            wanted in 0usize..20_000,
        ) {
            let mut rows = RowSelection::new(wanted);
            list.iter().for_each(|&row| rows.push(row));
            prop_assert_eq!(rows.total(), list.len() as u64);
            list.sort_unstable();
            list.truncate(wanted);
            prop_assert_eq!(rows.finish(), list);
        }
    }
}
