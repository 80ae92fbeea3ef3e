//! Queries on a heap profile. Run with `EVENTSCOPE_BENCH_HEAP=LOG cargo bench --bench heap`; the example
//! `make_heap_log` writes logs of any size. The default is a small fixture by info table.
//!
//! Parameters change from one iteration to the next, so that no cached answer is measured. The loading time and
//! the peak memory are printed.
#![allow(missing_docs, reason = "criterion makes an undocumented function")]

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use analysis::heap::ranking::BandOrder;
use criterion::{Criterion, criterion_group, criterion_main};
use eventlog::FileSource;
use eventlog::ids::Nanos;
use model::time::Interval;
use session::heap::census_diff::{CensusDiffChoice, CensusDiffQuery};
use session::heap::chart::ChartQuery;
use session::heap::choice::HeapChoice;
use session::heap::growth::{BurstsQuery, CompanionsQuery, GrowthQuery};
use session::heap::profiles::ProfilesQuery;
use session::heap::table::{BandColumn, BandSort, BandTableQuery};
use session::{Session, read_session};

const FIXTURE: &str = "tests/fixtures/logs/ghc-9.10.3/heap-ipe-N1-hi-l-au.eventlog";

/// Returns the peak resident memory so far (`VmHWM`).
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.unwrap_or("no VmHWM").to_owned()
}

fn load() -> Session {
    let path = std::env::var_os("EVENTSCOPE_BENCH_HEAP");
    let path = path.map_or_else(|| FIXTURE.into(), PathBuf::from);
    let mut file = FileSource::open(&path).expect("the log");
    let started = Instant::now();
    let session = read_session(&mut file).expect("a log");
    println!("loaded in {:.2?}; {}", started.elapsed(), peak());
    for profile in session.ask(&ProfilesQuery) {
        println!("{}: {}", profile.title(), profile.facts());
    }
    session
}

/// Asks for a chart and returns its size.
fn chart(session: &Session, choice: HeapChoice, range: Option<Interval>) -> usize {
    let query = ChartQuery {
        choice,
        range,
        width_px: 1400,
        ..ChartQuery::default()
    };
    let chart = session.ask(&query).expect("a heap profile");
    chart.stacks.bytes.len()
}

fn heap(c: &mut Criterion) {
    let session = load();
    let span = session.overview().span.expect("events");
    let mut group = c.benchmark_group("heap");
    group.sample_size(10);
    let mut turn = 0;
    let mut ranges = || {
        turn += 1;
        let part = span.duration().0 / 1_000;
        let (start, end) = (
            span.start().0 + part * (turn % 400),
            span.end().0 - part * (turn % 397),
        );
        Some(Interval::new(Nanos(start), Nanos(end)))
    };
    group.bench_function("another range", |b| {
        b.iter(|| black_box(chart(&session, HeapChoice::default(), ranges())));
    });
    let mut number = 0;
    group.bench_function("another number of bands", |b| {
        b.iter(|| {
            number = number % 200 + 1;
            let choice = HeapChoice {
                bands: number,
                ..HeapChoice::default()
            };
            black_box(chart(&session, choice, None))
        });
    });
    for order in BandOrder::ALL {
        let choice = HeapChoice {
            order,
            bands: 200,
            ..HeapChoice::default()
        };
        group.bench_function(format!("by {}", order.name()), |b| {
            b.iter(|| black_box(chart(&session, choice.clone(), None)));
        });
    }
    group.bench_function("a filter", |b| {
        b.iter(|| {
            number = (number + 1) % 16;
            let choice = HeapChoice {
                filter: format!("{number:x}"),
                ..HeapChoice::default()
            };
            black_box(chart(&session, choice, None))
        });
    });
}

/// Asks for one screen of the table, with another sort order each time.
fn table(session: &Session, choice: HeapChoice, range: Option<Interval>, turn: usize) -> usize {
    let column = BandColumn::ALL[turn % BandColumn::ALL.len()];
    let query = BandTableQuery {
        choice,
        range,
        sort: BandSort::sorted_by(column),
        rows: 0..100,
    };
    let table = session.ask(&query).expect("a heap profile");
    table.rows.len()
}

fn tables(c: &mut Criterion) {
    let session = load();
    let span = session.overview().span.expect("events");
    let mut group = c.benchmark_group("tables of the heap");
    group.sample_size(10);
    let mut turn = 0;
    let mut next = move || {
        turn += 1;
        turn
    };
    let range = |turn: usize| {
        let part = span.duration().0 / 1_000;
        let start = span.start().0 + part * (turn as u64 % 400);
        Some(Interval::new(Nanos(start), span.end()))
    };
    let usual = HeapChoice::default;
    group.bench_function("another order", |b| {
        b.iter(|| black_box(table(&session, usual(), None, next())));
    });
    group.bench_function("another range", |b| {
        b.iter(|| {
            let turn = next();
            black_box(table(&session, usual(), range(turn), turn))
        });
    });
    group.bench_function("a filter", |b| {
        b.iter(|| {
            let turn = next();
            let filter = format!("{:x}", turn % 16);
            black_box(table(
                &session,
                HeapChoice { filter, ..usual() },
                None,
                turn,
            ))
        });
    });
    group.bench_function("two censuses", |b| {
        b.iter(|| {
            let moments = CensusDiffChoice {
                before: Some(next() as u32 % 500),
                ..CensusDiffChoice::default()
            };
            let query = CensusDiffQuery {
                moments,
                rows: 0..100,
                points: 600,
                ..CensusDiffQuery::default()
            };
            black_box(session.ask(&query))
        });
    });
    group.bench_function("what grows", |b| {
        b.iter(|| {
            let range = range(next());
            black_box(session.ask(&GrowthQuery {
                range,
                ..GrowthQuery::default()
            }))
        });
    });
    // The sums are already cached by the growth query.
    let growing = session.ask(&GrowthQuery::default()).expect("a profile");
    let mut suspects = growing.rows.iter().cycle();
    group.bench_function("companions", |b| {
        b.iter(|| {
            let suspect = suspects.next().map(|row| row.band_label.key.clone());
            let query = CompanionsQuery {
                suspect: suspect.unwrap_or_default(),
                ..CompanionsQuery::default()
            };
            black_box(session.ask(&query))
        });
    });
    group.bench_function("bursts", |b| {
        b.iter(|| black_box(session.ask(&BurstsQuery::default())));
    });
}

criterion_group!(benches, heap, tables);
criterion_main!(benches);
