//! Summary statistics of many numbers.

use super::MAX_POINTS;
use model::sorting::CompactSort;

/// Numbers in ascending order.
pub(super) struct SortedNumbers(Vec<f64>);

impl SortedNumbers {
    pub(super) fn new(mut all: Vec<f64>) -> Self {
        all.sort_small_by(f64::total_cmp);
        Self(all)
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn sum(&self) -> f64 {
        self.0.iter().sum()
    }

    pub(super) fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or(0.0)
    }

    /// Returns the percentile by nearest rank, as in assertions: the smallest number that `part` percent of all do
    /// not exceed.
    pub(super) fn percentile(&self, part: usize) -> f64 {
        let index = (self.0.len() * part).div_ceil(100).saturating_sub(1);
        self.0.get(index).copied().unwrap_or(0.0)
    }

    /// Returns quantiles at equal steps; all numbers if there are at most [`MAX_POINTS`].
    pub(super) fn curve(&self) -> Vec<f64> {
        let points = self.0.len().min(MAX_POINTS);
        let last = self.0.len().saturating_sub(1);
        let index = |point: usize| point * last / points.saturating_sub(1).max(1);
        let at = |point: usize| self.0.get(index(point)).copied();
        (0..points).filter_map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_go_from_the_least_to_the_greatest() {
        let few = SortedNumbers::new(vec![3.0, 1.0, 2.0]);
        assert_eq!(few.curve(), [1.0, 2.0, 3.0]);
        assert_eq!(
            (few.percentile(50), few.percentile(99), few.sum()),
            (2.0, 3.0, 6.0)
        );
        let many = SortedNumbers::new((0..=1000).map(f64::from).collect());
        let curve = many.curve();
        assert_eq!(curve.len(), MAX_POINTS);
        assert_eq!((curve[0], curve[50], curve[100]), (0.0, 500.0, 1000.0));
        assert_eq!(SortedNumbers::new(Vec::new()).curve(), [0.0; 0]);
    }
}
