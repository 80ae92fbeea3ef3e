//! Time-order layout: boxes along the time axis, one track below another.
//!
//! A box at least as wide as a pixel is exact, except that its edges and weight are off by less than a pixel where
//! it begins or ends among samples denser than pixels. Narrower boxes are merged: a merged box has the correct sum
//! but shows only one of its stacks. A level therefore has at most two boxes per pixel, regardless of the number
//! of samples. With very many levels, several pixels count as one.

pub(crate) use super::forest::TimeTrack;
use super::forest::{Forest, Node};
use super::surround::Surround;
use super::{BoxLevels, LayoutBox, View};
use eventlog::ids::{Duration, Nanos};
use model::profile::stacks::StackId;
use model::time::Interval;

/// Lays out tracks in a range, and returns the boxes with the first level of each track. The parts outside the
/// view are skipped, but boxes that extend there keep their true edges. The unit of the view and the boxes is
/// nanoseconds.
pub(crate) fn time_order<'a>(
    tracks: impl Iterator<Item = (TimeTrack<'a>, &'a Forest)>,
    range: Interval,
    view: View,
) -> (BoxLevels, Vec<u16>) {
    let (mut levels, mut bands) = (BoxLevels::default(), Vec::new());
    let mut base = 0_u16;
    if range.is_empty() {
        return (levels, bands);
    }
    let height = |(track, forest): &(TimeTrack<'a>, &Forest)| {
        let depth = forest.depth(track, track.samples.overlapping(range));
        let idle = track.idle().map_or(0, |idle| track.stacks.depth(idle));
        depth.max(idle).max(1)
    };
    let tracks: Vec<_> = tracks.map(|pair| (height(&pair), pair)).collect();
    let all = tracks.iter().map(|(height, _)| usize::from(*height)).sum();
    let view = view.coarser(all);
    for (height, (track, forest)) in tracks {
        bands.push(base);
        let mut walk = Walk {
            track: &track,
            forest,
            base: usize::from(base),
            range,
            view,
            open: Vec::new(),
            runs: Vec::new(),
            at: range.start(),
            amount: 0,
            count: 0,
            closing: false,
            levels: &mut levels,
        };
        if view.sees_some(usize::from(base), usize::from(height)) {
            walk.walk();
        }
        base = base.saturating_add(height);
    }
    levels.reach(base);
    (levels, bands)
}

/// Box whose right edge is still unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBox {
    pub(super) stack: StackId,
    pub(super) left: Nanos,
    /// Weight of the track to the left of the box.
    pub(super) amount_before: u64,
    pub(super) count_before: u64,
    pub(super) own: u64,
    pub(super) merged: u32,
}

/// Walk along a track. Every part of the range has a stack: that of a sample or that of a pause. Boxes of frames
/// that the next stack shares stay open.
struct Walk<'a> {
    track: &'a TimeTrack<'a>,
    forest: &'a Forest,
    base: usize,
    range: Interval,
    view: View,
    open: Vec<OpenBox>,
    /// By depth: width of the widest box merged into the latest narrow box, which the next narrow one may join.
    runs: Vec<Option<f64>>,
    /// End of the part that is laid out.
    at: Nanos,
    amount: u64,
    count: u64,
    /// Whether the walk is past the view, and only searches for the right edges of open boxes.
    closing: bool,
    levels: &'a mut BoxLevels,
}

impl Walk<'_> {
    /// Converts a time to the unit of the view.
    fn place(&self, at: Nanos) -> f64 {
        at.since(self.range.start()).0 as f64
    }

    fn time(&self, place: f64) -> Nanos {
        Nanos(self.range.start().0.saturating_add(place.max(0.0) as u64))
    }

    fn walk(&mut self) {
        let samples = self.track.samples;
        let places = samples.overlapping(self.range);
        let seen_from = self.time(self.view.left).max(self.range.start());
        let seen = samples.overlapping(Interval::new(seen_from, self.range.end()));
        let mut index = seen.start.max(places.start);
        if index > places.start {
            let context = Surround::left_of(self.track, self.forest, self.range, index);
            self.open = context.open;
            (self.amount, self.count) = (context.amount, context.count);
            self.at = self.track.end_before(index);
        }
        // The first and the last sample may be clipped.
        let whole = places.start + 1..places.end.saturating_sub(1);
        let view_end = self.time(self.view.right);
        while index < places.end {
            self.closing = self.at > view_end;
            if self.closing && self.open.is_empty() {
                return;
            }
            self.pause(index);
            let block = if whole.contains(&index) {
                self.forest
                    .largest_block_from(index, whole.end, |node, places| {
                        self.takes(node, self.track.span(&places))
                    })
            } else {
                None
            };
            index = match block {
                Some((end, node)) => {
                    let samples = u32::try_from(end - index).unwrap_or(u32::MAX);
                    self.block(node, self.track.end_before(end), samples);
                    end
                }
                None => {
                    self.sample(index);
                    index + 1
                }
            };
        }
        self.closing = self.at > view_end;
        if self.at < self.range.end() {
            let rest = match self.track.pauses_after(places.end) {
                true => self.range.end().since(self.at),
                false => Duration::ZERO,
            };
            let stack = self.track.stack_after(places.end);
            self.stretch(stack, self.range.end(), rest, 0);
        }
        self.close_to(0);
    }

    /// Returns whether a block of samples can be laid out as a unit.
    fn takes(&self, node: &Node, span: Interval) -> bool {
        if !self.closing {
            return span.duration().0 as f64 <= self.view.min_width;
        }
        let inside = |open: &OpenBox| self.track.stacks.order().contains(open.stack, node.common);
        self.open.last().is_none_or(inside)
    }

    /// Adds the pause before a sample, if there is one.
    fn pause(&mut self, index: usize) {
        let start = self.track.start(index).min(self.range.end());
        if self.at < start && self.track.pauses_before(index) {
            self.stretch(self.track.idle(), start, start.since(self.at), 0);
        }
    }

    fn sample(&mut self, index: usize) {
        if let Some(sample) = self.track.samples.clipped(index, self.range) {
            let (span, count) = (sample.span, u64::from(sample.counts));
            let stack = self.track.visible_stack(sample.stack);
            self.stretch(stack, span.end(), span.duration(), count);
        }
    }

    /// Extends the walk to `to` with a stack and its weight.
    fn stretch(&mut self, stack: Option<StackId>, to: Nanos, amount: Duration, count: u64) {
        if to <= self.at {
            return;
        }
        let here = stack.unwrap_or(StackId::EMPTY);
        self.reach(here, 1);
        if stack.is_some() {
            self.weigh(here, amount.0, amount.0, count);
        }
        self.at = to;
    }

    /// Adds a block of samples: their common prefix is exact, and one of their stacks represents the rest.
    fn block(&mut self, node: &Node, to: Nanos, samples: u32) {
        self.reach(node.common, 1);
        if self.closing {
            self.weigh(node.common, node.own, node.amount, node.count);
            self.at = to;
            return;
        }
        if node.longest == node.common {
            self.weigh(node.common, node.own, node.amount, node.count);
        } else {
            self.weigh(node.common, node.own, node.own, 0);
            self.reach(node.longest, samples.max(2));
            let rest = node.amount.saturating_sub(node.own);
            self.weigh(node.longest, rest, rest, node.count);
        }
        self.at = to;
        self.close_to(usize::from(self.track.stacks.depth(node.common)));
    }

    /// Adds a weight, of which `own` belongs to `stack` itself.
    fn weigh(&mut self, stack: StackId, own: u64, amount: u64, count: u64) {
        self.amount = self.amount.saturating_add(amount);
        self.count = self.count.saturating_add(count);
        if let Some(innermost) = self.open.last_mut()
            && innermost.stack == stack
        {
            innermost.own = innermost.own.saturating_add(own);
        }
    }

    /// Closes the boxes that do not contain `stack`, and opens those that are missing.
    fn reach(&mut self, stack: StackId, merged: u32) {
        let stacks = self.track.stacks;
        while let Some(innermost) = self.open.last()
            && !stacks.order().contains(innermost.stack, stack)
        {
            self.close_to(self.open.len() - 1);
        }
        if self.closing {
            return;
        }
        let first = self.open.len();
        let mut inner = stack;
        while usize::from(stacks.depth(inner)) > first {
            self.open.push(OpenBox {
                stack: inner,
                left: self.at,
                amount_before: self.amount,
                count_before: self.count,
                own: 0,
                merged,
            });
            inner = stacks.parent(inner);
        }
        self.open[first..].reverse();
    }

    /// Closes the innermost boxes until `depth` are open.
    fn close_to(&mut self, depth: usize) {
        let right = self.place(self.at);
        while self.open.len() > depth {
            let Some(open) = self.open.pop() else { return };
            self.add(LayoutBox {
                left: self.place(open.left),
                right,
                stack: open.stack,
                own: open.own,
                total: self.amount.saturating_sub(open.amount_before),
                count: self.count.saturating_sub(open.count_before),
                before: 0,
                merged: open.merged,
            });
        }
    }

    /// Adds a box, or merges it with its left neighbors if all are narrow.
    fn add(&mut self, row: LayoutBox) {
        let depth = self.open.len();
        if depth >= self.runs.len() {
            self.runs.resize(depth + 1, None);
        }
        if !self.view.shows(&row) || !self.view.sees(self.base + depth) {
            return;
        }
        let (width, min) = (row.width(), self.view.min_width);
        if width >= min {
            self.runs[depth] = None;
            self.levels.push(self.base + depth, row);
            return;
        }
        if let Some(widest) = &mut self.runs[depth]
            && let Some(joined) = self.levels.last_mut(self.base + depth)
            && row.right - joined.left <= min
        {
            joined.join(&row);
            if width > *widest {
                *widest = width;
                joined.stack = row.stack;
            }
            return;
        }
        self.runs[depth] = Some(width);
        self.levels.push(self.base + depth, row);
    }
}
