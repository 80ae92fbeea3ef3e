//! Rendering of flame graphs.
//!
//! [`Graph`] prepares a reply of the worker. `paint` draws its boxes, `area` one box over time, `minimap` the
//! whole graph; `window` is the visible part.

mod area;
mod minimap;
mod paint;
mod picture;
mod window;
mod words;

use std::ops::Range;

pub use area::AreaPlot;
pub use minimap::Minimap;
pub use paint::FlameScene;
pub use picture::{picture_query, svg};
pub use window::Window;
pub use words::Value;
pub(crate) use words::box_name;

use eventlog::hash::SeededMap;
use model::profile::TrackSource;
use model::profile::frames::Frame;
use model::profile::source::Unit;
use model::profile::weights::Measure;
use session::flame::query::{FlameBoxes, FlameHead, NamedFrame};

/// Height of a level, in pixels.
pub const LEVEL_PX: f64 = 19.0;

/// Number of levels above and below the visible ones that are queried as well.
const LEVELS_AROUND: u32 = 8;
/// Granularity of the queried range of levels.
const LEVELS_STEP: u32 = 8;

/// Reply of the worker, prepared for painting.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Everything except the columns.
    pub head: FlameHead,
    /// Boxes, as columns.
    pub boxes: FlameBoxes,
    /// Interpretation of the weights.
    pub value: Value,
    /// Names of stacked tracks; empty if there is only one track.
    names: Vec<String>,
    frames: SeededMap<u32, usize>,
    /// Row of each level. Row 0 is the root that covers everything; headings of tracks have rows too.
    rows: Vec<u32>,
}

impl Graph {
    /// Prepares a reply; `names` are the titles of its bands.
    pub fn new(
        head: FlameHead,
        boxes: FlameBoxes,
        unit: Unit,
        measure: Measure,
        names: Vec<String>,
    ) -> Self {
        let numbers = head.frames.iter().enumerate();
        let frames = numbers.map(|(i, named)| (named.id, i)).collect();
        let names = if head.bands.len() > 1 {
            names
        } else {
            Vec::new()
        };
        let bands = head.bands.iter().take(names.len());
        let mut starts: Vec<u16> = bands.map(|(_, band)| *band).collect();
        starts.sort_unstable();
        let headings = |depth: u16| starts.partition_point(|start| *start <= depth);
        let row = |depth: u16| u32::from(depth) + 1 + headings(depth) as u32;
        let value = Value {
            unit,
            measure,
            censuses: head.censuses,
            absolute: head.absolute,
        };
        Self {
            rows: (0..head.depth).map(row).collect(),
            value,
            names,
            frames,
            head,
            boxes,
        }
    }

    /// Returns the number of rows, including the root and the headings.
    pub(crate) fn row_count(&self) -> u32 {
        self.rows.last().map_or(1, |row| row + 1)
    }

    /// Returns the height of all rows, in pixels.
    pub fn height_px(&self) -> f64 {
        f64::from(self.row_count()) * LEVEL_PX + 8.0
    }

    /// Returns the row of a level.
    fn row(&self, depth: u16) -> u32 {
        let row = self.rows.get(usize::from(depth));
        row.copied().unwrap_or(u32::from(depth) + 1)
    }

    /// Returns the level in a row.
    fn depth_of_row(&self, row: u32) -> Option<u16> {
        let depth = self.rows.binary_search(&row).ok()?;
        u16::try_from(depth).ok()
    }

    /// Returns the levels to query for a picture of this height and scroll offset, as the first level and their
    /// number, including a margin.
    pub fn levels_in_view(&self, scroll_px: f64, height_px: f64, upwards: bool) -> (u16, u16) {
        let from_edge = if upwards {
            self.height_px().max(height_px) - scroll_px - height_px
        } else {
            scroll_px
        };
        let row = |px: f64| (px / LEVEL_PX).max(0.0) as u32;
        let level = |row: u32| self.rows.partition_point(|&other| other < row) as u32;
        // Rounded, so that not every pixel of scrolling causes a query.
        let first = level(row(from_edge)).saturating_sub(LEVELS_AROUND) / LEVELS_STEP * LEVELS_STEP;
        let end = level(row(from_edge + height_px) + 1) + LEVELS_AROUND;
        let end = end.next_multiple_of(LEVELS_STEP);
        let narrow = |level: u32| u16::try_from(level).unwrap_or(u16::MAX);
        (narrow(first), narrow(end - first))
    }

    /// Returns the index range of the boxes of a level.
    pub fn at_depth(&self, depth: u16) -> Range<usize> {
        let start = self.boxes.depth.partition_point(|&other| other < depth);
        start..self.boxes.depth.partition_point(|&other| other <= depth)
    }

    /// Returns the index range of the boxes of a level that overlap the window.
    fn in_window(&self, depth: u16, window: Window) -> Range<usize> {
        let boxes = self.at_depth(depth);
        let (left, width) = (&self.boxes.left, &self.boxes.width);
        let end = window.left + window.width;
        let first = boxes.start
            + left[boxes.clone()]
                .partition_point(|&at| at < window.left)
                .saturating_sub(1);
        let reaches = |index: usize| left[index] + width[index] > window.left;
        let first = (first..boxes.end).find(|&index| reaches(index));
        let last = boxes.start + left[boxes.clone()].partition_point(|&at| at < end);
        first.unwrap_or(last)..last
    }

    /// Returns the box of a level at a horizontal position between 0 and 1.
    pub fn box_at(&self, depth: u16, at: f64) -> Option<usize> {
        let boxes = self.at_depth(depth);
        let left = self.boxes.left.get(boxes.clone())?;
        let index = boxes.start + left.partition_point(|&left| left <= at);
        let index = index.checked_sub(1).filter(|&index| index >= boxes.start)?;
        (at < self.boxes.left[index] + self.boxes.width[index]).then_some(index)
    }

    /// Returns the deepest box at a position, in the band that begins at level `first`.
    pub fn deepest_at(&self, first: u16, at: f64) -> Option<usize> {
        let mut deepest = None;
        for depth in first..self.head.depth {
            match self.box_at(depth, at) {
                Some(index) => deepest = Some(index),
                None => break,
            }
        }
        deepest
    }

    /// Returns the outermost search match at a position: on a track, or at this level if there is no track.
    pub fn match_at(&self, track: Option<TrackSource>, level: u16, at: f64) -> Option<usize> {
        let bands = &self.head.bands;
        let first = match track {
            Some(track) => bands.iter().find(|(other, _)| *other == track)?.1,
            None => level,
        };
        let below = bands
            .iter()
            .map(|(_, band)| *band)
            .filter(|band| *band > first);
        let end = match track {
            Some(_) => below.min().unwrap_or(self.head.depth),
            None => level.saturating_add(1),
        };
        let boxes = (first..end).filter_map(|depth| self.box_at(depth, at));
        let mut found =
            boxes.filter(|&index| self.named_frame(index).is_some_and(|named| named.found));
        found.next()
    }

    /// Returns the box of a stack nearest to a position between 0 and 1.
    pub fn box_of_stack(&self, stack: u32, at: f64) -> Option<usize> {
        let boxes = &self.boxes;
        let same = (0..boxes.len()).filter(|&index| boxes.stack.get(index) == Some(&stack));
        let distance = |index: usize| {
            let (left, width) = (boxes.left[index], boxes.width[index]);
            (left - at).max(at - left - width).max(0.0)
        };
        same.min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    }

    /// Returns the track of a box, if the graph is in time order.
    pub fn track_of(&self, index: usize) -> Option<TrackSource> {
        let depth = *self.boxes.depth.get(index)?;
        let bands = self.head.bands.iter().rev();
        let mut above = bands.filter(|(_, band)| *band <= depth);
        above.next().map(|(track, _)| *track)
    }

    fn named_frame(&self, index: usize) -> Option<&NamedFrame> {
        let id = self.boxes.frame.get(index)?;
        self.head.frames.get(*self.frames.get(id)?)
    }

    /// Returns the frame of a box.
    pub fn frame(&self, index: usize) -> Option<&Frame> {
        self.named_frame(index).map(|named| &named.frame)
    }

    /// Returns whether a box stands for several merged boxes.
    pub fn is_merged(&self, index: usize) -> bool {
        self.boxes.merged.get(index).is_some_and(|&boxes| boxes > 1)
    }

    /// Returns the compared values of a box, before and now: its shares of the whole, or the amounts.
    pub fn compared(&self, index: usize) -> Option<(f64, f64)> {
        let whole_before = self.head.total_before?;
        let (before, now) = (
            *self.boxes.before.get(index)?,
            *self.boxes.total.get(index)?,
        );
        if self.value.compares_amounts() {
            return Some(self.value.means(before, now));
        }
        let share = |part: f64, whole: u64| part / (whole as f64).max(1.0);
        Some((share(before, whole_before), share(now, self.head.total)))
    }
}
