//! Worked example of hs-safescope's documentation as a log (`fixtures/safescope`, recorded by `demo/safescope`),
//! and malformed annotations.

use crate::common;

use session::flame::query::ExportFormat;
use session::flame::transform::Transform;
use session::queries::FlameExportQuery;
use std::fs::File;
use std::path::{Path, PathBuf};

use analysis::diagnostics::Severity;
use analysis::flamegraph::sources;
use common::build::LogBuilder;
use eventlog::FileSource;
use eventlog::ids::{CapId, OsThreadId};
use model::profile::TrackSource;
use model::profile::stack_source::FlameSelection;
use session::Session;
use session::flame::query::{FlameQuery, View};
use session::read_session;
use symbols::Symbols;
use views::words::diagnostics::sentence;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/safescope")
        .join(name)
}

fn example() -> Session {
    let mut source = FileSource::open(&fixture("safescope.eventlog.gz")).expect("the log");
    read_session(&mut source).expect("an eventlog")
}

/// Returns the boxes of a track in the order of time, one per line: begin and end in milliseconds from the start
/// of the graph, and the stack as indentation.
fn boxes(session: &Session, track: TrackSource) -> Vec<String> {
    let query = FlameQuery {
        choice: FlameSelection {
            source: sources::COST_CENTRES,
            tracks: vec![track],
            ..FlameSelection::default()
        },
        view: View::Time,
        window: (0.0, 1.0),
        width_px: 1_000_000,
        ..FlameQuery::default()
    };
    let (head, boxes) = session.ask(&query).expect("a profile");
    let to_ms = head.total as f64 / 1e6;
    let row = |i: usize| {
        let frame = head.frames.iter().find(|named| named.id == boxes.frame[i]);
        let frame = &frame.expect("a frame").frame;
        let (left, right) = (boxes.left[i], boxes.left[i] + boxes.width[i]);
        let indent = "  ".repeat(usize::from(boxes.depth[i]));
        let place = frame.location.as_deref().unwrap_or_default();
        let text = format!(
            "{:8.3} {:8.3} {indent}{} {place}",
            left * to_ms,
            right * to_ms,
            frame.name()
        );
        text.trim_end().to_owned()
    };
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    let begins = |i: &usize| (boxes.left[*i] * head.total as f64).round() as u64;
    order.sort_by_key(|i| (begins(i), boxes.depth[*i]));
    order.into_iter().map(row).collect()
}

fn os_thread(session: &Session) -> TrackSource {
    let profile = &session.flame_sources()[0];
    let mut tracks = profile.tracks.iter().map(|track| track.source);
    tracks
        .find(|source| matches!(source, TrackSource::OsThread(_)))
        .expect("an OS thread")
}

#[test]
fn the_c_function_stands_on_its_call_on_its_haskell_stack() {
    let session = example();
    insta::assert_snapshot!(boxes(&session, os_thread(&session)).join("\n"));
}

#[test]
fn symbols_name_the_c_functions() {
    for file in ["safescope.symbols", "safescope.nm"] {
        let mut session = example();
        assert_eq!(session.addresses().functions.len(), 3);
        let before = boxes(&session, os_thread(&session));
        let mut symbols =
            Symbols::read(File::open(fixture(file)).expect("symbols")).expect("symbols");
        let names = session.set_symbols(&mut symbols).expect("names");
        assert_eq!((names.named, names.addresses, names.failed), (3, 3, false));
        let after = boxes(&session, os_thread(&session));
        let renamed: Vec<String> = before
            .iter()
            .map(|row| {
                row.replace("0x40f431", "bar_c")
                    .replace("0x40f3c7", "received")
                    .replace("0x40f407", "nap")
            })
            .collect();
        assert_ne!(after, before);
        assert_eq!(after, renamed, "{file}");
    }
}

/// Names that are set later replace addresses in cached results too: in graphs with steps, of callers and callees, in
/// comparisons of two ranges, and in files.
#[test]
fn symbols_rename_what_is_kept() {
    let session = example();
    let sandwich = |name: &str| {
        vec![
            View::Callers(name.to_owned()),
            View::Callees(name.to_owned()),
        ]
    };
    let whole = session.flame_span(sources::COST_CENTRES);
    let query = |view: View, steps: &[Transform]| FlameQuery {
        choice: FlameSelection {
            tracks: vec![os_thread(&session)],
            before: whole.filter(|_| view == View::LeftHeavy),
            ..FlameSelection::default()
        },
        steps: steps.to_vec(),
        view,
        window: (0.0, 1.0),
        width_px: 1_000_000,
        ..FlameQuery::default()
    };
    let steps = [
        Transform::MergeModules,
        Transform::CollapseRecursion,
        Transform::Invert,
    ];
    let views = [View::Time, View::LeftHeavy].into_iter();
    // An address serves as a name until symbols are loaded. The callers view asks for a frame that has a name from
    // the start.
    let views: Vec<View> = views.chain(sandwich("bar")).collect();
    let queries: Vec<FlameQuery> = views
        .into_iter()
        .flat_map(|view| [query(view.clone(), &[]), query(view, &steps)])
        .collect();
    let names = |session: &Session, query: &FlameQuery| -> Vec<String> {
        let (head, _) = session.ask(query).expect("a profile");
        head.frames.iter().map(|named| named.frame.name()).collect()
    };
    let raw = |names: &[String]| names.iter().filter(|name| name.starts_with("0x")).count();
    let mut renamed = 0;
    for query in &queries {
        // A fresh session for each query, as its caches hold only a few results.
        let mut session = example();
        let before = raw(&names(&session, query));
        let symbols = File::open(fixture("safescope.symbols")).expect("symbols");
        let mut symbols = Symbols::read(symbols).expect("symbols");
        session.set_symbols(&mut symbols).expect("names");
        assert_eq!(raw(&names(&session, query)), 0, "{query:?}");
        let file = session.ask(&FlameExportQuery {
            query: query.clone(),
            format: ExportFormat::Folded,
        });
        let text = String::from_utf8(file.expect("a file").bytes).expect("UTF-8");
        assert!(!text.contains("0x4"), "{text}");
        renamed += before;
    }
    assert!(renamed >= 12, "{renamed}");
}

#[test]
fn all_tracks_have_one_time_axis() {
    let session = example();
    let whole = session.overview().span.expect("events");
    let sources = session.flame_sources();
    let query = FlameQuery {
        window: (0.0, 1.0),
        width_px: 100,
        ..FlameQuery::default()
    };
    let (head, boxes) = session.ask(&query).expect("a profile");
    assert_eq!(sources[0].tracks.len(), head.bands.len());
    // Each band covers the whole log.
    assert!(head.total >= whole.duration().0);
    for (track, depth) in &head.bands {
        let row: Vec<usize> = (0..boxes.len())
            .filter(|&i| boxes.depth[i] == *depth)
            .collect();
        let (first, last) = (row[0], row[row.len() - 1]);
        assert!(boxes.left[first] < 1e-9, "{track}");
        assert!(
            (boxes.left[last] + boxes.width[last] - 1.0).abs() < 1e-9,
            "{track}"
        );
        for pair in row.windows(2) {
            let end = boxes.left[pair[0]] + boxes.width[pair[0]];
            assert!(
                (boxes.left[pair[1]] - end).abs() < 1e-9,
                "{track} has a gap"
            );
        }
    }
    assert!(matches!(head.bands[0].0, TrackSource::Capability(CapId(0))));
}

/// Builds a log with only messages, 10 ms apart.
fn log(messages: &[&str]) -> Session {
    let mut build = LogBuilder::new();
    for (index, message) in messages.iter().enumerate() {
        build.event(19, 10_000_000 * (index as u64 + 1), message.as_bytes());
    }
    build.end();
    read_session(&mut build.bytes.as_slice()).expect("a log")
}

/// Returns the warnings of a log with their times.
fn anomalies(session: &Session) -> Vec<String> {
    let diagnostics = session.diagnostics();
    let warnings = diagnostics.kept().iter();
    let warnings = warnings.filter(|found| found.rule().severity() == Severity::Warning);
    let told = warnings.map(|found| {
        let at = found.start().expect("a time");
        format!("{} ms: {}", at.0 / 1_000_000, sentence(found))
    });
    told.collect()
}

/// A complete call with one superfluous message inside: the message is reported and changes nothing.
#[test]
fn a_malformed_annotation_costs_only_itself() {
    let sound = [
        "START 0 bar",
        r#"ANN_SCC 0 bar ["Main.main (M.hs:1:1)","Main.bar (M.hs:2:1)"]"#,
        "ANN_TH 0 bar 71",
        "ANN_CALL_TO 0x410061 0x40ff00 71",
        "EXTRA",
        "ANN_CALL_RET 0x410061 0x40ff00 71",
        "STOP 0 bar",
        "the end",
    ];
    let thread = TrackSource::OsThread(OsThreadId(71));
    let undisturbed = log(&sound);
    assert_eq!(anomalies(&undisturbed), [""; 0]);
    let picture = boxes(&undisturbed, thread);
    insta::assert_snapshot!(picture.join("\n"));
    let mut said = Vec::new();
    for extra in [
        "STOP 1 bar",
        "STOP 0 baz",
        "START 0 bar",
        "ANN_TH 1 bar 71",
        r#"ANN_SCC 1 bar ["Main.main (M.hs:1:1)"]"#,
        "ANN_TH 0 bar 72",
        "ANN_TH bar 72",
        "ANN_TH 0 bar",
        "ANN_TH 0 bar none",
        "ANN_SCC 0 bar [Main.main]",
        r#"ANN_CCS bar ["Main.main"]"#,
        "ANN_CALL_TO",
        "ANN_CALL_TO 0x410061",
        "ANN_CALL_TO bar_c 0x40ff00 71",
        "ANN_CALL_TO 0x410061 0x40ff00",
        "ANN_CALL_RET 0x410061 0x40ff00 ?",
        "ANN_CALL_RET 0x410099 0x40ff00 71",
        "ANN_CALL_RET 0x410061 0x40ff00 72",
    ] {
        let mut messages = sound;
        messages[4] = extra;
        let disturbed = log(&messages);
        assert_eq!(boxes(&disturbed, thread), picture, "{extra}");
        let found = anomalies(&disturbed);
        assert_eq!(found.len(), 1, "{extra}: {found:?}");
        said.push(format!("{extra:34} {}", found[0]));
    }
    insta::assert_snapshot!("anomalies", said.join("\n"));
}

#[test]
fn an_unknown_cost_centre_is_reported_where_others_are_declared() {
    let mut build = LogBuilder::with_types(&[
        (19, None, "User message"),
        (161, None, "Heap profile cost-centre definition"),
    ]);
    build.event(161, 1_000_000, b"\0\0\0\x01main\0Main\0M.hs:1:1\0\0");
    build.event(19, 2_000_000, b"START 0 bar");
    let stack = br#"ANN_SCC 0 bar ["Main.main (M.hs:1:1)","Main.gone (M.hs:9:9)"]"#;
    build.event(19, 3_000_000, stack);
    build.event(19, 4_000_000, b"ANN_TH 0 bar 71");
    build.event(19, 9_000_000, b"STOP 0 bar").end();
    let session = read_session(&mut build.bytes.as_slice()).expect("a log");
    assert_eq!(
        anomalies(&session),
        ["3 ms: an annotation names Main.gone (M.hs:9:9), which the log does not declare"]
    );
    let rows = boxes(&session, TrackSource::OsThread(OsThreadId(71)));
    assert!(rows.iter().any(|row| row.contains("Main.gone")), "{rows:?}");
    assert!(rows.iter().any(|row| row.ends_with("bar")), "{rows:?}");
}
