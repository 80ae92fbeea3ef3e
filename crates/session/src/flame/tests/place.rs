//! Occurrences of boxes on the timeline.

use super::super::query::{FlameOccurrence, FlameOccurrenceQuery, Occurrence, find_occurrence};
use super::*;

/// Returns the occurrence of the box with this name and depth.
fn occurrence(
    query: &FlameQuery,
    name: &str,
    depth: u16,
    which: Occurrence,
) -> Option<FlameOccurrence> {
    let profile = small();
    let cache = StepCache::default();
    let (head, boxes) = answer(&profile, query);
    let found = at_depth(&boxes, depth).find(|&i| label(&head, &boxes, i) == name);
    let place_query = FlameOccurrenceQuery {
        choice: query.choice.clone(),
        steps: query.steps.clone(),
        view: query.view.clone(),
        stack: boxes.stack[found.expect("a box")],
        which,
    };
    find_occurrence(&cache, &profile, &place_query)
}

/// Returns all occurrences, each found after the start of the previous one.
fn places(query: &FlameQuery, name: &str, depth: u16) -> Vec<(u64, u64)> {
    let mut from = Nanos(0);
    let mut places = Vec::new();
    while let Some(found) = occurrence(query, name, depth, Occurrence::From(from)) {
        places.push((found.span.start().0, found.span.end().0));
        from = Nanos(found.span.start().0 + 1);
    }
    // The longest occurrence is one of them.
    let longest = occurrence(query, name, depth, Occurrence::Longest);
    let longest = longest.map(|found| found.span.duration().0);
    let lengths = places.iter().map(|(start, end)| end - start);
    assert!(longest >= lengths.max(), "{name}: {longest:?}");
    places
}

#[test]
fn the_longest_occurrence_of_all_tracks_is_told_with_its_track() {
    let longest = |query: &FlameQuery, name| {
        let found = occurrence(query, name, 0, Occurrence::Longest).expect("a place");
        (found.span.start().0, found.span.end().0, found.track)
    };
    let one = query(&[CAP], None, View::LeftHeavy);
    assert_eq!(longest(&one, "a"), (0, 30, Some(CAP)));
    assert_eq!(longest(&one, "IDLE"), (30, 70, Some(CAP)));
    let part = query(&[CAP], Some(span(20, 100)), View::LeftHeavy);
    assert_eq!(longest(&part, "a"), (20, 30, Some(CAP)));
    let both = query(&[], None, View::LeftHeavy);
    assert_eq!(
        longest(&both, "a"),
        (0, 30, Some(CAP)),
        "of equals the first"
    );
}

#[test]
fn occurrences_are_whole_stretches() {
    let all = query(&[CAP], None, View::LeftHeavy);
    assert_eq!(places(&all, "a", 0), [(0, 30), (70, 80), (90, 100)]);
    assert_eq!(places(&all, "b", 1), [(0, 20), (70, 80), (90, 100)]);
    assert_eq!(places(&all, "c", 2), [(10, 20)]);
    assert_eq!(places(&all, "IDLE", 0), [(30, 70)]);
}

#[test]
fn occurrences_are_cut_at_the_range() {
    let part = query(&[CAP], Some(span(15, 75)), View::LeftHeavy);
    assert_eq!(places(&part, "a", 0), [(15, 30), (70, 75)]);
}

#[test]
fn the_first_of_several_tracks_counts() {
    let both = query(&[], None, View::LeftHeavy);
    assert_eq!(places(&both, "a", 0)[..3], [(0, 30), (5, 25), (30, 60)]);
}

#[test]
fn stacks_of_steps_and_views_have_places() {
    let dropped = stepped(&[Transform::Drop("M.b".into())], View::LeftHeavy);
    assert_eq!(places(&dropped, "a", 0), [(20, 30)]);
    let callers = query(&[CAP], None, View::Callers("M.b".into()));
    assert_eq!(places(&callers, "b", 0), [(0, 20), (70, 80), (90, 100)]);
    let inverted = stepped(&[Transform::Invert], View::Time);
    assert_eq!(places(&inverted, "a", 1), [(0, 10), (70, 80), (90, 100)]);
}
