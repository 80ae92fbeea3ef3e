//! `eventscope assert` and `metrics`: metrics agree with the output of other commands, and the exit status tells
//! apart passed, failed, unknown and invalid assertions.

use crate::common;

use std::process::Output;

use common::{
    eventscope, expected_coverage, finding_session, fixture, for_all_spans, session_at, session_of,
    stdout,
};
use eventlog::ids::Nanos;
use insight::RuleContext;
use insight::assertion::Assertion;
use insight::metrics::{Labels, METRICS, MetricContext, NumberError, Numbers};
use insight::rules::RULES;
use model::gauge::Samples;
use model::time::Interval;
use serde_json::Value;
use session::Session;
use session::queries::{SummaryQuery, TimeQuery};

const LOG: &str = "tests/fixtures/logs/ghc-9.6.6/gc-heavy-N2-la-nonmoving.eventlog";

fn assert_of(words: &[&str]) -> (Option<i32>, String) {
    let words: Vec<&str> = ["assert"].iter().chain(words).copied().collect();
    let Output { status, stdout, .. } = eventscope(&words);
    (status.code(), String::from_utf8(stdout).expect("UTF-8"))
}

#[test]
fn the_exit_status_says_what_came_of_it() {
    let holds = [
        "gc.count > 0",
        "gc.pause.max < 1 s and finding(deadlock-found) == 0",
    ];
    assert_eq!(assert_of(&[LOG, holds[0], holds[1]]).0, Some(0));
    assert_eq!(assert_of(&[LOG, "gc.count == 0"]).0, Some(3));
    assert_eq!(assert_of(&[LOG, "warn: gc.count == 0"]).0, Some(0));
    assert_eq!(assert_of(&[LOG, "span.time.max < 1 s"]).0, Some(4));
    assert_eq!(
        assert_of(&[LOG, "span.time.max < 1 s", "--allow-missing"]).0,
        Some(0)
    );
    // A failed assertion takes precedence over one without a value.
    assert_eq!(
        assert_of(&[LOG, "span.time.max < 1 s", "gc.count == 0"]).0,
        Some(3)
    );
    for nonsense in [
        "gc.count < 5 ms",
        "gc.puase.max < 5 ms",
        "gc.pause < 5 ms",
        "gc.count{name=x} > 0",
        "gc.count < 5 seconds",
        "finding(gc-sync-stragler) == 0",
        "finding() == 0",
    ] {
        assert_eq!(assert_of(&[LOG, nonsense]).0, Some(2), "{nonsense}");
    }
    assert_eq!(assert_of(&[LOG]).0, Some(2));
    assert_eq!(assert_of(&["no-such.eventlog", "gc.count > 0"]).0, Some(1));
}

#[test]
fn a_misspelled_rule_is_told_with_similar_ones() {
    let misspelled = ["assert", LOG, "finding(gc-sync-stragler) == 0"];
    let errors = String::from_utf8(eventscope(&misspelled).stderr).expect("UTF-8");
    assert!(
        errors.contains("similar names: gc-sync-straggler"),
        "{errors}"
    );
}

/// Rules that could not be evaluated have no number of findings; else it is that of the report.
#[test]
fn findings_of_rules_without_data_are_not_0() {
    let without_threads = fixture("ghc-9.6.6/heap-N2-hT-l-au").bytes();
    let sessions = [
        session_at(LOG),
        session_of(&without_threads).expect("a log"),
    ];
    let mut undecided = 0;
    for session in &sessions {
        let looked = MetricContext::new(RuleContext::new(session.recording(), None));
        let report = looked.report();
        let count = |pattern: &str| {
            let assertion = format!("finding({pattern}, minor) >= 0");
            let checked = Assertion::parse(&assertion)
                .expect("it is one")
                .check(&looked);
            checked.map(|verdict| verdict.found.0.number as usize).ok()
        };
        for rule in RULES {
            let is_undecided = report.cannot_tell.iter().any(|one| one.rule == rule.name);
            let found = report.findings.iter();
            let found = found.filter(|found| found.rule == rule.name).count();
            let expected = (!is_undecided).then_some(found);
            assert_eq!(count(rule.name), expected, "{}", rule.name);
            undecided += usize::from(is_undecided);
        }
        // Some rules of all can be evaluated in any log.
        assert_eq!(count("*"), Some(report.findings.len()));
    }
    assert!(undecided > 40, "{undecided}");
    let log = fixture("ghc-9.6.6/heap-N2-hT-l-au");
    let straggler = "finding(gc-sync-straggler) == 0";
    assert_eq!(assert_of(&[log.path(), straggler]).0, Some(4));
}

/// A log that cannot be read does not hide the results of the others.
#[test]
fn the_results_of_other_logs_are_printed() {
    let with = |format| {
        assert_of(&[
            LOG,
            "no-such.eventlog",
            "gc.count > 0",
            "--allow-missing",
            "--format",
            format,
        ])
    };
    let (status, text) = with("text");
    assert_eq!((status, text.lines().count()), (Some(1), 2), "{text}");
    assert!(
        text.contains("\n? no-such.eventlog: gc.count > 0 ("),
        "{text}"
    );
    let (_, json) = with("json");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json[0]["state"], &json[1]["state"]),
        (&"passed".into(), &"unreadable".into())
    );
    let (_, xml) = with("junit");
    assert!(
        xml.contains("tests=\"2\" failures=\"0\" errors=\"1\"") && xml.contains("<error "),
        "{xml}"
    );
    // A median of the others would be that of other runs.
    let all = [LOG, "no-such.eventlog", "gc.count > 0", "--runs", "median"];
    assert_eq!(assert_of(&all), (Some(1), String::new()));
}

fn run(number: usize) -> String {
    format!("tests/fixtures/compare/plain-{number:02}.eventlog.gz")
}

/// Returns the value of a metric as `eventscope metrics` prints it.
fn metric_value(log: &str, name: &str) -> f64 {
    let listed: Value = serde_json::from_str(&stdout(&["metrics", log, "--json"])).expect("JSON");
    let mut rows = listed.as_array().into_iter().flatten();
    let row = rows.find(|row| row["name"] == name).expect("a metric");
    row["value"].as_f64().expect("a number")
}

#[test]
fn several_logs_are_taken_one_by_one_or_together() {
    let logs = [1, 2, 3].map(run);
    let mut walls = logs.clone().map(|log| metric_value(&log, "time.wall"));
    walls.sort_by(f64::total_cmp);
    let [least, median, most] = walls;
    let with = |runs: &str, limit: f64| {
        let assertion = format!("time.wall <= {limit} ns");
        assert_of(&[&logs[0], &logs[1], &logs[2], &assertion, "--runs", runs]).0
    };
    for (runs, limit) in [
        ("all", most),
        ("max", most),
        ("median", median),
        ("min", least),
    ] {
        assert_eq!(
            (with(runs, limit), with(runs, limit - 1.0)),
            (Some(0), Some(3)),
            "{runs}"
        );
    }
    let together = assert_of(&[&logs[0], &logs[1], "gc.count > 0", "--runs", "median"]).1;
    assert!(together.starts_with("✓ median of 2 logs: "), "{together}");
    // One log without the metric makes the median unknown.
    assert_eq!(
        assert_of(&[&logs[0], LOG, "span.time.max < 1 s", "--runs", "median"]).0,
        Some(4)
    );
}

#[test]
fn a_window_is_a_part_of_the_log() {
    let log = run(1);
    let of = |assertion: &str| assert_of(&[&log, assertion]).0;
    assert_eq!(of("span.count{name=round} == 6"), Some(0));
    assert_eq!(of("span.count{name=round}@warm..done == 5"), Some(0));
    assert_eq!(of("span.count{name=round}@..warm == 1"), Some(0));
    assert_eq!(of("gc.count@span:round <= gc.count"), Some(0));
    assert_eq!(of("gc.count{gen=1}@span:round#6 == 1"), Some(0));
    assert_eq!(of("time.wall@warm..done < time.wall"), Some(0));
    for missing in ["done..warm", "warm#2..", "span:round#7", "span:nothing"] {
        assert_eq!(of(&format!("gc.count@{missing} > 0")), Some(4), "{missing}");
    }
}

/// Calls of one name that overlap count one by one, if numbers tell them apart.
#[test]
fn concurrent_calls_count_one_by_one() {
    let log = fixture("ghc-9.6.6/ffi-safe-N2-la");
    let of = |assertion: &str| assert_of(&[log.path(), assertion]).0;
    assert_eq!(of("span.count{name=ffi_c_work} == 6"), Some(0));
    assert_eq!(of("span.time{name=ffi_c_work}.sum > 25 ms"), Some(0));
    assert_eq!(of("time.wall@span:ffi_c_work#6 > 2 ms"), Some(0));
    assert_eq!(of("time.wall@span:ffi_c_work#7 > 0 ns"), Some(4));
}

/// The runtime without threads logs no requests of collections: how long these waited is unknown, not 0.
#[test]
fn waits_without_requests_are_unknown() {
    let log = fixture("ghc-9.10.3/fib-forkio-nt-l");
    let of = |assertion: &str| assert_of(&[log.path(), assertion]).0;
    assert_eq!(of("gc.count > 0"), Some(0));
    assert_eq!(of("gc.sync.max < 1 ms"), Some(4));
    assert_eq!(of("gc.sync.sum < 1 ms"), Some(4));
}

/// Returns the numbers of a metric that has many.
fn many(session: &Session, name: &str, range: Option<Interval>) -> Vec<u64> {
    let looked = MetricContext::new(RuleContext::new(session.recording(), range));
    let metric = insight::metrics::metric_by_name(name).expect("a metric");
    match metric.evaluate(&looked, &Labels::new()) {
        Ok(Numbers::Many(all)) => all.iter().map(|seen| seen.value as u64).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

/// A size that stays the same counts for each collection. A range begins with the size held at its start.
#[test]
fn the_heap_has_a_size_for_each_collection() {
    let session = finding_session("major-gc-heavy-found");
    let collections = session.recording().numbers.collections_with_statistics();
    let sizes = collections.iter().filter_map(|gc| gc.heap_size_bytes);
    let sizes: Vec<u64> = sizes.collect();
    assert_eq!(sizes.len(), 631);
    assert_eq!(many(&session, "heap.size", None), sizes);
    let part = Interval::new(collections[200].start, collections[400].start);
    assert_eq!(many(&session, "heap.size", Some(part)), sizes[199..400]);
}

/// A range excludes what is at its end; only that of the log includes the last moment.
#[test]
fn the_end_of_a_range_is_not_part_of_it() {
    let session = finding_session("major-gc-heavy-found");
    let live = session.recording().numbers.live();
    let bytes: Vec<u64> = (0..live.len()).map(|place| live.value(place)).collect();
    let until = |place| Interval::new(Nanos(0), Nanos(live.time(place)));
    let found = |place| many(&session, "heap.live", Some(until(place)));
    assert_eq!((found(1).len(), found(9)), (1, bytes[..9].to_vec()));
    assert_eq!(many(&session, "heap.live", None), bytes);
}

#[test]
fn assertions_stand_in_a_file() {
    let file = std::env::temp_dir().join(format!("eventscope-guard-{}", std::process::id()));
    std::fs::write(
        &file,
        "# what has to hold\n\ngc.count > 0\n  warn: gc.count == 0\n",
    )
    .expect("a file");
    let config = ["--config", file.to_str().expect("UTF-8")];
    let (status, text) = assert_of(&[&[LOG][..], &config].concat());
    assert_eq!((status, text.lines().count()), (Some(0), 2));
    std::fs::write(&file, "gc.count >\n").expect("a file");
    assert_eq!(assert_of(&[&[LOG][..], &config].concat()).0, Some(2));
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(assert_of(&[&[LOG][..], &config].concat()).0, Some(1));
}

#[test]
fn two_sides_are_not_one_log() {
    for assertion in ["delta(gc.count) < 1 %", "regress(gc.count) < 1 %"] {
        assert_eq!(assert_of(&[LOG, assertion]).0, Some(2), "{assertion}");
    }
}

#[test]
fn each_format_has_what_did_not_hold() {
    let of = |format| {
        assert_of(&[
            LOG,
            "gc.count{gen=0} == 0",
            "gc.count > 0",
            "--format",
            format,
        ])
        .1
    };
    let text = of("text");
    assert!(text.starts_with("✗ ") && text.contains("\n✓ "), "{text}");
    let json: Value = serde_json::from_str(&of("json")).expect("JSON");
    assert_eq!(
        (&json[0]["state"], &json[1]["state"]),
        (&"failed".into(), &"passed".into())
    );
    let xml = of("junit");
    assert!(
        xml.contains("tests=\"2\" failures=\"1\"") && xml.contains("name=\"gc.count &gt; 0\""),
        "{xml}"
    );
    let github = of("github");
    assert_eq!(github.lines().count(), 1);
    assert!(
        github.starts_with("::error title=gc.count{gen=0} == 0::"),
        "{github}"
    );
    // GitHub shows ten annotations of each kind; the last one counts the rest.
    let failing = ["gc.count == 0"; 12];
    let many = assert_of(&[&[LOG], &failing[..], &["--format", "github"]].concat()).1;
    let last = many.lines().last().unwrap_or_default();
    assert_eq!(last, "::error title=eventscope::3 more failed");
}

fn one(looked: &MetricContext<'_>, name: &str) -> Option<f64> {
    let metric = insight::metrics::metric_by_name(name).expect("a metric");
    match metric.evaluate(looked, &Labels::new()) {
        Ok(Numbers::One(number)) => Some(number),
        Ok(Numbers::Many(all)) => Some(all.iter().map(|seen| seen.value).sum()),
        Err(NumberError::NoData(_)) => None,
        Err(NumberError::Inconclusive(why) | NumberError::Usage(why)) => panic!("{name}: {why}"),
    }
}

/// Compares the metrics of a log with its summary and its account of time.
fn agrees(session: &Session) -> Result<usize, String> {
    let looked = MetricContext::new(RuleContext::new(session.recording(), None));
    let whole = looked.context.range;
    let range = Some(whole);
    let summary = session.ask(&SummaryQuery(range));
    let times = session.ask(&TimeQuery(range));
    let of_log = session.ask(&SummaryQuery(None));
    let pairs = [
        // The last collection, where the range ends, reports what was allocated before it.
        ("alloc.bytes", of_log.bytes_allocated),
        ("gc.copied", summary.bytes_copied),
        ("thread.run", Some(times.all_caps().running_ns)),
        ("time.wall", Some(summary.total_ns)),
        ("gc.count", Some(times.collections.count)),
    ];
    let mut compared = 0;
    for (name, told) in pairs {
        let (Some(number), Some(told)) = (one(&looked, name), told) else {
            continue;
        };
        if number as u64 != told {
            return Err(format!("{name}: {number}, elsewhere {told}"));
        }
        compared += 1;
    }
    for metric in METRICS {
        let read = metric.evaluate(&looked, &Labels::new());
        if let Err(NumberError::Usage(why)) = read {
            return Err(why);
        }
        let is_many = matches!(read, Ok(Numbers::Many(_)));
        if read.is_ok() && is_many != metric.has_many {
            return Err(format!("{} is not as it says", metric.name));
        }
    }
    let all = Assertion::parse(
        "gc.pause.max >= gc.pause.p99 and gc.pause.p99 >= gc.pause.min and gc.pause.sum == gc.time",
    );
    match all.expect("it is one").check(&looked) {
        Ok(verdict) if !verdict.holds => Err(format!("{:?}", verdict.found)),
        _ => Ok(compared),
    }
}

#[test]
fn metrics_are_what_other_questions_say() {
    for_all_spans(expected_coverage([20, 60], [80, 250]), |session, _| {
        agrees(session)
    });
}

#[test]
fn every_metric_is_listed_with_its_unit() {
    let listed: Value = serde_json::from_str(&stdout(&["metrics", LOG, "--json"])).expect("JSON");
    let names: Vec<&str> = listed
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(names.len(), METRICS.len());
    assert_eq!(listed[0]["unit"], "bytes");
}

/// Extremes and ranks come with a range, which is as long as the value states.
#[test]
fn extremes_lead_to_what_they_are_of() {
    const SPANS: &str = "tests/fixtures/findings/slow-spans-found.eventlog.gz";
    let number = |of: &Value| of.as_f64().expect("a number");
    for (log, metric) in [(LOG, "gc.pause"), (LOG, "gc.sync"), (SPANS, "span.time")] {
        let listed: Value =
            serde_json::from_str(&stdout(&["metrics", log, "--json"])).expect("JSON");
        let rows = listed.as_array().into_iter().flatten();
        let mut rows = rows.filter(|row| row["name"] == metric);
        let row = rows.next().expect("it is listed");
        for rank in ["p50", "p99", "max"] {
            let seen = &row["ranks"][rank];
            let length = number(&seen["range"]["end"]) - number(&seen["range"]["start"]);
            assert_eq!(length, number(&seen["value"]), "{metric}.{rank}");
            assert!(seen["subject"].is_object(), "{metric}.{rank}: {seen}");
            let (words, text) = (format!("{metric}.{rank} < 1 ns"), "from");
            let (code, said) = assert_of(&[log, &words]);
            let from = format!("; {metric}.{rank} {text} {} to ", seen["range"]["start"]);
            assert_eq!((code, said.contains(&from)), (Some(3), true), "{said}");
            let (_, json) = assert_of(&[log, &words, "--format", "json"]);
            let json: Value = serde_json::from_str(&json).expect("JSON");
            assert_eq!(&json[0]["places"][0]["range"], &seen["range"]);
        }
        let text = stdout(&["metrics", log]);
        let most = &row["ranks"]["max"]["range"]["end"];
        assert!(text.contains(&format!(" to {most} ns, ")), "{text}");
    }
    // In the text of the runtime's report, the ranges of its extremes follow below.
    let text = stdout(&["summary", LOG]);
    let json: Value = serde_json::from_str(&stdout(&["summary", LOG, "--json"])).expect("JSON");
    let longest = &json["generations"][0]["longest"];
    let line = format!(
        "Max pause of gen 0: --from {} --to {}",
        longest["start"], longest["end"]
    );
    assert!(text.contains(&line), "{text}");
}
