//! What the [walk](super::sweep) sums up.

use model::forest::Aggregate;

/// Idle time is told apart by how many capabilities run: none, one, several.
pub const IDLE_BESIDE: usize = 3;

/// What was summed up from the beginning of the log to some moment, in
/// nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// For how long exactly so many capabilities ran threads.
    pub running_ns: Vec<u64>,
    /// For how long each lane of a capability stood by while a thread was ready.
    pub idle_ready_ns: Vec<u64>,
    /// For how long, outside of pauses, some capability stood by.
    pub some_idle_ns: u64,
    /// For how long capabilities stood by with no thread ready, all together: while no other
    /// one ran, while one did, and while several did.
    pub idle_ns: [u64; IDLE_BESIDE],
    /// How long threads were ready, all together.
    pub ready_ns: u64,
    /// How long a collection went on or was being stopped for.
    pub paused_ns: u64,
}

/// The capabilities' time, of the time for which exactly so many of them ran.
pub(super) fn capability_time(parallelism_ns: &[u64]) -> u64 {
    let each = (0u64..).zip(parallelism_ns);
    each.map(|(count, time)| count.saturating_mul(*time))
        .fold(0, u64::saturating_add)
}

impl Totals {
    pub(super) fn new(caps: usize) -> Self {
        Self {
            running_ns: vec![0; caps + 1],
            idle_ready_ns: vec![0; caps],
            ..Self::default()
        }
    }

    /// What came after an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let minus = |a: &[u64], b: &[u64]| {
            let pairs = a.iter().zip(b);
            pairs.map(|(a, b)| a.saturating_sub(*b)).collect()
        };
        Self {
            running_ns: minus(&self.running_ns, &earlier.running_ns),
            idle_ready_ns: minus(&self.idle_ready_ns, &earlier.idle_ready_ns),
            some_idle_ns: self.some_idle_ns.saturating_sub(earlier.some_idle_ns),
            idle_ns: std::array::from_fn(|beside| {
                self.idle_ns[beside].saturating_sub(earlier.idle_ns[beside])
            }),
            ready_ns: self.ready_ns.saturating_sub(earlier.ready_ns),
            paused_ns: self.paused_ns.saturating_sub(earlier.paused_ns),
        }
    }
}

/// What a number that changes was from one moment to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// The least.
    pub min: u32,
    /// The most.
    pub max: u32,
    /// The number times how long it was so, in nanoseconds: its mean over time
    /// is this divided by the length.
    pub sum_ns: u64,
}

/// What the walk counts, from one moment to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Threads that are ready.
    pub ready: Level,
    /// Capabilities that run threads.
    pub running: Level,
}

/// The least and the most of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels {
    /// Of ready threads.
    pub(super) ready: (u32, u32),
    /// Of capabilities that run.
    pub(super) running: (u32, u32),
}

impl Levels {
    /// Of no time at all.
    pub(super) const NONE: Self = Self {
        ready: (u32::MAX, 0),
        running: (u32::MAX, 0),
    };
}

impl Aggregate for Levels {
    fn combine(self, later: Self) -> Self {
        let both = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
        Self {
            ready: both(self.ready, later.ready),
            running: both(self.running, later.running),
        }
    }
}
