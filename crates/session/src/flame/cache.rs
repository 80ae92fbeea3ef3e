//! Stacks after some steps, kept from one question to the next: while a
//! selection is dragged, only weights change.

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

/// How many are kept: a graph, callers and callees, with and without steps.
const KEPT: usize = 4;

/// The last few transformations of stacks, under the revision of what they
/// were made from.
#[derive(Debug, Default)]
pub struct StepCache {
    /// The one that was used last is last.
    kept: Mutex<Vec<(Key, Arc<Staged>)>>,
}

/// Which stacks, and what was done to them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    revision: Revision,
    changes: Vec<Change>,
}

/// Stacks to which something was done, or nothing.
#[derive(Debug)]
pub(super) struct Staged {
    changed: Option<Transformed>,
    /// By track.
    forests: Mutex<SeededMap<usize, Arc<Forest>>>,
}

impl StepCache {
    /// Weighted stacks of an origin after some steps, as a view needs them.
    /// What the origin made for this question only is not kept.
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

    /// Stacks in the order of time after some steps, as a view needs them.
    /// `lasts` says whether the profile outlives this question.
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

/// A panic elsewhere leaves nothing half done here.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a user does to stacks, and then a view.
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

    /// The frames that there are now.
    pub(super) fn frames<'a>(&'a self, before: &'a Frames) -> &'a Frames {
        self.changed
            .as_ref()
            .map_or(before, |changed| &changed.frames)
    }

    /// The stacks that there are now.
    pub(super) fn stacks<'a>(&'a self, before: &'a Stacks) -> &'a Stacks {
        self.changed
            .as_ref()
            .map_or(before, |changed| &changed.stacks)
    }

    /// What a stack has become; `None` if it is gone.
    pub(super) fn stack(&self, old: StackId) -> Option<StackId> {
        match &self.changed {
            Some(changed) => changed.map.get(old.index()).copied().flatten(),
            None => Some(old),
        }
    }

    /// How many stacks were inverted without their outermost frames.
    pub(super) fn shortened(&self) -> u64 {
        self.changed.as_ref().map_or(0, |changed| changed.shortened)
    }

    /// The weights of the stacks that there are now.
    pub(super) fn weights(&self, own: Vec<Weight>) -> Vec<Weight> {
        match &self.changed {
            None => own,
            Some(changed) => moved(&own, &changed.map, changed.stacks.len()),
        }
    }

    /// A track with the stacks that there are now.
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

    /// What the blocks of samples of a track have in common.
    pub(super) fn forest(&self, index: usize, track: &TimeTrack<'_>) -> Arc<Forest> {
        let mut forests = locked(&self.forests);
        let forest = forests.entry(index);
        Arc::clone(forest.or_insert_with(|| Arc::new(Forest::new(track))))
    }
}
