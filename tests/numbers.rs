//! Summaries of parts of a log, and of synthetic logs.

use crate::common;

use std::sync::LazyLock;

use analysis::numbers::Collection;
use analysis::numbers::collections_query::{CollectionColumn, CollectionsQuery};
use analysis::numbers::summary::Summary;
use common::build::{EventTypeDecl, LogBuilder};
use common::span;
use eventlog::ids::{CapId, Nanos};
use model::time::Interval;
use proptest::prelude::*;
use session::Session;
use session::queries::{SparksQuery, SummaryQuery};
use session::read_session;

const LOGS: &[&str] = &[
    "ghc-9.0.2/fib-forkio-N4-lsgfpu",
    "ghc-9.0.2/gc-heavy-nt-l",
    "ghc-9.0.2/sparks-N4-lsf",
    "ghc-9.10.3/caps-N2-la",
    "ghc-9.10.3/prof-heap-N1-hc-l-au",
    "ghc-9.10.3/relog-N2-l",
    "ghc-9.6.6/cut-mid-event",
    "ghc-9.6.6/endless-killed-flush-N2-l",
    "ghc-9.6.6/gc-heavy-N2-la-nonmoving",
];

static SESSIONS: LazyLock<Vec<Session>> = LazyLock::new(|| {
    let open = |name: &&str| common::fixture(name).session();
    LOGS.iter().map(open).collect()
});

fn end(session: &Session) -> u64 {
    session.overview().span.expect("events").end().0
}

fn all_collections(session: &Session, range: Option<Interval>) -> Vec<Collection> {
    let query = CollectionsQuery {
        range,
        rows: 0..u64::MAX,
        ..CollectionsQuery::default()
    };
    session.ask(&query).rows
}

/// Returns the numbers whose sum over the parts equals that of the whole.
fn additive(summary: &Summary) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    let mut put = |name: &str, number: Option<u64>| {
        all.push((name.to_owned(), number.unwrap_or(0)));
    };
    put("bytes_allocated", summary.bytes_allocated);
    put("bytes_copied", summary.bytes_copied);
    put("residency_samples", summary.residency_samples);
    put("init_ns", summary.init_ns);
    put("mutator_ns", summary.mutator_ns);
    put("exit_ns", summary.exit_ns);
    put("gc_ns", summary.gc_ns);
    put("prof_ns", summary.prof_ns);
    put("total_ns", Some(summary.total_ns));
    put("collections", summary.collections);
    put("parallel_collections", summary.parallel_collections);
    put("sync_ns", summary.sync_ns);
    put("os_threads", summary.os_threads);
    let sparks = summary.sparks.unwrap_or_default();
    put("count", Some(sparks.count));
    put("pooled", Some(sparks.pooled));
    put("converted", Some(sparks.converted));
    put("overflowed", Some(sparks.overflowed));
    put("dud", Some(sparks.dud));
    put("gcd", Some(sparks.gcd));
    put("fizzled", Some(sparks.fizzled));
    for row in &summary.generations {
        let mut put = |name: &str, number| put(&format!("gen {} {name}", row.generation), number);
        put("collections", Some(row.collections));
        put("parallel", Some(row.parallel));
        put("elapsed_ns", Some(row.elapsed_ns));
    }
    for row in &summary.capabilities {
        let mut put = |name: &str, number| put(&format!("cap {} {name}", row.cap), number);
        put("mutator_ns", Some(row.mutator_ns));
        put("gc_ns", Some(row.gc_ns));
        put("idle_ns", Some(row.idle_ns));
        put("bytes_allocated", row.bytes_allocated);
    }
    all
}

/// Returns the numbers whose maximum over the parts equals that of the whole.
fn maxima(summary: &Summary) -> Vec<Option<u64>> {
    let generations = summary.generations.iter().map(|row| Some(row.max_pause_ns));
    let others = [
        summary.max_residency,
        summary.max_slop,
        summary.max_heap_size,
        summary.max_fragmentation,
    ];
    generations.chain(others).collect()
}

/// Position at which to cut a log: arbitrary, or exactly at the begin or end of a collection.
#[derive(Clone, Debug)]
enum Cut {
    At(f64),
    Begin(prop::sample::Index),
    End(prop::sample::Index),
}

fn cut() -> impl Strategy<Value = Cut> {
    prop_oneof![
        (0.0..1.0).prop_map(Cut::At),
        any::<prop::sample::Index>().prop_map(Cut::Begin),
        any::<prop::sample::Index>().prop_map(Cut::End),
    ]
}

fn cut_time(cut: &Cut, end: u64, collections: &[Collection]) -> u64 {
    match cut {
        Cut::Begin(index) if !collections.is_empty() => index.get(collections).start.0,
        Cut::End(index) if !collections.is_empty() => index.get(collections).end.0,
        Cut::At(share) => (end as f64 * share) as u64,
        Cut::Begin(_) | Cut::End(_) => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn parts_add_up_to_the_whole(log in 0..LOGS.len(), cuts in prop::collection::vec(cut(), 0..12)) {
        let session = &SESSIONS[log];
        let end = end(session);
        let collections = all_collections(session, None);
        let mut edges: Vec<u64> = cuts.iter().map(|cut| cut_time(cut, end, &collections)).collect();
        edges.extend([0, end]);
        edges.sort_unstable();
        let parts: Vec<Summary> = edges
            .windows(2)
            .map(|edges| session.ask(&SummaryQuery(Some(span(edges[0], edges[1])))))
            .collect();
        let whole = session.ask(&SummaryQuery(None));
        let mut sums = additive(&parts[0]);
        let mut largest = maxima(&parts[0]);
        for part in &parts[1..] {
            for (sum, (name, more)) in sums.iter_mut().zip(additive(part)) {
                prop_assert_eq!(&sum.0, &name);
                sum.1 += more;
            }
            for (largest, more) in largest.iter_mut().zip(maxima(part)) {
                *largest = more.max(*largest);
            }
        }
        prop_assert_eq!(sums, additive(&whole), "{} at {:?}", LOGS[log], &edges);
        prop_assert_eq!(largest, maxima(&whole));
        // A range that extends beyond the log is clipped to it.
        prop_assert_eq!(session.ask(&SummaryQuery(Some(span(0, u64::MAX)))), whole);
    }

    /// Lists of collections and sparks agree with the summary.
    #[test]
    fn lists_agree_with_the_summary(log in 0..LOGS.len(), a in 0.0..1.1, b in 0.0..1.1) {
        let session = &SESSIONS[log];
        let end = end(session) as f64;
        let range = span((f64::min(a, b) * end) as u64, (f64::max(a, b) * end) as u64);
        let summary = session.ask(&SummaryQuery(Some(range)));
        let rows = all_collections(session, Some(range));
        prop_assert_eq!(rows.len() as u64, summary.collections.unwrap_or(0));
        prop_assert!(rows.is_sorted_by_key(|row| row.start));
        let longest = summary.generations.iter().filter(|row| row.collections > 0).map(|row| row.max_pause_ns).max();
        for column in [CollectionColumn::Pause, CollectionColumn::Copied, CollectionColumn::Live] {
            let query = CollectionsQuery { range: Some(range), sort: column, descending: true, rows: 0..3, pauses: true, pause_ns: None };
            let reply = session.ask(&query);
            prop_assert_eq!(reply.rows.len(), rows.len().min(3));
            prop_assert_eq!(reply.total, rows.len() as u64);
            prop_assert_eq!(reply.pauses.first().map(|all| all.longest.ns), longest);
            if column == CollectionColumn::Pause {
                prop_assert_eq!(reply.rows.first().map(Collection::pause_ns), longest);
            }
            for list in &reply.pauses {
                prop_assert_eq!(list.bins.iter().map(|bin| bin.count).sum::<u64>(), list.count);
                prop_assert_eq!(list.bins.iter().map(|bin| bin.total_ns).sum::<u64>(), list.total_ns);
            }
            let by_generation: u64 = reply.pauses.iter().skip(1).map(|list| list.count).sum();
            prop_assert_eq!(by_generation, reply.total);
        }
        let sparks = session.ask(&SparksQuery(Some(range)));
        prop_assert_eq!(sparks.rows.first().map(|row| row.totals), summary.sparks);
    }
}

/// The rates of the slices integrate to the totals.
#[test]
fn slices_of_a_whole_log_have_every_spark() {
    let session = &SESSIONS[2];
    let reply = session.ask(&SparksQuery(None));
    let range = reply.range.expect("a range");
    let all = reply.rows.first().expect("counters");
    assert_eq!((all.totals.pooled, all.totals.converted), (8675, 193));
    assert_eq!(all.slices.len(), 240);
    let width = range.duration().0 as f64 / 240.0 / 1e9;
    let created: f64 = all.slices.iter().map(|slice| slice.created * width).sum();
    assert!((created - 8675.0).abs() < 0.5, "{created}");
    let most = all
        .slices
        .iter()
        .filter_map(|slice| slice.pool)
        .map(|pool| pool.max)
        .max();
    assert_eq!(most, all.pool.map(|pool| pool.max));
    // This log has an event for each spark, and each converted spark ran.
    assert!(reply.has_single_sparks);
    assert_eq!(reply.runs.iter().map(|bin| bin.count).sum::<u64>(), 193);
}

const TYPES: &[EventTypeDecl] = &[
    (1, Some(4), "Run thread"),
    (9, Some(0), "Starting GC"),
    (10, Some(0), "Finished GC"),
    (11, Some(0), "Request sequential GC"),
    (12, Some(0), "Request parallel GC"),
    (18, Some(14), "Block marker"),
    (49, Some(12), "Total heap memory ever allocated"),
    (50, Some(12), "Current heap size"),
    (51, Some(12), "Current heap live data"),
    (52, Some(38), "Heap static parameters"),
    (53, Some(58), "GC statistics"),
    (54, Some(0), "Synchronise stop-the-world GC"),
    (59, Some(0), "Empty event for #9003"),
];

fn heap(log: &mut LogBuilder, id: u16, time: u64, bytes: u64) {
    log.event(id, time, &[&[0; 4][..], &bytes.to_be_bytes()].concat());
}

/// Appends `GCStatsGHC`: generation, slop, threads; 100 bytes copied, 60 of them balanced.
fn statistics(log: &mut LogBuilder, time: u64, (generation, slop, threads): (u16, u64, u32)) {
    let mut payload = vec![0; 4];
    payload.extend(generation.to_be_bytes());
    for number in [100, slop, 4096] {
        payload.extend(u64::to_be_bytes(number));
    }
    payload.extend(threads.to_be_bytes());
    for number in [70u64, 100, 60] {
        payload.extend(number.to_be_bytes());
    }
    log.event(53, time, &payload);
}

fn heap_info(log: &mut LogBuilder, time: u64, generations: u16) {
    let payload = [&[0; 4][..], &generations.to_be_bytes(), &[0; 32]].concat();
    log.event(52, time, &payload);
}

fn open(log: &mut LogBuilder) -> Session {
    log.end();
    read_session(&mut log.bytes.as_slice()).expect("a log")
}

/// Builds a parallel collection from 1000 to 1500 ns that capability 0 leads and 1 takes part in; the end is dated
/// before the statistics that it follows.
fn parallel(log: &mut LogBuilder) {
    log.block(Some(1), (900, 1700), |log| {
        log.event(9, 1100, &[]);
        heap(log, 49, 1450, 300);
        log.event(10, 1600, &[])
    });
    log.block(Some(0), (800, 1700), |log| {
        log.event(12, 900, &[]).event(9, 1000, &[]);
        heap(log, 49, 1440, 500);
        log.event(54, 1550, &[]);
        statistics(log, 1551, (0, 900, 2));
        log.event(10, 1500, &[]);
        heap(log, 50, 1560, 3 << 20);
        log
    });
}

#[test]
fn a_collection_is_what_its_leader_says() {
    let session = open(&mut {
        let mut log = LogBuilder::with_types(TYPES);
        parallel(&mut log);
        log
    });
    let expected = Collection {
        number: 1,
        cap: CapId(0),
        start: Nanos(1000),
        end: Nanos(1500),
        generation: Some(0),
        threads: 2,
        sync_ns: Some(100),
        copied_bytes: 100,
        slop_bytes: 900,
        fragmentation_bytes: 4096,
        max_copied_bytes: 70,
        total_copied_bytes: 100,
        balanced_bytes: Some(60),
        live_bytes: None,
        heap_size_bytes: Some(3 << 20),
        allocated_bytes: 800,
    };
    assert_eq!(all_collections(&session, None), [expected]);
    let summary = session.ask(&SummaryQuery(None));
    assert_eq!((summary.gc_ns, summary.total_ns), (Some(500), 1600));
    // Without tasks, the start and end of the runtime are unknown.
    assert_eq!((summary.mutator_ns, summary.init_ns), (None, None));
    assert_eq!(summary.work_balance, Some(0.6));
    assert_eq!(summary.bytes_allocated, Some(800));
    assert_eq!(
        (summary.max_residency, summary.residency_samples),
        (None, Some(0))
    );
    let usage: Vec<_> = summary.capabilities.iter().map(|row| row.gc_ns).collect();
    assert_eq!(usage, [500, 500]);
}

#[test]
fn a_cut_through_a_collection_shares_its_time() {
    let mut log = LogBuilder::with_types(TYPES);
    parallel(&mut log);
    let session = open(&mut log);
    let part = |from, to| session.ask(&SummaryQuery(Some(span(from, to))));
    let (early, late) = (part(0, 1200), part(1200, 1600));
    assert_eq!((early.gc_ns, late.gc_ns), (Some(200), Some(300)));
    assert_eq!((early.total_ns, late.total_ns), (1200, 400));
    assert_eq!((early.collections, late.collections), (Some(1), Some(0)));
    let row = |summary: &Summary| summary.generations[0].clone();
    assert_eq!((row(&early).elapsed_ns, row(&late).elapsed_ns), (200, 300));
    // A pause has its full length, whichever part of it the range covers.
    assert_eq!(row(&early).avg_pause_ns, 500);
    assert_eq!(row(&early).max_pause_ns, 500);
    assert_eq!((row(&late).avg_pause_ns, row(&late).max_pause_ns), (0, 0));
    // The counters were sampled in the second part, and count there.
    assert_eq!(
        (early.bytes_allocated, late.bytes_allocated),
        (Some(0), Some(800))
    );
    assert_eq!(
        (early.bytes_copied, late.bytes_copied),
        (Some(100), Some(0))
    );
    // A collection that starts exactly at the end of a range belongs to the next range.
    assert_eq!(part(0, 1000).collections, Some(0));
    assert_eq!(part(1000, 1001).collections, Some(1));
}

#[test]
fn which_generation_is_the_oldest_may_stand_at_the_end() {
    let log = |info: bool| {
        let mut log = LogBuilder::with_types(TYPES);
        log.block(Some(0), (10, 900), |log| {
            for (start, generation, slop) in [(100, 0, 50), (200, 1, 70), (300, 2, 20)] {
                log.event(11, start, &[]).event(9, start + 5, &[]);
                statistics(log, start + 30, (generation, slop, 1));
                log.event(10, start + 25, &[]);
                if generation == 2 {
                    heap(log, 51, start + 31, 12_345);
                }
            }
            log
        });
        if info {
            log.block(None, (5, 900), |log| {
                heap_info(log, 6, 4);
                log
            });
        }
        open(&mut log).ask(&SummaryQuery(None))
    };
    let with = log(true);
    // Generation 3 is the oldest but was never collected: no slop counts.
    assert_eq!((with.max_slop, with.generations.len()), (None, 4));
    assert_eq!(with.max_residency, Some(12_345));
    assert_eq!(with.work_balance, None);
    assert_eq!(with.gc_ns, Some(60));
    // Without heap parameters, the oldest generation is the oldest one that was collected.
    let without = log(false);
    assert_eq!((without.max_slop, without.generations.len()), (Some(20), 3));
}

#[test]
fn what_a_log_does_not_have_is_absent() {
    let mut log = LogBuilder::with_types(TYPES);
    log.block(Some(0), (10, 50), |log| log.run(20, 1));
    let summary = open(&mut log).ask(&SummaryQuery(None));
    assert_eq!(summary.total_ns, 20);
    assert_eq!((summary.gc_ns, summary.mutator_ns), (None, None));
    assert_eq!(
        (summary.bytes_allocated, summary.bytes_copied),
        (None, None)
    );
    assert_eq!((summary.productivity, summary.sparks), (None, None));
    assert!(summary.generations.is_empty());
}

/// The runtime of a program built for profiling reports the time of heap censuses separately from that of
/// collections; other runtimes include it.
#[test]
fn a_profiled_program_counts_the_heap_outside_of_gc() {
    let types: [EventTypeDecl; 3] = [
        (29, None, "RTS identifier"),
        (162, Some(8), "Heap profile sample begin"),
        (165, Some(8), "Heap profile sample end"),
    ];
    let types = [TYPES, &types].concat();
    for (rts, gc_ns, prof_ns) in [
        ("GHC-9.6.6 rts_thr_p", 250, Some(50)),
        ("GHC-9.6.6 rts_thr", 300, None),
    ] {
        let mut log = LogBuilder::with_types(&types);
        log.block(Some(0), (10, 600), |log| {
            let identifier = [&[0; 4][..], rts.as_bytes()].concat();
            log.event(29, 20, &identifier);
            log.event(9, 100, &[]).event(162, 300, &[0; 8]);
            log.event(165, 350, &[0; 8]).event(10, 400, &[])
        });
        let summary = open(&mut log).ask(&SummaryQuery(None));
        assert_eq!((summary.gc_ns, summary.prof_ns), (Some(gc_ns), prof_ns));
        assert_eq!(summary.in_collections_ns(), Some(300), "{rts}");
    }
}

/// GHC before 7.6 has no statistics: only the times in which capabilities were stopped are known.
#[test]
fn without_statistics_collections_are_time() {
    let mut log = LogBuilder::with_types(TYPES);
    for cap in [0, 1] {
        log.block(Some(cap), (10, 500), |log| {
            let late = u64::from(cap) * 7;
            log.event(9, 100 + late, &[]).event(10, 150 + late, &[]);
            log.event(9, 300 + late, &[]).event(10, 350 + late, &[])
        });
    }
    let session = open(&mut log);
    let summary = session.ask(&SummaryQuery(None));
    assert_eq!((summary.gc_ns, summary.collections), (Some(114), Some(2)));
    let part = session.ask(&SummaryQuery(Some(span(0, 120))));
    assert_eq!(part.gc_ns, Some(20));
}
