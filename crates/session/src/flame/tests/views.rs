//! Layout of each view.

use super::*;
use crate::flame::query::{FlameMatch, FlameMatchesQuery, matches};
use model::profile::weights::Measure;

#[test]
fn time_order() {
    insta::assert_snapshot!(shown(&small(), &query(&[], None, View::Time)), @r"
    total 100, bands [0, 4]
    0 a 0..30 own 0 of 29, 3 samples
    0 IDLE 30..70 own 40 of 40, 1 samples
    0 a 70..80 own 0 of 10, 1 samples
    0 e 80..90 own 10 of 10, 1 samples
    0 a 90..100 own 0 of 10, 1 samples
    1  b 0..20 own 10 of 19, 2 samples
    1  d 20..30 own 10 of 10, 1 samples
    1  b 70..80 own 10 of 10, 1 samples
    1  b 90..100 own 0 of 10, 1 samples
    2   c 10..20 own 9 of 9, 1 samples
    2   a 90..100 own 0 of 10, 1 samples
    3    b 90..100 own 10 of 10, 1 samples
    4     IDLE 0..5 own 5 of 5, 0 samples
    4     a 5..25 own 0 of 20, 1 samples
    4     IDLE 25..30 own 5 of 5, 0 samples
    4     a 30..60 own 0 of 30, 1 samples
    4     IDLE 60..100 own 40 of 40, 0 samples
    5      f 5..25 own 20 of 20, 1 samples
    5      g 30..60 own 30 of 30, 1 samples
    ");
}

#[test]
fn left_heavy_order() {
    insta::assert_snapshot!(shown(&small(), &query(&[], None, View::LeftHeavy)), @r"
    total 119, bands []
    0 a 0..99 own 0 of 99, 7 samples
    0 IDLE 99..109 own 10 of 10, 1 samples
    0 e 109..119 own 10 of 10, 1 samples
    1  b 0..39 own 20 of 39, 4 samples
    1  g 39..69 own 30 of 30, 1 samples
    1  f 69..89 own 20 of 20, 1 samples
    1  d 89..99 own 10 of 10, 1 samples
    2   a 0..10 own 0 of 10, 1 samples
    2   c 10..19 own 9 of 9, 1 samples
    3    b 0..10 own 10 of 10, 1 samples
    ");
}

#[test]
fn what_a_frame_calls() {
    let view = View::Callees("M.b".into());
    insta::assert_snapshot!(shown(&small(), &query(&[CAP], None, view)), @r"
    total 39, bands []
    0 b 0..39 own 20 of 39, 4 samples
    1  a 0..10 own 0 of 10, 1 samples
    1  c 10..19 own 9 of 9, 1 samples
    2   b 0..10 own 10 of 10, 1 samples
    ");
}

#[test]
fn who_calls_a_frame() {
    let view = View::Callers("M.b".into());
    insta::assert_snapshot!(shown(&small(), &query(&[CAP], None, view)), @r"
    total 39, bands []
    0 b 0..39 own 0 of 39, 4 samples
    1  a 0..39 own 39 of 39, 4 samples
    ");
}

#[test]
fn widths_are_samples_if_these_are_measured() {
    let query = FlameQuery {
        measure: Measure::Count,
        ..query(&[CAP], None, View::LeftHeavy)
    };
    insta::assert_snapshot!(shown(&small(), &query), @r"
    total 7, bands []
    0 a 0..5 own 0 of 5, 5 samples
    0 IDLE 5..6 own 1 of 1, 1 samples
    0 e 6..7 own 1 of 1, 1 samples
    1  b 0..4 own 2 of 4, 4 samples
    1  d 4..5 own 1 of 1, 1 samples
    2   a 0..1 own 0 of 1, 1 samples
    2   c 1..2 own 1 of 1, 1 samples
    3    b 0..1 own 1 of 1, 1 samples
    ");
}

#[test]
fn narrow_boxes_are_merged() {
    let time = FlameQuery {
        width_px: 3,
        ..query(&[CAP], None, View::Time)
    };
    insta::assert_snapshot!(shown(&small(), &time), @r"
    total 100, bands [0]
    0 a 0..30 own 0 of 29, 3 samples
    0 IDLE 30..70 own 40 of 40, 1 samples
    0 a 70..100 own 10 of 30, 3 samples, 3 boxes
    1  b 0..30 own 20 of 29, 3 samples, 2 boxes
    1  b 70..100 own 10 of 20, 2 samples, 2 boxes
    2   c 10..20 own 9 of 9, 1 samples
    2   a 90..100 own 0 of 10, 1 samples
    3    b 90..100 own 10 of 10, 1 samples
    ");
    let heavy = FlameQuery {
        view: View::LeftHeavy,
        ..time
    };
    insta::assert_snapshot!(shown(&small(), &heavy), @r"
    total 69, bands []
    0 a 0..49 own 0 of 49, 5 samples
    0 IDLE 49..69 own 20 of 20, 2 samples, 2 boxes
    1  b 0..39 own 20 of 39, 4 samples
    1  d 39..49 own 10 of 10, 1 samples
    2   a 0..19 own 19 of 19, 2 samples, 2 boxes
    ");
}

#[test]
fn a_range_cuts_samples() {
    let part = query(&[CAP], Some(span(15, 75)), View::Time);
    insta::assert_snapshot!(shown(&small(), &part), @r"
    total 60, bands [0]
    0 a 0..15 own 0 of 15, 2 samples
    0 IDLE 15..55 own 40 of 40, 1 samples
    0 a 55..60 own 0 of 5, 0 samples
    1  b 0..5 own 0 of 5, 1 samples
    1  d 5..15 own 10 of 10, 1 samples
    1  b 55..60 own 5 of 5, 0 samples
    2   c 0..5 own 5 of 5, 1 samples
    ");
}

#[test]
fn boxes_in_a_window_have_their_own_edges_and_weights() {
    for view in [View::Time, View::LeftHeavy] {
        let whole = query(&[], None, view);
        let (_, all) = answer(&small(), &whole);
        let part = FlameQuery {
            window: (0.12, 0.1),
            ..whole
        };
        let (_, some) = answer(&small(), &part);
        let rows = |boxes: &FlameBoxes| -> Vec<_> {
            (0..boxes.len())
                .filter(|&i| boxes.left[i] <= 0.22 && boxes.left[i] + boxes.width[i] >= 0.12)
                .map(|i| {
                    let edges = (boxes.left[i], boxes.width[i]);
                    let weights = (boxes.own[i], boxes.total[i], boxes.count[i]);
                    (boxes.depth[i], edges, boxes.stack[i], weights)
                })
                .collect()
        };
        assert_eq!(rows(&some), rows(&all));
        assert!(some.len() < all.len());
    }
}

#[test]
fn recursion_counts_once() {
    let query = query(&[CAP], None, View::LeftHeavy);
    insta::assert_snapshot!(tabled(&small(), &query), @r"
    M.b own 30 of 39, 3 of 4 samples
    IDLE.IDLE own 10 of 10, 1 of 1 samples
    M.d own 10 of 10, 1 of 1 samples
    M.e own 10 of 10, 1 of 1 samples
    M.c own 9 of 9, 1 of 1 samples
    M.a own 0 of 49, 0 of 5 samples
    ");
}

#[test]
fn a_search_finds_boxes_and_their_share() {
    let mut query = query(&[CAP], None, View::LeftHeavy);
    query.search = " m.B".into();
    for (view, measure, share) in [
        (View::LeftHeavy, Measure::Amount, 39.0 / 69.0),
        (View::LeftHeavy, Measure::Count, 4.0 / 7.0),
        (View::Time, Measure::Amount, 39.0 / 69.0),
        (View::Callees("M.c".into()), Measure::Amount, 0.0),
        (View::Callers("M.c".into()), Measure::Amount, 1.0),
    ] {
        let (head, _) = answer(
            &small(),
            &FlameQuery {
                view,
                measure,
                ..query.clone()
            },
        );
        assert!(
            (head.found_share - share).abs() < 1e-12,
            "{}",
            head.found_share
        );
    }
    let found = |head: FlameHead| -> Vec<String> {
        let found = head.frames.into_iter().filter(|named| named.found);
        found.map(|named| named.frame.name()).collect()
    };
    assert_eq!(found(answer(&small(), &query).0), ["M.b"]);
    query.search = " ".into();
    let (head, _) = answer(&small(), &query);
    assert_eq!(head.found_share, 0.0);
    assert!(found(head).is_empty());
}

#[test]
fn boxes_are_found_by_place() {
    let (head, boxes) = answer(&small(), &query(&[CAP], None, View::Time));
    let at = |depth, x| box_at(&boxes, depth, x).map(|i| label(&head, &boxes, i));
    assert_eq!(at(0, 0.05).as_deref(), Some("a"));
    assert_eq!(at(0, 0.5).as_deref(), Some("IDLE"));
    assert_eq!(at(1, 0.25).as_deref(), Some("d"));
    assert_eq!(at(1, 0.5), None);
    assert_eq!((at(0, 1.0), at(0, -0.1), at(9, 0.5)), (None, None, None));
}

#[test]
fn stacks_may_be_deep() {
    let letters = "ab".repeat(20_000);
    let profile = profile(&[(0, 10, &letters), (10, 20, "a")], &[]);
    for view in [View::Time, View::LeftHeavy] {
        assert_eq!(answer(&profile, &query(&[CAP], None, view)).1.len(), 40_000);
    }
}

#[test]
fn no_tracks_and_no_time_are_no_trouble() {
    let none = TrackSource::Program;
    for view in [View::Time, View::LeftHeavy, View::Callers("M.a".into())] {
        for (track, range) in [
            (none, None),
            (CAP, Some(span(5, 5))),
            (CAP, Some(span(9, 5))),
        ] {
            let (_, boxes) = answer(&small(), &query(&[track], range, view.clone()));
            assert!(boxes.is_empty());
        }
    }
}

/// Returns the number of matches, and level and edges of each, widest first.
fn found(view: View, search: &str) -> (u64, Vec<String>) {
    let FlameQuery {
        choice,
        steps,
        view,
        measure,
        ..
    } = query(&[CAP], None, view);
    let asked = FlameMatchesQuery {
        choice,
        steps,
        view,
        measure,
        search: search.to_owned(),
    };
    let found = matches(&StepCache::default(), &small(), &asked);
    let shown = |it: &FlameMatch| format!("{} {:.3}+{:.3}", it.level, it.left, it.width);
    (found.count, found.widest.iter().map(shown).collect())
}

#[test]
fn what_is_looked_for_is_found_however_narrow_the_widest_first() {
    let (count, by_weight) = found(View::LeftHeavy, "M.b");
    assert_eq!(count, 2);
    // The one in `abab` is nested in the other.
    assert!(
        by_weight[0].starts_with("1 ") && by_weight[1].starts_with("3 "),
        "{by_weight:?}"
    );
    let boxes = |search: &str| {
        let asked = FlameQuery {
            search: search.to_owned(),
            ..query(&[CAP], None, View::LeftHeavy)
        };
        let (head, boxes) = answer(&small(), &asked);
        let is_found = |at: &usize| {
            let mut frames = head.frames.iter();
            frames.any(|frame| frame.found && frame.id == boxes.frame[*at])
        };
        let all = (0..boxes.len()).filter(is_found);
        let shown = |at: usize| {
            format!(
                "{} {:.3}+{:.3}",
                boxes.depth[at], boxes.left[at], boxes.width[at]
            )
        };
        all.map(shown).collect::<std::collections::BTreeSet<_>>()
    };
    for search in ["M.a", "M.b", "M", "e", "none"] {
        let (count, widest) = found(View::LeftHeavy, search);
        assert_eq!(
            widest
                .into_iter()
                .collect::<std::collections::BTreeSet<_>>(),
            boxes(search),
            "{search}"
        );
        assert_eq!(count as usize, boxes(search).len(), "{search}");
    }
    assert_eq!(found(View::LeftHeavy, " "), (0, Vec::new()));
    // The occurrences are 0–30, 70–80 and 90–100.
    let (count, in_time) = found(View::Time, "M.a");
    assert_eq!(count, 3);
    assert_eq!(in_time, ["0 0.000+0.300", "0 0.700+0.100", "0 0.900+0.100"]);
}
