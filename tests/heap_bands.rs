//! Tables of bands, recomputed from the bytes of every band in every census.

use crate::common;

use std::collections::BTreeMap;

use analysis::heap::HeapProfile;
use analysis::recording::Recording;
use common::build::LogBuilder;
use common::{Case, fixture_cases, session_of};
use eventlog::ids::{Duration, Nanos};
use model::census::BandId;
use model::time::Interval;
use session::Session;
use session::heap::census_diff::{CensusDiffChoice, CensusDiffColumn, CensusDiffQuery};
use session::heap::choice::{Grouping, HeapChoice};
use session::heap::growth::{
    BurstsQuery, CompanionsQuery, ConcurrentActivityQuery, GrowthBy, GrowthQuery,
};
use session::heap::table::{BandColumn, BandRow, BandSort, BandTableQuery};

/// Returns all logs with a heap profile.
fn logs() -> impl Iterator<Item = (Case, Recording, Session)> {
    let all = fixture_cases().into_iter().filter_map(|case| {
        let bytes = case.bytes();
        let recording = common::session_of(&bytes).ok()?.into_recording();
        (!recording.heap().is_empty()).then(|| (case.clone(), recording, case.session()))
    });
    let all: Vec<_> = all.collect();
    assert!(
        all.len() >= 6,
        "only {} logs have a heap profile",
        all.len()
    );
    all.into_iter()
}

fn choice(profile: u32) -> HeapChoice {
    HeapChoice {
        profile,
        ..HeapChoice::default()
    }
}

/// Returns the whole log, the middle half of the censuses, and an empty range.
fn ranges(profile: &HeapProfile) -> Vec<Option<Interval>> {
    let times = profile.censuses.times();
    let at = |quarter: usize| times[(times.len() - 1) * quarter / 4];
    let last = times[times.len() - 1].0;
    vec![
        None,
        Some(Interval::new(at(1), Nanos(at(3).0 + 1))),
        Some(Interval::new(Nanos(last + 1), Nanos(last + 2))),
    ]
}

/// Rows of a table with all columns except those of regression lines, which `crates/model` tests.
type Plain = BTreeMap<String, (u64, u64, u64, u64, u32)>;

fn plain(profile: &HeapProfile, range: Option<Interval>, end: Nanos) -> (Plain, Vec<u64>) {
    let times = profile.censuses.times();
    let is_in = |census: &u32| {
        let time = times[*census as usize];
        let whole = range.is_none() || !profile.is_timed();
        whole
            || range.is_some_and(|range| {
                time >= range.start() && (time < range.end() || range.end() >= end)
            })
    };
    let wanted: Vec<u32> = (0..times.len() as u32).filter(is_in).collect();
    let mut rows = Plain::new();
    let mut totals = vec![0; wanted.len()];
    for band in profile.bands() {
        let values: Vec<u64> = wanted
            .iter()
            .map(|&c| profile.censuses.bytes_at(band, c))
            .collect();
        for (total, value) in totals.iter_mut().zip(&values) {
            *total += value;
        }
        let sum: u64 = values.iter().sum();
        if sum > 0 {
            let held = values.iter().filter(|value| **value > 0).count();
            let key = key_of(profile, band);
            let ends = (values[0], values[values.len() - 1]);
            let max = values.iter().max().copied().unwrap_or(0);
            rows.insert(key, (sum, max, ends.0, ends.1, held as u32));
        }
    }
    (rows, totals)
}

fn key_of(profile: &HeapProfile, band: BandId) -> String {
    match profile.label(band) {
        Some(analysis::heap::Label::Text(text)) => text.into_owned(),
        Some(analysis::heap::Label::Stack(stack)) => {
            let ids: Vec<String> = stack.iter().map(|id| id.0.to_string()).collect();
            ids.join(";")
        }
        _ => "rest".to_owned(),
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

#[test]
fn the_table_is_what_the_censuses_say() {
    for (case, recording, session) in logs() {
        for (number, profile) in recording.heap().iter().enumerate() {
            for range in ranges(profile) {
                let mut query = BandTableQuery {
                    choice: choice(number as u32),
                    range,
                    rows: 0..u64::MAX,
                    ..BandTableQuery::default()
                };
                let table = session.ask(&query).expect("a table");
                let (expected, totals) = plain(profile, range, recording.end());
                assert_eq!(
                    table.census_range.censuses as usize,
                    totals.len(),
                    "{}",
                    case.name
                );
                assert_eq!(table.total as usize, expected.len(), "{}", case.name);
                let all: u64 = totals.iter().sum();
                let n = totals.len().max(1) as f64;
                for BandRow {
                    band_label: called,
                    numbers,
                    ..
                } in &table.rows
                {
                    let &(sum, max, first, last, held) = &expected[&called.key];
                    assert!(close(numbers.mean, sum as f64 / n), "{}", case.name);
                    let share = sum as f64 / all as f64;
                    assert!(close(numbers.share, share), "{}", case.name);
                    let said = (numbers.max, numbers.first, numbers.last, numbers.held);
                    assert_eq!(said, (max, first, last, held), "{}", case.name);
                }
                for row in table.rows.iter().take(5) {
                    assert_eq!(
                        row.peak.is_some(),
                        profile.is_timed() && row.numbers.max > 0,
                        "{}",
                        case.name
                    );
                    let Some(peak) = row.peak else { continue };
                    // The band reaches its maximum in the census at that time, and not before.
                    let held = |range: Interval| {
                        let of = BandTableQuery {
                            range: Some(range),
                            ..query.clone()
                        };
                        let table = session.ask(&of).expect("a table");
                        let mut rows = table.rows.into_iter();
                        rows.find(|it| it.band_label == row.band_label)
                            .map_or(0, |it| it.numbers.max)
                    };
                    let most = row.numbers.max;
                    assert_eq!(held(Interval::new(peak, peak + Duration(1))), most);
                    let start = range.map_or(Nanos(0), |range| range.start());
                    if start < peak {
                        assert!(held(Interval::new(start, Nanos(peak.0 - 1))) < most);
                    }
                }
                assert!(close(table.all.mean, all as f64 / n));
                assert_eq!(table.all.share, if all > 0 { 1.0 } else { 0.0 });
                assert_eq!(table.all.first, totals.first().copied().unwrap_or(0));
                assert_eq!(table.all.last, totals.last().copied().unwrap_or(0));
                let nearest = table.census_range.nearest.map(|moment| moment.census);
                let is_empty = totals.is_empty().then(|| profile.censuses.len() as u32 - 1);
                assert_eq!(nearest, is_empty);
                // A window of rows equals that part of all rows, in any order.
                for column in BandColumn::ALL {
                    for descending in [true, false] {
                        query.sort = BandSort { column, descending };
                        query.rows = 0..u64::MAX;
                        let whole = session.ask(&query).expect("a table");
                        is_sorted(&whole.rows, query.sort);
                        let third = whole.total / 3;
                        query.rows = third..2 * third;
                        let part = session.ask(&query).expect("a table");
                        let rows = &whole.rows[third as usize..2 * third as usize];
                        assert_eq!(part.rows, rows);
                        for place in 0..part.rows.len() {
                            assert_eq!(part.spark(place), whole.spark(third as usize + place));
                        }
                    }
                }
            }
        }
    }
}

fn is_sorted(rows: &[BandRow], sort: BandSort) {
    let number = |row: &BandRow| -> Option<f64> {
        let numbers = &row.numbers;
        Some(match sort.column {
            BandColumn::Mean => numbers.mean,
            BandColumn::Max => numbers.max as f64,
            BandColumn::First => numbers.first as f64,
            BandColumn::Last => numbers.last as f64,
            BandColumn::Gained => numbers.gained() as f64,
            BandColumn::Integral => numbers.integral_byte_seconds,
            BandColumn::Deviation => numbers.stddev,
            BandColumn::Slope => numbers.bytes_per_second?,
            BandColumn::R2 => numbers.r2?,
            // text columns
            _ => return None,
        })
    };
    for pair in rows.windows(2) {
        match (number(&pair[0]), number(&pair[1])) {
            (Some(a), Some(b)) if sort.descending => assert!(a >= b, "{sort:?} {a} {b}"),
            (Some(a), Some(b)) => assert!(a <= b, "{sort:?} {a} {b}"),
            (a, b) => assert!(a.is_some() || b.is_none(), "{sort:?}"),
        }
    }
}

#[test]
fn a_filter_lets_through_what_has_it_in_its_name() {
    for (case, recording, session) in logs() {
        let mut query = BandTableQuery {
            rows: 0..u64::MAX,
            ..BandTableQuery::default()
        };
        let all = session.ask(&query).expect("a table");
        query.choice.filter = "A".to_owned();
        let some = session.ask(&query).expect("a table");
        let expected: Vec<&BandRow> = all
            .rows
            .iter()
            .filter(|row| {
                let called = &row.band_label;
                let said = [&called.name, &called.subtitle, &called.key];
                said.iter().any(|text| text.to_lowercase().contains('a'))
            })
            .collect();
        assert_eq!(
            some.rows.iter().collect::<Vec<_>>(),
            expected,
            "{}",
            case.name
        );
        assert_eq!(
            recording.heap().iter().count() > 0,
            session.ask(&query).is_some()
        );
        // A number without a profile, as in a link to another log, selects the first one.
        let first = session.ask(&query);
        query.choice.profile = 99;
        assert_eq!(session.ask(&query), first);
        query.choice = HeapChoice {
            group: Grouping::Module,
            ..HeapChoice::default()
        };
        let grouped = session.ask(&query).expect("a table");
        assert!(close(grouped.all.mean, all.all.mean), "{}", case.name);
    }
}

#[test]
fn two_censuses_differ_by_what_bands_gained() {
    for (case, recording, session) in logs() {
        for (number, profile) in recording.heap().iter().enumerate() {
            let last = profile.censuses.len() as u32 - 1;
            for (before, after, alone) in
                [(0, last, false), (last, last / 2, false), (0, last, true)]
            {
                let query = CensusDiffQuery {
                    choice: choice(number as u32),
                    moments: CensusDiffChoice {
                        before: Some(before),
                        after: Some(after),
                        alone,
                        ..CensusDiffChoice::default()
                    },
                    rows: 0..u64::MAX,
                    points: 100,
                    ..CensusDiffQuery::default()
                };
                let moments = session.ask(&query).expect("two censuses");
                let mut expected: Vec<(i64, String, u64, u64)> = Vec::new();
                for band in profile.bands() {
                    let at = |census| profile.censuses.bytes_at(band, census);
                    let (before, after) = (if alone { 0 } else { at(before) }, at(after));
                    if before + after > 0 {
                        let gained = after as i64 - before as i64;
                        expected.push((gained, key_of(profile, band), before, after));
                    }
                }
                expected.sort_by_key(|row| -row.0);
                let rows = moments.rows.iter();
                let rows = rows.map(|row| {
                    (
                        row.difference(),
                        row.band_label.key.clone(),
                        row.before,
                        row.after,
                    )
                });
                assert_eq!(rows.collect::<Vec<_>>(), expected, "{}", case.name);
                let totals = profile.censuses.totals();
                let sum = if alone { 0 } else { totals[before as usize] };
                assert_eq!(moments.all, (sum, totals[after as usize]), "{}", case.name);
                let most = totals.iter().max().copied().unwrap_or(0) as f64;
                let seen = moments.totals.iter().copied().fold(0.0, f64::max);
                assert!(close(seen, most), "{}", case.name);
            }
        }
        // By default the first and the last census are compared.
        let usual = session
            .ask(&CensusDiffQuery::default())
            .expect("two censuses");
        let of = usual.census_range.of;
        assert_eq!((usual.before.census, usual.after.census), (0, of - 1));
        let by_name = CensusDiffQuery {
            moments: CensusDiffChoice {
                column: CensusDiffColumn::Name,
                descending: false,
                ..CensusDiffChoice::default()
            },
            rows: 0..2,
            ..CensusDiffQuery::default()
        };
        let rows = session.ask(&by_name).expect("two censuses").rows;
        assert!(rows.len() < 2 || rows[0].band_label.name <= rows[1].band_label.name);
    }
}

#[test]
fn what_grows_leads_to_what_ran() {
    let mut told = (0, 0);
    for (case, _, session) in logs() {
        for by in [GrowthBy::Slope, GrowthBy::Gained] {
            let query = GrowthQuery {
                by,
                ..GrowthQuery::default()
            };
            let growing = session.ask(&query).expect("a profile");
            for row in &growing.rows {
                let rate = row
                    .numbers
                    .bytes_per_second
                    .filter(|_| by == GrowthBy::Slope);
                let rise = rate.unwrap_or(row.numbers.gained() as f64);
                assert!(rise > 0.0, "{} {row:?}", case.name);
            }
            let Some(first) = growing.rows.first() else {
                continue;
            };
            let query = CompanionsQuery {
                suspect: first.band_label.key.clone(),
                ..CompanionsQuery::default()
            };
            let like = session.ask(&query).expect("the band is there");
            assert_eq!(like.bands.rows.len(), like.correlation.len());
            assert_eq!(like.bands.rows[0].band_label, first.band_label);
            assert!(
                like.correlation.is_sorted_by(|a, b| a >= b),
                "{}",
                case.name
            );
            told.0 += like.bands.rows.len() - 1;
        }
        let bursts = session.ask(&BurstsQuery::default()).expect("a profile");
        for burst in bursts.rows {
            assert!(burst.bytes > 2 * burst.usual_bytes, "{}", case.name);
            told.1 += 1;
            let Some(span) = burst.span else { continue };
            assert!(!span.is_empty(), "{}", case.name);
        }
    }
    assert!(told.0 > 10 && told.1 > 5, "{told:?}");
}

#[test]
fn what_ran_then_is_told_with_the_most_first() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (1, 10_000), |log| {
        log.event(19, 10, b"START outer");
        log.run(100, 1).stop(300, 1, 3);
        log.run(300, 2).stop(900, 2, 3);
        log.event(19, 950, b"START inner");
        log.run(1_000, 1).stop(1_050, 1, 3);
        log.event(19, 1_100, b"STOP inner");
        log.event(19, 5_000, b"STOP outer");
        log.run(6_000, 3).stop(7_000, 3, 3)
    });
    log.end();
    let session = session_of(&log.bytes).expect("a log");
    let then = session.ask(&ConcurrentActivityQuery(Interval::new(
        Nanos(200),
        Nanos(1_200),
    )));
    let threads: Vec<_> = then
        .threads
        .iter()
        .map(|then| (then.id.0, then.running_ns))
        .collect();
    assert_eq!((threads, then.running_ns), (vec![(2, 600), (1, 150)], 750));
    let spans: Vec<&str> = then.spans.iter().map(|then| then.name.as_str()).collect();
    assert_eq!((spans, then.span_count), (vec!["outer", "inner"], 2));
    let none = session.ask(&ConcurrentActivityQuery(Interval::new(
        Nanos(5_500),
        Nanos(5_600),
    )));
    assert!(none.known && none.threads.is_empty() && none.spans.is_empty());
}
