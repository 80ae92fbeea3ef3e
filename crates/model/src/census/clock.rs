//! Times of the censuses of a profile, with prefix sums for regression and integrals.

use eventlog::ids::Nanos;

/// Times of censuses with prefix sums.
///
/// The sums wrap around. Differences of two sums are correct as long as they fit, which holds for profiles
/// shorter than two years.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    times: Vec<Nanos>,
    /// Prefix sums of the times since the first census.
    sums: Vec<u128>,
    /// Prefix sums of the squares of these times.
    squares: Vec<u128>,
}

/// More than two years in nanoseconds; times are limited to it, so that sums of squares do not overflow.
const LONGEST_NS: u64 = 1 << 56;

impl Clock {
    /// Adds a census; its time is raised to that of the previous one if it is earlier.
    pub(super) fn push(&mut self, at: Nanos) {
        let last = self.times.last().copied().unwrap_or(at);
        let end = self.times.len();
        let (sum, square) = (self.sum_before(end), self.squares_before(end));
        self.sums.push(sum);
        self.squares.push(square);
        self.times.push(at.max(last));
    }

    pub(super) fn times(&self) -> &[Nanos] {
        &self.times
    }

    /// Returns the time of a census since the first one, in nanoseconds; beyond the last one, the time of the
    /// last.
    pub(super) fn since_first(&self, census: u32) -> u64 {
        let first = self.times.first().copied().unwrap_or_default();
        let time = self.times.get(census as usize).or(self.times.last());
        let time = time.copied().unwrap_or_default();
        time.0.saturating_sub(first.0).min(LONGEST_NS)
    }

    fn before(&self, column: &[u128], census: usize, power: fn(u128) -> u128) -> u128 {
        if let Some(&sum) = column.get(census) {
            return sum;
        }
        let Some((last, &sum)) = column.len().checked_sub(1).zip(column.last()) else {
            return 0;
        };
        sum.wrapping_add(power(self.since_first(last as u32).into()))
    }

    /// Returns the sum of the times before a census.
    pub(super) fn sum_before(&self, census: usize) -> u128 {
        self.before(&self.sums, census, |time| time)
    }

    /// Returns the sum of the squared times before a census.
    pub(super) fn squares_before(&self, census: usize) -> u128 {
        self.before(&self.squares, census, |time| time * time)
    }

    /// Returns twice the sum of the weights that the censuses before one have in an integral. The weight of a census
    /// is half of the time to each neighbor.
    pub(super) fn weights_before(&self, census: u32) -> u128 {
        let Some(last) = census.checked_sub(1) else {
            return 0;
        };
        u128::from(self.since_first(census)) + u128::from(self.since_first(last))
    }
}
