//! Weight of each function, wherever it occurs.

use std::cmp::Reverse;

use super::cache::StepCache;
use super::query::{FlameRow, FlameTableQuery, NO_FRAME, View};
use eventlog::hash::SeededMap;
use model::profile::frames::{Frame, FrameKind, Frames};
use model::profile::stack_source::{CensusCounts, StackSource};
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::{Weight, totals};

impl FlameRow {
    /// Returns the row with means over the censuses in place of sums, rounded. Times are unchanged: they have no
    /// censuses.
    pub fn with_means(&self, censuses: CensusCounts) -> Self {
        let before = |(own, total)| (mean(own, censuses.before), mean(total, censuses.before));
        Self {
            own: mean(self.own, censuses.now),
            total: mean(self.total, censuses.now),
            before: self.before.map(before),
            ..self.clone()
        }
    }
}

/// Rounds the mean of a sum over censuses.
fn mean(sum: u64, censuses: u32) -> u64 {
    let count = u128::from(censuses.max(1));
    let rounded = (u128::from(sum) * 2 + count) / (count * 2);
    u64::try_from(rounded).unwrap_or(u64::MAX)
}

/// Returns own weight and total of every function with any weight, the largest own weight first, and the number of
/// censuses summed. Functions are identified by name, as in steps and views.
pub fn table(
    cache: &StepCache,
    stack_source: &dyn StackSource,
    query: &FlameTableQuery,
) -> (Vec<FlameRow>, CensusCounts) {
    let weighted = stack_source.weighted_stacks(&query.choice);
    let censuses = weighted.censuses;
    let transformed = cache.transformed(stack_source, &weighted, &query.steps, &View::LeftHeavy);
    let stacks = transformed.stacks(&weighted.stacks);
    let names = Names::new(transformed.frames(&weighted.frames));
    let own = transformed.weights(weighted.own);
    let own_before = weighted.before.map(|before| transformed.weights(before));
    let sums = sums(stacks, &names, &own);
    let before = own_before
        .as_ref()
        .map(|before| self::sums(stacks, &names, before));
    let no_frame = no_frame(&own, own_before.as_deref());
    let row = |(name, frame): (usize, Frame)| {
        let (own, total) = sums[name];
        let before = before.as_ref().map(|before| before[name]);
        FlameRow {
            frame,
            own: own.amount,
            total: total.amount,
            own_count: own.count,
            count: total.count,
            before: before.map(|(own, total)| (own.amount, total.amount)),
        }
    };
    let rows = names.frames.into_iter().enumerate().map(row);
    let weighs = |row: &FlameRow| {
        row.total > 0 || row.count > 0 || row.before.is_some_and(|(_, total)| total > 0)
    };
    let mut rows: Vec<FlameRow> = rows.chain(no_frame).filter(weighs).collect();
    rows.sort_by_cached_key(|row| (Reverse((row.own, row.total)), row.frame.name()));
    (rows, censuses)
}

/// Returns the row of what was merged into its callers and has none left: without it, the rows do not add up.
fn no_frame(own: &[Weight], before: Option<&[Weight]>) -> Option<FlameRow> {
    let of_root = |own: &[Weight]| own.get(StackId::EMPTY.index()).copied();
    let weight = of_root(own)?;
    Some(FlameRow {
        frame: Frame::with_kind(FrameKind::BuiltIn, NO_FRAME),
        own: weight.amount,
        total: weight.amount,
        own_count: weight.count,
        count: weight.count,
        before: before.map(|before| {
            let amount = of_root(before).unwrap_or_default().amount;
            (amount, amount)
        }),
    })
}

/// Frames grouped by name.
struct Names {
    /// Name index of each frame.
    of: Vec<usize>,
    /// Common properties of the frames with each name.
    frames: Vec<Frame>,
}

impl Names {
    fn new(frames: &Frames) -> Self {
        let mut known: SeededMap<String, usize> = SeededMap::default();
        let mut names = Self {
            of: Vec::with_capacity(frames.len()),
            frames: Vec::new(),
        };
        for (_, frame) in frames.iter() {
            let new = names.frames.len();
            let name = *known.entry(frame.name()).or_insert(new);
            match names.frames.get_mut(name) {
                Some(common) => keep_common(common, frame),
                None => names.frames.push(frame.clone()),
            }
            names.of.push(name);
        }
        names
    }
}

fn keep_common(common: &mut Frame, other: &Frame) {
    if common.location != other.location {
        common.location = None;
    }
    if common.package != other.package {
        common.package.clear();
    }
    if common.address != other.address {
        common.address = None;
    }
}

/// Returns own weight and total by name. A total counts only the outermost occurrence of a name.
fn sums(stacks: &Stacks, names: &Names, own: &[Weight]) -> Vec<(Weight, Weight)> {
    let total = totals(stacks, own);
    let order = stacks.order();
    let mut sums = vec![(Weight::default(), Weight::default()); names.frames.len()];
    // End position, in preorder, of the subtree of each name's outermost occurrence.
    let mut inside = vec![0_u32; names.frames.len()];
    for position in 1..order.end(0) {
        let stack = order.stack_at(position);
        let frame = stacks.frame(stack);
        let name = frame.and_then(|frame| names.of.get(frame.0 as usize));
        let Some(&name) = name else { continue };
        sums[name].0.add(own[stack.index()]);
        if position >= inside[name] {
            inside[name] = order.end(position);
            sums[name].1.add(total[stack.index()]);
        }
    }
    sums
}
