//! Mergeable sums and maxima over collections.
//!
//! With precomputed blocks, a range of a million collections takes microseconds.

use std::ops::Range;

use super::Collection;
use super::step_function::Window;
use model::time::Interval;

/// Number of collections per precomputed block.
const BLOCK: usize = 256;

/// Figures of the collections of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GenerationTally {
    pub(super) generation: u16,
    /// Number of collections that begin in the window.
    pub collections: u64,
    /// Number of these that were parallel.
    pub(super) parallel: u64,
    /// Elapsed time within the window, including collections that begin before it.
    pub(super) elapsed_ns: u64,
    /// Total full pauses of collections that begin in the window.
    pub(super) pauses_ns: u64,
    pub(super) longest_pause: Option<Maximum>,
    pub(super) most_slop: Option<Maximum>,
}

/// Maximum of a figure, and the first collection with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Maximum {
    pub(super) value: u64,
    pub(super) at: Interval,
}

impl Maximum {
    const fn from_collection(value: u64, gc: &Collection) -> Option<Self> {
        Some(Self {
            value,
            at: Interval::new(gc.start, gc.end),
        })
    }

    /// Returns the larger one; the first of equal ones.
    fn larger(first: Option<Self>, later: Option<Self>) -> Option<Self> {
        match (first, later) {
            (Some(first), Some(later)) if later.value > first.value => Some(later),
            (first, later) => first.or(later),
        }
    }
}

/// Figures of the collections that begin in a window; the elapsed time also covers others that overlap it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Generations with collections, youngest first.
    pub(super) generations: Vec<GenerationTally>,
    pub(super) copied_bytes: u64,
    pub(super) most_fragmentation: Option<Maximum>,
    pub(super) sync_ns: Option<u64>,
    /// This and all following fields: parallel collections only.
    balanced_bytes: Option<u64>,
    parallel_copied_bytes: u64,
    total_copied_bytes: u64,
    max_copied_bytes: u64,
    max_threads: Option<u32>,
}

/// Adds two figures; `None` if neither exists.
fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        _ => a.or(b),
    }
}

impl Tally {
    fn generation(&mut self, generation: u16) -> Option<&mut GenerationTally> {
        let rows = &mut self.generations;
        let place = rows.partition_point(|row| row.generation < generation);
        if rows
            .get(place)
            .is_none_or(|row| row.generation != generation)
        {
            let row = GenerationTally {
                generation,
                ..GenerationTally::default()
            };
            rows.insert(place, row);
        }
        rows.get_mut(place)
    }

    /// Adds the part of a collection in the window.
    fn add(&mut self, gc: &Collection, window: Window) {
        let part_ns = window.overlap_ns(gc.start.0, gc.end.0);
        let inside = window.contains(gc.start.0);
        if part_ns == 0 && !inside {
            return;
        }
        let Some(row) = gc.generation.and_then(|of| self.generation(of)) else {
            return;
        };
        row.elapsed_ns = row.elapsed_ns.saturating_add(part_ns);
        if !inside {
            return;
        }
        row.collections += 1;
        row.parallel += u64::from(gc.is_parallel());
        row.pauses_ns = row.pauses_ns.saturating_add(gc.pause_ns());
        row.longest_pause = Maximum::larger(
            row.longest_pause,
            Maximum::from_collection(gc.pause_ns(), gc),
        );
        row.most_slop = Maximum::larger(row.most_slop, Maximum::from_collection(gc.slop_bytes, gc));
        self.copied_bytes = self.copied_bytes.saturating_add(gc.copied_bytes);
        let fragmentation = Maximum::from_collection(gc.fragmentation_bytes, gc);
        self.most_fragmentation = Maximum::larger(self.most_fragmentation, fragmentation);
        self.sync_ns = sum(self.sync_ns, gc.sync_ns);
        if gc.is_parallel() {
            self.balanced_bytes = sum(self.balanced_bytes, gc.balanced_bytes);
            self.parallel_copied_bytes = self.parallel_copied_bytes.saturating_add(gc.copied_bytes);
            self.total_copied_bytes = self
                .total_copied_bytes
                .saturating_add(gc.total_copied_bytes);
            self.max_copied_bytes = self.max_copied_bytes.saturating_add(gc.max_copied_bytes);
            self.max_threads = self.max_threads.max(Some(gc.threads));
        }
    }

    fn merge(&mut self, more: &Self) {
        for of in &more.generations {
            let Some(row) = self.generation(of.generation) else {
                continue;
            };
            row.collections += of.collections;
            row.parallel += of.parallel;
            row.elapsed_ns = row.elapsed_ns.saturating_add(of.elapsed_ns);
            row.pauses_ns = row.pauses_ns.saturating_add(of.pauses_ns);
            row.longest_pause = Maximum::larger(row.longest_pause, of.longest_pause);
            row.most_slop = Maximum::larger(row.most_slop, of.most_slop);
        }
        self.copied_bytes = self.copied_bytes.saturating_add(more.copied_bytes);
        self.most_fragmentation = Maximum::larger(self.most_fragmentation, more.most_fragmentation);
        self.sync_ns = sum(self.sync_ns, more.sync_ns);
        self.balanced_bytes = sum(self.balanced_bytes, more.balanced_bytes);
        let copied = more.parallel_copied_bytes;
        self.parallel_copied_bytes = self.parallel_copied_bytes.saturating_add(copied);
        let copied = more.total_copied_bytes;
        self.total_copied_bytes = self.total_copied_bytes.saturating_add(copied);
        let copied = more.max_copied_bytes;
        self.max_copied_bytes = self.max_copied_bytes.saturating_add(copied);
        self.max_threads = self.max_threads.max(more.max_threads);
    }

    /// Returns the sum of a figure over all generations.
    pub(super) fn all(&self, number: fn(&GenerationTally) -> u64) -> u64 {
        let numbers = self.generations.iter().map(number);
        numbers.fold(0, u64::saturating_add)
    }

    /// Returns the balance of parallel copying.
    ///
    /// Since GHC 8.4 the runtime divides the bytes copied in balance by all bytes copied. Before, it compared the
    /// bytes copied by all threads with those of the busiest thread: with balanced threads, the ratio is the
    /// number of threads.
    pub(super) fn work_balance(&self) -> Option<f64> {
        let part = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        if let Some(balanced) = self.balanced_bytes {
            return part(balanced, self.parallel_copied_bytes);
        }
        let threads = self.max_threads?;
        let share = part(self.total_copied_bytes, self.max_copied_bytes)?;
        Some((share - 1.0) / f64::from(threads - 1))
    }
}

/// Precomputed figures per block of collections, in the order in which these end.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies {
    blocks: Vec<Tally>,
    /// Start and end of the last collection.
    last: (u64, u64),
    /// Whether starts or ends decrease somewhere, as in a damaged log.
    unsorted: bool,
    /// Oldest generation collected.
    pub(super) oldest: Option<u16>,
    /// Generations collected, sorted.
    pub(super) generations: Vec<u16>,
}

impl Tallies {
    /// Adds the next collection, at index `place`.
    pub(super) fn push(&mut self, place: usize, gc: &Collection) {
        if place / BLOCK >= self.blocks.len() {
            self.blocks.push(Tally::default());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.add(gc, Window::whole(0, u64::MAX));
        }
        let now = (gc.start.0, gc.end.0);
        self.unsorted |= now.0 < self.last.0 || now.1 < self.last.1;
        self.last = now;
        self.oldest = self.oldest.max(gc.generation);
        if let Some(generation) = gc.generation
            && let Err(place) = self.generations.binary_search(&generation)
        {
            self.generations.insert(place, generation);
        }
    }

    /// Returns indices of all collections that begin in a window, and of others only in a damaged log.
    pub(super) fn indexes_in(&self, all: &[Collection], window: Window) -> Range<usize> {
        if self.unsorted {
            return 0..all.len();
        }
        let first = all.partition_point(|gc| gc.start.0 < window.from);
        let end = all.partition_point(|gc| window.is_before_end(gc.start.0));
        first..end.max(first)
    }

    /// Returns the last collection that ended by a time.
    pub(super) fn last_ended<'a>(&self, all: &'a [Collection], by: u64) -> Option<&'a Collection> {
        if self.unsorted {
            let ended = all.iter().filter(|gc| gc.end.0 <= by);
            return ended.max_by_key(|gc| gc.end);
        }
        let ended = all.partition_point(|gc| gc.end.0 <= by);
        all.get(ended.checked_sub(1)?)
    }

    /// Computes the figures of a window.
    pub(super) fn tally(&self, all: &[Collection], window: Window) -> Tally {
        let mut tally = Tally::default();
        let add = |places: Range<usize>, tally: &mut Tally| {
            for gc in all.get(places).unwrap_or_default() {
                tally.add(gc, window);
            }
        };
        if self.unsorted {
            add(0..all.len(), &mut tally);
            return tally;
        }
        // Collections that extend into the window, are inside it, or extend beyond its end.
        let inside = self.indexes_in(all, window);
        let reach = all.partition_point(|gc| gc.end.0 <= window.from);
        let whole = all.partition_point(|gc| gc.end.0 <= window.to);
        let whole = inside.start..whole.clamp(inside.start, inside.end);
        add(reach.min(inside.start)..inside.start, &mut tally);
        let first_block = whole.start.div_ceil(BLOCK);
        let last_block = whole.end / BLOCK;
        if first_block < last_block {
            add(whole.start..first_block * BLOCK, &mut tally);
            for block in self.blocks.get(first_block..last_block).unwrap_or_default() {
                tally.merge(block);
            }
            add(last_block * BLOCK..whole.end, &mut tally);
        } else {
            add(whole.clone(), &mut tally);
        }
        add(whole.end..inside.end, &mut tally);
        tally
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use eventlog::ids::Nanos;

    fn collections(gaps: &[(u16, u8)]) -> Vec<Collection> {
        let mut at = 0;
        let mut all = Vec::new();
        for (i, &(gap, pause)) in (0..).zip(gaps) {
            at += u64::from(gap % 5);
            let start = Nanos(at);
            at += u64::from(pause % 9);
            all.push(Collection {
                start,
                end: Nanos(at),
                generation: Some(gap % 3),
                threads: u32::from(pause % 3),
                copied_bytes: i * 7,
                slop_bytes: u64::from(gap),
                fragmentation_bytes: u64::from(pause),
                sync_ns: (gap % 2 == 0).then_some(i),
                balanced_bytes: (pause % 4 == 0).then_some(i),
                ..Collection::default()
            });
        }
        all
    }

    proptest! {
        #[test]
        fn blocks_add_up_to_the_same(
            gaps in prop::collection::vec(any::<(u16, u8)>(), 0..1500),
            from in 0..9000_u64,
            len in 0..9000_u64,
        ) {
            let all = collections(&gaps);
            let mut tallies = Tallies::default();
            for (place, gc) in all.iter().enumerate() {
                tallies.push(place, gc);
            }
            prop_assert!(!tallies.unsorted);
            let window = Window::part(from, from + len, 8000);
            let tally = tallies.tally(&all, window);
            tallies.unsorted = true;
            prop_assert_eq!(tally, tallies.tally(&all, window));
            let places = Tallies::default().indexes_in(&all, window);
            prop_assert!(all[places].iter().all(|gc| window.contains(gc.start.0)));
        }
    }
}
