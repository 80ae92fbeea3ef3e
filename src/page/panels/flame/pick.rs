//! A pointed or selected box of a flame graph, and requests to show one.

use model::profile::TrackSource;
use session::flame::query::{FlameMatch, View};

/// A box that is pointed at or selected.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pick {
    /// Name of its frame, which identifies it in steps.
    pub(super) name: String,
    /// Display name of the frame.
    pub(super) title: String,
    /// Further facts, after the title.
    pub(super) text: String,
    /// Number of its stack in `view`.
    pub(super) stack: u32,
    /// Graph view that contains the box.
    pub(super) view: View,
    /// Track of the box; only in time order.
    pub(super) track: Option<TrackSource>,
    /// Left edge, from 0 to 1 of the graph's width.
    pub(super) left: f64,
    /// Width, as a share of the graph's width.
    pub(super) width: f64,
    /// Whether it combines several narrow boxes.
    pub(super) merged: bool,
    /// Whether it is selected, not just pointed at.
    pub(super) selected: bool,
}

/// A search match to be shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SearchMatch {
    /// Search text and index of the match; each key is shown once.
    pub(super) key: (String, usize),
    /// Position of the match in the graph.
    pub(super) place: FlameMatch,
}

/// A request to show a place on a track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reveal {
    /// Serial number; each request is shown once.
    pub(super) serial: u32,
    /// Track to show the place on.
    pub(super) track: TrackSource,
    /// Position, from 0 to 1 of the range.
    pub(super) at: f64,
}
