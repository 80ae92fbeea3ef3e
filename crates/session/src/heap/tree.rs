//! Tree of a heap profile by cost-centre stack: bytes of each cost centre, exclusive and inclusive.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::choice::HeapLog;
use crate::cells::{Column, Columns};
use analysis::flamegraph::sources;
use analysis::recording::Recording;
use eventlog::hash::SeededSet;
use model::profile::Profile;
use model::profile::frames::Frame;
use model::profile::heap::{self, CensusRanges, HeapStacks};
use model::profile::stacks::StackId;
use model::profile::weights::{Weight, totals};
use model::sorting::CompactSort;
use model::time::Interval;

/// Column by which siblings can be sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TreeColumn {
    /// Name of the cost centre.
    Name,
    /// Mean over the censuses, inclusive of callees.
    #[default]
    Total,
    /// Mean over the censuses, exclusive of callees.
    Own,
    /// Inclusive bytes in the last census.
    LastTotal,
    /// Exclusive bytes in the last census.
    LastOwn,
}

/// Query for rows of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeQuery {
    /// Index of the profile in the log.
    pub profile: u32,
    /// Range to evaluate; `None` is the whole log.
    pub range: Option<Interval>,
    /// Text that a cost centre's name must contain; ancestors of matches are shown too, all expanded. Empty for no
    /// filter.
    pub filter: String,
    /// Sort column among siblings.
    pub sort: TreeColumn,
    /// Whether the order is descending.
    pub descending: bool,
    /// Expanded nodes; `None` expands the heaviest path.
    pub open: Option<ExpandedNodes>,
    /// Range of row numbers to return.
    pub rows: Range<u64>,
}

/// Set of expanded nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExpandedNodes {
    /// Every node of the tree.
    All,
    /// Nodes by stack id.
    These(Vec<u32>),
}

/// Bytes of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeBytes {
    /// Mean over the censuses of the range, inclusive of callees.
    pub total: f64,
    /// Mean over the censuses of the range, exclusive of callees.
    pub own: f64,
    /// Bytes in the last census of the range, inclusive of callees.
    pub last_total: u64,
    /// Bytes in the last census of the range, exclusive of callees.
    pub last_own: u64,
}

/// Row of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeRow {
    /// Stack id, which identifies the node in queries.
    pub stack: u32,
    /// Innermost cost centre of the stack.
    pub frame: Frame,
    /// Depth in the tree, from 1.
    pub level: u16,
    /// Whether the node is expanded; `None` for a leaf.
    pub open: Option<bool>,
    /// Position among the siblings, from 1, and their number.
    pub place: (u32, u32),
    /// Row number of the parent.
    pub parent: Option<u64>,
    /// Bytes of the node.
    pub bytes: NodeBytes,
}

/// Requested rows of the tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeAnswer {
    /// Row number of the first returned row.
    pub first: u64,
    /// Requested rows, as far as they exist.
    pub rows: Vec<TreeRow>,
    /// Number of all visible rows.
    pub total: u64,
    /// Bytes of the whole profile.
    pub all: NodeBytes,
    /// Number of censuses in the range.
    pub censuses: u32,
    /// Whether the censuses have times; otherwise every range includes all of them.
    pub timed: bool,
    /// Stack ids of the expanded nodes.
    pub open: Vec<u32>,
}

/// Columns of the export. Sizes are in bytes.
pub(crate) const COLUMNS: Columns<TreeRow, 7> = Columns([
    Column::number("level", "Depth, from 1").value(|row| u32::from(row.level).into()),
    Column::text("cost_centre", "Cost centre").value(|row| row.frame.name().into()),
    Column::text("source", "Its place in the source")
        .value(|row| row.frame.location.as_deref().into()),
    Column::ratio("mean_with_callees", "Mean bytes").value(|row| row.bytes.total.into()),
    Column::ratio("mean_itself", "Mean without callees").value(|row| row.bytes.own.into()),
    Column::number("last_with_callees", "In the last census")
        .value(|row| row.bytes.last_total.into()),
    Column::number("last_itself", "The same without callees")
        .value(|row| row.bytes.last_own.into()),
]);

impl TreeQuery {
    /// Returns the requested rows; `None` if the profile is not by cost-centre stack, or until the log is fully
    /// read.
    pub fn rows(&self, log: HeapLog<'_>) -> Option<TreeAnswer> {
        let profile = log.recording.profiles.get(sources::HEAP)?;
        let heap = profile.heap.as_ref()?;
        let part = part_of(log.recording, self.profile)?;
        let places = self
            .range
            .map_or_else(|| heap.all_ranges(), |range| heap.ranges_in(range));
        let places = only(places, part);
        let make = || TreeSums::new(profile, heap, &places);
        let sums = log.cache.tree((self.profile, places.clone()), make);
        let mut answer = Walk::new(profile, &sums, self).rows();
        answer.timed = heap.is_timed();
        Some(answer)
    }
}

/// Returns the index of a profile among those by cost-centre stack. An unknown number selects the first profile.
fn part_of(recording: &Recording, number: u32) -> Option<usize> {
    let number = number as usize;
    let number = recording.heap().get(number).map_or(0, |_| number);
    let profile = recording.heap().get(number)?;
    let before = recording.heap().iter().take(number);
    let before = before.filter(|profile| profile.has_stacks());
    profile.has_stacks().then(|| before.count())
}

/// Clears the censuses of all other profiles.
fn only(mut places: CensusRanges, part: usize) -> CensusRanges {
    for (index, places) in places.iter_mut().enumerate() {
        if index != part {
            *places = 0..0;
        }
    }
    places
}

/// Sums of each stack over some censuses, indexed by stack id.
#[derive(Debug)]
pub(super) struct TreeSums {
    censuses: u32,
    own: Vec<Weight>,
    total: Vec<Weight>,
    last_own: Vec<Weight>,
    last_total: Vec<Weight>,
}

impl TreeSums {
    fn new(profile: &Profile, heap: &HeapStacks, places: &CensusRanges) -> Self {
        let weigh = |places: &CensusRanges| {
            let mut own = vec![Weight::default(); profile.stacks.len()];
            heap.weigh(places, &mut own);
            own
        };
        let last = |places: &Range<u32>| places.end.saturating_sub(1).max(places.start)..places.end;
        let own = weigh(places);
        let last_own = weigh(&places.iter().map(last).collect());
        Self {
            censuses: heap::count(places),
            total: totals(&profile.stacks, &own),
            last_total: totals(&profile.stacks, &last_own),
            own,
            last_own,
        }
    }

    fn bytes(&self, stack: StackId) -> NodeBytes {
        let of = |column: &[Weight]| column.get(stack.index()).map_or(0, |weight| weight.amount);
        let mean = |sum: u64| sum as f64 / f64::from(self.censuses.max(1));
        NodeBytes {
            total: mean(of(&self.total)),
            own: mean(of(&self.own)),
            last_total: of(&self.last_total),
            last_own: of(&self.last_own),
        }
    }

    fn holds(&self, stack: StackId) -> bool {
        let total = self.total.get(stack.index());
        total.is_some_and(|total| total.amount > 0)
    }
}

/// Traversal of the expanded part of the tree.
struct Walk<'a> {
    profile: &'a Profile,
    sums: &'a TreeSums,
    query: &'a TreeQuery,
    /// Whether each stack passes the filter; `None` without a filter.
    passes: Option<Vec<bool>>,
    /// Expanded stacks; `None` if all are.
    open: Option<SeededSet<u32>>,
}

impl<'a> Walk<'a> {
    fn new(profile: &'a Profile, sums: &'a TreeSums, query: &'a TreeQuery) -> Self {
        let filter = query.filter.trim().to_lowercase();
        let mut walk = Self {
            profile,
            sums,
            query,
            passes: None,
            open: None,
        };
        if !filter.is_empty() {
            walk.passes = Some(walk.passing(&filter));
            return walk;
        }
        walk.open = match &query.open {
            Some(ExpandedNodes::All) => None,
            Some(ExpandedNodes::These(these)) => Some(these.iter().copied().collect()),
            None => Some(walk.heaviest()),
        };
        walk
    }

    fn frame(&self, stack: StackId) -> Option<&'a Frame> {
        self.profile.frames.get(self.profile.stacks.frame(stack)?)
    }

    /// Returns which nodes match a text or have a matching descendant.
    fn passing(&self, filter: &str) -> Vec<bool> {
        let frames = self.profile.frames.iter();
        let found: Vec<bool> = frames
            .map(|(_, frame)| frame.name().to_lowercase().contains(filter))
            .collect();
        let has = |stack: StackId| {
            let frame = self.profile.stacks.frame(stack);
            let found = frame.and_then(|frame| found.get(frame.0 as usize));
            found.copied().unwrap_or(false) && self.sums.holds(stack)
        };
        let mut passes: Vec<bool> = self.profile.stacks.ids().map(has).collect();
        for stack in self.profile.stacks.ids().rev() {
            if passes.get(stack.index()) == Some(&true)
                && let Some(parent) = passes.get_mut(self.profile.stacks.parent(stack).index())
            {
                *parent = true;
            }
        }
        passes
    }

    /// Returns the heaviest path: from the root to the heaviest child, as long as it holds at least half of its
    /// parent's bytes.
    fn heaviest(&self) -> SeededSet<u32> {
        let total = |stack: StackId| {
            self.sums
                .total
                .get(stack.index())
                .map_or(0, |sum| sum.amount)
        };
        let mut open = SeededSet::default();
        let mut at = StackId::EMPTY;
        let heaviest = |at| {
            self.profile
                .stacks
                .order()
                .children(at)
                .max_by_key(|&below| total(below))
        };
        while let Some(below) = heaviest(at).filter(|&below| total(below) > 0) {
            if at != StackId::EMPTY && total(below) < total(at) / 2 {
                break;
            }
            open.insert(below.0);
            at = below;
        }
        open
    }

    /// Returns the children of a node that hold bytes and pass the filter, in order.
    fn below(&self, stack: StackId) -> Vec<StackId> {
        let passes = |stack: &StackId| {
            let passes = self.passes.as_ref();
            passes.is_none_or(|passes| passes.get(stack.index()) == Some(&true))
        };
        let below = self.profile.stacks.order().children(stack);
        let mut below: Vec<StackId> = below
            .filter(|&stack| self.sums.holds(stack))
            .filter(passes)
            .collect();
        below.sort_small_by(|&a, &b| self.compare(a, b));
        below
    }

    fn compare(&self, a: StackId, b: StackId) -> Ordering {
        let (one, other) = (self.sums.bytes(a), self.sums.bytes(b));
        let name = |stack| self.frame(stack).map(Frame::name);
        let order = match self.query.sort {
            TreeColumn::Name => name(a).cmp(&name(b)),
            TreeColumn::Total => one.total.total_cmp(&other.total),
            TreeColumn::Own => one.own.total_cmp(&other.own),
            TreeColumn::LastTotal => one.last_total.cmp(&other.last_total),
            TreeColumn::LastOwn => one.last_own.cmp(&other.last_own),
        };
        let order = match self.query.descending {
            true => order.reverse(),
            false => order,
        };
        order.then_with(|| name(a).cmp(&name(b))).then(a.cmp(&b))
    }

    fn is_open(&self, stack: StackId) -> bool {
        let open = self.open.as_ref();
        open.is_none_or(|open| open.contains(&stack.0))
    }

    /// Walks the expanded nodes and collects the requested rows.
    fn rows(&self) -> TreeAnswer {
        let wanted = &self.query.rows;
        let mut answer = TreeAnswer {
            first: wanted.start,
            all: self.sums.bytes(StackId::EMPTY),
            censuses: self.sums.censuses,
            ..TreeAnswer::default()
        };
        // Stack of pending nodes, each with its position among its siblings and its parent's row.
        let mut to_come: Vec<(StackId, (u32, u32), Option<u64>)> = Vec::new();
        let come = |to_come: &mut Vec<_>, stacks: Vec<StackId>, parent| {
            let many = u32::try_from(stacks.len()).unwrap_or(u32::MAX);
            let places = stacks.into_iter().enumerate().rev();
            to_come
                .extend(places.map(|(before, stack)| (stack, (before as u32 + 1, many), parent)));
        };
        come(&mut to_come, self.below(StackId::EMPTY), None);
        while let Some((stack, place, parent)) = to_come.pop() {
            let row = answer.total;
            answer.total += 1;
            let is_open = self.is_open(stack);
            let is_wanted = wanted.contains(&row);
            let below = match is_open || is_wanted {
                true => self.below(stack),
                false => Vec::new(),
            };
            if let Some(frame) = self.frame(stack).filter(|_| is_wanted) {
                answer.rows.push(TreeRow {
                    stack: stack.0,
                    frame: frame.clone(),
                    level: self.profile.stacks.depth(stack),
                    open: (!below.is_empty()).then_some(is_open),
                    place,
                    parent,
                    bytes: self.sums.bytes(stack),
                });
            }
            if is_open && !below.is_empty() {
                answer.open.push(stack.0);
                come(&mut to_come, below, Some(row));
            }
        }
        answer
    }
}
