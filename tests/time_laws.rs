//! Account of time compared with a reference implementation (`common/plain_time.rs`), and invariants of any
//! account.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use analysis::account::report::CapTimes;
use analysis::numbers::collections_query::CollectionsQuery;
use analysis::timeline::activity::{COLLECTING, MAX_SERIES};
use analysis::timeline::thread_account::ThreadAccount;
use analysis::timeline::thread_table::ThreadTableQuery;
use common::build::{EventTypeDecl, LogBuilder};
use common::plain_time::{CapClass, CapSums, NsRange, PlainTime, ThreadSums};
use common::{Case, expect, expected_coverage, for_all, for_all_spans};
use eventlog::EventType;
use eventlog::ids::Nanos;
use model::class::{CLASSES, Class, ClassTimes, WAIT_REASONS, WaitReason};
use model::lane::Lane;
use model::marks::{MarkKind, Values};
use model::time::Interval;
use proptest::prelude::*;
use serde_json::{Value, json};
use session::Session;
use session::queries::{SummaryQuery, ThreadTimeQuery, TimeQuery};
use session::tracks::activity::Activity;
use session::tracks::capability::Capability;
use session::tracks::collections::Collections;
use session::tracks::concurrency::Concurrency;
use session::tracks::thread::Thread;
use session::tracks::{TimelineQuery, TrackId};

/// Names of the classes of a capability in `eventscope time --json`.
const CAP_CLASSES: [(&str, CapClass); 9] = [
    ("running", CapClass::Running),
    ("collecting", CapClass::Collecting),
    ("waiting_in_collection", CapClass::Waiting),
    ("stopping", CapClass::Stopping),
    ("census", CapClass::Census),
    ("coming_back", CapClass::ComingBack),
    ("idle_work_ready", CapClass::IdleWorkReady),
    ("idle", CapClass::Idle),
    ("unknown", CapClass::Unknown),
];

fn span((from, to): NsRange) -> Interval {
    Interval::new(Nanos(from), Nanos(to))
}

/// Returns deterministic pseudo-random numbers (a linear congruential generator).
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    })
}

/// Returns ranges of a log, the whole log first.
fn ranges(log: NsRange) -> Vec<NsRange> {
    let length = log.1 - log.0;
    let cuts = numbers(length).take(10);
    let cuts: Vec<u64> = cuts.map(|cut| log.0 + cut % (length + 1)).collect();
    let pairs = cuts.chunks(2);
    let pairs = pairs.map(|pair| (pair[0].min(pair[1]), pair[0].max(pair[1])));
    std::iter::once(log)
        .chain(pairs.filter(|pair| pair.0 < pair.1))
        .collect()
}

/// Larger logs are skipped, as the reference implementation has a list entry for each event.
const MAX_BYTES: usize = 32 << 20;

/// Opens a log with both implementations; `None` if it cannot be read, or is too large.
fn open_both(case: &Case) -> Option<(Session, PlainTime)> {
    let bytes = case.bytes();
    if bytes.len() > MAX_BYTES {
        return None;
    }
    let cuts = |log| ranges(log).into_iter().flat_map(|(from, to)| [from, to]);
    let plain = PlainTime::compute(&bytes, |log| cuts(log).collect()).ok()?;
    Some((common::session_of(&bytes).ok()?, plain))
}

fn by_class(times: &CapTimes) -> CapSums {
    let classes = [
        (CapClass::Running, times.running_ns),
        (CapClass::Collecting, times.collecting_ns),
        (CapClass::Waiting, times.waiting_ns),
        (CapClass::Stopping, times.stopping_ns),
        (CapClass::Census, times.census_ns),
        (CapClass::ComingBack, times.returning_ns),
        (CapClass::IdleWorkReady, times.idle_work_available_ns),
        (CapClass::Idle, times.idle_ns),
        (CapClass::Unknown, times.unknown_ns),
    ];
    classes.into_iter().filter(|(_, time)| *time > 0).collect()
}

fn sums_of(thread: &ThreadAccount) -> ThreadSums {
    ThreadSums {
        life: thread.life_ns,
        running: thread.running_ns,
        ready_in_collection: thread.runnable_during_gc_ns,
        ready_behind_thread: thread.runnable_behind_ns,
        ready_while_idle: thread.runnable_cap_idle_ns,
        blocked: thread.blocked_ns.clone(),
        foreign_call: thread.foreign_ns,
        unknown: thread.unknown_ns,
    }
}

/// Compares both accounts of a range. Returns the number of compared items.
fn same_in(session: &Session, plain: &PlainTime, range: NsRange) -> Result<usize, String> {
    let ours = session.ask(&TimeQuery(Some(span(range))));
    let mut things = 0;
    let caps: BTreeMap<_, _> = ours
        .caps
        .iter()
        .map(|(cap, times)| (*cap, by_class(times)))
        .collect();
    let plain_caps = plain.caps(range);
    expect("capabilities", caps.len(), plain_caps.len())?;
    for (cap, classes) in &plain_caps {
        expect(&format!("capability {cap}"), &caps[cap], classes)?;
        things += 1;
    }
    expect("the life of the program", ours.life_ns, range.1 - range.0)?;
    expect("parallelism", ours.parallelism_ns, plain.parallelism(range))?;
    expect("ready time", ours.ready_ns, plain.ready(range))?;
    let collections = plain.collections(range);
    expect("collections", ours.collections.count, collections.count)?;
    expect(
        "stopping",
        ours.collections.stopping_ns,
        collections.stopping,
    )?;
    expect("pauses", ours.collections.pause_ns, collections.pause)?;
    expect(
        "capability time",
        ours.collections.capability_ns,
        collections.capability_time,
    )?;
    let threads = threads_of(session, Some(span(range)));
    let plain_threads = plain.threads(range);
    let numbers: Vec<_> = threads.iter().map(|thread| thread.id).collect();
    let plain_numbers: Vec<_> = plain_threads.keys().copied().collect();
    expect("threads", &numbers, &plain_numbers)?;
    for thread in &threads {
        let what = format!("thread {}", thread.id);
        expect(&what, &sums_of(thread), &plain_threads[&thread.id])?;
        things += 1;
    }
    Ok(things)
}

#[test]
fn a_second_computation_gives_the_same_account() {
    for_all(expected_coverage([39, 7391], [136, 27659]), |case| {
        let Some((session, plain)) = open_both(case) else {
            return Ok(0);
        };
        let mut things = 0;
        for range in ranges(plain.log) {
            let same = same_in(&session, &plain, range);
            things += same.map_err(|why| format!("{range:?}: {why}"))?;
        }
        Ok(things)
    });
}

#[test]
fn no_capability_runs_while_it_stands_still() {
    for_all(expected_coverage([38, 3074], [133, 42340]), |case| {
        let Ok(store) = common::store_of(&case.bytes()) else {
            return Ok(0);
        };
        let account = store.account();
        let mut things = 0;
        for &cap in account.caps() {
            let (Some(lanes), Some(gc_spans)) = (store.cap(cap), account.gc_spans_of(cap)) else {
                continue;
            };
            let mut run = 0;
            let mut covered = 0;
            for gc_span in 0..gc_spans.len() {
                let (start, end) = gc_spans.span(gc_span);
                if start < covered {
                    return Err(format!("capability {cap}: two classes at {start}"));
                }
                covered = end;
                while run < lanes.runs.len() && lanes.runs.span(run).1 <= start {
                    run += 1;
                }
                if run < lanes.runs.len() && lanes.runs.span(run).0 < end {
                    let class = gc_spans.class(gc_span);
                    return Err(format!("capability {cap}: {class:?} in a run at {start}"));
                }
                things += 1;
            }
        }
        Ok(things)
    });
}

/// Returns the account of threads in a range of a complete log.
fn threads_of(session: &Session, range: Option<Interval>) -> Vec<ThreadAccount> {
    let threads = session.ask(&ThreadTimeQuery(range));
    threads.expect("it is read to its end")
}

/// Returns the time of each class in the marks of a row.
fn in_marks(session: &Session, row: TrackId, view: Interval, width_px: u32) -> [f64; CLASSES] {
    let query = TimelineQuery {
        view,
        width_px,
        rows: vec![row],
        ..TimelineQuery::default()
    };
    let bucket = query.bucket_ns() as f64;
    let reply = session.ask(&query);
    let mut sums = [0.0; CLASSES];
    for mark in reply.row_marks(0) {
        let width = match mark.kind {
            MarkKind::One => mark.end - mark.start,
            _ => bucket,
        };
        for (sum, share) in sums.iter_mut().zip(mark.shares) {
            *sum += f64::from(*share) * width;
        }
    }
    sums
}

/// Compares the sum of shares with the exact time. Shares have 24 bits: each has a relative error of at most
/// 2^-24, and so does their sum.
fn shown(what: &str, shown: f64, ours: u64) -> Result<(), String> {
    let bound = 0.5 + ours as f64 / f64::from(1 << 24);
    if (shown - ours as f64).abs() <= bound {
        return Ok(());
    }
    Err(format!("{what}: the marks show {shown}, of {ours}"))
}

fn sum_of(times: &[f64; CLASSES], classes: &[Class]) -> f64 {
    classes.iter().map(|class| times[*class as usize]).sum()
}

const ZOOMS: [u32; 4] = [1, 13, 800, 5000];

#[test]
fn the_rows_of_capabilities_show_the_account() {
    for_all(expected_coverage([39, 80], [136, 255]), |case| {
        let Ok(session) = common::session_of(&case.bytes()) else {
            return Ok(0);
        };
        let times = session.ask(&TimeQuery(None));
        let Some(view) = session.overview().span else {
            return Ok(0);
        };
        for (cap, times) in &times.caps {
            for zoom in ZOOMS {
                let marks = in_marks(&session, Capability(*cap).into(), view, zoom);
                let rows: [(&[Class], u64); 6] = [
                    (&[Class::Running, Class::Open], times.running_ns),
                    (&[Class::Gc], times.collecting_ns),
                    (
                        &[Class::GcStart, Class::GcIdle, Class::GcDone],
                        times.waiting_ns,
                    ),
                    (&[Class::GcSync], times.stopping_ns),
                    (&[Class::Census], times.census_ns),
                    (&[Class::Returning], times.returning_ns),
                ];
                for (classes, time) in rows {
                    let what = format!("capability {cap}, {zoom} pixels, {classes:?}");
                    shown(&what, sum_of(&marks, classes), time)?;
                }
            }
        }
        Ok(times.caps.len())
    });
}

#[test]
fn the_rows_of_threads_show_the_account() {
    const BLOCKED: [Class; 6] = [
        Class::Mvar,
        Class::BlackHole,
        Class::Stm,
        Class::ThrowTo,
        Class::Sleeping,
        Class::Io,
    ];
    for_all_spans(
        expected_coverage([29, 613], [106, 2089]),
        |session, view| {
            let threads = threads_of(session, None);
            for thread in threads.iter().take(200) {
                for zoom in ZOOMS {
                    let marks = in_marks(session, Thread(thread.id).into(), view, zoom);
                    let ready = thread.runnable_during_gc_ns
                        + thread.runnable_behind_ns
                        + thread.runnable_cap_idle_ns;
                    let blocked = thread.blocked_ns.values().sum();
                    let rows: [(&[Class], u64); 5] = [
                        (&[Class::Running, Class::Open], thread.running_ns),
                        (
                            &[
                                Class::Ready,
                                Class::RunnableDuringGc,
                                Class::ThreadRunnableCapIdle,
                            ],
                            ready,
                        ),
                        (&BLOCKED, blocked),
                        (&[Class::Foreign], thread.foreign_ns),
                        (&[Class::Unknown], thread.unknown_ns),
                    ];
                    for (classes, time) in rows {
                        let what = format!("thread {}, {zoom} pixels, {classes:?}", thread.id);
                        shown(&what, sum_of(&marks, classes), time)?;
                    }
                }
            }
            Ok(threads.len().min(200))
        },
    );
}

/// The activity is exact in every bucket, and so in every range of whole buckets.
#[test]
fn the_activity_shows_the_account() {
    for_all_spans(
        expected_coverage([29, 7392], [106, 37019]),
        |session, log| {
            let mut things = 0;
            for (place, range) in ranges((log.start().0, log.end().0)).into_iter().enumerate() {
                if range.0 == range.1 {
                    continue;
                }
                let query = TimelineQuery {
                    view: span(range),
                    width_px: ZOOMS[place % ZOOMS.len()],
                    rows: vec![Activity.into()],
                    ..TimelineQuery::default()
                };
                let bucket = query.bucket_ns();
                let buckets = (
                    range.0 / bucket * bucket,
                    range.1.div_ceil(bucket).saturating_mul(bucket),
                );
                let times = session.ask(&TimeQuery(Some(span(buckets))));
                let graph = session.ask(&query).points;
                let sum = |of: &dyn Fn(u8) -> bool| -> f64 {
                    let points = (0..graph.series.len()).filter(|&i| of(graph.series[i]));
                    points
                        .map(|i| graph.mean[i] * (graph.end[i] - graph.start[i]))
                        .sum()
                };
                let exactly =
                    |what: &str, points: f64, time: u64| expect(what, points.round() as u64, time);
                let all = times.all_caps();
                let what = format!("{range:?}");
                let collecting = sum(&|series| series == COLLECTING);
                exactly(&what, collecting, all.in_collections_ns())?;
                let running = sum(&|series| series != COLLECTING);
                exactly(&what, running, all.running_ns)?;
                if times.caps.len() <= MAX_SERIES {
                    for (place, (cap, times)) in times.caps.iter().enumerate() {
                        let ran = sum(&|series| usize::from(series) == place);
                        exactly(
                            &format!("{range:?}, capability {cap}"),
                            ran,
                            times.running_ns,
                        )?;
                    }
                }
                things += graph.series.len();
            }
            Ok(things)
        },
    );
}

/// Each pixel has the exact minimum, maximum and mean of the count.
#[test]
fn the_levels_show_the_account() {
    for_all_spans(
        expected_coverage([40, 3386], [139, 11508]),
        |session, log| {
            let mut things = 0;
            for (place, range) in ranges((log.start().0, log.end().0)).into_iter().enumerate() {
                let query = TimelineQuery {
                    view: span(range),
                    width_px: [1, 13, 40][place % 3],
                    rows: vec![Concurrency::Running.into(), Concurrency::Ready.into()],
                    ..TimelineQuery::default()
                };
                let points = session.ask(&query).points;
                let bucket = query.bucket_ns();
                for start in (range.0 / bucket * bucket..range.1).step_by(bucket as usize) {
                    let stretch = Interval::new(Nanos(start), Nanos(start.saturating_add(bucket)));
                    let times = session.ask(&TimeQuery(Some(stretch)));
                    let from = start as f64 - range.0 as f64;
                    let value = |row: usize| {
                        let found = points.row_points(row).find(|point| point.start == from);
                        found.map_or((Values::constant(0.0), 0.0), |point| {
                            (point.values, point.end - point.start)
                        })
                    };
                    let what = format!("{range:?}, from {start}");
                    let (running, length) = value(0);
                    let there = |(_, time): &(usize, &u64)| **time > 0;
                    let counts: Vec<_> = times
                        .parallelism_ns
                        .iter()
                        .enumerate()
                        .filter(there)
                        .collect();
                    let least = counts.first().map_or(0, |(count, _)| *count);
                    let most = counts.last().map_or(0, |(count, _)| *count);
                    let drawn = (running.min as usize, running.max as usize);
                    expect(&what, drawn, (least, most))?;
                    let sum: u64 = counts
                        .iter()
                        .map(|(count, time)| *count as u64 * **time)
                        .sum();
                    expect(&what, (running.mean * length).round() as u64, sum)?;
                    let (ready, length) = value(1);
                    expect(&what, (ready.mean * length).round() as u64, times.ready_ns)?;
                    things += 1;
                }
            }
            Ok(things)
        },
    );
}

/// The table and the track of collections agree with the account.
#[test]
fn the_collections_are_those_of_the_account() {
    for_all_spans(
        expected_coverage([27, 249], [102, 4293]),
        |session, view| {
            let ours = session.ask(&TimeQuery(None)).collections;
            let rows = session.ask(&CollectionsQuery {
                rows: 0..u64::MAX,
                ..CollectionsQuery::default()
            });
            expect("collections", rows.total, ours.count)?;
            let pauses = rows.rows.iter().map(|row| row.pause_ns()).sum();
            expect("pauses", ours.pause_ns, pauses)?;
            let waits = rows.rows.iter().filter_map(|row| row.sync_ns).sum();
            expect("waits before them", ours.stopping_ns, waits)?;
            for zoom in ZOOMS {
                let marks = in_marks(session, Collections.into(), view, zoom);
                let what = format!("collections in {zoom} pixels");
                shown(&what, sum_of(&marks, &[Class::Gc]), ours.pause_ns)?;
                shown(&what, sum_of(&marks, &[Class::GcSync]), ours.stopping_ns)?;
            }
            Ok(rows.rows.len())
        },
    );
}

#[test]
fn the_table_of_threads_is_the_account() {
    for_all_spans(
        expected_coverage([29, 6911], [106, 26129]),
        |session, log| {
            let mut things = 0;
            for range in ranges((log.start().0, log.end().0)) {
                let range = Some(span(range));
                let table = session.ask(&ThreadTableQuery {
                    range,
                    rows: 0..u64::MAX,
                    ..ThreadTableQuery::default()
                });
                let table = table.ok_or("no table")?;
                let times = session.ask(&TimeQuery(range));
                // The footer of the table agrees with the panels of capabilities and tracks.
                let all = table.all.times;
                let ready = all.runnable_during_gc_ns + all.ready_ns();
                expect(
                    "all runs",
                    all.running_ns + all.open_ns,
                    times.all_caps().running_ns,
                )?;
                expect("all ready time", ready, times.ready_ns)?;
                let rows = table.rows;
                let rows: BTreeMap<_, _> =
                    rows.iter().map(|row| (row.id, row.sums.times)).collect();
                for thread in threads_of(session, range) {
                    let what = format!("{range:?}, thread {}", thread.id);
                    let row = rows.get(&thread.id).ok_or_else(|| what.clone())?;
                    let mut blocked = [0; WAIT_REASONS];
                    for (of, time) in &thread.blocked_ns {
                        let reason = of.reason().ok_or_else(|| what.clone())?;
                        blocked[reason as usize] += time;
                    }
                    blocked[WaitReason::ForeignCall as usize] += thread.foreign_ns;
                    let ready = [
                        row.runnable_during_gc_ns,
                        row.runnable_behind_ns,
                        row.runnable_cap_idle_ns,
                    ];
                    expect(&what, row.running_ns + row.open_ns, thread.running_ns)?;
                    let plainly = [
                        thread.runnable_during_gc_ns,
                        thread.runnable_behind_ns,
                        thread.runnable_cap_idle_ns,
                    ];
                    expect(&what, ready, plainly)?;
                    expect(&what, row.blocked_ns, blocked)?;
                    expect(&what, row.unknown_ns, thread.unknown_ns)?;
                    expect(&what, row.life_ns(), thread.life_ns)?;
                    let shown: ClassTimes = row.by_class();
                    expect(&what, shown.iter().sum::<u64>(), thread.life_ns)?;
                    things += 1;
                }
            }
            Ok(things)
        },
    );
}

#[test]
fn the_summary_is_the_account() {
    for_all_spans(expected_coverage([39, 560], [136, 1785]), |session, log| {
        let mut things = 0;
        let parts = ranges((log.start().0, log.end().0)).into_iter().map(span);
        for range in parts.map(Some).chain([None]) {
            let summary = session.ask(&SummaryQuery(range));
            let times = session.ask(&TimeQuery(range));
            expect("capabilities", summary.capabilities.len(), times.caps.len())?;
            for (row, (cap, times)) in summary.capabilities.iter().zip(&times.caps) {
                let what = format!("{range:?}, capability {cap}");
                expect(&what, row.cap, *cap)?;
                let shown = [row.mutator_ns, row.gc_ns, row.idle_ns];
                let collections = times.collecting_ns + times.waiting_ns + times.census_ns;
                let idle = times.idle_ns + times.idle_work_available_ns;
                expect(&what, shown, [times.running_ns, collections, idle])?;
                things += 1;
            }
            expect("the account", summary.account, times)?;
        }
        Ok(things)
    });
}

/// Renders the expected output of `eventscope time --json` from the reference implementation.
fn document(session: &Session, plain: &PlainTime) -> Value {
    let range = plain.log;
    let caps = plain.caps(range).into_iter().map(|(cap, sums)| {
        let time = |class| sums.get(&class).copied().unwrap_or(0);
        let classes = CAP_CLASSES.map(|(name, class)| (name.to_owned(), json!(time(class))));
        let classes: serde_json::Map<String, Value> = classes.into_iter().collect();
        json!({"cap": cap.0, "life": sums.values().sum::<u64>(), "classes": classes})
    });
    let labels: BTreeMap<_, _> = session
        .ask(&ThreadTimeQuery(None))
        .expect("it is read to its end")
        .into_iter()
        .map(|thread| (thread.id, thread.label))
        .collect();
    let threads = plain.threads(range).into_iter().map(|(id, sums)| {
        let mut blocked = BTreeMap::new();
        for (of, time) in &sums.blocked {
            *blocked.entry(of.name()).or_insert(0) += time;
        }
        json!({"thread": id.0, "label": labels.get(&id), "life": sums.life, "classes": {
            "running": sums.running,
            "ready_in_collection": sums.ready_in_collection,
            "ready_behind_thread": sums.ready_behind_thread,
            "ready_while_idle": sums.ready_while_idle,
            "blocked": blocked,
            "foreign_call": sums.foreign_call,
            "unknown": sums.unknown,
        }})
    });
    let collections = plain.collections(range);
    // Without their events, they are unknown.
    let types = session.recording().info.types();
    let has = |all: &[EventType]| {
        let is_one = |id: u16| all.iter().any(|one| one.0 == id);
        types.iter().any(|of| of.known && is_one(of.id))
    };
    let has_threads = has(&[EventType::RUN_THREAD]);
    let has_collections = has(&[
        EventType::GC_START,
        EventType::GC_STATS_GHC,
        EventType::HEAP_ALLOCATED,
        EventType::HEAP_INFO_GHC,
        EventType::HEAP_LIVE,
        EventType::HEAP_SIZE,
    ]);
    let of_collections = |number: Value| match has_collections {
        true => number,
        false => Value::Null,
    };
    json!({
        "range": {"from_ns": 0, "to_ns": range.1},
        "capabilities": caps.collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "program": {
            "life": range.1 - range.0,
            "parallelism": has_threads.then(|| plain.parallelism(range)),
            "collections": {
                "count": of_collections(json!(collections.count)),
                "stopping": of_collections(json!(collections.stopping)),
                "pause": of_collections(json!(collections.pause)),
                "capability_time": of_collections(json!(collections.capability_time)),
            },
        },
    })
}

/// Collects the paths of all values in a document, without indexes into lists.
fn keys(value: &Value, path: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                keys(value, &format!("{path}.{key}"), all);
            }
        }
        Value::Array(values) => {
            for value in values {
                keys(value, path, all);
            }
        }
        _ => {
            all.insert(path.to_owned());
        }
    }
}

#[test]
fn the_command_line_prints_the_account() {
    for_all(expected_coverage([41, 975], [140, 3441]), |case| {
        let Some((session, plain)) = open_both(case) else {
            return Ok(0);
        };
        let printed = common::stdout(&["time", "--json", case.path()]);
        let printed: Value = serde_json::from_str(&printed).map_err(|why| why.to_string())?;
        let plainly = document(&session, &plain);
        let (mut ours, mut theirs) = (BTreeSet::new(), BTreeSet::new());
        keys(&printed, "", &mut ours);
        keys(&plainly, "", &mut theirs);
        expect("keys", &ours, &theirs)?;
        expect("the document", &printed, &plainly)?;
        Ok(ours.len())
    });
}

/// Small logs of several kinds: parallel collections, phases, a census, a killed program, one without `-threaded`,
/// damage.
const SMALL_LOGS: [&str; 8] = [
    "ghc-9.6.6/fib-forkio-N2-l",
    "ghc-9.6.6/gc-heavy-N2-la-nonmoving",
    "ghc-9.6.6/heap-N2-hT-l-au",
    "ghc-9.6.6/cut-mid-event",
    "ghc-9.0.2/cut-no-end-marker",
    "ghc-9.0.2/stops-N4-la",
    "ghc-9.10.3/fib-forkio-nt-l",
    "ghc-9.10.3/fib-forkio-N8-la",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For any cuts, the parts agree with the reference implementation, the classes of each part add up to the
    /// life in it, and the parts to the whole.
    #[test]
    fn parts_sum_to_the_whole(
        log in 0..SMALL_LOGS.len(),
        cuts in proptest::collection::vec(any::<u64>(), 0..6),
    ) {
        let bytes = common::fixture(SMALL_LOGS[log]).bytes();
        let mut ends = Vec::new();
        let plain = PlainTime::compute(&bytes, |log| {
            ends = cuts.iter().map(|cut| log.0 + cut % (log.1 - log.0 + 1)).collect();
            ends.extend([log.0, log.1]);
            ends.sort_unstable();
            ends.dedup();
            ends.clone()
        });
        let plain = plain.expect("a log");
        let session = common::session_of(&bytes).expect("a log");
        let mut caps: BTreeMap<_, CapTimes> = BTreeMap::new();
        let mut threads: BTreeMap<_, u64> = BTreeMap::new();
        for part in ends.windows(2) {
            let part = (part[0], part[1]);
            let same = same_in(&session, &plain, part);
            prop_assert!(same.is_ok(), "{:?}: {same:?}", part);
            let times = session.ask(&TimeQuery(Some(span(part))));
            prop_assert_eq!(times.parallelism_ns.iter().sum::<u64>(), part.1 - part.0);
            for (cap, times) in times.caps {
                let classes: u64 = times.classes().iter().map(|(_, time)| time).sum();
                prop_assert_eq!(classes, times.life_ns);
                caps.entry(cap).or_default().add(&times);
            }
            for thread in threads_of(&session, Some(span(part))) {
                let sums = sums_of(&thread);
                let classes = sums.running + sums.ready_in_collection + sums.ready_behind_thread
                    + sums.ready_while_idle + sums.foreign_call + sums.unknown
                    + sums.blocked.values().sum::<u64>();
                prop_assert_eq!(classes, sums.life);
                *threads.entry(thread.id).or_default() += sums.life;
            }
        }
        let whole = session.ask(&TimeQuery(None));
        prop_assert_eq!(caps, whole.caps.into_iter().collect());
        let whole = threads_of(&session, None);
        let whole = whole.iter().map(|thread| (thread.id, thread.life_ns));
        let whole: BTreeMap<_, _> = whole.filter(|(_, life)| *life > 0).collect();
        prop_assert_eq!(threads, whole);
    }
}

/// Types of the events in [`log_of`].
const TYPES: &[EventTypeDecl] = &[
    (0, Some(4), "Create thread"),
    (1, Some(4), "Run thread"),
    (2, Some(10), "Stop thread"),
    (8, Some(6), "Wakeup thread"),
    (9, Some(0), "Starting GC"),
    (10, Some(0), "Finished GC"),
    (12, Some(0), "Request parallel GC"),
    (18, Some(14), "Block marker"),
    (20, Some(0), "GC idle"),
    (21, Some(0), "GC working"),
    (22, Some(0), "GC done"),
    (53, Some(58), "GC statistics"),
    (162, Some(8), "Heap profile sample begin"),
    (165, Some(8), "Heap profile sample end"),
    (166, Some(16), "Biographical heap profile sample begin"),
];

/// Random event: capability, time since the previous event, kind, thread.
type RandomEvent = (u16, u64, u8, u32);

/// Builds a log in which a capability runs one thread at a time, and a thread runs on one capability at a time.
/// Events of collections come in any order.
fn log_of(happens: &[RandomEvent]) -> Vec<u8> {
    let mut events: [Vec<(u16, u64, Vec<u8>)>; 3] = Default::default();
    let mut runs: [Option<u32>; 3] = [None; 3];
    let mut now = 1000;
    for &(cap, later, what, thread) in happens {
        now += later;
        let of_thread = thread.to_be_bytes().to_vec();
        let running = &mut runs[usize::from(cap)];
        let event = match what {
            0 => (0, of_thread),
            1..=3 if running.is_some() => {
                let thread = running.take().unwrap_or_default().to_be_bytes();
                let status = [[0, 1], [0, 7], [0, 3], [0, 6]][usize::from(later as u8 % 4)];
                (2, [thread.as_slice(), &status, &[0; 4]].concat())
            }
            1..=3 if runs.contains(&Some(thread)) => continue,
            1..=3 => {
                runs[usize::from(cap)] = Some(thread);
                (1, of_thread)
            }
            4 => (8, [of_thread, vec![0, 0]].concat()),
            5 => (12, Vec::new()),
            6 | 7 => (9, Vec::new()),
            8 | 9 => (10, Vec::new()),
            10 => (53, vec![0; 58]),
            11..=13 => (u16::from(what) + 9, Vec::new()),
            14 => (162, vec![0; 8]),
            15 => (165, vec![0; 8]),
            // Biographical census with an earlier time
            _ => {
                let was = now.saturating_sub(u64::from(thread) * later);
                (166, [[0; 8], was.to_be_bytes()].concat())
            }
        };
        events[usize::from(cap)].push((event.0, now, event.1));
    }
    let mut log = LogBuilder::with_types(TYPES);
    for (cap, events) in (0..).zip(&events) {
        log.block(Some(cap), (1000, now), |log| {
            for (id, at, payload) in events {
                log.event(*id, *at, payload);
            }
            log
        });
    }
    log.end();
    log.bytes.clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Orders of events that no available log has: a thread runs within a collection, a collection begins within
    /// another one, a census has no end.
    #[test]
    fn both_agree_on_any_order_of_events(
        happens in proptest::collection::vec((0..3u16, 1..40u64, 0..17u8, 1..5u32), 1..80),
        cut in any::<u64>(),
    ) {
        let bytes = log_of(&happens);
        let mut middle = 0;
        let plain = PlainTime::compute(&bytes, |log| {
            middle = log.0 + cut % (log.1 - log.0 + 1);
            vec![middle]
        });
        let plain = plain.expect("a log");
        let session = common::session_of(&bytes).expect("a log");
        let log = plain.log;
        for range in [log, (log.0, middle), (middle, log.1)] {
            if range.0 < range.1 {
                let same = same_in(&session, &plain, range);
                prop_assert!(same.is_ok(), "{:?}: {same:?}", range);
            }
        }
    }
}
