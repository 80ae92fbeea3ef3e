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
    pub count: Vec<u64>,
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
    count: u64,
    merged: u32,
}

impl Row {
    /// Takes in a box at the right.
    const fn join(&mut self, right: &Self) {
        self.right = right.right;
        self.self_time = self.self_time.saturating_add(right.self_time);
        self.total_time = self.total_time.saturating_add(right.total_time);
        self.count = self.count.saturating_add(right.count);
        self.merged = self.merged.saturating_add(right.merged);
    }
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
    count_before: u64,
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
    count: u64,
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
            let counts = u64::from(span.end <= range.end);
            self.stretch(stack, end, end.since(start), counts);
        }
        if self.at < range.end {
            self.stretch(idle, range.end, range.end.since(self.at), 0);
        }
        self.close_to(0);
        self.rows
    }

    /// The next stretch: `stack` up to `to`, with its weight.
    fn stretch(&mut self, stack: StackId, to: Nanos, weight: Nanos, count: u64) {
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
        self.time = self.time.saturating_add(weight.0);
        self.count = self.count.saturating_add(count);
        if let Some(innermost) = self.open.last_mut() {
            innermost.self_time = innermost.self_time.saturating_add(weight.0);
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
            && row.right.saturating_sub(joined.left) <= self.min
        {
            joined.join(&row);
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
    let time = |stack: StackId| weights.total[stack.index()].amount;
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
            left = Some(at.saturating_add(total.amount));
            let is_narrow = total.amount < min;
            let row = Row {
                depth: stacks.depth(stack).saturating_sub(1),
                left: at,
                right: at.saturating_add(total.amount),
                frame,
                self_time: if is_narrow { total.amount } else { own.amount },
                total_time: total.amount,
                count: total.count,
                merged: 1,
            };
            if !is_narrow {
                next_left[stack.index()] = Some(at);
                rows.push(row);
            } else if let Some(joined) = &mut narrow {
                joined.join(&row);
            } else {
                narrow = Some(row);
            }
        }
        rows.extend(narrow);
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::super::frames::{Frame, Frames};
    use super::super::profile::{Samples, TrackSource};
    use super::super::stacks::Stacks;
    use super::super::weights::{frame_totals, search};
    use super::*;
    use crate::ids::{CapId, OsThreadId};

    const TICK: u64 = 10;

    fn span(start: u64, end: u64) -> Span {
        Span::new(Nanos(start), Nanos(end))
    }

    /// A profile of capability 0 and OS thread 7. Every letter of a stack is
    /// a frame, outermost first; `-` is `IDLE`.
    fn profile(cap: &[(u64, u64, &str)], thread: &[(u64, u64, &str)]) -> Profile {
        let (mut frames, mut stacks) = (Frames::default(), Stacks::default());
        let idle = frames.intern(Frame::built_in("IDLE", "IDLE"));
        let idle_stack = stacks.push(StackId::EMPTY, idle);
        let mut samples = |rows: &[(u64, u64, &str)]| {
            let mut samples = Samples::default();
            for &(start, end, letters) in rows {
                let frame = |c: char| match c {
                    '-' => idle,
                    c => frames.intern(Frame::cost_centre("M", c.to_string().as_str(), "M.hs:1:1")),
                };
                let stack: Vec<FrameId> = letters.chars().map(frame).collect();
                samples.push(span(start, end), stacks.intern(stack));
            }
            samples
        };
        let (cap, thread) = (samples(cap), samples(thread));
        let track = |source, samples| Track {
            source,
            samples,
            open: Vec::new(),
            sampled: matches!(source, TrackSource::Capability(_)),
        };
        let end = cap.end().max(thread.end());
        Profile {
            tracks: vec![
                track(TrackSource::Capability(CapId(0)), cap),
                track(TrackSource::OsThread(OsThreadId(7)), thread),
            ],
            frames,
            stacks,
            idle,
            idle_stack,
            tick_interval: Some(Nanos(TICK)),
            span: Span::new(Nanos(0), end),
            heap: None,
        }
    }

    fn small() -> Profile {
        let cap = [
            (0, 10, "ab"),
            (11, 20, "abc"), // a late tick
            (20, 30, "ad"),
            (30, 40, "-"),
            (70, 80, "ab"), // after a pause
            (80, 90, "e"),
            (90, 100, "abab"),
        ];
        profile(&cap, &[(5, 25, "af"), (30, 60, "ag")])
    }

    /// One line per box: edges in ns, frame, own and whole time, samples.
    fn shown(profile: &Profile, layout: &Layout) -> String {
        let mut text = format!("total {} ns, bands {:?}\n", layout.total.0, layout.bands);
        for index in 0..layout.len() {
            let total = layout.total.0 as f64;
            let left = layout.left[index] * total;
            let right = left + layout.width[index] * total;
            let (label, _) = profile.label(layout.frame[index]);
            let depth = usize::from(layout.depth[index]);
            let (own, all) = (layout.self_time[index].0, layout.total_time[index].0);
            let (count, merged) = (layout.count[index], layout.merged[index]);
            let _ = write!(
                text,
                "{depth}{:indent$}{label} {left:.0}..{right:.0} own {own} of {all}, {count} samples",
                "",
                indent = 1 + depth
            );
            let _ = writeln!(
                text,
                "{}",
                if merged > 1 {
                    format!(", {merged} boxes")
                } else {
                    String::new()
                }
            );
        }
        text
    }

    #[test]
    fn time_order() {
        let profile = small();
        let both = layout(&profile, &[0, 1], None, Order::Time, 0.0);
        insta::assert_snapshot!(shown(&profile, &both), @r"
        total 100 ns, bands [0, 4]
        0 a 0..30 own 0 of 29, 3 samples
        0 IDLE 30..70 own 40 of 40, 1 samples
        0 a 70..80 own 0 of 10, 1 samples
        0 e 80..90 own 10 of 10, 1 samples
        0 a 90..100 own 0 of 10, 1 samples
        1  b 0..20 own 10 of 19, 2 samples
        1  d 20..30 own 10 of 10, 1 samples
        1  b 70..80 own 10 of 10, 1 samples
        1  b 90..100 own 0 of 10, 1 samples
        2   c 10..20 own 9 of 9, 1 samples
        2   a 90..100 own 0 of 10, 1 samples
        3    b 90..100 own 10 of 10, 1 samples
        4     IDLE 0..5 own 5 of 5, 0 samples
        4     a 5..25 own 0 of 20, 1 samples
        4     IDLE 25..30 own 5 of 5, 0 samples
        4     a 30..60 own 0 of 30, 1 samples
        4     IDLE 60..100 own 40 of 40, 0 samples
        5      f 5..25 own 20 of 20, 1 samples
        5      g 30..60 own 30 of 30, 1 samples
        ");
    }

    #[test]
    fn left_heavy_order() {
        let profile = small();
        let both = layout(&profile, &[0, 1], None, Order::LeftHeavy, 0.0);
        insta::assert_snapshot!(shown(&profile, &both), @r"
        total 119 ns, bands []
        0 a 0..99 own 0 of 99, 7 samples
        0 IDLE 99..109 own 10 of 10, 1 samples
        0 e 109..119 own 10 of 10, 1 samples
        1  b 0..39 own 20 of 39, 4 samples
        1  g 39..69 own 30 of 30, 1 samples
        1  f 69..89 own 20 of 20, 1 samples
        1  d 89..99 own 10 of 10, 1 samples
        2   a 0..10 own 0 of 10, 1 samples
        2   c 10..19 own 9 of 9, 1 samples
        3    b 0..10 own 10 of 10, 1 samples
        ");
    }

    #[test]
    fn narrow_boxes_are_merged() {
        let profile = small();
        let time = layout(&profile, &[0], None, Order::Time, 0.3);
        insta::assert_snapshot!(shown(&profile, &time), @r"
        total 100 ns, bands [0]
        0 a 0..30 own 0 of 29, 3 samples
        0 IDLE 30..70 own 40 of 40, 1 samples
        0 a 70..100 own 10 of 30, 3 samples, 3 boxes
        1  b 0..30 own 20 of 29, 3 samples, 2 boxes
        1  b 70..100 own 10 of 20, 2 samples, 2 boxes
        2   c 10..20 own 9 of 9, 1 samples
        2   a 90..100 own 0 of 10, 1 samples
        3    b 90..100 own 10 of 10, 1 samples
        ");
        let heavy = layout(&profile, &[0], None, Order::LeftHeavy, 0.3);
        insta::assert_snapshot!(shown(&profile, &heavy), @r"
        total 69 ns, bands []
        0 a 0..49 own 0 of 49, 5 samples
        0 IDLE 49..69 own 20 of 20, 2 samples, 2 boxes
        1  b 0..39 own 20 of 39, 4 samples
        1  d 39..49 own 10 of 10, 1 samples
        2   a 0..19 own 19 of 19, 2 samples, 2 boxes
        ");
    }

    #[test]
    fn a_range_cuts_samples() {
        let profile = small();
        let part = layout(&profile, &[0], Some(span(15, 75)), Order::Time, 0.0);
        insta::assert_snapshot!(shown(&profile, &part), @r"
        total 60 ns, bands [0]
        0 a 0..15 own 0 of 15, 2 samples
        0 IDLE 15..55 own 40 of 40, 1 samples
        0 a 55..60 own 0 of 5, 0 samples
        1  b 0..5 own 0 of 5, 1 samples
        1  d 5..15 own 10 of 10, 1 samples
        1  b 55..60 own 5 of 5, 0 samples
        2   c 0..5 own 5 of 5, 1 samples
        ");
    }

    #[test]
    fn recursion_counts_once() {
        let profile = small();
        let totals = frame_totals(&profile, &[0], None);
        let rows: Vec<(&str, u64, u64, u64, u64)> = totals
            .iter()
            .map(|row| {
                let times = (row.self_time.0, row.total_time.0);
                (
                    profile.label(row.frame).0,
                    times.0,
                    times.1,
                    row.self_samples,
                    row.samples,
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("b", 30, 39, 3, 4),
                ("IDLE", 10, 10, 1, 1),
                ("d", 10, 10, 1, 1),
                ("e", 10, 10, 1, 1),
                ("c", 9, 9, 1, 1),
                ("a", 0, 49, 0, 5),
            ]
        );
    }

    #[test]
    fn a_search_finds_boxes_and_their_share() {
        let profile = small();
        let layout = layout(&profile, &[0], None, Order::LeftHeavy, 0.0);
        let found = search(&layout, &profile, "m.B");
        assert_eq!(found.boxes.iter().filter(|&&found| found).count(), 2);
        assert!((found.share - 39.0 / 69.0).abs() < 1e-12, "{}", found.share);
        let nothing = search(&layout, &profile, "");
        assert_eq!((nothing.share, nothing.boxes.contains(&true)), (0.0, false));
    }

    #[test]
    fn boxes_are_found_by_place() {
        let profile = small();
        let layout = layout(&profile, &[0], None, Order::Time, 0.0);
        let at = |depth, x| {
            layout
                .box_at(depth, x)
                .map(|index| profile.label(layout.frame[index]).0)
        };
        assert_eq!(at(0, 0.05), Some("a"));
        assert_eq!(at(0, 0.5), Some("IDLE"));
        assert_eq!(at(1, 0.25), Some("d"));
        assert_eq!(at(1, 0.5), None);
        assert_eq!((at(0, 1.0), at(0, -0.1), at(9, 0.5)), (None, None, None));
    }

    #[test]
    fn stacks_may_be_deep() {
        let letters = "ab".repeat(20_000);
        let profile = profile(&[(0, 10, &letters), (10, 20, "a")], &[]);
        for order in [Order::Time, Order::LeftHeavy] {
            assert_eq!(layout(&profile, &[0], None, order, 0.0).len(), 40_000);
        }
    }

    #[test]
    fn no_tracks_and_no_time_are_no_trouble() {
        let profile = small();
        for order in [Order::Time, Order::LeftHeavy] {
            assert!(layout(&profile, &[], None, order, 0.0).is_empty());
            assert!(layout(&profile, &[9], None, order, 0.0).is_empty());
            assert!(layout(&profile, &[0], Some(span(5, 5)), order, 0.0).is_empty());
            assert!(layout(&profile, &[0], Some(span(9, 5)), order, 0.0).is_empty());
        }
    }

    /// Own time and samples of a layout, per frame.
    fn sums(profile: &Profile, layout: &Layout, into: &mut [(u64, u64)]) {
        let inner = (0..layout.len()).map(|i| (layout.frame[i], layout.self_time[i].0));
        for (frame, own) in inner {
            into[frame.0 as usize].0 += own;
        }
        for row in frame_totals(profile, &layout.tracks, Some(layout.range)) {
            into[row.frame.0 as usize].1 += u64::from(row.self_samples);
        }
    }

    prop_compose! {
        fn any_samples()(
            rows in prop::collection::vec((0_u64..40, 1_u64..=TICK, "[abc]{1,4}|-"), 0..40)
        ) -> Vec<(u64, u64, String)> {
            let mut at = 0;
            rows.into_iter().map(|(gap, length, stack)| {
                let start = at + gap;
                at = start + length;
                (start, at, stack)
            }).collect()
        }
    }

    fn borrowed(rows: &[(u64, u64, String)]) -> Vec<(u64, u64, &str)> {
        rows.iter()
            .map(|(start, end, stack)| (*start, *end, stack.as_str()))
            .collect()
    }

    proptest! {
        #[test]
        fn the_parts_of_a_range_sum_to_the_whole(
            cap in any_samples(),
            thread in any_samples(),
            mut cuts in prop::collection::vec(0_u64..900, 0..6),
        ) {
            let profile = profile(&borrowed(&cap), &borrowed(&thread));
            let end = profile.span.end.0;
            cuts.extend([0, end]);
            cuts.retain(|&cut| cut <= end);
            cuts.sort_unstable();
            for order in [Order::Time, Order::LeftHeavy] {
                let none = vec![(0, 0); profile.frames.len()];
                let (mut whole, mut parts) = (none.clone(), none);
                let all = layout(&profile, &[0, 1], None, order, 0.0);
                sums(&profile, &all, &mut whole);
                let mut total = 0;
                for cut in cuts.windows(2) {
                    let range = Some(span(cut[0], cut[1]));
                    let part = layout(&profile, &[0, 1], range, order, 0.0);
                    total += part.total.0;
                    sums(&profile, &part, &mut parts);
                }
                prop_assert_eq!(total, all.total.0);
                prop_assert_eq!(&parts, &whole);
            }
        }

        #[test]
        fn merging_keeps_the_sum_and_bounds_the_number(
            cap in any_samples(),
            min_width in 0.0_f64..0.5,
        ) {
            let profile = profile(&borrowed(&cap), &[]);
            for order in [Order::Time, Order::LeftHeavy] {
                let own = |layout: &Layout| layout.self_time.iter().map(|time| time.0).sum::<u64>();
                let all = layout(&profile, &[0], None, order, 0.0);
                let some = layout(&profile, &[0], None, order, min_width);
                prop_assert_eq!(own(&all), own(&some));
                prop_assert!(some.len() <= all.len());
                for depth in 0..5 {
                    let boxes = some.at_depth(depth).len() as f64;
                    prop_assert!(boxes <= 3.0 / min_width.max(0.001) + 2.0);
                }
            }
        }

        #[test]
        fn boxes_stand_in_their_parents(cap in any_samples()) {
            let profile = profile(&borrowed(&cap), &[]);
            for order in [Order::Time, Order::LeftHeavy] {
                let all = layout(&profile, &[0], None, order, 0.0);
                let edges = |i: usize| (all.left[i], all.left[i] + all.width[i]);
                for i in 0..all.len() {
                    let (left, right) = edges(i);
                    if i > 0 && all.depth[i - 1] == all.depth[i] {
                        prop_assert!(edges(i - 1).1 <= left + 1e-9);
                    }
                    if let Some(depth) = all.depth[i].checked_sub(1) {
                        let parent = all.box_at(depth, left + all.width[i] / 2.0);
                        let around = parent.map(edges);
                        prop_assert!(around.is_some_and(|(l, r)| l <= left + 1e-9 && right <= r + 1e-9));
                    }
                }
                if order == Order::Time && !all.is_empty() {
                    let width: f64 = all.at_depth(0).map(|i| all.width[i]).sum();
                    prop_assert!((width - 1.0).abs() < 1e-9);
                }
            }
        }
    }
}
