//! What was alive, by cost-centre stack: one sample every so often, each with
//! the bytes of all stacks (`+RTS -hc`).

use serde::{Deserialize, Serialize};

use super::stacks::StackId;
use super::weights::Weight;
use crate::time::Interval;
use eventlog::ids::Nanos;

/// Heap samples in columns, by time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapSamples {
    /// When each was taken.
    time: Vec<Nanos>,
    /// Where the stacks of each end in the columns below.
    end: Vec<u32>,
    stack: Vec<StackId>,
    bytes: Vec<u64>,
}

impl HeapSamples {
    /// Adds a sample; those of an earlier time count at the last one's.
    pub fn push(&mut self, at: Nanos, stacks: impl IntoIterator<Item = (StackId, u64)>) {
        for (stack, bytes) in stacks {
            self.stack.push(stack);
            self.bytes.push(bytes);
        }
        let last = self.time.last().copied().unwrap_or_default();
        self.time.push(at.max(last));
        self.end
            .push(u32::try_from(self.stack.len()).unwrap_or(u32::MAX));
    }

    /// How many samples there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.time.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// A sample counts in the range in which it ends a stretch, as ticks do:
    /// after its start, up to its end.
    fn places(&self, range: Interval) -> std::ops::Range<usize> {
        let before = |limit: Nanos| self.time.partition_point(|&time| time <= limit);
        let from = if range.start() == Nanos(0) {
            0
        } else {
            before(range.start())
        };
        from..before(range.end()).max(from)
    }

    /// How many samples a range has.
    #[must_use]
    pub fn samples_in(&self, range: Interval) -> u32 {
        u32::try_from(self.places(range).len()).unwrap_or(u32::MAX)
    }

    /// A sample: when, and the bytes of each stack.
    pub fn get(&self, sample: usize) -> Option<(Nanos, impl Iterator<Item = (StackId, u64)> + '_)> {
        let time = *self.time.get(sample)?;
        let end = *self.end.get(sample)? as usize;
        let start = sample
            .checked_sub(1)
            .and_then(|before| self.end.get(before));
        let places = start.map_or(0, |&start| start as usize)..end;
        let stacks = self.stack.get(places.clone())?.iter().copied();
        Some((time, stacks.zip(self.bytes.get(places)?.iter().copied())))
    }

    /// Gives each stack another number: the one at its place in `new`.
    pub fn renumber(&mut self, new: &[StackId]) {
        for stack in &mut self.stack {
            *stack = new.get(stack.index()).copied().unwrap_or(StackId::EMPTY);
        }
    }

    /// Adds the bytes of the samples of a range, by stack.
    pub fn weigh(&self, range: Interval, own: &mut [Weight]) {
        for (_, stacks) in self.places(range).filter_map(|sample| self.get(sample)) {
            for (stack, bytes) in stacks {
                if let Some(weight) = own.get_mut(stack.index()) {
                    weight.add(Weight {
                        amount: bytes,
                        count: 1,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_counts_in_one_part_of_the_time() {
        let mut heap = HeapSamples::default();
        heap.push(Nanos(0), [(StackId(1), 5)]);
        heap.push(Nanos(10), [(StackId(1), 7), (StackId(2), 1)]);
        heap.push(Nanos(20), []);
        let sums = |start, end| {
            let mut own = vec![Weight::default(); 3];
            let range = Interval::new(Nanos(start), Nanos(end));
            heap.weigh(range, &mut own);
            let amounts: Vec<u64> = own.iter().map(|weight| weight.amount).collect();
            (heap.samples_in(range), amounts)
        };
        assert_eq!(sums(0, 20), (3, vec![0, 12, 1]));
        assert_eq!(sums(0, 10), (2, vec![0, 12, 1]));
        assert_eq!(sums(10, 20), (1, vec![0, 0, 0]));
        assert_eq!(sums(0, 9), (1, vec![0, 5, 0]));
    }
}
