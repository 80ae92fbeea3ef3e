//! Merges the stacks of two logs, so that a flame graph compares two logs like two intervals of one.

use std::borrow::Cow;

use super::frames::{FrameId, Frames};
use super::revision::Revision;
use super::stack_source::{CensusCounts, FlameSelection, ProfileRef, StackSource, WeightedStacks};
use super::stacks::{StackId, Stacks};
use super::weights::Weight;
use crate::profile::Profile;
use eventlog::hash::SeededMap;

/// The merged stacks of a log and of another one to compare with.
///
/// Frames are equal if module and label are: source locations, addresses and numbers differ between builds. Other
/// properties of a frame come from the first log, if it has the frame.
#[derive(Clone, Debug)]
pub struct ComparedStacks {
    frames: Frames,
    stacks: Stacks,
    now: Vec<Weight>,
    before: Vec<Weight>,
    censuses: CensusCounts,
    absolute: bool,
    revision: Revision,
}

impl ComparedStacks {
    /// Merges the stacks of two logs. Their weights are compared as absolute amounts, or unless `absolute` as
    /// shares of the total of each log.
    pub fn new(now: &WeightedStacks<'_>, before: &WeightedStacks<'_>, absolute: bool) -> Self {
        let mut compared = Self {
            frames: Frames::default(),
            stacks: Stacks::default(),
            now: Vec::new(),
            before: Vec::new(),
            censuses: CensusCounts {
                now: now.censuses.now,
                before: before.censuses.now,
            },
            absolute,
            revision: Revision::next(),
        };
        let mut by_name = SeededMap::default();
        let of_now = compared.add(now, &mut by_name);
        let of_before = compared.add(before, &mut by_name);
        let len = compared.stacks.len();
        compared.now = renumber_weights(&now.own, &of_now, len);
        compared.before = renumber_weights(&before.own, &of_before, len);
        compared
    }

    /// Adds the stacks of a log; returns the new number of each.
    fn add(
        &mut self,
        weighed: &WeightedStacks<'_>,
        by_name: &mut SeededMap<(String, String), FrameId>,
    ) -> Vec<StackId> {
        let frames = weighed.frames.iter().map(|(_, frame)| {
            let name = (frame.module.clone(), frame.label.clone());
            let frames = &mut self.frames;
            *by_name
                .entry(name)
                .or_insert_with(|| frames.intern(frame.clone()))
        });
        let frames: Vec<FrameId> = frames.collect();
        let mut numbers: Vec<StackId> = Vec::with_capacity(weighed.stacks.len());
        for stack in weighed.stacks.ids() {
            let parent = numbers.get(weighed.stacks.parent(stack).index());
            let parent = parent.copied().unwrap_or_default();
            let frame = weighed.stacks.frame(stack);
            let frame = frame.and_then(|frame| frames.get(frame.0 as usize));
            numbers.push(match frame {
                Some(frame) => self.stacks.push(parent, *frame),
                None => parent,
            });
        }
        numbers
    }
}

/// Renumbers weights, summing up those of stacks with equal numbers.
fn renumber_weights(own: &[Weight], numbers: &[StackId], len: usize) -> Vec<Weight> {
    let mut weights = vec![Weight::default(); len];
    for (weight, number) in own.iter().zip(numbers) {
        if let Some(sum) = weights.get_mut(number.index()) {
            sum.add(*weight);
        }
    }
    weights
}

impl StackSource for ComparedStacks {
    /// Ignores the selection, which was already applied when the logs were merged.
    fn weighted_stacks(&self, _: &FlameSelection) -> WeightedStacks<'_> {
        WeightedStacks {
            frames: Cow::Borrowed(&self.frames),
            stacks: Cow::Borrowed(&self.stacks),
            own: self.now.clone(),
            before: Some(self.before.clone()),
            censuses: self.censuses,
            absolute: self.absolute,
        }
    }

    /// Returns an empty profile, as two logs have no common order in time.
    fn tracks_in_time_order(&self, _: &FlameSelection) -> (ProfileRef<'_>, Vec<usize>) {
        (
            ProfileRef::Temporary(Box::new(Profile::empty())),
            Vec::new(),
        )
    }

    fn has_time_order(&self) -> bool {
        false
    }

    fn revision(&self) -> Revision {
        self.revision
    }

    fn sample_counts(&self) -> Option<Vec<u32>> {
        let both = self.now.iter().zip(&self.before);
        let count = both.map(|(now, before)| now.count.saturating_add(before.count));
        Some(
            count
                .map(|count| u32::try_from(count).unwrap_or(u32::MAX))
                .collect(),
        )
    }
}
