//! What flame graphs are made from, on every log: against the runtime's heap
//! report, the table of threads and the rules of `ghc-events-analyze`, and
//! that the parts of a division of the time have together what the whole has.

use crate::common;

use std::collections::BTreeMap;
use std::path::Path;

use analysis::flamegraph::sources;
use analysis::timeline::thread_table::{ThreadTable, ThreadTableQuery};
use common::{Case, Known, Tally, cases, for_all, known, session_of};
use eventlog::ids::{Duration, Nanos, ThreadId};
use eventlog::source::read_log;
use eventlog::{Event, Record};
use model::class::WaitReason;
use model::profile::TrackSource;
use model::profile::frames::{Frame, FrameKind};
use model::profile::origin::{Choice, Origin};
use model::profile::source::Source;
use model::profile::weights::Weight;
use model::time::Interval;
use session::Session;
use session::flame::query::{FlamePlaceQuery, Occurrence, View};
use session::questions::LabelsQuery;
use views::words::diagnostics::line;

fn announce() -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("tests/fixtures/flamegraph/announce-N2-l.eventlog");
    std::fs::read(path).expect("the log can be read")
}

/// The weight of every stack, outermost frame first.
type Folded = BTreeMap<Vec<String>, (u64, u64)>;

fn names(weighed: &model::profile::origin::Weighed<'_>) -> Folded {
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
    origin: &dyn Origin,
    source: Source,
    range: Option<Interval>,
    only: &[TrackSource],
) -> Folded {
    let choice = Choice {
        source,
        tracks: only.to_vec(),
        range,
        before: None,
        moments: None,
        other: None,
    };
    names(&origin.weighed(&choice))
}

fn add(into: &mut Folded, other: Folded) {
    for (stack, (amount, count)) in other {
        let sum = into.entry(stack).or_default();
        sum.0 += amount;
        sum.1 += count;
    }
}

/// The ends of `parts` parts of about the same length.
fn division(session: &Session, parts: u64) -> Vec<Interval> {
    let end = session.overview().span.map_or(0, |span| span.end().0);
    let cut = |part: u64| Nanos((u128::from(end) * u128::from(part) / u128::from(parts)) as u64);
    (0..parts)
        .map(|part| Interval::new(cut(part), cut(part + 1)))
        .collect()
}

fn for_all_sessions(known: Known, check: impl Fn(&Case, &Session) -> Result<usize, String>) {
    for_all(known, |case| match session_of(&case.bytes()) {
        Ok(session) => check(case, &session),
        Err(_) => Ok(0),
    });
}

#[test]
fn parts_have_together_what_the_whole_has() {
    for_all_sessions(known([32, 2000], [112, 6000]), |_, session| {
        let mut stacks = 0;
        for source in sources::all() {
            let Some(origin) = session.origin(source) else {
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

/// What the table of threads says of waiting, as stacks without the reason of
/// a wait for a capability.
fn told_by_table(table: &ThreadTable) -> BTreeMap<Vec<String>, u64> {
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
        add(&["ready", "in a collection"], times.ready_paused_ns);
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
    for_all_sessions(known([29, 3500], [106, 12_000]), |_, session| {
        let Some(origin) = session.origin(sources::WAITING) else {
            return Ok(0);
        };
        let mut stacks = 0;
        let ranges = division(session, 3).into_iter().map(Some);
        for range in ranges.chain([None]) {
            let table = table(session, range);
            let ours = told_by_graph(folded(origin, sources::WAITING, range, &[]));
            let theirs = told_by_table(&table);
            if ours != theirs {
                return Err(format!("{range:?}: {ours:?} {theirs:?}"));
            }
            stacks += ours.len();
            // One thread alone: no other number has its waits.
            if let Some(row) = table
                .rows
                .iter()
                .max_by_key(|row| row.sums.times.all_blocked_ns())
            {
                let only = [TrackSource::Thread(row.id)];
                let ours = folded(origin, sources::WAITING, range, &only);
                let waits = row.sums.times.all_blocked_ns()
                    + row.sums.times.ready_ns()
                    + row.sums.times.ready_paused_ns;
                let sum: u64 = ours.values().map(|(ns, _)| ns).sum();
                if sum != waits {
                    return Err(format!("{range:?}, thread {}: {sum} {waits}", row.id));
                }
            }
        }
        Ok(stacks)
    });
}

/// In the order of time there are samples without end; merged ones have the
/// same times.
#[test]
fn waiting_in_time_has_the_same_times() {
    for_all_sessions(known([29, 2000], [106, 6000]), |_, session| {
        let Some(origin) = session.origin(sources::WAITING) else {
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
            let choice = Choice {
                source: sources::WAITING,
                tracks: threads.clone(),
                range,
                before: None,
                moments: None,
                other: None,
            };
            let (profile, tracks) = origin.in_time(&choice);
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
            let weighed: BTreeMap<Vec<String>, u64> = names(&origin.weighed(&choice))
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

/// A box of waiting, by weight, leads to the longest wait of its thread and reason, although
/// stacks in the order of time have other numbers.
#[test]
fn a_box_of_waiting_leads_to_its_longest_wait() {
    for_all_sessions(known([29, 400], [106, 1000]), |_, session| {
        let Some(origin) = session.origin(sources::WAITING) else {
            return Ok(0);
        };
        let choice = Choice {
            source: sources::WAITING,
            ..Choice::default()
        };
        let weighed = origin.weighed(&choice);
        let mut led = 0;
        for (stack, weight) in weighed.stacks.ids().zip(&weighed.own).take(60) {
            let query = FlamePlaceQuery {
                choice: choice.clone(),
                view: View::LeftHeavy,
                stack: stack.0,
                which: Occurrence::Longest,
                ..FlamePlaceQuery::default()
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

/// A line of a heap report: the stack, innermost first, perhaps cut off, and
/// its bytes.
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

/// A stack as the report writes it (`fprint_ccs` in `rts/ProfHeap.c`):
/// innermost first, without `MAIN`; of a cost centre `CAF` with its module.
fn as_reported(frames: &[Frame]) -> String {
    let name = |frame: &Frame| match (frame.label.as_str(), frame.kind) {
        ("CAF", _) => frame.name(),
        (label, _) => label.to_owned(),
    };
    let names: Vec<String> = frames.iter().map(name).collect();
    names.join("/")
}

/// Each sample of the report has exactly our stacks, each with exactly our
/// bytes. Its labels are cut off after 25 letters (`-L`): what is left of them
/// is the beginning of ours. Samples without anything alive are left out: the
/// report begins with one that the log has not.
fn check_heap(session: &Session, report: &str) -> Result<usize, String> {
    let origin = session.origin(sources::HEAP).ok_or("no heap profile")?;
    let (profile, tracks) = origin.in_time(&Choice::default());
    assert_eq!(tracks, [0]);
    let heap = profile.heap.as_ref().ok_or("no censuses")?;
    let ours = heap.over_time(&heap.all(), &[]).into_iter();
    let ours: Vec<Vec<(String, u64)>> = ours
        .map(|census| {
            let mut own = vec![Weight::default(); profile.stacks.len()];
            heap.weigh(&heap.at(census.time), &mut own);
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
        // Reports by closure or module have no stacks.
        if session.origin(sources::HEAP).is_some() {
            match check_heap(&session, &report) {
                Ok(samples) => tally.add(&case, samples),
                Err(why) => panic!("{}: {why}", case.name),
            }
        }
    }
    tally.finish(known([1, 67], [4, 192]));
}

/// `ghc-events-analyze` step by step: user events are closed while any
/// capability collects.
fn analysed(bytes: &[u8]) -> BTreeMap<String, (u64, u64)> {
    #[derive(Default)]
    struct Going {
        starts: u64,
        since: Option<u64>,
    }
    let mut going: BTreeMap<(String, String), Going> = BTreeMap::new();
    let mut totals: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut collecting = 0_u64;
    let mut last = 0;
    let mut sink = |record: &Record<'_>| {
        let at = record.time.0;
        last = last.max(at);
        match record.event() {
            Event::StartGC {} => {
                collecting += 1;
                for ((_, name), going) in &mut going {
                    if let Some(since) = going.since.take() {
                        totals.entry(name.clone()).or_default().0 += at - since;
                    }
                }
            }
            Event::EndGC {} => {
                collecting -= 1;
                for going in going
                    .values_mut()
                    .filter(|going| going.starts > 0 && collecting == 0)
                {
                    going.since = Some(at);
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
                        let going = going.entry(key).or_default();
                        going.starts += 1;
                        if going.starts == 1 {
                            going.since = (collecting == 0).then_some(at);
                            totals.entry(name).or_default().1 += 1;
                        }
                    }
                    "STOP" | "END" => {
                        let Some(going) = going.get_mut(&key).filter(|going| going.starts > 0)
                        else {
                            return;
                        };
                        going.starts -= 1;
                        if let Some(since) = going.since.take_if(|_| going.starts == 0) {
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
    for ((_, name), going) in going {
        if let Some(since) = going.since {
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
        // These are not of messages in words.
        .filter(|row| !["query", "handed over"].contains(&row.name.as_str()))
        .map(|row| (row.name.clone(), (row.time.0, row.count)))
        .collect();
    let theirs = analysed(&bytes);
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        theirs.keys().collect::<Vec<_>>()
    );
    for (name, (time, count)) in ours {
        let (their_time, their_count) = theirs[&name];
        // The runtime back-dates the end of a collection.
        assert!(
            time.abs_diff(their_time) <= 50_000,
            "{name}: {time} {their_time}"
        );
        assert_eq!(count, their_count, "{name}");
    }
    let windows = session.span_totals(Some("window"));
    assert_eq!(windows.len(), 2);
}

/// Stacks and weights of a source, a line each.
fn shown(session: &Session, source: Source) -> String {
    let origin = session.origin(source).expect("the log has some");
    let mut lines = String::new();
    for (stack, (amount, count)) in folded(origin, source, None, &[]) {
        lines.push_str(&format!("{} {amount} {count}\n", stack.join(";")));
    }
    let (profile, tracks) = origin.in_time(&Choice {
        source,
        ..Choice::default()
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
    insta::assert_snapshot!("stack_oddities", told.join("\n"));
    let infos = session.flame_sources();
    let sources: Vec<Source> = infos.iter().map(|info| info.source).collect();
    assert!(sources.ends_with(&[sources::STACK_SAMPLES, sources::SPANS, sources::WAITING]));
    let label = |source, track| {
        let info = infos.iter().find(|info| info.source == source)?;
        let track = info.tracks.iter().find(|info| info.source == track)?;
        track.label.clone()
    };
    let spans = session.origin(sources::SPANS).expect("spans");
    let (profile, _) = spans.in_time(&Choice::default());
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

/// Other words make other spans, and none if nothing is said in them.
#[test]
fn spans_follow_the_words() {
    use analysis::timeline::user_spans::SpanPrefixes;
    let mut session = session_of(&announce()).expect("a log");
    let count = |session: &Session| {
        let origin = session.origin(sources::SPANS).expect("spans");
        folded(origin, sources::SPANS, None, &[]).len()
    };
    let before = count(&session);
    session.set_span_prefixes(SpanPrefixes::of_lists("no such word", "nor this"));
    let telemetry = count(&session);
    assert!(telemetry > 0 && telemetry < before);
    session.set_span_prefixes(SpanPrefixes::default());
    assert_eq!(count(&session), before);
}

/// The command line takes the words too.
#[test]
fn the_command_line_follows_the_words() {
    let mut build = common::build::Build::new();
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
}
