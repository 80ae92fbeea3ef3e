//! Where the boxes of a flame graph stand. Depth 0 is the outermost frame; the
//! box of everything is the caller's. Nothing here recurses: stacks may be as
//! deep as they like.

mod forest;
mod left_heavy;
mod surround;
mod time;

pub(super) use forest::Forest;
pub(super) use left_heavy::{Tree, each_leading, left_heavy};
pub(super) use time::{TimeTrack, time_order};

use super::query::{FlameBoxes, FlameQuery};
use model::profile::stacks::{StackId, Stacks};

/// A box. Its edges are in the unit of its [`Levels`].
#[derive(Clone, Copy, Debug)]
struct Row {
    left: f64,
    right: f64,
    /// Where several are merged, that of the widest.
    stack: StackId,
    own: u64,
    total: u64,
    count: u64,
    before: u64,
    merged: u32,
}

impl Row {
    fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Takes in a box at the right.
    fn join(&mut self, right: &Self) {
        self.right = right.right;
        self.own = self.own.saturating_add(right.own);
        self.total = self.total.saturating_add(right.total);
        self.count = self.count.saturating_add(right.count);
        self.before = self.before.saturating_add(right.before);
        self.merged = self.merged.saturating_add(right.merged);
    }
}

/// What part of the graph is to be laid out, in the unit of its [`Levels`].
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// The left edge of what is seen.
    pub(super) left: f64,
    /// The right edge.
    pub(super) right: f64,
    /// Narrower boxes are merged.
    pub(super) min_width: f64,
    /// The first level that is seen, and how many are.
    pub(super) levels: (usize, usize),
}

impl View {
    /// What a query sees of a graph, if the whole is so wide.
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

    /// Merges wider boxes, up to eight pixels, if so many levels are in view
    /// that there would be too many boxes.
    fn coarser(self, levels: usize) -> Self {
        const MANY: f64 = 100_000.0;
        let columns = (self.right - self.left) / self.min_width.max(f64::MIN_POSITIVE);
        let levels = levels.min(self.levels.1) as f64;
        let pixels = (columns * levels / MANY).clamp(1.0, 8.0);
        let min_width = self.min_width * pixels;
        Self { min_width, ..self }
    }

    /// Whether a level is seen.
    const fn sees(&self, level: usize) -> bool {
        let (first, count) = self.levels;
        level >= first && level - first < count
    }

    /// Whether some of the levels from `first` on are seen.
    const fn sees_some(&self, first: usize, count: usize) -> bool {
        let end = self.levels.0.saturating_add(self.levels.1);
        first < end && first.saturating_add(count) > self.levels.0
    }

    fn shows(&self, row: &Row) -> bool {
        row.right >= self.left && row.left <= self.right
    }
}

/// The boxes by level, each from left to right.
#[derive(Debug, Default)]
pub(super) struct Levels {
    rows: Vec<Vec<Row>>,
}

impl Levels {
    fn push(&mut self, level: usize, row: Row) {
        if level >= self.rows.len() {
            self.rows.resize_with(level + 1, Vec::new);
        }
        self.rows[level].push(row);
    }

    fn last_mut(&mut self, level: usize) -> Option<&mut Row> {
        self.rows.get_mut(level)?.last_mut()
    }

    /// There are at least so many, even if they are empty.
    fn reach(&mut self, depth: u16) {
        let depth = usize::from(depth).max(self.rows.len());
        self.rows.resize_with(depth, Vec::new);
    }

    /// How many there are.
    pub(super) fn depth(&self) -> u16 {
        u16::try_from(self.rows.len()).unwrap_or(u16::MAX)
    }

    /// The boxes as columns, if the whole graph is so wide.
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
