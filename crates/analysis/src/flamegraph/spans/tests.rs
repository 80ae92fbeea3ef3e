use proptest::prelude::*;

use super::totals::{WindowTotals, span_totals};
use super::*;
use crate::automata::thread_state::{Activity, ThreadSpan};
use crate::flamegraph::source_info::SourceInfo;
use crate::timeline::messages::MessageKind;
use eventlog::StopStatus;
use eventlog::conventions::opentelemetry::Telemetry;
use eventlog::cursor::Text;
use model::profile::source::Source;
use model::time::Interval;

fn said(messages: &[(u64, u16, &str)]) -> Messages {
    let mut all = Messages::default();
    for (time, cap, text) in messages {
        let time = Nanos(*time);
        all.push(
            time,
            Some(CapId(*cap)),
            MessageKind::Message,
            text.as_bytes(),
        );
    }
    all
}

fn spans(messages: &[(u64, u16, &str)], end: u64) -> ProgramSpans {
    let prefixes = SpanPrefixes::default();
    let processes = SpanProcesses::one(Vec::new(), Nanos(end));
    ProgramSpans::of_messages(&said(messages), &prefixes, &store(end), &processes)
}

/// The only process of a log, with these collections.
fn one(collections: &[(u64, u64)]) -> SpanProcesses {
    SpanProcesses::one(collections.to_vec(), Nanos(0))
}

/// A log in which thread 10 always runs on capability 0, and thread 11 on capability 1.
fn store(end: u64) -> Store {
    let mut store = Store::default();
    for (thread, cap) in [(10, 0), (11, 1)] {
        let span = ThreadSpan {
            activity: Activity::Running(Some(CapId(cap))),
            span: Interval::new(Nanos(0), Nanos(end)),
            stop: Some(StopStatus::ThreadFinished),
        };
        store.add_span(ThreadId(thread), span, None);
    }
    store.finish(Nanos(end));
    store
}

/// Formats every sample with its track, start, end and frames.
fn rows(profile: &Profile) -> Vec<String> {
    let mut rows = Vec::new();
    for track in &profile.tracks {
        for (span, stack) in (0..track.samples.len()).filter_map(|i| track.samples.get(i)) {
            let frames = profile.stacks.outermost_first(stack).into_iter();
            let names: Vec<&str> = frames
                .filter_map(|id| profile.frames.get(id).map(|frame| frame.label.as_str()))
                .collect();
            let (source, start, end) = (track.source.name(), span.start().0, span.end().0);
            rows.push(format!("{source} {start}..{end} {}", names.join(" ")));
        }
    }
    rows
}

/// With `-j`, GHC runs a pass for several modules at a time, and several assemblers.
#[test]
fn passes_of_a_compiler_are_of_their_thread_and_module() {
    let messages = [
        (1, 0, "GHC:started: Simplifier [A]"),
        (2, 1, "GHC:started: Simplifier [B]"),
        (3, 0, "GHC:started: systool:as"),
        (4, 1, "GHC:started: systool:as"),
        (5, 0, "GHC:finished: systool:as"),
        (7, 1, "GHC:finished: systool:as"),
        (8, 0, "GHC:finished: Simplifier [A]"),
        (9, 1, "GHC:finished: Simplifier [B]"),
    ];
    let found = spans(&messages, 20);
    let (profile, _) = found.profile(&one(&[]), &store(20), Nanos(20));
    let expected = [
        "spans10.0 1..3 Simplifier",
        "spans10.0 3..5 Simplifier systool:as",
        "spans10.0 5..8 Simplifier",
        "spans11.0 2..4 Simplifier",
        "spans11.0 4..7 Simplifier systool:as",
        "spans11.0 7..9 Simplifier",
    ];
    assert_eq!(rows(&profile), expected);
    let modules = profile.frames.iter().map(|(_, frame)| frame.name());
    let passes: Vec<String> = modules.filter(|name| name.contains("Simpl")).collect();
    assert!(passes.contains(&"A.Simplifier".to_owned()), "{passes:?}");
    assert!(passes.contains(&"B.Simplifier".to_owned()), "{passes:?}");
    let log = Interval::new(Nanos(0), Nanos(20));
    let [WindowTotals { rows, .. }] = &span_totals(&found, &one(&[]), log, None)[..] else {
        panic!("one window");
    };
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (row.name.as_str(), row.time.0, row.count))
        .collect();
    assert_eq!(rows, [("Simplifier", 14, 2), ("systool:as", 5, 2)]);
}

#[test]
fn spans_stand_on_those_that_they_lie_in() {
    let messages = [
        (1, 0, "START outer"),
        (2, 0, "START 1 call"),
        (3, 1, "START other"),
        // Begins inside `outer` and outlasts it: the next lane.
        (4, 0, "START long"),
        (5, 1, "STOP 1 call"),
        (6, 0, "START 2 call"),
        (7, 0, "STOP 2 call"),
        (8, 0, "STOP outer"),
        (9, 0, "STOP long"),
        (9, 0, "STOP never"),
        (12, 2, "START nobody's"),
    ];
    let found = spans(&messages, 20);
    let (profile, left_out) = found.profile(&one(&[]), &store(20), Nanos(20));
    assert_eq!(left_out, 0);
    assert_eq!(
        rows(&profile),
        [
            "spans.0 12..20 nobody's",
            "spans10.0 1..2 outer",
            "spans10.0 2..5 outer call",
            "spans10.0 5..6 outer",
            "spans10.0 6..7 outer call",
            "spans10.0 7..8 outer",
            "spans10.1 4..9 long",
            "spans11.0 3..20 other",
        ]
    );
    let open: Vec<&[u32]> = profile.tracks.iter().map(|track| &track.open[..]).collect();
    assert_eq!(open, [&[0][..], &[], &[], &[0]]);
}

#[test]
fn collections_stand_on_spans() {
    let found = spans(
        &[
            (10, 0, "START a"),
            (20, 0, "START b"),
            (50, 0, "STOP b"),
            (60, 0, "STOP a"),
        ],
        100,
    );
    let collections = [(0, 5), (8, 12), (18, 25), (48, 52), (70, 80)];
    let (profile, _) = found.profile(&one(&collections), &store(100), Nanos(100));
    assert_eq!(
        rows(&profile),
        [
            "spans10.0 10..12 a GC",
            "spans10.0 12..18 a",
            "spans10.0 18..20 a GC",
            "spans10.0 20..25 a b GC",
            "spans10.0 25..48 a b",
            "spans10.0 48..50 a b GC",
            "spans10.0 50..52 a GC",
            "spans10.0 52..60 a",
        ]
    );
}

/// Collections, inner spans and ranges divide spans into samples, but not into more spans.
#[test]
fn a_span_counts_once() {
    let found = spans(
        &[
            (10, 0, "START a"),
            (20, 0, "START b"),
            (50, 0, "STOP b"),
            (60, 0, "STOP a"),
            (70, 0, "START a"),
            (90, 0, "STOP a"),
            (92, 0, "START c"),
            (94, 0, "STOP c"),
        ],
        100,
    );
    // Of `c`, there is no time but that of a collection.
    let collections = [(12, 15), (30, 32), (40, 41), (80, 81), (85, 86), (91, 95)];
    let (profile, _) = found.profile(&one(&collections), &store(100), Nanos(100));
    let counts = |range| {
        let own = profile.weigh(&[0], range);
        let counted = |label: &str| {
            let stacks = profile.stacks.ids().filter(|&stack| {
                let frame = profile.stacks.outermost_first(stack).pop();
                let frame = frame.and_then(|frame| profile.frames.get(frame));
                frame.is_some_and(|frame| frame.label == label)
            });
            stacks.map(|stack| own[stack.index()].count).sum::<u64>()
        };
        ["a", "b", "c", "GC"].map(counted)
    };
    let range = |start, end| Interval::new(Nanos(start), Nanos(end));
    assert_eq!(counts(profile.span), [2, 1, 0, 1]);
    assert_eq!(counts(range(10, 55)), [0, 1, 0, 0]);
    assert_eq!(counts(range(55, 100)), [2, 0, 0, 1]);
    assert_eq!(profile.tracks[0].samples.counted(), 4);
    let info = SourceInfo::of_profile(Source::default(), &profile);
    assert_eq!(info.tracks[0].samples, 4);
}

#[test]
fn opentelemetry_tells_spans_apart_by_number() {
    let mut telemetry = TelemetrySpans::default();
    let begin = |span, name: &'static str| Telemetry::BeginSpan {
        span,
        name: Text(name.as_bytes()),
    };
    for (at, cap, message) in [
        (1, 0, begin(7, "request")),
        (2, 0, begin(8, "query")),
        (3, 0, begin(7, "twice")),
        (5, 1, Telemetry::EndSpan { span: 8 }),
        (6, 1, Telemetry::EndSpan { span: 9 }),
        (7, 1, begin(9, "open")),
        (9, 0, Telemetry::EndSpan { span: 7 }),
    ] {
        telemetry.message(&message, Nanos(at), Some(CapId(cap)));
    }
    telemetry.finish(&SpanProcesses::one(Vec::new(), Nanos(20)));
    let mut found = spans(&[(4, 0, "START a"), (5, 0, "STOP a")], 20);
    found.add(&telemetry);
    let (profile, _) = found.profile(&one(&[]), &store(20), Nanos(20));
    assert_eq!(
        rows(&profile),
        [
            "spans10.0 1..2 request",
            "spans10.0 2..4 request query",
            "spans10.0 4..5 request query a",
            "spans10.0 5..9 request",
            "spans11.0 7..20 open",
        ]
    );
}

fn totals(found: &[WindowTotals]) -> Vec<String> {
    let window = |window: &WindowTotals| {
        let rows = window.rows.iter();
        let rows = rows.map(|row| format!("{} {} {}", row.name, row.time.0, row.count));
        let (start, end) = (window.window.start().0, window.window.end().0);
        let rows: Vec<String> = rows.collect();
        format!(
            "{start}..{end} GC {}: {}",
            window.collecting.0,
            rows.join(", ")
        )
    };
    found.iter().map(window).collect()
}

/// Computed by hand from the rules: first start to last stop, without collections, clipped to the window.
#[test]
fn totals_are_without_collections_and_by_window() {
    let messages = [
        (10, 0, "START a"),
        (20, 0, "START W"),
        (25, 1, "START a"),
        (30, 0, "START 1 b"),
        (40, 0, "STOP a"),
        (45, 0, "STOP 1 b"),
        (50, 0, "STOP W"),
        (55, 0, "START 2 b"),
        (60, 0, "STOP a"),
        (70, 0, "START W"),
        (75, 0, "STOP 2 b"),
        (90, 0, "STOP W"),
        (95, 0, "START open"),
    ];
    let found = spans(&messages, 100);
    let collections = [(15, 35), (58, 72)];
    let log = Interval::new(Nanos(0), Nanos(100));
    // a: 10 to 60 is 50, less 20 and 2. b: 30 to 45 less 5, 55 to 75 less 14.
    // W: 20 to 50 less 15, 70 to 90 less 2.
    assert_eq!(
        totals(&span_totals(&found, &one(&collections), log, None)),
        ["0..100 GC 34: W 33 2, a 28 1, b 16 2, open 5 1"]
    );
    assert_eq!(
        totals(&span_totals(&found, &one(&collections), log, Some("W"))),
        [
            "20..50 GC 15: W 15 1, a 15 0, b 10 1",
            "70..90 GC 2: W 18 1, b 3 0",
        ]
    );
    assert_eq!(
        span_totals(&found, &one(&collections), log, Some("none")),
        []
    );
}

#[test]
fn many_overlapping_spans_are_placed_and_the_rest_is_told() {
    let mut spans = Vec::new();
    for i in 0..600_u64 {
        // Each begins inside the previous span and ends after it.
        spans.push(ProgramSpan {
            start: i,
            end: 1000 + i,
            name: 0,
            cap: None,
            open: false,
        });
    }
    let placed = lanes(spans.iter().copied());
    assert_eq!((placed.lanes.len(), placed.left_out), (MAX_LANES, 344));
    let again = spans.iter().map(|span| ProgramSpan {
        start: span.start * 1000,
        end: span.start * 1000 + 20_500,
        ..*span
    });
    let placed = lanes(again);
    assert_eq!((placed.lanes.len(), placed.left_out), (21, 0));
    for lane in &placed.lanes {
        assert!(lane.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}

/// A thread per request: as many lanes as there are concurrent requests.
#[test]
fn threads_with_few_spans_share_lanes() {
    let span = |start, end| ProgramSpan {
        start,
        end,
        name: 0,
        cap: None,
        open: false,
    };
    let lane = |thread: u32| {
        let start = u64::from(thread) * 10;
        Lane {
            thread: Some(ThreadId(thread)),
            lane: 0,
            spans: vec![span(start, start + 25), span(start + 5, start + 20)],
        }
    };
    let all: Vec<Lane> = (0..1000).map(lane).collect();
    let (shared, left_out) = share(all);
    assert_eq!(left_out, 0);
    let of_several = shared.iter().filter(|lane| lane.thread.is_none());
    assert_eq!(of_several.count(), 3);
    assert_eq!(shared.len(), lanes::MAX_OWN + 3);
    let spans: usize = shared.iter().map(|lane| lane.spans.len()).sum();
    assert_eq!(spans, 2000);
    for lane in &shared {
        let outer: Vec<ProgramSpan> = lane.spans.iter().step_by(2).copied().collect();
        assert!(outer.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
    let few: Vec<Lane> = (0..3).map(lane).collect();
    assert_eq!(share(few).0.len(), 3);
}

proptest! {
    /// For any messages: no two spans of a lane overlap partly, no time of outermost spans is lost, and the
    /// weights of the parts of any division of the time add up to those of the whole.
    #[test]
    fn parts_sum_to_the_whole(
        said in prop::collection::vec((0..5_u64, 0..2_u16, any::<bool>(), 0..6_u8), 0..80),
        gaps in prop::collection::vec((1..30_u64, 1..10_u64), 0..8),
        cuts in prop::collection::vec(0..500_u64, 0..6),
    ) {
        let mut at = 0;
        let texts: Vec<(u64, u16, String)> = said.iter().map(|(step, cap, start, name)| {
            at += step;
            let verb = if *start { "START" } else { "STOP" };
            (at, *cap, format!("{verb} s{name}"))
        }).collect();
        let borrowed: Vec<(u64, u16, &str)> =
            texts.iter().map(|(at, cap, text)| (*at, *cap, text.as_str())).collect();
        let found = spans(&borrowed, 500);
        let mut time = 0;
        let collections: Vec<(u64, u64)> = gaps.iter().map(|(gap, length)| {
            let start = time + gap;
            time = start + length;
            (start, time)
        }).collect();
        let (profile, left_out) = found.profile(&one(&collections), &store(500), Nanos(500));
        prop_assert_eq!(left_out, 0);
        let all: Vec<usize> = (0..profile.tracks.len()).collect();
        crate::flamegraph::test_support::parts_sum(&profile, &all, cuts)?;
        // Collections divide spans into more samples, but not into more spans.
        let (undivided, _) = found.profile(&one(&[]), &store(500), Nanos(500));
        let counted = |profile: &Profile| -> Vec<usize> {
            profile.tracks.iter().map(|track| track.samples.counted()).collect()
        };
        prop_assert_eq!(counted(&profile), counted(&undivided));
        // The total of a name equals the weight of all stacks with its frame and without `GC` on top.
        let log = Interval::new(Nanos(0), Nanos(500));
        let rows = span_totals(&found, &one(&collections), log, None).remove(0).rows;
        for row in rows {
            let weights = profile.weigh(&all, profile.span);
            let inside = profile.stacks.ids().filter(|&stack| {
                let names = |id| profile.frames.get(id).map_or("", |frame| frame.label.as_str());
                let top = profile.stacks.frame(stack).map_or("", names);
                top != "GC" && profile.stacks.innermost_first(stack).any(|id| names(id) == row.name)
            });
            let sum: u64 = inside.map(|stack| weights[stack.index()].amount).sum();
            prop_assert_eq!(sum, row.time.0, "{}", row.name);
        }
    }
}
