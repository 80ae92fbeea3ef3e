//! What a flame graph is made from, whatever its source: weighted stacks for
//! the views in which equal stacks are one, tracks of samples for the view in
//! the order of time.

use super::revision::Revision;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::frames::Frames;
use super::heap::{self, HeapStacks, Places};
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
    /// Of what is alive, in place of both: the census at the begin of this
    /// stretch is compared with the one at its end. The census at a moment is
    /// the last one up to it, or the first of all.
    pub moments: Option<Interval>,
    /// Another open log to compare with, in place of all three.
    pub other: Option<OtherLog>,
}

/// Another open log whose stacks are compared with those of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OtherLog {
    /// Its number between page and worker.
    pub log: u32,
    /// The time that counts there; `None` for all.
    pub range: Option<Interval>,
    /// Whether it is what is now; else it is what was before.
    pub is_after: bool,
    /// Whether shares of what each log has in all are compared; else what was measured.
    pub shares: bool,
}

/// Of how many censuses weights are sums; of none, if they are no bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusCounts {
    /// Of what was chosen.
    pub now: u32,
    /// Of what it is compared with.
    pub before: u32,
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
    /// Of how many censuses the weights are sums.
    pub censuses: CensusCounts,
    /// Whether weights are compared as they are; else as shares of each whole.
    pub absolute: bool,
}

/// Something that flame graphs are made from.
pub trait Origin {
    /// The stacks, with their weights in what was chosen.
    fn weighed(&self, choice: &Choice) -> Weighed<'_>;

    /// A profile that has what was chosen, and which of its tracks were.
    fn in_time(&self, choice: &Choice) -> (Cow<'_, Profile>, Vec<usize>);

    /// Whether its stacks follow each other in time. What was alive did not:
    /// it is laid out by weight in every view.
    fn has_time_order(&self) -> bool {
        true
    }

    /// The state of the frames and stacks that are borrowed from it.
    fn revision(&self) -> Revision;

    /// How many samples each stack has, whatever was chosen, by the number
    /// that it has in weights and in time; `None` if that is not known before
    /// something is chosen.
    fn seen(&self) -> Option<Vec<u32>> {
        None
    }
}

impl Profile {
    /// The stacks with what of each was alive in the chosen censuses.
    fn weighed_heap(&self, heap: &HeapStacks, choice: &Choice) -> Weighed<'_> {
        let weigh = |places: &Places| {
            let mut own = vec![Weight::default(); self.stacks.len()];
            heap.weigh(places, &mut own);
            own
        };
        let (now, before) = heap.chosen(choice);
        Weighed {
            frames: Cow::Borrowed(&self.frames),
            stacks: Cow::Borrowed(&self.stacks),
            own: weigh(&now),
            before: before.as_ref().map(weigh),
            censuses: CensusCounts {
                now: heap::count(&now),
                before: before.as_ref().map_or(0, heap::count),
            },
            absolute: true,
        }
    }
}

impl Origin for Profile {
    fn weighed(&self, choice: &Choice) -> Weighed<'_> {
        if let Some(heap) = &self.heap {
            return self.weighed_heap(heap, choice);
        }
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
            censuses: CensusCounts::default(),
            absolute: false,
        }
    }

    fn in_time(&self, choice: &Choice) -> (Cow<'_, Profile>, Vec<usize>) {
        let threads = threads_without_track(self, choice);
        sample_threads::in_time(self, &threads, self.chosen(&choice.tracks))
    }

    fn has_time_order(&self) -> bool {
        self.heap.is_none()
    }

    fn revision(&self) -> Revision {
        self.revision
    }

    fn seen(&self) -> Option<Vec<u32>> {
        Some(Self::seen(self))
    }
}
