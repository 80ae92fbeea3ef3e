//! Comparison of two sets of runs: the logs in `tests/fixtures/compare`, runs of `demo/compare/Pipeline.hs`
//! without a change and with three different changes.

use crate::common;

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use common::{eventscope, fixture, session_at};
use insight::compare::{Claim, Difference, FindingState, Options, Trend, Verdict};
use insight::digest::{ComparableFact, NumberGroup};
use insight::{Comparison, Digest};
use serde_json::Value;
use session::queries::DigestQuery;

const FOLDER: &str = "tests/fixtures/compare";

fn name(kind: &str, run: usize) -> String {
    format!("{FOLDER}/{kind}-{run:02}.eventlog.gz")
}

fn names(kind: &str, runs: usize) -> Vec<String> {
    (1..=runs).map(|run| name(kind, run)).collect()
}

fn digests(kind: &str, runs: usize) -> Vec<Digest> {
    let digest = |path: String| session_at(&path).ask(&DigestQuery(None));
    let all = names(kind, runs).into_iter().map(digest);
    all.map(|digest| digest.expect("it is read")).collect()
}

static PLAIN: LazyLock<Vec<Digest>> = LazyLock::new(|| digests("plain", 20));

fn compared(before: &[Digest], after: &[Digest]) -> Comparison {
    Comparison::compare(before, after, &Options::default())
}

fn row<'a>(
    comparison: &'a Comparison,
    group: NumberGroup,
    name: &str,
    part: &str,
) -> &'a Difference {
    let is = |row: &&Difference| {
        row.key.group == group && row.key.name == name && row.key.part.as_ref() == part
    };
    comparison.rows.iter().find(is).expect("a row")
}

#[test]
fn identical_logs_have_no_difference() {
    let mut logs: Vec<Digest> = digests("ballast", 1);
    logs.push(PLAIN[0].clone());
    for path in [
        "tests/fixtures/logs/ghc-9.6.6/gc-heavy-N2-la-nonmoving.eventlog",
        "tests/fixtures/logs/ghc-9.6.6/prof-heap-N1-hb-l-au.eventlog",
        "tests/fixtures/logs/ghc-9.6.6/prof-time-N1-p-l-au.eventlog",
    ] {
        logs.push(
            session_at(path)
                .ask(&DigestQuery(None))
                .expect("it is read"),
        );
    }
    for log in logs {
        let side = [log];
        let same = compared(&side, &side);
        assert_eq!(same.verdict(), Verdict::Alike);
        assert!(same.rows.len() > 5 && same.unequal.is_empty());
        for row in &same.rows {
            assert_eq!(
                (row.claim, row.change),
                (Claim::NoDifference, 0.0),
                "{:?}",
                row.key
            );
        }
        let states = same.findings.iter().map(|change| change.state);
        assert!(states.into_iter().all(|state| state == FindingState::Same));
    }
}

/// A heap profile in text has no capabilities and no collector, so their facts are empty, not defaults.
#[test]
fn facts_that_a_log_does_not_have_are_empty() {
    let facts = |end: &str| {
        let path = format!("tests/fixtures/logs/ghc-9.6.6/heap-N2-hT-l-au{end}");
        let digest = session_at(&path).ask(&DigestQuery(None));
        digest.expect("it is read").facts
    };
    let (text, log) = (facts(".hp"), facts(".eventlog"));
    for name in ["Capabilities", "Allocation area", "Oldest generation"] {
        let value = |facts: &[ComparableFact]| {
            let fact = facts.iter().find(|fact| fact.name == name);
            fact.expect("it is listed").value.clone()
        };
        assert_eq!(value(&text), "", "{name}");
        assert_ne!(value(&log), "", "{name}");
    }
}

/// Deterministic pseudo-random numbers (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % most as u64).expect("it is below")
    }
}

/// Runs of one program, dealt to two sides at random: in at least 95 of 100 cases no row and no finding claims a
/// difference. Both sides are random subsets of all unchanged runs.
#[test]
fn runs_without_a_change_are_called_alike() {
    const SPLITS: u32 = 1_000;
    let mut draw = Draw(2026);
    let mut runs = PLAIN.clone();
    for side in [5, 10] {
        let (mut claims, mut findings) = (0, 0);
        for _ in 0..SPLITS {
            for place in (1..runs.len()).rev() {
                runs.swap(place, draw.below(place + 1));
            }
            let comparison = compared(&runs[..side], &runs[side..2 * side]);
            assert_eq!(
                comparison.gated().count(),
                insight::compare::HEADLINES.len()
            );
            assert_ne!(comparison.verdict(), Verdict::TooFewRuns);
            let is_no_claim = |claim| matches!(claim, Claim::NoDifference | Claim::TooFewRuns);
            claims += u32::from(!comparison.rows.iter().all(|row| is_no_claim(row.claim)));
            let states = comparison.findings.iter().map(|change| change.state);
            findings += u32::from(states.into_iter().any(|state| state != FindingState::Same));
        }
        assert!(
            claims <= SPLITS / 20,
            "{claims} of {SPLITS} splits claim a number"
        );
        assert!(
            findings <= SPLITS / 20,
            "{findings} of {SPLITS} splits claim a finding"
        );
        println!("{side} runs per side: {claims} claims, {findings} findings of {SPLITS}");
    }
}

#[test]
fn a_slowed_down_thread_is_found() {
    let comparison = compared(&PLAIN, &digests("slow", 6));
    assert_eq!(comparison.verdict(), Verdict::Changed);
    let writer = row(&comparison, NumberGroup::Threads, "writer", "ran");
    assert_eq!((writer.claim, writer.trend), (Claim::Changed, Trend::Worse));
    let workers = row(&comparison, NumberGroup::Threads, "worker-#", "ran");
    assert!(
        writer.ratio > Some(2.0) && workers.ratio < Some(1.5),
        "{workers:?}"
    );
    let count = row(&comparison, NumberGroup::Threads, "worker-#", "count");
    assert_eq!(
        (count.after.median, count.claim),
        (3.0, Claim::NoDifference)
    );
    let round = row(&comparison, NumberGroup::Spans, "round", "median");
    assert_eq!((round.claim, round.trend), (Claim::Changed, Trend::Worse));
}

#[test]
fn a_leak_is_found() {
    let comparison = compared(&PLAIN, &digests("leak", 6));
    let live = row(&comparison, NumberGroup::Program, "heap.live", "max");
    assert_eq!((live.claim, live.trend), (Claim::Changed, Trend::Worse));
    assert!(live.is_gated && live.ratio_interval.is_some_and(|(low, _)| low > 10.0));
}

#[test]
fn a_longer_collection_is_found() {
    let comparison = compared(&PLAIN, &digests("ballast", 6));
    let longest = row(&comparison, NumberGroup::Program, "gc.pause", "max");
    assert_eq!(
        (longest.claim, longest.trend),
        (Claim::Changed, Trend::Worse)
    );
    assert!(longest.ratio > Some(3.0), "{longest:?}");
    let states = |state| {
        comparison
            .findings
            .iter()
            .filter(move |change| change.state == state)
    };
    assert!(
        states(FindingState::New)
            .chain(states(FindingState::Worse))
            .count()
            > 0
    );
}

#[test]
fn digests_are_small_and_have_what_the_log_says() {
    for digest in PLAIN.iter().chain(&digests("ballast", 1)) {
        let json = serde_json::to_string(digest).expect("JSON");
        assert!(json.len() < 50_000, "{}", json.len());
        let back: Digest = serde_json::from_str(&json).expect("a digest");
        assert_eq!(&back.facts, &digest.facts);
        assert_eq!(back.rows.len(), digest.rows.len());
        assert_eq!(
            digest.value(NumberGroup::Spans, "round", "count"),
            Some(6.0)
        );
        assert_eq!(
            digest.value(NumberGroup::Threads, "worker-#", "count"),
            Some(3.0)
        );
        let pauses = digest.curves.first().expect("the curve of the pauses");
        assert!(pauses.points.is_sorted() && pauses.points.len() <= 101);
        assert_eq!(
            Some(pauses.count as f64),
            digest.value(NumberGroup::Program, "gc.count", "")
        );
    }
}

fn compare(words: &[&str]) -> (Option<i32>, String) {
    let words: Vec<&str> = ["compare"].iter().chain(words).copied().collect();
    let Output { status, stdout, .. } = eventscope(&words);
    (status.code(), String::from_utf8(stdout).expect("UTF-8"))
}

fn sides(kind: &str, runs: usize, more: &[&str]) -> (Option<i32>, String) {
    let (before, after) = (names("plain", runs), names(kind, runs));
    let before = before.iter().map(String::as_str);
    let after = after.iter().map(String::as_str);
    let words: Vec<&str> = before
        .chain(["--to"])
        .chain(after)
        .chain(more.iter().copied())
        .collect();
    compare(&words)
}

#[test]
fn the_exit_status_says_what_came_of_it() {
    let with = |kind, runs, assertion| sides(kind, runs, &["--fail-on", assertion]).0;
    assert_eq!(sides("leak", 4, &[]).0, Some(0));
    assert_eq!(with("plain", 4, "regress(time.wall) < 5 %"), Some(0));
    assert_eq!(with("leak", 4, "regress(heap.live.max) < 5 %"), Some(3));
    assert_eq!(
        with("leak", 4, "warn: regress(heap.live.max) < 5 %"),
        Some(0)
    );
    assert_eq!(with("leak", 4, "same(span.count{name=round})"), Some(0));
    // With one run a side, counted metrics can be judged, timed ones cannot.
    assert_eq!(with("leak", 1, "delta(alloc.bytes) < 1 %"), Some(3));
    assert_eq!(with("leak", 1, "regress(time.wall) < 5 %"), Some(4));
    assert_eq!(with("leak", 1, "regress(spark.tiny) < 5 %"), Some(2));
    assert_eq!(
        with("leak", 1, "delta(heap.live.max{gen=1}) < 5 %"),
        Some(2)
    );
    assert_eq!(
        with("leak", 1, "delta(span.time{name=nothing}.p99) < 5 %"),
        Some(4)
    );
    // `regress` needs a direction, which the number of spans has not.
    assert_eq!(with("leak", 4, "regress(span.count) < 5 %"), Some(2));
    let passed = [
        "--fail-on",
        "regress(time.wall) < 5 %",
        "--inconclusive",
        "pass",
    ];
    assert_eq!(sides("leak", 1, &passed).0, Some(0));
    // A metric without a function is the median of the runs after.
    assert_eq!(with("leak", 4, "heap.live.max < 1 MiB"), Some(3));
    assert_eq!(with("leak", 4, "heap.live.max@..warm < 4 MiB"), Some(0));
    assert_eq!(
        with("leak", 4, "heap.live.max@warm..nothing < 4 MiB"),
        Some(4)
    );
    assert_eq!(sides("leak", 1, &["--alpha", "2"]).0, Some(2));
    assert_eq!(sides("leak", 1, &["--per", "round"]).0, Some(2));
    assert_eq!(
        compare(&["no-such.eventlog", "--to", "no-such.eventlog"]).0,
        Some(1)
    );
    assert_eq!(compare(&[&name("plain", 1)]).0, Some(2));
}

/// Help, documentation and messages name the same minimum number of runs.
#[test]
fn one_number_of_runs_is_needed() {
    let needed = format!("{} runs per side are needed", insight::compare::RUNS_NEEDED);
    let (_, help) = compare(&["--help"]);
    assert!(help.contains(&needed), "{help}");
    let document = include_str!("../docs/compare.md");
    assert!(document.contains(&needed), "docs/compare.md");
    let message = format!("{} per side are needed", insight::compare::RUNS_NEEDED);
    let (_, text) = sides("slow", 4, &[]);
    // Counted metrics are judged with four runs too.
    assert!(
        !text.contains("time.wall +") && text.contains("no claim"),
        "{text}"
    );
    let runs = names("plain", 8);
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let (before, after) = runs.split_at(4);
    let (_, text) = compare(&[before, &["--to"], after].concat());
    assert!(text.contains(&message), "{text}");
    assert!(text.contains("From start to end (no claim):"), "{text}");
}

#[test]
fn each_format_has_what_differs() {
    let more = |format| {
        [
            "--format",
            format,
            "--fail-on",
            "regress(heap.live.max) < 5 %",
        ]
    };
    let of = |format| sides("leak", 6, &more(format)).1;
    let text = of("text");
    assert!(
        text.starts_with("6 runs before, 6 after: changed: heap.live.max"),
        "{text}"
    );
    assert!(
        text.contains("Not equal: Arguments: plain") && text.contains("\n✗ regress"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&of("json")).expect("JSON");
    assert_eq!(
        (&json["version"], &json["verdict"]),
        (&1.into(), &"changed".into())
    );
    assert_eq!(json["assertions"][0]["state"], "failed");
    assert_eq!(json["rows"][0]["key"]["group"], "asked");
    let markdown = of("markdown");
    assert!(
        markdown.starts_with("### 6 runs") && markdown.contains("|---|"),
        "{markdown}"
    );
    assert!(of("junit").contains("failures=\"1\""));
    assert!(of("github").starts_with("::error title=regress(heap.live.max) < 5 %25::"));
}

#[test]
fn a_part_of_each_run_is_compared() {
    let wall = |more: &[&str]| -> f64 {
        let json: Value = serde_json::from_str(&sides("plain", 1, more).1).expect("JSON");
        let rows = json["rows"].as_array().cloned().unwrap_or_default();
        let wall = rows.iter().find(|row| row["key"]["name"] == "time.wall");
        wall.and_then(|row| row["before"]["median"].as_f64())
            .expect("a time")
    };
    let json = ["--format", "json"];
    let from = ["--format", "json", "--from-marker", "warm"];
    let both = [
        "--format",
        "json",
        "--from-marker",
        "warm",
        "--to-marker",
        "done",
    ];
    assert!(wall(&both) < wall(&from) && wall(&from) < wall(&json));
    let per = ["--format", "json", "--per", "span:round"];
    assert!((wall(&json) / wall(&per) - 6.0).abs() < 1e-9);
    let nothing = ["--from-marker", "nothing"];
    assert_eq!(sides("plain", 1, &nothing).0, Some(1));
}

#[test]
fn a_digest_stands_for_its_log() {
    let (log, other) = (name("plain", 1), name("leak", 1));
    let Output { stdout, .. } = eventscope(&["digest", &log]);
    let file = std::env::temp_dir().join(format!("eventscope-digest-{}.json", std::process::id()));
    std::fs::write(&file, &stdout).expect("a file");
    let kept = file.to_str().expect("UTF-8");
    let guard = ["--fail-on", "delta(alloc.bytes) < 1 %", "--format", "json"];
    let of = |before: &str| compare(&[&[before, "--to", &other], &guard[..]].concat());
    assert_eq!(of(kept), of(&log));
    let unknown = ["--fail-on", "delta(gc.count{gen=1}) < 1 %"];
    assert_eq!(
        compare(&[&[kept, "--to", &other], &unknown[..]].concat()).0,
        Some(4)
    );
    std::fs::remove_file(&file).expect("it is there");
}

/// Runs of a program that computes all the time on one capability. One run after the change is an outlier, and all of
/// them have a report of the runtime.
#[test]
fn outliers_are_marked_and_the_least_is_told() {
    let Output { stdout, .. } = eventscope(&["digest", &name("plain", 1)]);
    let one: Value = serde_json::from_slice(&stdout).expect("JSON");
    let folder = std::env::temp_dir().join(format!("eventscope-runs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let run = |side: &str, number: u32, wall_ms: f64| {
        let mut digest = one.clone();
        let rows = digest["rows"].as_array_mut().expect("rows");
        for row in rows
            .iter_mut()
            .filter(|row| row["key"]["group"] == "program")
        {
            match row["key"]["name"].as_str() {
                Some("time.wall") => row["value"] = (wall_ms * 1e6).into(),
                Some("thread.run") => row["value"] = (wall_ms * 0.99e6).into(),
                Some("gc.time") => row["value"] = 1e3.into(),
                _ => {}
            }
        }
        for fact in digest["facts"].as_array_mut().expect("facts") {
            match fact["name"].as_str() {
                Some("Capabilities") => fact["value"] = "1".into(),
                Some("Reports of the runtime") if side == "after" => fact["value"] = "-s".into(),
                _ => {}
            }
        }
        let path = folder.join(format!("{side}-{number}.json"));
        std::fs::write(&path, digest.to_string()).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let before: Vec<String> = (0..6)
        .map(|n| run("before", n, 10.0 + f64::from(n) / 10.0))
        .collect();
    let after: Vec<String> = (0..6)
        .map(|n| run("after", n, if n == 4 { 90.0 } else { 9.0 }))
        .collect();
    let with = |more: &[&str]| {
        let mut words: Vec<&str> = before.iter().map(String::as_str).collect();
        words.push("--to");
        words.extend(after.iter().map(String::as_str));
        let (_, text) = compare(&[&words[..], more].concat());
        text.replace('\u{a0}', " ")
    };
    for text in [with(&[]), with(&["--format", "markdown"])] {
        assert!(text.contains("9.00 ms (1 out)"), "{text}");
        assert!(text.contains("Tukey's fences"), "{text}");
        assert!(
            text.contains("time.wall · least") && text.contains("-10.0 %"),
            "{text}"
        );
        assert!(
            text.contains("Note: Reports of the runtime: nothing before, -s after"),
            "{text}"
        );
        // The minimum of pauses is never shown.
        assert_eq!(text.matches("· least").count(), 4, "{text}");
    }
    let json: Value = serde_json::from_str(&with(&["--format", "json"])).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    let wall = rows
        .iter()
        .find(|row| row["key"]["name"] == "time.wall")
        .expect("it is there");
    assert_eq!(wall["after"]["outliers"], serde_json::json!([4]));
    assert_eq!(
        (&wall["before"]["least"], &wall["least_tells"]),
        (&10e6.into(), &true.into())
    );
    // Two capabilities wait for each other, so that no minimum is shown.
    let (_, text) = sides("leak", 6, &[]);
    assert!(
        !text.contains("· least") && text.contains("heap.live.max"),
        "{text}"
    );
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn a_digest_may_come_from_a_pipe() {
    let (log, other) = (name("plain", 1), name("leak", 1));
    let digest = eventscope(&["digest", &log]).stdout;
    let mut child = Command::new(env!("CARGO_BIN_EXE_eventscope"))
        .args(["compare", "-", "--to", &other, "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("eventscope runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(&digest).expect("it reads all");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let expected = compare(&[&log, "--to", &other, "--format", "json"]);
    assert_eq!((output.status.code(), printed), expected);
}

#[test]
fn spans_that_no_run_has_are_an_error() {
    let per = |span: &str, other: &str| {
        let output = eventscope(&["compare", &name("plain", 1), "--to", other, "--per", span]);
        let told = String::from_utf8(output.stderr).expect("UTF-8");
        (output.status.code(), told)
    };
    let plain = name("plain", 2);
    let (status, told) = per("span:rounds", &plain);
    assert_eq!(status, Some(1));
    assert!(
        told.contains("--per span:rounds: no run has numbers of such spans"),
        "{told}"
    );
    assert!(told.contains("similar names: round"), "{told}");
    assert_eq!(per("span:round", &plain), (Some(0), String::new()));
    let without = fixture("ghc-9.6.6/dense-N2-l-flush");
    let (status, told) = per("span:round", without.path());
    assert_eq!(status, Some(0));
    assert!(
        told.contains("dense-N2-l-flush.eventlog: no numbers of spans round"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn a_run_that_counts_twice_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy");
    std::fs::copy(name("plain", 1), &copy).expect("a copy");
    let copy = copy.to_str().expect("UTF-8");
    let [one, other, leak] = [name("plain", 1), name("plain", 2), name("leak", 1)];
    let told = |before: [&str; 2], after: &str| {
        let output = eventscope(&["compare", before[0], before[1], "--to", after]);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    assert_eq!(told([&one, &other], &leak), "");
    let same = |file: &str| format!("{file} is the same run as {one}: it counts twice");
    assert!(told([&one, &one], &leak).contains(&same(&one)));
    assert!(told([&one, copy], &leak).contains(&same(copy)));
    assert!(told([&one, &other], &one).contains(&same(&one)));
}
