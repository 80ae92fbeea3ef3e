//! Searches that resume where the last one ended.

/// Galloping search in a sorted list for non-decreasing positions. Nearby positions take few steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GallopingSearch {
    at: usize,
}

impl GallopingSearch {
    /// Returns the first index below `len` for which `before` does not hold, or `len`. `before` must hold for all
    /// indexes below the last result.
    pub(super) fn first(&mut self, len: usize, before: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut step) = (self.at, 1);
        while low + step <= len && before(low + step - 1) {
            low += step;
            step *= 2;
        }
        let mut high = len.min(low + step - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.at = low;
        low
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_a_search_finds(len in 0usize..100, mut cuts in prop::collection::vec(0usize..110, 0..20)) {
            cuts.sort_unstable();
            let mut ahead = GallopingSearch::default();
            for cut in cuts {
                prop_assert_eq!(ahead.first(len, |i| i < cut), cut.min(len));
            }
        }
    }
}
