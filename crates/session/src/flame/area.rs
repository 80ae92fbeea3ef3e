//! Bytes of a box in the heap flame graph, by census.

use serde::{Deserialize, Serialize};

use super::cache::StepCache;
use super::query::View;
use super::transform::Transform;
use model::profile::Profile;
use model::profile::heap::{self, BoxBytes, BoxRelation};
use model::profile::source::Source;
use model::profile::stack_source::{FlameSelection, StackSource};
use model::profile::stacks::StackId;
use model::time::Interval;

/// Query for the bytes of a box over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameAreaQuery {
    /// Source of the stacks.
    pub source: Source,
    /// Transformations of the stacks, in order.
    pub steps: Vec<Transform>,
    /// View that contains the box.
    pub view: View,
    /// Stack of the box; `None` for the whole view.
    pub stack: Option<u32>,
    /// Time range; `None` is the whole log.
    pub span: Option<Interval>,
    /// Whether to include one census on each side of the range, for lines that leave it.
    pub around: bool,
    /// Maximum number of points. If there are more censuses, neighbors are grouped and the one with the most bytes
    /// represents the group.
    pub most: u32,
}

/// Bytes of a box over time, as columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameArea {
    /// Times of the censuses in nanoseconds.
    pub time: Vec<f64>,
    /// Bytes, inclusive of inner frames.
    pub total: Vec<f64>,
    /// Bytes of the box alone.
    pub own: Vec<f64>,
    /// Number of censuses in the range.
    pub censuses: u32,
    /// Whether the censuses have times; otherwise `time` has their indexes.
    pub timed: bool,
}

/// Returns the bytes of a box over time; empty for a profile without censuses.
pub fn area(cache: &StepCache, profile: &Profile, query: &FlameAreaQuery) -> FlameArea {
    let Some(heap) = &profile.heap else {
        return FlameArea::default();
    };
    let places = query
        .span
        .map_or_else(|| heap.all_ranges(), |span| heap.ranges_in(span));
    let censuses = heap::count(&places);
    let places = match query.around {
        true => heap.with_neighbors(places),
        false => places,
    };
    let all = heap.box_bytes(&places, &parts(cache, profile, query));
    let group = all.len().div_ceil(query.most.max(1) as usize).max(1);
    let mut area = FlameArea {
        censuses,
        timed: heap.is_timed(),
        ..FlameArea::default()
    };
    let highest = |group: &[BoxBytes]| group.iter().copied().max_by_key(|at| at.total);
    for at in all.chunks(group).filter_map(highest) {
        area.time.push(at.time.0 as f64);
        area.total.push(at.total as f64);
        area.own.push(at.own as f64);
    }
    area
}

/// Returns the relation of each stack of the profile to the box.
fn parts(cache: &StepCache, profile: &Profile, query: &FlameAreaQuery) -> Vec<BoxRelation> {
    // Only the stacks matter, so an empty range avoids weighing them.
    let choice = FlameSelection {
        source: query.source,
        range: Some(Interval::default()),
        ..FlameSelection::default()
    };
    let weighted = profile.weighted_stacks(&choice);
    let transformed = cache.transformed(profile, &weighted, &query.steps, &query.view);
    let stacks = transformed.stacks(&profile.stacks);
    let wanted = query.stack.map_or(StackId::EMPTY, StackId);
    if query.stack.is_some() && stacks.frame(wanted).is_none() {
        return Vec::new();
    }
    let order = stacks.order();
    let part = |old: StackId| match transformed.stack(old) {
        Some(new) if new == wanted => BoxRelation::Own,
        Some(new) if order.contains(wanted, new) => BoxRelation::Inside,
        _ => BoxRelation::Outside,
    };
    profile.stacks.ids().map(part).collect()
}
