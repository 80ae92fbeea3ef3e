//! Comparison of two selections in one graph.

use super::*;
use model::profile::weights::Measure;

fn compared(range: Interval, before: Interval, measure: Measure) -> FlameQuery {
    let mut query = query(&[CAP], Some(range), View::LeftHeavy);
    query.choice.before = Some(before);
    query.measure = measure;
    query
}

#[test]
fn each_selection_makes_up_half() {
    let query = compared(span(50, 100), span(0, 30), Measure::Amount);
    let (head, boxes) = answer(&small(), &query);
    assert_eq!((head.total, head.total_before), (30, Some(29)));
    let outermost: f64 = at_depth(&boxes, 0).map(|i| boxes.width[i]).sum();
    assert!((outermost - 1.0).abs() < 1e-12);
    insta::assert_snapshot!(shown(&small(), &query), @r"
    total 30, bands []
    0 a 0..25 own 0 of 20, 2 samples, before 29
    0 e 25..30 own 10 of 10, 1 samples, before 0
    1  b 0..20 own 10 of 20, 2 samples, before 19
    1  d 20..25 own 0 of 0, 0 samples, before 10
    2   a 0..5 own 0 of 10, 1 samples, before 0
    2   c 5..10 own 0 of 0, 0 samples, before 9
    3    b 0..5 own 10 of 10, 1 samples, before 0
    ");
    insta::assert_snapshot!(tabled(&small(), &query), @r"
    M.b own 20 of 20, 2 of 2 samples, before 10 of 19
    M.e own 10 of 10, 1 of 1 samples, before 0 of 0
    M.a own 0 of 20, 0 of 2 samples, before 0 of 29
    M.c own 0 of 0, 0 of 0 samples, before 9 of 9
    M.d own 0 of 0, 0 of 0 samples, before 10 of 10
    ");
}

#[test]
fn samples_are_compared_if_these_are_measured() {
    let query = compared(span(50, 100), span(0, 30), Measure::Count);
    let (head, _) = answer(&small(), &query);
    assert_eq!((head.total, head.total_before), (3, Some(3)));
    insta::assert_snapshot!(shown(&small(), &query), @r"
    total 3, bands []
    0 a 0..2 own 0 of 2, 2 samples, before 3
    0 e 2..3 own 1 of 1, 1 samples, before 0
    1  b 0..2 own 1 of 2, 2 samples, before 2
    1  d 2..2 own 0 of 0, 0 samples, before 1
    2   a 0..0 own 0 of 1, 1 samples, before 0
    2   c 0..1 own 0 of 0, 0 samples, before 1
    3    b 0..0 own 1 of 1, 1 samples, before 0
    ");
}

#[test]
fn an_empty_selection_takes_no_width() {
    for (range, before) in [(span(0, 30), span(50, 60)), (span(50, 60), span(0, 30))] {
        let query = compared(range, before, Measure::Amount);
        let (_, boxes) = answer(&small(), &query);
        let outermost: f64 = at_depth(&boxes, 0).map(|i| boxes.width[i]).sum();
        assert!((outermost - 1.0).abs() < 1e-12);
    }
}

#[test]
fn time_order_compares_nothing() {
    let mut query = compared(span(50, 100), span(0, 30), Measure::Amount);
    query.view = View::Time;
    let (head, boxes) = answer(&small(), &query);
    assert_eq!((head.total_before, boxes.before.len()), (None, 0));
}
