//! Tracks of the profile: samples by capability and foreign calls by OS thread. Their marks match the profile at
//! any zoom; snapshots cover pictures and words.

use crate::common;

use std::collections::BTreeMap;
use std::io::Read;

use analysis::flamegraph::sources;
use analysis::timeline::profile_rows::Caller;
use common::build::{EventTypeDecl, LogBuilder};
use common::picture::{self, open_bytes, whole};
use eventlog::ids::{CapId, Nanos, OsThreadId};
use model::class::CLASSES;
use model::class::Class;
use model::marks::{MarkKind, NONE};
use model::profile::TrackSource;
use model::profile::frames::Frame;
use model::time::Interval;
use proptest::prelude::*;
use session::Session;
use session::tracks::calls::ForeignCalls;
use session::tracks::details::{DetailField, DetailsQuery, Target};
use session::tracks::item::{Marks, Names};
use session::tracks::lane::SpanPayload;
use session::tracks::samples::{SamplePayload, Samples};
use session::tracks::{LogContents, TimelineQuery, TrackId};
use views::timeline::arrange::TrackView;
use views::timeline::layout::{Layout, Track};

/// Events per reading step.
const AT_ONCE: usize = 100_000;

/// Opens the sample log of the start page that has a profile and foreign calls.
fn demo() -> Session {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/www/demo/profiled-ffi.eventlog.gz"
    );
    let packed = std::fs::read(path).expect("the demo log");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_end(&mut bytes)
        .expect("gzip");
    open_bytes(&bytes, AT_ONCE)
}

/// Function names as the page provides them.
#[derive(Debug)]
struct Rows(LogContents);

impl Names for Rows {
    fn foreign_function(&self, number: u32) -> Option<&Frame> {
        self.0.foreign_functions.get(number as usize)
    }
    fn sampled_function(&self, number: u32) -> Option<&Frame> {
        self.0.sampled_functions.get(number as usize)
    }
}

fn ask(session: &Session, rows: &[TrackId], view: (u64, u64), width_px: u32) -> (Marks, u64) {
    let query = TimelineQuery {
        view: Interval::new(Nanos(view.0), Nanos(view.1)),
        width_px,
        rows: rows.to_vec(),
        ..TimelineQuery::default()
    };
    let marks = Marks {
        view: Some(query.view),
        rows: rows.to_vec(),
        reply: session.ask(&query),
    };
    (marks, query.bucket_ns())
}

fn tracks(session: &Session) -> Vec<Track> {
    let mut tracks = picture::tracks(session, (&[], 0), &TrackView::default());
    tracks.retain(|track| {
        matches!(
            track.row(),
            Some(TrackId::Samples(_) | TrackId::ForeignCalls(_))
        )
    });
    tracks
}

fn rows(session: &Session) -> Vec<TrackId> {
    tracks(session).iter().filter_map(Track::row).collect()
}

/// Paints the tracks in a range and compares with the snapshot.
fn show(snapshot: &str, session: &Session, range: (u64, u64)) {
    let layout = Layout::new(tracks(session));
    let view = picture::view(session, Some(range));
    let painted = picture::paint(session, &layout, view, &Rows(session.contents()), &[]);
    insta::assert_snapshot!(snapshot, painted);
}

#[test]
fn pictures_of_the_demo() {
    let session = demo();
    show("profile_near", &session, (1_030_000_000, 1_050_000_000));
}

fn text(facts: &[DetailField]) -> String {
    let line = |fact: &DetailField| {
        let to = match fact.target {
            None => String::new(),
            Some(Target::Item(_, row, span)) => {
                format!(" → {row:?} {} – {}", span.start().0, span.end().0)
            }
            Some(Target::Event(at, cap)) => format!(" → event of {cap:?} at {}", at.0),
            Some(Target::Flame(target)) => format!(
                " → {} {} at {}",
                sources::description(target.source).name,
                target.track.name(),
                target.at.0
            ),
        };
        format!("\n{}: {}{to}", fact.label, fact.text)
    };
    facts.iter().map(line).collect()
}

/// Returns the description and details of each item of a row.
fn describe(session: &Session, row: TrackId, view: (u64, u64), width_px: u32) -> Vec<String> {
    let (marks, _) = ask(session, &[row], view, width_px);
    let names = Rows(session.contents());
    let items = marks.items(row).map(|item| {
        let (name, words) = item.describe(&names);
        let facts = session.ask(&DetailsQuery {
            row,
            span: item.span,
            many: item.kind == MarkKind::Many,
        });
        format!("{name}: {words}{}", text(&facts)).replace('\u{a0}', " ")
    });
    items.collect()
}

#[test]
fn the_demo_in_words() {
    let session = demo();
    let (from, to) = whole(&session);
    let middle = 1_036_000_000;
    let mut all = Vec::new();
    for row in rows(&session) {
        let near = describe(&session, row, (middle, middle + 12_000_000), 1000);
        let far = describe(&session, row, (from, to), 4);
        all.extend(near.into_iter().take(1).chain(far.into_iter().take(1)));
    }
    insta::assert_snapshot!("profile_words", all.join("\n\n"));
}

const TYPES: &[EventTypeDecl] = &[
    (1, Some(4), "Run thread"),
    (2, Some(10), "Stop thread"),
    (18, Some(14), "Block marker"),
    (19, None, "User message"),
    (161, None, "Heap profile cost-centre"),
    (167, None, "Time profile cost-centre stack"),
    (168, Some(8), "Start of a time profile"),
];

/// Cost centres of synthetic logs; `IDLE` and `GC` belong to the runtime.
const CENTRES: [&str; 5] = ["IDLE", "GC", "f", "g", "h"];

fn declare(log: &mut LogBuilder) {
    for (id, name) in (1u32..).zip(CENTRES) {
        let (module, place) = match id {
            1 | 2 => (name, "<built-in>"),
            _ => ("Main", "M.hs:1:1-9"),
        };
        let text = format!("{name}\0{module}\0{place}\0");
        let payload = [&id.to_be_bytes()[..], text.as_bytes(), &[0]].concat();
        log.event(161, 0, &payload);
    }
}

/// Appends a sample whose stack is this cost centre called by `Main.f`.
fn tick(log: &mut LogBuilder, at: u64, centre: u32) {
    let stack = [centre, 3];
    let ids = stack.iter().flat_map(|id| id.to_be_bytes());
    let payload: Vec<u8> = [0; 12].into_iter().chain([2]).chain(ids).collect();
    log.event(167, at, &payload);
}

/// Builds a log with samples on capability 0: time since the previous one, cost centre.
fn sampled(ticks: &[(u64, u32)], interval: u64) -> Session {
    let mut log = LogBuilder::with_types(TYPES);
    log.block(Some(0), (0, 1 << 40), |log| {
        declare(log);
        log.event(168, 0, &interval.to_be_bytes());
        let mut at = 0;
        for (after, centre) in ticks {
            at += after;
            tick(log, at, *centre);
        }
        log
    });
    log.end();
    open_bytes(&log.bytes, AT_ONCE)
}

/// Expected span with its class and the name of its function.
#[derive(Clone, Debug, PartialEq)]
struct ExpectedSpan {
    span: Interval,
    class: Class,
    name: String,
}

/// Compares the marks of a row with `truth`. Returns the number of spans seen.
fn check(
    session: &Session,
    row: TrackId,
    truth: &[ExpectedSpan],
    view: (u64, u64),
    width_px: u32,
) -> usize {
    let (marks, bucket) = ask(session, &[row], view, width_px);
    let contents = session.contents();
    let names = match row {
        TrackId::Samples(_) => &contents.sampled_functions,
        _ => &contents.foreign_functions,
    };
    let aligned = view.0 / bucket * bucket;
    let narrow = |one: &&ExpectedSpan| one.span.duration().0 < bucket;
    let mut seen = 0;
    for (mark, span) in marks.row_marks(row) {
        let number = match row {
            TrackId::Samples(_) => mark.read::<SamplePayload>().0,
            _ => Some(mark.read::<SpanPayload>().detail).filter(|&number| number != NONE),
        };
        let name = number.map(|number| names[number as usize].name());
        if mark.kind == MarkKind::One {
            let found = truth.iter().find(|one| one.span == span).expect("a span");
            assert_eq!(
                (found.class, Some(&found.name)),
                (mark.class, name.as_ref())
            );
            seen += 1;
            continue;
        }
        // In the bucket before the view, only spans that reach into the view are counted.
        let reaches = |one: &&ExpectedSpan| span.start().0 >= aligned || one.span.end().0 > view.0;
        let here: Vec<&ExpectedSpan> = truth
            .iter()
            .filter(narrow)
            .filter(|one| span.start() <= one.span.start() && one.span.start() < span.end())
            .filter(reaches)
            .collect();
        assert_eq!(here.len(), mark.count as usize, "{row:?} {span:?}");
        seen += here.len();
        let mut times = [0u64; CLASSES];
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &here {
            times[one.class as usize] += one.span.duration().0;
            if one.class != Class::Other {
                *counts.entry(one.name.as_str()).or_default() += 1;
            }
        }
        for (share, time) in mark.shares.iter().zip(times) {
            let shown = f64::from(*share) * bucket as f64;
            assert!((shown - time as f64).abs() <= 1e-6 * bucket as f64 + 1e-6);
        }
        let voters: usize = counts.values().sum();
        let winner = counts.iter().find(|(_, count)| **count * 2 > voters);
        if let Some((winner, _)) = winner.filter(|_| matches!(row, TrackId::Samples(_))) {
            assert_eq!(name.as_deref(), Some(*winner), "{counts:?}");
        }
    }
    let shown = |one: &&ExpectedSpan| {
        let wide = one.span.duration().0 >= bucket;
        // A wide span that ends where the view begins is not in view.
        let begun = if wide {
            one.span.end().0 > view.0
        } else {
            one.span.start().0 >= aligned
        };
        begun && one.span.start().0 <= view.1
    };
    // No span in view is missing.
    let wanted: usize = truth.iter().filter(shown).count();
    assert!(seen >= wanted, "{seen} of {wanted}");
    assert!(marks.reply.len() <= 2 * (width_px as usize + 2));
    seen
}

proptest! {
    /// At any zoom, marks of samples match the ticks: their number, their time by class, and the name of the
    /// majority.
    #[test]
    fn samples_are_the_truth_at_any_zoom(
        ticks in prop::collection::vec((prop_oneof![Just(1000u64), 1u64..4000], 1u32..6), 1..300),
        from in 0u64..200_000,
        length in 1u64..500_000,
        width in 1u32..300,
    ) {
        let session = sampled(&ticks, 1000);
        let (mut at, mut covered) = (0, 0);
        let truth = ticks.iter().map(|&(after, centre)| {
            at += after;
            let start = at.saturating_sub(1000).max(covered);
            covered = at;
            let class = match centre {
                1 => Class::Other,
                2 => Class::Gc,
                _ => Class::Running,
            };
            let name = CENTRES[centre as usize - 1];
            let module = if centre < 3 { name } else { "Main" };
            ExpectedSpan {
                span: Interval::new(Nanos(start), Nanos(at)),
                class,
                name: format!("{module}.{name}"),
            }
        });
        let truth: Vec<ExpectedSpan> = truth.collect();
        let row = TrackId::from(Samples(CapId(0)));
        let listed = session.contents();
        let (_, listed) = listed.entries_of_kind::<Samples>().next().expect("samples");
        prop_assert_eq!(&listed.note, &scene::format::count(ticks.len() as u64));
        check(&session, row, &truth, (from, from + length), width);
        let all = check(&session, row, &truth, (0, 1 << 30), width);
        prop_assert_eq!(all, ticks.len());
    }

    /// At any zoom, marks of calls match the announced calls.
    #[test]
    fn calls_are_the_truth_at_any_zoom(
        calls in prop::collection::vec((1u64..3000, 1u64..2000, 0u32..4), 1..200),
        from in 0u64..200_000,
        length in 1u64..500_000,
        width in 1u32..300,
    ) {
        let mut log = LogBuilder::with_types(TYPES);
        let mut truth = Vec::new();
        log.block(Some(0), (0, 1 << 40), |log| {
            let mut at = 0;
            for (number, (after, lasts, function)) in calls.iter().enumerate() {
                at += after;
                let name = format!("c{function}");
                log.event(19, at, format!("START {number} {name}").as_bytes());
                log.event(19, at, format!("ANN_TH {number} {name} 71").as_bytes());
                let span = Interval::new(Nanos(at), Nanos(at + lasts));
                truth.push(ExpectedSpan { span, class: Class::Foreign, name: name.clone() });
                at += lasts;
                log.event(19, at, format!("STOP {number} {name}").as_bytes());
            }
            log
        });
        log.end();
        let session = open_bytes(&log.bytes, AT_ONCE);
        let row = TrackId::from(ForeignCalls(Caller::OsThread(OsThreadId(71))));
        prop_assert_eq!(rows(&session), [row]);
        check(&session, row, &truth, (from, from + length), width);
        let all = check(&session, row, &truth, (0, 1 << 30), width);
        prop_assert_eq!(all, calls.len());
    }
}

/// The tracks of real profiles show all of their samples.
#[test]
fn rows_of_real_profiles_are_whole() {
    let mut tally = common::Tally::default();
    for case in common::cases() {
        let session = open_bytes(&case.bytes(), AT_ONCE);
        let rows = rows(&session);
        let sources = session.flame_sources();
        let tracks = sources
            .iter()
            .filter(|info| info.source == sources::COST_CENTRES);
        let expected = tracks.flat_map(|info| &info.tracks).filter(|track| {
            matches!(
                track.source,
                TrackSource::Capability(_)
                    | TrackSource::OsThread(_)
                    | TrackSource::UnknownThread { .. }
            )
        });
        let expected: Vec<_> = expected.collect();
        assert!(rows.len() >= expected.len(), "{}", case.name);
        for track in expected {
            let TrackSource::Capability(cap) = track.source else {
                continue;
            };
            let (from, to) = whole(&session);
            for width in [1, 700, 100_000] {
                let (marks, _) = ask(&session, &[Samples(cap).into()], (0, to + 1), width);
                let marks = marks.row_marks(Samples(cap));
                let shown: u64 = marks.map(|(mark, _)| u64::from(mark.count)).sum();
                assert_eq!(shown, track.samples, "{} from {from}", case.name);
            }
            tally.add(&case, track.samples as usize);
        }
    }
    tally.finish(common::expected_coverage([3, 706], [8, 2186]));
}

/// A call is interrupted by the foreign call that its callback makes.
#[test]
fn calls_of_callbacks() {
    let mut log = LogBuilder::with_types(TYPES);
    log.block(Some(0), (0, 1 << 40), |log| {
        declare(log);
        let say = |log: &mut LogBuilder, at: u64, text: &str| {
            log.event(19, at, text.as_bytes());
        };
        log.run(500, 9);
        say(log, 1000, "START 7 walk");
        say(log, 1000, "ANN_TH 7 walk 71");
        say(
            log,
            1001,
            "ANN_SCC 7 walk [\"MAIN.MAIN (<built-in>)\",\"Main.f (M.hs:1:1-9)\"]",
        );
        say(log, 3000, "START 8 visit");
        say(log, 3000, "ANN_TH 8 visit 71");
        say(log, 4000, "STOP 8 visit");
        log.stop(8000, 9, 3);
        say(log, 9000, "STOP 7 walk");
        say(log, 9500, "START 9 walk");
        log.event(19, 9900, b"the end")
    });
    log.end();
    let session = open_bytes(&log.bytes, AT_ONCE);
    let known = TrackId::from(ForeignCalls(Caller::OsThread(OsThreadId(71))));
    let unknown = TrackId::from(ForeignCalls(Caller::Unknown { lane: 0 }));
    assert_eq!(rows(&session), [known, unknown]);
    let mut all = describe(&session, known, (0, 10_000), 1000);
    all.extend(describe(&session, unknown, (0, 10_000), 1000));
    all.extend(describe(&session, known, (0, 1 << 20), 1));
    insta::assert_snapshot!("calls_of_callbacks", all.join("\n\n"));
}

/// Tracks of capabilities without samples and of lanes without calls are empty.
#[test]
fn rows_that_are_not_there_are_empty() {
    let session = sampled(&[(1000, 3)], 1000);
    let rows = [
        TrackId::from(Samples(CapId(7))),
        ForeignCalls(Caller::Unknown { lane: 0 }).into(),
    ];
    let (marks, _) = ask(&session, &rows, (0, 10_000), 100);
    assert!(marks.reply.is_empty());
    for row in rows {
        for many in [false, true] {
            let span = Interval::new(Nanos(0), Nanos(u64::MAX));
            assert_eq!(session.ask(&DetailsQuery { row, span, many }), []);
        }
    }
}
