//! When the censuses of a profile were, in a form that sums over any stretch of
//! them can be taken from.

use eventlog::ids::Nanos;

/// Times of censuses with the sums before each.
///
/// Sums wrap around, which no difference of two of them shows as long as it
/// fits itself; it does for censuses of less than two years.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    times: Vec<Nanos>,
    /// The sum of all times before each census, since the first one.
    sums: Vec<u128>,
    /// The sum of their squares.
    squares: Vec<u128>,
}

/// Two years and more in nanoseconds, so that squares can be added up.
const LONGEST_NS: u64 = 1 << 56;

impl Clock {
    /// A census follows; it is never earlier than the one before.
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

    /// The time of a census in nanoseconds since the first one; beyond the last
    /// one, that of the last.
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

    /// The sum of the times before a census.
    pub(super) fn sum_before(&self, census: usize) -> u128 {
        self.before(&self.sums, census, |time| time)
    }

    /// The sum of the squares of the times before a census.
    pub(super) fn squares_before(&self, census: usize) -> u128 {
        self.before(&self.squares, census, |time| time * time)
    }

    /// Twice the time that counts for a census in an integral, summed over the
    /// censuses before one: half of the way to each neighbour.
    pub(super) fn weights_before(&self, census: u32) -> u128 {
        let Some(last) = census.checked_sub(1) else {
            return 0;
        };
        u128::from(self.since_first(census)) + u128::from(self.since_first(last))
    }
}
