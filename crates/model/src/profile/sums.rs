//! Precomputed weights of blocks of samples, which weigh a selection of millions of samples in milliseconds,
//! exactly.

use std::ops::Range;

use super::samples::Samples;
use super::stacks::StackId;
use super::weights::Weight;

/// Number of blocks that form a block of the next level.
const FANOUT: usize = 8;
/// Fewest samples in a block; smaller ranges are scanned.
const MIN_BLOCK: usize = 4096;

/// A hierarchy of blocks of samples with the weights of their stacks.
///
/// Blocks of the lowest level have at least four times as many samples as there are distinct stacks, so that all
/// sums together take at most about 5 bytes per sample.
#[derive(Clone, Debug, Default)]
pub(super) struct WeightBlocks {
    /// Samples per block of the lowest level.
    samples: usize,
    levels: Vec<Vec<Block>>,
}

/// Weights of the stacks in a block, in columns, by ascending stack.
#[derive(Clone, Debug, Default)]
struct Block {
    stack: Vec<StackId>,
    amount: Vec<u64>,
    count: Vec<u32>,
}

impl Block {
    fn add_to(&self, own: &mut [Weight]) {
        let weights = self.amount.iter().zip(&self.count);
        for (stack, (&amount, &count)) in self.stack.iter().zip(weights) {
            if let Some(weight) = own.get_mut(stack.index()) {
                let count = u64::from(count);
                weight.add(Weight { amount, count });
            }
        }
    }

    /// Moves the weights out of `own`, which is left zero.
    fn drain_from(own: &mut [Weight]) -> Self {
        let mut block = Self::default();
        for (stack, weight) in (0..).map(StackId).zip(own) {
            if *weight != Weight::default() {
                block.stack.push(stack);
                block.amount.push(weight.amount);
                block
                    .count
                    .push(u32::try_from(weight.count).unwrap_or(u32::MAX));
                *weight = Weight::default();
            }
        }
        block
    }
}

/// Adds the weights of samples one by one.
fn add_each(samples: &Samples, indices: Range<usize>, own: &mut [Weight]) {
    for index in indices {
        let amount = samples.duration(index).0;
        let weight = samples.stacks().get(index);
        if let Some(weight) = weight.and_then(|stack| own.get_mut(stack.index()))
            && amount > 0
        {
            let count = u64::from(samples.counts(index));
            weight.add(Weight { amount, count });
        }
    }
}

impl WeightBlocks {
    pub(super) fn new(samples: &Samples) -> Self {
        if samples.len() < 2 * MIN_BLOCK {
            return Self::default();
        }
        let stacks = samples.stacks();
        let limit = stacks.iter().max().map_or(0, |last| last.index() + 1);
        let mut seen = vec![false; limit];
        stacks.iter().for_each(|stack| seen[stack.index()] = true);
        let distinct = seen.iter().filter(|&&seen| seen).count();
        let size = (4 * distinct).next_power_of_two().max(MIN_BLOCK);
        let mut own = vec![Weight::default(); limit];
        let lowest = (0..samples.len() / size).map(|block| {
            add_each(samples, block * size..(block + 1) * size, &mut own);
            Block::drain_from(&mut own)
        });
        let mut levels: Vec<Vec<Block>> = vec![lowest.collect()];
        while let Some(below) = levels.last()
            && below.len() >= FANOUT
        {
            let above = below.as_chunks::<FANOUT>().0.iter().map(|blocks| {
                blocks.iter().for_each(|block| block.add_to(&mut own));
                Block::drain_from(&mut own)
            });
            let above = above.collect();
            levels.push(above);
        }
        Self {
            samples: size,
            levels,
        }
    }

    /// Adds the weights of the samples `indices`, unclipped.
    pub(super) fn add(&self, samples: &Samples, indices: Range<usize>, own: &mut [Weight]) {
        let size = self.samples.max(1);
        let (first, last) = (indices.start.div_ceil(size), indices.end / size);
        if self.levels.is_empty() || first >= last {
            return add_each(samples, indices, own);
        }
        add_each(samples, indices.start..first * size, own);
        let mut block = first;
        while block < last {
            // The largest block that begins here and does not reach beyond the range.
            let (mut level, mut length) = (0, 1);
            while block % (length * FANOUT) == 0
                && block + length * FANOUT <= last
                && level + 1 < self.levels.len()
            {
                level += 1;
                length *= FANOUT;
            }
            if let Some(sums) = self.levels[level].get(block / length) {
                sums.add_to(own);
            }
            block += length;
        }
        add_each(samples, last * size..indices.end, own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Interval;
    use eventlog::ids::Nanos;

    #[test]
    fn blocks_weigh_what_their_samples_do() {
        let mut samples = Samples::default();
        for index in 0..300_000_u64 {
            let span = Interval::new(Nanos(index * 10), Nanos(index * 10 + index % 11));
            samples.push(span, StackId((index * index % 97) as u32));
        }
        assert_weights_of_blocks(&samples);
        samples.count_only((0..samples.len()).step_by(3));
        assert_eq!(samples.counted(), 100_000);
        assert_weights_of_blocks(&samples);
    }

    fn assert_weights_of_blocks(samples: &Samples) {
        for (from, to) in [
            (0, 3_000_000),
            (5, 2_999_998),
            (1_234_567, 1_234_590),
            (81_924, 2_700_003),
        ] {
            let range = Interval::new(Nanos(from), Nanos(to));
            let (mut fast, mut slow) = (vec![Weight::default(); 97], vec![Weight::default(); 97]);
            samples.weigh(range, &mut fast);
            for sample in samples.clipped_to(range) {
                slow[sample.stack.index()].add(Weight {
                    amount: sample.span.duration().0,
                    count: u64::from(sample.counts),
                });
            }
            assert_eq!(fast, slow, "{from}..{to}");
        }
    }
}
