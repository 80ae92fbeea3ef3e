//! What many numbers are summed up to.

use super::MOST_POINTS;
use model::sorting::CompactSort;

/// Many numbers, the least first.
pub(super) struct Sorted(Vec<f64>);

impl Sorted {
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

    /// The least number that so many of a hundred are not greater than, as in assertions.
    pub(super) fn percentile(&self, part: usize) -> f64 {
        let place = (self.0.len() * part).div_ceil(100).saturating_sub(1);
        self.0.get(place).copied().unwrap_or(0.0)
    }

    /// Quantiles at equal steps; all numbers if they are few.
    pub(super) fn curve(&self) -> Vec<f64> {
        let points = self.0.len().min(MOST_POINTS);
        let last = self.0.len().saturating_sub(1);
        let place = |point: usize| point * last / points.saturating_sub(1).max(1);
        let at = |point: usize| self.0.get(place(point)).copied();
        (0..points).filter_map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_go_from_the_least_to_the_greatest() {
        let few = Sorted::new(vec![3.0, 1.0, 2.0]);
        assert_eq!(few.curve(), [1.0, 2.0, 3.0]);
        assert_eq!(
            (few.percentile(50), few.percentile(99), few.sum()),
            (2.0, 3.0, 6.0)
        );
        let many = Sorted::new((0..=1000).map(f64::from).collect());
        let curve = many.curve();
        assert_eq!(curve.len(), MOST_POINTS);
        assert_eq!((curve[0], curve[50], curve[100]), (0.0, 500.0, 1000.0));
        assert_eq!(Sorted::new(Vec::new()).curve(), [0.0; 0]);
    }
}
