//! Facts about stacks for profile tracks, and links to the flame graph.

use super::details::{DetailField, FlameTarget, MAX_LISTED, more};
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;
use model::lane::partition;
use model::profile::frames::{FrameId, FrameKind};
use model::profile::samples::Samples;
use model::profile::source::Source;
use model::profile::stacks::StackId;
use model::profile::{Profile, TrackSource};
use model::sorting::CompactSort;
use model::time::Interval;
use scene::format;

/// Maximum number of listed functions of a stack.
const MAX_FRAMES: usize = 30;

/// Returns a function with its source location.
fn frame_text(profile: &Profile, frame: FrameId) -> String {
    let Some(frame) = profile.frames.get(frame) else {
        return "unknown".to_owned();
    };
    let kind = match frame.kind {
        FrameKind::ForeignCall => " (foreign call)",
        FrameKind::Foreign => " (foreign code)",
        _ => "",
    };
    let name = frame.display_name();
    match &frame.location {
        Some(location) => format!("{name}{kind} · {location}"),
        None => format!("{name}{kind}"),
    }
}

/// Adds the functions of a stack, innermost first, one fact each.
pub(super) fn stack_facts(
    profile: &Profile,
    stack: StackId,
    first: &str,
    facts: &mut Vec<DetailField>,
) {
    let frames = profile.stacks.innermost_first(stack).take(MAX_FRAMES);
    for (place, frame) in frames.enumerate() {
        let label = if place == 0 { first } else { "called from" };
        facts.push(DetailField::new(label, frame_text(profile, frame)));
    }
    let depth = usize::from(profile.stacks.depth(stack));
    facts.extend(more(depth.saturating_sub(MAX_FRAMES)));
}

/// Adds the functions with the largest weights, one fact each.
pub(super) fn heaviest(
    profile: &Profile,
    weights: SeededMap<FrameId, u64>,
    label: &str,
    text: impl Fn(u64) -> String,
    facts: &mut Vec<DetailField>,
) {
    let mut all: Vec<(FrameId, u64)> = weights.into_iter().collect();
    all.sort_small_by_key(|(frame, weight)| (std::cmp::Reverse(*weight), *frame));
    for (frame, weight) in all.iter().take(MAX_LISTED) {
        let name = frame_text(profile, *frame);
        facts.push(DetailField::new(
            label,
            format!("{name}: {}", text(*weight)),
        ));
    }
    if all.len() > MAX_LISTED {
        let more = match all.len() - MAX_LISTED {
            1 => "1 more function".to_owned(),
            more => format!("{} more functions", format::count(more as u64)),
        };
        facts.push(DetailField::new("and", more));
    }
}

/// Returns a fact that links to a box of the flame graph.
pub(super) fn flame(source: Source, track: TrackSource, at: Nanos) -> DetailField {
    let target = FlameTarget { source, track, at };
    DetailField::new("flame graph", "show it there").linked_to_flame(target)
}

/// Returns the samples that begin in a time range.
pub(super) fn beginning(samples: &Samples, span: Interval) -> std::ops::Range<usize> {
    let start = |index: usize| {
        samples
            .get(index)
            .map_or(Nanos(0), |(span, _)| span.start())
    };
    let from = partition(samples.len(), |index| start(index) < span.start());
    let to = partition(samples.len(), |index| start(index) < span.end());
    from..to.max(from)
}
