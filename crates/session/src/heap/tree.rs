//! The cost centres of a heap profile by cost-centre stack, as a tree: what
//! each holds by itself and with what it calls.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::choice::HeapLog;
use crate::cells::{Cell, Separated, rows_text};
use analysis::flamegraph::sources;
use analysis::recording::Recording;
use eventlog::hash::SeededSet;
use model::profile::Profile;
use model::profile::frames::Frame;
use model::profile::heap::{self, HeapStacks, Places};
use model::profile::stacks::{StackId, Stacks};
use model::profile::weights::{Weight, totals};
use model::sorting::SortSmall;
use model::time::Interval;

/// What the tree can be sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TreeColumn {
    /// The name of the cost centre.
    Name,
    /// The mean with all that it calls.
    #[default]
    Total,
    /// The mean of it itself.
    Own,
    /// The last census, with all that it calls.
    LastTotal,
    /// The last census, itself.
    LastOwn,
}

/// Which rows of the tree are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeQuery {
    /// The number of the profile among those of the log.
    pub profile: u32,
    /// The part of the log; `None` for all.
    pub range: Option<Interval>,
    /// Only cost centres with this in their names and those around them, all
    /// open; all if it is empty.
    pub filter: String,
    /// What neighbours are sorted by.
    pub sort: TreeColumn,
    /// Whether the greatest comes first.
    pub descending: bool,
    /// What is open; `None` for the way to where most is.
    pub open: Option<Open>,
    /// The rows, by their number from the top.
    pub rows: Range<u64>,
}

/// Which nodes of the tree are open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Open {
    /// All.
    All,
    /// These, by their stacks.
    These(Vec<u32>),
}

/// Bytes of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeBytes {
    /// The mean over the censuses of the range, with all that it calls.
    pub total: f64,
    /// The mean of it itself.
    pub own: f64,
    /// In the last census of the range, with all that it calls.
    pub last_total: u64,
    /// In the last census, itself.
    pub last_own: u64,
}

/// A row of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeRow {
    /// By which questions know the node.
    pub stack: u32,
    /// The cost centre.
    pub frame: Frame,
    /// How deep it stands, from 1.
    pub level: u16,
    /// Whether it is open; `None` if nothing stands below it.
    pub open: Option<bool>,
    /// Its place among its neighbours, from 1, and how many these are.
    pub place: (u32, u32),
    /// The row of the one that it stands below.
    pub parent: Option<u64>,
    /// What it holds.
    pub bytes: NodeBytes,
}

/// Rows of the tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeAnswer {
    /// The number of the first row.
    pub first: u64,
    /// The rows that were asked for.
    pub rows: Vec<TreeRow>,
    /// How many rows there are.
    pub total: u64,
    /// What all of the profile holds.
    pub all: NodeBytes,
    /// How many censuses the range has.
    pub censuses: u32,
    /// Whether the censuses say when they were: otherwise all are in any range.
    pub timed: bool,
    /// The stacks of what is open.
    pub open: Vec<u32>,
}

/// The columns of the tree for other programs. Sizes are in bytes.
const NAMES: [&str; 7] = [
    "level",
    "cost_centre",
    "source",
    "mean_with_callees",
    "mean_itself",
    "last_with_callees",
    "last_itself",
];

impl TreeAnswer {
    /// The rows as a text, which [`rows_text`] makes: a long tree is asked for in parts.
    #[must_use]
    pub fn text(&self, how: Separated, is_first: bool) -> String {
        let cells = |row: &TreeRow| -> [Cell<'static>; NAMES.len()] {
            [
                u64::from(row.level).into(),
                row.frame.name().into(),
                row.frame.location.clone().into(),
                row.bytes.total.into(),
                row.bytes.own.into(),
                row.bytes.last_total.into(),
                row.bytes.last_own.into(),
            ]
        };
        rows_text(how, &NAMES, self.rows.iter().map(cells), is_first)
    }
}

impl TreeQuery {
    /// The rows; `None` if the profile is not by cost-centre stack, or the log is
    /// not read to its end yet.
    #[must_use]
    pub fn rows(&self, log: HeapLog<'_>) -> Option<TreeAnswer> {
        let profile = log.recording.profiles.get(sources::HEAP)?;
        let heap = profile.heap.as_ref()?;
        let part = part_of(log.recording, self.profile)?;
        let places = self
            .range
            .map_or_else(|| heap.all(), |range| heap.places(range));
        let places = only(places, part);
        let make = || Sums::new(profile, heap, &places);
        let sums = log.cache.tree((self.profile, places.clone()), make);
        let mut answer = Walk::new(&profile.stacks, profile, &sums, self).rows();
        answer.timed = heap.is_timed();
        Some(answer)
    }
}

/// Which of the profiles by stack the profile of a number is; the first profile
/// stands for one that there is not.
fn part_of(recording: &Recording, number: u32) -> Option<usize> {
    let number = number as usize;
    let number = recording.heap().get(number).map_or(0, |_| number);
    let profile = recording.heap().get(number)?;
    let before = recording.heap().iter().take(number);
    let before = before.filter(|profile| profile.has_stacks());
    profile.has_stacks().then(|| before.count())
}

/// The censuses of one profile alone.
fn only(mut places: Places, part: usize) -> Places {
    for (index, places) in places.iter_mut().enumerate() {
        if index != part {
            *places = 0..0;
        }
    }
    places
}

/// What the stacks hold in some censuses, by their numbers.
#[derive(Debug)]
pub(super) struct Sums {
    censuses: u32,
    own: Vec<Weight>,
    total: Vec<Weight>,
    last_own: Vec<Weight>,
    last_total: Vec<Weight>,
}

impl Sums {
    fn new(profile: &Profile, heap: &HeapStacks, places: &Places) -> Self {
        let weigh = |places: &Places| {
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

/// A walk through the open part of the tree, from the top.
struct Walk<'a> {
    stacks: &'a Stacks,
    profile: &'a Profile,
    sums: &'a Sums,
    query: &'a TreeQuery,
    /// What the filter lets through, by stack; all if there is none.
    passes: Option<Vec<bool>>,
    /// What is open; all if there is nothing.
    open: Option<SeededSet<u32>>,
}

impl<'a> Walk<'a> {
    fn new(stacks: &'a Stacks, profile: &'a Profile, sums: &'a Sums, query: &'a TreeQuery) -> Self {
        let filter = query.filter.trim().to_lowercase();
        let mut walk = Self {
            stacks,
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
            Some(Open::All) => None,
            Some(Open::These(these)) => Some(these.iter().copied().collect()),
            None => Some(walk.heaviest()),
        };
        walk
    }

    fn frame(&self, stack: StackId) -> Option<&'a Frame> {
        self.profile.frames.get(self.stacks.frame(stack)?)
    }

    /// Nodes with a text in their names, and those around them.
    fn passing(&self, filter: &str) -> Vec<bool> {
        let frames = self.profile.frames.iter();
        let found: Vec<bool> = frames
            .map(|(_, frame)| frame.name().to_lowercase().contains(filter))
            .collect();
        let has = |stack: StackId| {
            let frame = self.stacks.frame(stack);
            let found = frame.and_then(|frame| found.get(frame.0 as usize));
            found.copied().unwrap_or(false) && self.sums.holds(stack)
        };
        let mut passes: Vec<bool> = self.stacks.ids().map(has).collect();
        for stack in self.stacks.ids().rev() {
            if passes.get(stack.index()) == Some(&true)
                && let Some(parent) = passes.get_mut(self.stacks.parent(stack).index())
            {
                *parent = true;
            }
        }
        passes
    }

    /// The way to where most is: from the top to the heaviest below, as long as
    /// that has at least half of what it stands below.
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
            self.stacks
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

    /// What stands right below a node, in order.
    fn below(&self, stack: StackId) -> Vec<StackId> {
        let passes = |stack: &StackId| {
            let passes = self.passes.as_ref();
            passes.is_none_or(|passes| passes.get(stack.index()) == Some(&true))
        };
        let below = self.stacks.order().children(stack);
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

    /// The wanted rows, from a walk through what is open.
    fn rows(&self) -> TreeAnswer {
        let wanted = &self.query.rows;
        let mut answer = TreeAnswer {
            first: wanted.start,
            all: self.sums.bytes(StackId::EMPTY),
            censuses: self.sums.censuses,
            ..TreeAnswer::default()
        };
        // What is still to come, the next last: a node, its place, its parent's row.
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
                    level: self.stacks.depth(stack),
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
