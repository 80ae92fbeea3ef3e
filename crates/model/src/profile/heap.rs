//! Live bytes by stack: heap profiles whose bands are cost-centre stacks (`+RTS -hc`), as used by flame graphs.

use std::ops::Range;
use std::sync::Arc;

use super::origin::Choice;
use super::stacks::StackId;
use super::weights::Weight;
use crate::census::{BandId, Censuses};
use crate::saturating::saturating_u32;
use crate::time::Interval;
use eventlog::ids::Nanos;

/// Heap profiles of a log whose bands are stacks; usually there is one.
#[derive(Clone, Debug, Default)]
pub struct HeapStacks {
    parts: Vec<HeapPart>,
    /// Time of the last event of the log.
    log_end: Nanos,
}

/// One heap profile with the stacks of its bands.
#[derive(Clone, Debug)]
pub struct HeapPart {
    /// Censuses, shared by all views.
    pub censuses: Arc<Censuses>,
    /// Stack of each band.
    pub stack_of: Vec<StackId>,
    /// Whether the censuses have times. If not, their numbers (from 0) are used as times, and every range
    /// contains all of them.
    pub timed: bool,
}

/// Selected censuses: a range of indices per heap profile.
pub type Places = Vec<Range<u32>>;

/// Relation of a stack to a box of a flame graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
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
pub struct OverTime {
    /// Time of the census, or its number if there are no times.
    pub time: Nanos,
    /// Bytes of the box including its descendants.
    pub total: u64,
    /// Bytes of the box without descendants.
    pub own: u64,
}

impl HeapPart {
    fn len(&self) -> u32 {
        saturating_u32(self.censuses.len())
    }

    fn places(&self, range: Interval, log_end: Nanos) -> Range<u32> {
        self.censuses
            .places(Some(range).filter(|_| self.timed), log_end)
    }

    fn time(&self, census: u32) -> Nanos {
        let time = self.censuses.times().get(census as usize);
        time.copied()
            .filter(|_| self.timed)
            .unwrap_or(Nanos(census.into()))
    }

    /// Returns the last census at or before a moment.
    fn up_to(&self, moment: Nanos) -> Option<u32> {
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
    #[must_use]
    pub const fn new(parts: Vec<HeapPart>, log_end: Nanos) -> Self {
        Self { parts, log_end }
    }

    /// Returns the number of censuses in all profiles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.censuses.len()).sum()
    }

    /// Returns whether there are no censuses.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether all censuses have times.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.parts.iter().all(|part| part.timed)
    }

    /// Selects all censuses.
    #[must_use]
    pub fn all(&self) -> Places {
        self.parts.iter().map(|part| 0..part.len()).collect()
    }

    /// Selects the censuses in a range of the log.
    #[must_use]
    pub fn places(&self, range: Interval) -> Places {
        let of_part = |part: &HeapPart| part.places(range, self.log_end);
        self.parts.iter().map(of_part).collect()
    }

    /// Extends a selection by one census on each side, so that lines can be drawn to the edges.
    #[must_use]
    pub fn and_around(&self, mut places: Places) -> Places {
        for (part, places) in self.parts.iter().zip(&mut places) {
            places.start = places.start.saturating_sub(1);
            places.end = places.end.saturating_add(1).min(part.len());
        }
        places
    }

    /// Selects the census at a moment: the last one at or before it, else the first one of all.
    #[must_use]
    pub fn at(&self, moment: Nanos) -> Places {
        let parts = || self.parts.iter().enumerate();
        let last = parts().filter_map(|(index, part)| Some((index, part.up_to(moment)?)));
        let last = last.max_by_key(|&(index, census)| self.time(index, census));
        let first = || {
            let starts = parts().filter(|(_, part)| !part.censuses.is_empty());
            let starts = starts.map(|(index, _)| (index, 0));
            starts.min_by_key(|&(index, census)| self.time(index, census))
        };
        let found = last.or_else(first);
        let of_part = |index| match found {
            Some((part, census)) if part == index => census..census + 1,
            _ => 0..0,
        };
        (0..self.parts.len()).map(of_part).collect()
    }

    fn time(&self, part: usize, census: u32) -> Nanos {
        let part = self.parts.get(part);
        part.map_or(Nanos(0), |part| part.time(census))
    }

    /// Selects the chosen censuses, and those to compare with.
    #[must_use]
    pub fn chosen(&self, choice: &Choice) -> (Places, Option<Places>) {
        if let Some(moments) = choice.moments {
            return (self.at(moments.end()), Some(self.at(moments.start())));
        }
        let now = choice
            .range
            .map_or_else(|| self.all(), |range| self.places(range));
        (now, choice.before.map(|range| self.places(range)))
    }

    /// Adds the bytes of the selected censuses to the weights by stack.
    pub fn weigh(&self, places: &Places, own: &mut [Weight]) {
        for (part, places) in self.parts.iter().zip(places) {
            for (band, stack) in part.bands() {
                let sums = part.censuses.sums(band, places.clone());
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
    #[must_use]
    pub fn over_time(&self, places: &Places, of: &[Part]) -> Vec<OverTime> {
        let mut all: Vec<OverTime> = Vec::new();
        for (part, places) in self.parts.iter().zip(places) {
            let in_part = |stack: StackId| of.get(stack.index()).copied().unwrap_or_default();
            let those = |wanted: fn(Part) -> bool| {
                let bands = part
                    .bands()
                    .filter(move |&(_, stack)| wanted(in_part(stack)));
                bands.map(|(band, _)| band)
            };
            let inside = |part| part != Part::Outside;
            let totals = part.censuses.totals();
            let totals = totals.get(places.start as usize..places.end as usize);
            // Sum the smaller group of bands; the other follows from the total.
            let many = those(inside).count() > part.stack_of.len() / 2;
            let total: Vec<u64> = if many {
                let outside = part
                    .censuses
                    .sum_of(those(|part| part == Part::Outside), places.clone());
                let pairs = totals.unwrap_or_default().iter().zip(outside);
                pairs
                    .map(|(all, outside)| all.saturating_sub(outside))
                    .collect()
            } else {
                part.censuses.sum_of(those(inside), places.clone())
            };
            let own = part
                .censuses
                .sum_of(those(|part| part == Part::Own), places.clone());
            let censuses = places.clone().zip(total.into_iter().zip(own));
            all.extend(censuses.map(|(census, (total, own))| OverTime {
                time: part.time(census),
                total,
                own,
            }));
        }
        all.sort_by_key(|at| at.time);
        all
    }
}

/// Returns the number of censuses selected, over all profiles.
#[must_use]
pub fn count(places: &Places) -> u32 {
    let lengths = places.iter().map(|places| places.len() as u64);
    u32::try_from(lengths.sum::<u64>()).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "the places of one profile")]
mod tests {
    use super::*;

    /// In each census, stack 1 has one byte more than the number of the census, and stack 2 has three bytes in
    /// every second census.
    fn part(times: &[u64], timed: bool) -> HeapPart {
        let mut censuses = Censuses::default();
        let bands = [censuses.add_band(), censuses.add_band()];
        for (number, &time) in (0..).zip(times) {
            censuses.begin(Nanos(time));
            censuses.add(bands[0], number + 1);
            censuses.add(bands[1], 3 * (number % 2));
        }
        censuses.end();
        HeapPart {
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
        let heap = HeapStacks::new(vec![part(&[0, 10, 10, 20], true)], Nanos(20));
        for (range, places) in [
            (span(0, 20), 0..4),
            (span(0, 10), 0..1),
            (span(10, 20), 1..4),
            (span(10, 11), 1..3),
            (span(11, 19), 3..3),
            (span(20, 20), 3..3),
            (span(5, 99), 1..4),
        ] {
            assert_eq!(heap.places(range), [places], "{range:?}");
        }
        let mut own = vec![Weight::default(); 3];
        heap.weigh(&vec![1..4], &mut own);
        let sums: Vec<(u64, u64)> = own.iter().map(|sum| (sum.amount, sum.count)).collect();
        assert_eq!(sums, [(0, 0), (2 + 3 + 4, 3), (6, 2)]);
    }

    #[test]
    fn a_moment_has_one_census() {
        let parts = vec![part(&[5, 10, 10], true), part(&[20, 30], true)];
        let heap = HeapStacks::new(parts, Nanos(40));
        for (moment, places) in [
            (0, [0..1, 0..0]),
            (5, [0..1, 0..0]),
            (9, [0..1, 0..0]),
            (10, [2..3, 0..0]),
            (29, [0..0, 0..1]),
            (99, [0..0, 1..2]),
        ] {
            assert_eq!(heap.at(Nanos(moment)), places, "{moment}");
        }
        let choice = Choice {
            moments: Some(span(9, 20)),
            ..Choice::default()
        };
        assert_eq!(
            heap.chosen(&choice),
            (vec![0..0, 0..1], Some(vec![0..1, 0..0]))
        );
        assert_eq!(HeapStacks::default().at(Nanos(3)), Places::new());
    }

    #[test]
    fn without_times_there_are_numbers() {
        let heap = HeapStacks::new(vec![part(&[50, 50, 50], false)], Nanos(60));
        assert!(!heap.is_timed());
        assert_eq!(heap.places(span(0, 1)), [0..3]);
        assert_eq!(heap.at(Nanos(1)), [1..2]);
        assert_eq!(heap.at(Nanos(u64::MAX)), [2..3]);
        let over_time = heap.over_time(&heap.all(), &[Part::Outside, Part::Own, Part::Inside]);
        let rows: Vec<_> = over_time
            .iter()
            .map(|at| (at.time.0, at.total, at.own))
            .collect();
        assert_eq!(rows, [(0, 1, 1), (1, 5, 2), (2, 3, 3)]);
        // Few stacks or many, the sum is the same.
        let one = heap.over_time(&heap.all(), &[Part::Outside, Part::Outside, Part::Inside]);
        let rows: Vec<_> = one.iter().map(|at| (at.total, at.own)).collect();
        assert_eq!(rows, [(0, 0), (3, 0), (0, 0)]);
    }
}
