//! The stacks of two logs as those of one, so that a flame graph shows them beside each
//! other as it shows two times of one log.

use std::borrow::Cow;

use super::frames::{FrameId, Frames};
use super::origin::{CensusCounts, Choice, Origin, Weighed};
use super::revision::Revision;
use super::stacks::{StackId, Stacks};
use super::weights::Weight;
use crate::profile::Profile;
use eventlog::hash::SeededMap;

/// The stacks of a log, and those of another one that it is compared with. Frames are the
/// same if module and label are: places in the source, addresses and numbers differ between
/// builds. What is known of a frame beyond that is what the log itself says, if it has it.
#[derive(Clone, Debug)]
pub struct Beside {
    frames: Frames,
    stacks: Stacks,
    now: Vec<Weight>,
    before: Vec<Weight>,
    censuses: CensusCounts,
    absolute: bool,
    revision: Revision,
}

impl Beside {
    /// Puts the stacks of another log beside those of one. They are compared as shares of
    /// what each log has in all, or if `absolute` in what the source counts.
    #[must_use]
    pub fn of(now: &Weighed<'_>, before: &Weighed<'_>, absolute: bool) -> Self {
        let mut beside = Self {
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
        let of_now = beside.add(now, &mut by_name);
        let of_before = beside.add(before, &mut by_name);
        let len = beside.stacks.len();
        beside.now = gathered(&now.own, &of_now, len);
        beside.before = gathered(&before.own, &of_before, len);
        beside
    }

    /// Takes in the stacks of a log: the number of each here.
    fn add(
        &mut self,
        weighed: &Weighed<'_>,
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

/// The weights under other numbers; stacks that have one number now are one.
fn gathered(own: &[Weight], numbers: &[StackId], len: usize) -> Vec<Weight> {
    let mut weights = vec![Weight::default(); len];
    for (weight, number) in own.iter().zip(numbers) {
        if let Some(sum) = weights.get_mut(number.index()) {
            sum.add(*weight);
        }
    }
    weights
}

impl Origin for Beside {
    /// All of it: what was chosen of each log is what it was made from.
    fn weighed(&self, _: &Choice) -> Weighed<'_> {
        Weighed {
            frames: Cow::Borrowed(&self.frames),
            stacks: Cow::Borrowed(&self.stacks),
            own: self.now.clone(),
            before: Some(self.before.clone()),
            censuses: self.censuses,
            absolute: self.absolute,
        }
    }

    /// Nothing of one log follows anything of another.
    fn in_time(&self, _: &Choice) -> (Cow<'_, Profile>, Vec<usize>) {
        (Cow::Owned(Profile::empty()), Vec::new())
    }

    fn has_time_order(&self) -> bool {
        false
    }

    fn revision(&self) -> Revision {
        self.revision
    }

    fn seen(&self) -> Option<Vec<u32>> {
        let both = self.now.iter().zip(&self.before);
        let count = both.map(|(now, before)| now.count.saturating_add(before.count));
        Some(
            count
                .map(|count| u32::try_from(count).unwrap_or(u32::MAX))
                .collect(),
        )
    }
}
