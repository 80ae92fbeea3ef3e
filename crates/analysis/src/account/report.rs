//! What the account says of a range: capabilities, the program, collections.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::Account;
use super::totals::Totals;
use eventlog::ids::{CapId, Nanos};
use model::class::{Class, ClassTimes};
use model::lane::Lane;
use model::time::Interval;

/// How a capability spent a range, in nanoseconds. The classes sum to its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapTimes {
    /// The part of its life in the range.
    pub life_ns: u64,
    /// It ran threads.
    pub running_ns: u64,
    /// It collected garbage.
    pub collecting_ns: u64,
    /// It was in a collection, but in no phase of work: before its first one,
    /// looking for more, or done with its part.
    pub waiting_ns: u64,
    /// It stood still until all had stopped for a collection.
    pub stopping_ns: u64,
    /// It stood still while the heap was counted for a profile.
    pub census_ns: u64,
    /// A collection was over, but it had not come back from it.
    pub coming_back_ns: u64,
    /// It stood by while a thread was ready: lost parallelism.
    pub idle_ready_ns: u64,
    /// It was idle, and no thread was ready.
    pub idle_ns: u64,
    /// The log does not tell.
    pub unknown_ns: u64,
}

impl CapTimes {
    /// Names as they stand in JSON, with the times.
    #[must_use]
    pub const fn classes(&self) -> [(&'static str, u64); 9] {
        [
            ("running", self.running_ns),
            ("collecting", self.collecting_ns),
            ("waiting_in_collection", self.waiting_ns),
            ("stopping", self.stopping_ns),
            ("census", self.census_ns),
            ("coming_back", self.coming_back_ns),
            ("idle_work_ready", self.idle_ready_ns),
            ("idle", self.idle_ns),
            ("unknown", self.unknown_ns),
        ]
    }

    /// Stopping, collecting, waiting and coming back: what collections cost.
    #[must_use]
    pub const fn of_collections_ns(&self) -> u64 {
        self.collecting_ns
            .saturating_add(self.waiting_ns)
            .saturating_add(self.stopping_ns)
            .saturating_add(self.coming_back_ns)
    }

    /// Collecting, waiting, counting the heap: what lies inside of collections.
    #[must_use]
    pub const fn in_collections_ns(&self) -> u64 {
        self.collecting_ns
            .saturating_add(self.waiting_ns)
            .saturating_add(self.census_ns)
    }

    /// Idle, with a thread ready or without.
    #[must_use]
    pub const fn all_idle_ns(&self) -> u64 {
        self.idle_ready_ns.saturating_add(self.idle_ns)
    }

    /// The time that the log tells of.
    #[must_use]
    pub const fn known_ns(&self) -> u64 {
        self.life_ns.saturating_sub(self.unknown_ns)
    }

    /// Adds what another one did.
    pub fn add(&mut self, other: &Self) {
        let add = |mine: &mut u64, theirs: u64| *mine = mine.saturating_add(theirs);
        add(&mut self.life_ns, other.life_ns);
        add(&mut self.running_ns, other.running_ns);
        add(&mut self.collecting_ns, other.collecting_ns);
        add(&mut self.waiting_ns, other.waiting_ns);
        add(&mut self.stopping_ns, other.stopping_ns);
        add(&mut self.census_ns, other.census_ns);
        add(&mut self.coming_back_ns, other.coming_back_ns);
        add(&mut self.idle_ready_ns, other.idle_ready_ns);
        add(&mut self.idle_ns, other.idle_ns);
        add(&mut self.unknown_ns, other.unknown_ns);
    }
}

/// Collections of the program in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseTimes {
    /// How many begin in it.
    pub count: u64,
    /// From requests to starts.
    pub stopping_ns: u64,
    /// From starts to ends.
    pub pause_ns: u64,
    /// What all capabilities together spent stopping, collecting, waiting and
    /// coming back.
    pub capability_ns: u64,
}

/// The account of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramTimes {
    /// The part of the log in the range: from its first event to its last.
    pub life_ns: u64,
    /// For how long exactly so many capabilities ran threads; it sums to the life.
    pub parallelism_ns: Vec<u64>,
    /// The collections.
    pub collections: PauseTimes,
    /// How long threads were ready, all together.
    pub ready_ns: u64,
    /// Each capability.
    pub caps: Vec<(CapId, CapTimes)>,
    /// Whether the log was still being read: then only the runs so far are
    /// known, and all else is unknown or 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub so_far: bool,
}

impl ProgramTimes {
    /// All capabilities together.
    #[must_use]
    pub fn all_caps(&self) -> CapTimes {
        let mut all = CapTimes::default();
        for (_, times) in &self.caps {
            all.add(times);
        }
        all
    }

    /// For how long the program stood still while the heap was counted for a profile. All capabilities do so at
    /// once, so it is what the first one has: that one is there from the start.
    #[must_use]
    pub fn census_ns(&self) -> u64 {
        self.caps.first().map_or(0, |(_, times)| times.census_ns)
    }

    /// The share of the time in which capabilities ran threads, of what the log
    /// tells of: 0 to 1; `None` if it tells nothing, or is not read to its end.
    #[must_use]
    pub fn productivity(&self) -> Option<f64> {
        let all = self.all_caps();
        (all.known_ns() > 0 && !self.so_far).then(|| all.running_ns as f64 / all.known_ns() as f64)
    }

    /// For how long how many capabilities ran, from none on: a number to a row, or
    /// several where there would be more than so many rows. It sums to the life.
    #[must_use]
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

    /// How many capabilities ran, on average over all of the time.
    #[must_use]
    pub fn mean_parallelism_of_all(&self) -> Option<f64> {
        let times = self.parallelism_ns.iter().enumerate();
        let sum: f64 = times.map(|(count, time)| count as f64 * *time as f64).sum();
        let any = !self.parallelism_ns.is_empty() && self.life_ns > 0;
        any.then(|| sum / self.life_ns as f64)
    }

    /// How many capabilities ran, on average over the time in which any did.
    #[must_use]
    pub fn mean_parallelism(&self) -> Option<f64> {
        let any = || self.parallelism_ns.iter().enumerate().skip(1);
        let time: u64 = any().map(|(_, time)| *time).fold(0, u64::saturating_add);
        let sum: f64 = any().map(|(count, time)| count as f64 * *time as f64).sum();
        (time > 0).then(|| sum / time as f64)
    }
}

impl Account<'_> {
    /// The part of a range in which there is a log.
    pub(super) fn clip(&self, range: Interval) -> Interval {
        range.clip(self.log())
    }

    /// The account of a range; of the whole log without one.
    #[must_use]
    pub fn program(&self, range: Option<Interval>) -> ProgramTimes {
        let range = self.clip(range.unwrap_or(self.log()));
        let mut walker = self.walker();
        let before = walker.totals(range.start());
        let totals = walker.totals(range.end()).since(&before);
        let caps = self.caps().iter();
        let caps: Vec<(CapId, CapTimes)> = caps
            .map(|cap| (*cap, self.cap_times(*cap, range, &totals)))
            .collect();
        let (stopping, pause) = self.pauses().before(range.end());
        let (stopping_before, pause_before) = self.pauses().before(range.start());
        let of_caps = caps.iter().map(|(_, times)| times.of_collections_ns());
        let mut parallelism_ns = totals.running_ns;
        parallelism_ns.truncate(caps.len() + 1);
        ProgramTimes {
            life_ns: range.duration().0,
            parallelism_ns,
            collections: PauseTimes {
                count: self.starting_in(range).len() as u64,
                stopping_ns: stopping.saturating_sub(stopping_before),
                pause_ns: pause.saturating_sub(pause_before),
                capability_ns: of_caps.fold(0, u64::saturating_add),
            },
            ready_ns: totals.ready_ns,
            caps,
            so_far: false,
        }
    }

    /// The collections that begin in a range; one that begins with the log's last
    /// event counts to what comes before it.
    pub(super) fn starting_in(&self, range: Interval) -> &[super::pauses::Pause] {
        let at_end = range.end() >= self.log().end();
        let end = Nanos(range.end().0.saturating_add(u64::from(at_end)));
        self.pauses().starting_in(Interval::new(range.start(), end))
    }

    /// How a capability spent a range, of which the totals are these.
    fn cap_times(&self, cap: CapId, range: Interval, totals: &Totals) -> CapTimes {
        let life = range.clip(self.life_of(cap));
        let lane = self.lane(cap).unwrap_or(usize::MAX);
        let (Some(of), Some(pieces)) = (self.lanes.get(lane), self.pieces(lane)) else {
            return CapTimes::default();
        };
        let of_pieces = pieces.time_in(life);
        let runs = of.runs.time_in(life);
        let running_ns = runs[Class::Running as usize] + runs[Class::Open as usize];
        let idle_ready_ns = totals.idle_ready_ns.get(lane - 1);
        let idle_ready_ns = idle_ready_ns.filter(|_| !self.ledger.is_of_several);
        let mut times = CapTimes {
            life_ns: life.duration().0,
            running_ns,
            idle_ready_ns: idle_ready_ns.copied().unwrap_or_default(),
            ..of_classes(&of_pieces)
        };
        let others = times
            .classes()
            .iter()
            .fold(0, |sum: u64, (_, time)| sum.saturating_add(*time));
        times.idle_ns = times.life_ns.saturating_sub(others);
        times
    }

    /// How a capability spent a range.
    #[must_use]
    pub fn cap(&self, cap: CapId, range: Interval) -> CapTimes {
        let range = self.clip(range);
        let mut walker = self.walker();
        let before = walker.totals(range.start());
        let totals = walker.totals(range.end()).since(&before);
        self.cap_times(cap, range, &totals)
    }
}

fn of_classes(times: &ClassTimes) -> CapTimes {
    let of = |class: Class| times[class as usize];
    CapTimes {
        collecting_ns: of(Class::Gc),
        waiting_ns: of(Class::GcStart) + of(Class::GcIdle) + of(Class::GcDone),
        stopping_ns: of(Class::GcSync),
        census_ns: of(Class::Census),
        coming_back_ns: of(Class::Returning),
        unknown_ns: of(Class::Unknown),
        ..CapTimes::default()
    }
}
