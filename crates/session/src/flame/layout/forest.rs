//! Summaries of blocks of samples, so that a part of a track narrower than a pixel is not walked sample by sample.

use std::ops::Range;

use eventlog::ids::{Duration, Nanos};
use model::profile::samples::Samples;
use model::profile::stacks::{StackId, Stacks};
use model::time::Interval;

/// Samples per block of the lowest level.
const LEAF: usize = 32;
/// Blocks per block of the next level.
const FANOUT: usize = 4;

/// Samples of a track, with transformed stacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeTrack<'a> {
    pub(crate) samples: &'a Samples,
    pub(crate) stacks: &'a Stacks,
    /// New id of each stack; `None` if nothing was transformed.
    pub(crate) map: Option<&'a [Option<StackId>]>,
    /// Stack shown in pauses, before transformation.
    pub(crate) idle: StackId,
    /// Gaps longer than this are pauses.
    pub(crate) jitter: Duration,
}

impl TimeTrack<'_> {
    /// Returns the stack shown in place of an original one, if it was kept.
    pub(crate) fn visible_stack(&self, stack: StackId) -> Option<StackId> {
        match self.map {
            None => Some(stack),
            Some(map) => map.get(stack.index()).copied().flatten(),
        }
    }

    /// Returns the stack shown in pauses.
    pub(crate) fn idle(&self) -> Option<StackId> {
        self.visible_stack(self.idle)
    }

    /// Returns whether there is a pause before a sample; there always is one before the first. The result does not
    /// depend on the visible range, so parts of a range always add up to the whole.
    pub(crate) fn pauses_before(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|i| self.samples.get(i));
        let here = self.samples.get(index);
        match (before, here) {
            (Some((before, _)), Some((here, _))) => here.start().since(before.end()) > self.jitter,
            (None, Some(_)) => true,
            _ => false,
        }
    }

    /// Returns the stack shown just before sample `index`: that of the sample, or of the pause before it.
    pub(crate) fn stack_after(&self, index: usize) -> Option<StackId> {
        match self.samples.get(index) {
            Some((_, stack)) if !self.pauses_before(index) => self.visible_stack(stack),
            _ => self.idle(),
        }
    }

    /// Returns whether there is a pause just before sample `index`.
    pub(super) fn pauses_after(&self, index: usize) -> bool {
        index >= self.samples.len() || self.pauses_before(index)
    }

    pub(super) fn start(&self, index: usize) -> Nanos {
        let sample = self.samples.get(index);
        sample.map_or(Nanos(0), |(span, _)| span.start())
    }

    /// Returns the end of the sample before this one.
    pub(crate) fn end_before(&self, index: usize) -> Nanos {
        let before = index.checked_sub(1).and_then(|i| self.samples.get(i));
        before.map_or(Nanos(0), |(span, _)| span.end())
    }

    /// Returns the time range from the first to the last of some samples.
    pub(super) fn span(&self, places: &Range<usize>) -> Interval {
        Interval::new(self.start(places.start), self.end_before(places.end))
    }
}

/// Summary of the samples in a block and of the pauses between them. Removed stacks count as the empty stack
/// without weight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// Longest common prefix of all stacks.
    pub(super) common: StackId,
    /// Stack with the longest uninterrupted run, other than the common prefix; the common prefix if there is no
    /// other.
    pub(super) longest: StackId,
    /// Duration of that run in nanoseconds.
    lasts: u64,
    /// Maximum depth of the stacks.
    depth: u16,
    /// Total weight of the shown samples and pauses.
    pub(super) amount: u64,
    /// Weight of samples whose stack is the common prefix itself.
    pub(super) own: u64,
    /// Number of samples that count, without pauses.
    pub(super) count: u64,
}

impl Node {
    /// Returns the summary of one stack.
    fn leaf(stacks: &Stacks, stack: Option<StackId>, amount: u64, count: u64) -> Self {
        let (amount, count) = stack.map_or((0, 0), |_| (amount, count));
        let stack = stack.unwrap_or(StackId::EMPTY);
        Self {
            common: stack,
            longest: stack,
            lasts: amount,
            depth: stacks.depth(stack),
            amount,
            own: amount,
            count,
        }
    }

    /// Combines at least one summary.
    fn merge(stacks: &Stacks, parts: &[Self]) -> Self {
        let order = stacks.order();
        let places = || parts.iter().map(|part| order.position(part.common));
        let (first, last) = (places().min().unwrap_or(0), places().max().unwrap_or(0));
        // In preorder, all stacks lie between these two, so their prefix is common to all.
        let common = stacks.common(order.stack_at(first), order.stack_at(last));
        let mut node = Self {
            common,
            longest: common,
            ..Self::default()
        };
        let mut going_on = Self::default();
        for part in parts {
            node.depth = node.depth.max(part.depth);
            node.amount = node.amount.saturating_add(part.amount);
            node.count = node.count.saturating_add(part.count);
            if part.common == common {
                node.own = node.own.saturating_add(part.own);
            }
            let same = part.longest == going_on.longest;
            let before = if same { going_on.lasts } else { 0 };
            going_on = Self {
                lasts: part.lasts.saturating_add(before),
                ..*part
            };
            if going_on.longest != common && going_on.lasts > node.lasts {
                (node.longest, node.lasts) = (going_on.longest, going_on.lasts);
            }
        }
        if node.longest == common {
            node.lasts = node.own;
        }
        node
    }
}

/// Hierarchy of block summaries; it takes about 3 bytes per sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forest {
    levels: Vec<Vec<Node>>,
    samples: usize,
}

impl Forest {
    pub(crate) fn new(track: &TimeTrack<'_>) -> Self {
        let samples = track.samples.len();
        let mut forest = Self {
            levels: Vec::new(),
            samples,
        };
        let mut parts = Vec::with_capacity(2 * LEAF);
        let leaf = |place: usize| {
            parts.clear();
            for index in place * LEAF..((place + 1) * LEAF).min(samples) {
                if !parts.is_empty() {
                    parts.extend(pause(track, index));
                }
                if let Some((span, stack)) = track.samples.get(index) {
                    let (stack, amount) = (track.visible_stack(stack), span.duration().0);
                    if amount > 0 || parts.is_empty() {
                        let counts = amount > 0 && track.samples.counts(index);
                        parts.push(Node::leaf(track.stacks, stack, amount, u64::from(counts)));
                    }
                }
            }
            Node::merge(track.stacks, &parts)
        };
        forest
            .levels
            .push((0..samples.div_ceil(LEAF)).map(leaf).collect());
        let mut size = LEAF;
        while let Some(below) = forest.levels.last()
            && below.len() > 1
        {
            let mut parts = Vec::with_capacity(2 * FANOUT);
            let node = |(place, nodes): (usize, &[Node])| {
                parts.clear();
                for (part, node) in nodes.iter().enumerate() {
                    if part > 0 {
                        parts.extend(pause(track, (place * FANOUT + part) * size));
                    }
                    parts.push(*node);
                }
                Node::merge(track.stacks, &parts)
            };
            let above = below.chunks(FANOUT).enumerate().map(node).collect();
            forest.levels.push(above);
            size *= FANOUT;
        }
        forest
    }

    /// Returns the number of samples per block on a level.
    fn size(level: usize) -> usize {
        (0..level).fold(LEAF, |size, _| size.saturating_mul(FANOUT))
    }

    /// Returns the largest block that begins at sample `first`, ends at or before `limit`, and satisfies `fits`;
    /// with its end.
    pub(super) fn largest_block_from(
        &self,
        first: usize,
        limit: usize,
        mut fits: impl FnMut(&Node, Range<usize>) -> bool,
    ) -> Option<(usize, &Node)> {
        let begins = |level: &usize| first.is_multiple_of(Self::size(*level));
        let aligned = (0..self.levels.len()).take_while(begins).count();
        (0..aligned).rev().find_map(|level| {
            let size = Self::size(level);
            let end = first.saturating_add(size).min(self.samples);
            let node = self.levels[level].get(first / size)?;
            (end <= limit && fits(node, first..end)).then_some((end, node))
        })
    }

    /// Returns the largest block that ends before sample `end`, begins at or after `limit`, and satisfies `fits`;
    /// with its start.
    pub(super) fn largest_block_before(
        &self,
        end: usize,
        limit: usize,
        mut fits: impl FnMut(&Node) -> bool,
    ) -> Option<(usize, &Node)> {
        let last = end.checked_sub(1)?;
        (0..self.levels.len()).rev().find_map(|level| {
            let size = Self::size(level);
            let first = last / size * size;
            let node = self.levels[level].get(last / size)?;
            let ends = first.saturating_add(size).min(self.samples) == end;
            (ends && first >= limit && fits(node)).then_some((first, node))
        })
    }

    /// Returns the maximum depth of some samples.
    pub(super) fn depth(&self, track: &TimeTrack<'_>, places: Range<usize>) -> u16 {
        let (mut deepest, mut at) = (0, places.start);
        while at < places.end {
            let depth = match self.largest_block_from(at, places.end, |_, _| true) {
                Some((end, node)) => {
                    at = end;
                    node.depth
                }
                None => {
                    let stack = track
                        .samples
                        .get(at)
                        .and_then(|(_, stack)| track.visible_stack(stack));
                    at += 1;
                    stack.map_or(0, |stack| track.stacks.depth(stack))
                }
            };
            deepest = deepest.max(depth);
        }
        deepest
    }
}

/// Returns the summary of the pause before a sample, if there is one.
fn pause(track: &TimeTrack<'_>, index: usize) -> Option<Node> {
    let gap = track.start(index).since(track.end_before(index));
    let pauses = gap > Duration::ZERO && track.pauses_before(index);
    pauses.then(|| Node::leaf(track.stacks, track.idle(), gap.0, 0))
}
