//! Who claims which lost time: every nanosecond of a capability is lost to one
//! finding at most.
//!
//! The account of time has one class for every nanosecond of a capability. What is
//! not running can be claimed, class by class, in the order of the rules; so that
//! all claims together are never more than the capabilities' lives.

use crate::lost_time::{CAUSES, Cause, CauseTimes, IdleParts};

/// What can be claimed: causes of lost time, and classes of the account that have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Standing still until all have stopped for a collection.
    Stopping,
    /// In collections.
    Collecting,
    /// The part of it in which a capability has nothing to collect, or goes on late.
    GcWaiting,
    /// Standing by while a thread is ready.
    CapIdleWorkAvailable,
    /// The part of it in which a thread waited for long.
    ReadyLong,
    /// The rest of it.
    HandOver,
    /// Standing by, with no thread ready.
    Idle,
    /// The part of it in which one capability ran.
    Serial,
    /// Running threads.
    Running,
}

impl Pool {
    /// Which causes it has: a claim takes the first ones first.
    const fn causes(self) -> &'static [Cause] {
        match self {
            Self::Stopping => &[Cause::GcSync],
            Self::Collecting => &[Cause::Collecting, Cause::GcWaiting, Cause::Census],
            Self::GcWaiting => &[Cause::GcWaiting],
            Self::CapIdleWorkAvailable => &[Cause::HandOver, Cause::ReadyLong],
            Self::ReadyLong => &[Cause::ReadyLong],
            Self::HandOver => &[Cause::HandOver],
            Self::Idle => &[
                Cause::Serial,
                Cause::FewThreads,
                Cause::EachOther,
                Cause::Outside,
                Cause::Sleeping,
            ],
            Self::Serial => &[Cause::Serial],
            Self::Running => &[Cause::Running],
        }
    }
}

/// What is not claimed yet, in nanoseconds of capabilities.
#[derive(Clone, Debug)]
pub struct LossBudget {
    all: CauseTimes,
    left: CauseTimes,
    caps: u64,
    /// Of the collections of the scope, which ones are claimed, and which of the waits
    /// before them.
    stops: Vec<bool>,
    syncs: Vec<bool>,
    /// When capabilities were idle for a reason that a rule knows, in order.
    idle: Vec<(u64, u64)>,
}

impl LossBudget {
    /// Nothing is claimed of a range with so many collections.
    #[must_use]
    pub fn new(all: CauseTimes, caps: u64, stops: usize) -> Self {
        Self {
            all,
            left: all,
            caps: caps.max(1),
            stops: vec![false; stops],
            syncs: vec![false; stops],
            idle: Vec::new(),
        }
    }

    /// Claims nanoseconds of capabilities, as far as nobody did: how many, as
    /// nanoseconds of the program.
    pub fn claim(&mut self, pool: Pool, cap_ns: u64) -> u64 {
        self.take(pool.causes(), cap_ns) / self.caps
    }

    /// Claims idle time of capabilities part by part, as far as nobody did: how many, as
    /// nanoseconds of the program.
    pub fn claim_parts(&mut self, parts: &IdleParts) -> u64 {
        let nobody = [Cause::EachOther, Cause::Outside, Cause::Sleeping];
        let parts: [(&[Cause], u64); 4] = [
            (Pool::CapIdleWorkAvailable.causes(), parts.ready_ns),
            (&[Cause::Serial], parts.serial_ns),
            (&[Cause::FewThreads], parts.several_ns),
            (&nobody, parts.nobody_ns),
        ];
        let claimed = parts.map(|(causes, cap_ns)| self.take(causes, cap_ns));
        claimed.iter().sum::<u64>() / self.caps
    }

    /// Takes from the first causes first: how much there was, in nanoseconds of capabilities.
    fn take(&mut self, causes: &[Cause], cap_ns: u64) -> u64 {
        let mut open_ns = cap_ns;
        for cause in causes {
            let left = &mut self.left[*cause as usize];
            let claimed = open_ns.min(*left);
            *left -= claimed;
            open_ns -= claimed;
        }
        cap_ns - open_ns
    }

    /// Claims stretches of time in which capabilities were idle: those parts of them that
    /// nobody claimed before. Stretches are in order and do not overlap.
    pub fn claim_idle(&mut self, stretches: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let free = without(stretches, &self.idle);
        self.idle.extend_from_slice(&free);
        self.idle.sort_unstable();
        free
    }

    /// All that there is of a pool, in nanoseconds of capabilities: no loss is greater.
    #[must_use]
    pub fn all_ns(&self, pool: Pool) -> u64 {
        let causes = pool.causes().iter();
        causes.map(|cause| self.all[*cause as usize]).sum()
    }

    /// Claims a collection, by its place in the scope; whether nobody did before.
    pub fn claim_stop(&mut self, place: usize) -> bool {
        let slot = self.stops.get_mut(place);
        slot.is_some_and(|slot| !std::mem::replace(slot, true))
    }

    /// Claims the time until all had stopped for a collection; whether nobody did before.
    pub fn claim_sync(&mut self, place: usize) -> bool {
        let slot = self.syncs.get_mut(place);
        slot.is_some_and(|slot| !std::mem::replace(slot, true))
    }

    /// Whether the time until all had stopped for a collection is not claimed.
    #[must_use]
    pub fn is_sync_free(&self, place: usize) -> bool {
        self.syncs.get(place) == Some(&false)
    }

    /// Whether a collection is not claimed.
    #[must_use]
    pub fn is_free(&self, place: usize) -> bool {
        self.stops.get(place) == Some(&false)
    }

    /// What nobody claimed of a pool, in nanoseconds of capabilities.
    #[must_use]
    pub fn left_ns(&self, pool: Pool) -> u64 {
        let causes = pool.causes().iter();
        causes.map(|cause| self.left[*cause as usize]).sum()
    }

    /// What nobody claimed, by cause.
    #[must_use]
    pub const fn left(&self) -> &[u64; CAUSES] {
        &self.left
    }

    /// All there is, by cause.
    #[must_use]
    pub const fn all(&self) -> &[u64; CAUSES] {
        &self.all
    }
}

/// The parts of stretches outside of others; both are in order and do not overlap.
fn without(stretches: &[(u64, u64)], others: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut free = Vec::new();
    for &(mut from, to) in stretches {
        let first = others.partition_point(|other| other.1 <= from);
        for &(start, end) in others.iter().skip(first).take_while(|other| other.0 < to) {
            if from < start {
                free.push((from, start));
            }
            from = from.max(end);
        }
        if from < to {
            free.push((from, to));
        }
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_claimed_once() {
        let mut loss_budget = LossBudget::new([0; CAUSES], 2, 0);
        assert_eq!(
            loss_budget.claim_idle(&[(10, 20), (30, 40)]),
            [(10, 20), (30, 40)]
        );
        let free = loss_budget.claim_idle(&[(0, 15), (18, 35), (39, 50)]);
        assert_eq!(free, [(0, 10), (20, 30), (40, 50)]);
        assert_eq!(loss_budget.claim_idle(&[(0, 50)]), []);
    }

    #[test]
    fn a_claim_takes_the_first_cause_first_and_no_more_than_there_is() {
        let mut all = [0; CAUSES];
        all[Cause::HandOver as usize] = 100;
        all[Cause::ReadyLong as usize] = 50;
        let mut loss_budget = LossBudget::new(all, 2, 0);
        assert_eq!(loss_budget.claim(Pool::CapIdleWorkAvailable, 120), 60);
        assert_eq!(loss_budget.left_ns(Pool::HandOver), 0);
        assert_eq!(loss_budget.left_ns(Pool::ReadyLong), 30);
        assert_eq!(loss_budget.claim(Pool::CapIdleWorkAvailable, 120), 15);
        let parts = IdleParts {
            ready_ns: 9,
            serial_ns: 9,
            ..IdleParts::default()
        };
        assert_eq!(loss_budget.claim_parts(&parts), 0);
    }
}
