//! A log cut to a range yields the numbers that the whole log yields for the range.

use crate::common;

use analysis::numbers::collections_query::CollectionsQuery;
use common::merging::{facts, merge_logs, two_collecting_processes};
use common::{Case, expected_coverage, findings_of, for_all, logs_in, session_of};
use eventlog::ids::Nanos;
use eventlog::source::read_log;
use eventlog_edit::anonymous::Anonymizer;
use eventlog_edit::cut::{Cut, Selection};
use eventlog_edit::merge::Align;
use insight::finding::Finding;
use insight::metrics::MetricContext;
use insight::{MeasuredMetric, RuleContext};
use model::marks::TimelineReply;
use model::time::Interval;
use serde::Serialize;
use serde_json::{Value, json};
use session::Session;
use session::heap::choice::HeapFilter;
use session::queries::{GcCostsQuery, SummaryQuery, ThreadTimeQuery, TimeQuery};
use session::tracks::capability::Capability;
use session::tracks::thread::Thread;
use session::tracks::{TimelineQuery, TrackId};

/// Cuts a log to a range.
fn cut(mut log: &[u8], range: Interval, anonymise: bool) -> Result<Vec<u8>, String> {
    let selection = Selection {
        from: (range.start() > Nanos(0)).then_some(range.start()),
        to: (range.end() < Nanos(u64::MAX)).then_some(range.end()),
        ..Selection::default()
    };
    let anonymizer = anonymise.then(Anonymizer::default);
    let mut cut = Cut::new(selection, anonymizer, Vec::new());
    let reader = read_log(&mut log, &mut cut).map_err(|error| error.to_string())?;
    let (log, _) = cut.finish(&reader).map_err(|error| error.to_string())?;
    Ok(log)
}

/// Returns ranges of a log, the same in each run; some begin and end with an event.
fn ranges(log: &[u8], seed: &str, count: usize) -> Vec<Interval> {
    let mut times = Vec::new();
    let mut bytes = log;
    let read = read_log(&mut bytes, &mut |record: &eventlog::Record<'_>| {
        times.push(record.time.0);
    });
    let Some(end) = times.iter().copied().max().filter(|_| read.is_ok()) else {
        return Vec::new();
    };
    let mut state = seed.bytes().fold(7_u64, |state, byte| {
        state.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below.max(1)
    };
    (0..count)
        .map(|place| {
            let mut moment = || match place % 2 {
                0 => next(end + 1),
                _ => times[next(times.len() as u64) as usize],
            };
            let (a, b) = (moment(), moment());
            let range = (a.min(b), a.max(b));
            match place {
                2 => Interval::new(Nanos(range.0), Nanos(u64::MAX)),
                4 => Interval::new(Nanos(0), Nanos(range.1)),
                _ => Interval::new(Nanos(range.0), Nanos(range.1)),
            }
        })
        .filter(|range| range.start() < range.end())
        .collect()
}

/// Returns the numbers of a log, or of a range of it.
fn numbers(log: &Session, range: Option<Interval>) -> Value {
    fn value(of: impl Serialize) -> Value {
        serde_json::to_value(of).expect("JSON")
    }
    let threads = log
        .ask(&ThreadTimeQuery(range))
        .expect("a log that is read");
    let threads = threads.into_iter().map(|thread| {
        let blocked = thread.blocked_ns.iter();
        let blocked: Vec<_> = blocked.map(|(reason, ns)| (reason.name(), *ns)).collect();
        json!({
            "id": thread.id.0, "label": thread.label, "life": thread.life_ns, "running": thread.running_ns,
            "paused": thread.runnable_during_gc_ns, "behind": thread.runnable_behind_ns, "idle": thread.runnable_cap_idle_ns,
            "blocked": blocked, "foreign": thread.foreign_ns, "unknown": thread.unknown_ns,
        })
    });
    json!({
        "summary": value(log.ask(&SummaryQuery(range))),
        "gc_costs": value(log.ask(&GcCostsQuery(range))),
        "time": value(log.ask(&TimeQuery(range))),
        "threads": threads.collect::<Vec<_>>(),
    })
}

/// Appends a line for each difference between two JSON values.
fn differences(path: &str, cut: &Value, whole: &Value, out: &mut Vec<String>) {
    match (cut, whole) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            for (key, value) in a {
                differences(&format!("{path}.{key}"), value, &b[key], out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (place, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{place}]"), a, b, out);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            let parted = (0..a.len().max(b.len())).find(|&i| a.get(i) != b.get(i));
            let place = parted.unwrap_or_default();
            let (a, b) = (a.get(place), b.get(place));
            out.push(format!("{path}[{place}] {a:?}, whole {b:?}"));
        }
        _ if cut == whole => {}
        _ => out.push(format!("{path} {cut}, whole {whole}")),
    }
}

/// Opens a log; `None` if it has damage or warnings, or no end marker.
fn sound(log: &[u8]) -> Option<Session> {
    let log = session_of(log).ok()?;
    let overview = log.overview();
    let is_sound = !overview.damaged && overview.ended && overview.warning_count == 0;
    is_sound.then_some(log)
}

/// Numbers that depend on INIT and EXIT. Where a range includes part of these phases, the cut may lack the calls
/// that delimit them.
const OF_PHASES: [&str; 6] = [
    "total_ns",
    "init_ns",
    "mutator_ns",
    "exit_ns",
    "productivity",
    "allocation_rate",
];

fn expect_same(cut: &Value, whole: &Value) -> Result<(), String> {
    let mut found = Vec::new();
    let (mut cut, mut whole) = (cut.clone(), whole.clone());
    let has_time = |phase: &str| whole["summary"][phase].as_u64().is_some_and(|ns| ns > 0);
    if has_time("init_ns") || has_time("exit_ns") || cut["summary"]["init_ns"].is_null() {
        for numbers in [&mut cut, &mut whole] {
            for name in OF_PHASES {
                numbers["summary"][name] = Value::Null;
            }
        }
    }
    differences("", &cut, &whole, &mut found);
    if found.is_empty() {
        return Ok(());
    }
    Err(found.join("\n    "))
}

fn without_labels(mut numbers: Value) -> Value {
    let threads = numbers["threads"].as_array_mut();
    threads
        .into_iter()
        .flatten()
        .for_each(|thread| thread["label"] = Value::Null);
    numbers
}

/// Runs `check` on cuts of all undamaged logs, with the cut, the whole log and the range.
fn for_all_cuts(
    counts: common::ExpectedCoverage,
    per_log: usize,
    check: impl Fn(&Session, &Session, Interval) -> Result<(), String>,
) {
    for_all(counts, |case: &Case| {
        let bytes = case.bytes();
        let Some(whole) = sound(&bytes) else {
            return Ok(0);
        };
        let mut failures = Vec::new();
        let ranges = ranges(&bytes, &case.name, per_log);
        for &range in &ranges {
            let log = session_of(&cut(&bytes, range, false)?).map_err(|error| error.to_string())?;
            if let Err(why) = check(&log, &whole, range) {
                failures.push(format!(
                    "\n  {} to {}: {why}",
                    range.start().0,
                    range.end().0
                ));
            }
        }
        if failures.is_empty() {
            return Ok(ranges.len());
        }
        Err(failures.concat())
    });
}

fn expect_numbers(cut: &Session, whole: &Session, range: Interval) -> Result<(), String> {
    let same = expect_same(&numbers(cut, None), &numbers(whole, Some(range)));
    let mut found: Vec<String> = same.err().into_iter().collect();
    let overview = cut.overview();
    found.extend(
        overview
            .warnings
            .iter()
            .map(|warning| format!("warning {warning:?}")),
    );
    if found.is_empty() {
        return Ok(());
    }
    Err(found.join("\n    "))
}

#[test]
fn a_cut_log_gives_the_numbers_of_its_range() {
    for_all_cuts(expected_coverage([20, 100], [60, 300]), 7, expect_numbers);
}

/// A range may go beyond the log; shares are of the part that the log covers.
#[test]
fn a_cut_beyond_the_log_gives_the_metrics_of_its_range() {
    const HOUR_NS: u64 = 3_600_000_000_000;
    for_all(expected_coverage([20, 20], [60, 60]), |case| {
        let bytes = case.bytes();
        let Some(whole) = sound(&bytes) else {
            return Ok(0);
        };
        let end = Nanos(whole.recording().end().0 + HOUR_NS);
        let range = Interval::new(Nanos(0), end);
        let log = session_of(&cut(&bytes, range, false)?).map_err(|error| error.to_string())?;
        let metrics = |log: &Session, range: Option<Interval>| {
            let context = MetricContext::new(RuleContext::new(log.recording(), range));
            serde_json::to_value(MeasuredMetric::evaluate_all(&context)).expect("JSON")
        };
        let mut found = Vec::new();
        let (own, expected) = (metrics(&log, None), metrics(&whole, Some(range)));
        differences("", &own, &expected, &mut found);
        if findings_of(&log, None).range != findings_of(&whole, Some(range)).range {
            found.push("the range of findings is another".to_owned());
        }
        if found.is_empty() {
            return Ok(1);
        }
        Err(found.join("\n    "))
    });
}

/// What the last buffers of a killed program contained is unknown in a cut, too.
#[test]
fn a_cut_of_a_log_without_an_end_gives_the_numbers_of_its_range() {
    let all = Interval::new(Nanos(0), Nanos(u64::MAX));
    for_all(expected_coverage([2, 4], [2, 4]), |case| {
        let bytes = case.bytes();
        let Ok(whole) = session_of(&bytes) else {
            return Ok(0);
        };
        let overview = whole.overview();
        if overview.damaged || overview.ended || !overview.only_breaks_off() {
            return Ok(0);
        }
        let mut ranges = ranges(&bytes, &case.name, 5);
        // Without the facts about the heap, the oldest generation is that of any collection, also outside of a range.
        if whole.process().heap.is_none() {
            ranges.clear();
        }
        ranges.push(all);
        for &range in &ranges {
            let log = session_of(&cut(&bytes, range, false)?).map_err(|error| error.to_string())?;
            if log.overview().ended {
                return Err("the cut has an end".to_owned());
            }
            let of_range = numbers(&whole, (range != all).then_some(range));
            expect_same(&numbers(&log, None), &of_range)
                .map_err(|why| format!("{} to {}: {why}", range.start().0, range.end().0))?;
        }
        Ok(ranges.len())
    });
}

fn expect_collections(cut: &Session, whole: &Session, range: Interval) -> Result<(), String> {
    let collections = |log: &Session, range: Option<Interval>| {
        let query = CollectionsQuery {
            range,
            rows: 0..u64::MAX,
            ..CollectionsQuery::default()
        };
        let mut rows = serde_json::to_value(log.ask(&query).rows).expect("JSON");
        // They are numbered from the first one of the file.
        for row in rows.as_array_mut().into_iter().flatten() {
            row["number"] = Value::Null;
        }
        rows
    };
    let mut found = Vec::new();
    let (own, expected) = (collections(cut, None), collections(whole, Some(range)));
    differences("", &own, &expected, &mut found);
    if found.is_empty() {
        return Ok(());
    }
    Err(found.join("\n    "))
}

#[test]
fn a_cut_log_has_the_collections_of_its_range() {
    for_all_cuts(
        expected_coverage([20, 100], [60, 300]),
        7,
        expect_collections,
    );
}

/// Capabilities leave a collection late, threads wait at the end of the range, and threads were created before it.
#[test]
fn a_cut_log_has_the_findings_of_its_range() {
    let cases = [
        ("findings", "hand-overs-found", 62_583_207, 90_187_617),
        (
            "findings-busy",
            "ready-while-idle-found",
            2_336_547,
            148_698_955,
        ),
        (
            "findings-busy",
            "serial-section-found",
            404_486_379,
            723_789_705,
        ),
    ];
    for (folder, name, from, to) in cases {
        let found = logs_in(folder).find(|(other, _)| other == name);
        let (_, bytes) = found.expect("the log");
        let range = Interval::new(Nanos(from), Nanos(to));
        let whole = session_of(&bytes).expect("a log");
        let log = session_of(&cut(&bytes, range, false).expect("a cut")).expect("a log");
        let said = |finding: &Finding| {
            let Finding {
                title,
                meaning,
                tries,
                places,
                ..
            } = finding.clone();
            (title, meaning, tries, places)
        };
        let findings = |log: &Session, range: Option<Interval>| {
            let report = findings_of(log, range);
            report.findings.iter().map(said).collect::<Vec<_>>()
        };
        assert_eq!(
            findings(&log, None),
            findings(&whole, Some(range)),
            "{name}"
        );
        assert_eq!(expect_collections(&log, &whole, range), Ok(()), "{name}");
    }
}

#[test]
fn a_cut_of_a_cut_gives_the_numbers_of_its_range() {
    for_all(expected_coverage([20, 40], [60, 150]), |case| {
        let bytes = case.bytes();
        let Some(whole) = sound(&bytes) else {
            return Ok(0);
        };
        let ranges = ranges(&bytes, &case.name, 5);
        let mut things = 0;
        for (a, b) in ranges.iter().zip(ranges.iter().skip(1)) {
            let both = a.hull(*b);
            let log = cut(&cut(&bytes, both, false)?, *a, true)?;
            let log = session_of(&log).map_err(|error| error.to_string())?;
            // Labels are anonymized.
            let numbers = |log, range| without_labels(numbers(log, range));
            expect_same(&numbers(&log, None), &numbers(&whole, Some(*a)))?;
            things += 1;
        }
        Ok(things)
    });
}

#[test]
fn merged_cuts_give_the_numbers_of_both_ranges() {
    for_all(expected_coverage([15, 15], [50, 50]), |case| {
        let bytes = case.bytes();
        let Some(whole) = sound(&bytes) else {
            return Ok(0);
        };
        let Some(range) = ranges(&bytes, &case.name, 1).pop() else {
            return Ok(0);
        };
        if facts("log", &bytes, &Align::WallClock)
            .wall_clock
            .is_none_or(|(at, _)| at >= range.start())
        {
            return Ok(0);
        }
        let middle = Nanos(range.start().0.midpoint(range.end().0));
        let parts = [
            Interval::new(range.start(), middle),
            Interval::new(middle, range.end()),
        ];
        let parts = [cut(&bytes, parts[0], false)?, cut(&bytes, parts[1], false)?];
        let (log, ..) = merge_logs(&[&parts[0], &parts[1]], &Align::WallClock, &[])
            .map_err(|why| why.to_string())?;
        let log = session_of(&log).map_err(|error| error.to_string())?;
        expect_same(&numbers(&log, None), &numbers(&whole, Some(range)))?;
        Ok(1)
    });
}

/// Each process has its own collections, also those in progress at the edges of a cut.
#[test]
fn a_cut_of_two_processes_gives_the_numbers_of_its_range() {
    let merged = two_collecting_processes();
    let whole = session_of(&merged).expect("a log");
    let times = [
        500, 1_500, 2_050, 2_500, 3_050, 4_000, 5_500, 6_500, 7_020, 7_500, 8_050, 8_500,
    ];
    for (place, from) in times.iter().enumerate() {
        for to in &times[place + 1..] {
            let range = Interval::new(Nanos(*from), Nanos(*to));
            let log = cut(&merged, range, false).expect("a cut");
            let log = session_of(&log).expect("a log");
            let same = expect_same(&numbers(&log, None), &numbers(&whole, Some(range)));
            assert_eq!(same, Ok(()), "{from} to {to}");
        }
    }
}

/// Returns the marks of a row in a range. Marks near its edges are left out, as pixels there include what is
/// outside.
fn marks(log: &Session, row: TrackId, range: Interval) -> Value {
    let query = TimelineQuery {
        view: range,
        width_px: 2000,
        rows: vec![row],
        heap: HeapFilter {
            range: Some(range),
            ..HeapFilter::default()
        },
        ..TimelineQuery::default()
    };
    let (bucket, width) = (query.bucket_ns() as f64, range.duration().0 as f64);
    let TimelineReply { spans, points, .. } = log.ask(&query);
    let is_inside = |start: f64, end: f64| start >= 2.0 * bucket && end <= width - 2.0 * bucket;
    let spans = (0..spans.row.len()).filter_map(|i| {
        let (mut start, mut end) = (spans.start[i], spans.end[i]);
        if spans.many[i] == 0 {
            (start, end) = (start.max(0.0), end.min(width));
        }
        // Near the edges, spans narrower than a pixel may be merged with spans outside of the range.
        let is_narrow = spans.many[i] != 0 || end - start < bucket;
        if (is_narrow && !is_inside(start, end)) || end <= start {
            return None;
        }
        Some((start, end, spans.class[i], spans.many[i], spans.count[i]))
    });
    let points = (0..points.row.len()).filter_map(|i| {
        let (start, end) = (points.start[i], points.end[i]);
        let values = [points.min[i], points.max[i], points.mean[i]];
        is_inside(start, end).then_some((points.series[i], start, end, values))
    });
    json!([spans.collect::<Vec<_>>(), points.collect::<Vec<_>>()])
}

fn expect_marks(cut: &Session, whole: &Session, range: Interval) -> Result<(), String> {
    let range = range.clip(whole.overview().span.unwrap_or_default());
    let tracks = whole.overview().contents.tracks;
    let threads = whole.ask(&ThreadTimeQuery(Some(range))).unwrap_or_default();
    // Blocks are those of the file. Among bands of equal size another one may be chosen.
    let is_compared = |row| !matches!(row, TrackId::Blocks(_) | TrackId::Bands(_));
    let tracks = tracks.iter().filter(|track| is_compared(track.row));
    let mut rows: Vec<TrackId> = tracks.map(|track| track.row).collect();
    rows.extend(
        threads
            .iter()
            .map(|thread| TrackId::from(Thread(thread.id))),
    );
    rows.extend(
        whole
            .overview()
            .caps
            .iter()
            .map(|cap| TrackId::from(Capability(cap.cap))),
    );
    let mut found = Vec::new();
    for row in rows {
        let mut of_row = Vec::new();
        let whole = marks(whole, row, range);
        differences("", &marks(cut, row, range), &whole, &mut of_row);
        of_row.truncate(1);
        found.extend(of_row.into_iter().map(|what| {
            let what: String = what.chars().take(300).collect();
            format!("{row:?}: {what}")
        }));
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(found.join("\n    "))
}

#[test]
fn a_cut_log_has_the_tracks_of_its_range() {
    for_all_cuts(expected_coverage([20, 50], [60, 150]), 4, expect_marks);
}

/// Commands that list threads and spans give the same for a cut as for the range, and find nothing out of order in
/// the cut of a sound log.
#[test]
fn commands_give_the_window_of_a_cut() {
    let folder = tempfile::tempdir().expect("a folder");
    let part = folder.path().join("part.eventlog");
    let part = part.to_str().expect("UTF-8");
    let cases = [
        ("ghc-9.6.6/ffi-safe-N2-la", 5_255_237, 7_983_401),
        ("ghc-9.6.6/fib-forkio-N2-l", 3_000_000, 9_000_000),
        ("ghc-9.6.6/dense-N2-l-flush", 4_000_000, 9_000_000),
    ];
    for (name, from, to) in cases {
        let case = common::fixture(name);
        let (from, to) = (from.to_string(), to.to_string());
        let range = ["--from", &from, "--to", &to];
        let whole = |words: &[&str]| {
            common::stdout(&[&[words[0], case.path()], &words[1..], &range[..]].concat())
        };
        let cut = |words: &[&str]| common::stdout(&[&[words[0], part], &words[1..]].concat());
        common::stdout(&[&["cut", case.path(), "--out", part], &range[..]].concat());
        for words in [
            &["spans", "gc"][..],
            &["spans", "mutator"],
            &["spans", "capability-usage"],
        ] {
            assert_eq!(cut(words), whole(words), "{name}: {words:?}");
        }
        let sums = |rows: &str| -> Vec<u64> {
            let rows: Vec<Value> = serde_json::from_str(rows).expect("JSON");
            let sum = |name: &str| rows.iter().filter_map(|row| row[name].as_u64()).sum();
            [
                "running_ns",
                "ready_ns",
                "blocked_ns",
                "foreign_call_ns",
                "runs",
            ]
            .map(sum)
            .to_vec()
        };
        let threads = &["threads", "--json"];
        assert_eq!(sums(&cut(threads)), sums(&whole(threads)), "{name}");
        assert_eq!(common::stdout(&["check", case.path()]), "", "{name}");
        assert_eq!(cut(&["check"]), "", "{name}");
    }
}
