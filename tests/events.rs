//! Event list: any page, filter, search and jump equals the result of a scan over all events, whatever the size of
//! the chunks in which the log is read.

use crate::common;

use analysis::timeline::scope::Scope;
use common::build::LogBuilder;
use common::{Case, Tally, cases, expected_coverage, fixture, fixture_cases};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::rows::RowSource;
use eventlog::{Inflated, Need, Step};
use model::time::Interval;
use proptest::prelude::*;
use proptest::sample::select;
use session::Session;
use session::events::chunk::{ChunkReader, ChunkRows};
use session::events::filter::{CapFilter, EventFilter, Matcher};
use session::events::scan::{Counts, Scan};
use session::events::visit::{ChunkVisitor, FindVisitor, Numbering, PageVisitor};
use session::events::{EventList, EventRow};
use session::tracks::{LogContents, scope_of};

/// Open session with its bytes.
struct Log {
    bytes: Vec<u8>,
    session: Session,
}

impl Log {
    fn open(bytes: Vec<u8>, chunk_events: u64) -> Option<Self> {
        let mut session = Session::with_chunks(bytes.len() as u64, chunk_events);
        loop {
            match session.advance(1000).ok()? {
                Step::Need(needs) => supply(&bytes, needs, |at, part| session.supply(at, part)),
                Step::Done => {
                    let inflated = session.inflated().and_then(Inflated::to_vec);
                    let bytes = inflated.unwrap_or(bytes);
                    return Some(Self { bytes, session });
                }
                Step::More | Step::Indexed => {}
            }
        }
    }

    fn rows(&self) -> &RowSource {
        self.session.rows().expect("kept")
    }

    fn chunk(&self, chunk: usize) -> ChunkRows {
        let mut reader = ChunkReader::new(self.rows(), chunk).expect("a chunk");
        loop {
            match reader.advance() {
                Ok(rows) => return rows,
                Err(needs) => supply(&self.bytes, needs, |at, part| reader.supply(at, part)),
            }
        }
    }

    fn visit<V: ChunkVisitor>(&self, mut visit: V) -> V {
        while let Some(chunk) = visit.next_chunk() {
            visit.visit_chunk(&self.chunk(chunk), &self.session.event_context());
        }
        visit
    }

    fn scan(&self, list: &EventList) -> Counts {
        let mut scan = Scan::new(self.rows(), list.clone());
        loop {
            match scan.advance(&self.session.event_context(), 300) {
                Ok(true) => return scan.counts,
                Ok(false) => {}
                Err(needs) => supply(&self.bytes, needs, |at, part| scan.supply(at, part)),
            }
        }
    }

    fn page(&self, list: &EventList, counts: &Counts, first: u64, count: usize) -> Vec<EventRow> {
        let numbering = Numbering {
            index: &self.rows().index,
            counts: Some(counts),
        };
        self.visit(PageVisitor::new(list, numbering, first, count))
            .finish()
    }
}

fn supply(bytes: &[u8], needs: Vec<Need>, mut to: impl FnMut(u64, &[u8])) {
    for Need(range) in needs {
        to(
            range.start,
            &bytes[range.start as usize..range.end as usize],
        );
    }
}

/// Returns time, offset and type of all events in display order: by section, then time, then file offset.
fn naive(log: &Log) -> Vec<(u64, u64, u16)> {
    let whole = common::read(log.bytes.as_slice()).expect("a log");
    let sections = &whole.reader.index().sections;
    let section = |offset: u64| sections.partition_point(|section| section.end.0 <= offset);
    let mut rows: Vec<_> = whole
        .rows
        .iter()
        .map(|row| (section(row.offset), row.time, row.offset, row.id))
        .collect();
    rows.sort_unstable();
    rows.into_iter()
        .map(|(_, time, offset, id)| (time, offset, id))
        .collect()
}

fn all_chunks(log: &Log) -> Vec<(u64, u64, u16)> {
    let mut rows = Vec::new();
    for chunk in 0..log.rows().index.chunks.len() {
        let chunk_rows = log.chunk(chunk);
        assert_eq!(chunk_rows.len() as u64, log.rows().index.chunk_rows(chunk));
        for (number, record) in chunk_rows.iter() {
            assert_eq!(number, rows.len() as u64, "rows are numbered through");
            rows.push((record.time.0, record.offset.0, record.id.0));
        }
    }
    rows
}

#[test]
fn every_log_is_read_again_chunk_by_chunk() {
    let mut tally = Tally::default();
    for case in cases() {
        // Small chunks for small logs test many chunk boundaries.
        let bytes = case.bytes();
        let every = if bytes.len() < 100_000 { 7 } else { 500 };
        let Some(log) = Log::open(bytes, every) else {
            assert!(case.name.contains("cut-in-header"), "{}", case.name);
            continue;
        };
        let rows = all_chunks(&log);
        assert!(rows == naive(&log), "{}: rows differ", case.name);
        tally.add(&case, rows.len());
    }
    tally.finish(expected_coverage([40, 61748], [139, 652281]));
}

#[test]
fn damaged_logs_are_read_again_as_they_were_read() {
    let mut compared = 0;
    for case in logs() {
        let sound = case.bytes();
        for at in (0..sound.len()).step_by(sound.len() / 40) {
            let mut changed = sound.clone();
            changed[at] ^= 0x41;
            let cut = sound[..at].to_vec();
            for (what, bytes) in [("changed", changed), ("cut", cut)] {
                // A log with a damaged header may be rejected.
                if let Some(log) = Log::open(bytes, 11) {
                    let same = all_chunks(&log) == naive(&log);
                    assert!(same, "{} {what} at {at}: rows differ", case.name);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn back_dated_events_stand_where_they_belong() {
    let mut build = LogBuilder::new();
    build.block(Some(0), (1, 9000), |log| {
        log.run(10, 1)
            .run(500, 1)
            .run(900, 1)
            .event(10, 300, &[])
            .run(900, 1)
            .event(10, 5, &[])
            .run(901, 1)
    });
    build.block(Some(1), (1, 9000), |log| {
        log.run(400, 2).run(899, 2).run(2000, 2)
    });
    build.end();
    for every in 1..12 {
        let log = Log::open(build.bytes.clone(), every).expect("a log");
        assert_eq!(log.rows().index.rows(), 10);
        assert_eq!(all_chunks(&log), naive(&log), "chunks of {every}");
    }
}

#[test]
fn a_compressed_log_is_read_again() {
    let plain = fixture("ghc-9.6.6/fib-forkio-N2-l").bytes();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &plain).expect("memory");
    let zipped = Log::open(encoder.finish().expect("memory"), 50).expect("a log");
    let plain = Log::open(plain, 50).expect("a log");
    assert_eq!(all_chunks(&zipped), all_chunks(&plain));
}

/// Content of a list according to a scan over all events.
struct Expected {
    /// Row numbers among all events.
    rows: Vec<u64>,
    /// Whether each row matches the search.
    found: Vec<bool>,
    times: Vec<Nanos>,
}

fn expected(log: &Log, list: &EventList) -> Expected {
    let (mut rows, mut found, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let context = log.session.event_context();
    let mut matcher = Matcher::new(list);
    for chunk in 0..log.rows().index.chunks.len() {
        for (number, record) in log.chunk(chunk).iter() {
            if matcher.is_row(&record, &context) {
                rows.push(number);
                found.push(matcher.is_found(&record, &context));
                times.push(record.time);
            }
        }
    }
    Expected { rows, found, times }
}

fn list() -> impl Strategy<Value = EventList> {
    let types = select(vec![
        vec![],
        vec![1, 2],
        vec![19],
        vec![9, 10, 53],
        vec![200],
    ]);
    let cap = prop_oneof![
        Just(CapFilter::All),
        Just(CapFilter::Without),
        (0u16..4).prop_map(|cap| CapFilter::Only(CapId(cap)))
    ];
    let thread = proptest::option::of((1u32..20).prop_map(ThreadId));
    let range = proptest::option::of((0u64..40_000_000, 0u64..20_000_000));
    let search = select(vec!["", "thread", "MVar", "StopThread", "\u{fffd}", "zzz"]);
    let scope = prop_oneof![Just(Scope::default()), scope()];
    (types, cap, thread, range, scope, search).prop_map(
        |(types, cap, thread, range, scope, search)| EventList {
            filter: EventFilter {
                types,
                cap,
                thread,
                range: range.map(|(from, len)| Interval::new(Nanos(from), Nanos(from + len))),
                scope,
            },
            search: search.to_owned(),
        },
    )
}

/// Strategy for the scope of some capability and thread tracks.
fn scope() -> impl Strategy<Value = Scope> {
    let name = prop_oneof![
        (0u16..4).prop_map(|cap| format!("cap{cap}")),
        (1u32..20).prop_map(|thread| format!("thread{thread}")),
    ];
    proptest::collection::vec(name, 1..5).prop_map(|names| {
        let names = names.iter().map(String::as_str);
        scope_of(names, &LogContents::default())
    })
}

fn logs() -> Vec<Case> {
    let mut cases = fixture_cases();
    cases.retain(|case| case.bytes().len() < 60_000 && !case.name.contains("cut-in-header"));
    cases
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn lists_are_what_a_look_at_all_events_gives(
        case in select(logs()),
        every in 3u64..200,
        list in list(),
        from in 0.0f64..1.0,
        count in 1usize..40,
    ) {
        let log = Log::open(case.bytes(), every).expect("a log");
        let expected = expected(&log, &list);
        let counts = log.scan(&list);
        prop_assert_eq!(counts.done, log.rows().index.chunks.len());
        prop_assert_eq!(counts.rows_done(), expected.rows.len() as u64);
        let found = expected.found.iter().filter(|found| **found).count();
        prop_assert_eq!(counts.found_done(), found as u64);

        let first = (expected.rows.len() as f64 * from) as usize;
        let page = log.page(&list, &counts, first as u64, count);
        let end = expected.rows.len().min(first + count);
        let numbers: Vec<u64> = page.iter().map(|row| row.number).collect();
        prop_assert_eq!(&numbers, &expected.rows[first..end]);
        for (row, at) in page.iter().zip(first..) {
            let before = at.checked_sub(1).map(|before| expected.times[before]);
            prop_assert_eq!(row.since, before.map(|before| expected.times[at].since(before)));
            prop_assert_eq!(row.found, expected.found[at]);
        }

        let numbering = Numbering { index: &log.rows().index, counts: Some(&counts) };
        let is_found = |at: &usize| expected.found[*at];
        let next = (first + 1..expected.rows.len()).find(is_found);
        let find = FindVisitor::text(&list, numbering, Some(&counts), Some(first as u64), true);
        let result = log.visit(find).finish();
        prop_assert_eq!(result.map(|found| found.row), next.map(|at| at as u64));
        if let (Some(result), Some(next)) = (result, next) {
            let before = (0..next).filter(is_found).count();
            prop_assert_eq!(result.found, Some(before as u64));
        }
        let previous = (0..first.min(expected.rows.len())).rev().find(is_found);
        let find = FindVisitor::text(&list, numbering, None, Some(first as u64), false);
        let result = log.visit(find).finish();
        prop_assert_eq!(result.map(|found| found.row), previous.map(|at| at as u64));

        let time = Nanos((from * 50e6) as u64);
        let at = expected.times.iter().position(|&row| row >= time);
        let result = log.visit(FindVisitor::time(&list, numbering, time, None)).finish();
        prop_assert_eq!(result.map(|found| found.row), at.map(|at| at as u64));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn selected_tracks_keep_of_the_full_list_what_is_theirs(
        case in select(logs()),
        every in 3u64..200,
        scope in scope(),
        types in select(vec![vec![], vec![1, 2], vec![9, 10, 53]]),
        range in proptest::option::of((0u64..40_000_000, 0u64..20_000_000)),
    ) {
        let log = Log::open(case.bytes(), every).expect("a log");
        let range = range.map(|(from, len)| Interval::new(Nanos(from), Nanos(from + len)));
        let filter = EventFilter { types, range, ..EventFilter::default() };
        let rows = |filter: EventFilter| {
            let list = EventList { filter, search: String::new() };
            let counts = log.scan(&list);
            log.page(&list, &counts, 0, usize::MAX - 1)
        };
        let theirs = |row: &EventRow| {
            row.cap.is_some_and(|cap| scope.caps.contains(&cap))
                || row.thread.is_some_and(|thread| scope.threads.contains(&thread))
        };
        let full = rows(filter.clone());
        let expected: Vec<u64> = full.iter().filter(|row| theirs(row)).map(|row| row.number).collect();
        let scoped = rows(EventFilter { scope: scope.clone(), ..filter });
        let scoped: Vec<u64> = scoped.iter().map(|row| row.number).collect();
        prop_assert_eq!(scoped, expected);
    }
}

#[test]
fn selected_tracks_are_of_capabilities_or_of_threads() {
    let mut build = LogBuilder::new();
    // Thread 7 runs on capability 0 and is woken from capability 1, where thread 8 runs.
    build.block(Some(0), (1, 9000), |log| {
        log.run(10, 7)
            .event(59, 60, &[])
            .stop(100, 7, 7)
            .run(500, 9)
    });
    build.block(Some(1), (1, 9000), |log| {
        log.run(200, 8)
            .event(8, 300, &[0, 0, 0, 7, 0, 0])
            .stop(400, 8, 5)
    });
    build.end();
    let log = Log::open(build.bytes, 3).expect("a log");
    let times = |names: &[&str]| {
        let scope = scope_of(names.iter().copied(), &LogContents::default());
        let list = EventList {
            filter: EventFilter {
                scope,
                ..EventFilter::default()
            },
            ..EventList::default()
        };
        let counts = log.scan(&list);
        let rows = log.page(&list, &counts, 0, 100);
        rows.iter().map(|row| row.time.0).collect::<Vec<_>>()
    };
    assert_eq!(times(&["heap"]), [10, 60, 100, 200, 300, 400, 500]);
    assert_eq!(times(&["cap0"]), [10, 60, 100, 500]);
    assert_eq!(times(&["thread8"]), [200, 400]);
    // Events on its capability while it ran, and events elsewhere that name it.
    assert_eq!(times(&["thread7"]), [10, 60, 100, 300]);
    assert_eq!(times(&["thread7", "events1"]), [10, 60, 100, 200, 300, 400]);
    assert_eq!(times(&["cap5", "thread99"]), [0; 0]);
}

#[test]
fn a_jump_to_a_time_prefers_the_capability_that_is_meant() {
    let mut build = LogBuilder::new();
    build.block(Some(0), (10, 9000), |log| log.run(10, 1).run(500, 1));
    build.block(Some(1), (10, 9000), |log| log.run(500, 2).run(900, 2));
    build.end();
    let log = Log::open(build.bytes, 2).expect("a log");
    let all = EventList::default();
    let numbering = Numbering {
        index: &log.rows().index,
        counts: None,
    };
    let row = |time, cap| {
        let find = FindVisitor::time(&all, numbering, Nanos(time), cap);
        log.visit(find).finish().map(|found| found.row)
    };
    assert_eq!(row(500, Some(CapId(1))), Some(2));
    assert_eq!(row(500, Some(CapId(0))), Some(1));
    assert_eq!(row(500, Some(CapId(9))), Some(1));
    assert_eq!(row(501, None), Some(3));
    assert_eq!(row(901, None), None);
}
