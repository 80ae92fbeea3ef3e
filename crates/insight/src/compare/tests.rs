use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::digest::Row;

fn row(group: NumberGroup, name: &str, class: Variability, value: f64) -> Row {
    Row {
        key: Key::new(group, name, ""),
        unit: Unit::Ns,
        direction: Direction::Lower,
        class,
        is_total: true,
        value,
    }
}

fn digests(name: &str, class: Variability, values: &[f64]) -> Vec<Digest> {
    let digest = |value: &f64| Digest {
        rows: vec![row(NumberGroup::Program, name, class, *value)],
        ..Digest::default()
    };
    values.iter().map(digest).collect()
}

fn compared(class: Variability, before: &[f64], after: &[f64]) -> Difference {
    let sides = [before, after].map(|side| digests("gc.time", class, side));
    of_sides(&sides).rows.first().cloned().expect("a row")
}

const TIMED: Variability = Variability::Timed;
const COUNTED: Variability = Variability::Counted;

#[test]
fn of_one_run_each_only_what_is_counted_is_claimed() {
    let timed = compared(TIMED, &[100.0], &[200.0]);
    assert_eq!(timed.claim, Claim::TooFewRuns);
    assert_eq!(
        (timed.change, timed.ratio.map(f64::round)),
        (100.0, Some(2.0))
    );
    assert_eq!(
        (timed.trend, timed.p, timed.ratio_interval),
        (Trend::Worse, None, None)
    );
    let claim = |before: &[f64], after: &[f64]| compared(COUNTED, before, after).claim;
    assert_eq!(claim(&[100.0], &[101.0]), Claim::Changed);
    assert_eq!(claim(&[10_000.0], &[10_009.0]), Claim::NoDifference);
    assert_eq!(claim(&[0.0], &[0.0]), Claim::NoDifference);
    assert_eq!(claim(&[0.0], &[1.0]), Claim::Changed);
    // Disjoint sides with a gap below ten times the spread, then with one above.
    assert_eq!(claim(&[100.0, 110.0], &[130.0, 150.0]), Claim::TooFewRuns);
    assert_eq!(claim(&[100.0, 101.0], &[130.0, 131.0]), Claim::Changed);
    // The spread within a side exceeds the difference between the sides.
    assert_eq!(claim(&[100.0, 120.0], &[110.0, 125.0]), Claim::TooFewRuns);
}

#[test]
fn a_change_is_both_sure_and_large_enough() {
    let around = |middle: f64| {
        (0..10)
            .map(|run| middle + f64::from(run))
            .collect::<Vec<_>>()
    };
    let of = |class, before, after| compared(class, &around(before), &around(after));
    assert_eq!(of(TIMED, 1000.0, 1100.0).claim, Claim::Changed);
    // Significant, but only 1 %.
    let small = of(TIMED, 10_000.0, 10_100.0);
    assert_eq!(small.claim, Claim::NoDifference);
    assert!(small.p.is_some_and(|p| p < 0.001));
    assert_eq!(of(COUNTED, 10_000.0, 10_100.0).claim, Claim::Changed);
    // Large, but not significant.
    let wide = compared(
        TIMED,
        &[100.0, 300.0, 200.0, 400.0],
        &[150.0, 350.0, 250.0, 450.0],
    );
    assert_eq!(wide.claim, Claim::NoDifference);
}

#[test]
fn what_only_one_side_has_is_said() {
    let before = digests("span", TIMED, &[1.0, 2.0]);
    let comparison = Comparison::compare(&before, &[Digest::default()], &Options::default());
    assert_eq!(comparison.rows[0].claim, Claim::OnlyBefore);
    let comparison = Comparison::compare(&[Digest::default()], &before, &Options::default());
    assert_eq!(comparison.rows[0].claim, Claim::OnlyAfter);
    // The name may be among those left out.
    let full = Digest {
        left_out: vec![(NumberGroup::Program, 3)],
        ..Digest::default()
    };
    let comparison = Comparison::compare(&before, &[full], &Options::default());
    assert!(comparison.rows.is_empty());
    assert_eq!(comparison.left_out, [(NumberGroup::Program, 1)]);
}

#[test]
fn the_verdict_is_about_what_was_asked_for() {
    let side = |asked: f64, headline: f64| -> Vec<Digest> {
        let digest = |run: i32| Digest {
            rows: vec![
                row(
                    NumberGroup::Asked,
                    "span.time.p99",
                    TIMED,
                    asked + f64::from(run),
                ),
                row(
                    NumberGroup::Program,
                    "time.wall",
                    TIMED,
                    headline + f64::from(run),
                ),
            ],
            ..Digest::default()
        };
        (0..10).map(digest).collect()
    };
    let options = Options::default();
    let verdict = |a: (f64, f64), b: (f64, f64)| {
        Comparison::compare(&side(a.0, a.1), &side(b.0, b.1), &options).verdict()
    };
    assert_eq!(verdict((100.0, 100.0), (100.0, 100.0)), Verdict::Alike);
    assert_eq!(verdict((100.0, 100.0), (100.0, 200.0)), Verdict::Alike);
    assert_eq!(verdict((100.0, 100.0), (200.0, 100.0)), Verdict::Changed);
    let few = |asked: f64| side(asked, 1.0).into_iter().take(3).collect::<Vec<_>>();
    let comparison = Comparison::compare(&few(100.0), &few(200.0), &options);
    assert_eq!(comparison.verdict(), Verdict::TooFewRuns);
    assert_eq!(comparison.runs_needed(), 4);
}

#[test]
fn work_is_divided_by_spans() {
    let digest = |spans: f64, total: f64| Digest {
        rows: vec![
            Row {
                key: Key::new(NumberGroup::Spans, "req", "count"),
                ..row(NumberGroup::Spans, "", COUNTED, spans)
            },
            row(NumberGroup::Program, "alloc.bytes", COUNTED, total),
        ],
        ..Digest::default()
    };
    let options = Options {
        per_span: Some("req".to_owned()),
        ..Options::default()
    };
    let comparison = Comparison::compare(&[digest(10.0, 50.0)], &[digest(20.0, 100.0)], &options);
    let row = &comparison.rows[0];
    assert_eq!(
        (row.before.median, row.after.median, row.claim),
        (5.0, 5.0, Claim::NoDifference)
    );
}

#[test]
fn what_should_be_equal_is_told() {
    let digest = |ghc: &str| Digest {
        facts: vec![crate::digest::ComparableFact {
            name: "GHC".into(),
            value: ghc.to_owned(),
        }],
        ..Digest::default()
    };
    let unequal = |before: &[Digest], after: &[Digest]| {
        Comparison::compare(before, after, &Options::default()).unequal
    };
    assert_eq!(
        unequal(&[digest("9.6")], &[digest("9.6"), digest("9.6")]),
        []
    );
    let found = unequal(&[digest("9.6")], &[digest("9.8"), digest("9.6")]);
    assert_eq!(found[0].after, ["9.6", "9.8"]);
}

fn side() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(
        prop_oneof![Just(0.0), 1.0..1e3_f64, (1_u8..4).prop_map(f64::from)],
        1..12,
    )
}

fn mirrored(claim: Claim) -> Claim {
    match claim {
        Claim::OnlyBefore => Claim::OnlyAfter,
        Claim::OnlyAfter => Claim::OnlyBefore,
        other => other,
    }
}

proptest! {
    #[test]
    fn identical_sides_have_no_difference(values in side(), counted in any::<bool>()) {
        let class = if counted { COUNTED } else { TIMED };
        let row = compared(class, &values, &values);
        prop_assert_ne!(row.claim, Claim::Changed);
        prop_assert!(row.change.abs() < 1e-9);
    }

    #[test]
    fn swapped_sides_mirror_everything(before in side(), after in side(), counted in any::<bool>()) {
        let class = if counted { COUNTED } else { TIMED };
        let (forth, back) = (compared(class, &before, &after), compared(class, &after, &before));
        prop_assert_eq!(forth.claim, mirrored(back.claim));
        prop_assert_eq!(forth.p, back.p);
        prop_assert!((forth.change + back.change).abs() < 1e-9);
        let trend = match back.trend {
            Trend::Better => Trend::Worse,
            Trend::Worse => Trend::Better,
            Trend::Neutral => Trend::Neutral,
        };
        prop_assert_eq!(forth.trend, trend);
        if let (Some(forth), Some(back)) = (forth.ratio, back.ratio) {
            prop_assert!((forth * back - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_unit_does_not_matter(before in side(), after in side(), power in -3_i32..4) {
        // Powers of two avoid rounding.
        let times = 2_f64.powi(power);
        let scaled = |side: &[f64]| side.iter().map(|value| value * times).collect::<Vec<_>>();
        let plain = compared(TIMED, &before, &after);
        let other = compared(TIMED, &scaled(&before), &scaled(&after));
        prop_assert_eq!(plain.p, other.p);
        prop_assert_eq!(plain.change * times, other.change);
    }
}

#[test]
fn candidates_of_one_baseline_are_one_family_of_tests() {
    let runs = |middle: f64, count: u32| -> Vec<f64> {
        (0..count).map(|run| middle + f64::from(run)).collect()
    };
    let claims = |candidates: usize, count: u32| -> Vec<Claim> {
        let faster = runs(500.0, count);
        let others = (1..candidates).map(|place| runs(1_000.0 + place as f64 / 100.0, count));
        let all: Vec<Vec<f64>> = std::iter::once(faster).chain(others).collect();
        let number = ("time.wall", Unit::Ns);
        let found = against_baseline(number, &runs(1_000.0, count), &all, &Options::default());
        found.iter().map(|row| row.claim).collect()
    };
    assert_eq!(claims(1, 3), [Claim::TooFewRuns]);
    assert_eq!(claims(1, 4), [Claim::Changed]);
    // With 5 runs per side, the minimum p-value is 2/252: not enough for 8 candidates.
    assert_eq!(claims(8, 5)[0], Claim::TooFewRuns);
    let of_eight = claims(8, 6);
    assert_eq!(of_eight[0], Claim::Changed);
    assert!(
        of_eight[1..]
            .iter()
            .all(|claim| *claim == Claim::NoDifference)
    );
    assert_eq!(statistics::rank_test::runs_needed(0.05, 8), 6);
}

/// Creates sides with these program numbers, each growing slightly from run to run.
fn sides(runs: u32, numbers: &[(&str, &'static str, [f64; 2])]) -> [Vec<Digest>; 2] {
    [0, 1].map(|side: usize| {
        let digest = |run: u32| Digest {
            rows: numbers
                .iter()
                .map(|(name, part, values)| Row {
                    key: Key::new(NumberGroup::Program, *name, *part),
                    ..row(
                        NumberGroup::Program,
                        "",
                        TIMED,
                        values[side] * (1.0 + f64::from(run) / 100.0),
                    )
                })
                .collect(),
            ..Digest::default()
        };
        (0..runs).map(digest).collect()
    })
}

fn of_sides([before, after]: &[Vec<Digest>; 2]) -> Comparison {
    Comparison::compare(before, after, &Options::default())
}

fn claim_of(comparison: &Comparison, name: &str) -> Claim {
    let mut rows = comparison.rows.iter();
    let row = rows.find(|row| row.name() == name);
    row.map(|row| row.claim)
        .unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn five_runs_a_side_that_do_not_overlap_are_a_claim() {
    let numbers = [
        ("alloc.bytes", "", [5e6, 5e6]),
        ("gc.pause", "max", [5.0, 5.0]),
        ("gc.time", "", [90.0, 90.0]),
        ("heap.live", "max", [7.0, 7.0]),
        ("time.wall", "", [200.0, 100.0]),
        ("thread.ready", "", [1.0, 183.0]),
        ("thread.run", "", [60.0, 61.0]),
    ];
    let comparison = of_sides(&sides(5, &numbers));
    assert_eq!(comparison.verdict(), Verdict::Changed);
    assert_eq!(comparison.runs_needed(), RUNS_NEEDED);
    let claims = ["time.wall", "thread.ready", "thread.run", "gc.time"];
    let changed = claims.map(|name| claim_of(&comparison, name) == Claim::Changed);
    assert_eq!(changed, [true, true, false, false]);
    // Gated numbers come first, wall-clock time before all others.
    let names: Vec<String> = comparison.rows.iter().map(Difference::name).collect();
    assert_eq!(names[..3], ["time.wall", "gc.time", "gc.pause.max"]);
    // Four runs per side are too few for any claim.
    let comparison = of_sides(&sides(4, &numbers));
    assert_eq!(comparison.verdict(), Verdict::TooFewRuns);
    assert!(
        comparison
            .rows
            .iter()
            .all(|row| row.claim != Claim::Changed)
    );
}

#[test]
fn numbers_that_are_one_fact_are_one_row() {
    let numbers = [
        ("gc.pause", "p50", [2.0, 2.0]),
        ("gc.pause", "p90", [5.0, 6.0]),
        ("gc.pause", "p99", [5.0, 6.0]),
        ("gc.pause", "max", [5.0, 6.0]),
        ("gc.time", "", [9.0, 9.0]),
        ("time.gc", "", [9.0, 9.0]),
        ("spark.dud", "", [0.0, 0.0]),
        ("spark.fizzled", "", [0.0, 0.0]),
    ];
    let comparison = of_sides(&sides(2, &numbers));
    let names: Vec<String> = comparison.rows.iter().map(Difference::name).collect();
    let expected = [
        "gc.time = time.gc",
        "gc.pause.max = p90 = p99",
        "gc.pause.p50",
        "spark.dud",
        "spark.fizzled",
    ];
    assert_eq!(names, expected);
}

#[test]
fn most_of_a_change_is_one_of_its_parts() {
    let numbers = [
        ("gc.count", "", [10.0, 100.0]),
        ("time.exit", "", [1.0, 1.0]),
        ("time.gc", "", [10.0, 95.0]),
        ("time.init", "", [1.0, 1.0]),
        ("time.mutator", "", [88.0, 103.0]),
        ("time.wall", "", [100.0, 200.0]),
    ];
    let told = |runs, numbers: &[(&str, &'static str, [f64; 2])]| {
        let comparison = of_sides(&sides(runs, numbers));
        let lead = comparison.main_reason()?;
        let name = |row: Option<&Difference>| row.map(Difference::name);
        Some((lead.wall.change > 0.0, name(lead.part), name(lead.inner)))
    };
    let some = |name: &str| Some(name.to_owned());
    for runs in [1, 8] {
        assert_eq!(
            told(runs, &numbers),
            Some((true, some("time.gc"), some("gc.count")))
        );
    }
    let mut less = numbers;
    less.iter_mut().for_each(|(_, _, values)| values.reverse());
    assert_eq!(
        told(8, &less),
        Some((false, some("time.gc"), some("gc.count")))
    );
    // No part makes up most of the change.
    let mut even = numbers;
    (even[2].2, even[4].2, even[3].2) = ([10.0, 50.0], [88.0, 128.0], [1.0, 21.0]);
    assert_eq!(told(8, &even), Some((true, None, None)));
    // Nothing changed.
    let same = numbers.map(|(name, part, values)| (name, part, [values[0]; 2]));
    assert_eq!(told(8, &same), None);
}

#[test]
fn a_finding_that_comes_and_goes_is_neither_new_nor_gone() {
    let known = |cost: u64| crate::digest::FindingSummary {
        identity: "polling".to_owned(),
        rule: Cow::Borrowed("polling"),
        title: String::new(),
        axis: crate::finding::Axis::Time,
        severity: crate::finding::Severity::Medium,
        confidence: crate::finding::Confidence::Probable,
        cost: crate::finding::Value::Ns(cost),
        share: 0.1,
    };
    let side = |costs: &[Option<u64>]| -> Vec<Digest> {
        let digest = |cost: &Option<u64>| Digest {
            findings: cost.iter().map(|cost| known(*cost)).collect(),
            ..Digest::default()
        };
        costs.iter().map(digest).collect()
    };
    let state = |before: &[Option<u64>], after: &[Option<u64>]| {
        of_sides(&[side(before), side(after)]).findings[0].state
    };
    let (no, cheap, dear) = (None, Some(100), Some(300));
    assert_eq!(state(&[no], &[cheap]), FindingState::New);
    assert_eq!(state(&[cheap; 3], &[no; 3]), FindingState::Gone);
    let same = FindingState::Same;
    assert_eq!(state(&[cheap, no, no], &[cheap, cheap, no]), same);
    assert_eq!(state(&[no, no, cheap, no, no], &[cheap; 5]), same);
    assert_eq!(state(&[no; 5], &[cheap; 5]), FindingState::New);
    assert_eq!(state(&[cheap], &[dear]), FindingState::Worse);
    assert_eq!(state(&[dear; 5], &[cheap; 5]), FindingState::Better);
    assert_eq!(state(&[cheap, dear, dear], &[cheap, cheap, dear]), same);
}
