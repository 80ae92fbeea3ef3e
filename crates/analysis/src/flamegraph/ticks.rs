//! The samples of cost centres: in a slice, where equal stacks become one number, and of
//! the log, while it is read. Cost centres may be declared after the samples that name them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use eventlog::cursor::CcStack;
use eventlog::ids::{CapId, CostCentreId, Duration, Nanos};
use eventlog::{Event, EventSet, EventType};
use model::columns::Column;
use model::profile::samples::Samples;
use model::profile::stacks::{LastStack, StackId, Stacks};

/// The samples in a slice.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SliceTicks {
    /// The stacks but the empty one, each behind its parent, with its innermost
    /// cost centre.
    #[serde(skip)]
    parents: Vec<u32>,
    #[serde(skip)]
    centres: Vec<u32>,
    caps: BTreeMap<CapId, CapTicks>,
}

/// When a capability was sampled, in nanoseconds, and where it was: the number of a
/// stack.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CapTicks {
    #[serde(skip)]
    at: Vec<u64>,
    #[serde(skip)]
    stacks: Vec<u32>,
}

impl SliceTicks {
    /// The types of events that are samples.
    pub(crate) const CONSUMES: EventSet = EventSet::of(&[EventType::PROF_SAMPLE_COST_CENTRE]);

    /// Shows each long list of numbers, always in the same order.
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        see((&mut self.parents).into());
        see((&mut self.centres).into());
        for ticks in self.caps.values_mut() {
            see((&mut ticks.at).into());
            see((&mut ticks.stacks).into());
        }
    }
}

/// The samples of a log, or of a slice of it, while it is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticks {
    pub(super) stacks: Stacks<CostCentreId>,
    pub(super) caps: BTreeMap<CapId, Sampled>,
}

/// A capability that is sampled.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampled {
    at: Vec<Nanos>,
    stack: Vec<StackId>,
    last: LastStack<CostCentreId>,
    /// The bytes of the last stack, innermost first.
    bytes: Vec<u8>,
}

impl Ticks {
    /// Takes a sample; other events are passed over.
    pub(crate) fn event(&mut self, event: &Event<'_>, at: Nanos) {
        // Each event counts once: `ticks` is a running number. The capability is a
        // u32 here, a u16 everywhere else.
        if let Event::ProfSampleCostCentre { cap, stack, .. } = *event
            && let Ok(cap) = u16::try_from(cap)
        {
            let sampled = self.caps.entry(CapId(cap)).or_default();
            sampled.push(at, stack, &mut self.stacks);
        }
    }

    /// What a slice has.
    pub(crate) fn into_slice(self) -> SliceTicks {
        let mut found = SliceTicks::default();
        for stack in self.stacks.ids() {
            if let Some(CostCentreId(centre)) = self.stacks.frame(stack) {
                found.parents.push(self.stacks.parent(stack).0);
                found.centres.push(centre);
            }
        }
        for (cap, Sampled { at, stack, .. }) in self.caps {
            let ticks = CapTicks {
                at: at.into_iter().map(|Nanos(at)| at).collect(),
                stacks: stack.into_iter().map(|StackId(stack)| stack).collect(),
            };
            found.caps.insert(cap, ticks);
        }
        found
    }

    /// Adds the samples of the slice that follows.
    pub(super) fn append(&mut self, slice: &SliceTicks) {
        let mut new = vec![StackId::EMPTY];
        for (&parent, &centre) in slice.parents.iter().zip(&slice.centres) {
            let parent = new.get(parent as usize).copied().unwrap_or_default();
            new.push(self.stacks.push(parent, CostCentreId(centre)));
        }
        let stack = |stack: &u32| new.get(*stack as usize).copied().unwrap_or_default();
        for (cap, ticks) in &slice.caps {
            let all = self.caps.entry(*cap).or_default();
            all.at.extend(ticks.at.iter().copied().map(Nanos));
            all.stack.extend(ticks.stacks.iter().map(stack));
        }
    }
}

impl Sampled {
    /// Adds a sample. Successive ones mostly begin alike: of a stack, only
    /// what differs from the last one is looked up.
    fn push(&mut self, at: Nanos, stack: CcStack<'_>, stacks: &mut Stacks<CostCentreId>) {
        let bytes = stack.bytes();
        let shared = common_end(&self.bytes, bytes) / 4;
        let inner = stack.iter().rev().skip(shared);
        let stack = stacks.intern_from(&mut self.last, shared, inner);
        self.stack.push(stack);
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
