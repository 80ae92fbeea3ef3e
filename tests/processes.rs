//! Log of several processes: its capabilities and threads are assigned to processes, and the numbers of each
//! process are those of its own log.

use crate::common;

use std::collections::BTreeMap;
use std::fs;

use analysis::account::report::CapTimes;
use analysis::flamegraph::sources;
use analysis::timeline::thread_lane::{ThreadListQuery, ThreadListRow};
use common::build::{LogBuilder, TYPES};
use common::merging::{merge_logs, two_collecting_processes};
use common::picture::tracks;
use common::{eventscope, fixture, stdout};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog_edit::merge::Align;
use insight::RuleContext;
use insight::metrics::{Labels, MetricContext, Numbers};
use model::profile::frames::Frame;
use model::profile::stack_source::FlameSelection;
use model::time::Interval;
use session::queries::{
    EnvironmentQuery, FindingsQuery, GcCostsQuery, ProcessQuery, SummaryQuery, TimeQuery,
};
use session::tracks::name::TrackName;
use session::{Session, read_session};
use tempfile::TempDir;
use views::timeline::arrange::{TrackChange, TrackView};
use views::timeline::layout::{Kind, Layout, Track};
use views::timeline::reveal::all_tracks;

const NAMES: [&str; 3] = [
    "ghc-9.6.6/fib-forkio-N2-l",
    "ghc-9.6.6/sparks-N2-ls",
    "ghc-9.6.6/dense-N2-l-flush",
];

fn session(mut log: &[u8]) -> Session {
    read_session(&mut log).expect("a log")
}

fn three() -> ([Vec<u8>; 3], Session) {
    let logs = NAMES.map(|name| fixture(name).bytes());
    let slices = [0, 1, 2].map(|at| logs[at].as_slice());
    let (new, ..) = merge_logs(&slices, &Align::Start, &[]).expect("a plan");
    let new = session(&new);
    (logs, new)
}

/// Returns the classes that do not depend on how long the other processes ran.
fn own(times: &CapTimes) -> [u64; 6] {
    [
        times.running_ns,
        times.collecting_ns,
        times.waiting_ns,
        times.stopping_ns,
        times.census_ns,
        times.returning_ns,
    ]
}

#[test]
fn each_process_has_the_numbers_of_its_own_log() {
    let (logs, new) = three();
    let all = new.ask(&SummaryQuery(None));
    let (times, collections) = (all.account.caps.clone(), all.generations.clone());
    assert_eq!(all.processes.len(), 3);
    assert_eq!(
        (all.gc_ns, all.mutator_ns, all.productivity),
        (None, None, None)
    );
    let (mut place, mut led) = (0, 0);
    for (log, own_numbers) in logs.iter().zip(&all.processes) {
        let alone = session(log).ask(&SummaryQuery(None));
        for ((_, before), (_, after)) in alone.account.caps.iter().zip(&times[place..]) {
            assert_eq!(own(after), own(before), "{}", own_numbers.name);
        }
        place += alone.account.caps.len();
        assert_eq!(own_numbers.capabilities, alone.account.caps.len() as u64);
        assert_eq!(Some(own_numbers.gc_ns), alone.gc_ns);
        assert_eq!(Some(own_numbers.collections), alone.collections);
        assert_eq!(own_numbers.bytes_allocated, alone.bytes_allocated);
        led += alone
            .generations
            .iter()
            .map(|row| row.collections)
            .sum::<u64>();
    }
    assert_eq!(
        collections.iter().map(|row| row.collections).sum::<u64>(),
        led
    );
    // The memory of all processes together is at least that of the largest one.
    let most = logs
        .iter()
        .map(|log| session(log).ask(&SummaryQuery(None)).max_heap_size);
    assert!(all.max_heap_size >= most.max().flatten());
}

/// Name, time and number of the spans of one name.
type SpanTotal = (String, u64, u64);

/// Returns the totals of the spans of a log, and the time of each of their stacks.
fn spans(log: &Session) -> (Vec<SpanTotal>, BTreeMap<String, u64>) {
    let windows = log.recording().span_totals(None);
    let rows = windows.iter().flat_map(|window| &window.rows);
    let mut totals: Vec<_> = rows
        .map(|row| (row.name.clone(), row.time.0, row.count))
        .collect();
    totals.sort();
    let choice = FlameSelection {
        source: sources::SPANS,
        ..FlameSelection::default()
    };
    let origin = log.stack_source(sources::SPANS).expect("spans");
    let weighed = origin.weighted_stacks(&choice);
    let mut stacks = BTreeMap::new();
    for (stack, weight) in weighed.stacks.ids().zip(&weighed.own) {
        let frames = weighed.stacks.outermost_first(stack).into_iter();
        let names: Vec<String> = frames
            .filter_map(|id| weighed.frames.get(id).map(Frame::name))
            .collect();
        if weight.amount > 0 {
            *stacks.entry(names.join(" > ")).or_default() += weight.amount;
        }
    }
    (totals, stacks)
}

/// Returns the logs of two processes with collections: the first one announces spans, one of which stays open, and
/// ends long before the second one.
fn announcing_processes() -> [Vec<u8>; 2] {
    let mut first = LogBuilder::new();
    first.block(Some(0), (10, 10_000), |log| {
        log.event(0, 10, &1_u32.to_be_bytes())
            .run(20, 1)
            .event(19, 100, b"START work")
            .stop(990, 1, 1)
            .collection(1_000, 2_000)
            .run(2_010, 1)
            .event(19, 5_000, b"STOP work")
            .event(19, 6_000, b"START open")
            .stop(10_000, 1, 5)
    });
    let first = first.end().bytes.clone();
    let mut second = LogBuilder::new();
    second.block(Some(0), (10, 30_000), |log| {
        log.event(0, 10, &1_u32.to_be_bytes())
            .run(20, 1)
            .stop(490, 1, 1)
            .collection(500, 900)
            .collection(3_000, 4_000)
            .collection(8_000, 9_000)
            .run(9_010, 1)
            .stop(30_000, 1, 5)
    });
    let second = second.end().bytes.clone();
    [first, second]
}

/// Only collections of its own process are cut out of a span, and an open one ends with its process.
#[test]
fn spans_of_a_process_are_those_of_its_own_log() {
    let [first, second] = announcing_processes();
    let merged = merge_logs(&[&first, &second], &Align::Start, &[]);
    let alone = spans(&session(&first));
    let expected = [("open", 4_000, 1), ("work", 3_900, 1)];
    let expected = expected.map(|(name, ns, count)| (name.to_owned(), ns, count));
    assert_eq!(alone.0, expected);
    assert_eq!(spans(&session(&merged.expect("a plan").0)), alone);
}

/// An open span is as long in numbers and rows as its frame, which has no collections here.
#[test]
fn an_open_span_is_as_long_as_in_the_flame_graph() {
    let [first, second] = announcing_processes();
    let merged = merge_logs(&[&first, &second], &Align::Start, &[]);
    let mut merged = session(&merged.expect("a plan").0);
    // The second search, for new prefixes, finds the same as the one at the end of the log.
    for _ in 0..2 {
        let (_, stacks) = spans(&merged);
        let expected = stacks["open"];
        let metric = insight::metrics::metric_by_name("span.time").expect("a metric");
        let labels = Labels::from([("name".to_owned(), "open".to_owned())]);
        let context = MetricContext::new(RuleContext::new(merged.recording(), None));
        let lengths: Vec<u64> = match metric.evaluate(&context, &labels) {
            Ok(Numbers::Many(all)) => all.iter().map(|seen| seen.value as u64).collect(),
            _ => Vec::new(),
        };
        assert_eq!(lengths, [expected]);
        let mut listed = merged.recording().tracks.spans.listed().iter();
        let open = listed.find(|listed| listed.info.name == "open");
        assert_eq!(open.map(|listed| listed.info.total_ns), Some(expected));
        drop(context);
        let prefixes = merged.recording().tracks.prefixes().clone();
        merged.set_span_prefixes(prefixes);
    }
}

/// A collection that overlaps one of another process counts where it begins, and stops only its own capabilities.
#[test]
fn collections_of_a_range_are_those_that_begin_in_it() {
    let new = session(&two_collecting_processes());
    let range = |from, to| Interval::new(Nanos(from), Nanos(to));
    // The second process collects twice during the first collection of the first one, which ends at 5000.
    for (from, to, count, pause_ns) in [
        (500, 4_500, 3, 3_500 + 200),
        (4_500, 5_500, 0, 500),
        (5_500, 7_500, 2, 1_050 + 100),
        (0, 10_000, 7, 4_000 + 100 + 100 + 100 + 100 + 1_050 + 100),
    ] {
        let range = Some(range(from, to));
        let costs = new.ask(&GcCostsQuery(range)).expect("it is read");
        let counted: u64 = costs.iter().map(|row| row.count).sum();
        let paused: u64 = costs.iter().map(|row| row.pause_ns).sum();
        assert_eq!((counted, paused), (count, pause_ns), "{from} to {to}");
        assert_eq!(new.ask(&SummaryQuery(range)).collections, Some(count));
        let times = new.ask(&TimeQuery(range)).collections;
        assert_eq!((times.count, times.pause_ns), (count, pause_ns));
    }
    // In windows of spans too, overlapping collections of several processes are added up.
    let windows = new.recording().span_totals(None).into_iter();
    let collecting: Vec<u64> = windows.map(|window| window.collecting.0).collect();
    assert_eq!(collecting, [new.ask(&TimeQuery(None)).collections.pause_ns]);
    let costs = new.ask(&GcCostsQuery(Some(range(2_500, 3_500))));
    let costs = costs.expect("it is read");
    assert_eq!(costs[0].mean_standstill_ns, 100);
    let work: Vec<(CapId, u64)> = costs[0]
        .caps
        .iter()
        .map(|(cap, parts)| (*cap, parts.inside_ns()))
        .collect();
    assert_eq!(work, [(CapId(0), 1_000), (CapId(1), 100)]);
}

/// Returns the numbers of a metric that has one for each collection.
fn of_collections(session: &Session, name: &str) -> Vec<u64> {
    let looked = MetricContext::new(RuleContext::new(session.recording(), None));
    let metric = insight::metrics::metric_by_name(name).expect("a metric");
    match metric.evaluate(&looked, &Labels::new()) {
        Ok(Numbers::Many(all)) => all.iter().map(|seen| seen.value as u64).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

/// Pauses, and waits before them, last as long as in the log of their own process.
#[test]
fn collections_last_as_long_as_in_their_own_log() {
    let two = session(&two_collecting_processes());
    let pauses = of_collections(&two, "gc.pause");
    assert_eq!(pauses, [4_000, 100, 100, 1_050, 100, 100, 100]);
    let (logs, new) = three();
    for name in ["gc.pause", "gc.sync"] {
        let mut found = of_collections(&new, name);
        let mut expected = Vec::new();
        for log in &logs {
            expected.extend(of_collections(&session(log), name));
        }
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{name}");
    }
}

/// Figures of a collection are those of its process, whatever the others do at the same time.
#[test]
fn collections_have_the_figures_of_their_own_log() {
    let (logs, new) = three();
    let figures = |session: &Session, first: u16| {
        let all = session.recording().numbers.collections_with_statistics();
        let own = all.iter().filter(|gc| gc.cap.0 / 2 == first / 2);
        own.map(|gc| {
            let heap = (gc.allocated_bytes, gc.live_bytes, gc.heap_size_bytes);
            (gc.pause_ns(), gc.sync_ns, heap)
        })
        .collect::<Vec<_>>()
    };
    for (first, log) in (0..).step_by(2).zip(&logs) {
        let expected = figures(&session(log), 0);
        assert!(!expected.is_empty());
        assert_eq!(figures(&new, first), expected, "capability {first}");
    }
}

#[test]
fn rules_say_nothing_of_several_processes() {
    let (_, new) = three();
    let report = new.ask(&FindingsQuery(None)).expect("it is read");
    assert!(report.findings.is_empty() && report.clear.is_empty());
    assert!(
        report
            .cannot_tell
            .iter()
            .all(|rule| rule.why.contains("several processes"))
    );
    let said = views::words::insight::nothing_found(&report);
    assert!(
        said.starts_with("No rules ran. Rules analyze one program"),
        "{said}"
    );
}

fn threads(session: &Session) -> Vec<ThreadListRow> {
    let filter = ThreadListQuery {
        limit: 10_000,
        ..ThreadListQuery::default()
    };
    session.ask(&filter).0
}

fn arranged(session: &Session, view: &TrackView) -> Vec<Track> {
    let rows = threads(session);
    tracks(session, (&rows, rows.len()), view)
}

#[test]
fn tracks_stand_below_their_process() {
    let (logs, new) = three();
    let processes = new.contents().processes;
    let names: Vec<&str> = processes.all.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["fib-forkio", "sparks", "dense"]);
    assert_eq!(
        new.overview().program.as_deref(),
        Some("fib-forkio + sparks + dense")
    );

    // Threads of each process, as in its own log.
    let mut expected = Vec::new();
    for log in &logs {
        expected.push(threads(&session(log)).len());
    }
    let view = TrackView {
        opened: ["runtime.0", "runtime.1", "runtime.2"]
            .into_iter()
            .filter_map(TrackName::new)
            .collect(),
        ..TrackView::default()
    };
    let all = arranged(&new, &view);
    for (place, count) in expected.into_iter().enumerate() {
        let of = all.iter().filter(|track| track.process == Some(place));
        let rows: Vec<&Track> = of.clone().filter(|track| track.row().is_some()).collect();
        let threads = rows.iter().filter_map(|track| track.row()?.thread());
        assert_eq!(threads.count(), count, "{}", names[place]);
        let caps: Vec<&str> = rows
            .iter()
            .filter(|track| track.name.as_str().starts_with("cap"))
            .map(|track| track.title.as_str())
            .collect();
        let number = 2 * place;
        let name = |cap| format!("{} · cap {cap}", names[place]);
        assert_eq!(caps, [name(number), name(number + 1)]);
        let heading = of.clone().next().expect("a heading");
        assert_eq!(
            (heading.kind, heading.title.as_str()),
            (Kind::Process, names[place])
        );
    }
    // Each row has a unique name.
    let mut ids: Vec<&TrackName> = all.iter().map(|track| &track.name).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all.len());
}

#[test]
fn a_process_is_folded_and_revealed() {
    let (_, new) = three();
    let name = |name: &str| TrackName::new(name).expect("a name");
    let mut view = TrackView::default();
    let layout = Layout::new(arranged(&new, &view));
    for folded in ["process1", "caps.2"] {
        view.change(TrackChange::Fold(name(folded)), &layout);
    }
    let shows = |view: &TrackView, id: &str| {
        arranged(&new, view)
            .iter()
            .any(|track| track.name.as_str() == id)
    };
    assert!(shows(&view, "process1") && !shows(&view, "caps.1") && !shows(&view, "cap4"));
    assert!(shows(&view, "cap0"));
    let rows = threads(&new);
    let caps: Vec<_> = new
        .overview()
        .caps
        .iter()
        .map(|life| (life.cap, String::new()))
        .collect();
    let contents = new.contents();
    let known = session::tracks::TrackListInput {
        caps: &caps,
        contents: &contents,
        threads: &rows,
        pinned_threads: &[],
        threads_in_all: rows.len() as u64,
    };
    let all = all_tracks(&known, &view);
    for wanted in ["cap2", "cap4"] {
        let track = all
            .iter()
            .find(|track| track.name.as_str() == wanted)
            .expect("it is there");
        view.reveal(track);
        assert!(shows(&view, wanted), "{wanted}");
    }
    // A pinned thread shows its process.
    view.change(TrackChange::Pin(TrackName::thread(rows[0].id)), &layout);
    let pinned = arranged(&new, &view);
    assert!(pinned[0].title.contains(" · "), "{}", pinned[0].name);
    assert_eq!(contents.processes.process_of_thread(ThreadId(0)), None);
}

#[test]
fn what_a_log_says_of_each_process_is_told() {
    let (logs, new) = three();
    let process = new.ask(&ProcessQuery);
    assert_eq!(process.processes.len(), 3);
    let mut variables = 0;
    for (log, of) in logs.iter().zip(&process.processes) {
        let alone = session(log).ask(&ProcessQuery);
        let now = &of.process;
        assert_eq!(now.command_line(), alone.command_line());
        assert_eq!((now.pid, now.parent_pid), (alone.pid, alone.parent_pid));
        assert_eq!(
            (&now.rts, &now.ghc, &now.ways),
            (&alone.rts, &alone.ghc, &alone.ways)
        );
        assert_eq!(now.heap, alone.heap);
        variables += alone.environment_count;
    }
    let environment = new.ask(&EnvironmentQuery);
    assert_eq!(environment.len() as u64, variables);
    assert!(new.overview().facts().contains("3 processes"));
}

#[test]
fn processes_of_one_program_have_names_of_their_own() {
    let log = |start: u64| {
        let mut log = LogBuilder::with_types(TYPES);
        log.block(Some(0), (start, start + 10), |b| {
            b.run(start, 1).run(start + 10, 2)
        });
        log.end().bytes.clone()
    };
    let (first, second) = (log(100), log(200));
    let (new, ..) = merge_logs(&[&first, &second], &Align::Start, &[]).expect("a plan");
    let new = session(&new);
    let names: Vec<String> = new
        .contents()
        .processes
        .all
        .into_iter()
        .map(|own| own.name)
        .collect();
    assert_eq!(names, ["log-0", "log-1"]);
    let twice = fixture(NAMES[0]).bytes();
    let (new, ..) = merge_logs(&[&twice, &second, &second], &Align::Start, &[]).expect("a plan");
    let names = session(&new).contents().processes.all;
    let names: Vec<&str> = names.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["fib-forkio", "log-1", "log-2"]);
    // With one process, process names are omitted.
    assert_eq!(session(&twice).contents().processes.names(), None);
}

#[test]
fn the_command_line_tells_all_processes() {
    let folder = TempDir::new().expect("a folder");
    let new = folder.path().join("new.eventlog");
    let new = new.to_str().expect("UTF-8");
    let cases = NAMES.map(fixture);
    let [a, b, c] = [0, 1, 2].map(|at| cases[at].path());
    stdout(&["merge", a, b, c, "-o", new, "--by", "start"]);
    let info = stdout(&["info", new]);
    let processes = info
        .lines()
        .filter_map(|line| line.strip_prefix("process\t"));
    assert_eq!(
        processes.collect::<Vec<_>>(),
        ["fib-forkio", "sparks", "dense"]
    );
    assert!(info.contains("of capabilities\t2 3"), "{info}");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["info", new, "--json"])).expect("JSON");
    assert_eq!(
        json["processes"][2]["capabilities"],
        serde_json::json!([4, 5])
    );
    // Each process is described as in its own log, but for the clock, which is that of the first one.
    for (at, own) in [a, b, c].into_iter().enumerate() {
        let own: serde_json::Value =
            serde_json::from_str(&stdout(&["info", own, "--json"])).expect("JSON");
        let process = json["processes"][at].as_object().expect("an object");
        let shared = process
            .iter()
            .filter(|(field, _)| !["name", "capabilities", "started"].contains(&field.as_str()));
        for (field, value) in shared {
            assert_eq!(value, &own[field], "{field} of process {at}");
        }
    }
    let summary = stdout(&["summary", new]);
    assert!(
        summary.contains("This log contains 3 processes"),
        "{summary}"
    );
    // Every number has its unit.
    assert!(summary.contains(" long, 2 capabilities; "), "{summary}");
    assert!(
        summary.contains(" collections in ") || summary.contains(" collection in "),
        "{summary}"
    );
    let output = eventscope(&["report", new, "-o", &format!("{new}.html")]);
    assert!(output.status.success());
    let report = fs::read_to_string(format!("{new}.html")).expect("a report");
    assert!(report.contains("The processes of this log"));
}
