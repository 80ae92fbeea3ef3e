//! Heap profile chart: bytes of bands over time.
//!
//! The answer has about one stack of values per pixel, so drawing 5,000 censuses costs no more than drawing 500.
//! Of the censuses that share a pixel, the one with the most bytes is drawn.

pub mod stacks;

use serde::{Deserialize, Serialize};

use super::choice::HeapChoice;
use super::colors::Slot;
use eventlog::ids::Nanos;
use model::marks::GaugePoints;
use model::time::Interval;

model::named_enum! {
    /// Overlay of a chart.
    #[derive(Default, Hash, Serialize, Deserialize)]
    pub enum OverlayKind: from_name {
        /// Live bytes after the last major collection.
        #[default]
        Live: "live", "Live bytes", "Live data after the last major collection";
        /// Memory that the heap takes from the system.
        Size: "size", "Heap size", "Memory that the heap takes from the system";
        /// Blocks that the heap uses.
        Blocks: "blocks", "Blocks in use", "The blocks that the heap uses";
        /// Collections of the oldest generation.
        Collections: "gc", "Major collections", "Collections of the oldest generation";
        /// Messages and markers of the program.
        Messages: "messages", "Messages and markers", "Messages and markers of the program";
    }
    /// Returns the name in links, which never changes.
    fn name;
    /// Returns the display name.
    fn title;
    /// Returns a one-sentence description.
    fn help;
}

/// Query for a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartQuery {
    /// Profile and selection of bands.
    pub choice: HeapChoice,
    /// Range by which bands are ranked; `None` is the whole log.
    pub range: Option<Interval>,
    /// Time range of the horizontal axis; `None` is the whole log. Profiles without times are always drawn as a
    /// whole.
    pub view: Option<Interval>,
    /// Width of the chart in pixels.
    pub width_px: u32,
    /// Overlays to draw, in any order.
    pub over: Vec<OverlayKind>,
    /// Text that overlaid messages must contain, ignoring case.
    pub include: String,
    /// Text that they must not contain; empty excludes none.
    pub exclude: String,
}

/// Band of a chart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChartBand {
    /// Key in links; empty for the cost-centre stack without cost centres.
    pub key: String,
    /// Whether the band is the sum of all bands that are shown as one.
    pub is_rest: bool,
    /// Display name; `all others` for the sum.
    pub name: String,
    /// Index of the color in the band palette.
    pub slot: Slot,
    /// Whether the band is pinned.
    pub pinned: bool,
    /// Bytes in the first census of the range.
    pub first: f64,
    /// Bytes in the last census of the range.
    pub last: f64,
    /// Maximum bytes in a census of the range.
    pub max: f64,
    /// Sum of the bytes over the censuses of the range.
    pub sum: f64,
}

impl ChartBand {
    /// Returns whether this is an individual band rather than the sum of the others.
    pub const fn is_single(&self) -> bool {
        !self.is_rest
    }
}

/// Data of a heap chart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Range of the horizontal axis: times, or census indexes if the censuses have no times.
    pub axis: Interval,
    /// Whether the axis has times rather than census indexes.
    pub timed: bool,
    /// Bands from bottom to top; the sum of the others is last.
    pub bands: Vec<ChartBand>,
    /// Hidden bands: key and name.
    pub hidden: Vec<(String, String)>,
    /// Number of bands that are shown as one.
    pub others: u32,
    /// Number of bands that hold bytes in the range.
    pub in_range: u32,
    /// Number of censuses in the profile.
    pub censuses: u32,
    /// Number of censuses in the range by which bands are ranked.
    pub censuses_in_range: u32,
    /// Number of censuses in view.
    pub censuses_in_view: u32,
    /// Bytes of all bands, summed over the censuses of the range.
    pub sum_in_range: f64,
    /// Bytes of the bands at the drawn positions.
    pub stacks: Stacks,
    /// Requested overlays; empty without census times.
    pub over: Overlay,
}

/// Values at each drawn position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stacks {
    /// Census index of each position.
    pub census: Vec<u32>,
    /// Positions on the axis: times in nanoseconds, or census indexes.
    pub at: Vec<f64>,
    /// Total bytes of the profile at each position, including hidden bands.
    pub total: Vec<f64>,
    /// Bytes of each band at each position, band-major.
    pub bytes: Vec<f64>,
}

impl Stacks {
    /// Returns the number of positions.
    pub const fn len(&self) -> usize {
        self.at.len()
    }

    /// Returns whether there are no positions.
    pub const fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Returns the number of bands.
    pub fn bands(&self) -> usize {
        self.bytes.len().checked_div(self.len()).unwrap_or(0)
    }

    /// Returns the bytes of a band at all positions.
    pub fn band_bytes(&self, band: usize) -> &[f64] {
        let from = band.saturating_mul(self.len());
        let to = from.saturating_add(self.len());
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Returns the bytes of a band at one position.
    pub fn value(&self, band: usize, stack: usize) -> f64 {
        self.band_bytes(band)
            .get(stack)
            .copied()
            .unwrap_or_default()
    }
}

/// Overlays of a chart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overlay {
    /// Requested series of [`memory`](Self::memory), by series index: heap size, blocks in use, live bytes.
    pub lines: [bool; 3],
    /// Heap gauge, with times relative to the start of the axis.
    pub memory: GaugePoints,
    /// Times of major collections, at most one per pixel.
    pub collections: Vec<f64>,
    /// Times and texts of messages.
    pub messages: Vec<(Nanos, String)>,
    /// Number of matching messages that are not drawn.
    pub more_messages: u64,
}
