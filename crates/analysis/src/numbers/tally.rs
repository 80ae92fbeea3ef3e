//! Sums and maxima over collections, which can be put together from parts: so a
//! range of a million collections is summed up in microseconds.

use std::ops::Range;

use super::Collection;
use super::steps::Window;
use model::time::Interval;

/// So many collections are summed up in advance.
const BLOCK: usize = 256;

/// Of the collections of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OfGeneration {
    pub(super) generation: u16,
    /// How many begin in the window.
    pub collections: u64,
    /// How many of them were parallel.
    pub(super) parallel: u64,
    /// Their time in the window, also of one that begins before it.
    pub(super) elapsed_ns: u64,
    /// The pauses of those that begin inside, to their ends.
    pub(super) pauses_ns: u64,
    pub(super) longest_pause: Option<Most>,
    pub(super) most_slop: Option<Most>,
}

/// The most of something, and the first collection that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Most {
    pub(super) value: u64,
    pub(super) at: Interval,
}

impl Most {
    const fn of(value: u64, gc: &Collection) -> Option<Self> {
        Some(Self {
            value,
            at: Interval::new(gc.start, gc.end),
        })
    }

    /// The larger one; of equal ones the first.
    fn larger(first: Option<Self>, later: Option<Self>) -> Option<Self> {
        match (first, later) {
            (Some(first), Some(later)) if later.value > first.value => Some(later),
            (first, later) => first.or(later),
        }
    }
}

/// Of some collections: those that begin in a window, but for the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Only those that there are, the youngest first.
    pub(super) generations: Vec<OfGeneration>,
    pub(super) copied_bytes: u64,
    pub(super) most_fragmentation: Option<Most>,
    pub(super) sync_ns: Option<u64>,
    /// Of parallel collections only, as all that follows.
    balanced_bytes: Option<u64>,
    parallel_copied_bytes: u64,
    total_copied_bytes: u64,
    max_copied_bytes: u64,
    max_threads: Option<u32>,
}

/// The sum, if there is something to sum up.
fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        _ => a.or(b),
    }
}

impl Tally {
    fn generation(&mut self, generation: u16) -> Option<&mut OfGeneration> {
        let rows = &mut self.generations;
        let place = rows.partition_point(|row| row.generation < generation);
        if rows
            .get(place)
            .is_none_or(|row| row.generation != generation)
        {
            let row = OfGeneration {
                generation,
                ..OfGeneration::default()
            };
            rows.insert(place, row);
        }
        rows.get_mut(place)
    }

    /// Adds a collection as far as it is in the window.
    fn add(&mut self, gc: &Collection, window: Window) {
        let part_ns = window.part_of(gc.start.0, gc.end.0);
        let inside = window.has(gc.start.0);
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
        row.longest_pause = Most::larger(row.longest_pause, Most::of(gc.pause_ns(), gc));
        row.most_slop = Most::larger(row.most_slop, Most::of(gc.slop_bytes, gc));
        self.copied_bytes = self.copied_bytes.saturating_add(gc.copied_bytes);
        let fragmentation = Most::of(gc.fragmentation_bytes, gc);
        self.most_fragmentation = Most::larger(self.most_fragmentation, fragmentation);
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
            row.longest_pause = Most::larger(row.longest_pause, of.longest_pause);
            row.most_slop = Most::larger(row.most_slop, of.most_slop);
        }
        self.copied_bytes = self.copied_bytes.saturating_add(more.copied_bytes);
        self.most_fragmentation = Most::larger(self.most_fragmentation, more.most_fragmentation);
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

    /// The sum of a number over all generations.
    pub(super) fn all(&self, number: fn(&OfGeneration) -> u64) -> u64 {
        let numbers = self.generations.iter().map(number);
        numbers.fold(0, u64::saturating_add)
    }

    /// The runtime divides what was copied in balance by what was copied since
    /// GHC 8.4. Before, it compared what all threads copied with what the busiest
    /// did: n threads in balance copy n times as much.
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

/// The sums of each block of collections, in the order in which they end.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies {
    blocks: Vec<Tally>,
    /// The last collection's start and end.
    last: (u64, u64),
    /// Whether starts or ends go back, as they may in a damaged log.
    unsorted: bool,
    /// The oldest generation that there is.
    pub(super) oldest: Option<u16>,
    /// All generations that there are.
    pub(super) generations: Vec<u16>,
}

impl Tallies {
    /// Takes the collection of the next place.
    pub(super) fn push(&mut self, place: usize, gc: &Collection) {
        if place / BLOCK >= self.blocks.len() {
            self.blocks.push(Tally::default());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.add(gc, Window::whole(u64::MAX));
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

    /// Places among which are all collections that begin in a window, and none
    /// that do not if all are sorted.
    pub(super) fn places(&self, all: &[Collection], window: Window) -> Range<usize> {
        if self.unsorted {
            return 0..all.len();
        }
        let first = all.partition_point(|gc| gc.start.0 < window.from);
        let end = all.partition_point(|gc| window.is_before_end(gc.start.0));
        first..end.max(first)
    }

    /// The last collection that has ended by a time.
    pub(super) fn last_ended<'a>(&self, all: &'a [Collection], by: u64) -> Option<&'a Collection> {
        if self.unsorted {
            let ended = all.iter().filter(|gc| gc.end.0 <= by);
            return ended.max_by_key(|gc| gc.end);
        }
        let ended = all.partition_point(|gc| gc.end.0 <= by);
        all.get(ended.checked_sub(1)?)
    }

    /// Sums up the collections of a window.
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
        // Those that reach into the window, those that are whole in it, and those
        // that reach out of it.
        let inside = self.places(all, window);
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
            let places = Tallies::default().places(&all, window);
            prop_assert!(all[places].iter().all(|gc| window.has(gc.start.0)));
        }
    }
}
