//! Finding the boxes of a stack on the timeline.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::ControlFlow;

use super::cache::StepCache;
use super::layout::TimeTrack;
use super::query::{FlameOccurrence, FlameOccurrenceQuery, Occurrence, View};
use eventlog::ids::{Duration, Nanos};
use model::profile::frames::{Frame, Frames};
use model::profile::heap::{BoxRelation, HeapStacks};
use model::profile::stack_source::StackSource;
use model::profile::stacks::{StackId, Stacks};
use model::time::Interval;

/// Finds an occurrence of a stack, including its inner frames, clipped to the selected range.
///
/// Consecutive samples of a track without a pause between them are one occurrence. In a heap profile, the result
/// is the census in which the box has the most bytes.
pub fn find_occurrence(
    cache: &StepCache,
    stack_source: &dyn StackSource,
    query: &FlameOccurrenceQuery,
) -> Option<FlameOccurrence> {
    let (profile, tracks) = stack_source.tracks_in_time_order(&query.choice);
    let transformed = cache.transformed_in_time(&profile, &query.steps, &query.view);
    let is_of_log = profile.is_of_log();
    let profile = &*profile;
    let there = (
        transformed.frames(&profile.frames),
        transformed.stacks(&profile.stacks),
    );
    let stack = stack_in_time_order(cache, stack_source, query, is_of_log, there)?;
    let wanted = with_inner(there.1, stack)?;
    if let Some(heap) = &profile.heap {
        let stacks = u32::try_from(profile.stacks.len()).unwrap_or(u32::MAX);
        let span = most(heap, query, (stacks, |old| transformed.stack(old)), &wanted)?;
        return Some(FlameOccurrence { span, track: None });
    }
    let range = query.choice.range.unwrap_or(profile.span);
    let found = tracks.into_iter().filter_map(|index| {
        let track = transformed.track(profile, index)?;
        let span = match query.which {
            Occurrence::From(from) => first(&track, range, from, &wanted),
            Occurrence::Longest => longest(&track, range, &wanted),
        };
        let source = profile.tracks.get(index).map(|track| track.source);
        Some(FlameOccurrence {
            span: span?,
            track: source,
        })
    });
    match query.which {
        Occurrence::From(_) => found.min_by_key(|place| place.span.start()),
        Occurrence::Longest => found.min_by_key(|place| longest_first(place.span)),
    }
}

/// Maps the stack of a box to the stacks in time order. If a source creates stacks for each query, the stacks by
/// weight have other ids, and the stack with the same frames is found.
fn stack_in_time_order(
    cache: &StepCache,
    stack_source: &dyn StackSource,
    query: &FlameOccurrenceQuery,
    is_of_log: bool,
    (frames, stacks): (&Frames, &Stacks),
) -> Option<StackId> {
    let stack = StackId(query.stack);
    if is_of_log || query.view == View::Time {
        return Some(stack);
    }
    let weighted = stack_source.weighted_stacks(&query.choice);
    if matches!(weighted.stacks, Cow::Borrowed(_)) {
        return Some(stack);
    }
    let transformed = cache.transformed(stack_source, &weighted, &query.steps, &query.view);
    let of_box = path(
        transformed.frames(&weighted.frames),
        transformed.stacks(&weighted.stacks),
        stack,
    );
    let depth = u16::try_from(of_box.len())
        .ok()
        .filter(|depth| *depth > 0)?;
    let mut alike = stacks.ids().filter(|id| stacks.depth(*id) == depth);
    alike.find(|id| path(frames, stacks, *id) == of_box)
}

/// Returns the frames of a stack, outermost first.
fn path<'a>(frames: &'a Frames, stacks: &Stacks, stack: StackId) -> Vec<&'a Frame> {
    let ids = stacks.outermost_first(stack).into_iter();
    ids.filter_map(|id| frames.get(id)).collect()
}

/// Sort key that puts the longest first, and among equals the earliest.
const fn longest_first(span: Interval) -> (Reverse<Duration>, Nanos) {
    (Reverse(span.duration()), span.start())
}

/// Returns the time of the census in which a box has the most bytes, if that is not before the requested time.
fn most(
    heap: &HeapStacks,
    query: &FlameOccurrenceQuery,
    (stacks, new): (u32, impl Fn(StackId) -> Option<StackId>),
    wanted: &[bool],
) -> Option<Interval> {
    let (places, _) = heap.selected_ranges(&query.choice);
    let is_wanted = |old| new(old).and_then(|stack| wanted.get(stack.index()).copied());
    let part = |old| match is_wanted(old) {
        Some(true) => BoxRelation::Inside,
        _ => BoxRelation::Outside,
    };
    let parts: Vec<BoxRelation> = (0..stacks).map(StackId).map(part).collect();
    let censuses = heap.box_bytes(&places, &parts).into_iter();
    let most = censuses.rev().max_by_key(|census| census.total)?;
    let is_late = match query.which {
        Occurrence::From(from) => most.time >= from,
        Occurrence::Longest => true,
    };
    let there = heap.is_timed() && most.total > 0 && is_late;
    there.then(|| Interval::empty_at(most.time))
}

/// Returns which stacks have this one as a prefix; `None` for the empty stack.
fn with_inner(stacks: &Stacks, stack: StackId) -> Option<Vec<bool>> {
    stacks.frame(stack)?;
    let order = stacks.order();
    let is = |inner| order.contains(stack, inner);
    Some(stacks.ids().map(is).collect())
}

/// Returns the first occurrence on a track that begins at or after a time.
fn first(track: &TimeTrack<'_>, range: Interval, from: Nanos, wanted: &[bool]) -> Option<Interval> {
    let found = for_each_run(track, range, from, wanted, ControlFlow::Break);
    found.break_value()
}

/// Returns the longest occurrence on a track.
fn longest(track: &TimeTrack<'_>, range: Interval, wanted: &[bool]) -> Option<Interval> {
    let mut longest: Option<Interval> = None;
    let _ = for_each_run(track, range, range.start(), wanted, |span| {
        let known = longest.into_iter().chain([span]);
        longest = known.min_by_key(|span| longest_first(*span));
        ControlFlow::<()>::Continue(())
    });
    longest
}

/// Visits the occurrences on a track that begin at or after a time, in order.
pub(super) fn for_each_run<T>(
    track: &TimeTrack<'_>,
    range: Interval,
    from: Nanos,
    wanted: &[bool],
    mut visit: impl FnMut(Interval) -> ControlFlow<T>,
) -> ControlFlow<T> {
    let is_wanted = |stack: Option<StackId>| {
        let wanted = stack.and_then(|stack| wanted.get(stack.index()));
        wanted.copied().unwrap_or(false)
    };
    let mut visit = |found: Option<Interval>| found.map_or(ControlFlow::Continue(()), &mut visit);
    let places = track.samples.overlapping(range);
    let late = Interval::new(range.start().max(from), range.end());
    // Includes the previous sample: an occurrence that contains it begins before `from`.
    let skipped = track.samples.overlapping(late).start.saturating_sub(1);
    let first = skipped.max(places.start);
    let mut going = OpenRun {
        at: range.start(),
        begun: None,
        from,
    };
    if first > places.start {
        going.at = track.end_before(first);
    }
    for index in first..places.end {
        let Some((span, stack)) = track.samples.get(index) else {
            continue;
        };
        if track.pauses_before(index) {
            let start = span.start().min(range.end());
            visit(going.step(start, is_wanted(track.idle())))?;
        }
        let end = span.end().min(range.end());
        visit(going.step(end, is_wanted(track.visible_stack(stack))))?;
    }
    visit(going.step(range.end(), is_wanted(track.stack_after(places.end))))?;
    visit(going.finish())
}

/// Occurrence in progress during a walk along a track.
struct OpenRun {
    /// End of the visited part of the track.
    at: Nanos,
    begun: Option<Nanos>,
    from: Nanos,
}

impl OpenRun {
    /// Extends the walk up to `to`. Returns the occurrence that ended, if it began at or after `from`.
    fn step(&mut self, to: Nanos, wanted: bool) -> Option<Interval> {
        if to <= self.at {
            return None;
        }
        let found = if wanted {
            self.begun.get_or_insert(self.at);
            None
        } else {
            self.finish()
        };
        self.at = to;
        found
    }

    /// Ends the occurrence in progress.
    fn finish(&mut self) -> Option<Interval> {
        let begun = self.begun.take()?;
        (begun >= self.from).then(|| Interval::new(begun, self.at))
    }
}
