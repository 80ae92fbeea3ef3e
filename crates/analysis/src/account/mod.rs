//! Time attribution: every nanosecond of every capability and thread has exactly one class, in any range, and all
//! views use the same classes.
//!
//! **Capabilities:** running takes precedence; then everything related to collections, and unknown time
//! ([`gc_spans`]); the rest is idle time, with or without a ready thread. **Threads:** turns show when a thread was
//! blocked, ready (runnable, but not running) or running; ready time is during a collection, or else while some
//! capability was idle, or else behind other threads. **Program:** the collections ([`pauses`]), the number of
//! running capabilities, and the number of ready threads.
//!
//! In addition to the columns of runs, the attribution stores the GC spans of each capability; for each run, how
//! long its thread was ready before it, and for how much of that time some capability was idle; all wakeups and
//! creations; and the checkpoints of the sweep ([`sweep`]), from which the sums at any time are computed. All
//! intervals are half-open.

pub mod columns;
pub mod costs;
mod event_merger;
pub mod facts;
pub mod gc_spans;
pub mod pauses;
pub mod phases;
pub mod report;
pub mod runs;
mod search;
mod sources;
pub mod sweep;
pub mod totals;

use facts::Facts;
use gc_spans::{CollectionContext, GcSpans};
use pauses::Pauses;
use sweep::{Checkpoints, Sweep, SweepCursor, SweepVisitor};

use eventlog::cap_table::CapLanes;
use eventlog::ids::{CapId, Nanos};
use model::moments::Moments;
use model::spill_store::SpillStore;
use model::time::Interval;
use runs::Cap;

/// Stored data of the time attribution, in addition to the runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttributionData {
    log: Interval,
    /// Capabilities, sorted by number.
    caps: Vec<CapId>,
    cap_lanes: CapLanes,
    /// Lifetime of each capability in nanoseconds, by lane like `gc_spans`.
    lives: Vec<(u64, u64)>,
    gc_spans: Vec<GcSpans>,
    pauses: Pauses,
    /// Capabilities and collections of each process, if several wrote the log; empty otherwise. Where collections of
    /// two processes overlap, `pauses` has the second from the end of the first.
    processes: Vec<(Vec<CapId>, Pauses)>,
    /// Times at which threads became ready by a wakeup or their creation.
    became_runnable: Moments,
    /// Times at which the log's information about a ready thread ends, sorted.
    coverage_ends: Vec<u64>,
    checkpoints: Checkpoints,
    /// Whether several processes wrote the log. A ready thread then says nothing about an idle capability, as it
    /// may belong to another process.
    has_several_processes: bool,
}

impl AttributionData {
    /// Computes the attribution for a log up to `end`.
    ///
    /// `watcher` is called for every run. `became_runnable` holds the times at which threads became ready, with
    /// the threads; `coverage_ends` the times at which the log's information about a ready thread ends.
    pub(crate) fn make(
        facts: &Facts,
        end: Nanos,
        (lanes, cap_lanes): (&[Cap], &CapLanes),
        became_runnable: Moments,
        mut coverage_ends: Vec<u64>,
        watcher: &mut impl SweepVisitor,
        spill_store: &SpillStore,
    ) -> Self {
        coverage_ends.sort_unstable();
        let start = facts.log.map_or(Nanos(0), |log| log.start());
        let mut attribution_data = Self {
            log: Interval::new(start, end.max(start)),
            caps: facts.caps.iter().map(|facts| facts.cap).collect(),
            cap_lanes: cap_lanes.clone(),
            lives: vec![(0, 0); lanes.len()],
            gc_spans: Vec::new(),
            became_runnable,
            coverage_ends,
            ..Self::default()
        };
        let several = facts.by_process();
        attribution_data.gc_spans = vec![GcSpans::default(); lanes.len()];
        attribution_data.pauses = if several.is_empty() {
            attribution_data.collect(facts, lanes)
        } else {
            attribution_data.has_several_processes = true;
            let all = attribution_data.caps.clone();
            for own in &several {
                let caps: Vec<CapId> = own.caps.iter().map(|facts| facts.cap).collect();
                attribution_data.caps.clone_from(&caps);
                let pauses = attribution_data.collect(own, lanes);
                attribution_data.processes.push((caps, pauses));
            }
            attribution_data.caps = all;
            let processes = attribution_data.processes.iter();
            Pauses::merge(processes.map(|(_, pauses)| pauses))
        };
        let account = TimeAttribution {
            lanes,
            attribution_data: &attribution_data,
        };
        let checkpoints = Checkpoints::make(
            Sweep::new(account),
            attribution_data.log.end().0,
            watcher,
            spill_store,
        );
        attribution_data.checkpoints = checkpoints;
        attribution_data.became_runnable.forget_threads();
        attribution_data
    }

    /// Computes the GC spans of the capabilities in `facts`, all of one process, and returns its collections.
    fn collect(&mut self, facts: &Facts, lanes: &[Cap]) -> Pauses {
        let account = TimeAttribution {
            lanes,
            attribution_data: self,
        };
        let pauses = Pauses::find(facts, account);
        let collections = CollectionContext::new(&pauses, &facts.censuses, account);
        let mut made = Vec::new();
        for of in &facts.caps {
            let lane = account
                .lane(of.cap)
                .and_then(|lane| Some((lane, lanes.get(lane)?)));
            let gc_spans =
                lane.map(|(lane, cap)| (lane, GcSpans::compute(cap, *of, &collections), of.life));
            made.extend(gc_spans);
        }
        drop(collections);
        for (lane, gc_spans, life) in made {
            self.gc_spans[lane] = gc_spans;
            self.lives[lane] = (life.start().0, life.end().0);
        }
        pauses
    }
}

/// Division of a thread's ready time. The remainder is time behind other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadyParts {
    /// During collections and while capabilities were being stopped for them, in nanoseconds.
    pub paused_ns: u64,
    /// Outside of collections while some capability was idle, in nanoseconds.
    pub idle_ns: u64,
}

/// Query interface to the time attribution of a log.
#[derive(Clone, Copy, Debug)]
pub struct TimeAttribution<'a> {
    lanes: &'a [Cap],
    attribution_data: &'a AttributionData,
}

impl<'a> TimeAttribution<'a> {
    pub(crate) const fn new(lanes: &'a [Cap], attribution_data: &'a AttributionData) -> Self {
        Self {
            lanes,
            attribution_data,
        }
    }

    /// Returns the time span of the log.
    pub const fn log(&self) -> Interval {
        self.attribution_data.log
    }

    /// Returns the collections of the program; of several processes those of all, without overlap.
    pub const fn pauses(&self) -> &'a Pauses {
        &self.attribution_data.pauses
    }

    /// Returns the capabilities and the collections of each process that wrote the log.
    pub fn processes(self) -> impl Iterator<Item = (&'a [CapId], &'a Pauses)> {
        let data = self.attribution_data;
        let one = (&data.caps[..], &data.pauses);
        let one = data.processes.is_empty().then_some(one);
        let several = data.processes.iter();
        let several = several.map(|(caps, pauses)| (&caps[..], pauses));
        one.into_iter().chain(several)
    }

    /// Returns the capabilities, sorted by number.
    pub fn caps(&self) -> &'a [CapId] {
        &self.attribution_data.caps
    }

    /// Returns the lifetime of a capability.
    pub fn life_of(&self, cap: CapId) -> Interval {
        let lane = self.lane(cap);
        let (start, end) = lane.map_or((0, 0), |lane| self.life(lane));
        Interval::new(Nanos(start), Nanos(end))
    }

    /// Returns the lane of a capability's activities other than running and idling.
    pub fn gc_spans_of(&self, cap: CapId) -> Option<&'a GcSpans> {
        self.gc_spans(self.lane(cap)?)
    }

    /// Returns a cursor that answers queries at increasing times quickly.
    pub fn sweep_cursor(&self) -> SweepCursor<'a> {
        SweepCursor::new(*self)
    }

    /// Returns the division of a thread's ready time between two times.
    pub(crate) fn ready_parts(&self, from: u64, to: u64) -> ReadyParts {
        if from >= to {
            return ReadyParts::default();
        }
        let mut sweep_cursor = self.sweep_cursor();
        let before_ns = sweep_cursor.some_idle_ns(Nanos(from));
        ReadyParts {
            paused_ns: self.pauses().paused_in_ns(from, to),
            idle_ns: sweep_cursor
                .some_idle_ns(Nanos(to))
                .saturating_sub(before_ns),
        }
    }

    /// Returns the lane index of a capability.
    fn lane(&self, cap: CapId) -> Option<usize> {
        self.attribution_data.cap_lanes.lane(Some(cap))
    }

    /// Returns the lane of a capability.
    fn lane_of(&self, cap: CapId) -> Option<&'a Cap> {
        self.lanes.get(self.lane(cap)?)
    }

    fn gc_spans(&self, lane: usize) -> Option<&'a GcSpans> {
        self.attribution_data.gc_spans.get(lane)
    }

    fn life(&self, lane: usize) -> (u64, u64) {
        self.attribution_data
            .lives
            .get(lane)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the lane of each capability.
    fn each_cap(self) -> impl Iterator<Item = (CapId, &'a Cap)> {
        let caps = self.attribution_data.caps.iter();
        caps.filter_map(move |cap| Some((*cap, self.lane_of(*cap)?)))
    }

    /// Returns the end of a run of a capability; 0 if there is no such run.
    fn run_end(self, cap: CapId, place: u32) -> u64 {
        let lane = self.lane_of(cap);
        let span = lane.and_then(|lane| lane.runs.span_at(place as usize));
        span.map_or(0, |(_, end)| end)
    }
}
