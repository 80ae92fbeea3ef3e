//! Cost centre samples of a slice and of the log read so far, with equal stacks interned.
//!
//! Cost centres stay numbers here, because declarations may follow the samples that refer to them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use eventlog::cursor::CcStack;
use eventlog::ids::{CapId, CostCentreId, Duration, Nanos};
use eventlog::{Event, EventSet, EventType};
use model::columns::Column;
use model::profile::samples::Samples;
use model::profile::stacks::{LastStack, StackId, Stacks};

/// Cost centre samples of one slice.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SliceCostCentreSamples {
    /// Interned stacks without the empty one, each after its parent: number of the parent, where 0 is the empty
    /// stack. Parallel to `centres`, the innermost cost centre of each.
    #[serde(skip)]
    parents: Vec<u32>,
    #[serde(skip)]
    centres: Vec<u32>,
    caps: BTreeMap<CapId, SliceCapSamples>,
}

/// Samples of one capability: times in ns, and stack numbers of the slice.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SliceCapSamples {
    #[serde(skip)]
    at: Vec<u64>,
    #[serde(skip)]
    stacks: Vec<u32>,
}

impl SliceCostCentreSamples {
    /// Event types of samples.
    pub(crate) const CONSUMES: EventSet =
        EventSet::from_types(&[EventType::PROF_SAMPLE_COST_CENTRE]);

    /// Visits each bulk column, always in the same order.
    pub(crate) fn columns(&mut self, see: &mut dyn FnMut(Column<'_>)) {
        see((&mut self.parents).into());
        see((&mut self.centres).into());
        for ticks in self.caps.values_mut() {
            see((&mut ticks.at).into());
            see((&mut ticks.stacks).into());
        }
    }
}

/// Cost centre samples of the log read so far, or of one slice.
#[derive(Clone, Debug, Default)]
pub(crate) struct CostCentreSamples {
    pub(super) stacks: Stacks<CostCentreId>,
    pub(super) caps: BTreeMap<CapId, CapSamples>,
}

/// Samples of one capability.
#[derive(Clone, Debug, Default)]
pub(super) struct CapSamples {
    at: Vec<Nanos>,
    stack: Vec<StackId>,
    last: LastStack<CostCentreId>,
    /// Encoded last stack, innermost first.
    bytes: Vec<u8>,
}

impl CostCentreSamples {
    /// Records a sample; ignores other events.
    pub(crate) fn event(&mut self, event: &Event<'_>, at: Nanos) {
        // The field `ticks` is a running number, so each event counts once. The event has the capability as u32,
        // all others as u16.
        if let Event::ProfSampleCostCentre { cap, stack, .. } = *event
            && let Ok(cap) = u16::try_from(cap)
        {
            let sampled = self.caps.entry(CapId(cap)).or_default();
            sampled.push(at, stack, &mut self.stacks);
        }
    }

    /// Converts the samples of a slice to columns.
    pub(crate) fn into_slice(self) -> SliceCostCentreSamples {
        let mut found = SliceCostCentreSamples::default();
        for stack in self.stacks.ids() {
            if let Some(CostCentreId(centre)) = self.stacks.frame(stack) {
                found.parents.push(self.stacks.parent(stack).0);
                found.centres.push(centre);
            }
        }
        for (cap, CapSamples { at, stack, .. }) in self.caps {
            let ticks = SliceCapSamples {
                at: at.into_iter().map(|Nanos(at)| at).collect(),
                stacks: stack.into_iter().map(|StackId(stack)| stack).collect(),
            };
            found.caps.insert(cap, ticks);
        }
        found
    }

    /// Appends the samples of the next slice.
    pub(super) fn append(&mut self, slice: &SliceCostCentreSamples) {
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

impl CapSamples {
    /// Appends a sample.
    ///
    /// Successive stacks mostly share their outermost frames, so only the frames that differ from the last stack
    /// are interned.
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

    /// Returns the samples, with each stack renumbered by `new`.
    pub(super) fn finish(
        self,
        interval: Duration,
        mut new: impl FnMut(StackId) -> StackId,
    ) -> Samples {
        let mut stacks = self.stack;
        for stack in &mut stacks {
            *stack = new(*stack);
        }
        Samples::from_ticks(self.at, stacks, interval)
    }
}

/// Returns the length of the longest common suffix in bytes.
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
