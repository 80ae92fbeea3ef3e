//! Layout of flame graph boxes. Depth 0 is the outermost frame; the root box is up to the caller. Nothing here
//! recurses, because stacks may be arbitrarily deep.

mod forest;
mod left_heavy;
mod surround;
mod time;

pub(super) use forest::Forest;
pub(super) use left_heavy::{Tree, each_leading, left_heavy};
pub(super) use time::{TimeTrack, time_order};

use super::query::{FlameBoxes, FlameQuery};
use model::profile::stacks::{StackId, Stacks};

/// Box. Its edges are in the unit of its [`BoxLevels`].
#[derive(Clone, Copy, Debug)]
struct LayoutBox {
    left: f64,
    right: f64,
    /// Stack of the widest of the merged boxes.
    stack: StackId,
    own: u64,
    total: u64,
    count: u64,
    before: u64,
    merged: u32,
}

impl LayoutBox {
    fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Merges a box at the right.
    fn join(&mut self, right: &Self) {
        self.right = right.right;
        self.own = self.own.saturating_add(right.own);
        self.total = self.total.saturating_add(right.total);
        self.count = self.count.saturating_add(right.count);
        self.before = self.before.saturating_add(right.before);
        self.merged = self.merged.saturating_add(right.merged);
    }
}

/// Visible part of the graph, in the unit of its [`BoxLevels`].
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// Left edge of the visible part.
    pub(super) left: f64,
    /// Right edge of the visible part.
    pub(super) right: f64,
    /// Width of a pixel; narrower boxes are merged.
    pub(super) min_width: f64,
    /// First visible level, and number of visible levels.
    pub(super) levels: (usize, usize),
}

impl View {
    /// Returns the visible part that a query requests of a graph of width `whole`.
    pub(super) fn new(query: &FlameQuery, whole: f64) -> Self {
        let (left, width) = query.window;
        let levels = query
            .levels
            .map(|(first, count)| (usize::from(first), usize::from(count)));
        Self {
            left: left * whole,
            right: (left + width) * whole,
            min_width: width / f64::from(query.width_px.max(1)) * whole,
            levels: levels.unwrap_or((0, usize::MAX)),
        }
    }

    /// Raises the merge width, up to eight pixels, if the visible levels could have too many boxes.
    fn coarser(self, levels: usize) -> Self {
        const MANY: f64 = 100_000.0;
        let columns = (self.right - self.left) / self.min_width.max(f64::MIN_POSITIVE);
        let levels = levels.min(self.levels.1) as f64;
        let pixels = (columns * levels / MANY).clamp(1.0, 8.0);
        let min_width = self.min_width * pixels;
        Self { min_width, ..self }
    }

    /// Returns whether a level is visible.
    const fn sees(&self, level: usize) -> bool {
        let (first, count) = self.levels;
        level >= first && level - first < count
    }

    /// Returns whether any of `count` levels from `first` on is visible.
    const fn sees_some(&self, first: usize, count: usize) -> bool {
        let end = self.levels.0.saturating_add(self.levels.1);
        first < end && first.saturating_add(count) > self.levels.0
    }

    fn shows(&self, row: &LayoutBox) -> bool {
        row.right >= self.left && row.left <= self.right
    }
}

/// Boxes by level, each level from left to right.
#[derive(Debug, Default)]
pub(super) struct BoxLevels {
    rows: Vec<Vec<LayoutBox>>,
}

impl BoxLevels {
    fn push(&mut self, level: usize, row: LayoutBox) {
        if level >= self.rows.len() {
            self.rows.resize_with(level + 1, Vec::new);
        }
        self.rows[level].push(row);
    }

    fn last_mut(&mut self, level: usize) -> Option<&mut LayoutBox> {
        self.rows.get_mut(level)?.last_mut()
    }

    /// Ensures a minimum number of levels, even if they are empty.
    fn reach(&mut self, depth: u16) {
        let depth = usize::from(depth).max(self.rows.len());
        self.rows.resize_with(depth, Vec::new);
    }

    /// Returns the number of levels.
    pub(super) fn depth(&self) -> u16 {
        u16::try_from(self.rows.len()).unwrap_or(u16::MAX)
    }

    /// Converts the boxes of a graph of width `whole` to columns.
    pub(super) fn boxes(&self, stacks: &Stacks, whole: f64, compares: bool) -> FlameBoxes {
        let mut boxes = FlameBoxes::default();
        let scale = if whole > 0.0 { 1.0 / whole } else { 0.0 };
        for (depth, rows) in self.rows.iter().enumerate() {
            let depth = u16::try_from(depth).unwrap_or(u16::MAX);
            for row in rows {
                let Some(frame) = stacks.frame(row.stack) else {
                    continue;
                };
                boxes.depth.push(depth);
                boxes.left.push(row.left * scale);
                boxes.width.push(row.width() * scale);
                boxes.frame.push(frame.0);
                boxes.own.push(row.own as f64);
                boxes.total.push(row.total as f64);
                boxes.count.push(row.count as f64);
                boxes.merged.push(row.merged);
                boxes.stack.push(row.stack.0);
                if compares {
                    boxes.before.push(row.before as f64);
                }
            }
        }
        boxes
    }
}
