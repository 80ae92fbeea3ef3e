//! Cache of transformed stacks: while a selection is dragged, only weights change.

use eventlog::hash::SeededMap;
use model::profile::revision::Revision;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::layout::{Forest, TimeTrack};
use super::query::View;
use super::step::{Change, Step, Transformed, apply_changes};
use model::profile::Profile;
use model::profile::frames::Frames;
use model::profile::origin::{Origin, Weighed};
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::{Weight, moved};

/// Capacity: a graph, its callers and its callees, with and without steps.
const KEPT: usize = 4;

/// LRU cache of transformed stacks, keyed by the revision of the origin.
#[derive(Debug, Default)]
pub struct StepCache {
    /// The most recently used entry is last.
    kept: Mutex<Vec<(Key, Arc<Staged>)>>,
}

/// Cache key: revision of the stacks, and transformations.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    revision: Revision,
    changes: Vec<Change>,
}

/// Stacks after zero or more transformations.
#[derive(Debug)]
pub(super) struct Staged {
    changed: Option<Transformed>,
    /// Block summaries by track.
    forests: Mutex<SeededMap<usize, Arc<Forest>>>,
}

impl StepCache {
    /// Returns an origin's weighted stacks after some steps, in the form that a view needs. Stacks that the origin
    /// created for this query alone are not cached.
    pub(super) fn staged(
        &self,
        origin: &dyn Origin,
        weighed: &Weighed<'_>,
        steps: &[Step],
        view: &View,
    ) -> Arc<Staged> {
        let changes = changes(steps, view);
        if let (Cow::Borrowed(frames), Cow::Borrowed(stacks)) = (&weighed.frames, &weighed.stacks) {
            return self.kept(origin, frames, stacks, changes);
        }
        Arc::new(Staged::new(
            &weighed.frames,
            &weighed.stacks,
            None,
            &changes,
        ))
    }

    /// Returns the stacks of a profile in time order after some steps, in the form that a view needs. `lasts` says
    /// whether the profile outlives this query.
    pub(super) fn staged_in_time(
        &self,
        origin: &dyn Origin,
        (profile, lasts): (&Profile, bool),
        steps: &[Step],
        view: &View,
    ) -> Arc<Staged> {
        let changes = changes(steps, view);
        let (frames, stacks) = (&profile.frames, &profile.stacks);
        if lasts {
            return self.kept(origin, frames, stacks, changes);
        }
        let seen = profile.seen();
        Arc::new(Staged::new(frames, stacks, Some(&seen), &changes))
    }

    fn kept(
        &self,
        origin: &dyn Origin,
        frames: &Frames,
        stacks: &Stacks,
        changes: Vec<Change>,
    ) -> Arc<Staged> {
        let key = Key {
            revision: origin.revision(),
            changes,
        };
        let mut kept = locked(&self.kept);
        let found = kept.iter().position(|(other, _)| *other == key);
        let staged = match found {
            Some(place) => kept.remove(place).1,
            None => {
                if kept.len() >= KEPT {
                    kept.remove(0);
                }
                let seen = origin.seen();
                Arc::new(Staged::new(frames, stacks, seen.as_deref(), &key.changes))
            }
        };
        kept.push((key, Arc::clone(&staged)));
        staged
    }
}

/// Locks a mutex. Poisoning is ignored, because a panic never leaves the data half updated.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the user's steps, followed by the change that the view needs.
fn changes(steps: &[Step], view: &View) -> Vec<Change> {
    let of_view = match view {
        View::Time | View::LeftHeavy => None,
        View::Callees(name) => Some(Change::Callees(name.clone())),
        View::Callers(name) => Some(Change::Callers(name.clone())),
    };
    let steps = steps.iter().cloned().map(Change::Step);
    steps.chain(of_view).collect()
}

impl Staged {
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
            Some(changed) => moved(&own, &changed.map, changed.stacks.len()),
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
        let mut forests = locked(&self.forests);
        let forest = forests.entry(index);
        Arc::clone(forest.or_insert_with(|| Arc::new(Forest::new(track))))
    }
}
