//! Input of flame graphs, independent of the source: weighted stacks for views that merge equal stacks, and
//! tracks of samples for the view in time order.

use super::revision::Revision;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::frames::Frames;
use super::heap::{self, CensusRanges, HeapStacks};
use super::sample_threads::{self, threads_without_track};
use super::source::Source;
use super::stacks::Stacks;
use super::weights::Weight;
use crate::profile::{Profile, TrackSource};
use crate::time::Interval;

/// Selection of the samples that a flame graph shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FlameSelection {
    /// Source of the stacks.
    pub source: Source,
    /// Selected tracks; if empty, all that are shown together by default.
    pub tracks: Vec<TrackSource>,
    /// Selected interval; `None` for all.
    pub range: Option<Interval>,
    /// Interval to compare with, if any.
    pub before: Option<Interval>,
    /// For live bytes, instead of both ranges: compares the census at the start of this interval with the one at
    /// its end. The census at a moment is the last one at or before it, else the first of all.
    pub moments: Option<Interval>,
    /// Another open log to compare with, instead of the three fields above.
    pub other: Option<OtherLog>,
}

/// Another open log to compare the stacks with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OtherLog {
    /// Number of the log in the protocol between page and worker.
    pub log: u32,
    /// Selected interval of that log; `None` for all.
    pub range: Option<Interval>,
    /// Whether the other log is the newer side of the comparison.
    pub is_after: bool,
    /// Whether to compare shares of the total of each log instead of absolute amounts.
    pub shares: bool,
}

/// Number of censuses that weights are summed over; 0 if weights are not bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusCounts {
    /// Censuses of the selection.
    pub now: u32,
    /// Censuses of the selection to compare with.
    pub before: u32,
}

/// Stacks with the weights of a selection.
#[derive(Clone, Debug)]
pub struct WeightedStacks<'a> {
    /// Interned frames.
    pub frames: Cow<'a, Frames>,
    /// Interned stacks of these frames.
    pub stacks: Cow<'a, Stacks>,
    /// Weight of each stack without its descendants, by stack number.
    pub own: Vec<Weight>,
    /// Weights of the selection to compare with, by stack number.
    pub before: Option<Vec<Weight>>,
    /// Number of censuses summed in the weights.
    pub censuses: CensusCounts,
    /// Whether absolute weights are compared; otherwise shares of each total.
    pub absolute: bool,
}

/// Profile that a source has, or has made for a selection.
#[derive(Debug)]
pub enum ProfileRef<'a> {
    /// Profile of the log.
    OfLog(&'a Profile),
    /// Profile made for a selection, which the source has cached: later queries for the selection get the same one.
    Cached(Arc<Profile>),
    /// Profile made for this query alone.
    Temporary(Box<Profile>),
}

impl ProfileRef<'_> {
    /// Returns whether stacks have the same numbers as in [`StackSource::weighted_stacks`].
    pub const fn is_of_log(&self) -> bool {
        matches!(self, Self::OfLog(_))
    }

    /// Returns whether the profile outlives the query, so that what is derived from it may be cached by its revision.
    pub const fn lasts(&self) -> bool {
        !matches!(self, Self::Temporary(_))
    }

    /// Returns the profile, unless it is that of the log, which can be requested again without cost.
    pub fn into_made(self) -> Option<ProfileRef<'static>> {
        match self {
            Self::OfLog(_) => None,
            Self::Cached(profile) => Some(ProfileRef::Cached(profile)),
            Self::Temporary(profile) => Some(ProfileRef::Temporary(profile)),
        }
    }
}

impl Deref for ProfileRef<'_> {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        match self {
            Self::OfLog(profile) => profile,
            Self::Cached(profile) => profile,
            Self::Temporary(profile) => profile,
        }
    }
}

/// A source of flame graphs.
pub trait StackSource {
    /// Returns the stacks with their weights in the selection.
    fn weighted_stacks(&self, selection: &FlameSelection) -> WeightedStacks<'_>;

    /// Returns a profile that contains the selected tracks in time order, and their indices. The range is not applied.
    fn tracks_in_time_order(&self, selection: &FlameSelection) -> (ProfileRef<'_>, Vec<usize>);

    /// Returns whether stacks have an order in time. Live bytes have none, and are laid out by weight in every
    /// view.
    fn has_time_order(&self) -> bool {
        true
    }

    /// Returns the cache key for the borrowed frames and stacks.
    fn revision(&self) -> Revision;

    /// Returns the number of samples of each stack over the whole log, regardless of the selection, by the stack
    /// numbers of the weights and of the time order; `None` if it depends on the selection.
    fn sample_counts(&self) -> Option<Vec<u32>> {
        None
    }
}

impl Profile {
    /// Weighs the stacks by live bytes in the selected censuses.
    fn weighed_heap(&self, heap: &HeapStacks, selection: &FlameSelection) -> WeightedStacks<'_> {
        let weigh = |places: &CensusRanges| {
            let mut own = vec![Weight::default(); self.stacks.len()];
            heap.weigh(places, &mut own);
            own
        };
        let (now, before) = heap.selected_ranges(selection);
        WeightedStacks {
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

impl StackSource for Profile {
    fn weighted_stacks(&self, selection: &FlameSelection) -> WeightedStacks<'_> {
        if let Some(heap) = &self.heap {
            return self.weighed_heap(heap, selection);
        }
        let tracks = self.selected_tracks(&selection.tracks);
        let threads = threads_without_track(self, selection);
        let weigh = |range| {
            let mut own = self.weigh(&tracks, range);
            sample_threads::weigh(self, &threads, range, &mut own);
            own
        };
        let range = selection.range.unwrap_or(self.span);
        WeightedStacks {
            frames: Cow::Borrowed(&self.frames),
            stacks: Cow::Borrowed(&self.stacks),
            own: weigh(range),
            before: selection.before.map(weigh),
            censuses: CensusCounts::default(),
            absolute: false,
        }
    }

    fn tracks_in_time_order(&self, selection: &FlameSelection) -> (ProfileRef<'_>, Vec<usize>) {
        let threads = threads_without_track(self, selection);
        sample_threads::with_thread_tracks(self, &threads, self.selected_tracks(&selection.tracks))
    }

    fn has_time_order(&self) -> bool {
        self.heap.is_none()
    }

    fn revision(&self) -> Revision {
        self.revision
    }

    fn sample_counts(&self) -> Option<Vec<u32>> {
        Some(Self::sample_counts(self))
    }
}
