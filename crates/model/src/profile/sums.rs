//! What the stacks of whole blocks of samples weigh, so that a selection of
//! millions of samples is weighed in milliseconds. The sums are exact.

use std::ops::Range;

use super::samples::Samples;
use super::stacks::StackId;
use super::weights::Weight;

/// How many blocks make one of the next level.
const FANOUT: usize = 8;
/// Fewer samples are looked at one by one.
const MIN_BLOCK: usize = 4096;

/// Blocks of samples, and blocks of these.
///
/// The smallest have four times as many samples as there are stacks, so that
/// all sums together take no more than about 5 bytes a sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// How many samples the blocks of the lowest level have.
    samples: usize,
    levels: Vec<Vec<Block>>,
}

/// The stacks of a block, in columns, ascending.
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

    /// Takes what is in `own`, which is empty then.
    fn take(own: &mut [Weight]) -> Self {
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

/// Adds samples one by one.
fn add_each(samples: &Samples, places: Range<usize>, own: &mut [Weight]) {
    for index in places {
        let amount = samples.duration(index).0;
        let weight = samples.stacks().get(index);
        if let Some(weight) = weight.and_then(|stack| own.get_mut(stack.index()))
            && amount > 0
        {
            weight.add(Weight { amount, count: 1 });
        }
    }
}

impl Sums {
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
            Block::take(&mut own)
        });
        let mut levels: Vec<Vec<Block>> = vec![lowest.collect()];
        while let Some(below) = levels.last()
            && below.len() >= FANOUT
        {
            let above = below.as_chunks::<FANOUT>().0.iter().map(|blocks| {
                blocks.iter().for_each(|block| block.add_to(&mut own));
                Block::take(&mut own)
            });
            let above = above.collect();
            levels.push(above);
        }
        Self {
            samples: size,
            levels,
        }
    }

    /// Adds the weights of whole samples.
    pub(super) fn add(&self, samples: &Samples, places: Range<usize>, own: &mut [Weight]) {
        let size = self.samples.max(1);
        let (first, last) = (places.start.div_ceil(size), places.end / size);
        if self.levels.is_empty() || first >= last {
            return add_each(samples, places, own);
        }
        add_each(samples, places.start..first * size, own);
        let mut block = first;
        while block < last {
            // The greatest that begins here and is over in time.
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
        add_each(samples, last * size..places.end, own);
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
        for (from, to) in [
            (0, 3_000_000),
            (5, 2_999_998),
            (1_234_567, 1_234_590),
            (81_924, 2_700_003),
        ] {
            let range = Interval::new(Nanos(from), Nanos(to));
            let (mut fast, mut slow) = (vec![Weight::default(); 97], vec![Weight::default(); 97]);
            samples.weigh(range, &mut fast);
            for sample in samples.in_range(range) {
                slow[sample.stack.index()].add(Weight {
                    amount: sample.span.duration().0,
                    count: u64::from(sample.ends),
                });
            }
            assert_eq!(fast, slow, "{from}..{to}");
        }
    }
}
