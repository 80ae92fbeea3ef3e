//! Sources of flame graphs, on every log: against the runtime's heap report, the table of threads and the rules of
//! `ghc-events-analyze`. The parts of any division of the time must add up to the whole.

use crate::common;

use std::collections::BTreeMap;
use std::path::Path;

use analysis::flamegraph::sources;
use analysis::timeline::thread_table::{ThreadTable, ThreadTableQuery};
use common::{Case, ExpectedCoverage, Tally, cases, expected_coverage, for_all, session_of};
use eventlog::ids::{Duration, Nanos, ThreadId};
use eventlog::source::read_log;
use eventlog::{Event, Record};
use model::class::WaitReason;
use model::profile::TrackSource;
use model::profile::frames::{Frame, FrameKind};
use model::profile::source::Source;
use model::profile::stack_source::{FlameSelection, StackSource};
use model::profile::weights::Weight;
use model::time::Interval;
use session::Session;
use session::flame::query::{FlameOccurrenceQuery, Occurrence, View};
use session::queries::LabelsQuery;
use views::words::diagnostics::line;

fn announce() -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("tests/fixtures/flamegraph/announce-N2-l.eventlog");
    std::fs::read(path).expect("the log can be read")
}

/// Weight (amount, count) of every stack, outermost frame first.
type Folded = BTreeMap<Vec<String>, (u64, u64)>;

fn names(weighed: &model::profile::stack_source::WeightedStacks<'_>) -> Folded {
    let mut folded = Folded::new();
    for (stack, weight) in weighed.stacks.ids().zip(&weighed.own) {
        if *weight == Weight::default() {
            continue;
        }
        let frames = weighed.stacks.outermost_first(stack).into_iter();
        let names = frames.filter_map(|id| weighed.frames.get(id).map(Frame::name));
        let sum = folded.entry(names.collect()).or_default();
        sum.0 += weight.amount;
        sum.1 += weight.count;
    }
    folded
}

fn folded(
    origin: &dyn StackSource,
    source: Source,
    range: Option<Interval>,
    only: &[TrackSource],
) -> Folded {
    let choice = FlameSelection {
        source,
        tracks: only.to_vec(),
        range,
        before: None,
        moments: None,
        other: None,
    };
    names(&origin.weighted_stacks(&choice))
}

fn add(into: &mut Folded, other: Folded) {
    for (stack, (amount, count)) in other {
        let sum = into.entry(stack).or_default();
        sum.0 += amount;
        sum.1 += count;
    }
}

/// Divides the log into `parts` intervals of about equal length.
fn division(session: &Session, parts: u64) -> Vec<Interval> {
    let end = session.overview().span.map_or(0, |span| span.end().0);
    let cut = |part: u64| Nanos((u128::from(end) * u128::from(part) / u128::from(parts)) as u64);
    (0..parts)
        .map(|part| Interval::new(cut(part), cut(part + 1)))
        .collect()
}

fn for_all_sessions(
    known: ExpectedCoverage,
    check: impl Fn(&Case, &Session) -> Result<usize, String>,
) {
    for_all(known, |case| match session_of(&case.bytes()) {
        Ok(session) => check(case, &session),
        Err(_) => Ok(0),
    });
}

#[test]
fn parts_have_together_what_the_whole_has() {
    for_all_sessions(expected_coverage([32, 2000], [112, 6000]), |_, session| {
        let mut stacks = 0;
        for source in sources::all() {
            let Some(origin) = session.stack_source(source) else {
                continue;
            };
            let whole = folded(origin, source, None, &[]);
            stacks += whole.len();
            for parts in [1, 2, 7] {
                let mut sum = Folded::new();
                for range in division(session, parts) {
                    add(&mut sum, folded(origin, source, Some(range), &[]));
                }
                if sum != whole {
                    return Err(format!("{source:?} in {parts}: {sum:?} {whole:?}"));
                }
            }
        }
        Ok(stacks)
    });
}

fn table(session: &Session, range: Option<Interval>) -> ThreadTable {
    let query = ThreadTableQuery {
        range,
        rows: 0..u64::MAX,
        ..ThreadTableQuery::default()
    };
    session.ask(&query).expect("the log is read")
}

/// Returns the waits of the table of threads as stacks; waits for a capability have no reason there.
fn stacks_from_table(table: &ThreadTable) -> BTreeMap<Vec<String>, u64> {
    let mut told = BTreeMap::new();
    for row in &table.rows {
        let thread = row.label.clone();
        let thread = thread.unwrap_or_else(|| format!("thread {}", row.id));
        let times = &row.sums.times;
        let mut add = |stack: &[&str], ns: u64| {
            let stack = std::iter::once(thread.as_str()).chain(stack.iter().copied());
            let stack: Vec<String> = stack.map(str::to_owned).collect();
            if ns > 0 {
                *told.entry(stack).or_default() += ns;
            }
        };
        add(&["queued"], times.ready_ns());
        add(&["ready", "in a collection"], times.runnable_during_gc_ns);
        for (reason, ns) in WaitReason::ALL.into_iter().zip(times.blocked_ns) {
            add(&["blocked", reason.name()], ns);
        }
    }
    told
}

fn told_by_graph(folded: Folded) -> BTreeMap<Vec<String>, u64> {
    let mut told = BTreeMap::new();
    for (mut stack, (ns, _)) in folded {
        if stack[1] == "queued" {
            stack.truncate(2);
        }
        *told.entry(stack).or_default() += ns;
    }
    told.retain(|_, ns| *ns > 0);
    told
}

#[test]
fn waiting_is_what_the_table_of_threads_says() {
    for_all_sessions(
        expected_coverage([29, 3500], [106, 12_000]),
        |_, session| {
            let Some(origin) = session.stack_source(sources::WAITING) else {
                return Ok(0);
            };
            let mut stacks = 0;
            let ranges = division(session, 3).into_iter().map(Some);
            for range in ranges.chain([None]) {
                let table = table(session, range);
                let ours = told_by_graph(folded(origin, sources::WAITING, range, &[]));
                let theirs = stacks_from_table(&table);
                if ours != theirs {
                    return Err(format!("{range:?}: {ours:?} {theirs:?}"));
                }
                stacks += ours.len();
                // A single thread, whose waits must equal its row.
                if let Some(row) = table
                    .rows
                    .iter()
                    .max_by_key(|row| row.sums.times.all_blocked_ns())
                {
                    let only = [TrackSource::Thread(row.id)];
                    let ours = folded(origin, sources::WAITING, range, &only);
                    let waits = row.sums.times.all_blocked_ns()
                        + row.sums.times.ready_ns()
                        + row.sums.times.runnable_during_gc_ns;
                    let sum: u64 = ours.values().map(|(ns, _)| ns).sum();
                    if sum != waits {
                        return Err(format!("{range:?}, thread {}: {sum} {waits}", row.id));
                    }
                }
            }
            Ok(stacks)
        },
    );
}

/// In the order of time, waits are samples; merged, they must have the same times.
#[test]
fn waiting_in_time_has_the_same_times() {
    for_all_sessions(expected_coverage([29, 2000], [106, 6000]), |_, session| {
        let Some(origin) = session.stack_source(sources::WAITING) else {
            return Ok(0);
        };
        let threads: Vec<TrackSource> = table(session, None)
            .rows
            .iter()
            .take(40)
            .map(|row| TrackSource::Thread(row.id))
            .collect();
        let mut stacks = 0;
        for range in division(session, 3).into_iter().map(Some).chain([None]) {
            let choice = FlameSelection {
                source: sources::WAITING,
                tracks: threads.clone(),
                range,
                before: None,
                moments: None,
                other: None,
            };
            let (profile, tracks) = origin.tracks_in_time_order(&choice);
            let own = profile.weigh(&tracks, profile.span);
            let mut in_time = BTreeMap::new();
            for (stack, weight) in profile.stacks.ids().zip(own) {
                let frames = profile.stacks.outermost_first(stack).into_iter();
                let names = frames.filter_map(|id| profile.frames.get(id).map(Frame::name));
                let names: Vec<String> = names.collect();
                if weight.amount > 0 && names.last().is_some_and(|name| name != "running") {
                    *in_time.entry(names).or_default() += weight.amount;
                }
            }
            let weighed: BTreeMap<Vec<String>, u64> = names(&origin.weighted_stacks(&choice))
                .into_iter()
                .map(|(stack, (ns, _))| (stack, ns))
                // A wait that ends in a collection may have queued before the range.
                .filter(|(_, ns)| *ns > 0)
                .collect();
            stacks += weighed.len();
            if in_time != weighed {
                return Err(format!("{range:?}: {in_time:?} {weighed:?}"));
            }
        }
        Ok(stacks)
    });
}

/// A box of the left-heavy view leads to the longest wait of its thread and reason, although stacks in the order
/// of time are numbered differently.
#[test]
fn a_box_of_waiting_leads_to_its_longest_wait() {
    for_all_sessions(expected_coverage([29, 400], [106, 1000]), |_, session| {
        let Some(origin) = session.stack_source(sources::WAITING) else {
            return Ok(0);
        };
        let choice = FlameSelection {
            source: sources::WAITING,
            ..FlameSelection::default()
        };
        let weighed = origin.weighted_stacks(&choice);
        let mut led = 0;
        for (stack, weight) in weighed.stacks.ids().zip(&weighed.own).take(60) {
            let query = FlameOccurrenceQuery {
                choice: choice.clone(),
                view: View::LeftHeavy,
                stack: stack.0,
                which: Occurrence::Longest,
                ..FlameOccurrenceQuery::default()
            };
            // Not every thread has a track.
            let Some(place) = session.ask(&query).filter(|_| weight.amount > 0) else {
                continue;
            };
            let ids = weighed.stacks.outermost_first(stack).into_iter();
            let names = ids.filter_map(|id| weighed.frames.get(id).map(Frame::name));
            let names: Vec<String> = names.collect();
            let Some(TrackSource::Thread(thread)) = place.track else {
                return Err(format!("{names:?}: {place:?}"));
            };
            let label = session.ask(&LabelsQuery(vec![thread])).pop();
            let called = label.map_or_else(|| format!("thread {thread}"), |(_, label)| label);
            let length = place.span.duration().0;
            if names.first() != Some(&called) || !(1..=weight.amount).contains(&length) {
                return Err(format!("{names:?} {weight:?}: {called} {place:?}"));
            }
            led += 1;
        }
        Ok(led)
    });
}

/// Parses the samples of a heap report: stacks, innermost frame first and possibly truncated, with their bytes.
fn report_samples(report: &str) -> Vec<Vec<(String, u64)>> {
    let mut samples = Vec::new();
    for line in report.lines() {
        if line.starts_with("BEGIN_SAMPLE") {
            samples.push(Vec::new());
        } else if let (Some((stack, bytes)), Some(last)) =
            (line.split_once('\t'), samples.last_mut())
        {
            let number = stack
                .starts_with('(')
                .then(|| stack.split_once(')'))
                .flatten();
            let stack = number.map_or(stack, |(_, rest)| rest);
            last.push((stack.to_owned(), bytes.parse().expect("bytes")));
        }
    }
    samples.retain(|sample: &Vec<(String, u64)>| !sample.is_empty());
    samples
}

/// Formats a stack as the report does (`fprint_ccs` in `rts/ProfHeap.c`): innermost first, without `MAIN`; a cost
/// centre `CAF` has its module.
fn as_reported(frames: &[Frame]) -> String {
    let name = |frame: &Frame| match (frame.label.as_str(), frame.kind) {
        ("CAF", _) => frame.name(),
        (label, _) => label.to_owned(),
    };
    let names: Vec<String> = frames.iter().map(name).collect();
    names.join("/")
}

/// Compares each sample of the report with our stacks and bytes. The report truncates labels to 25 characters
/// (`-L`), so that each is a prefix of ours. Samples without live data are skipped: the report begins with one
/// that the log lacks.
fn check_heap(session: &Session, report: &str) -> Result<usize, String> {
    let origin = session
        .stack_source(sources::HEAP)
        .ok_or("no heap profile")?;
    let (profile, tracks) = origin.tracks_in_time_order(&FlameSelection::default());
    assert_eq!(tracks, [0]);
    let heap = profile.heap.as_ref().ok_or("no censuses")?;
    let ours = heap.box_bytes(&heap.all_ranges(), &[]).into_iter();
    let ours: Vec<Vec<(String, u64)>> = ours
        .map(|census| {
            let mut own = vec![Weight::default(); profile.stacks.len()];
            heap.weigh(&heap.ranges_at(census.time), &mut own);
            let held = profile.stacks.ids().zip(own);
            let stack = |(stack, weight): (_, Weight)| {
                let frames = profile.stacks.innermost_first(stack);
                let frames: Vec<Frame> = frames
                    .filter_map(|id| profile.frames.get(id).cloned())
                    .collect();
                (as_reported(&frames), weight.amount)
            };
            held.filter(|(_, weight)| weight.count > 0)
                .map(stack)
                .collect()
        })
        .filter(|sample: &Vec<_>| !sample.is_empty())
        .collect();
    let theirs = report_samples(report);
    if ours.len() != theirs.len() {
        return Err(format!("{} samples, report {}", ours.len(), theirs.len()));
    }
    for (at, (mut ours, theirs)) in ours.into_iter().zip(theirs).enumerate() {
        let sum = |sample: &[(String, u64)]| sample.iter().map(|(_, bytes)| bytes).sum::<u64>();
        if sum(&ours) != sum(&theirs) {
            return Err(format!("sample {at}: {} {}", sum(&ours), sum(&theirs)));
        }
        for (stack, bytes) in theirs {
            let is_it = |(our, our_bytes): &(String, u64)| {
                let same = match stack.strip_suffix("...") {
                    Some(begin) => our.starts_with(begin),
                    None => *our == stack,
                };
                same && *our_bytes == bytes
            };
            let found = ours.iter().position(is_it);
            let found = found.ok_or_else(|| format!("sample {at}: {stack} {bytes} {ours:?}"))?;
            ours.swap_remove(found);
        }
    }
    Ok(heap.len())
}

#[test]
fn heap_samples_are_those_of_the_report() {
    let mut tally = Tally::default();
    for case in cases() {
        let Ok(report) = std::fs::read_to_string(case.log.with_extension("hp")) else {
            continue;
        };
        let session = session_of(&case.bytes()).expect("a log");
        // Heap profiles by closure or module have no stacks.
        if session.stack_source(sources::HEAP).is_some() {
            match check_heap(&session, &report) {
                Ok(samples) => tally.add(&case, samples),
                Err(why) => panic!("{}: {why}", case.name),
            }
        }
    }
    tally.finish(expected_coverage([1, 67], [4, 192]));
}

/// Reimplements `ghc-events-analyze` step by step: user events are suspended while any capability collects.
fn analyzed(bytes: &[u8]) -> BTreeMap<String, (u64, u64)> {
    #[derive(Default)]
    struct OpenEvent {
        starts: u64,
        since: Option<u64>,
    }
    let mut open_events: BTreeMap<(String, String), OpenEvent> = BTreeMap::new();
    let mut totals: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut collecting = 0_u64;
    let mut last = 0;
    let mut sink = |record: &Record<'_>| {
        let at = record.time.0;
        last = last.max(at);
        match record.event() {
            Event::StartGC {} => {
                collecting += 1;
                for ((_, name), open_event) in &mut open_events {
                    if let Some(since) = open_event.since.take() {
                        totals.entry(name.clone()).or_default().0 += at - since;
                    }
                }
            }
            Event::EndGC {} => {
                collecting -= 1;
                for open_event in open_events
                    .values_mut()
                    .filter(|open_event| open_event.starts > 0 && collecting == 0)
                {
                    open_event.since = Some(at);
                }
            }
            Event::UserMessage { msg } => {
                let text = msg.to_str().into_owned();
                let words: Vec<&str> = text.split(' ').collect();
                let (number, name) = match words[..] {
                    [_, name] => (String::new(), name.to_owned()),
                    [_, number, name] if number.parse::<f64>().is_ok() => {
                        (number.to_owned(), name.to_owned())
                    }
                    _ => (String::new(), words[1..].join(" ")),
                };
                let key = (number, name.clone());
                match words[0] {
                    "START" => {
                        let open_event = open_events.entry(key).or_default();
                        open_event.starts += 1;
                        if open_event.starts == 1 {
                            open_event.since = (collecting == 0).then_some(at);
                            totals.entry(name).or_default().1 += 1;
                        }
                    }
                    "STOP" | "END" => {
                        let Some(open_event) = open_events
                            .get_mut(&key)
                            .filter(|open_event| open_event.starts > 0)
                        else {
                            return;
                        };
                        open_event.starts -= 1;
                        if let Some(since) = open_event.since.take_if(|_| open_event.starts == 0) {
                            totals.entry(name).or_default().0 += at - since;
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    };
    read_log(&mut &bytes[..], &mut sink).expect("an eventlog");
    for ((_, name), open_event) in open_events {
        if let Some(since) = open_event.since {
            totals.entry(name).or_default().0 += last - since;
        }
    }
    totals
}

#[test]
fn span_totals_follow_the_rules() {
    let bytes = announce();
    let session = session_of(&bytes).expect("a log");
    let windows = session.span_totals(None);
    assert!(windows[0].collecting > Duration::ZERO);
    let ours: BTreeMap<String, (u64, u64)> = windows[0]
        .rows
        .iter()
        // Spans of other event types, which `ghc-events-analyze` does not read.
        .filter(|row| !["query", "handed over"].contains(&row.name.as_str()))
        .map(|row| (row.name.clone(), (row.time.0, row.count)))
        .collect();
    let theirs = analyzed(&bytes);
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        theirs.keys().collect::<Vec<_>>()
    );
    for (name, (time, count)) in ours {
        let (their_time, their_count) = theirs[&name];
        // The runtime dates the end of a collection back.
        assert!(
            time.abs_diff(their_time) <= 50_000,
            "{name}: {time} {their_time}"
        );
        assert_eq!(count, their_count, "{name}");
    }
    let windows = session.span_totals(Some("window"));
    assert_eq!(windows.len(), 2);
}

/// Renders the stacks and weights of a source, one per line.
fn shown(session: &Session, source: Source) -> String {
    let origin = session.stack_source(source).expect("the log has some");
    let mut lines = String::new();
    for (stack, (amount, count)) in folded(origin, source, None, &[]) {
        lines.push_str(&format!("{} {amount} {count}\n", stack.join(";")));
    }
    let (profile, tracks) = origin.tracks_in_time_order(&FlameSelection {
        source,
        ..FlameSelection::default()
    });
    for track in tracks
        .into_iter()
        .filter_map(|track| profile.tracks.get(track))
    {
        let samples = &track.samples;
        let (len, end) = (samples.len(), samples.end());
        let start = samples.span().map_or(Nanos(0), |span| span.start());
        lines.push_str(&format!(
            "{}: {len} from {} to {}\n",
            track.source.name(),
            start.0,
            end.0
        ));
    }
    lines
}

#[test]
fn what_a_program_announced() {
    let session = session_of(&announce()).expect("a log");
    insta::assert_snapshot!("stack_samples", shown(&session, sources::STACK_SAMPLES));
    insta::assert_snapshot!("spans", shown(&session, sources::SPANS));
    insta::assert_snapshot!("waiting", shown(&session, sources::WAITING));
    let told = session.overview().warnings;
    let told: Vec<String> = told.iter().map(line).collect();
    insta::assert_snapshot!("stack_anomalies", told.join("\n"));
    let infos = session.flame_sources();
    let sources: Vec<Source> = infos.iter().map(|info| info.source).collect();
    assert!(sources.ends_with(&[sources::STACK_SAMPLES, sources::SPANS, sources::WAITING]));
    let label = |source, track| {
        let info = infos.iter().find(|info| info.source == source)?;
        let track = info.tracks.iter().find(|info| info.source == track)?;
        track.label.clone()
    };
    let spans = session.stack_source(sources::SPANS).expect("spans");
    let (profile, _) = spans.tracks_in_time_order(&FlameSelection::default());
    let first = profile
        .tracks
        .iter()
        .filter(|track| label(sources::SPANS, track.source).as_deref() == Some("spans"));
    assert!(first.count() > 0);
    let is_gc = |frame: &Frame| frame.kind == FrameKind::BuiltIn && frame.label == "GC";
    assert!(profile.frames.iter().any(|(_, frame)| is_gc(frame)));
    assert_eq!(
        label(sources::WAITING, TrackSource::Thread(ThreadId(u32::MAX))),
        None
    );
}

#[test]
fn heap_of_one_log() {
    let name = "tests/fixtures/logs/ghc-9.10.3/prof-heap-N1-hc-l-au.eventlog";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let bytes = std::fs::read(path).expect("the log can be read");
    let session = session_of(&bytes).expect("a log");
    insta::assert_snapshot!("heap", shown(&session, sources::HEAP));
}

/// Other prefixes yield other spans; prefixes that match no message yield none.
#[test]
fn spans_follow_the_words() {
    use analysis::timeline::user_spans::SpanPrefixes;
    let mut session = session_of(&announce()).expect("a log");
    let count = |session: &Session| {
        let origin = session.stack_source(sources::SPANS).expect("spans");
        folded(origin, sources::SPANS, None, &[]).len()
    };
    let before = count(&session);
    session.set_span_prefixes(SpanPrefixes::of_lists("no such word", "nor this"));
    let telemetry = count(&session);
    assert!(telemetry > 0 && telemetry < before);
    session.set_span_prefixes(SpanPrefixes::default());
    assert_eq!(count(&session), before);
}

/// The command line accepts the prefixes too.
#[test]
fn the_command_line_follows_the_words() {
    let mut build = common::build::LogBuilder::new();
    for (time, text) in [
        (1_000, "BEGIN load"),
        (2_000, "START other"),
        (5_000, "FINISH load"),
        (6_000, "STOP other"),
    ] {
        build.event(19, time, text.as_bytes());
    }
    build.end();
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("words.eventlog");
    std::fs::write(&log, &build.bytes).expect("a log");
    let log = log.to_str().expect("UTF-8");
    let folded = |more: &[&str]| {
        let asked = ["flamegraph", log, "--source", "spans", "--format", "folded"];
        common::stdout(&[&asked[..], more].concat())
    };
    assert_eq!(folded(&[]), "other 4000\n");
    let words = ["--span-start", "BEGIN,>", "--span-stop", "FINISH"];
    assert_eq!(folded(&words), "load 4000\n");
    // They select the source, if another one comes first too.
    let plain = ["flamegraph", log, "--format", "folded"];
    let plain = common::stdout(&[&plain[..], &words].concat());
    assert_eq!(plain, "load 4000\n");
    let without_spans = common::fixture("ghc-9.6.6/prof-time-N1-p-l-au");
    let run = |more: &[&str]| {
        let asked = ["flamegraph", without_spans.path(), "--span-stop", "FINISH"];
        let output = common::eventscope(&[&asked[..], more].concat());
        let errors = String::from_utf8(output.stderr).expect("UTF-8");
        (output.status.code(), errors)
    };
    let (status, errors) = run(&[]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("this log has no spans"), "{errors}");
    let (status, errors) = run(&["--source", "cost-centres"]);
    assert_eq!(status, Some(2));
    assert!(
        errors.contains("--span-stop requires --source spans"),
        "{errors}"
    );
}
