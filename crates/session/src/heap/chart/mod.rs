//! The chart of a heap profile: what holds the heap, over time.
//!
//! The question is answered with about one stack of values for each pixel, so
//! that it costs as much to draw 5,000 censuses as 500: of the censuses that
//! share a pixel, the one with the most bytes is drawn.

pub mod stacks;

use serde::{Deserialize, Serialize};

use super::choice::HeapChoice;
use super::colours::Slot;
use eventlog::ids::Nanos;
use model::marks::GaugePoints;
use model::time::Interval;

crate::words! {
    /// What may be drawn over the chart.
    Over {
        /// Live bytes.
        #[default]
        Live "live" "Live bytes" "What was live after the last major collection",
        /// The size of the heap.
        Size "size" "Heap size" "What the heap takes of the system's memory",
        /// Blocks in use.
        Blocks "blocks" "Blocks in use" "The blocks that the heap uses",
        /// Collections of the oldest generation.
        Collections "gc" "Major collections" "Collections of the oldest generation",
        /// Messages of the program.
        Messages "messages" "Messages and markers" "What the program said",
    }
}

/// What chart is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartQuery {
    /// Which bands of which profile.
    pub choice: HeapChoice,
    /// The range that decides about the bands; the whole log without one.
    pub range: Option<Interval>,
    /// The time from the left to the right of the chart; the whole log without
    /// one. Profiles without times are drawn as a whole.
    pub view: Option<Interval>,
    /// How wide the chart is, in pixels.
    pub width_px: u32,
    /// What is drawn over it.
    pub over: Vec<Over>,
    /// What messages over it must have in them.
    pub include: String,
    /// What they must not have in them.
    pub exclude: String,
}

/// A band of a chart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChartBand {
    /// What it is known by in links; that of the stack without a cost centre is empty.
    pub key: String,
    /// Whether it is all those that are shown as one.
    pub is_rest: bool,
    /// What it is called.
    pub name: String,
    /// Its colour.
    pub slot: Slot,
    /// Whether it is followed.
    pub pinned: bool,
    /// Its bytes in the first census of the range.
    pub first: f64,
    /// Its bytes in the last census of the range.
    pub last: f64,
    /// Its most bytes in a census of the range.
    pub max: f64,
    /// Its bytes summed over the censuses of the range.
    pub sum: f64,
}

impl ChartBand {
    /// Whether it is a single band, and not all that are shown as one.
    #[must_use]
    pub const fn is_single(&self) -> bool {
        !self.is_rest
    }
}

/// The chart of a profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// The time from its left to its right; of a profile without times the
    /// numbers of its censuses, from 0.
    pub axis: Interval,
    /// Whether the axis is one of time, and not of numbers of censuses.
    pub timed: bool,
    /// The bands, from the first one on; all that are shown as one are last.
    pub bands: Vec<ChartBand>,
    /// Bands that are hidden: key and name.
    pub hidden: Vec<(String, String)>,
    /// How many bands are shown as one.
    pub others: u32,
    /// How many bands hold something in the range.
    pub in_range: u32,
    /// How many censuses the profile has.
    pub censuses: u32,
    /// How many of them are in the range that decides about the bands.
    pub censuses_in_range: u32,
    /// How many are in view.
    pub censuses_in_view: u32,
    /// The bytes of all bands, summed over the censuses of the range.
    pub sum_in_range: f64,
    /// The stacks of values.
    pub stacks: Stacks,
    /// What is drawn over it.
    pub over: Overlay,
}

/// One stack of values for each place where something is drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stacks {
    /// The number of the census.
    pub census: Vec<u32>,
    /// Where it is on the axis: its time, or its number.
    pub at: Vec<f64>,
    /// The bytes of all bands of the profile in it, also of those not shown.
    pub total: Vec<f64>,
    /// The bytes of each band in each of them, band after band.
    pub bytes: Vec<f64>,
}

impl Stacks {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// How many bands have values.
    #[must_use]
    pub fn bands(&self) -> usize {
        self.bytes.len().checked_div(self.len()).unwrap_or(0)
    }

    /// The bytes of a band in each of them.
    #[must_use]
    pub fn of(&self, band: usize) -> &[f64] {
        let from = band.saturating_mul(self.len());
        let to = from.saturating_add(self.len());
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// The bytes of a band in one of them.
    #[must_use]
    pub fn value(&self, band: usize, stack: usize) -> f64 {
        self.of(band).get(stack).copied().unwrap_or_default()
    }
}

/// What is drawn over a chart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overlay {
    /// What of [`memory`](Self::memory) is wanted: heap size, blocks in use, live
    /// bytes, as the series are numbered.
    pub lines: [bool; 3],
    /// The graph of the heap, with times since the start of the axis.
    pub memory: GaugePoints,
    /// When the oldest generation was collected, at most one in a pixel.
    pub collections: Vec<f64>,
    /// Messages: when, and what they say.
    pub messages: Vec<(Nanos, String)>,
    /// How many more there are than are drawn.
    pub more_messages: u64,
}
