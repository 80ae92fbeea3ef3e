//! Flame graph queries, and their answers as columns.

use serde::{Deserialize, Serialize};

pub use super::answer::{answer, answer_with};
pub use super::matches::matches;
pub use super::occurrence::find_occurrence;
pub use super::table::table;
use super::transform::Transform;
use eventlog::ids::Nanos;
use model::profile::TrackSource;
use model::profile::frames::Frame;
use model::profile::stack_source::{CensusCounts, FlameSelection};
use model::profile::weights::Measure;
use model::time::Interval;

/// Name of the stack without frames, which steps may produce.
pub const NO_FRAME: &str = "(no frame)";

/// Layout of a flame graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum View {
    /// Time order, one track below another.
    #[default]
    Time,
    /// Equal stacks are merged, the heaviest at the left.
    LeftHeavy,
    /// Callees of the frame with this name, wherever it occurs; left-heavy.
    Callees(String),
    /// Callers of the frame with this name, which is the root; left-heavy.
    Callers(String),
}

/// Query for the boxes of a flame graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameQuery {
    /// Source, range and tracks of the samples.
    pub choice: FlameSelection,
    /// Transformations of the stacks, in order.
    pub steps: Vec<Transform>,
    /// Layout of the graph that is drawn.
    pub view: View,
    /// Measure of the width; in time order, the width is always time.
    pub measure: Measure,
    /// Visible part of the graph, from 0 to 1: left edge and width.
    pub window: (f64, f64),
    /// Width of the visible part in pixels.
    pub width_px: u32,
    /// Visible levels: the first, and how many; `None` for all. The answer has no boxes on other levels.
    pub levels: Option<(u16, u16)>,
    /// Search text for frame names; empty for no search.
    pub search: String,
}

/// Frame that occurs in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedFrame {
    /// Id in the columns.
    pub id: u32,
    /// Name, module and other properties.
    pub frame: Frame,
    /// Whether the frame matches the search.
    pub found: bool,
}

/// Part of an answer that is not columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameHead {
    /// Weight of the whole width, in the source's unit or in samples.
    pub total: u64,
    /// Total weight of the baseline; `None` without a comparison.
    pub total_before: Option<u64>,
    /// Number of censuses summed in the totals.
    pub censuses: CensusCounts,
    /// Whether weights are compared as absolute values; otherwise, as shares of each total.
    pub absolute: bool,
    /// Frames that occur in the boxes.
    pub frames: Vec<NamedFrame>,
    /// Share of the weight with a matching frame in the stack.
    pub found_share: f64,
    /// Number of inverted stacks that lack their outermost frames, because the complete result would be too large.
    pub shortened: u64,
    /// In time order, the first level of each track.
    pub bands: Vec<(TrackSource, u16)>,
    /// Number of levels in the whole graph, visible or not.
    pub depth: u16,
}

/// Boxes of an answer, sorted by depth, then from left to right.
///
/// In left-heavy layouts, all values are exact; narrow boxes on the same parent are merged into one, without
/// children. In a comparison, each selection makes up half of the width, except that absolute weights have the
/// same scale in both (for heap profiles, per byte of the mean).
///
/// In time order, boxes that are at least a pixel wide are exact, apart from less than a pixel at their edges. Of
/// narrower boxes that were merged, only the sums are exact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameBoxes {
    /// Depth, from 0 for the outermost frame.
    pub depth: Vec<u16>,
    /// Left edge, from 0 to 1 of the whole graph.
    pub left: Vec<f64>,
    /// Width, from 0 to 1 of the whole graph.
    pub width: Vec<f64>,
    /// Id of the frame in [`FlameHead::frames`].
    pub frame: Vec<u32>,
    /// Weight without inner frames, in the source's unit.
    pub own: Vec<f64>,
    /// Weight with inner frames, in the source's unit, without the baseline.
    pub total: Vec<f64>,
    /// Number of samples, without those of the baseline.
    pub count: Vec<f64>,
    /// Number of boxes merged into this one.
    pub merged: Vec<u32>,
    /// Stack id, valid for the same steps; for merged boxes, that of the widest.
    pub stack: Vec<u32>,
    /// Total in the baseline, in the measure of the widths; empty without a comparison.
    pub before: Vec<f64>,
}

impl FlameBoxes {
    /// Returns the number of boxes.
    pub fn len(&self) -> usize {
        self.depth.len()
    }

    /// Returns whether there are no boxes.
    pub fn is_empty(&self) -> bool {
        self.depth.is_empty()
    }
}

/// Query for the weight of each function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameTableQuery {
    /// Source, range and tracks of the samples.
    pub choice: FlameSelection,
    /// Transformations of the stacks, in order.
    pub steps: Vec<Transform>,
}

/// Weight of all frames with one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameRow {
    /// Common properties of the frames with this name; properties in which they differ are empty.
    pub frame: Frame,
    /// Weight where the frame is innermost, in the source's unit.
    pub own: u64,
    /// Weight where the frame is anywhere in the stack; recursion counts once.
    pub total: u64,
    /// Number of samples in which the frame is innermost.
    pub own_count: u64,
    /// Number of samples in which the frame is anywhere in the stack.
    pub count: u64,
    /// Own weight and total in the baseline; `None` without a comparison.
    pub before: Option<(u64, u64)>,
}

/// Which occurrence of a box to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Occurrence {
    /// First one that begins at or after this time.
    From(Nanos),
    /// Longest one; among equals, the earliest.
    Longest,
}

impl Default for Occurrence {
    fn default() -> Self {
        Self::From(Nanos(0))
    }
}

/// Occurrence of a box on the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameOccurrence {
    /// Time range of the occurrence.
    pub span: Interval,
    /// Track of the occurrence; `None` for heap profiles.
    pub track: Option<TrackSource>,
}

/// Query for an occurrence of a box on the timeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameOccurrenceQuery {
    /// Source, range and tracks of the samples.
    pub choice: FlameSelection,
    /// Transformations of the stacks, in order.
    pub steps: Vec<Transform>,
    /// View that contains the box: callers and callees have their own stack ids.
    pub view: View,
    /// Stack id of the box; inner frames are included.
    pub stack: u32,
    /// Which of its occurrences to find.
    pub which: Occurrence,
}

/// Query for the frames that match a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameMatchesQuery {
    /// Source, range and tracks of the samples.
    pub choice: FlameSelection,
    /// Transformations of the stacks, in order.
    pub steps: Vec<Transform>,
    /// Layout of the graph that is searched.
    pub view: View,
    /// Measure of the width; in time order, the width is always time.
    pub measure: Measure,
    /// Search text for frame names; empty for no search.
    pub search: String,
}

/// Match of a search in a flame graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameMatch {
    /// Left edge, from 0 to 1 of the whole graph.
    pub left: f64,
    /// Width, from 0 to 1 of the whole graph.
    pub width: f64,
    /// Depth of the box in layouts by weight; 0 in time order.
    pub level: u16,
    /// In time order, the track of the match; the boxes on it have the level.
    pub track: Option<TrackSource>,
}

/// Matches of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameMatches {
    /// Number of all matches.
    pub count: u64,
    /// Widest matches, widest first.
    pub widest: Vec<FlameMatch>,
}

/// File format of an exported profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExportFormat {
    /// JSON for <https://speedscope.app>, with a profile per track.
    Speedscope,
    /// One line per stack, for `flamegraph.pl` and inferno.
    Folded,
    /// Compressed protocol buffer of `pprof`.
    Pprof,
}
