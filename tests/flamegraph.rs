//! Flame graphs of real logs: parts against the whole, and foreign calls against the demo program. Ticks are
//! compared with reports in `prof_reports.rs`.

use crate::common;

use std::io::Read;
use std::path::{Path, PathBuf};

use analysis::diagnostics::{Diagnostics, Rule};
use analysis::flamegraph::centres::CostCentres;
use analysis::flamegraph::collect::ProfileCollector;
use eventlog::ids::Duration;
use eventlog::source::read_log;
use eventlog::{Record, Sink};
use model::profile::frames::FrameKind;
use model::profile::stack_source::FlameSelection;
use model::profile::{Profile, Track, TrackSource};
use model::time::Interval;
use session::flame::query::answer;
use session::flame::query::{FlameBoxes, FlameHead, FlameQuery, View};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn fixture(name: &str) -> PathBuf {
    root().join("tests/fixtures/logs").join(name)
}

fn read(path: &Path) -> (Profile, Diagnostics) {
    let mut bytes = std::fs::read(path).expect("the log can be read");
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut inflated = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_end(&mut inflated)
            .expect("gzip");
        bytes = inflated;
    }
    let mut collector = ProfileCollector::default();
    let mut centres = CostCentres::default();
    let mut log = None::<Interval>;
    let mut sink = |record: &Record<'_>| {
        log.get_or_insert(Interval::empty_at(record.time))
            .extend(record.time);
        centres.offer(record);
        collector.offer(record);
    };
    read_log(&mut bytes.as_slice(), &mut sink).expect("an eventlog");
    collector.finish(log.unwrap_or_default(), &centres)
}

#[test]
fn a_capability_is_a_track() {
    for (name, tracks, samples) in [
        ("ghc-9.6.6/prof-time-N1-p-l-au", 1, 194),
        ("ghc-9.10.3/prof-time-N2-pj-l", 2, 492),
    ] {
        let (profile, _) = read(&fixture(&format!("{name}.eventlog")));
        let found: usize = profile.tracks.iter().map(|track| track.samples.len()).sum();
        assert_eq!((profile.tracks.len(), found), (tracks, samples), "{name}");
        assert_eq!(profile.tick_interval, Some(Duration(1_000_000)), "{name}");
    }
}

fn names(profile: &Profile, track: &Track, index: usize) -> Vec<String> {
    let frames = profile
        .stacks
        .outermost_first(track.samples.stacks()[index]);
    let name = |id| profile.frames.get(id).expect("a frame").name();
    frames.into_iter().map(name).collect()
}

#[test]
fn the_demo_shows_foreign_calls_of_four_threads() {
    let (profile, anomalies) = read(&root().join("www/demo/profiled-ffi.eventlog.gz"));
    assert_eq!(anomalies, Diagnostics::default());
    let of_threads = |track: &&Track| matches!(track.source, TrackSource::OsThread(_));
    let threads: Vec<&Track> = profile.tracks.iter().filter(of_threads).collect();
    assert_eq!(threads.len(), 4);
    assert_eq!(profile.tracks.len(), 7);
    let calls: usize = threads.iter().map(|track| track.samples.len()).sum();
    assert_eq!(calls, 31);
    for track in threads {
        assert!(track.open.is_empty());
        for index in 0..track.samples.len() {
            let frames = names(&profile, track, index);
            assert_eq!(frames[..2], ["Main.main", "Main.animate"]);
            assert_eq!(frames[frames.len() - 2], "Main.announced");
            let call = &frames[frames.len() - 1];
            assert!(
                ["box_blur", "sobel_edges", "median_filter"].contains(&call.as_str()),
                "{call}"
            );
        }
    }
    let unknown = profile
        .frames
        .iter()
        .filter(|(_, frame)| frame.kind == FrameKind::Unknown);
    assert_eq!(unknown.count(), 0);
}

/// Announced stacks consist of the declared cost centres, not of duplicates with the same name: the samples inside
/// `announced` have the same outer frames.
#[test]
fn announced_stacks_are_made_of_declared_cost_centres() {
    let (profile, _) = read(&root().join("www/demo/profiled-ffi.eventlog.gz"));
    let mut names: Vec<String> = profile
        .frames
        .iter()
        .map(|(_, frame)| format!("{} {:?}", frame.name(), frame.location))
        .collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn one_lane_per_call_at_a_time_where_the_thread_is_unknown() {
    let (profile, anomalies) = read(&fixture("ghc-9.0.2/ffi-safe-N2-lu.eventlog"));
    let unknown = |track: &&Track| matches!(track.source, TrackSource::UnknownThread { .. });
    assert!(profile.tracks.iter().any(|track| unknown(&track)));
    // Without declared cost centres, none is unknown. Six concurrent calls claim to be on one thread.
    let counts: Vec<_> = anomalies.counts().collect();
    assert_eq!(counts, [(Rule::CallOverlap, 5)]);
    let open: usize = profile.tracks.iter().map(|track| track.open.len()).sum();
    assert_eq!(open, 1, "START 99 unclosed");
}

#[test]
fn every_log_has_a_profile_whose_parts_sum_to_the_whole() {
    let mut tally = common::Tally::default();
    for case in common::cases() {
        if case.name.ends_with("cut-in-header") {
            continue;
        }
        let (name, (profile, _)) = (&case.name, read(&case.log));
        for track in &profile.tracks {
            let samples = (0..track.samples.len()).map(|index| track.samples.duration(index).0);
            let time: u64 = samples.sum();
            let (head, heavy) = graph(&profile, track.source, View::LeftHeavy);
            assert_eq!(head.total, time, "{name}");
            let own: f64 = heavy.own.iter().sum();
            assert_eq!(own as u64, time, "{name}");
            let (_, order) = graph(&profile, track.source, View::Time);
            let outermost = (0..order.len()).filter(|&index| order.depth[index] == 0);
            let width: f64 = outermost.map(|index| order.width[index]).sum();
            assert!((width - 1.0).abs() < 1e-6, "{name}: {width}");
            tally.add(&case, track.samples.len());
        }
    }
    tally.finish(common::expected_coverage([6, 821], [14, 2387]));
}

fn graph(profile: &Profile, track: TrackSource, view: View) -> (FlameHead, FlameBoxes) {
    let query = FlameQuery {
        choice: FlameSelection {
            tracks: vec![track],
            ..FlameSelection::default()
        },
        view,
        window: (0.0, 1.0),
        width_px: 1000,
        ..FlameQuery::default()
    };
    answer(profile, &query)
}
