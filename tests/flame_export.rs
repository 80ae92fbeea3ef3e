//! Flame graphs as files: they have the totals of the graph on the page, for every source of every log, and the
//! command line writes them.

use crate::common;

use analysis::flamegraph::sources;
use session::queries::FlameExportQuery;
use std::collections::BTreeMap;
use std::io::Read;

use common::{Tally, cases, eventscope, expected_coverage, session_of, stdout};
use model::profile::source::{Source, Unit};
use model::profile::stack_source::FlameSelection;
use model::profile::weights::Measure;
use serde_json::Value;
use session::Session;
use session::flame::query::{ExportFormat, FlameHead, FlameQuery, FlameRow, FlameTableQuery, View};

const PROFILED: &str = "tests/fixtures/logs/ghc-9.10.3/prof-time-N2-pj-l.eventlog";
const HEAP: &str = "tests/fixtures/logs/ghc-9.10.3/prof-heap-N1-hc-l-au.eventlog";
const WITH_CALLS: &str = "www/demo/profiled-ffi.eventlog.gz";

fn path(name: &str) -> String {
    format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn query(source: Source, view: View, measure: Measure) -> FlameQuery {
    FlameQuery {
        choice: FlameSelection {
            source,
            ..FlameSelection::default()
        },
        view,
        measure,
        window: (0.0, 1.0),
        // Wide enough that no box is left out.
        width_px: u32::MAX,
        ..FlameQuery::default()
    }
}

fn head(session: &Session, query: &FlameQuery) -> FlameHead {
    session.ask(query).expect("a flame graph").0
}

fn file(session: &Session, query: &FlameQuery, format: ExportFormat) -> Vec<u8> {
    let query = query.clone();
    let file = session.ask(&FlameExportQuery { query, format });
    file.expect("a file").bytes
}

fn speedscope(session: &Session, query: &FlameQuery) -> Value {
    let bytes = file(session, query, ExportFormat::Speedscope);
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Parses a file of folded stacks.
fn folded(text: &str) -> Vec<(Vec<String>, u64)> {
    let line = |line: &str| {
        let (stack, weight) = line.rsplit_once(' ').expect("a weight");
        let stack: Vec<String> = stack.split(';').map(str::to_owned).collect();
        assert!(stack.iter().all(|frame| !frame.is_empty()), "{line}");
        (stack, weight.parse().expect("a whole number"))
    };
    text.lines().map(line).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    let values = value.as_array().expect("a list").iter();
    values
        .map(|value| value.as_f64().expect("a number"))
        .collect()
}

/// Weights by depth and name.
type ByPlace = BTreeMap<(usize, String), f64>;

/// Returns the stacks of a speedscope profile, as frame indexes, with their weights.
fn stacks_of(profile: &Value) -> Vec<(Vec<usize>, f64)> {
    if profile["type"] == "evented" {
        return stacks_of_events(profile);
    }
    let samples = profile["samples"].as_array().expect("samples").iter();
    let weights = numbers(&profile["weights"]);
    assert_eq!(samples.len(), weights.len());
    let stack = |stack: &Value| numbers(stack).into_iter().map(|id| id as usize).collect();
    samples.map(stack).zip(weights).collect()
}

fn stacks_of_events(profile: &Value) -> Vec<(Vec<usize>, f64)> {
    let mut at = profile["startValue"].as_f64().expect("a start");
    let (mut open, mut all) = (Vec::new(), Vec::new());
    for event in profile["events"].as_array().expect("events") {
        let frame = event["frame"].as_u64().expect("a frame") as usize;
        let time = event["at"].as_f64().expect("a time");
        assert!(time >= at);
        all.push((open.clone(), time - at));
        at = time;
        match event["type"].as_str() {
            Some("O") => open.push(frame),
            _ => assert_eq!(open.pop(), Some(frame), "the innermost is closed first"),
        }
    }
    assert!(open.is_empty());
    let end = profile["endValue"].as_f64().expect("an end");
    all.push((open, end - at));
    all.retain(|(_, weight)| *weight > 0.0);
    all
}

fn in_file(document: &Value, profile: &Value) -> ByPlace {
    let frames = &document["shared"]["frames"];
    let mut sums = ByPlace::new();
    for (stack, weight) in stacks_of(profile) {
        for (depth, frame) in stack.into_iter().enumerate() {
            let name = frames[frame]["name"].as_str().expect("a name");
            *sums.entry((depth, name.to_owned())).or_default() += weight;
        }
    }
    sums
}

fn in_graph(session: &Session, query: &FlameQuery) -> ByPlace {
    let (head, boxes) = session.ask(query).expect("a flame graph");
    let named = head.frames.iter();
    let names: BTreeMap<u32, String> = named
        .map(|named| (named.id, named.frame.display_name()))
        .collect();
    let mut sums = ByPlace::new();
    for index in 0..boxes.len() {
        let depth = usize::from(boxes.depth[index]);
        let place = (depth, names[&boxes.frame[index]].clone());
        *sums.entry(place).or_default() += boxes.width[index] * head.total as f64;
    }
    sums
}

fn assert_near(ours: &ByPlace, theirs: &ByPlace, what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (place, weight) in ours {
        let other = theirs.get(place).copied().unwrap_or(-1.0);
        assert!(
            (weight - other).abs() <= 1.0 + weight * 1e-6,
            "{what}: {place:?} {weight} {other}"
        );
    }
}

fn check_tracks(session: &Session, source: Source, name: &str) {
    let all = query(source, View::Time, Measure::Amount);
    let document = speedscope(session, &all);
    let profiles = document["profiles"].as_array().expect("profiles");
    let (graph, _) = session.ask(&all).expect("a flame graph");
    assert_eq!(profiles.len(), graph.bands.len(), "{name}");
    for (profile, (track, _)) in profiles.iter().zip(&graph.bands) {
        let mut one = all.clone();
        one.choice.tracks = vec![*track];
        let total = head(session, &one).total as f64;
        let sum: f64 = stacks_of(profile).iter().map(|(_, weight)| weight).sum();
        let span = profile["endValue"].as_f64().expect("an end")
            - profile["startValue"].as_f64().expect("a start");
        assert_eq!((sum, span), (total, total), "{name} {track}");
        assert_eq!(profile["name"], track.to_string());
        assert_eq!(profile["unit"], "nanoseconds");
        let what = format!("{name} {track}");
        assert_near(
            &in_file(&document, profile),
            &in_graph(session, &one),
            &what,
        );
    }
}

/// Returns the table of all frames, and the number of censuses that it sums.
fn totals(session: &Session, query: &FlameQuery) -> (Vec<FlameRow>, u32) {
    let (rows, _) = session.ask(&FlameTableQuery {
        choice: query.choice.clone(),
        steps: query.steps.clone(),
    });
    (rows, head(session, query).censuses.now)
}

fn check_sums(session: &Session, source: Source, name: &str) {
    for measure in [Measure::Amount, Measure::Count] {
        let heavy = query(source, View::LeftHeavy, measure);
        let graph = head(session, &heavy);
        let text = String::from_utf8(file(session, &heavy, ExportFormat::Folded));
        let stacks = folded(&text.expect("UTF-8"));
        let mut seen: Vec<&Vec<String>> = stacks.iter().map(|(stack, _)| stack).collect();
        assert!(seen.is_sorted(), "{name}: sorted by frames");
        seen.dedup();
        assert_eq!(seen.len(), stacks.len(), "{name}: every stack once");
        let sum: u64 = stacks.iter().map(|(_, weight)| weight).sum();
        let (rows, samples) = totals(session, &heavy);
        let own: u64 = match measure {
            Measure::Amount => rows.iter().map(|row| row.own).sum(),
            Measure::Count => rows.iter().map(|row| row.own_count).sum(),
        };
        match (sources::description(source).unit, measure) {
            (Unit::Time, _) | (_, Measure::Count) => {
                assert_eq!(sum, own, "{name} {source:?} {measure:?}");
            }
            (Unit::Bytes, Measure::Amount) => {
                // Each stack is rounded to a byte.
                let mean = own as f64 / f64::from(samples.max(1));
                let off = (sum as f64 - mean).abs();
                assert!(off <= stacks.len() as f64, "{name}: {sum} {mean}");
            }
        }
        if measure == Measure::Amount {
            assert_eq!(own, graph.total, "{name} {source:?}");
        }
    }
}

#[test]
fn files_have_the_totals_of_the_graphs() {
    let mut tally = Tally::default();
    for case in cases() {
        let Ok(session) = session_of(&case.bytes()) else {
            continue;
        };
        for info in session.flame_sources() {
            tally.add(&case, 1);
            check_sums(&session, info.source, &case.name);
            if sources::description(info.source).unit == Unit::Time {
                check_tracks(&session, info.source, &case.name);
            }
        }
    }
    tally.finish(expected_coverage([32, 40], [112, 132]));
}

#[test]
fn a_heap_profile_is_the_mean_of_its_censuses() {
    let session = session_of(&std::fs::read(path(HEAP)).expect("a log")).expect("a log");
    let heap = query(sources::HEAP, View::LeftHeavy, Measure::Amount);
    let (rows, samples) = totals(&session, &heap);
    let sum: u64 = rows.iter().map(|row| row.own).sum();
    let document = speedscope(&session, &heap);
    let profile = &document["profiles"][0];
    assert_eq!(profile["unit"], "bytes");
    let total: f64 = numbers(&profile["weights"]).iter().sum();
    let mean = sum as f64 / f64::from(samples);
    assert!(samples > 1 && (total - mean).abs() < 0.01, "{total} {mean}");
    assert_eq!(profile["name"], format!("Heap, mean of {samples} censuses"));
}

/// Counted samples weigh 1 each, and there are no gaps.
#[test]
fn samples_can_be_counted() {
    let session = session_of(&std::fs::read(path(PROFILED)).expect("a log")).expect("a log");
    let count = query(sources::COST_CENTRES, View::Time, Measure::Count);
    let document = speedscope(&session, &count);
    let profiles = document["profiles"].as_array().expect("profiles");
    let samples: Vec<usize> = profiles
        .iter()
        .map(|profile| numbers(&profile["weights"]).len())
        .collect();
    assert_eq!(samples, [246, 246]);
    assert!(profiles.iter().all(|profile| profile["unit"] == "none"));
}

#[test]
fn the_command_line_writes_what_the_page_saves() {
    let log = path(PROFILED);
    let session = session_of(&std::fs::read(&log).expect("a log")).expect("a log");
    let query = query(sources::COST_CENTRES, View::Time, Measure::Amount);
    for (name, format) in [
        ("speedscope", ExportFormat::Speedscope),
        ("folded", ExportFormat::Folded),
        ("pprof", ExportFormat::Pprof),
    ] {
        let output = eventscope(&["flamegraph", &log, "--format", name]);
        assert!(output.status.success(), "{output:?}");
        assert!(output.stdout == file(&session, &query, format), "{name}");
    }
    let svg = stdout(&[
        "flamegraph",
        &log,
        "--format",
        "svg",
        "--order",
        "left-heavy",
    ]);
    assert!(svg.starts_with("<svg ") && svg.contains("isEven"), "{svg}");
}

#[test]
fn tracks_and_times_can_be_chosen() {
    let log = path(WITH_CALLS);
    let sum = |more: &[&str]| -> u64 {
        let all = [&["flamegraph", &log, "--format", "folded"], more].concat();
        folded(&stdout(&all)).iter().map(|(_, weight)| weight).sum()
    };
    assert_eq!(
        sum(&["--source", "foreign-calls"]),
        sum(&[
            "--track",
            "os28270,os28271",
            "--track",
            "os28272",
            "--track",
            "os28273"
        ])
    );
    let early = sum(&["--track", "cap0", "--to", "1000000000"]);
    let late = sum(&["--track", "cap0", "--from", "1000000000"]);
    assert_eq!(early + late, sum(&["--track", "cap0"]));
    let calls = stdout(&["flamegraph", &log, "--source", "foreign-calls", "--header"]);
    let rows: Vec<Vec<&str>> = calls
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(rows[0][..3], ["frame", "self", "total"]);
    assert_eq!(
        rows[1][..5],
        ["median_filter", "414944756", "414944756", "13", "13"]
    );
    let json = stdout(&["flamegraph", &log, "--source", "foreign-calls", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[0]["frame"], "median_filter");
    assert_eq!(json[0]["self"], 414_944_756);
}

#[test]
fn what_a_log_has_not_is_said() {
    let (profiled, plain) = (
        path(PROFILED),
        path("tests/fixtures/logs/ghc-9.0.2/fib-forkio-N2-l-a.eventlog"),
    );
    for (arguments, status, text) in [
        (&[&plain as &str] as &[&str], 1, "no stacks"),
        (&[&plain, "--source", "cost-centres"], 1, "-prof"),
        (&[&profiled, "--source", "foreign-calls"], 1, "cost-centres"),
        (&[&profiled, "--source", "heap"], 1, "-hc"),
        (&[&profiled, "--track", "cap7"], 1, "cap0, cap1"),
        (&[&profiled, "--track", "cup7"], 2, "not a track"),
        (&[&profiled, "--step", "focus"], 2, "not a step"),
        (
            &[&profiled, "--source", "cost-centres", "--measure", "bytes"],
            2,
            "not bytes",
        ),
        (&[&profiled, "--window", "x"], 2, "--source spans"),
    ] {
        let output = eventscope(&[&["flamegraph"], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(status),
            "{arguments:?}: {errors}"
        );
        assert!(errors.contains(text), "{arguments:?}: {errors}");
    }
}

/// Windows are those of the whole log, and spans as they are.
#[test]
fn options_without_effect_on_windows_are_refused() {
    let log = path("tests/fixtures/flamegraph/announce-N2-l.eventlog");
    let of_spans = ["flamegraph", log.as_str(), "--source", "spans", "--window"];
    let refused = "cannot be used with";
    for (more, status, text) in [
        (&["window"][..], 0, ""),
        (&["windows"], 1, "no span windows. It has: window, "),
        (&["window", "--from", "1ms"], 2, refused),
        (&["window", "--to", "1s"], 2, refused),
        (&["window", "--step", "invert"], 2, refused),
        (&["window", "--measure", "samples"], 2, refused),
        (&["window", "--track", "spans6.0"], 2, refused),
    ] {
        let output = eventscope(&[&of_spans[..], more].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{more:?}: {errors}");
        assert!(errors.contains(text), "{more:?}: {errors}");
    }
}

#[test]
fn files_are_written_where_asked() {
    let folder = std::env::temp_dir().join(format!("eventscope-flame-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let target = folder.join("profile.pb.gz").display().to_string();
    let log = path(PROFILED);
    assert_eq!(
        stdout(&["flamegraph", &log, "--format", "pprof", "-o", &target]),
        ""
    );
    let mut bytes = Vec::new();
    let packed = std::fs::read(&target).expect("a file");
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_end(&mut bytes)
        .expect("gzip");
    let text = String::from_utf8_lossy(&bytes);
    for part in ["nanoseconds", "Main.isEven'", "programs/ProfTime.hs"] {
        assert!(text.contains(part), "{part}");
    }
    let nowhere = folder.join("no/such").display().to_string();
    let output = eventscope(&["flamegraph", &log, "-o", &nowhere]);
    assert_eq!(output.status.code(), Some(1));
    std::fs::remove_dir_all(&folder).expect("removed");
}
