//! Timeline rows other than capabilities, threads and messages: graphs, collections, the nonmoving collector,
//! tasks, spans of the program, blocks. Snapshots of their pictures, and exactness at any zoom.

use crate::common;

use analysis::numbers::Collection;
use analysis::numbers::collections_query::CollectionsQuery;
use analysis::timeline::activity::COLLECTING;
use analysis::timeline::user_spans::SpanPrefixes;
use common::build::{EventTypeDecl, LogBuilder};
use common::open;
use common::picture::{self, NoNames, ask, open_bytes, whole};
use eventlog::ids::{CapId, Duration, Nanos, TaskId};
use model::class::Class;
use model::marks::{MarkKind, Values};
use model::time::Interval;
use proptest::prelude::*;
use session::Session;
use session::queries::TimeQuery;
use session::tracks::activity::Activity;
use session::tracks::blocks::Blocks;
use session::tracks::collections::{CollectionPayload, Collections};
use session::tracks::counter::Counter;
use session::tracks::details::DetailsQuery;
use session::tracks::group::TrackGroup;
use session::tracks::memory::Memory;
use session::tracks::messages::Messages;
use session::tracks::name::TrackName;
use session::tracks::nonmoving::Nonmoving;
use session::tracks::sparks::{SparkQuantity, Sparks};
use session::tracks::task::Task;
use session::tracks::user_span::UserSpan;
use session::tracks::{TimelineQuery, TrackId};
use views::timeline::arrange::TrackView;
use views::timeline::layout::{Layout, Track};

/// Returns all tracks of a log except its threads.
fn tracks(session: &Session) -> Vec<Track> {
    let opened = TrackGroup::ALL.iter();
    let view = TrackView {
        opened: opened
            .filter_map(|group| TrackName::new(group.name()))
            .collect(),
        ..TrackView::default()
    };
    picture::tracks(session, (&[], 0), &view)
}

fn rows(session: &Session) -> Vec<TrackId> {
    tracks(session).iter().filter_map(Track::row).collect()
}

/// Paints some rows of a log and compares with the snapshot.
fn show(snapshot: &str, session: &Session, range: (u64, u64), wanted: fn(TrackId) -> bool) {
    let mut tracks = tracks(session);
    tracks.retain(|track| track.row().is_some_and(wanted));
    let view = picture::view(session, Some(range));
    let painted = picture::paint(session, &Layout::new(tracks), view, &NoNames, &[]);
    insta::assert_snapshot!(snapshot, painted);
}

const NONMOVING: &str = "ghc-9.6.6/gc-heavy-N2-la-nonmoving";

/// The second collection that marks concurrently: from 22,852,599 to beyond 25,080,421 ns, with the sync from
/// 25,085,196 ns.
#[test]
fn a_concurrent_collection() {
    let session = open(NONMOVING);
    show("nonmoving", &session, (22_500_000, 27_500_000), |row| {
        matches!(row, TrackId::Collections(_) | TrackId::Nonmoving(_))
    });
}

#[test]
fn how_many_run_and_how_many_could() {
    let session = open(NONMOVING);
    show("scheduling", &session, (20_000_000, 40_000_000), |row| {
        matches!(row, TrackId::Concurrency(_))
    });
}

#[test]
fn the_heap_while_it_grows() {
    let session = open(NONMOVING);
    show("heap", &session, (0, 40_000_000), |row| {
        row.group() == TrackGroup::Heap
    });
}

/// The legend next to the name of a graph lists the series that the log has.
#[test]
fn keys_of_what_the_log_has() {
    let keys = |name: &str, wanted: fn(TrackId) -> bool| {
        let session = open(name);
        let mut tracks = tracks(&session);
        tracks.retain(|track| track.row().is_some_and(wanted));
        let view = picture::view(&session, None);
        let painted = picture::paint(&session, &Layout::new(tracks), view, &NoNames, &[]);
        // Labels on the left that are neither names nor notes.
        let is_key = |line: &&str| line.contains(" Label Left #5d6066");
        let texts = painted.lines().filter(is_key);
        let text = |line: &str| line.split(['“', '”']).nth(1).map(str::to_owned);
        texts.filter_map(text).collect::<Vec<_>>().join(" ")
    };
    let heap = |row| row == TrackId::from(Memory::Heap);
    // Logs before GHC 9.2 lack the size of blocks.
    assert_eq!(keys("ghc-9.0.2/gc-heavy-nt-l", heap), "size live");
    assert_eq!(keys(NONMOVING, heap), "size blocks live");
    let allocated = |row| row == TrackId::from(Memory::Allocated);
    assert_eq!(keys(NONMOVING, allocated), "");
    let sparks = |row| matches!(row, TrackId::Sparks(of) if of.cap == CapId(0));
    let fates = "created dud overflowed converted fizzled GC’d";
    assert_eq!(keys("ghc-9.6.6/sparks-N2-ls", sparks), fates);
}

#[test]
fn sparks_of_a_capability() {
    let session = open("ghc-9.6.6/sparks-N2-ls");
    show("sparks", &session, whole(&session), |row| {
        row.group() == TrackGroup::Sparks && row.cap() == Some(CapId(0))
    });
}

#[test]
fn tasks_and_blocks() {
    let session = open("ghc-9.10.3/tasks-N2-la");
    show("tasks", &session, whole(&session), |row| {
        matches!(row, TrackId::Task(_) | TrackId::Blocks(_))
    });
}

#[test]
fn spans_of_a_program() {
    let session = open("ghc-9.6.6/ffi-safe-N2-la");
    show("user_spans", &session, whole(&session), |row| {
        matches!(row, TrackId::UserSpan(_))
    });
}

/// Returns the description and details of the item of a row at a time.
fn describe(session: &Session, row: TrackId, view: (u64, u64), at: u64) -> String {
    let marks = ask(session, &[row], view, 1000);
    let item = marks.hit(row, Nanos(at), Duration::ZERO).expect("a mark");
    let (name, text) = item.describe(&NoNames);
    let query = DetailsQuery {
        row,
        span: item.span,
        many: item.kind == MarkKind::Many,
    };
    let facts = session.ask(&query);
    let facts = facts
        .iter()
        .map(|fact| format!("\n{}: {}", fact.label, fact.text));
    let said = format!("{name} {text}{}", facts.collect::<String>());
    said.replace('\u{a0}', " ")
}

#[test]
fn items_in_words() {
    let session = open(NONMOVING);
    let near = (22_500_000, 27_500_000);
    let far = (0, 10_000_000_000);
    let ffi = open("ghc-9.6.6/ffi-safe-N2-la");
    let ffi_view = whole(&ffi);
    let first = |session: &Session, row, view| {
        let marks = ask(session, &[row], view, 1000);
        let span = marks.row_marks(row).next().expect("a mark").1;
        describe(session, row, view, span.start().0)
    };
    let tasks = open("ghc-9.10.3/tasks-N2-la");
    let listed = tasks.contents();
    let (task, _) = listed.entries_of_kind::<Task>().next().expect("a task");
    let all = [
        describe(&session, Nonmoving.into(), near, 24_000_000),
        describe(&session, Nonmoving.into(), near, 26_000_000),
        describe(&session, Nonmoving.into(), far, 24_000_000),
        first(&session, Collections.into(), near),
        describe(&session, Collections.into(), far, 24_000_000),
        first(&ffi, UserSpan(0).into(), ffi_view),
        first(&tasks, task.into(), whole(&tasks)).replace(&format!("{:#x}", task.0.0), "0x…"),
        first(&ffi, Blocks(Some(CapId(0))).into(), ffi_view),
    ];
    insta::assert_snapshot!("words", all.join("\n\n"));
}

/// The description of a point in a graph agrees with its details.
#[test]
fn graphs_in_words() {
    let sparks = open("ghc-9.6.6/sparks-N2-ls");
    let heap = open(NONMOVING);
    let of_sparks = |of| {
        let cap = CapId(0);
        TrackId::from(Sparks { cap, quantity: of })
    };
    let mut all = Vec::new();
    for (session, row) in [
        (&heap, TrackId::from(Activity)),
        (&heap, Memory::Heap.into()),
        (&heap, Memory::Allocated.into()),
        (&heap, Memory::Returned.into()),
        (&sparks, of_sparks(SparkQuantity::Created)),
        (&sparks, of_sparks(SparkQuantity::Pool)),
    ] {
        let (from, to) = whole(session);
        let at = from / 2 + to / 2;
        let pixel = (to - from) / 500;
        let span = Interval::new(Nanos(at), Nanos(at + pixel));
        let query = DetailsQuery {
            row,
            span,
            many: false,
        };
        all.push(row.link(&session.contents()));
        for fact in session.ask(&query) {
            all.push(format!("  {}: {}", fact.label, fact.text));
        }
    }
    insta::assert_snapshot!("graph_words", all.join("\n").replace('\u{a0}', " "));
}

/// The row of collections shows all collections of the panel, and the waits before them.
#[test]
fn the_row_of_collections_is_the_panels() {
    let mut tally = common::Tally::default();
    for case in common::cases() {
        let session = open_bytes(&case.bytes(), 100_000);
        let query = CollectionsQuery {
            rows: 0..u64::MAX,
            ..CollectionsQuery::default()
        };
        let panel = session.ask(&query).rows;
        let marks = ask(&session, &[Collections.into()], (0, 1 << 62), u32::MAX);
        assert!(
            marks.reply.len() <= 2 * panel.len().max(1) + 2,
            "{}",
            case.name
        );
        // Query each collection separately, as short ones are merged in a picture of the whole log.
        let is_shown = |gc: &Collection, class: Class, (from, to): (u64, u64)| {
            let around = (from, to.max(from + 1));
            let marks = ask(&session, &[Collections.into()], around, u32::MAX);
            marks.row_marks(Collections).any(|(mark, span)| {
                let number = mark.read::<CollectionPayload>().number;
                let here = span == Interval::new(Nanos(from), Nanos(to)) || from == to;
                mark.class == class && number == Some(gc.number) && here
            })
        };
        for gc in &panel {
            let span = (gc.start.0, gc.end.0);
            assert!(is_shown(gc, Class::Gc, span), "{}: {gc:?}", case.name);
            if let Some(wait) = gc.sync_ns.filter(|wait| *wait > 0) {
                let before = (gc.start.0.saturating_sub(wait), gc.start.0);
                assert!(is_shown(gc, Class::GcSync, before), "{}: {gc:?}", case.name);
            }
        }
        tally.add(&case, panel.len());
    }
    tally.finish(common::expected_coverage([27, 248], [98, 4239]));
}

/// All rows are independent of the pieces in which the log arrives.
#[test]
fn pieces_do_not_matter() {
    for name in [
        NONMOVING,
        "ghc-9.6.6/ffi-safe-N2-la",
        "ghc-9.6.6/sparks-N2-ls",
        "ghc-9.6.6/relog-N2-l",
    ] {
        let bytes = common::fixture(name).bytes();
        let (fast, slow) = (open_bytes(&bytes, usize::MAX), open_bytes(&bytes, 1));
        assert_eq!(fast.contents(), slow.contents(), "{name}");
        let rows = rows(&fast);
        assert!(rows.len() > 3, "{name}");
        let (from, to) = whole(&fast);
        for (from, to) in [(from, to), (to / 3, to / 2)] {
            let [a, b] = [&fast, &slow].map(|session| ask(session, &rows, (from, to), 700).reply);
            assert_eq!(a, b, "{name}");
        }
    }
}

/// Tracks of damaged logs never cause a panic, at any zoom.
#[test]
fn no_log_is_too_odd() {
    for case in common::cases() {
        let session = open_bytes(&case.bytes(), 100_000);
        look_at_all(&session, &case.name);
    }
}

/// Asks for all rows of a log, and for details of some of their marks.
fn look_at_all(session: &Session, name: &str) {
    let Some(log) = session.overview().span else {
        return;
    };
    let rows = rows(session);
    for (view, width) in [
        ((0, u64::MAX), 1),
        ((0, u64::MAX), 2000),
        (
            (
                log.start().0,
                log.end().0.max(log.start().0.saturating_add(1)),
            ),
            300,
        ),
        ((log.end().0 / 2, log.end().0 / 2 + 7), 1000),
    ] {
        let marks = ask(session, &rows, view, width);
        for &row in &rows {
            for (mark, span) in marks.row_marks(row).take(5) {
                let many = mark.kind == MarkKind::Many;
                let facts = session.ask(&DetailsQuery { row, span, many });
                assert!(facts.len() < 200, "{name} {row:?}");
            }
            for (point, _) in marks.points(row) {
                let Values { min, max, mean, .. } = point.values;
                assert!(point.start <= point.end && min <= max, "{name}");
                assert!(min <= mean && mean <= max, "{name} {row:?} {point:?}");
                assert!(min >= 0.0 && max.is_finite(), "{name}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Random damage never causes a panic.
    #[test]
    fn damaged_logs_have_rows(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200)) {
        thread_local! {
            static BYTES: Vec<u8> = common::fixture(NONMOVING).bytes();
        }
        let mut bytes = BYTES.with(Clone::clone);
        // Leave the header intact, as the log would be rejected otherwise.
        let from = bytes.windows(4).position(|four| four == b"datb").expect("data") + 4;
        let len = bytes.len() - from;
        for (place, byte) in changes {
            bytes[from + place.index(len)] = byte;
        }
        look_at_all(&open_bytes(&bytes, 100_000), "changed");
    }

    /// At any zoom, the points of the activity add up to the usage of all capabilities in the buckets shown.
    #[test]
    fn activity_adds_up_to_the_truth(from in 0.0f64..0.9, part in 0.001f64..0.5, width in 20u32..2000) {
        thread_local! {
            static SESSION: Session = open(NONMOVING);
        }
        SESSION.with(|session| {
            let (first, last) = whole(session);
            let ns = (last - first) as f64;
            let start = first + (ns * from) as u64;
            let view = (start, start + (ns * part) as u64 + 1);
            let query = TimelineQuery {
                view: Interval::new(Nanos(view.0), Nanos(view.1)),
                width_px: width,
                rows: vec![Activity.into()], ..TimelineQuery::default() };
            let bucket = query.bucket_ns();
            let reply = session.ask(&query);
            let mut shown = [0.0f64; 2];
            for point in reply.points.row_points(0) {
                let Values { min, max, mean, .. } = point.values;
                prop_assert!(min == max && max <= 2.0 + 1e-9);
                shown[usize::from(point.series == COLLECTING)] += mean * (point.end - point.start);
            }
            let from = view.0 / bucket * bucket;
            let to = view.1.min(last).div_ceil(bucket) * bucket;
            let range = Interval::new(Nanos(from), Nanos(to.max(from)));
            let all = session.ask(&TimeQuery(Some(range))).all_caps();
            let truth = [all.running_ns as f64, all.in_collections_ns() as f64];
            for (shown, truth) in shown.into_iter().zip(truth) {
                prop_assert!((shown - truth).abs() <= 1.0 + 1e-6 * truth, "{shown} {truth}");
            }
            Ok(())
        })?;
    }
}

/// Event types of `ghc-events-perf`, and messages.
const PERF: &[EventTypeDecl] = &[
    (18, Some(14), "Block marker"),
    (19, None, "User message"),
    (58, None, "User marker"),
    (140, None, "Perf event name"),
    (141, Some(20), "Perf event counter"),
    (142, Some(12), "Perf event tracepoint"),
];

fn perf(number: u32, rest: &[u64]) -> Vec<u8> {
    let mut payload = number.to_be_bytes().to_vec();
    for field in rest {
        payload.extend(field.to_be_bytes());
    }
    payload
}

#[test]
fn performance_counters_are_rates() {
    let mut log = LogBuilder::with_types(PERF);
    log.block(Some(0), (0, 10_000), |log| {
        log.event(140, 10, &[perf(3, &[]), b"cache-misses".to_vec()].concat());
        for i in 0..8u64 {
            // A thousand per microsecond, and two tracepoint hits.
            log.event(141, i * 1000, &perf(3, &[77, 1000]));
            log.event(142, i * 1000, &perf(4, &[77]));
            log.event(142, i * 1000 + 500, &perf(4, &[77]));
        }
        log
    });
    log.end();
    let session = open_bytes(&log.bytes, 1000);
    let listed = session.contents();
    let names: Vec<(u32, &str)> = listed
        .entries_of_kind::<Counter>()
        .map(|(counter, track)| (counter.0, track.title.as_str()))
        .collect();
    assert_eq!(names, [(3, "cache-misses"), (4, "counter 4")]);
    let rows = [3, 4, 5].map(|number| TrackId::from(Counter(number)));
    let marks = ask(&session, &rows, (1024, 6144), 5);
    let counted: Vec<_> = marks.points(Counter(3)).collect();
    assert_eq!(counted.len(), 1, "{counted:?}");
    assert!((counted[0].0.values.last - 1e9).abs() < 1.0, "{counted:?}");
    let passed: Vec<_> = marks
        .points(Counter(4))
        .map(|(point, _)| point.values.last)
        .collect();
    assert!(
        passed.iter().all(|rate| (rate - 2e6).abs() < 1.0),
        "{passed:?}"
    );
    assert_eq!(marks.points(Counter(5)).count(), 0);
}

#[test]
fn words_for_spans_can_be_changed() {
    let mut log = LogBuilder::with_types(PERF);
    log.block(Some(0), (0, 10_000), |log| {
        log.event(19, 1000, b"START load")
            .event(58, 2000, b"begin: all")
            .event(19, 3000, b"STOP load")
            .event(19, 4000, b"STOP load")
            .event(58, 5000, b"end: all")
            .event(19, 6000, b"START \xff\xfe")
    });
    log.end();
    let mut session = open_bytes(&log.bytes, 1000);
    let names = |session: &Session| -> Vec<(String, String)> {
        let contents = session.contents();
        let spans = contents.entries_of_kind::<UserSpan>().map(|(row, track)| {
            let query = DetailsQuery {
                row: row.into(),
                span: Interval::default(),
                many: true,
            };
            let facts = session.ask(&query);
            let of_name = facts.iter().find(|fact| fact.label == "all of this name");
            let of_name = of_name.map_or_else(String::new, |fact| fact.text.clone());
            (track.title.clone(), of_name.replace('\u{a0}', " "))
        });
        spans.collect()
    };
    let told = |name: &str, time: &str| (name.to_owned(), format!("1 time, {time} in all"));
    let usual = [told("load", "2.00 µs"), told("\u{fffd}\u{fffd}", "0 ns")];
    assert_eq!(names(&session), usual);
    session.set_span_prefixes(SpanPrefixes {
        start: vec!["begin:".to_owned()],
        stop: vec!["end:".to_owned()],
    });
    assert_eq!(names(&session), [told("all", "3.00 µs")]);
    session.set_span_prefixes(SpanPrefixes::default());
    assert_eq!(names(&session), usual);
}

#[test]
fn rows_that_are_not_there_are_empty() {
    let session = open(NONMOVING);
    let rows = [
        TrackId::from(UserSpan(7)),
        Task(TaskId(1)).into(),
        Counter(1).into(),
        Blocks(Some(CapId(9))).into(),
        TrackId::from(Sparks {
            cap: CapId(900),
            quantity: SparkQuantity::Pool,
        }),
    ];
    let marks = ask(&session, &rows, whole(&session), 500);
    assert!(marks.reply.is_empty() && marks.reply.points.row.is_empty());
    for row in rows {
        let span = Interval::new(Nanos(0), Nanos(u64::MAX));
        let facts = session.ask(&DetailsQuery {
            row,
            span,
            many: true,
        });
        assert!(facts.len() <= 2, "{row:?} {facts:?}");
    }
}

/// Signs and columns together count each message and event once, at any width.
#[test]
fn moments_are_counted_once_at_any_width() {
    for name in [
        "ghc-9.6.6/endless-killed-flush-N2-l",
        "ghc-9.0.2/sparks-N4-lsf",
        "ghc-9.6.6/fib-forkio-N2-l",
    ] {
        let session = open(name);
        let is_of_moments =
            |row: &TrackId| matches!(row, TrackId::Messages(_) | TrackId::Instants(_));
        let rows: Vec<TrackId> = rows(&session).into_iter().filter(is_of_moments).collect();
        let counts = |width_px: u32| -> (Vec<u64>, bool) {
            let marks = ask(&session, &rows, whole(&session), width_px);
            let of = |row: &TrackId| marks.items(*row).map(|item| u64::from(item.count)).sum();
            let mut items = rows.iter().flat_map(|row| marks.items(*row));
            let any_column = items.any(|item| item.kind == MarkKind::Column);
            (rows.iter().map(of).collect(), any_column)
        };
        let (narrow, _) = counts(1);
        let contents = session.overview().contents;
        let messages = contents.find(Messages.into());
        let noted = messages.map(|track| track.note.clone());
        assert_eq!(noted, narrow.first().map(u64::to_string), "{name}");
        for width_px in [30, 700, 3000, 60_000] {
            let (counted, any_column) = counts(width_px);
            assert_eq!(counted, narrow, "{name}, {width_px} pixels");
            assert!(any_column || width_px > 700, "{name}, {width_px} pixels");
        }
    }
}
