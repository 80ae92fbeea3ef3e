//! What a flame graph is made from, whatever its source: weighted stacks for
//! the views in which equal stacks are one, tracks of samples for the view in
//! the order of time.

use super::revision::Revision;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::frames::Frames;
use super::sample_threads::{self, threads_without_track};
use super::source::Source;
use super::stacks::Stacks;
use super::weights::Weight;
use crate::profile::{Profile, TrackSource};
use crate::time::Interval;

/// Which samples a flame graph is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Choice {
    /// Where the stacks come from.
    pub source: Source,
    /// The tracks; none for all that belong to one picture.
    pub tracks: Vec<TrackSource>,
    /// The time; `None` for all.
    pub range: Option<Interval>,
    /// The time to compare it with, if it is to be compared.
    pub before: Option<Interval>,
}

/// Stacks with their weights.
#[derive(Clone, Debug)]
pub struct Weighed<'a> {
    /// The functions.
    pub frames: Cow<'a, Frames>,
    /// The stacks made of them.
    pub stacks: Cow<'a, Stacks>,
    /// The weight of each stack itself, by its number.
    pub own: Vec<Weight>,
    /// The weight of each stack in the time to compare with.
    pub before: Option<Vec<Weight>>,
    /// How many heap samples the weights are sums of; 0 for other sources.
    pub heap_samples: u32,
}

/// Something that flame graphs are made from.
pub trait Origin {
    /// The stacks, with their weights in what was chosen.
    fn weighed(&self, choice: &Choice) -> Weighed<'_>;

    /// A profile that has what was chosen, and which of its tracks were.
    fn in_time(&self, choice: &Choice) -> (Cow<'_, Profile>, Vec<usize>);

    /// The state of the frames and stacks that are borrowed from it.
    fn revision(&self) -> Revision;

    /// How many samples each stack has, whatever was chosen, by the number
    /// that it has in weights and in time; `None` if that is not known before
    /// something is chosen.
    fn seen(&self) -> Option<Vec<u32>> {
        None
    }
}

impl Origin for Profile {
    fn weighed(&self, choice: &Choice) -> Weighed<'_> {
        let tracks = self.chosen(&choice.tracks);
        let threads = threads_without_track(self, choice);
        let weigh = |range| {
            let mut own = self.weigh(&tracks, range);
            sample_threads::weigh(self, &threads, range, &mut own);
            own
        };
        let range = choice.range.unwrap_or(self.span);
        Weighed {
            frames: Cow::Borrowed(&self.frames),
            stacks: Cow::Borrowed(&self.stacks),
            own: weigh(range),
            before: choice.before.map(weigh),
            heap_samples: self.heap.as_ref().map_or(0, |heap| heap.samples_in(range)),
        }
    }

    fn in_time(&self, choice: &Choice) -> (Cow<'_, Profile>, Vec<usize>) {
        let threads = threads_without_track(self, choice);
        sample_threads::in_time(self, &threads, self.chosen(&choice.tracks))
    }

    fn revision(&self) -> Revision {
        self.revision
    }

    fn seen(&self) -> Option<Vec<u32>> {
        Some(Self::seen(self))
    }
}
