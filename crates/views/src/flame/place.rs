//! Where on the timeline the boxes of a stack are.

use std::borrow::Cow;

use super::cache::StepCache;
use super::layout::TimeTrack;
use super::query::FlamePlaceQuery;
use eventlog::ids::Nanos;
use model::profile::heap::{HeapStacks, Part};
use model::profile::origin::Origin;
use model::profile::stacks::{StackId, Stacks};
use model::time::Interval;

/// The first occurrence of a stack, with all that stands on it, that begins at
/// or after a time, cut to the range that was chosen. Samples that follow each
/// other on a track without a pause are one occurrence. Of what was alive, the
/// moment at which there was most of it.
#[must_use]
pub fn place(cache: &StepCache, origin: &dyn Origin, query: &FlamePlaceQuery) -> Option<Interval> {
    let (profile, tracks) = origin.in_time(&query.choice);
    let lasts = matches!(profile, Cow::Borrowed(_));
    let staged = cache.staged_in_time(origin, (&profile, lasts), &query.steps, &query.view);
    let profile = profile.as_ref();
    let wanted = with_inner(staged.stacks(&profile.stacks), StackId(query.stack))?;
    if let Some(heap) = &profile.heap {
        let stacks = u32::try_from(profile.stacks.len()).unwrap_or(u32::MAX);
        return most(heap, query, (stacks, |old| staged.stack(old)), &wanted);
    }
    let range = query.choice.range.unwrap_or(profile.span);
    let first = |index: usize| first(&staged.track(profile, index)?, range, query.from, &wanted);
    let found = tracks.into_iter().filter_map(first);
    found.min_by_key(|span| span.start())
}

/// Of what was alive: the moment of the census in which a box had most, if it
/// is not before the time from which on one looks.
fn most(
    heap: &HeapStacks,
    query: &FlamePlaceQuery,
    (stacks, new): (u32, impl Fn(StackId) -> Option<StackId>),
    wanted: &[bool],
) -> Option<Interval> {
    let (places, _) = heap.chosen(&query.choice);
    let is_wanted = |old| new(old).and_then(|stack| wanted.get(stack.index()).copied());
    let part = |old| match is_wanted(old) {
        Some(true) => Part::Inside,
        _ => Part::Outside,
    };
    let parts: Vec<Part> = (0..stacks).map(StackId).map(part).collect();
    let censuses = heap.over_time(&places, &parts).into_iter();
    let most = censuses.rev().max_by_key(|census| census.total)?;
    let there = heap.is_timed() && most.total > 0 && most.time >= query.from;
    there.then(|| Interval::at(most.time))
}

/// Which stacks begin with this one; `None` if it is none.
fn with_inner(stacks: &Stacks, stack: StackId) -> Option<Vec<bool>> {
    stacks.frame(stack)?;
    let order = stacks.order();
    let is = |inner| order.contains(stack, inner);
    Some(stacks.ids().map(is).collect())
}

/// The first occurrence on a track.
fn first(track: &TimeTrack<'_>, range: Interval, from: Nanos, wanted: &[bool]) -> Option<Interval> {
    let is_wanted = |stack: Option<StackId>| {
        let wanted = stack.and_then(|stack| wanted.get(stack.index()));
        wanted.copied().unwrap_or(false)
    };
    let places = track.samples.touching(range);
    let late = Interval::new(range.start().max(from), range.end());
    // With the one before: what it is part of begins before `from`.
    let skipped = track.samples.touching(late).start.saturating_sub(1);
    let first = skipped.max(places.start);
    let mut occurrence = Occurrence {
        at: range.start(),
        begun: None,
        from,
    };
    if first > places.start {
        occurrence.at = track.end_before(first);
    }
    for index in first..places.end {
        let Some((span, stack)) = track.samples.get(index) else {
            continue;
        };
        if track.pauses_before(index) {
            let start = span.start().min(range.end());
            if let found @ Some(_) = occurrence.step(start, is_wanted(track.idle())) {
                return found;
            }
        }
        let end = span.end().min(range.end());
        if let found @ Some(_) = occurrence.step(end, is_wanted(track.shown(stack))) {
            return found;
        }
    }
    occurrence
        .step(range.end(), is_wanted(track.after(places.end)))
        .or_else(|| occurrence.over())
}

/// The occurrence that goes on while a track is walked through.
struct Occurrence {
    /// Up to where the track is looked at.
    at: Nanos,
    begun: Option<Nanos>,
    from: Nanos,
}

impl Occurrence {
    /// The next stretch, up to `to`. The result is an occurrence that is over,
    /// if it is one that was looked for.
    fn step(&mut self, to: Nanos, wanted: bool) -> Option<Interval> {
        if to <= self.at {
            return None;
        }
        let found = if wanted {
            self.begun.get_or_insert(self.at);
            None
        } else {
            self.over()
        };
        self.at = to;
        found
    }

    /// What began before is over.
    fn over(&mut self) -> Option<Interval> {
        let begun = self.begun.take()?;
        (begun >= self.from).then(|| Interval::new(begun, self.at))
    }
}
