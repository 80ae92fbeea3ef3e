//! `eventscope export` as traces for viewers: each format is parsed by its own rules, all have the same spans, and
//! these equal the output of `eventscope spans`.

use crate::common;
use crate::traces;

use std::collections::BTreeSet;

use common::{
    Case, build::LogBuilder, eventscope, expected_coverage, fixture, for_all, session_of, stdout,
};
use traces::otlp::Otlp;
use traces::{ExportInput, Tally, chrome, finished_spans, firefox, openmetrics, perfetto};

/// Exports a log to all formats and checks that their contents agree. Returns the trace for Chrome, too.
fn all(bytes: &[u8]) -> Option<(ExportInput, Tally, Vec<u8>)> {
    let export_input = ExportInput::of(bytes)?;
    let tally = perfetto::read(&export_input.file("perfetto"));
    let chrome = export_input.file("chrome");
    assert_eq!(tally, chrome::read(&chrome));
    let without_arrows = Tally {
        arrows: 0,
        ..tally.clone()
    };
    assert_eq!(without_arrows, firefox::read(&export_input.file("firefox")));
    let counters = openmetrics::read(&export_input.file("openmetrics"));
    assert_eq!(counters.is_empty(), tally.counters.is_empty());
    Some((export_input, tally, chrome))
}

fn check(case: &Case) -> Result<usize, String> {
    let bytes = case.bytes();
    let Some((export_input, tally, chrome)) = all(&bytes) else {
        return Ok(0);
    };
    if export_input.session.reader().damage().loses_data() {
        return Ok(tally.count());
    }
    let lives = finished_spans(&bytes);
    if let Some(differs) = lives.differs(&chrome::finished_spans(&chrome)) {
        return Err(format!("spans and trace events: {differs}"));
    }
    let otlp = Otlp::of(&export_input);
    if otlp.blocked() != tally.blocked {
        let (ours, theirs) = (otlp.blocked(), tally.blocked);
        return Err(format!(
            "blocked on: OpenTelemetry {ours:?}, Chrome {theirs:?}"
        ));
    }
    match otlp.check(&export_input, &lives) {
        Some(differs) => Err(format!("OpenTelemetry: {differs}")),
        None => Ok(tally.count()),
    }
}

#[test]
fn all_formats_have_the_spans_of_the_log() {
    for_all(expected_coverage([32, 51_000], [110, 560_000]), check);
}

/// With `-threaded`, `threadDelay` stops a thread with the status for an `MVar`; it is classified as sleep because
/// the timer manager ends the wait.
#[test]
fn waits_that_the_timer_ended_are_sleep() {
    let case = fixture("ghc-9.10.3/fib-forkio-N8-la");
    let (export_input, tally, _) = all(&case.bytes()).expect("a log");
    let blocked = |name: &str| tally.blocked.get(name).copied();
    let by_name = (blocked("sleeping"), blocked("blocked on an MVar"));
    assert_eq!(by_name, (Some(48), Some(8)));
    assert_eq!(Otlp::of(&export_input).blocked(), tally.blocked);
    let spans = stdout(&["spans", case.path(), "thread-state"]);
    let count = |ends: &str| spans.lines().filter(|row| row.ends_with(ends)).count();
    assert_eq!((count("\tsleep"), count("\tMVar")), (48, 8), "{spans}");
}

#[test]
fn of_any_bytes_a_sound_trace_is_made() {
    let bytes = fixture("ghc-9.10.3/fib-forkio-N2-l-au").bytes();
    let mut exported = 0;
    for part in 1..40 {
        let cut = bytes.len() * part / 40;
        exported += usize::from(all(&bytes[..cut]).is_some());
        let mut broken = bytes.clone();
        broken[cut..]
            .iter_mut()
            .step_by(997)
            .for_each(|byte| *byte ^= 0x55);
        exported += usize::from(all(&broken).is_some());
    }
    assert!(exported > 40, "{exported}");
}

#[test]
fn a_log_without_events_is_a_trace_without_spans() {
    let empty = LogBuilder::new().end().bytes.clone();
    let (export_input, tally, _) = all(&empty).expect("a log");
    assert_eq!(tally, Tally::default());
    // Firefox Profiler does not open a profile without a thread.
    let profile: serde_json::Value =
        serde_json::from_slice(&export_input.file("firefox")).expect("JSON");
    assert_eq!(profile["threads"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_same_log_gives_the_same_bytes() {
    let bytes = fixture("ghc-9.6.6/fib-forkio-N2-l-as").bytes();
    let export = || {
        let export_input = ExportInput::of(&bytes).expect("a log");
        let files = ["perfetto", "chrome", "firefox", "openmetrics"];
        let mut all: Vec<Vec<u8>> = files.map(|format| export_input.file(format)).into();
        for format in ["otlp", "otlp-json"] {
            all.extend(export_input.files(format).into_values());
        }
        all
    };
    let first = export();
    assert_eq!(first.len(), 10);
    assert!(first == export());
}

#[test]
fn arrows_lead_from_what_woke_a_thread() {
    let bytes = fixture("ghc-9.10.3/fib-forkio-N8-la").bytes();
    let (_, tally, _) = all(&bytes).expect("a log");
    assert!(tally.arrows > 10, "{}", tally.arrows);
}

#[test]
fn numbers_of_spans_are_the_same_in_a_part_of_the_log() {
    let bytes = fixture("ghc-9.6.6/fib-forkio-N2-l").bytes();
    let mut export_input = ExportInput::of(&bytes).expect("a log");
    let ids = |export_input: &ExportInput| Otlp::of(export_input).span_ids();
    let whole = ids(&export_input);
    let (first, last) = export_input.first_and_last();
    let middle = u64::midpoint(first, last);
    export_input.range = Some((middle, last));
    let part = ids(&export_input);
    assert!(!part.is_empty() && part.len() < whole.len());
    assert!(part.is_subset(&whole), "{:?}", part.difference(&whole));
    assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), whole.len());
}

#[test]
fn bands_of_a_heap_profile_are_values_of_a_metric() {
    let mut values = 0;
    for name in [
        "ghc-9.6.6/heap-N2-hT-l-au",
        "ghc-9.10.3/heap-ipe-N1-hi-l-au",
        "ghc-9.10.3/prof-heap-N1-hc-l-au",
    ] {
        let bytes = fixture(name).bytes();
        let export_input = ExportInput::of(&bytes).expect("a log");
        values += Otlp::of(&export_input).check_bands(&bytes);
    }
    assert!(values > 1000, "{values}");
}

#[test]
fn opentelemetry_wants_the_wall_clock() {
    // Logs of GHC 9.0 have the wall-clock time, those of GHC 6.12 do not; neither have synthetic logs.
    let mut log = LogBuilder::new();
    log.block(Some(0), (10, 20), |block| block.run(11, 1).stop(15, 1, 5));
    let bytes = log.end().bytes.clone();
    assert!(
        session_of(&bytes)
            .expect("a log")
            .recording()
            .info
            .clock_origin_ns
            .is_none()
    );
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (file, out) = (path("hand.eventlog"), path("out"));
    std::fs::write(&file, &bytes).expect("written");
    let arguments = ["export", "--format", "otlp-json", "-o", &out, &file];
    let refused = eventscope(&arguments);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).expect("UTF-8");
    assert!(said.contains("--wall-clock"), "{said}");
    assert!(!std::path::Path::new(&out).exists());
    let with = [&arguments[..], &["--wall-clock", "2026-11-20T00:00:00Z"]].concat();
    assert_eq!(eventscope(&with).status.code(), Some(0));
    let traces = path("out/hand.eventlog.traces.jsonl");
    let traces = std::fs::read_to_string(traces).expect("a file");
    assert!(
        traces.contains("\"startTimeUnixNano\":\"1795132800000000011\""),
        "{traces}"
    );
    let wrong = [&arguments[..], &["--wall-clock", "noon"]].concat();
    assert_eq!(eventscope(&wrong).status.code(), Some(2));
}

#[test]
fn what_a_trace_lacks_is_told() {
    let mut log = LogBuilder::new();
    log.block(Some(0), (1, 1000), |block| {
        block
            .event(19, 2, &[b'x'; 4096])
            .event(19, 3, &[b'x'; 4097]);
        for name in 0..203_u64 {
            let (start, stop) = (format!("START n{name}"), format!("STOP n{name}"));
            block.event(19, 4 + 2 * name, start.as_bytes()).event(
                19,
                5 + 2 * name,
                stop.as_bytes(),
            );
        }
        block
    });
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let file = path("hand.eventlog");
    std::fs::write(&file, &log.end().bytes).expect("written");
    let clock = ["--wall-clock", "0"];
    let told = |format: &str, more: &[&str]| {
        let out = path(format);
        let arguments = ["export", "--format", format, "-o", &out, &file];
        let output = eventscope(&[&arguments[..], &clock, more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let names = "3 span names left out: only the 200 with the most time are written";
    for format in ["perfetto", "chrome", "firefox", "otlp", "otlp-json"] {
        let told = told(format, &[]);
        assert!(
            told.contains("1 message truncated to 4,096 bytes"),
            "{told}"
        );
        assert!(told.contains(names), "{told}");
    }
    let later = told("chrome", &["--from", "4"]);
    assert!(
        !later.contains("truncated") && later.contains(names),
        "{later}"
    );
    for format in ["jsonl", "openmetrics"] {
        assert_eq!(told(format, &[]), "", "{format}");
    }
}
