//! The samples of a capability while the log is read: cost centres may be
//! declared after the samples that name them.

use eventlog::cursor::CcStack;
use eventlog::ids::{CostCentreId, Duration, Nanos};
use model::profile::samples::Samples;
use model::profile::stacks::{LastStack, StackId, Stacks};

/// When a capability was sampled, and where it was.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticks {
    at: Vec<Nanos>,
    stack: Vec<StackId>,
    last: LastStack<CostCentreId>,
    /// The bytes of the last stack, innermost first.
    bytes: Vec<u8>,
}

impl Ticks {
    /// Adds a sample. Successive ones mostly begin alike: of a stack, only
    /// what differs from the last one is looked up.
    pub(super) fn push(
        &mut self,
        at: Nanos,
        stack: CcStack<'_>,
        stacks: &mut Stacks<CostCentreId>,
    ) {
        let bytes = stack.bytes();
        let shared = common_end(&self.bytes, bytes) / 4;
        let inner = stack.iter().rev().skip(shared);
        self.stack
            .push(stacks.intern_from(&mut self.last, shared, inner));
        self.at.push(at);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }

    /// The samples, with their stacks as they are called now.
    pub(super) fn finish(
        self,
        interval: Duration,
        mut new: impl FnMut(StackId) -> StackId,
    ) -> Samples {
        let mut stacks = self.stack;
        for stack in &mut stacks {
            *stack = new(*stack);
        }
        Samples::of_ticks(self.at, stacks, interval)
    }
}

/// How many bytes two slices end alike with.
fn common_end(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 32;
    let (blocks_a, blocks_b) = (a.as_rchunks::<STEP>().1, b.as_rchunks::<STEP>().1);
    let pairs = blocks_a.iter().rev().zip(blocks_b.iter().rev());
    let whole = pairs.take_while(|(a, b)| a == b).count() * STEP;
    let rest = |bytes: &[u8]| bytes.len() - whole;
    let (a, b) = (a.get(..rest(a)), b.get(..rest(b)));
    let pairs = a
        .unwrap_or_default()
        .iter()
        .rev()
        .zip(b.unwrap_or_default().iter().rev());
    whole + pairs.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_compared_in_any_length() {
        let long: Vec<u8> = (0..200).collect();
        assert_eq!(common_end(&long, &long), 200);
        assert_eq!(common_end(&long[3..], &long), 197);
        assert_eq!(common_end(&long, &long[190..]), 10);
        assert_eq!(common_end(&long, &[]), 0);
        for place in 0..200 {
            let mut other = long.clone();
            other[place] ^= 1;
            assert_eq!(common_end(&long, &other), 199 - place);
        }
    }
}
