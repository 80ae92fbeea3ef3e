//! A box of a flame graph that the user points at, and one that is to be shown.

use model::profile::TrackSource;
use session::flame::query::{FlameMatch, View};

/// A box.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pick {
    /// The name of its frame, by which steps know it.
    pub(super) name: String,
    /// What it is called.
    pub(super) title: String,
    /// The rest of what is known.
    pub(super) text: String,
    /// The number of its stack in that view.
    pub(super) stack: u32,
    /// The view that it is in.
    pub(super) view: View,
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

/// A frame that was looked for and is to be shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Match {
    /// What was looked for, and its number: another one is shown once.
    pub(super) key: (String, usize),
    /// Where it is.
    pub(super) place: FlameMatch,
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
