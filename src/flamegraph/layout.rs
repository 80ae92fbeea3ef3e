//! Where the boxes of a flame graph stand. Depth 0 is the outermost frame; the
//! box of everything is the caller's. Nothing here recurses: stacks may be as
//! deep as they like.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::frames::FrameId;
use super::profile::{Profile, Track};
use super::stacks::StackId;
use super::weights::{Weights, chosen};
use crate::automata::Span;
use crate::ids::Nanos;

/// From left to right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Order {
    /// As time goes. Several tracks stand below each other.
    #[default]
    Time,
    /// Equal stacks become one, of all tracks together; of the boxes on one
    /// other, the heaviest stands left.
    LeftHeavy,
}

/// The boxes of a flame graph, in columns sorted by depth, then from left to
/// right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// In which order.
    pub order: Order,
    /// Of which tracks.
    pub tracks: Vec<usize>,
    /// Of which time.
    pub range: Span,
    /// What the whole width stands for: in time order the range, left-heavy
    /// the time of all samples.
    pub total: Nanos,
    /// In time order, the depth at which each track begins.
    pub bands: Vec<u16>,
    /// How many frames are around it.
    pub depth: Vec<u16>,
    /// Its left edge, from 0 to 1.
    pub left: Vec<f64>,
    /// Its width; the whole is 1.
    pub width: Vec<f64>,
    /// What it shows; where several are merged, the widest.
    pub frame: Vec<FrameId>,
    /// Time in which nothing stood on it.
    pub self_time: Vec<Nanos>,
    /// Its time. In time order a box may be a little wider, where it spans a
    /// late tick.
    pub total_time: Vec<Nanos>,
    /// Its samples; 0 for a gap.
    pub count: Vec<u32>,
    /// How many boxes, each too narrow to be seen, it stands for; mostly 1.
    pub merged: Vec<u32>,
}

/// A box before it is put into the columns; edges in ns from the left.
#[derive(Clone, Copy, Debug)]
struct Row {
    depth: u16,
    left: u64,
    right: u64,
    frame: FrameId,
    self_time: u64,
    total_time: u64,
    count: u32,
    merged: u32,
}

/// Lays out the samples of some tracks in a range (none: the profile's span).
/// Boxes narrower than `min_width`, a fraction of the whole, are merged with
/// their neighbours; the self times still sum to the time of all.
#[must_use]
pub fn layout(
    profile: &Profile,
    tracks: &[usize],
    range: Option<Span>,
    order: Order,
    min_width: f64,
) -> Layout {
    let range = range.unwrap_or(profile.span);
    let mut bands = Vec::new();
    let (total, rows) = match order {
        Order::Time => {
            let total = range.duration();
            let min = narrow(total, min_width);
            let mut rows: Vec<Row> = Vec::new();
            for track in chosen(profile, tracks).filter(|_| total > Nanos(0)) {
                let deepest = rows.iter().map(|row| row.depth).max();
                let base = deepest.map_or(0, |depth| depth.saturating_add(1));
                bands.push(base);
                rows.extend(TimeOrder::new(profile, base, range, min).track(track));
            }
            (total, rows)
        }
        Order::LeftHeavy => {
            let weights = Weights::new(profile, tracks, range);
            let total = weights.sampled();
            (
                total,
                left_heavy(profile, &weights, narrow(total, min_width)),
            )
        }
    };
    let mut layout = Layout {
        order,
        tracks: tracks.to_vec(),
        range,
        total,
        bands,
        ..Layout::empty(order, range)
    };
    layout.fill(rows);
    layout
}

/// Below how many ns a box is narrow.
fn narrow(total: Nanos, min_width: f64) -> u64 {
    (total.0 as f64 * min_width).ceil() as u64
}

impl Layout {
    /// No boxes.
    #[must_use]
    pub const fn empty(order: Order, range: Span) -> Self {
        Self {
            order,
            tracks: Vec::new(),
            range,
            total: Nanos(0),
            bands: Vec::new(),
            depth: Vec::new(),
            left: Vec::new(),
            width: Vec::new(),
            frame: Vec::new(),
            self_time: Vec::new(),
            total_time: Vec::new(),
            count: Vec::new(),
            merged: Vec::new(),
        }
    }

    fn fill(&mut self, mut rows: Vec<Row>) {
        rows.sort_by_key(|row| (row.depth, row.left));
        let scale = 1.0 / (self.total.0.max(1) as f64);
        for row in rows {
            self.depth.push(row.depth);
            self.left.push(row.left as f64 * scale);
            self.width
                .push(row.right.saturating_sub(row.left) as f64 * scale);
            self.frame.push(row.frame);
            self.self_time.push(Nanos(row.self_time));
            self.total_time.push(Nanos(row.total_time));
            self.count.push(row.count);
            self.merged.push(row.merged);
        }
    }

    /// How many boxes there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.depth.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.depth.is_empty()
    }

    /// The boxes of one depth.
    #[must_use]
    pub fn at_depth(&self, depth: u16) -> std::ops::Range<usize> {
        let start = self.depth.partition_point(|&other| other < depth);
        start..self.depth.partition_point(|&other| other <= depth)
    }

    /// The box at a depth and a place from 0 to 1, if there is one.
    #[must_use]
    pub fn box_at(&self, depth: u16, x: f64) -> Option<usize> {
        let boxes = self.at_depth(depth);
        let left = self.left.get(boxes.clone())?;
        let index = (boxes.start + left.partition_point(|&left| left <= x)).checked_sub(1)?;
        let inside = index >= boxes.start && x < self.left[index] + self.width[index];
        inside.then_some(index)
    }
}

/// A box whose right edge is not known yet.
#[derive(Clone, Copy, Debug)]
struct OpenBox {
    node: StackId,
    left: u64,
    /// Time and samples of the track before it.
    time_before: u64,
    count_before: u32,
    self_time: u64,
}

/// A box of narrow ones, which the next narrow one may join.
#[derive(Clone, Copy, Debug)]
struct Run {
    row: usize,
    /// The widest box in it.
    widest: u64,
}

/// Walks through a track. Every stretch of the range has a stack: a sample's,
/// or that of `IDLE`. Boxes of frames that the next stack shares stay open.
struct TimeOrder<'a> {
    profile: &'a Profile,
    base: u16,
    range: Span,
    /// Boxes below this many ns are narrow.
    min: u64,
    open: Vec<OpenBox>,
    /// By depth.
    runs: Vec<Option<Run>>,
    /// Up to where the track is laid out.
    at: Nanos,
    time: u64,
    count: u32,
    rows: Vec<Row>,
}

impl<'a> TimeOrder<'a> {
    const fn new(profile: &'a Profile, base: u16, range: Span, min: u64) -> Self {
        Self {
            profile,
            base,
            range,
            min,
            open: Vec::new(),
            runs: Vec::new(),
            at: range.start,
            time: 0,
            count: 0,
            rows: Vec::new(),
        }
    }

    /// Lays out a track. Whether a gap is a pause or jitter does not depend
    /// on the range: parts of a range always make up the whole.
    fn track(mut self, track: &Track) -> Vec<Row> {
        let (range, idle) = (self.range, self.profile.idle_stack);
        let jitter = self.profile.jitter(track);
        let samples = &track.samples;
        let mut previous_end = None;
        for index in samples.indices_around(range) {
            let Some((span, stack)) = samples.get(index) else {
                continue;
            };
            let before = previous_end.replace(span.end);
            let first = before.is_none() && index == 0;
            if span.end <= range.start {
                continue;
            }
            let pause = first || before.is_some_and(|before| span.start.since(before) > jitter);
            let start = span.start.clamp(range.start, range.end);
            if pause && self.at < start {
                self.stretch(idle, start, start.since(self.at), 0);
            }
            let end = span.end.min(range.end);
            let counts = u32::from(span.end <= range.end);
            self.stretch(stack, end, end.since(start), counts);
        }
        if self.at < range.end {
            self.stretch(idle, range.end, range.end.since(self.at), 0);
        }
        self.close_to(0);
        self.rows
    }

    /// The next stretch: `stack` up to `to`, with its weight.
    fn stretch(&mut self, stack: StackId, to: Nanos, weight: Nanos, count: u32) {
        if to <= self.at {
            return;
        }
        let stacks = &self.profile.stacks;
        let mut inner = Vec::new();
        let mut node = stack;
        while node != StackId::EMPTY {
            let depth = usize::from(stacks.depth(node));
            let shown = self.open.get(depth.wrapping_sub(1));
            if shown.is_some_and(|open| open.node == node) {
                break;
            }
            inner.push(node);
            node = stacks.parent(node);
        }
        self.close_to(usize::from(stacks.depth(node)));
        let left = self.at.since(self.range.start).0;
        for node in inner.into_iter().rev() {
            self.open.push(OpenBox {
                node,
                left,
                time_before: self.time,
                count_before: self.count,
                self_time: 0,
            });
        }
        self.time += weight.0;
        self.count += count;
        if let Some(innermost) = self.open.last_mut() {
            innermost.self_time += weight.0;
        }
        self.at = to;
    }

    /// Closes the innermost boxes, until so many are open.
    fn close_to(&mut self, depth: usize) {
        let right = self.at.since(self.range.start).0;
        while self.open.len() > depth {
            let Some(open) = self.open.pop() else { return };
            let Some(frame) = self.profile.stacks.frame(open.node) else {
                continue;
            };
            let depth = u16::try_from(self.open.len()).unwrap_or(u16::MAX);
            self.add(Row {
                depth: self.base.saturating_add(depth),
                left: open.left,
                right,
                frame,
                self_time: open.self_time,
                total_time: self.time - open.time_before,
                count: self.count - open.count_before,
                merged: 1,
            });
        }
    }

    /// Adds a box, or lets it join those at its left if all are narrow.
    fn add(&mut self, row: Row) {
        let depth = self.open.len();
        if depth >= self.runs.len() {
            self.runs.resize(depth + 1, None);
        }
        let width = row.right.saturating_sub(row.left);
        if width >= self.min {
            self.runs[depth] = None;
            self.rows.push(row);
            return;
        }
        if let Some(run) = &mut self.runs[depth]
            && let Some(joined) = self.rows.get_mut(run.row)
            && row.right - joined.left <= self.min
        {
            joined.right = row.right;
            joined.self_time += row.self_time;
            joined.total_time += row.total_time;
            joined.count += row.count;
            joined.merged += 1;
            if width > run.widest {
                run.widest = width;
                joined.frame = row.frame;
            }
            return;
        }
        self.runs[depth] = Some(Run {
            row: self.rows.len(),
            widest: width,
        });
        self.rows.push(row);
    }
}

/// Boxes of equal stacks, the heaviest left. Of the boxes on one other, the
/// narrow ones become one at the right, with nothing on it.
fn left_heavy(profile: &Profile, weights: &Weights, min: u64) -> Vec<Row> {
    let stacks = &profile.stacks;
    let time = |stack: StackId| weights.total[stack.index()].time;
    let weighs = |stack: &StackId| *stack != StackId::EMPTY && time(*stack) > 0;
    let mut nodes: Vec<StackId> = stacks.ids().filter(weighs).collect();
    // Parents have smaller numbers: whoever is met has its parent placed.
    nodes.sort_by_cached_key(|&stack| {
        let label = stacks.frame(stack).map(|frame| profile.label(frame));
        (stacks.parent(stack), Reverse(time(stack)), label)
    });
    // Where the next child of each stack goes; none if it is not shown.
    let mut next_left: Vec<Option<u64>> = vec![None; stacks.len()];
    if let Some(root) = next_left.first_mut() {
        *root = Some(0);
    }
    let mut rows: Vec<Row> = Vec::new();
    for siblings in nodes.chunk_by(|&a, &b| stacks.parent(a) == stacks.parent(b)) {
        let mut left = siblings
            .first()
            .and_then(|&first| next_left[stacks.parent(first).index()]);
        let mut narrow: Option<Row> = None;
        for &stack in siblings {
            let (Some(at), Some(frame)) = (left, stacks.frame(stack)) else {
                continue;
            };
            let (own, total) = (weights.own[stack.index()], weights.total[stack.index()]);
            left = Some(at + total.time);
            let is_narrow = total.time < min;
            let row = Row {
                depth: stacks.depth(stack).saturating_sub(1),
                left: at,
                right: at + total.time,
                frame,
                self_time: if is_narrow { total.time } else { own.time },
                total_time: total.time,
                count: total.count,
                merged: 1,
            };
            if !is_narrow {
                next_left[stack.index()] = Some(at);
                rows.push(row);
            } else if let Some(joined) = &mut narrow {
                joined.right = row.right;
                joined.self_time += row.self_time;
                joined.total_time += row.total_time;
                joined.count += row.count;
                joined.merged += 1;
            } else {
                narrow = Some(row);
            }
        }
        rows.extend(narrow);
    }
    rows
}
