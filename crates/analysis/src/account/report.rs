//! Results of the account for a range: capabilities, the program, collections.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::TimeAttribution;
use super::pauses::{Pause, Pauses};
use super::totals::Totals;
use eventlog::ids::{CapId, Nanos};
use model::class::{Class, ClassTimes};
use model::lane::Lane;
use model::time::Interval;

/// Time of a capability in a range by class, in nanoseconds. The classes add up to its lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapTimes {
    /// Part of its lifetime in the range.
    pub life_ns: u64,
    /// Time running threads.
    pub running_ns: u64,
    /// Time in which the capability itself worked on a collection.
    pub collecting_ns: u64,
    /// In a collection, but in no phase of work: before its first one, looking for more, or done with its part.
    pub waiting_ns: u64,
    /// Stopped, waiting until all capabilities had stopped for a collection.
    pub stopping_ns: u64,
    /// Stopped while the heap was counted for a profile.
    pub census_ns: u64,
    /// Not yet returned from a collection that was over.
    pub returning_ns: u64,
    /// Idle while a thread was ready: lost parallelism.
    pub idle_work_available_ns: u64,
    /// Idle while no thread was ready.
    pub idle_ns: u64,
    /// Not covered by the log.
    pub unknown_ns: u64,
}

impl CapTimes {
    /// Returns the JSON names of the classes with their times.
    pub const fn classes(&self) -> [(&'static str, u64); 9] {
        [
            ("running", self.running_ns),
            ("collecting", self.collecting_ns),
            ("waiting_in_collection", self.waiting_ns),
            ("stopping", self.stopping_ns),
            ("census", self.census_ns),
            ("coming_back", self.returning_ns),
            ("idle_work_ready", self.idle_work_available_ns),
            ("idle", self.idle_ns),
            ("unknown", self.unknown_ns),
        ]
    }

    /// Returns the cost of collections: stopping, collecting, waiting and coming back.
    pub const fn collection_cost_ns(&self) -> u64 {
        self.collecting_ns
            .saturating_add(self.waiting_ns)
            .saturating_add(self.stopping_ns)
            .saturating_add(self.returning_ns)
    }

    /// Returns the time inside collections: collecting, waiting, counting the heap.
    pub const fn in_collections_ns(&self) -> u64 {
        self.collecting_ns
            .saturating_add(self.waiting_ns)
            .saturating_add(self.census_ns)
    }

    /// Returns all idle time, with a ready thread or without.
    pub const fn all_idle_ns(&self) -> u64 {
        self.idle_work_available_ns.saturating_add(self.idle_ns)
    }

    /// Returns the time covered by the log.
    pub const fn known_ns(&self) -> u64 {
        self.life_ns.saturating_sub(self.unknown_ns)
    }

    /// Adds `other` field by field, saturating.
    pub fn add(&mut self, other: &Self) {
        let add = |mine: &mut u64, theirs: u64| *mine = mine.saturating_add(theirs);
        add(&mut self.life_ns, other.life_ns);
        add(&mut self.running_ns, other.running_ns);
        add(&mut self.collecting_ns, other.collecting_ns);
        add(&mut self.waiting_ns, other.waiting_ns);
        add(&mut self.stopping_ns, other.stopping_ns);
        add(&mut self.census_ns, other.census_ns);
        add(&mut self.returning_ns, other.returning_ns);
        add(
            &mut self.idle_work_available_ns,
            other.idle_work_available_ns,
        );
        add(&mut self.idle_ns, other.idle_ns);
        add(&mut self.unknown_ns, other.unknown_ns);
    }
}

/// Collections of the program in a range; of several processes, sums over them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseTimes {
    /// Number of collections that begin in the range.
    pub count: u64,
    /// Time from requests to starts, in nanoseconds.
    pub stopping_ns: u64,
    /// Time from starts to ends, in nanoseconds.
    pub pause_ns: u64,
    /// Sum over all capabilities of the time stopping, collecting, waiting and coming back, in nanoseconds.
    pub capability_ns: u64,
}

/// Account of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramTimes {
    /// Part of the log in the range, from its first event to its last, in nanoseconds.
    pub life_ns: u64,
    /// Time in which exactly `i` capabilities ran threads, by `i`; adds up to `life_ns`.
    pub parallelism_ns: Vec<u64>,
    /// Collections of the program.
    pub collections: PauseTimes,
    /// Sum over all threads of their ready time, in nanoseconds.
    pub ready_ns: u64,
    /// Times of each capability.
    pub caps: Vec<(CapId, CapTimes)>,
    /// Whether the log was still being read: then only the runs so far are known, and everything else is unknown
    /// or 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub so_far: bool,
}

impl ProgramTimes {
    /// Returns the sum over all capabilities.
    pub fn all_caps(&self) -> CapTimes {
        let mut all = CapTimes::default();
        for (_, times) in &self.caps {
            all.add(times);
        }
        all
    }

    /// Returns how long the program was stopped while the heap was counted for a profile. All capabilities stop at
    /// the same time, so the value of the first one, which exists from the start, is used.
    pub fn census_ns(&self) -> u64 {
        self.caps.first().map_or(0, |(_, times)| times.census_ns)
    }

    /// Returns the share of the covered time in which capabilities ran threads, from 0 to 1; `None` if no time is
    /// covered or the log has not been read to its end.
    pub fn productivity(&self) -> Option<f64> {
        let all = self.all_caps();
        (all.known_ns() > 0 && !self.so_far).then(|| all.running_ns as f64 / all.known_ns() as f64)
    }

    /// Returns the time by number of running capabilities, starting with 0. If there would be more than `most`
    /// rows, a row covers a range of numbers. The times add up to the lifetime.
    pub fn parallelism_rows(&self, most: usize) -> Vec<(RangeInclusive<usize>, u64)> {
        let times = &self.parallelism_ns;
        let caps = times.len().saturating_sub(1);
        let width = caps.div_ceil(most.max(2) - 1).max(1);
        let none = times.first().map(|time| (0..=0, *time));
        let some = times.get(1..).unwrap_or_default().chunks(width);
        let some = (0..).zip(some).map(|(row, times)| {
            let first = 1 + row * width;
            let time = times.iter().copied().fold(0, u64::saturating_add);
            (first..=first + times.len() - 1, time)
        });
        none.into_iter().chain(some).collect()
    }

    /// Returns the mean number of running capabilities over all time.
    pub fn mean_parallelism_of_all(&self) -> Option<f64> {
        let times = self.parallelism_ns.iter().enumerate();
        let sum: f64 = times.map(|(count, time)| count as f64 * *time as f64).sum();
        let any = !self.parallelism_ns.is_empty() && self.life_ns > 0;
        any.then(|| sum / self.life_ns as f64)
    }

    /// Returns the mean number of running capabilities over the time in which any ran.
    pub fn mean_parallelism(&self) -> Option<f64> {
        let any = || self.parallelism_ns.iter().enumerate().skip(1);
        let time: u64 = any().map(|(_, time)| *time).fold(0, u64::saturating_add);
        let sum: f64 = any().map(|(count, time)| count as f64 * *time as f64).sum();
        (time > 0).then(|| sum / time as f64)
    }
}

impl TimeAttribution<'_> {
    /// Clips a range to the log.
    pub(super) fn clip(&self, range: Interval) -> Interval {
        range.clip(self.log())
    }

    /// Computes the account of a range, or of the whole log.
    pub fn program(&self, range: Option<Interval>) -> ProgramTimes {
        let range = self.clip(range.unwrap_or(self.log()));
        let mut sweep_cursor = self.sweep_cursor();
        let before = sweep_cursor.totals(range.start());
        let totals = sweep_cursor.totals(range.end()).since(&before);
        let caps = self.caps().iter();
        let caps: Vec<(CapId, CapTimes)> = caps
            .map(|cap| (*cap, self.cap_times(*cap, range, &totals)))
            .collect();
        let of_caps = caps.iter().map(|(_, times)| times.collection_cost_ns());
        let mut collections = PauseTimes {
            capability_ns: of_caps.fold(0, u64::saturating_add),
            ..PauseTimes::default()
        };
        for (_, pauses) in self.processes() {
            let (stopping, pause) = pauses.before(range.end());
            let (stopping_before, pause_before) = pauses.before(range.start());
            let stopping_ns = stopping.saturating_sub(stopping_before);
            let pause_ns = pause.saturating_sub(pause_before);
            collections.count += self.starting_in(pauses, range).len() as u64;
            collections.stopping_ns = collections.stopping_ns.saturating_add(stopping_ns);
            collections.pause_ns = collections.pause_ns.saturating_add(pause_ns);
        }
        let mut parallelism_ns = totals.running_ns;
        parallelism_ns.truncate(caps.len() + 1);
        ProgramTimes {
            life_ns: range.duration().0,
            parallelism_ns,
            collections,
            ready_ns: totals.ready_ns,
            caps,
            so_far: false,
        }
    }

    /// Returns those of these collections that begin in a range. A range up to the log's end includes a collection
    /// that begins with the last event.
    pub(super) fn starting_in<'p>(&self, pauses: &'p Pauses, range: Interval) -> &'p [Pause] {
        let at_end = range.end() >= self.log().end();
        let end = Nanos(range.end().0.saturating_add(u64::from(at_end)));
        pauses.starting_in(Interval::new(range.start(), end))
    }

    /// Returns the times of a capability in a range with these totals.
    fn cap_times(&self, cap: CapId, range: Interval, totals: &Totals) -> CapTimes {
        let life = range.clip(self.life_of(cap));
        let lane = self.lane(cap).unwrap_or(usize::MAX);
        let (Some(of), Some(gc_spans)) = (self.lanes.get(lane), self.gc_spans(lane)) else {
            return CapTimes::default();
        };
        let of_gc_spans = gc_spans.time_in(life);
        let runs = of.runs.time_in(life);
        let running_ns = runs[Class::Running as usize] + runs[Class::Open as usize];
        let idle_work_available_ns = totals.idle_work_available_ns.get(lane - 1);
        let idle_work_available_ns =
            idle_work_available_ns.filter(|_| !self.attribution_data.has_several_processes);
        let mut times = CapTimes {
            life_ns: life.duration().0,
            running_ns,
            idle_work_available_ns: idle_work_available_ns.copied().unwrap_or_default(),
            ..cap_times_from_classes(&of_gc_spans)
        };
        let others = times
            .classes()
            .iter()
            .fold(0, |sum: u64, (_, time)| sum.saturating_add(*time));
        times.idle_ns = times.life_ns.saturating_sub(others);
        times
    }

    /// Returns the times of a capability in a range.
    pub fn cap(&self, cap: CapId, range: Interval) -> CapTimes {
        let range = self.clip(range);
        let mut sweep_cursor = self.sweep_cursor();
        let before = sweep_cursor.totals(range.start());
        let totals = sweep_cursor.totals(range.end()).since(&before);
        self.cap_times(cap, range, &totals)
    }
}

fn cap_times_from_classes(times: &ClassTimes) -> CapTimes {
    let of = |class: Class| times[class as usize];
    CapTimes {
        collecting_ns: of(Class::Gc),
        waiting_ns: of(Class::GcStart) + of(Class::GcIdle) + of(Class::GcDone),
        stopping_ns: of(Class::GcSync),
        census_ns: of(Class::Census),
        returning_ns: of(Class::Returning),
        unknown_ns: of(Class::Unknown),
        ..CapTimes::default()
    }
}
