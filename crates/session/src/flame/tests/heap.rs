//! Heap flame graphs: sums of censuses, the difference of two, and a box over time.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::flame::area::{FlameArea, FlameAreaQuery, area};
use model::census::Censuses;
use model::profile::heap::{HeapProfileStacks, HeapStacks};

/// Creates a heap profile from stacks in letters, as in [`profile`], and censuses: time, and bytes of each stack.
/// The log ends a nanosecond after the last census.
fn heap_profile(stacks: &[&str], rows: &[(u64, Vec<u64>)]) -> Profile {
    let samples: Vec<(u64, u64, &str)> = stacks.iter().map(|stack| (0, 1, *stack)).collect();
    let mut profile = profile(&samples, &[]);
    let stack_of = profile.tracks[0].samples.stacks().to_vec();
    let mut censuses = Censuses::default();
    let bands: Vec<_> = stacks.iter().map(|_| censuses.add_band()).collect();
    for (time, bytes) in rows {
        censuses.begin(Nanos(*time));
        bands
            .iter()
            .zip(bytes)
            .for_each(|(&band, &bytes)| censuses.add(band, bytes));
    }
    censuses.end();
    let end = Nanos(rows.last().map_or(0, |(time, _)| time + 1));
    let part = HeapProfileStacks {
        censuses: Arc::new(censuses),
        stack_of,
        timed: true,
    };
    profile.heap = Some(HeapStacks::new(vec![part], end));
    profile.span = Interval::new(Nanos(0), end);
    profile.tracks = vec![Track {
        source: TrackSource::Program,
        samples: Samples::default(),
        open: Vec::new(),
        sampled: true,
    }];
    profile
}

fn small_heap() -> Profile {
    let rows = [
        (1, vec![30, 10, 0]),
        (5, vec![20, 0, 8]),
        (9, vec![0, 40, 8]),
    ];
    heap_profile(&["ab", "ac", "d"], &rows)
}

#[test]
fn censuses_are_summed_up() {
    let query = query(&[], Some(span(0, 6)), View::LeftHeavy);
    assert_eq!(answer(&small_heap(), &query).0.censuses.now, 2);
    insta::assert_snapshot!(shown(&small_heap(), &query), @r"
    total 68, bands []
    0 a 0..60 own 0 of 60, 3 samples
    0 d 60..68 own 8 of 8, 1 samples
    1  b 0..50 own 50 of 50, 2 samples
    1  c 50..60 own 10 of 10, 1 samples
    ");
}

/// Tables have the mean of each side: that of one census, and that of two.
#[test]
fn rows_have_the_mean_of_their_censuses() {
    let mut choice = query(&[], Some(span(2, 10)), View::LeftHeavy).choice;
    choice.before = Some(span(0, 6));
    let question = FlameTableQuery {
        choice,
        steps: Vec::new(),
    };
    let (rows, censuses) = table(&StepCache::default(), &small_heap(), &question);
    let means = rows.iter().map(|row| {
        let row = row.with_means(censuses);
        (row.frame.label.clone(), row.own, row.total, row.before)
    });
    let mut means: Vec<_> = means.collect();
    means.sort();
    let row = |name: &str, own, total, before| (name.to_owned(), own, total, Some(before));
    assert_eq!(
        means,
        [
            row("a", 0, 30, (0, 30)),
            row("b", 10, 10, (25, 25)),
            row("c", 20, 20, (5, 5)),
            row("d", 8, 8, (4, 4)),
        ]
    );
}

/// Heap profiles have no time order; the time view is laid out by weight.
#[test]
fn what_was_alive_has_no_order_of_time() {
    let by_weight = shown(&small_heap(), &query(&[], None, View::LeftHeavy));
    assert_eq!(
        shown(&small_heap(), &query(&[], None, View::Time)),
        by_weight
    );
}

/// The mean of one census is compared with the mean of two, in bytes: the whole width is 40 + 38 bytes.
#[test]
fn bytes_are_compared_by_their_means() {
    let mut query = query(&[], Some(span(0, 2)), View::LeftHeavy);
    query.choice.before = Some(span(2, 10));
    let (head, boxes) = answer(&small_heap(), &query);
    let whole = 40.0 + f64::midpoint(28.0, 48.0);
    let rows: Vec<(String, f64, f64)> = (0..boxes.len())
        .map(|i| {
            (
                label(&head, &boxes, i),
                (boxes.width[i] * whole).round(),
                boxes.before[i],
            )
        })
        .collect();
    let row = |name: &str, width, before| (name.to_owned(), width, before);
    assert_eq!(
        rows,
        [
            row("a", 70.0, 60.0),
            row("d", 8.0, 16.0),
            row("b", 40.0, 20.0),
            row("c", 30.0, 40.0)
        ]
    );
    assert_eq!((head.censuses.now, head.censuses.before), (1, 2));
}

#[test]
fn two_moments_are_compared() {
    let mut query = query(&[], Some(span(0, 1)), View::LeftHeavy);
    query.choice.moments = Some(span(3, 9));
    insta::assert_snapshot!(shown(&small_heap(), &query), @r"
    total 48, bands []
    0 a 0..44 own 0 of 40, 1 samples, before 40
    0 d 44..48 own 8 of 8, 1 samples, before 0
    1  c 0..27 own 40 of 40, 1 samples, before 10
    1  b 27..44 own 0 of 0, 0 samples, before 30
    ");
}

fn over_time(profile: &Profile, query: &FlameAreaQuery) -> FlameArea {
    area(&StepCache::default(), profile, query)
}

#[test]
fn a_box_over_time() {
    let profile = small_heap();
    let all = FlameAreaQuery {
        most: 100,
        ..FlameAreaQuery::default()
    };
    let FlameArea {
        time,
        total,
        own,
        censuses,
        timed,
    } = over_time(&profile, &all);
    assert_eq!((time, total), (vec![1.0, 5.0, 9.0], vec![40.0, 28.0, 48.0]));
    assert_eq!((own, censuses, timed), (vec![0.0; 3], 3, true));
    let part = FlameAreaQuery {
        span: Some(span(2, 20)),
        most: 1,
        steps: vec![Transform::Drop("M.d".into())],
        ..all.clone()
    };
    let highest = over_time(&profile, &part);
    assert_eq!(
        (highest.time, highest.total, highest.censuses),
        (vec![9.0], vec![40.0], 2)
    );
    let callees = FlameAreaQuery {
        view: View::Callees("M.b".into()),
        ..all.clone()
    };
    assert_eq!(over_time(&profile, &callees).total, [30.0, 20.0, 0.0]);
    let unknown = FlameAreaQuery {
        stack: Some(u32::MAX),
        ..all
    };
    assert_eq!(over_time(&profile, &unknown).total, [0.0; 3]);
}

const STACKS: [&str; 7] = ["a", "ab", "abc", "ac", "d", "dab", "-"];

proptest! {
    /// The values of a box over time add up to those of the box, for any view, steps and range.
    #[test]
    fn an_area_sums_up_to_its_box(
        rows in prop::collection::vec((0..9_u64, prop::collection::vec(0..50_u64, STACKS.len())), 1..30),
        range in (0..200_u64, 0..200_u64),
        steps in prop::sample::subsequence(vec![Transform::Invert, Transform::CollapseRecursion, Transform::Drop("M.d".into()), Transform::Merge("M.b".into())], 0..4),
        view in prop::sample::select(vec![View::LeftHeavy, View::Callees("M.a".into()), View::Callers("M.b".into())]),
    ) {
        let mut at = 0;
        let rows: Vec<(u64, Vec<u64>)> = rows.into_iter().map(|(gap, bytes)| { at += gap; (at, bytes) }).collect();
        let profile = heap_profile(&STACKS, &rows);
        let range = Interval::between(Nanos(range.0), Nanos(range.1));
        let query = FlameQuery { steps: steps.clone(), ..query(&[], Some(range), view.clone()) };
        let (head, boxes) = answer(&profile, &query);
        let ask = |stack| over_time(&profile, &FlameAreaQuery {
            stack, span: Some(range), steps: steps.clone(), view: view.clone(), most: u32::MAX, ..FlameAreaQuery::default()
        });
        let sum = |column: &[f64]| column.iter().sum::<f64>();
        let whole = ask(None);
        prop_assert_eq!(sum(&whole.total), head.total as f64);
        prop_assert_eq!(whole.censuses, head.censuses.now);
        for i in 0..boxes.len() {
            let area = ask(Some(boxes.stack[i]));
            prop_assert_eq!(sum(&area.total), boxes.total[i]);
            prop_assert_eq!(sum(&area.own), boxes.own[i]);
        }
    }
}
