//! Where boxes are on the timeline.

use super::super::query::{FlamePlaceQuery, place};
use super::*;

/// The first occurrences, each after the beginning of the one before, of the
/// box of this name and depth.
fn places(query: &FlameQuery, name: &str, depth: u16) -> Vec<(u64, u64)> {
    let profile = small();
    let cache = StepCache::default();
    let (head, boxes) = answer(&profile, query);
    let found = at_depth(&boxes, depth).find(|&i| label(&head, &boxes, i) == name);
    let mut from = Nanos(0);
    let mut places = Vec::new();
    while let Some(span) = place(
        &cache,
        &profile,
        &FlamePlaceQuery {
            choice: query.choice.clone(),
            steps: query.steps.clone(),
            view: query.view.clone(),
            stack: boxes.stack[found.expect("a box")],
            from,
        },
    ) {
        places.push((span.start().0, span.end().0));
        from = Nanos(span.start().0 + 1);
    }
    places
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
    let dropped = stepped(&[Step::Drop("M.b".into())], View::LeftHeavy);
    assert_eq!(places(&dropped, "a", 0), [(20, 30)]);
    let callers = query(&[CAP], None, View::Callers("M.b".into()));
    assert_eq!(places(&callers, "b", 0), [(0, 20), (70, 80), (90, 100)]);
    let inverted = stepped(&[Step::Invert], View::Time);
    assert_eq!(places(&inverted, "a", 1), [(0, 10), (70, 80), (90, 100)]);
}
