//! Who claims which lost time: every nanosecond of a capability is lost to one
//! finding at most.
//!
//! The account of time has one class for every nanosecond of a capability. What is
//! not running can be claimed, class by class, in the order of the rules; so that
//! all claims together are never more than the capabilities' lives.

use analysis::account::report::{CapTimes, ProgramTimes};

/// What can be claimed: classes of the account of capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Standing still until all have stopped for a collection.
    Stopping,
    /// In collections.
    Collecting,
    /// Standing by while a thread is ready.
    IdleReady,
    /// Standing by, with no thread ready.
    Idle,
    /// Running threads.
    Running,
}

const POOLS: usize = 5;

/// What is not claimed yet, in nanoseconds of capabilities.
#[derive(Clone, Debug)]
pub struct Ledger {
    all_ns: [u64; POOLS],
    left_ns: [u64; POOLS],
    caps: u64,
    /// Of the collections of the scope, which ones are claimed, and which of the waits
    /// before them.
    stops: Vec<bool>,
    syncs: Vec<bool>,
}

impl Ledger {
    /// Nothing is claimed of a range with so many collections.
    #[must_use]
    pub fn new(times: &ProgramTimes, caps: u64, stops: usize) -> Self {
        let all: CapTimes = times.all_caps();
        let all_ns = [
            all.stopping_ns,
            all.in_collections_ns().saturating_add(all.coming_back_ns),
            all.idle_ready_ns,
            all.idle_ns,
            all.running_ns,
        ];
        Self {
            all_ns,
            left_ns: all_ns,
            caps: caps.max(1),
            stops: vec![false; stops],
            syncs: vec![false; stops],
        }
    }

    /// Claims nanoseconds of capabilities, as far as nobody did: how many, as
    /// nanoseconds of the program.
    pub fn claim(&mut self, pool: Pool, cap_ns: u64) -> u64 {
        let left = &mut self.left_ns[pool as usize];
        let claimed = cap_ns.min(*left);
        *left -= claimed;
        claimed / self.caps
    }

    /// All that there is of a pool, in nanoseconds of capabilities: no loss is greater.
    #[must_use]
    pub const fn all_ns(&self, pool: Pool) -> u64 {
        self.all_ns[pool as usize]
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
    pub const fn left_ns(&self, pool: Pool) -> u64 {
        self.left_ns[pool as usize]
    }
}
