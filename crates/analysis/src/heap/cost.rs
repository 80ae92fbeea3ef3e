//! What censuses cost: for how long the program stood still for them. A census is
//! taken in a major collection that the runtime makes for it, so that all of that
//! pause is its price; how much of it went into counting, the account of time says.

use serde::{Deserialize, Serialize};

use super::HeapProfile;
use crate::recording::Recording;
use eventlog::ids::{CapId, Nanos};
use model::class::Class;
use model::lane::Lane;
use model::time::Interval;

/// The pause in which a census was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusPause {
    /// From when all had to stop until they could go on.
    pub stopped: Interval,
    /// The collection in it.
    pub collection: Interval,
    /// For how long of it the heap was counted, in nanoseconds.
    pub counting_ns: u64,
}

/// What the censuses of a profile cost, in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusCosts {
    /// How many censuses.
    pub censuses: u64,
    /// Of how many the log tells the pause.
    pub told: u64,
    /// For how long the program stood still for them, in the range.
    pub stopped_ns: u64,
    /// For how long of that the heap was counted.
    pub counting_ns: u64,
    /// How long the range is.
    pub range_ns: u64,
    /// The longest of their pauses.
    pub longest: Option<Interval>,
}

impl Recording {
    /// The pause in which a census at that time was taken; `None` if the log does
    /// not tell of it, or is not read to its end.
    #[must_use]
    pub fn census_pause(&self, at: Nanos) -> Option<CensusPause> {
        if !self.is_settled() {
            return None;
        }
        let account = self.store.account();
        let pause = account.pauses().at(at)?;
        Some(CensusPause {
            stopped: pause.span(),
            collection: Interval::new(pause.start, pause.end),
            counting_ns: self.counted_ns(pause.leader, pause.span()),
        })
    }

    fn counted_ns(&self, cap: CapId, range: Interval) -> u64 {
        let pieces = self.store.account().pieces_of(cap);
        pieces.map_or(0, |pieces| pieces.time_in(range)[Class::Census as usize])
    }

    /// What the censuses of a profile cost, in a range or in the whole log; `None`
    /// if it does not tell when its censuses were, or the log is not read to its
    /// end.
    #[must_use]
    pub fn census_costs(
        &self,
        profile: &HeapProfile,
        range: Option<Interval>,
    ) -> Option<CensusCosts> {
        if !self.is_settled() || !profile.is_timed() {
            return None;
        }
        let account = self.store.account();
        let within = range.unwrap_or(account.log()).clip(account.log());
        let mut costs = CensusCosts {
            range_ns: within.duration().0,
            ..CensusCosts::default()
        };
        let mut before = None;
        for census in profile.places(range, self.end()) {
            costs.censuses += 1;
            let pause = profile.time(census).and_then(|at| account.pauses().at(at));
            let Some(pause) = pause else { continue };
            costs.told += 1;
            // Two censuses may share a pause.
            if before.replace(pause.start) == Some(pause.start) {
                continue;
            }
            let stopped = pause.span();
            let inside = stopped.clip(within);
            costs.stopped_ns = costs.stopped_ns.saturating_add(inside.duration().0);
            let counting_ns = self.counted_ns(pause.leader, inside);
            costs.counting_ns = costs.counting_ns.saturating_add(counting_ns);
            let is_longer = |longest: Interval| longest.duration() < stopped.duration();
            if costs.longest.is_none_or(is_longer) {
                costs.longest = Some(stopped);
            }
        }
        Some(costs)
    }
}
