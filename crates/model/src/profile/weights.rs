//! Weights of stacks within a range.

use super::frames::FrameId;
use super::stacks::{StackId, Stacks};
use crate::profile::{HeapStacks, Profile, Track};
use crate::time::Interval;
use serde::{Deserialize, Serialize};

/// Quantity that determines the width of boxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Measure {
    /// Time or bytes, depending on the source.
    #[default]
    Amount,
    /// Number of samples.
    Count,
}

/// Amount and sample count of a stack or box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Nanoseconds or bytes, depending on the source.
    pub amount: u64,
    /// Number of samples.
    pub count: u64,
}

impl Weight {
    /// Adds another weight, saturating.
    pub const fn add(&mut self, other: Self) {
        self.amount = self.amount.saturating_add(other.amount);
        self.count = self.count.saturating_add(other.count);
    }

    /// Returns the amount or the count.
    pub const fn value(self, measure: Measure) -> u64 {
        match measure {
            Measure::Amount => self.amount,
            Measure::Count => self.count,
        }
    }
}

impl Profile {
    /// Returns the weights of the stacks, without descendants, within a range of some tracks; by stack number.
    pub fn weigh(&self, tracks: &[usize], range: Interval) -> Vec<Weight> {
        let mut own = vec![Weight::default(); self.stacks.len()];
        if let Some(heap) = &self.heap {
            heap.weigh(&heap.ranges_in(range), &mut own);
        }
        for track in tracks_at(self, tracks) {
            track.samples.weigh(range, &mut own);
        }
        own
    }

    /// Returns the number of censuses in which each stack holds anything, by stack number.
    fn census_counts(&self, heap: &HeapStacks) -> Vec<u32> {
        let mut held = vec![Weight::default(); self.stacks.len()];
        heap.weigh(&heap.all_ranges(), &mut held);
        let count = |weight: &Weight| u32::try_from(weight.count).unwrap_or(u32::MAX);
        held.iter().map(count).collect()
    }

    /// Returns the number of samples of each stack in the whole log, by stack number.
    pub fn sample_counts(&self) -> Vec<u32> {
        if let Some(heap) = &self.heap {
            return self.census_counts(heap);
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
        // Gaps have no samples, but are shown.
        see(self.idle_stack);
        seen
    }
}

/// Iterates over the tracks with these indices; unknown indices are skipped.
pub fn tracks_at<'a>(profile: &'a Profile, tracks: &'a [usize]) -> impl Iterator<Item = &'a Track> {
    tracks.iter().filter_map(|&index| profile.tracks.get(index))
}

/// Computes the weight of each stack including its descendants, from the weights without.
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

/// Moves weights to new stack numbers and sums up those that coincide; stacks mapped to `None` are dropped.
pub fn remap_weights(own: &[Weight], map: &[Option<StackId>], stacks: usize) -> Vec<Weight> {
    let mut new = vec![Weight::default(); stacks];
    for (weight, stack) in own.iter().zip(map) {
        if let Some(sum) = stack.and_then(|stack| new.get_mut(stack.index())) {
            sum.add(*weight);
        }
    }
    new
}

/// Returns the share of the weight in stacks that contain a marked frame, from 0 to 1.
pub fn share(stacks: &Stacks, own: &[Weight], marked: &[bool], measure: Measure) -> f64 {
    let is = |frame: FrameId| marked.get(frame.0 as usize).copied().unwrap_or(false);
    let mut with: Vec<bool> = Vec::with_capacity(stacks.len());
    let (mut found, mut all) = (0_u64, 0_u64);
    for (stack, weight) in stacks.ids().zip(own) {
        let outer = with.get(stacks.parent(stack).index()).copied();
        let here = outer.unwrap_or(false) || stacks.frame(stack).is_some_and(is);
        with.push(here);
        let weight = weight.value(measure);
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
