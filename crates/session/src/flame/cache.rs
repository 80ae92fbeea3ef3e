//! Cache of transformed stacks: while a selection is dragged, only weights change.

use eventlog::hash::SeededMap;
use model::profile::revision::Revision;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use super::layout::{Forest, TimeTrack};
use super::query::View;
use super::transform::{Change, Transform, Transformed, apply_changes};
use crate::count_lru::CountLru;
use model::profile::Profile;
use model::profile::frames::Frames;
use model::profile::stack_source::{ProfileRef, StackSource, WeightedStacks};
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::{Weight, remap_weights};

/// Capacity: a graph, its callers and its callees, with and without steps.
const MAX_ENTRIES: usize = 4;

/// LRU cache of transformed stacks, keyed by the revision of the stacks and the transformations.
#[derive(Debug, Default)]
pub struct StepCache(CountLru<(Revision, Vec<Change>), TransformedStacks, MAX_ENTRIES>);

/// Stacks after zero or more transformations.
#[derive(Debug)]
pub(super) struct TransformedStacks {
    changed: Option<Transformed>,
    /// Block summaries by track.
    forests: Mutex<SeededMap<usize, Arc<Forest>>>,
}

impl StepCache {
    /// Returns a source's weighted stacks after some steps, in the form that a view needs. Stacks that the source
    /// created for this query alone are not cached.
    pub(super) fn transformed(
        &self,
        stack_source: &dyn StackSource,
        weighted: &WeightedStacks<'_>,
        steps: &[Transform],
        view: &View,
    ) -> Arc<TransformedStacks> {
        let changes = changes(steps, view);
        let (frames, stacks) = (&weighted.frames, &weighted.stacks);
        let apply = |seen: Option<&[u32]>, changes: &[Change]| {
            TransformedStacks::new(frames, stacks, seen, changes)
        };
        if matches!((frames, stacks), (Cow::Borrowed(_), Cow::Borrowed(_))) {
            let key = (stack_source.revision(), changes);
            let seen = || stack_source.sample_counts();
            return self
                .0
                .get(key, |(_, changes)| apply(seen().as_deref(), changes));
        }
        Arc::new(apply(None, &changes))
    }

    /// Returns the stacks of a profile in time order after some steps, in the form that a view needs.
    pub(super) fn transformed_in_time(
        &self,
        profile: &ProfileRef<'_>,
        steps: &[Transform],
        view: &View,
    ) -> Arc<TransformedStacks> {
        let changes = changes(steps, view);
        let make = |changes: &[Change]| {
            let seen = profile.sample_counts();
            TransformedStacks::new(&profile.frames, &profile.stacks, Some(&seen), changes)
        };
        if profile.lasts() {
            let key = (profile.revision, changes);
            return self.0.get(key, |(_, changes)| make(changes));
        }
        Arc::new(make(&changes))
    }
}

/// Returns the user's steps, followed by the change that the view needs.
fn changes(steps: &[Transform], view: &View) -> Vec<Change> {
    let of_view = match view {
        View::Time | View::LeftHeavy => None,
        View::Callees(name) => Some(Change::Callees(name.clone())),
        View::Callers(name) => Some(Change::Callers(name.clone())),
    };
    let steps = steps.iter().cloned().map(Change::Transform);
    steps.chain(of_view).collect()
}

impl TransformedStacks {
    fn new(frames: &Frames, stacks: &Stacks, seen: Option<&[u32]>, changes: &[Change]) -> Self {
        let some = !changes.is_empty();
        Self {
            changed: some.then(|| apply_changes(frames, stacks, seen, changes)),
            forests: Mutex::default(),
        }
    }

    /// Returns the frames after the transformations.
    pub(super) fn frames<'a>(&'a self, before: &'a Frames) -> &'a Frames {
        self.changed
            .as_ref()
            .map_or(before, |changed| &changed.frames)
    }

    /// Returns the stacks after the transformations.
    pub(super) fn stacks<'a>(&'a self, before: &'a Stacks) -> &'a Stacks {
        self.changed
            .as_ref()
            .map_or(before, |changed| &changed.stacks)
    }

    /// Returns the new id of a stack; `None` if it was removed.
    pub(super) fn stack(&self, old: StackId) -> Option<StackId> {
        match &self.changed {
            Some(changed) => changed.map.get(old.index()).copied().flatten(),
            None => Some(old),
        }
    }

    /// Returns how many inverted stacks lack their outermost frames.
    pub(super) fn shortened(&self) -> u64 {
        self.changed.as_ref().map_or(0, |changed| changed.shortened)
    }

    /// Returns the weights of the transformed stacks.
    pub(super) fn weights(&self, own: Vec<Weight>) -> Vec<Weight> {
        match &self.changed {
            None => own,
            Some(changed) => remap_weights(&own, &changed.map, changed.stacks.len()),
        }
    }

    /// Returns a track with the transformed stacks.
    pub(super) fn track<'a>(&'a self, profile: &'a Profile, index: usize) -> Option<TimeTrack<'a>> {
        let track = profile.tracks.get(index)?;
        let map = self.changed.as_ref().map(|changed| changed.map.as_slice());
        let map: Option<&[Option<StackId>]> = map;
        Some(TimeTrack {
            samples: &track.samples,
            stacks: self.stacks(&profile.stacks),
            map,
            idle: profile.idle_stack,
            jitter: profile.jitter(track),
        })
    }

    /// Returns the block summaries of a track's samples.
    pub(super) fn forest(&self, index: usize, track: &TimeTrack<'_>) -> Arc<Forest> {
        let mut forests = self.forests.lock().unwrap_or_else(PoisonError::into_inner);
        let forest = forests.entry(index);
        Arc::clone(forest.or_insert_with(|| Arc::new(Forest::new(track))))
    }
}
