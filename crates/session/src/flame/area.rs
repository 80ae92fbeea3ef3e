//! How many bytes a box of the heap's flame graph has, census by census.

use serde::{Deserialize, Serialize};

use super::cache::StepCache;
use super::query::View;
use super::step::Step;
use model::profile::Profile;
use model::profile::heap::{self, OverTime, Part};
use model::profile::origin::{Choice, Origin};
use model::profile::source::Source;
use model::profile::stacks::StackId;
use model::time::Interval;

/// Of which box, and when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameAreaQuery {
    /// Where the stacks come from.
    pub source: Source,
    /// What was done to the stacks, one step after the other.
    pub steps: Vec<Step>,
    /// The view that the box is in.
    pub view: View,
    /// The stack of the box; `None` for all that is in the view.
    pub stack: Option<u32>,
    /// The part of the log that is wanted; `None` for all.
    pub span: Option<Interval>,
    /// Whether one census before and one behind that part are wanted as well,
    /// for lines that lead there.
    pub around: bool,
    /// The most censuses that are wanted. If there are more, neighbours are
    /// taken together, and the one with the most bytes stands for them.
    pub most: u32,
}

/// The bytes of a box, in columns, by time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameArea {
    /// When each census was, in nanoseconds.
    pub time: Vec<f64>,
    /// Bytes, with all that stands on the box.
    pub total: Vec<f64>,
    /// Bytes of the box itself.
    pub own: Vec<f64>,
    /// How many censuses the part of the log has.
    pub censuses: u32,
    /// Whether censuses say when they were; otherwise their numbers, from 0,
    /// stand in place of times.
    pub timed: bool,
}

/// The bytes of a box over time; nothing for what has no censuses.
#[must_use]
pub fn area(cache: &StepCache, profile: &Profile, query: &FlameAreaQuery) -> FlameArea {
    let Some(heap) = &profile.heap else {
        return FlameArea::default();
    };
    let places = query
        .span
        .map_or_else(|| heap.all(), |span| heap.places(span));
    let censuses = heap::count(&places);
    let places = match query.around {
        true => heap.and_around(places),
        false => places,
    };
    let all = heap.over_time(&places, &parts(cache, profile, query));
    let group = all.len().div_ceil(query.most.max(1) as usize).max(1);
    let mut area = FlameArea {
        censuses,
        timed: heap.is_timed(),
        ..FlameArea::default()
    };
    let highest = |group: &[OverTime]| group.iter().copied().max_by_key(|at| at.total);
    for at in all.chunks(group).filter_map(highest) {
        area.time.push(at.time.0 as f64);
        area.total.push(at.total as f64);
        area.own.push(at.own as f64);
    }
    area
}

/// How each stack of a profile belongs to the box.
fn parts(cache: &StepCache, profile: &Profile, query: &FlameAreaQuery) -> Vec<Part> {
    // The stacks matter, not what they weigh.
    let choice = Choice {
        source: query.source,
        range: Some(Interval::default()),
        ..Choice::default()
    };
    let weighed = profile.weighed(&choice);
    let staged = cache.staged(profile, &weighed, &query.steps, &query.view);
    let stacks = staged.stacks(&profile.stacks);
    let wanted = query.stack.map_or(StackId::EMPTY, StackId);
    if query.stack.is_some() && stacks.frame(wanted).is_none() {
        return Vec::new();
    }
    let order = stacks.order();
    let part = |old: StackId| match staged.stack(old) {
        Some(new) if new == wanted => Part::Own,
        Some(new) if order.contains(wanted, new) => Part::Inside,
        _ => Part::Outside,
    };
    profile.stacks.ids().map(part).collect()
}
