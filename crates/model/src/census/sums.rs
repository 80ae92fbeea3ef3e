//! Exact sums of the bytes of a band over censuses, and the statistics of eventlog2html's report computed from
//! them.

use eventlog::ids::Nanos;

use super::clock::Clock;
use super::steps::Run;

/// Sums over censuses that can be added and subtracted; they wrap around, see [`Clock`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Number of censuses in which the band holds anything.
    held: u64,
    bytes: u128,
    squares: u128,
    /// Sums over these censuses only; times are in nanoseconds since the first census of the profile.
    times: u128,
    times_squares: u128,
    times_bytes: u128,
    /// Twice the integral over time, each census weighted with half of the time to each of its neighbors.
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

    pub(super) fn minus(&self, before: &Self) -> Self {
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

/// Exact statistics of a band over a range of censuses. Where a census does not list the band, it holds 0 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BandSums {
    /// Number of censuses in the range.
    pub censuses: u32,
    /// Number of these in which the band holds anything.
    pub held: u32,
    /// Sum of the bytes over all censuses of the range.
    pub bytes: u128,
    /// Sum of the squared bytes.
    pub squares: u128,
    /// Bytes in the first census of the range.
    pub first: u64,
    /// Bytes in the last census of the range.
    pub last: u64,
    /// Most bytes in one census.
    pub max: u64,
    /// Twice the integral over time in byte-nanoseconds, by the trapezoidal rule.
    pub twice_integral: u128,
    pub(super) line: Line,
}

/// Sums for linear regression over the censuses in which the band holds anything; times are relative to `origin`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    origin: Nanos,
    /// Time of the last of these censuses.
    last: Nanos,
    times: u128,
    times_squares: u128,
    times_bytes: u128,
}

/// A linear trend of the bytes of a band over time.
///
/// A least-squares fit over the censuses in which the band holds anything. As in eventlog2html
/// (`Eventlog.Total`), times are scaled by the last time, and bytes by their maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Value of the line at time 0, as a share of the maximum.
    pub intercept: f64,
    /// Increase from time 0 to the last time, as a share of the maximum.
    pub slope: f64,
    /// Coefficient of determination, 0 to 1.
    pub r2: f64,
    /// Slope in bytes per second.
    pub bytes_per_second: f64,
}

impl BandSums {
    pub(super) fn new(sums: &Sums, ends: RangeInputs) -> Self {
        let RangeInputs {
            censuses,
            first,
            last,
            max,
            origin,
            last_nonzero,
            before_ns,
            after_ns,
        } = ends;
        // At the ends of the range, a census has a neighbor within it on one side only.
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
                last: last_nonzero,
                times: sums.times,
                times_squares: sums.times_squares,
                times_bytes: sums.times_bytes,
            },
        }
    }

    /// Returns the mean bytes over all censuses of the range; 0 without censuses.
    pub fn mean(&self) -> f64 {
        self.bytes as f64 / f64::from(self.censuses.max(1))
    }

    /// Returns the integral over time in byte-seconds.
    pub fn integral_byte_seconds(&self) -> f64 {
        self.twice_integral as f64 / 2e9
    }

    /// Returns the population standard deviation of the bytes over all censuses of the range: √(n Σv² − (Σv)²) /
    /// n.
    pub fn stddev(&self) -> f64 {
        let n = u128::from(self.censuses.max(1));
        difference_of_products((n, self.squares), (self.bytes, self.bytes))
            .max(0.0)
            .sqrt()
            / n as f64
    }

    /// Fits the line. `None` if the band holds something in only one census, always the same bytes, or always at
    /// the same time.
    pub fn growth(&self) -> Option<Growth> {
        let n = u128::from(self.held);
        if self.held < 2 || self.max == 0 {
            return None;
        }
        let line = &self.line;
        // n² times the variance of times, the variance of bytes, and their covariance.
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

/// The inputs of [`BandSums`] other than the sums.
pub(super) struct RangeInputs {
    pub(super) censuses: u32,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) max: u64,
    /// Time of the first census of the profile.
    pub(super) origin: Nanos,
    pub(super) last_nonzero: Nanos,
    /// Time from the census before the range to its first one.
    pub(super) before_ns: u64,
    /// Time from the last census of the range to the next one.
    pub(super) after_ns: u64,
}

/// `a·b − c·d`, computed exactly in integers and then rounded. Falls back to floating point on overflow, which no
/// real amounts of memory and time cause.
fn difference_of_products((a, b): (u128, u128), (c, d): (u128, u128)) -> f64 {
    match (a.checked_mul(b), c.checked_mul(d)) {
        (Some(one), Some(other)) if one >= other => (one - other) as f64,
        (Some(one), Some(other)) => -((other - one) as f64),
        _ => a as f64 * b as f64 - c as f64 * d as f64,
    }
}
