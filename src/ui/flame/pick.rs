//! A box of a flame graph that the user points at, and what can be done to it.

use crate::flamegraph::{Step, TrackSource};

/// A box.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pick {
    /// The name of its frame, by which steps know it.
    pub(super) name: String,
    /// What it is called.
    pub(super) title: String,
    /// The rest of what is known.
    pub(super) text: String,
    /// Which stack it is.
    pub(super) stack: u32,
    /// In the order of time: whose it is.
    pub(super) track: Option<TrackSource>,
    /// Where it is, from 0 to 1.
    pub(super) left: f64,
    /// How wide it is.
    pub(super) width: f64,
    /// Whether it stands for several.
    pub(super) merged: bool,
    /// Whether it is selected, not only pointed at.
    pub(super) selected: bool,
}

/// Something to do to the selected box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Focus,
    Drop,
    Merge,
    Sandwich,
    Place,
}

impl Act {
    /// All of them, in the order of their buttons.
    pub(super) const ALL: [Self; 5] = [
        Self::Place,
        Self::Sandwich,
        Self::Focus,
        Self::Merge,
        Self::Drop,
    ];

    /// What its button says, its key, and what it does.
    pub(super) const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Focus => ("Focus", "f", "Only stacks with this function, from it inwards"),
            Self::Drop => ("Leave out", "x", "Without all stacks that have this function"),
            Self::Merge => (
                "Merge into callers",
                "m",
                "Without this function: its time becomes its callers’",
            ),
            Self::Sandwich => ("Callers, callees", "s", "All callers and callees of this function"),
            Self::Place => ("On the timeline", "t", "Where this is on the timeline; again: the next time"),
        }
    }

    /// That of a key.
    pub(super) fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.words().1 == key)
    }

    /// The step that it is, if it is one.
    pub(super) fn step(self, name: &str) -> Option<Step> {
        let name = name.to_owned();
        match self {
            Self::Focus => Some(Step::Focus(name)),
            Self::Drop => Some(Step::Drop(name)),
            Self::Merge => Some(Step::Merge(name)),
            Self::Sandwich | Self::Place => None,
        }
    }
}

/// A place of a track that is to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reveal {
    /// Each new one is shown once.
    pub(super) serial: u32,
    /// The track.
    pub(super) track: TrackSource,
    /// Where, from 0 to 1 of the range.
    pub(super) at: f64,
}
