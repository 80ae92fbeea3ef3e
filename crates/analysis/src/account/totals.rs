//! Sums that the [sweep](super::sweep) computes.

use model::forest::Aggregate;

/// Number of classes of idle time, by the number of other running capabilities: none, one, several.
pub const IDLE_CLASSES: usize = 3;

/// Sums from the beginning of the log to some time, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Time in which exactly `i` capabilities ran threads, by `i`.
    pub running_ns: Vec<u64>,
    /// Time in which each capability was idle while a thread was ready, by lane without lane 0.
    pub idle_work_available_ns: Vec<u64>,
    /// Time, outside of pauses, in which some capability was idle.
    pub some_idle_ns: u64,
    /// Sum over all capabilities of their idle time while no thread was ready: while no other capability ran,
    /// while one did, and while several did.
    pub idle_ns: [u64; IDLE_CLASSES],
    /// Sum over all threads of their ready time.
    pub ready_ns: u64,
    /// Time in which a collection was in progress or capabilities were being stopped for one.
    pub paused_ns: u64,
}

/// Returns the sum over all capabilities of their run time, from the time by number of running capabilities.
pub(super) fn capability_time(parallelism_ns: &[u64]) -> u64 {
    let each = (0u64..).zip(parallelism_ns);
    each.map(|(count, time)| count.saturating_mul(*time))
        .fold(0, u64::saturating_add)
}

impl Totals {
    pub(super) fn new(caps: usize) -> Self {
        Self {
            running_ns: vec![0; caps + 1],
            idle_work_available_ns: vec![0; caps],
            ..Self::default()
        }
    }

    /// Returns the difference from an earlier state.
    pub fn since(&self, earlier: &Self) -> Self {
        let minus = |a: &[u64], b: &[u64]| {
            let pairs = a.iter().zip(b);
            pairs.map(|(a, b)| a.saturating_sub(*b)).collect()
        };
        Self {
            running_ns: minus(&self.running_ns, &earlier.running_ns),
            idle_work_available_ns: minus(
                &self.idle_work_available_ns,
                &earlier.idle_work_available_ns,
            ),
            some_idle_ns: self.some_idle_ns.saturating_sub(earlier.some_idle_ns),
            idle_ns: std::array::from_fn(|class| {
                self.idle_ns[class].saturating_sub(earlier.idle_ns[class])
            }),
            ready_ns: self.ready_ns.saturating_sub(earlier.ready_ns),
            paused_ns: self.paused_ns.saturating_sub(earlier.paused_ns),
        }
    }
}

/// Range and sum of a changing number between two times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinMaxSum {
    /// Minimum between the two times.
    pub min: u32,
    /// Maximum between the two times.
    pub max: u32,
    /// Integral over time, in nanoseconds. Divided by the length of the time, it is the mean.
    pub sum_ns: u64,
}

/// Levels that the sweep counts between two times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of ready threads.
    pub ready: MinMaxSum,
    /// Number of capabilities that run threads.
    pub running: MinMaxSum,
}

/// Minimum and maximum of each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MinMaxCounts {
    /// Minimum and maximum number of ready threads.
    pub(super) ready: (u32, u32),
    /// Minimum and maximum number of running capabilities.
    pub(super) running: (u32, u32),
}

impl MinMaxCounts {
    /// Neutral element: an empty time.
    pub(super) const NONE: Self = Self {
        ready: (u32::MAX, 0),
        running: (u32::MAX, 0),
    };
}

impl Aggregate for MinMaxCounts {
    fn combine(self, later: Self) -> Self {
        let both = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
        Self {
            ready: both(self.ready, later.ready),
            running: both(self.running, later.running),
        }
    }
}
