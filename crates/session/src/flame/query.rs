//! Questions about a profile, and their answers as columns.

use serde::{Deserialize, Serialize};

pub use super::answer::{answer, answer_with};
pub use super::matches::matches;
pub use super::place::place;
use super::step::Step;
pub use super::table::table;
use eventlog::ids::Nanos;
use model::profile::TrackSource;
use model::profile::frames::Frame;
use model::profile::origin::{CensusCounts, Choice};
use model::profile::weights::Measure;
use model::time::Interval;

/// How a flame graph is laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum View {
    /// In order of time, one track below the other.
    #[default]
    Time,
    /// Equal stacks are merged, the heaviest on the left.
    LeftHeavy,
    /// What the frame of this name calls, wherever it stands, left-heavy.
    Callees(String),
    /// Who calls the frame of this name: it is the root, its callers stand on
    /// it, left-heavy.
    Callers(String),
}

/// What is to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameQuery {
    /// Of which samples.
    pub choice: Choice,
    /// What was done to the stacks, one step after the other.
    pub steps: Vec<Step>,
    /// How they are laid out.
    pub view: View,
    /// By what; in the order of time always by time.
    pub measure: Measure,
    /// The part of the graph in view, from 0 to 1: left edge and width.
    pub window: (f64, f64),
    /// How many pixels it has.
    pub width_px: u32,
    /// The levels in view, the first and how many; `None` for all. Others
    /// have no boxes in the answer.
    pub levels: Option<(u16, u16)>,
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
    /// What the whole width stands for, in the source's unit or in samples.
    pub total: u64,
    /// The total of the time to compare with.
    pub total_before: Option<u64>,
    /// Of how many censuses the totals are sums.
    pub censuses: CensusCounts,
    /// Whether weights are compared as they are; else as shares of each total.
    pub absolute: bool,
    /// The frames that occur.
    pub frames: Vec<NamedFrame>,
    /// The share of the time in which a frame that was looked for is in the stack.
    pub found_share: f64,
    /// How many stacks were inverted without their outermost frames, because
    /// all of them together would be too many.
    pub shortened: u64,
    /// In time order, the depth at which each track begins.
    pub bands: Vec<(TrackSource, u16)>,
    /// How many levels there are.
    pub depth: u16,
}

/// The boxes of an answer, sorted by depth, then from left to right.
///
/// Left-heavy, all is exact; narrow boxes on one other are one, with nothing
/// on it. Where two selections are compared, each makes up half of the width;
/// of what was alive, a byte of the mean of either is as wide.
/// In the order of time boxes that are at least a pixel wide are exact, but for
/// less than a pixel at their edges; of narrower ones that were merged only the
/// sums are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameBoxes {
    /// How many frames are around each.
    pub depth: Vec<u16>,
    /// Left edge, from 0 to 1 of the whole.
    pub left: Vec<f64>,
    /// Width, of the whole.
    pub width: Vec<f64>,
    /// The frame, as an index into the frames of the answer.
    pub frame: Vec<u32>,
    /// What nothing stood on, in the source's unit.
    pub own: Vec<f64>,
    /// All of it, in the source's unit, without what is compared with.
    pub total: Vec<f64>,
    /// Its samples, without those of what is compared with.
    pub count: Vec<f64>,
    /// How many boxes, each too narrow to be seen, it stands for.
    pub merged: Vec<u32>,
    /// Which stack it is, as long as the steps are the same; that of the
    /// widest, if it stands for many.
    pub stack: Vec<u32>,
    /// Its total in the time to compare with, in what the boxes' width is
    /// measured in; empty if nothing is compared.
    pub before: Vec<f64>,
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

/// Which totals are wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameTableQuery {
    /// Of which samples.
    pub choice: Choice,
    /// What was done to the stacks, one step after the other.
    pub steps: Vec<Step>,
}

/// How much frames of one name weigh, wherever they stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameRow {
    /// What it is. Where frames of this name are not all the same, what they
    /// differ in is empty.
    pub frame: Frame,
    /// What it weighs where it is innermost, in the source's unit.
    pub own: u64,
    /// What it weighs anywhere in the stack. Recursion counts once.
    pub total: u64,
    /// Samples in which it was innermost.
    pub own_count: u64,
    /// Samples in which it was anywhere in the stack.
    pub count: u64,
    /// Own weight and total in the time to compare with, if there is one.
    pub before: Option<(u64, u64)>,
}

/// Which of the occurrences of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Occurrence {
    /// The first that begins at or after this time.
    From(Nanos),
    /// The longest, of these the first.
    Longest,
}

impl Default for Occurrence {
    fn default() -> Self {
        Self::From(Nanos(0))
    }
}

/// When a box of a graph was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlamePlace {
    /// From when to when.
    pub span: Interval,
    /// On which track; none of what was alive.
    pub track: Option<TrackSource>,
}

/// Where a box of a graph is on the timeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlamePlaceQuery {
    /// Of which samples.
    pub choice: Choice,
    /// What was done to the stacks, one step after the other.
    pub steps: Vec<Step>,
    /// The view that the box is in: those of callers and callees have stacks
    /// of their own.
    pub view: View,
    /// The stack of the box, with the frames that stand on it.
    pub stack: u32,
    /// Which of its occurrences.
    pub which: Occurrence,
}

/// Where the frames are that are looked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameMatchesQuery {
    /// Of which samples.
    pub choice: Choice,
    /// What was done to the stacks, one step after the other.
    pub steps: Vec<Step>,
    /// How they are laid out.
    pub view: View,
    /// By what; in the order of time always by time.
    pub measure: Measure,
    /// Frames to look for; empty for none.
    pub search: String,
}

/// A frame that was looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameMatch {
    /// Its left edge, from 0 to 1 of the whole.
    pub left: f64,
    /// Its width, of the whole.
    pub width: f64,
    /// By weight, how many frames are around it.
    pub level: u16,
    /// In the order of time, on which track it is: at which level tells the boxes there.
    pub track: Option<TrackSource>,
}

/// The frames that were looked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameMatches {
    /// How many there are.
    pub count: u64,
    /// The widest of them, the widest first.
    pub widest: Vec<FlameMatch>,
}

/// The format of an exported profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExportFormat {
    /// JSON for <https://speedscope.app>: a profile for each track.
    Speedscope,
    /// A line for each stack, for `flamegraph.pl` and inferno.
    Folded,
    /// Compressed protocol buffer of `pprof`.
    Pprof,
}
