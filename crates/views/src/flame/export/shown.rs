//! The stacks of a query, as its steps leave them.

use std::borrow::Cow;

use crate::flame::query::FlameQuery;
use crate::flame::step::Step;
use crate::flame::step::apply;
use model::profile::Profile;
use model::profile::frames::Frames;
use model::profile::origin::{Choice, Origin, Weighed};
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::Weight;

/// Stacks after some steps.
#[derive(Clone, Debug)]
pub(super) struct Shown<'a> {
    /// The functions.
    pub(super) frames: Cow<'a, Frames>,
    /// The stacks made of them.
    pub(super) stacks: Cow<'a, Stacks>,
    /// What each stack has become, by its old number; `None` if all are as
    /// they were.
    became: Option<Vec<Option<StackId>>>,
}

impl<'a> Shown<'a> {
    /// Takes the steps.
    pub(super) fn new(frames: Cow<'a, Frames>, stacks: Cow<'a, Stacks>, steps: &[Step]) -> Self {
        if steps.is_empty() {
            return Self {
                frames,
                stacks,
                became: None,
            };
        }
        let after = apply(&frames, &stacks, None, steps);
        Self {
            frames: Cow::Owned(after.frames),
            stacks: Cow::Owned(after.stacks),
            became: Some(after.map),
        }
    }

    /// The stacks of a profile after the steps.
    pub(super) fn of_profile(profile: &'a Profile, steps: &[Step]) -> Self {
        let frames = Cow::Borrowed(&profile.frames);
        Self::new(frames, Cow::Borrowed(&profile.stacks), steps)
    }

    /// What a stack has become; `None` if it fell away.
    pub(super) fn stack(&self, old: StackId) -> Option<StackId> {
        match &self.became {
            Some(became) => became.get(old.index()).copied().flatten(),
            None => Some(old),
        }
    }
}

/// The weighted stacks of a query.
pub(super) fn weighed<'a>(origin: &'a dyn Origin, query: &FlameQuery) -> Weighed<'a> {
    let choice = Choice {
        before: None,
        ..query.choice.clone()
    };
    let weighed = origin.weighed(&choice);
    let shown = Shown::new(weighed.frames, weighed.stacks, &query.steps);
    let own = if shown.became.is_none() {
        weighed.own
    } else {
        let mut own = vec![Weight::default(); shown.stacks.len()];
        for (old, weight) in (0..).map(StackId).zip(weighed.own) {
            if let Some(sum) = shown.stack(old).and_then(|new| own.get_mut(new.index())) {
                Weight::add(sum, weight);
            }
        }
        own
    };
    Weighed {
        frames: shown.frames,
        stacks: shown.stacks,
        own,
        before: None,
        heap_samples: weighed.heap_samples,
    }
}
