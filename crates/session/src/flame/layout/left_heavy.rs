//! Left-heavy layout: equal stacks are merged, the heaviest at the left.

use std::cmp::Ordering;

use super::{BoxLevels, LayoutBox, View};
use model::profile::frames::Frames;
use model::profile::stack_source::CensusCounts;
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::Measure;
use model::profile::weights::{Weight, totals};
use model::saturating::saturating_u32;

/// Weighted stacks with their frames.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    frames: &'a Frames,
    stacks: &'a Stacks,
    measure: Measure,
    own: Vec<Weight>,
    total: Vec<Weight>,
    /// Totals of the baseline.
    before: Option<Vec<Weight>>,
    /// Width per unit of the current and of the baseline weights, if the whole graph has width 1.
    scale: (f64, f64),
}

impl<'a> Tree<'a> {
    /// Creates a tree from own weights.
    ///
    /// In a comparison, each selection makes up half of the width, unless it is empty. With absolute weights, a
    /// nanosecond (or a byte of the mean over censuses) has the same width in both, so uniform growth stays
    /// visible.
    pub(crate) fn new(
        (frames, stacks): (&'a Frames, &'a Stacks),
        own: Vec<Weight>,
        before: Option<&[Weight]>,
        measure: Measure,
        (censuses, absolute): (CensusCounts, bool),
    ) -> Self {
        let total = totals(stacks, &own);
        let before = before.map(|own| totals(stacks, own));
        let whole = |totals: &[Weight]| totals.first().map_or(0, |weight| weight.value(measure));
        let (after, earlier) = (whole(&total), before.as_deref().map_or(0, whole));
        let scale = if before.is_some() && absolute {
            by_mean((after, censuses.now), (earlier, censuses.before))
        } else {
            (half(after, earlier), half(earlier, after))
        };
        Self {
            frames,
            stacks,
            measure,
            own,
            total,
            before,
            scale,
        }
    }

    /// Returns the total weight.
    pub(crate) fn whole(&self) -> u64 {
        self.total_of(StackId::EMPTY).value(self.measure)
    }

    /// Returns the total weight of the baseline.
    pub(crate) fn whole_before(&self) -> Option<u64> {
        self.before
            .is_some()
            .then(|| self.before_of(StackId::EMPTY))
    }

    fn total_of(&self, stack: StackId) -> Weight {
        self.total.get(stack.index()).copied().unwrap_or_default()
    }

    fn before_of(&self, stack: StackId) -> u64 {
        let before = self.before.as_ref().and_then(|all| all.get(stack.index()));
        before.map_or(0, |weight| weight.value(self.measure))
    }

    fn width(&self, stack: StackId) -> f64 {
        let after = self.total_of(stack).value(self.measure) as f64;
        after * self.scale.0 + self.before_of(stack) as f64 * self.scale.1
    }

    fn row(&self, stack: StackId, left: f64, width: f64) -> LayoutBox {
        let total = self.total_of(stack);
        LayoutBox {
            left,
            right: left + width,
            stack,
            own: { self.own.get(stack.index()) }.map_or(0, |own| own.value(self.measure)),
            total: total.value(self.measure),
            count: total.count,
            before: self.before_of(stack),
            merged: 1,
        }
    }

    /// Orders the wider box first, then by name.
    fn order(&self, a: (f64, StackId), b: (f64, StackId)) -> Ordering {
        let label = |stack| {
            let frame = self.frames.get(self.stacks.frame(stack)?)?;
            Some((&frame.label, &frame.module))
        };
        let by_width = b.0.total_cmp(&a.0);
        by_width
            .then_with(|| label(a.1).cmp(&label(b.1)))
            .then(a.1.cmp(&b.1))
    }
}

/// Returns the width per unit if `whole` makes up half, or everything if `other` is empty.
fn half(whole: u64, other: u64) -> f64 {
    match (whole, other) {
        (0, _) => 0.0,
        (whole, 0) => 1.0 / whole as f64,
        (whole, _) => 0.5 / whole as f64,
    }
}

/// Returns the widths per unit if the means of both sums together make up the whole width.
fn by_mean(now: (u64, u32), before: (u64, u32)) -> (f64, f64) {
    let samples = |count: u32| f64::from(count.max(1));
    let mean = |(whole, count): (u64, u32)| whole as f64 / samples(count);
    let all = mean(now) + mean(before);
    if all <= 0.0 {
        return (0.0, 0.0);
    }
    (1.0 / samples(now.1) / all, 1.0 / samples(before.1) / all)
}

/// Lays out the visible boxes in a graph of width 1. Only the children of wide visible boxes are visited; narrow
/// siblings are merged into one box at the right, without children. All values are exact.
pub(crate) fn left_heavy(tree: &Tree<'_>, view: View) -> BoxLevels {
    let mut levels = BoxLevels::default();
    let mut below = vec![(StackId::EMPTY, 0.0)];
    for level in 0.. {
        let mut shown = Vec::new();
        for (parent, left) in below {
            let on_it = on_one(tree, parent, left, view.min_width);
            let wide = on_it.wide.into_iter().map(|row| (row, true));
            let narrow = on_it.narrow.map(|row| (row, false));
            for (row, is_wide) in wide.chain(narrow) {
                if view.shows(&row) {
                    if is_wide {
                        shown.push((row.stack, row.left));
                    }
                    if view.sees(level) {
                        levels.push(level, row);
                    } else {
                        levels.reach(u16::try_from(level + 1).unwrap_or(u16::MAX));
                    }
                }
            }
        }
        if shown.is_empty() {
            break;
        }
        below = shown;
    }
    levels
}

/// Calls `visit` with the level, left edge and width of each wanted box, however narrow. Only ancestors of wanted
/// boxes are visited.
pub(crate) fn each_leading(
    tree: &Tree<'_>,
    wanted: &[bool],
    mut visit: impl FnMut(usize, f64, f64),
) {
    let is = |flags: &[bool], stack: StackId| flags.get(stack.index()).copied().unwrap_or(false);
    let mut leads = wanted.to_vec();
    // Parents have smaller ids than their children.
    for index in (1..leads.len()).rev() {
        let stack = StackId(saturating_u32(index));
        let parent = tree.stacks.parent(stack).index();
        if is(&leads, stack)
            && let Some(parent) = leads.get_mut(parent)
        {
            *parent = true;
        }
    }
    let mut below = vec![(StackId::EMPTY, 0.0)];
    let mut level = 0;
    while !below.is_empty() {
        let mut next = Vec::new();
        for (parent, left) in below {
            let rows = on_one(tree, parent, left, 0.0).wide.into_iter();
            for row in rows.filter(|row| is(&leads, row.stack)) {
                if is(wanted, row.stack) {
                    visit(level, row.left, row.width());
                }
                next.push((row.stack, row.left));
            }
        }
        (below, level) = (next, level + 1);
    }
}

/// Children of one box.
struct OnOne {
    wide: Vec<LayoutBox>,
    /// All narrow children, merged.
    narrow: Option<LayoutBox>,
}

/// Lays out the children of a box that begins at `left`.
fn on_one(tree: &Tree<'_>, parent: StackId, mut left: f64, min_width: f64) -> OnOne {
    let mut wide: Vec<(f64, StackId)> = Vec::new();
    let mut narrow: Option<((f64, StackId), LayoutBox)> = None;
    for stack in tree.stacks.order().children(parent) {
        let width = tree.width(stack);
        if width <= 0.0 {
            continue;
        }
        if width >= min_width {
            wide.push((width, stack));
            continue;
        }
        let mut row = tree.row(stack, 0.0, width);
        row.own = row.total;
        match &mut narrow {
            None => narrow = Some(((width, stack), row)),
            Some((widest, joined)) => {
                let right = joined.right + width;
                joined.join(&LayoutBox { right, ..row });
                if tree.order((width, stack), *widest).is_lt() {
                    *widest = (width, stack);
                    joined.stack = stack;
                }
            }
        }
    }
    wide.sort_unstable_by(|&a, &b| tree.order(a, b));
    let mut rows = Vec::with_capacity(wide.len());
    for (width, stack) in wide {
        rows.push(tree.row(stack, left, width));
        left += width;
    }
    let at_the_right = |(_, row): (_, LayoutBox)| LayoutBox {
        left,
        right: left + row.right,
        ..row
    };
    OnOne {
        wide: rows,
        narrow: narrow.map(at_the_right),
    }
}
