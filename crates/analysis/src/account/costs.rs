//! Cost of collections by generation: how long each capability worked, looked for work, was done or waited in
//! them, and how long it was stopped per collection.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::TimeAttribution;
use super::pauses::{Pause, Pauses};
use super::search::GallopingSearch;
use eventlog::ids::CapId;
use model::class::Class;
use model::lane::Lane;
use model::time::Interval;

/// Time of a capability in the collections of one generation, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GcParts {
    /// Stopped, waiting until all capabilities had stopped.
    pub stopping_ns: u64,
    /// Working: in `GCWork`, or in a collection for which no capability logs phases.
    pub work_ns: u64,
    /// Looking for more work: in `GCIdle`.
    pub idle_ns: u64,
    /// Done with its part: in `GCDone`.
    pub done_ns: u64,
    /// Stopped outside of all phases: before its first phase, or without taking part.
    pub outside_ns: u64,
    /// Stopped while the heap was counted for a profile.
    pub census_ns: u64,
    /// Not yet returned from a collection that was over.
    pub returning_ns: u64,
}

impl GcParts {
    /// Returns the time between the start and the end of collections.
    pub const fn inside_ns(&self) -> u64 {
        self.work_ns
            .saturating_add(self.idle_ns)
            .saturating_add(self.done_ns)
            .saturating_add(self.outside_ns)
            .saturating_add(self.census_ns)
    }

    /// Returns the sum of all parts.
    pub const fn all_ns(&self) -> u64 {
        self.inside_ns()
            .saturating_add(self.stopping_ns)
            .saturating_add(self.returning_ns)
    }

    /// Returns the field that counts time of `class`; `None` for classes outside of collections.
    const fn part(&mut self, class: Class) -> Option<&mut u64> {
        Some(match class {
            Class::GcSync => &mut self.stopping_ns,
            Class::Gc => &mut self.work_ns,
            Class::GcIdle => &mut self.idle_ns,
            Class::GcDone => &mut self.done_ns,
            Class::GcStart => &mut self.outside_ns,
            Class::Census => &mut self.census_ns,
            Class::Returning => &mut self.returning_ns,
            _ => return None,
        })
    }

    /// Adds `other` field by field, saturating.
    pub fn add(&mut self, other: &Self) {
        let add = |mine: &mut u64, theirs: u64| *mine = mine.saturating_add(theirs);
        add(&mut self.stopping_ns, other.stopping_ns);
        add(&mut self.work_ns, other.work_ns);
        add(&mut self.idle_ns, other.idle_ns);
        add(&mut self.done_ns, other.done_ns);
        add(&mut self.outside_ns, other.outside_ns);
        add(&mut self.census_ns, other.census_ns);
        add(&mut self.returning_ns, other.returning_ns);
    }
}

/// Cost of the collections of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GcCosts {
    /// Generation; `None` for collections whose generation is not logged.
    pub generation: Option<u16>,
    /// Number of collections that begin in the range.
    pub count: u64,
    /// Time from their starts to their ends, within the range.
    pub pause_ns: u64,
    /// Mean time for which a capability was stopped per collection that begins in the range, averaged over the
    /// capabilities of its process that were alive at its start.
    pub mean_standstill_ns: u64,
    /// Maximum over these collections of the time that a capability was stopped, averaged in the same way.
    pub max_standstill_ns: u64,
    /// The collection with that maximum, from its request to its end.
    pub max_standstill: Interval,
    /// Time of each capability in these collections, within the range.
    pub caps: Vec<(CapId, GcParts)>,
}

impl GcCosts {
    /// Returns the sum over all capabilities.
    pub fn all_caps(&self) -> GcParts {
        let mut all = GcParts::default();
        for (_, parts) in &self.caps {
            all.add(parts);
        }
        all
    }
}

impl TimeAttribution<'_> {
    /// Returns the cost of collections in a range, or in the whole log, youngest generation first.
    pub fn gc_costs(&self, range: Option<Interval>) -> Vec<GcCosts> {
        let range = self.clip(range.unwrap_or(self.log()));
        let mut costs = Costs {
            account: *self,
            range,
            rows: BTreeMap::new(),
            standstills_ns: BTreeMap::new(),
        };
        for (caps, pauses) in self.processes() {
            costs.process(caps, pauses);
        }
        costs.finish()
    }
}

/// Intermediate state of [`TimeAttribution::gc_costs`].
struct Costs<'a> {
    account: TimeAttribution<'a>,
    range: Interval,
    rows: BTreeMap<Option<u16>, GcCosts>,
    /// Sum of the standstills of the collections that begin in the range.
    standstills_ns: BTreeMap<Option<u16>, u128>,
}

/// Collections of a process.
struct ProcessPauses<'a> {
    all: &'a [Pause],
    /// Index of the first collection that begins in the range.
    first: usize,
    /// Sum over all capabilities of the time they were stopped, for each collection that begins in the range.
    stopped_ns: Vec<u64>,
}

impl Costs<'_> {
    /// Returns the row of a generation, created with all capabilities.
    fn row(&mut self, generation: Option<u16>) -> &mut GcCosts {
        let caps = self.account.caps().iter();
        self.rows.entry(generation).or_insert_with(|| GcCosts {
            generation,
            caps: caps.map(|cap| (*cap, GcParts::default())).collect(),
            ..GcCosts::default()
        })
    }

    /// Adds the collections of a process with these capabilities.
    fn process(&mut self, caps: &[CapId], pauses: &Pauses) {
        let starting = self.account.starting_in(pauses, self.range);
        let begins_before = |pause: &Pause| pause.start < self.range.start();
        let mut own = ProcessPauses {
            all: pauses.all(),
            first: pauses.all().partition_point(begins_before),
            stopped_ns: vec![0; starting.len()],
        };
        for cap in caps {
            self.cap(*cap, &mut own);
        }
        self.pauses(pauses);
        self.count(caps, starting, &own.stopped_ns);
    }

    /// Adds the times of a capability.
    fn cap(&mut self, cap: CapId, own: &mut ProcessPauses<'_>) {
        let place = self.account.caps().binary_search(&cap);
        let (Ok(place), Some(gc_spans)) = (place, self.account.gc_spans_of(cap)) else {
            return;
        };
        let pauses = own.all;
        let first = pauses.get(own.first).filter(|_| !own.stopped_ns.is_empty());
        let from = first.map_or(self.range.start(), |first| first.requested);
        let from = from.min(self.range.start());
        let mut asked = GallopingSearch::default();
        for i in gc_spans.first_ending_after(from.0)..gc_spans.len() {
            let (start, end) = gc_spans.span(i);
            // The last collection requested by then.
            let next = asked.first(pauses.len(), |i| pauses[i].requested.0 <= start);
            let Some(number) = next.checked_sub(1) else {
                continue;
            };
            let whole = number.wrapping_sub(own.first);
            if start >= self.range.end().0 && whole >= own.stopped_ns.len() {
                break;
            }
            let mut parts = GcParts::default();
            let Some(part) = parts.part(gc_spans.class(i)) else {
                continue;
            };
            let inside = end.min(self.range.end().0);
            *part = inside.saturating_sub(start.max(self.range.start().0));
            if let Some(still) = own.stopped_ns.get_mut(whole) {
                *still = still.saturating_add(end - start);
            }
            if let Some((_, sum)) = self.row(pauses[number].generation).caps.get_mut(place) {
                sum.add(&parts);
            }
        }
    }

    /// Adds the time of each collection within the range.
    fn pauses(&mut self, pauses: &Pauses) {
        let range = self.range;
        let first = pauses.first_ending_after(range.start());
        let inside = pauses.all().iter().skip(first);
        for pause in inside.take_while(|pause| pause.start < range.end()) {
            let part = Interval::new(pause.start, pause.end).clip(range);
            let row = self.row(pause.generation);
            row.pause_ns = row.pause_ns.saturating_add(part.duration().0);
        }
    }

    /// Counts the collections of these capabilities that begin in the range, and finds their maximum.
    fn count(&mut self, caps: &[CapId], starting: &[Pause], stopped_ns: &[u64]) {
        let lives = caps.iter().map(|cap| self.account.life_of(*cap));
        let lives: Vec<Interval> = lives.collect();
        for (pause, stopped_ns) in starting.iter().zip(stopped_ns) {
            let alive = |life: &&Interval| life.contains(pause.start);
            let alive = lives.iter().filter(alive).count().max(1) as u64;
            let mean_ns = stopped_ns / alive;
            let row = self.row(pause.generation);
            row.count += 1;
            if row.count == 1 || mean_ns > row.max_standstill_ns {
                row.max_standstill_ns = mean_ns;
                row.max_standstill = pause.span();
            }
            *self.standstills_ns.entry(pause.generation).or_default() += u128::from(mean_ns);
        }
    }

    /// Computes the means.
    fn finish(mut self) -> Vec<GcCosts> {
        for (generation, sum) in std::mem::take(&mut self.standstills_ns) {
            let row = self.row(generation);
            let mean = sum / u128::from(row.count.max(1));
            row.mean_standstill_ns = u64::try_from(mean).unwrap_or(u64::MAX);
        }
        self.rows.into_values().collect()
    }
}
