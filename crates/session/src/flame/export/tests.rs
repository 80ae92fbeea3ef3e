//! Properties of all formats.

use std::task::Poll;

use analysis::flamegraph::sources;
use eventlog::ids::{CapId, Nanos};
use model::profile::frames::Frames;
use model::profile::revision::Revision;
use model::profile::sample_threads::SampleThreads;
use model::profile::stack_source::FlameSelection;
use model::profile::stacks::{StackId, Stacks};
use model::profile::{Profile, Samples, Track, TrackSource};
use model::time::Interval;
use proptest::prelude::*;

use super::tree::DEEPEST;
use super::*;
use crate::flame::query::{FlameTableQuery, table};
use crate::flame::transform::Transform;
use model::profile::frames::{Frame, FrameKind};
use model::profile::weights::Weight;

const FORMATS: [ExportFormat; 3] = [
    ExportFormat::Speedscope,
    ExportFormat::Folded,
    ExportFormat::Pprof,
];

/// Creates nested spans, with `names` distinct names, that open one by one and then close.
fn nested(depth: u32, names: u32) -> Profile {
    let (mut frames, mut stacks) = (Frames::default(), Stacks::default());
    let idle = frames.intern(Frame::built_in("IDLE", "IDLE"));
    let mut walk = vec![StackId::EMPTY];
    for level in 0..depth {
        let frame = Frame::with_kind(FrameKind::Span, &format!("span {}", level % names));
        let outer = walk.last().copied().unwrap_or_default();
        walk.push(stacks.push(outer, frames.intern(frame)));
    }
    walk.extend_from_within(..);
    walk[depth as usize + 1..].reverse();
    let mut samples = Samples::default();
    for (at, &stack) in (0..).zip(&walk) {
        samples.push(Interval::new(Nanos(at * 10), Nanos(at * 10 + 10)), stack);
    }
    Profile {
        frames,
        stacks,
        idle,
        idle_stack: StackId::EMPTY,
        span: Interval::new(Nanos(0), samples.end()),
        tracks: vec![Track {
            source: TrackSource::Capability(CapId(0)),
            samples,
            open: Vec::new(),
            sampled: false,
        }],
        tick_interval: None,
        threads: SampleThreads::default(),
        heap: None,
        revision: Revision::next(),
    }
}

fn query(steps: &[Transform]) -> FlameQuery {
    FlameQuery {
        steps: steps.to_vec(),
        ..FlameQuery::default()
    }
}

/// Writes a file in slices of `slice` stacks.
fn file(
    profile: &Profile,
    query: &FlameQuery,
    format: ExportFormat,
    slice: usize,
) -> (Vec<u8>, IncompleteStacks) {
    let cache = StepCache::default();
    let mut export = Export::new(&cache, profile, query, format, &LogInfo::default());
    let mut bytes = Vec::new();
    while export
        .advance(profile, &mut bytes, slice)
        .expect("memory takes all")
        == Poll::Pending
    {}
    (bytes, export.incomplete())
}

/// A file is empty if and only if the table of functions is.
#[test]
fn a_file_without_stacks_knows_it() {
    let profile = nested(3, 2);
    let end = profile.span.end();
    let later = Interval::new(end, Nanos(end.0 + 100));
    let focus = |name: &str| vec![Transform::Focus(name.to_owned())];
    let mut empty = 0;
    for steps in [Vec::new(), focus("span 1"), focus("typo")] {
        for range in [None, Some(later)] {
            let mut query = query(&steps);
            query.choice.range = range;
            let functions = FlameTableQuery {
                choice: query.choice.clone(),
                steps: query.steps.clone(),
            };
            let cache = StepCache::default();
            let (rows, _) = table(&cache, &profile, &functions);
            empty += usize::from(rows.is_empty());
            for format in FORMATS {
                let mut export = Export::new(&cache, &profile, &query, format, &LogInfo::default());
                let mut bytes = Vec::new();
                let mut advance = || export.advance(&profile, &mut bytes, 7);
                while advance().expect("memory takes all").is_pending() {}
                assert_eq!(
                    export.is_empty(),
                    rows.is_empty(),
                    "{format:?} {steps:?} {range:?}"
                );
            }
        }
    }
    assert_eq!(empty, 4);
}

#[test]
fn twice_the_nesting_is_at_most_two_and_a_half_times_the_file() {
    let depth = u32::from(DEEPEST) * 2;
    for names in [1, u32::MAX] {
        for step in [
            &[][..],
            &[Transform::Invert],
            &[Transform::CollapseRecursion],
        ] {
            for format in FORMATS {
                let size = |depth| {
                    let (bytes, _) = file(&nested(depth, names), &query(step), format, 1 << 20);
                    bytes.len() as f64
                };
                let grown = size(2 * depth) / size(depth);
                assert!(grown <= 2.5, "{format:?} {step:?} {grown}");
            }
        }
    }
}

#[test]
fn what_is_too_deep_is_told() {
    let deep = nested(u32::from(DEEPEST) + 10, u32::MAX);
    for format in FORMATS {
        let (bytes, incomplete) = file(&deep, &query(&[]), format, 1 << 20);
        assert_eq!((incomplete.deep, incomplete.deepest), (10, DEEPEST + 10));
        if format != ExportFormat::Pprof {
            let text = String::from_utf8(bytes).expect("UTF-8");
            assert!(text.contains("(deeper frames)"), "{format:?}");
        }
        let (_, incomplete) = file(&nested(u32::from(DEEPEST), 9), &query(&[]), format, 99);
        assert!(incomplete.is_empty());
    }
    // No weight is lost.
    let (bytes, _) = file(&deep, &query(&[]), ExportFormat::Folded, 1 << 20);
    let text = String::from_utf8(bytes).expect("UTF-8");
    let weight = |line: &str| {
        line.rsplit_once(' ')
            .and_then(|(_, n)| n.parse::<u64>().ok())
    };
    let sum: u64 = text.lines().filter_map(weight).sum();
    assert_eq!(sum, deep.span.duration().0);
    let inverted = nested(9000, u32::MAX);
    let (_, incomplete) = file(
        &inverted,
        &query(&[Transform::Invert]),
        ExportFormat::Folded,
        1 << 20,
    );
    assert!(incomplete.shortened > 0 && incomplete.to_string().contains("inverted"));
}

/// Deep, similar stacks are written as enter and leave events.
#[test]
fn deep_stacks_are_written_as_events() {
    let (bytes, _) = file(&nested(200, 5), &query(&[]), ExportFormat::Speedscope, 7);
    let document: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    let profile = &document["profiles"][0];
    assert_eq!(profile["type"], "evented");
    let events = profile["events"].as_array().expect("events");
    assert_eq!(events.len(), 400);
    let frames = document["shared"]["frames"].as_array().expect("frames");
    let mut open = Vec::new();
    for event in events {
        let frame = event["frame"].as_u64().expect("a number");
        let name = frames[frame as usize]["name"].as_str().expect("a name");
        let expected = format!(
            "span {}",
            (open.len() - usize::from(event["type"] == "C")) % 5
        );
        assert_eq!(name, expected);
        match event["type"].as_str() {
            Some("O") => open.push(frame),
            _ => assert_eq!(open.pop(), Some(frame)),
        }
    }
    assert!(open.is_empty());
}

#[test]
fn censuses_are_shown_by_their_mean() {
    let query = FlameQuery {
        choice: FlameSelection {
            source: sources::HEAP,
            ..FlameSelection::default()
        },
        ..FlameQuery::default()
    };
    let whole = |amount, samples| {
        let weight = Weight { amount, count: 1 };
        Scale::new(&query, samples).whole(weight)
    };
    assert_eq!([0, 3, 4, 5, 7].map(|sum| whole(sum, 3)), [0, 1, 1, 2, 2]);
    assert_eq!([0, 1, 2, 3].map(|sum| whole(sum, 2)), [0, 1, 1, 2]);
    assert_eq!([0, 5].map(|sum| whole(sum, 0)), [0, 5]);
    let time = Scale::new(&FlameQuery::default(), 3);
    let weight = Weight {
        amount: 7,
        count: 2,
    };
    assert_eq!((time.whole(weight), time.exact(weight)), (7, 7.0));
}

proptest! {
    /// The file does not depend on the slice size.
    #[test]
    fn slices_make_up_the_file(
        depth in 1_u32..60,
        names in 1_u32..9,
        slice in 1_usize..40,
        invert in any::<bool>(),
    ) {
        let profile = nested(depth, names);
        let steps: &[Transform] = if invert { &[Transform::Invert] } else { &[] };
        for format in FORMATS {
            let whole = file(&profile, &query(steps), format, usize::MAX);
            prop_assert_eq!(&file(&profile, &query(steps), format, slice), &whole);
        }
    }
}
