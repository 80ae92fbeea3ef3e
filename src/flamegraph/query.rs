//! Questions about a profile, and their answers as columns.

use serde::{Deserialize, Serialize};

use super::frames::{Frame, FrameId};
use super::layout::{Order, layout};
use super::profile::{Profile, TrackSource};
use super::weights::search;
use crate::automata::Span;
use crate::ids::Nanos;

/// A track of a profile, for lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackInfo {
    /// Whose time it shows.
    pub source: TrackSource,
    /// How many samples or calls it has.
    pub samples: u64,
}

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameQuery {
    /// The numbers of the tracks.
    pub tracks: Vec<u32>,
    /// The time; `None` for all.
    pub range: Option<Span>,
    /// From left to right.
    pub order: Order,
    /// The part of the graph in view, from 0 to 1: left edge and width.
    pub window: (f64, f64),
    /// How many pixels it has.
    pub width_px: u32,
    /// Frames to look for; empty for none.
    pub search: String,
}

/// A frame that occurs in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedFrame {
    /// Its number in the columns.
    pub id: u32,
    /// What it is.
    pub frame: Frame,
    /// Whether it is what was looked for.
    pub found: bool,
}

/// The part of an answer that is no columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameHead {
    /// What the whole width stands for.
    pub total: Nanos,
    /// The frames that occur.
    pub frames: Vec<NamedFrame>,
    /// The share of the time in which a frame that was looked for is in the stack.
    pub found_share: f64,
    /// In time order, the depth at which each track begins.
    pub bands: Vec<u16>,
    /// How many levels there are.
    pub depth: u16,
}

/// The boxes of an answer, sorted by depth, then from left to right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlameBoxes {
    /// How many frames are around each.
    pub depth: Vec<u16>,
    /// Left edge, from 0 to 1 of the whole.
    pub left: Vec<f64>,
    /// Width, of the whole.
    pub width: Vec<f64>,
    /// Which frame.
    pub frame: Vec<u32>,
    /// Time in which nothing stood on it, in nanoseconds.
    pub self_ns: Vec<f64>,
    /// Its time.
    pub total_ns: Vec<f64>,
    /// Its samples.
    pub count: Vec<u32>,
    /// How many boxes, each too narrow to be seen, it stands for.
    pub merged: Vec<u32>,
}

impl FlameBoxes {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.depth.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.depth.is_empty()
    }
}

/// The tracks of a profile.
#[must_use]
pub fn track_list(profile: &Profile) -> Vec<TrackInfo> {
    let info = |track: &super::Track| TrackInfo {
        source: track.source,
        samples: track.samples.len() as u64,
    };
    profile.tracks.iter().map(info).collect()
}

/// Answers a query.
#[must_use]
pub fn answer(profile: &Profile, query: &FlameQuery) -> (FlameHead, FlameBoxes) {
    let tracks: Vec<usize> = query.tracks.iter().map(|&track| track as usize).collect();
    let (window_left, window_width) = query.window;
    let min_width = window_width / f64::from(query.width_px.max(1));
    let layout = layout(profile, &tracks, query.range, query.order, min_width);
    let matches = search(&layout, profile, &query.search);
    let mut boxes = FlameBoxes::default();
    let mut used: Vec<(FrameId, bool)> = Vec::new();
    for i in 0..layout.len() {
        let (left, width) = (layout.left[i], layout.width[i]);
        if left + width < window_left || left > window_left + window_width {
            continue;
        }
        boxes.depth.push(layout.depth[i]);
        boxes.left.push(left);
        boxes.width.push(width);
        boxes.frame.push(layout.frame[i].0);
        boxes.self_ns.push(layout.self_time[i].0 as f64);
        boxes.total_ns.push(layout.total_time[i].0 as f64);
        boxes.count.push(layout.count[i]);
        boxes.merged.push(layout.merged[i]);
        used.push((layout.frame[i], matches.boxes[i]));
    }
    used.sort_unstable();
    used.dedup();
    let named = |(id, found): (FrameId, bool)| {
        let frame = profile.frames.get(id)?.clone();
        Some(NamedFrame {
            id: id.0,
            frame,
            found,
        })
    };
    let head = FlameHead {
        total: layout.total,
        frames: used.into_iter().filter_map(named).collect(),
        found_share: matches.share,
        bands: layout.bands,
        depth: layout.depth.last().map_or(0, |&deepest| deepest + 1),
    };
    (head, boxes)
}
