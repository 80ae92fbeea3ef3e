//! Exact left edges of the boxes that are open at the start of a track's visible part.

use super::forest::{Forest, TimeTrack};
use super::time::OpenBox;
use eventlog::ids::{Duration, Nanos};
use model::profile::stacks::StackId;
use model::time::Interval;

/// Walk to the left. Blocks of samples entirely inside the innermost box are skipped, so the cost depends on the
/// number of boxes rather than samples.
pub(super) struct Surround<'a> {
    track: &'a TimeTrack<'a>,
    /// Innermost box whose left edge is still unknown.
    inside: StackId,
    amount: u64,
    count: u64,
    own: u64,
    /// Boxes with known left edges, innermost first; with the weight to the right of those edges.
    found: Vec<OpenBox>,
}

/// Open boxes at a position, and the weight to the left of it.
pub(super) struct Context {
    /// Open boxes, outermost first.
    pub(super) open: Vec<OpenBox>,
    pub(super) amount: u64,
    pub(super) count: u64,
}

impl<'a> Surround<'a> {
    /// Returns the boxes around sample `first`, or around the pause before it, back to the left edge of `range`.
    pub(super) fn left_of(
        track: &'a TimeTrack<'a>,
        forest: &Forest,
        range: Interval,
        first: usize,
    ) -> Context {
        let begin = track.samples.overlapping(range).start;
        let mut walk = Self {
            track,
            inside: track.stack_after(first).unwrap_or(StackId::EMPTY),
            amount: 0,
            count: 0,
            own: 0,
            found: Vec::new(),
        };
        let mut index = first;
        let mut edge = track.end_before(first);
        while index > begin && walk.inside != StackId::EMPTY {
            let order = track.stacks.order();
            let inside = walk.inside;
            let fits = |node: &super::forest::Node| order.contains(inside, node.common);
            if let Some((start, node)) = forest.largest_block_before(index, begin + 1, fits) {
                walk.own += if node.common == inside { node.own } else { 0 };
                walk.amount = walk.amount.saturating_add(node.amount);
                walk.count += node.count;
                index = start;
            } else {
                index -= 1;
                if let Some(sample) = track.samples.clipped(index, range) {
                    let weight = (sample.span.duration(), u64::from(sample.counts));
                    walk.step(track.visible_stack(sample.stack), edge, weight);
                }
            }
            let before = match index {
                index if index > begin => track.end_before(index),
                _ => range.start(),
            };
            let start = track.start(index).max(range.start());
            if start > before && track.pauses_before(index) {
                walk.step(track.idle(), start, (start.since(before), 0));
            }
            edge = before;
        }
        walk.close_to(StackId::EMPTY, edge);
        walk.context()
    }

    /// Visits a sample or pause to the left, which ends at `edge`.
    fn step(&mut self, stack: Option<StackId>, edge: Nanos, (amount, count): (Duration, u64)) {
        let here = stack.unwrap_or(StackId::EMPTY);
        self.close_to(self.track.stacks.common(self.inside, here), edge);
        if stack.is_some() {
            self.amount = self.amount.saturating_add(amount.0);
            self.count += count;
            self.own += if here == self.inside { amount.0 } else { 0 };
        }
    }

    fn close_to(&mut self, outer: StackId, edge: Nanos) {
        while self.inside != outer {
            self.found.push(OpenBox {
                stack: self.inside,
                left: edge,
                amount_before: self.amount,
                count_before: self.count,
                own: std::mem::take(&mut self.own),
                merged: 1,
            });
            self.inside = self.track.stacks.parent(self.inside);
        }
    }

    fn context(mut self) -> Context {
        self.found.reverse();
        for open in &mut self.found {
            open.amount_before = self.amount - open.amount_before;
            open.count_before = self.count - open.count_before;
        }
        Context {
            open: self.found,
            amount: self.amount,
            count: self.count,
        }
    }
}
