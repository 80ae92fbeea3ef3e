//! Flame graphs of real logs: tracks and their samples, foreign calls against
//! what the demo program does.

mod common;

use std::io::Read;
use std::path::{Path, PathBuf};

use eventscope::eventlog::Record;
use eventscope::flamegraph::{
    CallOddity, CallProblem, FrameKind, Order, Profile, ProfileCollector, Track, TrackSource,
    layout,
};
use eventscope::ids::Nanos;
use eventscope::source::read_log;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn fixture(name: &str) -> PathBuf {
    root().join("tests/fixtures/logs").join(name)
}

fn read(path: &Path) -> (Profile, Vec<CallOddity>) {
    let mut bytes = std::fs::read(path).expect("the log can be read");
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut inflated = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_end(&mut inflated)
            .expect("gzip");
        bytes = inflated;
    }
    let mut collector = ProfileCollector::default();
    let mut end = Nanos(0);
    let mut sink = |record: &Record<'_>| {
        end = end.max(record.time);
        collector.event(record);
    };
    read_log(&mut bytes.as_slice(), &mut sink).expect("an eventlog");
    collector.finish(end)
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
        assert_eq!(profile.tick_interval, Some(Nanos(1_000_000)), "{name}");
    }
}

fn names(profile: &Profile, track: &Track, index: usize) -> Vec<String> {
    let frames = profile.stacks.outermost_first(track.samples.stack[index]);
    let name = |id| profile.frames.get(id).expect("a frame").name();
    frames.into_iter().map(name).collect()
}

#[test]
fn the_demo_shows_foreign_calls_of_four_threads() {
    let (profile, oddities) = read(&root().join("www/demo/profiled-ffi.eventlog.gz"));
    assert_eq!(oddities, []);
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

/// The announced stacks are the declared cost centres, not others of the
/// same name: the samples inside `announced` have the same outer frames.
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
    let (profile, oddities) = read(&fixture("ghc-9.0.2/ffi-safe-N2-lu.eventlog"));
    let unknown = |track: &&Track| matches!(track.source, TrackSource::UnknownThread { .. });
    assert!(profile.tracks.iter().any(|track| unknown(&track)));
    // It declares no cost centres, so that none is unknown. Six calls at once
    // say that they are on one thread.
    let overlap = |oddity: &CallOddity| matches!(oddity.what, CallProblem::Overlap(_));
    assert!(oddities.iter().all(overlap), "{oddities:?}");
    assert_eq!(oddities.len(), 5);
    let open: usize = profile.tracks.iter().map(|track| track.open.len()).sum();
    assert_eq!(open, 1, "START 99 unclosed");
}

#[test]
fn every_log_has_a_profile_whose_parts_sum_to_the_whole() {
    for case in common::cases() {
        if case.name.ends_with("cut-in-header") {
            continue;
        }
        let (name, (profile, _)) = (&case.name, read(&case.log));
        for (index, track) in profile.tracks.iter().enumerate() {
            let time: u64 = track.samples.duration.iter().map(|time| time.0).sum();
            let heavy = layout(&profile, &[index], None, Order::LeftHeavy, 0.001);
            assert_eq!(heavy.total, Nanos(time), "{name}");
            let own: u64 = heavy.self_time.iter().map(|time| time.0).sum();
            assert_eq!(own, time, "{name}");
            let order = layout(&profile, &[index], None, Order::Time, 0.001);
            let width: f64 = order.at_depth(0).map(|index| order.width[index]).sum();
            assert!((width - 1.0).abs() < 1e-6, "{name}: {width}");
        }
    }
}
