//! Cost of censuses: the time for which they stop the program.
//!
//! A census is taken in a major collection that the runtime performs for it, so the whole pause counts as its
//! cost. The account of time shows how much of it was spent on counting.

use serde::{Deserialize, Serialize};

use super::HeapProfile;
use crate::recording::Recording;
use eventlog::ids::{CapId, Nanos};
use model::class::Class;
use model::lane::Lane;
use model::time::Interval;

/// Pause in which a census was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusPause {
    /// From the request to stop until all capabilities could continue.
    pub stopped: Interval,
    /// The collection within the pause.
    pub collection: Interval,
    /// Time spent on counting the heap, in ns.
    pub counting_ns: u64,
}

/// Cost of the censuses of a profile in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusCosts {
    /// Number of censuses in the range.
    pub censuses: u64,
    /// Number of censuses whose pause is in the log.
    pub with_pause: u64,
    /// Total length of their pauses within the range, in ns.
    pub stopped_ns: u64,
    /// Time within these pauses spent on counting the heap, in ns.
    pub counting_ns: u64,
    /// Length of the range in ns.
    pub range_ns: u64,
    /// Longest of the pauses.
    pub longest: Option<Interval>,
}

impl Recording {
    /// Returns the pause of the census at a time; `None` if unknown, or before the log has been read.
    pub fn census_pause(&self, at: Nanos) -> Option<CensusPause> {
        if !self.is_finished() {
            return None;
        }
        let account = self.store.account();
        let pause = account.pauses().pause_at(at)?;
        Some(CensusPause {
            stopped: pause.span(),
            collection: Interval::new(pause.start, pause.end),
            counting_ns: self.counted_ns(pause.leader, pause.span()),
        })
    }

    fn counted_ns(&self, cap: CapId, range: Interval) -> u64 {
        let gc_spans = self.store.account().gc_spans_of(cap);
        gc_spans.map_or(0, |gc_spans| {
            gc_spans.time_in(range)[Class::Census as usize]
        })
    }

    /// Returns the cost of a profile's censuses in a range, or in the whole log.
    ///
    /// `None` if censuses have no times, or the log has not been read to its end.
    pub fn census_costs(
        &self,
        profile: &HeapProfile,
        range: Option<Interval>,
    ) -> Option<CensusCosts> {
        if !self.is_finished() || !profile.is_timed() {
            return None;
        }
        let account = self.store.account();
        let within = range.unwrap_or(account.log()).clip(account.log());
        let mut costs = CensusCosts {
            range_ns: within.duration().0,
            ..CensusCosts::default()
        };
        let mut before = None;
        for census in profile.censuses_in(range, self.end()) {
            costs.censuses += 1;
            let pause = profile
                .time(census)
                .and_then(|at| account.pauses().pause_at(at));
            let Some(pause) = pause else { continue };
            costs.with_pause += 1;
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
