//! How much each stack has in a range.

use super::frames::FrameId;
use super::stacks::{StackId, Stacks};
use crate::profile::{HeapStacks, Profile, Track};
use crate::time::Interval;
use serde::{Deserialize, Serialize};

/// By what boxes are as wide as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Measure {
    /// Time or bytes, as the source counts.
    #[default]
    Amount,
    /// Samples.
    Count,
}

/// What a stack, or anything, weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Nanoseconds, or bytes: what its source counts in.
    pub amount: u64,
    /// Samples.
    pub count: u64,
}

impl Weight {
    /// Adds another.
    pub const fn add(&mut self, other: Self) {
        self.amount = self.amount.saturating_add(other.amount);
        self.count = self.count.saturating_add(other.count);
    }

    /// One of both.
    #[must_use]
    pub const fn by(self, measure: Measure) -> u64 {
        match measure {
            Measure::Amount => self.amount,
            Measure::Count => self.count,
        }
    }
}

impl Profile {
    /// The weight of each stack itself in a range of some tracks, by its number.
    #[must_use]
    pub fn weigh(&self, tracks: &[usize], range: Interval) -> Vec<Weight> {
        let mut own = vec![Weight::default(); self.stacks.len()];
        if let Some(heap) = &self.heap {
            heap.weigh(&heap.places(range), &mut own);
        }
        for track in chosen(self, tracks) {
            track.samples.weigh(range, &mut own);
        }
        own
    }

    /// In how many censuses each stack holds anything, by its number.
    fn seen_in(&self, heap: &HeapStacks) -> Vec<u32> {
        let mut held = vec![Weight::default(); self.stacks.len()];
        heap.weigh(&heap.all(), &mut held);
        let count = |weight: &Weight| u32::try_from(weight.count).unwrap_or(u32::MAX);
        held.iter().map(count).collect()
    }

    /// How many samples each stack has, by its number.
    #[must_use]
    pub fn seen(&self) -> Vec<u32> {
        if let Some(heap) = &self.heap {
            return self.seen_in(heap);
        }
        let mut seen = vec![0_u32; self.stacks.len()];
        let mut see = |stack: StackId| {
            if let Some(count) = seen.get_mut(stack.index()) {
                *count = count.saturating_add(1);
            }
        };
        for track in &self.tracks {
            track.samples.stacks().iter().copied().for_each(&mut see);
        }
        // Gaps have none, but are shown.
        see(self.idle_stack);
        seen
    }
}

/// The tracks with these indices; those that there are.
pub fn chosen<'a>(profile: &'a Profile, tracks: &'a [usize]) -> impl Iterator<Item = &'a Track> {
    tracks.iter().filter_map(|&index| profile.tracks.get(index))
}

/// What each stack and all that begin with it weigh, from what each weighs
/// itself.
pub fn totals(stacks: &Stacks, own: &[Weight]) -> Vec<Weight> {
    let mut total = own.to_vec();
    total.resize(stacks.len(), Weight::default());
    let inner = stacks.ids().rev().filter(|&id| id != StackId::EMPTY);
    for stack in inner {
        let weight = total[stack.index()];
        total[stacks.parent(stack).index()].add(weight);
    }
    total
}

/// The weights of stacks after something was done to them; what is gone
/// weighs nothing.
pub fn moved(own: &[Weight], map: &[Option<StackId>], stacks: usize) -> Vec<Weight> {
    let mut new = vec![Weight::default(); stacks];
    for (weight, stack) in own.iter().zip(map) {
        if let Some(sum) = stack.and_then(|stack| new.get_mut(stack.index())) {
            sum.add(*weight);
        }
    }
    new
}

/// The part of the weight that is in stacks with a marked frame, from 0 to 1.
pub fn share(stacks: &Stacks, own: &[Weight], marked: &[bool], measure: Measure) -> f64 {
    let is = |frame: FrameId| marked.get(frame.0 as usize).copied().unwrap_or(false);
    let mut with: Vec<bool> = Vec::with_capacity(stacks.len());
    let (mut found, mut all) = (0_u64, 0_u64);
    for (stack, weight) in stacks.ids().zip(own) {
        let outer = with.get(stacks.parent(stack).index()).copied();
        let here = outer.unwrap_or(false) || stacks.frame(stack).is_some_and(is);
        with.push(here);
        let weight = weight.by(measure);
        all = all.saturating_add(weight);
        if here {
            found = found.saturating_add(weight);
        }
    }
    if all == 0 {
        0.0
    } else {
        found as f64 / all as f64
    }
}
