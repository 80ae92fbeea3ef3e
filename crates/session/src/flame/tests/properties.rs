//! Properties of all profiles.

use super::super::transform::{Change, Transformed, apply_changes};
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::flame::query::{FlameRow, NO_FRAME};
use model::profile::stack_source::StackSource;
use model::profile::weights::{Measure, Weight};

prop_compose! {
    fn any_samples(most: usize)(
        rows in prop::collection::vec((0_u64..40, 1_u64..=TICK, "[abcAB]{1,5}|-"), 0..most)
    ) -> Vec<(u64, u64, String)> {
        let mut at = 0;
        rows.into_iter().map(|(gap, length, stack)| {
            let start = at + gap;
            at = start + length;
            (start, at, stack)
        }).collect()
    }
}

fn any_step() -> impl Strategy<Value = Transform> {
    let name = "M\\.[abc]|N\\.[AB]|IDLE\\.IDLE";
    prop_oneof![
        name.prop_map(Transform::Focus),
        name.prop_map(Transform::Drop),
        name.prop_map(Transform::Merge),
        Just(Transform::CollapseRecursion),
        Just(Transform::MergeModules),
        Just(Transform::HideIdle),
        Just(Transform::Invert),
    ]
}

fn borrowed(rows: &[(u64, u64, String)]) -> Vec<(u64, u64, &str)> {
    let rows = rows.iter();
    rows.map(|(start, end, stack)| (*start, *end, stack.as_str()))
        .collect()
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// Returns the total weight of all stacks.
fn all(own: &[Weight]) -> Weight {
    let mut sum = Weight::default();
    own.iter().for_each(|weight| sum.add(*weight));
    sum
}

fn views() -> [View; 2] {
    [View::Time, View::LeftHeavy]
}

/// Returns the own weight in time order, by depth and frame.
fn own_by_frame(profile: &Profile, query: &FlameQuery) -> BTreeMap<(u16, u32), f64> {
    let (_, boxes) = answer(profile, query);
    let mut sums = BTreeMap::new();
    for i in 0..boxes.len() {
        *sums.entry((boxes.depth[i], boxes.frame[i])).or_default() += boxes.own[i];
    }
    sums.retain(|_, own| *own > 0.0);
    sums
}

proptest! {
    #[test]
    fn the_parts_of_a_range_weigh_as_much_as_the_whole(
        cap in any_samples(40),
        thread in any_samples(40),
        steps in prop::collection::vec(any_step(), 0..3),
        mut cuts in prop::collection::vec(0_u64..900, 0..6),
    ) {
        let profile = profile(&borrowed(&cap), &borrowed(&thread));
        let end = profile.span.end().0;
        cuts.extend([0, end]);
        cuts.retain(|&cut| cut <= end);
        cuts.sort_unstable();
        let ranges: Vec<Interval> = cuts.windows(2).map(|cut| span(cut[0], cut[1])).collect();
        let mut parts = vec![Weight::default(); profile.stacks.len()];
        for &range in &ranges {
            let part = profile.weigh(&[0, 1], range);
            parts.iter_mut().zip(part).for_each(|(sum, weight)| sum.add(weight));
        }
        prop_assert_eq!(&parts, &profile.weigh(&[0, 1], profile.span));
        // Pauses do not depend on the queried range either.
        let ask = |range| FlameQuery { steps: steps.clone(), ..query(&[CAP], range, View::Time) };
        let mut parts = BTreeMap::new();
        for &range in &ranges {
            for (frame, own) in own_by_frame(&profile, &ask(Some(range))) {
                *parts.entry(frame).or_default() += own;
            }
        }
        prop_assert_eq!(parts, own_by_frame(&profile, &ask(None)));
    }

    #[test]
    fn merging_keeps_the_sum_and_bounds_the_number(
        cap in any_samples(300),
        steps in prop::collection::vec(any_step(), 0..2),
        width_px in 2_u32..60,
    ) {
        let profile = profile(&borrowed(&cap), &[]);
        for view in views() {
            let whole = stepped(&steps, view);
            let (_, all) = answer(&profile, &whole);
            let (head, some) = answer(&profile, &FlameQuery { width_px, ..whole });
            prop_assert_eq!(sum(&all.own), sum(&some.own));
            for depth in 0..head.depth {
                let boxes = at_depth(&some, depth).count();
                prop_assert!(boxes <= 3 * width_px as usize + 2);
            }
        }
    }

    #[test]
    fn boxes_stand_in_their_parents(
        cap in any_samples(200),
        steps in prop::collection::vec(any_step(), 0..2),
        before in 0_u64..900,
        compares in any::<bool>(),
        width_px in prop_oneof![Just(u32::MAX), 2_u32..60],
    ) {
        let profile = profile(&borrowed(&cap), &[]);
        for view in views() {
            let mut query = FlameQuery { width_px, ..stepped(&steps, view.clone()) };
            query.choice.before = compares.then(|| span(0, before));
            let (_, all) = answer(&profile, &query);
            let edges = |i: usize| (all.left[i], all.left[i] + all.width[i]);
            for i in 0..all.len() {
                let (left, right) = edges(i);
                if i > 0 && all.depth[i - 1] == all.depth[i] {
                    prop_assert!(edges(i - 1).1 <= left + 1e-9);
                }
                if let Some(depth) = all.depth[i].checked_sub(1) {
                    let parent = box_at(&all, depth, left + all.width[i] / 2.0);
                    let around = parent.map(edges);
                    let inside = |(l, r)| l <= left + 1e-9 && right <= r + 1e-9;
                    // A merged box may span a gap between the boxes it merges.
                    prop_assert!(all.merged[i] > 1 || around.is_some_and(inside));
                }
            }
            if view == View::LeftHeavy {
                let (head, _) = answer(&profile, &query);
                prop_assert_eq!(sum(&all.own) as u64 <= head.total, true);
            }
        }
    }

    #[test]
    fn a_window_shows_what_the_whole_does(
        cap in any_samples(200),
        steps in prop::collection::vec(any_step(), 0..2),
        left in 0.0_f64..0.9,
        width in 0.01_f64..0.5,
    ) {
        let profile = profile(&borrowed(&cap), &[]);
        for view in views() {
            let whole = stepped(&steps, view);
            let (_, all) = answer(&profile, &whole);
            let (_, part) = answer(&profile, &FlameQuery { window: (left, width), ..whole });
            let inside = |boxes: &FlameBoxes| -> Vec<_> {
                let is_seen = |i: &usize| {
                    let right = boxes.left[*i] + boxes.width[*i];
                    right > left + 1e-6 && boxes.left[*i] < left + width - 1e-6
                };
                (0..boxes.len()).filter(is_seen).map(|i| {
                    let edges = (boxes.left[i].to_bits(), boxes.width[i].to_bits());
                    let weights = (boxes.own[i] as u64, boxes.total[i] as u64, boxes.count[i] as u64);
                    (boxes.depth[i], edges, boxes.stack[i], weights)
                }).collect()
            };
            prop_assert_eq!(inside(&part), inside(&all));
        }
    }

    #[test]
    fn steps_lose_what_they_drop_and_no_more(
        cap in any_samples(60),
        steps in prop::collection::vec(any_step(), 0..4),
    ) {
        let profile = profile(&borrowed(&cap), &[]);
        let mut total = all(&profile.weigh(&[0], profile.span)).amount;
        for taken in 0..=steps.len() {
            let query = stepped(&steps[..taken], View::LeftHeavy);
            let (head, _) = answer(&profile, &query);
            prop_assert_eq!(head.total, total);
            let rows = rows(&profile, &query);
            let of = |name: &str| {
                let row = rows.iter().find(|row| row.frame.name() == name);
                row.map_or(0, |row| row.total)
            };
            total = match steps.get(taken) {
                Some(Transform::Focus(name)) => of(name),
                Some(Transform::Drop(name)) => total - of(name),
                Some(Transform::HideIdle) => total - of("IDLE.IDLE"),
                _ => total,
            };
        }
    }

    /// The rows of the table add up to the graph, and boxes whose width is samples weigh samples.
    #[test]
    fn table_and_graph_add_up_to_the_same(
        cap in any_samples(60),
        steps in prop::collection::vec(any_step(), 0..4),
    ) {
        let profile = profile(&borrowed(&cap), &[]);
        for measure in [Measure::Amount, Measure::Count] {
            let query = FlameQuery { measure, ..stepped(&steps, View::LeftHeavy) };
            let (head, boxes) = answer(&profile, &query);
            let own = |row: &FlameRow| match measure {
                Measure::Amount => row.own,
                Measure::Count => row.own_count,
            };
            prop_assert_eq!(rows(&profile, &query).iter().map(own).sum::<u64>(), head.total);
            if measure == Measure::Count {
                prop_assert_eq!(&boxes.total, &boxes.count);
            }
        }
    }

    #[test]
    fn callers_and_callees_weigh_what_the_table_says(
        cap in any_samples(60),
        steps in prop::collection::vec(any_step(), 0..3),
    ) {
        let profile = profile(&borrowed(&cap), &[]);
        for row in rows(&profile, &stepped(&steps, View::LeftHeavy)) {
            let name = row.frame.name();
            if name == NO_FRAME {
                continue;
            }
            for view in [View::Callees(name.clone()), View::Callers(name)] {
                let (head, boxes) = answer(&profile, &stepped(&steps, view));
                prop_assert_eq!(head.total, row.total);
                prop_assert_eq!(at_depth(&boxes, 0).count(), 1);
                prop_assert_eq!(boxes.total[0] as u64, row.total);
                prop_assert_eq!(boxes.count[0] as u64, row.count);
                prop_assert_eq!(sum(&boxes.own) as u64, row.total);
            }
        }
    }

    #[test]
    fn every_stack_that_was_seen_is_somewhere(
        cap in any_samples(40),
        steps in prop::collection::vec(any_step(), 0..4),
    ) {
        let profile = profile(&borrowed(&cap), &[]);
        let sample_counts = StackSource::sample_counts(&profile).expect("a profile");
        let changes: Vec<Change> = steps.into_iter().map(Change::Transform).collect();
        let stepped = |seen| apply_changes(&profile.frames, &profile.stacks, seen, &changes);
        let (some, whole) = (stepped(Some(sample_counts.as_slice())), stepped(None));
        for (stack, _) in profile.stacks.ids().zip(&sample_counts).filter(|(_, count)| **count > 0) {
            let names = |done: &Transformed| {
                let new = done.map[stack.index()]?;
                let frames = done.stacks.outermost_first(new).into_iter();
                let names = frames.filter_map(|id| Some(done.frames.get(id)?.name()));
                Some(names.collect::<Vec<String>>())
            };
            prop_assert_eq!(names(&some), names(&whole));
        }
    }

    /// Checks the rule of `pushCostCentre` frame by frame.
    #[test]
    fn recursion_is_what_popping_back_leaves(cap in any_samples(40)) {
        let profile = profile(&borrowed(&cap), &[]);
        let done = apply_changes(&profile.frames, &profile.stacks, None, &[Change::Transform(Transform::CollapseRecursion)]);
        for stack in profile.stacks.ids() {
            let mut expected: Vec<FrameId> = Vec::new();
            for frame in profile.stacks.outermost_first(stack) {
                match expected.iter().position(|other| *other == frame) {
                    Some(place) => expected.truncate(place + 1),
                    None => expected.push(frame),
                }
            }
            let found = done.map[stack.index()].expect("no stack is gone");
            prop_assert_eq!(done.stacks.outermost_first(found), expected);
        }
    }
}
