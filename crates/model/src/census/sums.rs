//! What the bytes of a band come to in a range of censuses: exact sums, and the
//! formulas of eventlog2html's report made from them.

use eventlog::ids::Nanos;

use super::clock::Clock;
use super::steps::Run;

/// Sums over censuses, to be added and taken from each other; they wrap around,
/// see [`Clock`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// In how many the band holds anything.
    held: u64,
    bytes: u128,
    squares: u128,
    /// Of the censuses in which it holds anything, with times since the first
    /// census of the profile, in nanoseconds.
    times: u128,
    times_squares: u128,
    times_bytes: u128,
    /// Twice the integral as if each census counted for half of the way to both
    /// of its neighbours.
    twice_integral: u128,
}

impl Sums {
    #[inline]
    pub(super) fn add(&mut self, run: &Run, clock: &Clock) {
        if run.bytes == 0 {
            return;
        }
        let (start, end) = (run.censuses.start as usize, run.censuses.end as usize);
        let (many, bytes) = (
            u128::from(run.censuses.end - run.censuses.start),
            u128::from(run.bytes),
        );
        let times = clock.sum_before(end).wrapping_sub(clock.sum_before(start));
        let squares = clock
            .squares_before(end)
            .wrapping_sub(clock.squares_before(start));
        let weights =
            clock.weights_before(run.censuses.end) - clock.weights_before(run.censuses.start);
        self.held += many as u64;
        let add = |sum: &mut u128, more: u128| *sum = sum.wrapping_add(more);
        add(&mut self.bytes, many * bytes);
        add(&mut self.squares, many * (bytes * bytes));
        add(&mut self.times, times);
        add(&mut self.times_squares, squares);
        add(&mut self.times_bytes, bytes.wrapping_mul(times));
        add(&mut self.twice_integral, bytes.wrapping_mul(weights));
    }

    pub(super) const fn plus(&self, more: &Self) -> Self {
        Self {
            held: self.held + more.held,
            bytes: self.bytes.wrapping_add(more.bytes),
            squares: self.squares.wrapping_add(more.squares),
            times: self.times.wrapping_add(more.times),
            times_squares: self.times_squares.wrapping_add(more.times_squares),
            times_bytes: self.times_bytes.wrapping_add(more.times_bytes),
            twice_integral: self.twice_integral.wrapping_add(more.twice_integral),
        }
    }

    pub(super) fn without(&self, before: &Self) -> Self {
        Self {
            held: self.held - before.held,
            bytes: self.bytes.wrapping_sub(before.bytes),
            squares: self.squares.wrapping_sub(before.squares),
            times: self.times.wrapping_sub(before.times),
            times_squares: self.times_squares.wrapping_sub(before.times_squares),
            times_bytes: self.times_bytes.wrapping_sub(before.times_bytes),
            twice_integral: self.twice_integral.wrapping_sub(before.twice_integral),
        }
    }
}

/// What a band comes to in a range of censuses. Where it is not in a census, it
/// holds nothing there. All numbers are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BandSums {
    /// How many censuses the range has.
    pub censuses: u32,
    /// In how many of them the band holds anything.
    pub held: u32,
    /// The sum of its bytes over all of them.
    pub bytes: u128,
    /// The sum of the squares of its bytes.
    pub squares: u128,
    /// Its bytes in the first census of the range.
    pub first: u64,
    /// Its bytes in the last census of the range.
    pub last: u64,
    /// Its most bytes in one census.
    pub max: u64,
    /// Twice the integral over time in byte-nanoseconds, by the trapezoid rule.
    pub twice_integral: u128,
    pub(super) line: Line,
}

/// Sums for a straight line through the censuses in which a band holds
/// anything, with times since `origin`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    origin: Nanos,
    /// When it last holds anything.
    last: Nanos,
    times: u128,
    times_squares: u128,
    times_bytes: u128,
}

/// A straight line through the bytes of a band over time.
///
/// It is fitted by least squares to the censuses in which the band holds anything.
/// As in eventlog2html (`Eventlog.Total`) times are scaled so that the last of
/// them is 1, and bytes so that their greatest is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The share of the greatest value at time 0.
    pub intercept: f64,
    /// What is added to it until the last time.
    pub slope: f64,
    /// How much of the variation the line explains, 0 to 1.
    pub r2: f64,
    /// The slope in bytes per second.
    pub bytes_per_second: f64,
}

impl BandSums {
    pub(super) fn new(sums: &Sums, ends: Ends) -> Self {
        let Ends {
            censuses,
            first,
            last,
            max,
            origin,
            last_held,
            before_ns,
            after_ns,
        } = ends;
        // The first and the last census of the range have a neighbour on one side only.
        let beyond = u128::from(first)
            .wrapping_mul(before_ns.into())
            .wrapping_add(u128::from(last).wrapping_mul(after_ns.into()));
        Self {
            censuses,
            held: u32::try_from(sums.held).unwrap_or(u32::MAX),
            bytes: sums.bytes,
            squares: sums.squares,
            first,
            last,
            max,
            twice_integral: sums.twice_integral.wrapping_sub(beyond),
            line: Line {
                origin,
                last: last_held,
                times: sums.times,
                times_squares: sums.times_squares,
                times_bytes: sums.times_bytes,
            },
        }
    }

    /// The mean of its bytes over all censuses of the range; 0 without censuses.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.bytes as f64 / f64::from(self.censuses.max(1))
    }

    /// The integral over time in byte-seconds.
    #[must_use]
    pub fn integral_byte_seconds(&self) -> f64 {
        self.twice_integral as f64 / 2e9
    }

    /// The standard deviation of its bytes over all censuses of the range
    /// (that of a population): √(n Σv² − (Σv)²) / n.
    #[must_use]
    pub fn stddev(&self) -> f64 {
        let n = u128::from(self.censuses.max(1));
        difference_of_products((n, self.squares), (self.bytes, self.bytes))
            .max(0.0)
            .sqrt()
            / n as f64
    }

    /// The line through its bytes; none if it holds something in one census
    /// only, always the same, or always at the same time.
    #[must_use]
    pub fn growth(&self) -> Option<Growth> {
        let n = u128::from(self.held);
        if self.held < 2 || self.max == 0 {
            return None;
        }
        let line = &self.line;
        // n² times the variance of times, that of bytes, and the covariance.
        let times = difference_of_products((n, line.times_squares), (line.times, line.times));
        let bytes = difference_of_products((n, self.squares), (self.bytes, self.bytes));
        let both = difference_of_products((n, line.times_bytes), (line.times, self.bytes));
        if times <= 0.0 || bytes <= 0.0 {
            return None;
        }
        let bytes_per_ns = both / times;
        let held = f64::from(self.held);
        let mean_time_ns = line.origin.0 as f64 + line.times as f64 / held;
        let mean = self.bytes as f64 / held;
        let max = self.max as f64;
        Some(Growth {
            intercept: (mean - bytes_per_ns * mean_time_ns) / max,
            slope: bytes_per_ns * line.last.0 as f64 / max,
            r2: (both / times) * (both / bytes),
            bytes_per_second: bytes_per_ns * 1e9,
        })
    }
}

/// What [`BandSums`] are made of beside the sums.
pub(super) struct Ends {
    pub(super) censuses: u32,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) max: u64,
    /// When the first census of the profile was.
    pub(super) origin: Nanos,
    pub(super) last_held: Nanos,
    /// From the census before the range to its first one.
    pub(super) before_ns: u64,
    /// From the last census of the range to the one after it.
    pub(super) after_ns: u64,
}

/// `a·b − c·d`, exact before it is rounded, unless the numbers are beyond all
/// that memory and time can be.
fn difference_of_products((a, b): (u128, u128), (c, d): (u128, u128)) -> f64 {
    match (a.checked_mul(b), c.checked_mul(d)) {
        (Some(one), Some(other)) if one >= other => (one - other) as f64,
        (Some(one), Some(other)) => -((other - one) as f64),
        _ => a as f64 * b as f64 - c as f64 * d as f64,
    }
}
