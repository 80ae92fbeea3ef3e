//! Lost time still available to findings: every nanosecond of a capability is claimed by at most one finding.
//!
//! The account of time assigns one class to every nanosecond of a capability. Findings claim from these classes in
//! the order of the rules, so that all claims together never exceed the capabilities' lifetimes.

use crate::lost_time::{CAUSES, Cause, CauseTimes, IdleParts};

/// Pool that findings claim time from: one cause of lost time, or several together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Stopped, waiting until all capabilities have stopped for a collection.
    Stopping,
    /// Inside collections, including waiting in them and heap censuses.
    Collecting,
    /// Part of [`Collecting`](Self::Collecting): a capability has no work in a collection, or resumes late after
    /// it.
    GcWaiting,
    /// Idle while a thread is runnable.
    CapIdleWorkAvailable,
    /// Part of [`CapIdleWorkAvailable`](Self::CapIdleWorkAvailable) with a long wait of a thread.
    ReadyLong,
    /// The rest of [`CapIdleWorkAvailable`](Self::CapIdleWorkAvailable).
    HandOver,
    /// Idle with no thread runnable.
    Idle,
    /// Part of [`Idle`](Self::Idle) in which one other capability ran.
    Serial,
    /// Running threads.
    Running,
}

impl Pool {
    /// Returns the causes in the pool, in the order in which claims use them up.
    const fn causes(self) -> &'static [Cause] {
        match self {
            Self::Stopping => &[Cause::GcSync],
            Self::Collecting => &[Cause::Census, Cause::Collecting, Cause::GcWaiting],
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

/// Unclaimed time by cause, in nanoseconds summed over capabilities.
#[derive(Clone, Debug)]
pub struct LossBudget {
    all: CauseTimes,
    unclaimed: CauseTimes,
    caps: u64,
    /// Whether each collection of the context is claimed; `claimed_syncs` is the same for the stopping time before it.
    claimed_pauses: Vec<bool>,
    claimed_syncs: Vec<bool>,
    /// Idle stretches already claimed, sorted and disjoint.
    idle: Vec<(u64, u64)>,
}

impl LossBudget {
    /// Creates a budget with nothing claimed, for a range with `collections` collections.
    pub fn new(all: CauseTimes, caps: u64, collections: usize) -> Self {
        Self {
            all,
            unclaimed: all,
            caps: caps.max(1),
            claimed_pauses: vec![false; collections],
            claimed_syncs: vec![false; collections],
            idle: Vec::new(),
        }
    }

    /// Claims up to `cap_ns` capability nanoseconds of what is left in the pool. Returns the claimed time divided
    /// by the number of capabilities.
    pub fn claim(&mut self, pool: Pool, cap_ns: u64) -> u64 {
        self.take(pool.causes(), cap_ns) / self.caps
    }

    /// Claims up to these amounts of idle time from what is left. Where nothing ran, time of the cause `first` comes
    /// before others. Returns the claimed time divided by the number of capabilities.
    pub fn claim_parts(&mut self, parts: &IdleParts, first: Cause) -> u64 {
        let none_running = match first {
            Cause::Sleeping => [Cause::Sleeping, Cause::Outside, Cause::EachOther],
            Cause::Outside => [Cause::Outside, Cause::Sleeping, Cause::EachOther],
            _ => [Cause::EachOther, Cause::Outside, Cause::Sleeping],
        };
        let parts: [(&[Cause], u64); 4] = [
            (Pool::CapIdleWorkAvailable.causes(), parts.ready_ns),
            (&[Cause::Serial], parts.serial_ns),
            (&[Cause::FewThreads], parts.several_ns),
            (&none_running, parts.none_running_ns),
        ];
        let claimed = parts.map(|(causes, cap_ns)| self.take(causes, cap_ns));
        claimed.iter().sum::<u64>() / self.caps
    }

    /// Takes up to `cap_ns` from the causes, first ones first. Returns the capability nanoseconds that were
    /// available.
    fn take(&mut self, causes: &[Cause], cap_ns: u64) -> u64 {
        let mut open_ns = cap_ns;
        for cause in causes {
            let unclaimed = &mut self.unclaimed[*cause as usize];
            let claimed = open_ns.min(*unclaimed);
            *unclaimed -= claimed;
            open_ns -= claimed;
        }
        cap_ns - open_ns
    }

    /// Claims idle stretches and returns those parts of them that were unclaimed. `stretches` are sorted and
    /// disjoint.
    pub fn claim_idle(&mut self, stretches: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let free = without(stretches, &self.idle);
        self.idle.extend_from_slice(&free);
        self.idle.sort_unstable();
        free
    }

    /// Returns the whole size of a pool, claimed or not, in capability nanoseconds: the upper bound of any cost.
    pub fn all_ns(&self, pool: Pool) -> u64 {
        let causes = pool.causes().iter();
        causes.map(|cause| self.all[*cause as usize]).sum()
    }

    /// Claims a collection by its index in the context. Returns whether it was unclaimed.
    pub fn claim_pause(&mut self, index: usize) -> bool {
        let slot = self.claimed_pauses.get_mut(index);
        slot.is_some_and(|slot| !std::mem::replace(slot, true))
    }

    /// Claims the stopping time before a collection. Returns whether it was unclaimed.
    pub fn claim_sync(&mut self, index: usize) -> bool {
        let slot = self.claimed_syncs.get_mut(index);
        slot.is_some_and(|slot| !std::mem::replace(slot, true))
    }

    /// Returns whether the stopping time before a collection is unclaimed.
    pub fn is_sync_free(&self, index: usize) -> bool {
        self.claimed_syncs.get(index) == Some(&false)
    }

    /// Returns whether a collection is unclaimed.
    pub fn is_pause_free(&self, index: usize) -> bool {
        self.claimed_pauses.get(index) == Some(&false)
    }

    /// Filters collections with their indices in the context to those that are unclaimed.
    pub(crate) fn free_pauses<T>(&self, all: impl Iterator<Item = (usize, T)>) -> Vec<(usize, T)> {
        all.filter(|(index, _)| self.is_pause_free(*index))
            .collect()
    }

    /// Returns the unclaimed time of a pool, in capability nanoseconds.
    pub fn unclaimed_ns(&self, pool: Pool) -> u64 {
        let causes = pool.causes().iter();
        causes.map(|cause| self.unclaimed[*cause as usize]).sum()
    }

    /// Returns the unclaimed time by cause, in capability nanoseconds.
    pub const fn unclaimed(&self) -> &[u64; CAUSES] {
        &self.unclaimed
    }

    /// Returns all time by cause, claimed or not, in capability nanoseconds.
    pub const fn all(&self) -> &[u64; CAUSES] {
        &self.all
    }
}

/// Subtracts `others` from `stretches`; both are sorted and disjoint.
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
        assert_eq!(loss_budget.unclaimed_ns(Pool::HandOver), 0);
        assert_eq!(loss_budget.unclaimed_ns(Pool::ReadyLong), 30);
        assert_eq!(loss_budget.claim(Pool::CapIdleWorkAvailable, 120), 15);
        let parts = IdleParts {
            ready_ns: 9,
            serial_ns: 9,
            ..IdleParts::default()
        };
        assert_eq!(loss_budget.claim_parts(&parts, Cause::EachOther), 0);
    }

    #[test]
    fn time_in_which_nothing_ran_is_claimed_from_its_cause() {
        let causes = [Cause::Sleeping, Cause::Outside, Cause::EachOther];
        let mut all = [0; CAUSES];
        for cause in causes {
            all[cause as usize] = 100;
        }
        let parts = IdleParts {
            none_running_ns: 60,
            ..IdleParts::default()
        };
        for first in causes {
            let mut loss_budget = LossBudget::new(all, 1, 0);
            assert_eq!(loss_budget.claim_parts(&parts, first), 60);
            let left = causes.map(|cause| loss_budget.unclaimed()[cause as usize]);
            let expected = causes.map(|cause| if cause == first { 40 } else { 100 });
            assert_eq!(left, expected);
        }
    }
}
