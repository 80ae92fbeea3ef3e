//! Timeline of a real log: its picture as text, and its shares at any zoom.

use crate::common;

use analysis::timeline::flow::FlowQuery;
use analysis::timeline::thread_lane::ThreadListQuery;
use common::build::LogBuilder;
use common::{open, picture};
use eventlog::ids::{CapId, Duration, Nanos, ThreadId};
use model::class::Class;
use model::lane::{Lane, Mark, marks};
use model::marks::MarkKind;
use model::time::Interval;
use proptest::prelude::*;
use session::Session;
use session::queries::TimeQuery;
use session::tracks::TimelineQuery;
use session::tracks::TrackId;
use session::tracks::capability::Capability;
use session::tracks::details::DetailsQuery;
use session::tracks::item::{Marks, Names};
use session::tracks::name::TrackName;
use session::tracks::thread::Thread;
use views::timeline::arrange::TrackView;
use views::timeline::layout::Layout;

/// Labels of the listed threads.
#[derive(Debug)]
struct Labels(Vec<(ThreadId, Option<String>)>);

impl Names for Labels {
    fn label(&self, thread: ThreadId) -> Option<&str> {
        let found = self.0.iter().find(|(id, _)| *id == thread)?;
        found.1.as_deref()
    }
}

fn all_tracks(session: &Session, view: &TrackView) -> (Layout, Labels) {
    let filter = ThreadListQuery {
        limit: 4,
        ..ThreadListQuery::default()
    };
    let (threads, threads_in_all) = session.ask(&filter);
    let tracks = picture::tracks(session, (&threads, threads_in_all), view);
    let labels = threads.into_iter().map(|row| (row.id, row.label)).collect();
    (Layout::new(tracks), Labels(labels))
}

/// Paints `range` of a fixture and compares with the snapshot.
fn show(snapshot: &str, name: &str, range: Option<(u64, u64)>) {
    show_with(snapshot, name, range, &TrackView::default(), None);
}

/// Like [`show`], with a choice of tracks and the arrows of a thread.
fn show_with(
    snapshot: &str,
    name: &str,
    range: Option<(u64, u64)>,
    tracks: &TrackView,
    thread: Option<ThreadId>,
) {
    let session = open(name);
    let (layout, names) = all_tracks(&session, tracks);
    let view = picture::view(&session, range);
    let arrows = thread.map_or_else(Vec::new, |thread| {
        let view = view.span();
        session.ask(&FlowQuery { thread, view })
    });
    let painted = picture::paint(&session, &layout, view, &names, &arrows);
    insta::assert_snapshot!(snapshot, painted);
}

#[test]
fn a_small_log_as_a_whole() {
    show("whole", "ghc-9.6.6/ffi-safe-N2-la", None);
}

#[test]
fn a_stretch_with_a_collection() {
    let range = Some((29_400_000, 29_900_000));
    show("collection", "ghc-9.6.6/fib-forkio-N2-l", range);
}

#[test]
fn instants_and_arrows() {
    let tracks = TrackView {
        hidden: ["activity", "messages"]
            .into_iter()
            .filter_map(TrackName::new)
            .collect(),
        opened: TrackName::new("events").into_iter().collect(),
        ..TrackView::default()
    };
    let range = Some((1_860_000, 1_950_000));
    let name = "ghc-9.0.2/stops-N4-la";
    show_with("instants", name, range, &tracks, Some(ThreadId(10)));
}

/// Thread 5 blocks at 8,986,419 ns, is woken at 10,857,953 and runs at 14,851,838.
#[test]
fn a_wait_is_told_in_both_of_its_parts() {
    let session = open("ghc-9.6.6/ffi-safe-N2-la");
    let row = TrackId::from(Thread(ThreadId(5)));
    let said = |(from, to), at| {
        let query = TimelineQuery {
            view: Interval::new(Nanos(from), Nanos(to)),
            width_px: 1000,
            rows: vec![row],
            ..TimelineQuery::default()
        };
        let marks = Marks {
            view: Some(query.view),
            rows: vec![row],
            reply: session.ask(&query),
        };
        let item = marks.hit(row, Nanos(at), Duration::ZERO).expect("a mark");
        item.describe(&Labels(Vec::new())).1.replace('\u{a0}', " ")
    };
    let wide = (8_000_000, 16_000_000);
    assert_eq!(
        said(wide, 9_500_000),
        "was blocked on an MVar for 1.872 ms, then was ready for 3.99 ms · 8.986 ms – 10.858 ms"
    );
    assert_eq!(
        said(wide, 14_000_000),
        "was ready for 3.99 ms, after it was blocked on an MVar for 1.872 ms · 10.858 ms – 14.852 ms"
    );
    assert_eq!(
        said(wide, 15_000_000),
        "was in a foreign call for 670 µs · 14.887 ms – 15.557 ms"
    );
    // Both parts in one pixel.
    let said = said((0, 10_000_000_000), 12_000_000);
    assert!(said.contains("ready, "), "{said}");
    assert!(said.contains("blocked on an MVar"), "{said}");
    assert!(said.contains(" runs in "), "{said}");
}

/// On every log, the phases of each collection add up to it.
#[test]
fn phases_are_the_collections() {
    common::for_all(common::expected_coverage([27, 397], [102, 5784]), |case| {
        let Ok(store) = common::store_of(&case.bytes()) else {
            return Ok(0);
        };
        let mut collections = 0;
        for cap in (0..64).map(CapId) {
            let Some(lanes) = store.cap(cap) else { break };
            collections += lanes.gc.len();
            for i in 0..lanes.gc.len() {
                let (start, end) = lanes.gc.span(i);
                let times = lanes
                    .phases
                    .lane()
                    .time_in(Interval::new(Nanos(start), Nanos(end)));
                let gc = Class::ALL.iter().filter(|class| class.is_gc());
                let gc: u64 = gc.map(|class| times[*class as usize]).sum();
                if gc != end - start {
                    return Err(format!("capability {cap}: {gc} ns of {start} – {end}"));
                }
            }
            let phases = lanes.phases.lane();
            let all = phases.times_before_index(phases.len());
            let gc = Class::ALL.iter().filter(|class| class.is_gc());
            let gc: u64 = gc.map(|class| all[*class as usize]).sum();
            if gc != lanes.gc.times_before_index(lanes.gc.len())[Class::Gc as usize] {
                return Err(format!("capability {cap}: {gc} ns in all"));
            }
        }
        Ok(collections)
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// At any zoom, the marks of a lane in a range of whole buckets have the time of the account.
    #[test]
    fn shares_sum_to_the_truth(from in 0.0f64..0.9, part in 0.001f64..0.5, width in 20u32..2000) {
        thread_local! {
            static SESSION: Session = open("ghc-9.6.6/gc-heavy-N2-la-nonmoving");
        }
        SESSION.with(|session| {
            let log = session.overview().span.expect("events");
            let ns = log.duration().0 as f64;
            let start = log.start().0 + (ns * from) as u64;
            let view = Interval::new(Nanos(start), Nanos(start + (ns * part) as u64 + 1));
            for life in session.overview().caps {
                let query = TimelineQuery { view, width_px: width, rows: vec![Capability(life.cap).into()], ..TimelineQuery::default() };
                let bucket = query.bucket_ns() as f64;
                let reply = session.ask(&query);
                let mut shown = [0.0f64; 2];
                let (mut first, mut last) = (view.start().0 as f64, view.end().0 as f64);
                for mark in reply.row_marks(0) {
                    first = first.min(view.start().0 as f64 + mark.start);
                    last = last.max(view.start().0 as f64 + mark.end);
                    let gc = Class::ALL.iter().filter(|class| class.is_gc());
                    let gc: f32 = gc.map(|class| mark.shares[*class as usize]).sum();
                    for (sum, share) in shown.iter_mut().zip([mark.shares[Class::Running as usize], gc]) {
                        let share = f64::from(share);
                        let width = if mark.kind == MarkKind::One { mark.end - mark.start } else { bucket };
                        *sum += share * width;
                    }
                }
                let range = Interval::new(Nanos(first.max(0.0) as u64), Nanos(last as u64));
                let caps = session.ask(&TimeQuery(Some(range))).caps;
                let (_, times) = caps.into_iter().find(|(cap, _)| *cap == life.cap).expect("a row");
                // The range of the lane may be off by a bucket at each end, and shares are f32.
                let slack = 2.0 * bucket + 1e-4 * range.duration().0 as f64;
                prop_assert!((shown[0] - times.running_ns as f64).abs() <= slack, "{shown:?} {times:?}");
                prop_assert!((shown[1] - times.in_collections_ns() as f64).abs() <= slack, "{shown:?} {times:?}");
            }
            Ok(())
        })?;
    }
}

/// For spans merged into one pixel, tooltip and details state the same shares, which add up to at most 100 %.
#[test]
fn words_of_merged_spans_agree() {
    let mut compared = 0;
    for name in ["ghc-9.6.6/ffi-safe-N2-la", "ghc-9.6.6/fib-forkio-N2-l"] {
        let session = open(name);
        let overview = session.overview();
        let view = overview.span.expect("events");
        let threads = session.ask(&ThreadListQuery {
            limit: 20,
            ..ThreadListQuery::default()
        });
        let caps = overview.caps.iter().map(|life| Capability(life.cap).into());
        let threads = threads.0.iter().map(|thread| Thread(thread.id).into());
        let rows: Vec<TrackId> = caps.chain(threads).collect();
        for width_px in [7, 60, 700] {
            let query = TimelineQuery {
                view,
                width_px,
                rows: rows.clone(),
                ..TimelineQuery::default()
            };
            let marks = Marks {
                view: Some(view),
                rows: rows.clone(),
                reply: session.ask(&query),
            };
            let items = rows.iter().flat_map(|row| marks.items(*row));
            for item in items.filter(|item| item.kind == MarkKind::Many) {
                let (_, said) = item.describe(&Labels(Vec::new()));
                let facts = session.ask(&DetailsQuery {
                    row: item.row,
                    span: item.span,
                    many: true,
                });
                let mut sum = 0.0;
                for fact in facts {
                    let text = fact.text.strip_suffix(" of this range");
                    // The details of a capability also cover its collections.
                    let Some(text) = text.filter(|_| said.contains(&fact.label)) else {
                        continue;
                    };
                    let share = text.rsplit(", ").next().unwrap_or_default();
                    let both = format!("{share} {}", fact.label);
                    assert!(said.contains(&both), "{said} has no {both}");
                    let number = share.trim_end_matches(['%', '\u{a0}']);
                    sum += number.trim_start_matches('<').parse().unwrap_or(0.0);
                    compared += 1;
                }
                assert!(sum < 100.5, "{sum} {said}");
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

/// Builds a log of `threads` threads from 7 up that run in turn, `runs` times each, for 100 to 400 ns, with an
/// occasional longer wait.
fn busy_threads(threads: u32, runs: u32) -> Session {
    let mut log = LogBuilder::new();
    let (mut at, mut state) = (1_000, 1_u64);
    for i in 0..threads * runs {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let (thread, random) = (7 + i % threads, state >> 40);
        log.run(at, thread).stop(at + 100 + random % 300, thread, 3);
        let wait = if random % 5_000 == 0 { 200_000 } else { 200 };
        at += 400 + random % wait;
    }
    common::session_of(&log.end().bytes).expect("a log")
}

/// At any zoom, each run of a very busy thread is in exactly one mark, which ends at most a quarter of a pixel
/// before the start of the run, and a mark and its details cover the same runs.
#[test]
fn marks_of_a_busy_thread_have_each_run_once() {
    const RUNS: u32 = 40_000;
    let session = busy_threads(1, RUNS);
    let view = session.overview().span.expect("events");
    let lane = session.recording().store.thread_lane(ThreadId(7));
    let lane = lane.expect("the thread");
    let all: u64 = lane.time_in(view).iter().sum();
    let row = TrackId::from(Thread(ThreadId(7)));
    let mut later = 0;
    for width_px in [3, 17, 40, 90, 250, 700, 20_000] {
        let query = TimelineQuery {
            view,
            width_px,
            rows: vec![row],
            ..TimelineQuery::default()
        };
        let (mut seen, mut time) = (0, 0);
        marks(&lane, view, query.bucket_ns(), |mark| match mark {
            Mark::One { index } => {
                seen += lane.count(index, index + 1);
                time += lane.interval(index).duration().0;
            }
            Mark::Many {
                start,
                count,
                times,
                ..
            } => {
                let count = count as usize;
                for run in seen..seen + count {
                    let begins = lane.turn(run).run_span().0;
                    let end = start + query.bucket_ns();
                    assert!((start..end + query.bucket_ns() / 4).contains(&begins));
                    later += usize::from(begins >= end);
                }
                seen += count;
                time += times.iter().sum::<u64>();
                let said = session.ask(&DetailsQuery {
                    row,
                    span: Interval::new(Nanos(start), Nanos(start + query.bucket_ns())),
                    many: true,
                });
                let begin = said.iter().find(|fact| fact.label == "begin here");
                let begin = begin
                    .expect("how many begin")
                    .text
                    .replace([',', '\u{202f}'], "");
                assert_eq!(begin.split(' ').next(), Some(&*count.to_string()));
            }
        });
        assert_eq!((seen, time), (RUNS as usize, all), "{width_px} px");
    }
    assert!(later > 100, "{later}");
}

/// Repeating a query with limited patience until no row is left for later yields the complete answer.
#[test]
fn rows_that_wait_come_when_asked_again() {
    let (session, again) = (busy_threads(5, 300), busy_threads(5, 300));
    let row = |thread| Thread(ThreadId(thread)).into();
    let query = TimelineQuery {
        view: session.overview().span.expect("events"),
        width_px: 500,
        rows: (7..12).map(row).collect(),
        ..TimelineQuery::default()
    };
    let hurried = TimelineQuery {
        run_budget: Some(1),
        ..query.clone()
    };
    let mut waited = Vec::new();
    let reply = loop {
        let reply = again.ask(&hurried);
        if reply.pending_rows.is_empty() {
            break reply;
        }
        let marked = |row: u32| reply.row_marks(row as usize).next().is_some();
        assert!(!reply.pending_rows.iter().any(|&row| marked(row)));
        waited.push(reply.pending_rows.len());
    };
    assert_eq!(waited, [4, 3, 2, 1]);
    assert_eq!(reply, session.ask(&query));
}
