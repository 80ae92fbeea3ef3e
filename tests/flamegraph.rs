//! Flame graphs of real logs: samples against the runtime's own report of the
//! same run, foreign calls against what the demo program does.

mod common;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use eventscope::eventlog::Record;
use eventscope::flamegraph::query::{
    FlameBoxes, FlameHead, FlameQuery, FlameTableQuery, View, answer, table,
};
use eventscope::flamegraph::{
    CallOddity, CallProblem, Choice, FrameKind, Profile, ProfileCollector, StepCache, Track,
    TrackSource,
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

/// Samples per innermost frame.
fn innermost(profile: &Profile) -> BTreeMap<String, u32> {
    let sources = profile.tracks.iter().map(|track| track.source);
    let is_capability = |source: &TrackSource| matches!(source, TrackSource::Capability(_));
    let query = FlameTableQuery {
        choice: Choice {
            tracks: sources.filter(is_capability).collect(),
            ..Choice::default()
        },
        steps: Vec::new(),
    };
    let mut samples = BTreeMap::new();
    for row in table(&StepCache::default(), profile, &query) {
        if row.own_count > 0 {
            *samples.entry(row.frame.name()).or_default() +=
                u32::try_from(row.own_count).expect("few");
        }
    }
    samples
}

/// Without those that a report in text does not count.
fn ticks(profile: &Profile) -> BTreeMap<String, u32> {
    let mut ticks = innermost(profile);
    for name in ["IDLE.IDLE", "GC.GC", "SYSTEM.SYSTEM"] {
        ticks.remove(name);
    }
    ticks
}

/// Compares ticks per cost centre. The sum is exact. Single ones are not: for
/// each tick the runtime looks twice where the program is, once for its own
/// count and once for the event (`handleProfTick` in `rts/Proftimer.c`), and
/// in between the program goes on, perhaps into another function.
fn compare(what: &str, ours: &BTreeMap<String, u32>, theirs: &BTreeMap<String, f64>) {
    let sum = f64::from(ours.values().sum::<u32>());
    let differs = |centres: &[&str]| {
        let our = |name: &&str| f64::from(ours.get(*name).copied().unwrap_or(0));
        let their = |name: &&str| theirs.get(*name).copied().unwrap_or(0.0);
        let ours: f64 = centres.iter().map(our).sum();
        (ours - centres.iter().map(their).sum::<f64>()).abs() / sum
    };
    for name in ours.keys().chain(theirs.keys()) {
        let by = differs(&[name]);
        assert!(by < 0.08, "{what}: {name} by {by}: {ours:?} {theirs:?}");
    }
    // These call each other all the time; as one they hardly differ.
    for pair in [
        ["Main.isEven'", "Main.isOdd'"],
        ["Main.leaf_work", "Main.leaf.\\"],
        ["Main.primes", "Main.primes.sieve"],
        ["Main.table", "Main.slow"],
    ] {
        let by = differs(&pair);
        assert!(by < 0.02, "{what}: {pair:?} by {by}: {ours:?} {theirs:?}");
    }
}

/// The number before a word: `(186 ticks @ …`.
fn number_before(text: &str, word: &str) -> u32 {
    let words: Vec<&str> = text.split([' ', '(']).collect();
    let at = words.iter().position(|&other| other == word).expect(word);
    words[at - 1].parse().expect("a number")
}

/// Ticks per cost centre in the first table of a report, whose column is in
/// percent.
fn report_ticks(report: &str) -> BTreeMap<String, f64> {
    let sum = f64::from(number_before(report, "ticks"));
    let rows = report
        .lines()
        .skip_while(|line| !line.starts_with("COST CENTRE"));
    let mut ticks = BTreeMap::new();
    for line in rows.skip(2).take_while(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let percent: f64 = words[words.len() - 2].parse().expect("%time");
        let name = format!("{}.{}", words[1], words[0]);
        *ticks.entry(name).or_default() += percent / 100.0 * sum;
    }
    ticks
}

#[test]
fn ticks_are_those_of_the_report() {
    let name = "ghc-9.6.6/prof-time-N1-p-l-au";
    let (profile, _) = read(&fixture(&format!("{name}.eventlog")));
    let path = fixture(&format!("{name}.prof"));
    let report = std::fs::read_to_string(path).expect("a report");
    let ticks = ticks(&profile);
    let sum: u32 = ticks.values().sum();
    assert_eq!(sum, number_before(&report, "ticks"), "{ticks:?}");
    compare(name, &ticks, &report_ticks(&report));
    let samples: usize = profile.tracks.iter().map(|track| track.samples.len()).sum();
    assert_eq!((profile.tracks.len(), samples), (1, 194));
}

#[test]
fn ticks_of_a_profile_with_foreign_calls_are_those_of_the_report() {
    let (profile, _) = read(&fixture("ghc-9.6.6/prof-ffi-safe-N1-p-l.eventlog"));
    let path = fixture("ghc-9.6.6/prof-ffi-safe-N1-p-l.prof");
    let report = std::fs::read_to_string(path).expect("a report");
    let sum: u32 = ticks(&profile).values().sum();
    assert_eq!(sum, number_before(&report, "ticks"));
}

/// Ticks per cost centre in a JSON report's tree.
fn tree_ticks(node: &serde_json::Value, into: &mut BTreeMap<u64, u64>) {
    let id = node["id"].as_u64().expect("an id");
    *into.entry(id).or_default() += node["ticks"].as_u64().expect("ticks");
    for child in node["children"].as_array().expect("children") {
        tree_ticks(child, into);
    }
}

#[test]
fn ticks_are_those_of_the_json_report() {
    let (profile, _) = read(&fixture("ghc-9.10.3/prof-time-N2-pj-l.eventlog"));
    let text = std::fs::read_to_string(fixture("ghc-9.10.3/prof-time-N2-pj-l.prof"));
    let report: serde_json::Value = serde_json::from_str(&text.expect("a report")).expect("JSON");
    let mut by_id = BTreeMap::new();
    tree_ticks(&report["profile"], &mut by_id);
    let mut theirs: BTreeMap<String, f64> = BTreeMap::new();
    for centre in report["cost_centres"].as_array().expect("cost centres") {
        let text = |key: &str| centre[key].as_str().expect("text").to_owned();
        let id = centre["id"].as_u64().expect("an id");
        if let Some(&ticks) = by_id.get(&id) {
            let name = format!("{}.{}", text("module"), text("label"));
            *theirs.entry(name).or_default() += ticks as f64;
        }
    }
    let all = innermost(&profile);
    // This report counts the runtime's own ticks too.
    let sum: u32 = all.values().sum();
    assert_eq!(report["total_ticks"].as_u64(), Some(u64::from(sum)));
    for name in ["IDLE.IDLE", "GC.GC", "SYSTEM.SYSTEM"] {
        let ours = all.get(name).map(|&ticks| f64::from(ticks));
        assert_eq!(ours, theirs.get(name).copied(), "{name}");
    }
    compare("json", &all, &theirs);
    assert_eq!(profile.tracks.len(), 2);
    assert_eq!(profile.tick_interval, Some(Nanos(1_000_000)));
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
        }
    }
}

fn graph(profile: &Profile, track: TrackSource, view: View) -> (FlameHead, FlameBoxes) {
    let query = FlameQuery {
        choice: Choice {
            tracks: vec![track],
            ..Choice::default()
        },
        view,
        window: (0.0, 1.0),
        width_px: 1000,
        ..FlameQuery::default()
    };
    answer(profile, &query)
}
