//! Live bytes by stack: heap profiles whose bands are cost-centre stacks (`+RTS -hc`), as used by flame graphs.

use std::ops::Range;
use std::sync::Arc;

use super::stack_source::FlameSelection;
use super::stacks::StackId;
use super::weights::Weight;
use crate::census::{BandId, Censuses};
use crate::saturating::saturating_u32;
use crate::sorting::CompactSort;
use crate::time::Interval;
use eventlog::ids::Nanos;

/// Heap profiles of a log whose bands are stacks; usually there is one.
#[derive(Clone, Debug, Default)]
pub struct HeapStacks {
    profiles: Vec<HeapProfileStacks>,
    /// Time of the last event of the log.
    log_end: Nanos,
}

/// One heap profile with the stacks of its bands.
#[derive(Clone, Debug)]
pub struct HeapProfileStacks {
    /// Censuses, shared by all views.
    pub censuses: Arc<Censuses>,
    /// Stack of each band.
    pub stack_of: Vec<StackId>,
    /// Whether the censuses have times. If not, their numbers (from 0) are used as times, and every range
    /// contains all of them.
    pub timed: bool,
}

/// Selected censuses: a range of indices per heap profile.
pub type CensusRanges = Vec<Range<u32>>;

/// Relation of a stack to a box of a flame graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoxRelation {
    /// Unrelated to the box.
    #[default]
    Outside,
    /// A stack that extends that of the box.
    Inside,
    /// The stack of the box itself.
    Own,
}

/// Bytes of a flame graph box in one census.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxBytes {
    /// Time of the census, or its number if there are no times.
    pub time: Nanos,
    /// Bytes of the box including its descendants.
    pub total: u64,
    /// Bytes of the box without descendants.
    pub own: u64,
}

impl HeapProfileStacks {
    fn len(&self) -> u32 {
        saturating_u32(self.censuses.len())
    }

    fn census_range(&self, range: Interval, log_end: Nanos) -> Range<u32> {
        self.censuses
            .census_range(Some(range).filter(|_| self.timed), log_end)
    }

    fn time(&self, census: u32) -> Nanos {
        let time = self.censuses.times().get(census as usize);
        time.copied()
            .filter(|_| self.timed)
            .unwrap_or(Nanos(census.into()))
    }

    /// Returns the last census at or before a moment.
    fn last_census_at(&self, moment: Nanos) -> Option<u32> {
        let after = match self.timed {
            true => self
                .censuses
                .times()
                .partition_point(|&time| time <= moment),
            false => usize::try_from(moment.0).map_or(usize::MAX, |at| at.saturating_add(1)),
        };
        let after = u32::try_from(after).unwrap_or(u32::MAX).min(self.len());
        after.checked_sub(1)
    }

    /// Iterates over the bands with their stacks.
    fn bands(&self) -> impl Iterator<Item = (BandId, StackId)> + '_ {
        (0..).map(BandId).zip(self.stack_of.iter().copied())
    }
}

impl HeapStacks {
    /// Creates the heap profiles of a log whose last event was at `log_end`.
    pub const fn new(profiles: Vec<HeapProfileStacks>, log_end: Nanos) -> Self {
        Self { profiles, log_end }
    }

    /// Returns the number of censuses in all profiles.
    pub fn len(&self) -> usize {
        self.profiles
            .iter()
            .map(|profile| profile.censuses.len())
            .sum()
    }

    /// Returns whether there are no censuses.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether all censuses have times.
    pub fn is_timed(&self) -> bool {
        self.profiles.iter().all(|profile| profile.timed)
    }

    /// Selects all censuses.
    pub fn all_ranges(&self) -> CensusRanges {
        self.profiles
            .iter()
            .map(|profile| 0..profile.len())
            .collect()
    }

    /// Selects the censuses in a range of the log.
    pub fn ranges_in(&self, range: Interval) -> CensusRanges {
        let of_part = |profile: &HeapProfileStacks| profile.census_range(range, self.log_end);
        self.profiles.iter().map(of_part).collect()
    }

    /// Extends a selection by one census on each side, so that lines can be drawn to the edges.
    pub fn with_neighbors(&self, mut places: CensusRanges) -> CensusRanges {
        for (profile, places) in self.profiles.iter().zip(&mut places) {
            places.start = places.start.saturating_sub(1);
            places.end = places.end.saturating_add(1).min(profile.len());
        }
        places
    }

    /// Selects the census at a moment: the last one at or before it, else the first one of all.
    pub fn ranges_at(&self, moment: Nanos) -> CensusRanges {
        let profiles = || self.profiles.iter().enumerate();
        let last = profiles()
            .filter_map(|(index, profile)| Some((index, profile.last_census_at(moment)?)));
        let last = last.max_by_key(|&(index, census)| self.time(index, census));
        let first = || {
            let starts = profiles().filter(|(_, profile)| !profile.censuses.is_empty());
            let starts = starts.map(|(index, _)| (index, 0));
            starts.min_by_key(|&(index, census)| self.time(index, census))
        };
        let found = last.or_else(first);
        let of_part = |index| match found {
            Some((profile, census)) if profile == index => census..census + 1,
            _ => 0..0,
        };
        (0..self.profiles.len()).map(of_part).collect()
    }

    fn time(&self, profile: usize, census: u32) -> Nanos {
        let profile = self.profiles.get(profile);
        profile.map_or(Nanos(0), |profile| profile.time(census))
    }

    /// Selects the chosen censuses, and those to compare with.
    pub fn selected_ranges(
        &self,
        selection: &FlameSelection,
    ) -> (CensusRanges, Option<CensusRanges>) {
        if let Some(moments) = selection.moments {
            return (
                self.ranges_at(moments.end()),
                Some(self.ranges_at(moments.start())),
            );
        }
        let now = selection
            .range
            .map_or_else(|| self.all_ranges(), |range| self.ranges_in(range));
        (now, selection.before.map(|range| self.ranges_in(range)))
    }

    /// Adds the bytes of the selected censuses to the weights by stack.
    pub fn weigh(&self, places: &CensusRanges, own: &mut [Weight]) {
        for (profile, places) in self.profiles.iter().zip(places) {
            for (band, stack) in profile.bands() {
                let sums = profile.censuses.sums(band, places.clone());
                if let Some(weight) = own.get_mut(stack.index()) {
                    weight.add(Weight {
                        amount: u64::try_from(sums.bytes).unwrap_or(u64::MAX),
                        count: sums.held.into(),
                    });
                }
            }
        }
    }

    /// Returns the bytes of a box in each of the selected censuses, in time order. `of` has the relation of each
    /// stack to the box.
    pub fn box_bytes(&self, places: &CensusRanges, of: &[BoxRelation]) -> Vec<BoxBytes> {
        let mut all: Vec<BoxBytes> = Vec::new();
        for (profile, places) in self.profiles.iter().zip(places) {
            let in_part = |stack: StackId| of.get(stack.index()).copied().unwrap_or_default();
            let those = |wanted: fn(BoxRelation) -> bool| {
                let bands = profile
                    .bands()
                    .filter(move |&(_, stack)| wanted(in_part(stack)));
                bands.map(|(band, _)| band)
            };
            let inside = |relation| relation != BoxRelation::Outside;
            let totals = profile.censuses.totals();
            let totals = totals.get(places.start as usize..places.end as usize);
            // Sum the smaller group of bands; the other follows from the total.
            let many = those(inside).count() > profile.stack_of.len() / 2;
            let total: Vec<u64> = if many {
                let outside = profile.censuses.sum_of(
                    those(|relation| relation == BoxRelation::Outside),
                    places.clone(),
                );
                let pairs = totals.unwrap_or_default().iter().zip(outside);
                pairs
                    .map(|(all, outside)| all.saturating_sub(outside))
                    .collect()
            } else {
                profile.censuses.sum_of(those(inside), places.clone())
            };
            let own = profile.censuses.sum_of(
                those(|relation| relation == BoxRelation::Own),
                places.clone(),
            );
            let censuses = places.clone().zip(total.into_iter().zip(own));
            all.extend(censuses.map(|(census, (total, own))| BoxBytes {
                time: profile.time(census),
                total,
                own,
            }));
        }
        all.sort_small_by_key(|at| at.time);
        all
    }
}

/// Returns the number of censuses selected, over all profiles.
pub fn count(places: &CensusRanges) -> u32 {
    let lengths = places.iter().map(|places| places.len() as u64);
    u32::try_from(lengths.sum::<u64>()).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "the places of one profile")]
mod tests {
    use super::*;

    /// In each census, stack 1 has one byte more than the number of the census, and stack 2 has three bytes in
    /// every second census.
    fn profile(times: &[u64], timed: bool) -> HeapProfileStacks {
        let mut censuses = Censuses::default();
        let bands = [censuses.add_band(), censuses.add_band()];
        for (number, &time) in (0..).zip(times) {
            censuses.begin(Nanos(time));
            censuses.add(bands[0], number + 1);
            censuses.add(bands[1], 3 * (number % 2));
        }
        censuses.end();
        HeapProfileStacks {
            censuses: Arc::new(censuses),
            stack_of: vec![StackId(1), StackId(2)],
            timed,
        }
    }

    fn span(start: u64, end: u64) -> Interval {
        Interval::new(Nanos(start), Nanos(end))
    }

    #[test]
    fn a_census_counts_in_one_part_of_the_time() {
        let heap = HeapStacks::new(vec![profile(&[0, 10, 10, 20], true)], Nanos(20));
        for (range, places) in [
            (span(0, 20), 0..4),
            (span(0, 10), 0..1),
            (span(10, 20), 1..4),
            (span(10, 11), 1..3),
            (span(11, 19), 3..3),
            (span(20, 20), 3..3),
            (span(5, 99), 1..4),
        ] {
            assert_eq!(heap.ranges_in(range), [places], "{range:?}");
        }
        let mut own = vec![Weight::default(); 3];
        heap.weigh(&vec![1..4], &mut own);
        let sums: Vec<(u64, u64)> = own.iter().map(|sum| (sum.amount, sum.count)).collect();
        assert_eq!(sums, [(0, 0), (2 + 3 + 4, 3), (6, 2)]);
    }

    #[test]
    fn a_moment_has_one_census() {
        let profiles = vec![profile(&[5, 10, 10], true), profile(&[20, 30], true)];
        let heap = HeapStacks::new(profiles, Nanos(40));
        for (moment, places) in [
            (0, [0..1, 0..0]),
            (5, [0..1, 0..0]),
            (9, [0..1, 0..0]),
            (10, [2..3, 0..0]),
            (29, [0..0, 0..1]),
            (99, [0..0, 1..2]),
        ] {
            assert_eq!(heap.ranges_at(Nanos(moment)), places, "{moment}");
        }
        let selection = FlameSelection {
            moments: Some(span(9, 20)),
            ..FlameSelection::default()
        };
        assert_eq!(
            heap.selected_ranges(&selection),
            (vec![0..0, 0..1], Some(vec![0..1, 0..0]))
        );
        assert_eq!(
            HeapStacks::default().ranges_at(Nanos(3)),
            CensusRanges::new()
        );
    }

    #[test]
    fn without_times_there_are_numbers() {
        let heap = HeapStacks::new(vec![profile(&[50, 50, 50], false)], Nanos(60));
        assert!(!heap.is_timed());
        assert_eq!(heap.ranges_in(span(0, 1)), [0..3]);
        assert_eq!(heap.ranges_at(Nanos(1)), [1..2]);
        assert_eq!(heap.ranges_at(Nanos(u64::MAX)), [2..3]);
        let box_bytes = heap.box_bytes(
            &heap.all_ranges(),
            &[BoxRelation::Outside, BoxRelation::Own, BoxRelation::Inside],
        );
        let rows: Vec<_> = box_bytes
            .iter()
            .map(|at| (at.time.0, at.total, at.own))
            .collect();
        assert_eq!(rows, [(0, 1, 1), (1, 5, 2), (2, 3, 3)]);
        // Few stacks or many, the sum is the same.
        let one = heap.box_bytes(
            &heap.all_ranges(),
            &[
                BoxRelation::Outside,
                BoxRelation::Outside,
                BoxRelation::Inside,
            ],
        );
        let rows: Vec<_> = one.iter().map(|at| (at.total, at.own)).collect();
        assert_eq!(rows, [(0, 0), (3, 0), (0, 0)]);
    }
}
