//! Instants, wakeup and migration arrows, and details of single items, against the events themselves.

use crate::common;

use std::collections::BTreeMap;

use analysis::timeline::flow::{ArrowKind, FlowQuery};
use analysis::timeline::instants::InstantKind;
use analysis::timeline::thread_lane::ThreadListQuery;
use common::{Case, expected_coverage, for_all, open, reference_is_wrong, session_of};
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::source::read_log;
use eventlog::{Event, Record};
use model::time::Interval;
use session::Session;
use session::tracks::TimelineQuery;
use session::tracks::TrackId;
use session::tracks::capability::Capability;
use session::tracks::details::{DetailsQuery, LinkRelation};
use session::tracks::instants::Instants;
use session::tracks::messages::Messages;
use session::tracks::thread::Thread;

/// Counts the events of each kind on each capability.
fn counted(mut bytes: &[u8]) -> BTreeMap<CapId, BTreeMap<InstantKind, u64>> {
    let mut counts: BTreeMap<CapId, BTreeMap<InstantKind, u64>> = BTreeMap::new();
    let mut count = |record: &Record<'_>| {
        let cap = match record.event() {
            Event::UnknownEvent { .. } => None,
            Event::CapCreate { cap }
            | Event::CapDelete { cap }
            | Event::CapDisable { cap }
            | Event::CapEnable { cap } => Some(cap),
            _ => record.cap,
        };
        if let (Some(cap), Some(kind)) = (cap, InstantKind::from_event_type(record.id)) {
            *counts.entry(cap).or_default().entry(kind).or_default() += 1;
        }
    };
    read_log(&mut bytes, &mut count).expect("a log");
    counts
}

/// Each event is in exactly one mark, at several zooms.
#[test]
fn every_instant_is_in_one_mark() {
    for_all(expected_coverage([39, 19443], [135, 236084]), |case| {
        let bytes = case.bytes();
        let Ok(session) = session_of(&bytes) else {
            return Ok(0);
        };
        let overview = session.overview();
        let Some(span) = overview.span else {
            return Ok(0);
        };
        let counts = counted(&bytes);
        let caps: Vec<CapId> = counts.keys().copied().collect();
        let listed = overview.contents.entries_of_kind::<Instants>();
        let listed: Vec<CapId> = listed.map(|(track, _)| track.0).collect();
        if listed != caps {
            return Err(format!("{caps:?}"));
        }
        for width_px in [1, 37, 1000, 100_000] {
            let query = TimelineQuery {
                view: span,
                width_px,
                rows: caps.iter().map(|cap| Instants(*cap).into()).collect(),
                ..TimelineQuery::default()
            };
            let reply = session.ask(&query);
            for (row, kinds) in counts.values().enumerate() {
                let marks = reply.row_marks(row);
                let shown: u64 = marks.map(|mark| u64::from(mark.count)).sum();
                let truth: u64 = kinds.values().sum();
                if shown != truth {
                    return Err(format!("row {row}, {width_px} px: {shown} of {truth}"));
                }
            }
        }
        let instants = counts.values().flat_map(BTreeMap::values).sum::<u64>();
        Ok(instants as usize)
    });
}

/// Arrow derived from the reference's list of events: whether it is a migration; time, capability and thread of
/// its origin; time and capability of the run.
type Arrow = (bool, u64, String, Option<u32>, u64, String);

/// Applies the documented rule for arrows to the list of events.
#[derive(Default)]
struct ArrowFinder {
    /// Running thread of each capability, and the start of its run.
    running: BTreeMap<String, (u32, u64)>,
    /// Waiting threads.
    waits: BTreeMap<u32, Wait>,
    arrows: BTreeMap<u32, Vec<Arrow>>,
}

#[derive(Default)]
struct Wait {
    must_be_woken: bool,
    woken: Option<(bool, u64, String, Option<u32>)>,
    moved: Option<(u64, String, Option<u32>)>,
}

impl ArrowFinder {
    fn event(&mut self, time: u64, cap: &str, name: &str, thread: u32, status: &str) {
        let here = self.running.get(cap).map(|(thread, _)| *thread);
        match name {
            "RunThread" => {
                if let Some(wait) = self.waits.remove(&thread) {
                    self.ran(thread, wait, (time, cap));
                }
                self.running.insert(cap.to_owned(), (thread, time));
            }
            "StopThread" => {
                self.running.retain(|_, (running, _)| *running != thread);
                let block_on = [
                    "HeapOverflow",
                    "StackOverflow",
                    "ThreadYielding",
                    "ForeignCall",
                ];
                if status == "ThreadFinished" {
                    self.waits.remove(&thread);
                    return;
                }
                let wait = Wait {
                    must_be_woken: !block_on.contains(&status),
                    ..Wait::default()
                };
                self.waits.insert(thread, wait);
            }
            "CreateThread" => {
                self.waits.insert(thread, Wait::default());
            }
            _ => {
                let Some(wait) = self.waits.get_mut(&thread) else {
                    return;
                };
                let moves = name == "MigrateThread";
                if wait.woken.is_none() {
                    let waker = here.filter(|here| *here != thread);
                    wait.woken = Some((moves, time, cap.to_owned(), waker));
                }
                if moves {
                    wait.moved = Some((time, cap.to_owned(), here));
                }
            }
        }
    }

    fn ran(&mut self, thread: u32, wait: Wait, (time, cap): (u64, &str)) {
        let told = self.arrows.entry(thread).or_default();
        let woken = wait.woken.filter(|woken| wait.must_be_woken && !woken.0);
        if let Some((_, at, on, by)) = woken {
            told.push((false, at, on, by, time, cap.to_owned()));
        }
        if let Some((at, on, by)) = wait.moved.filter(|(_, on, _)| on != cap) {
            told.push((true, at, on, by, time, cap.to_owned()));
        }
    }
}

fn reference_arrows(case: &Case) -> Option<BTreeMap<u32, Vec<Arrow>>> {
    let events = case.reference("events.tsv.gz")?;
    let mut finder = ArrowFinder::default();
    for row in events.lines() {
        let row: Vec<&str> = row.split('\t').collect();
        let [time, cap, name, fields, ..] = row[..] else {
            panic!("{}: not four columns: {row:?}", case.name);
        };
        let field = |name: &str| {
            let at = fields.find(name)? + name.len();
            fields[at..].split([',', '}', ' ']).next()
        };
        let wanted = [
            "CreateThread",
            "RunThread",
            "StopThread",
            "ThreadRunnable",
            "WakeupThread",
            "MigrateThread",
        ];
        if let Some(thread) = field("thread = ").filter(|_| wanted.contains(&name)) {
            let (time, thread) = (time.parse().expect("ns"), thread.parse().expect("a thread"));
            finder.event(
                time,
                cap,
                name,
                thread,
                field("status = ").unwrap_or_default(),
            );
        }
    }
    Some(finder.arrows)
}

/// The arrows of every thread equal those derived from the reference's events.
#[test]
fn arrows_agree_with_the_events() {
    for_all(expected_coverage([28, 1431], [79, 4191]), |case| {
        let sound = case.name.starts_with("ghc-9") && !reference_is_wrong(case);
        let Some(mut told) = reference_arrows(case).filter(|_| sound) else {
            return Ok(0);
        };
        let Ok(session) = session_of(&case.bytes()) else {
            return Ok(0);
        };
        let filter = ThreadListQuery {
            limit: usize::MAX,
            ..ThreadListQuery::default()
        };
        let mut compared = 0;
        for thread in session.ask(&filter).0 {
            let query = FlowQuery {
                thread: thread.id,
                view: Interval::new(Nanos(0), Nanos(u64::MAX)),
            };
            let arrows = session.ask(&query);
            let mut told = told.remove(&thread.id.0).unwrap_or_default();
            if thread.runs > 300 {
                assert!(arrows.is_empty(), "too many to be told apart");
                continue;
            }
            let cap = |cap: Option<CapId>| cap.map_or("-".to_owned(), |cap| cap.to_string());
            let mut ours: Vec<Arrow> = arrows
                .iter()
                .map(|arrow| {
                    let from = (arrow.from.0, cap(arrow.from_cap));
                    let by = arrow.from_thread.map(|thread| thread.0);
                    let moves = arrow.kind == ArrowKind::Migration;
                    (moves, from.0, from.1, by, arrow.to.0, cap(arrow.to_cap))
                })
                .collect();
            ours.sort_unstable();
            told.sort_unstable();
            if ours != told {
                let differs = ours.iter().zip(&told).find(|(a, b)| a != b);
                return Err(format!(
                    "thread {}: {differs:?} {} {}",
                    thread.id,
                    ours.len(),
                    told.len()
                ));
            }
            compared += ours.len();
        }
        Ok(compared)
    });
}

#[test]
fn arrows_are_those_in_view() {
    let session = open("ghc-9.6.6/ffi-safe-N2-la");
    let flow = |from, to| {
        session.ask(&FlowQuery {
            thread: ThreadId(5),
            view: Interval::new(Nanos(from), Nanos(to)),
        })
    };
    let all = flow(0, u64::MAX);
    assert!(!all.is_empty());
    for arrow in &all {
        assert!(flow(arrow.from.0, arrow.to.0).contains(arrow));
        assert!(!flow(arrow.to.0 + 1, u64::MAX).contains(arrow));
        assert!(!flow(0, arrow.from.0 - 1).contains(arrow));
    }
}

/// Renders the details of an item, one fact per line, with the items that they link to.
fn describe(session: &Session, row: TrackId, (from, to): (u64, u64), many: bool) -> String {
    let query = DetailsQuery {
        row,
        span: Interval::new(Nanos(from), Nanos(to)),
        many,
    };
    let mut lines = vec![format!("# {row:?} {from} – {to}")];
    for fact in session.ask(&query) {
        let lead = fact.item().map_or_else(String::new, |(lead, row, span)| {
            let lead = match lead {
                LinkRelation::Waker => "waker",
                LinkRelation::Next => "next",
                LinkRelation::Other => "other",
            };
            format!(" → {lead} {row:?} {} – {}", span.start().0, span.end().0)
        });
        lines.push(format!("{}: {}{lead}", fact.label, fact.text));
    }
    lines.join("\n").replace('\u{a0}', " ")
}

/// Returns the items of a row in a view, according to its marks.
fn items(session: &Session, row: TrackId, view: Interval) -> Vec<(u64, u64)> {
    let query = TimelineQuery {
        view,
        width_px: 1_000_000,
        rows: vec![row],
        ..TimelineQuery::default()
    };
    let reply = session.ask(&query);
    let start = view.start().0 as f64;
    reply
        .row_marks(0)
        .map(|mark| ((start + mark.start) as u64, (start + mark.end) as u64))
        .collect()
}

/// Snapshot checked by hand against the list of events.
#[test]
fn details_of_a_small_log() {
    let session = open("ghc-9.6.6/ffi-safe-N2-la");
    let thread = TrackId::from(Thread(ThreadId(5)));
    let mut texts = vec![
        // Blocked, runnable, running.
        describe(&session, thread, (8_986_419, 10_857_953), false),
        describe(&session, thread, (10_857_953, 14_851_838), false),
    ];
    let wide = Interval::new(Nanos(14_000_000), Nanos(16_000_000));
    for item in items(&session, thread, wide).into_iter().take(2) {
        texts.push(describe(&session, thread, item, false));
    }
    // The longest is one wait, of which all classes of ready time are named above.
    texts.push(describe(&session, thread, (8_388_608, 16_777_216), true));
    let cap = TrackId::from(Capability(CapId(0)));
    texts.push(describe(&session, cap, (8_000_000, 16_388_608), true));
    let whole = session.overview().span.expect("events");
    for row in [
        Instants(CapId(0)).into(),
        Instants(CapId(1)).into(),
        Messages.into(),
    ] {
        texts.push(describe(&session, row, (8_900_000, 10_900_000), true));
    }
    texts.push(describe(
        &session,
        Instants(CapId(0)).into(),
        (0, whole.end().0),
        true,
    ));
    let session = open("ghc-9.6.6/fib-forkio-N2-l");
    for item in items(
        &session,
        cap,
        Interval::new(Nanos(29_500_000), Nanos(29_900_000)),
    ) {
        texts.push(describe(&session, cap, item, false));
    }
    insta::assert_snapshot!("details", texts.join("\n\n"));
}

/// Details of any item on every log: no panic, and every linked item exists.
#[test]
fn details_lead_to_items() {
    for_all(expected_coverage([39, 20_000], [135, 100_000]), |case| {
        let Ok(session) = session_of(&case.bytes()) else {
            return Ok(0);
        };
        let overview = session.overview();
        let Some(span) = overview.span else {
            return Ok(0);
        };
        let filter = ThreadListQuery {
            limit: 8,
            ..ThreadListQuery::default()
        };
        let threads = session.ask(&filter).0;
        let caps = overview.caps.iter().take(4).map(|life| life.cap);
        let rows: Vec<TrackId> = caps
            .flat_map(|cap| [TrackId::from(Capability(cap)), Instants(cap).into()])
            .chain(threads.iter().map(|thread| Thread(thread.id).into()))
            .chain([Messages.into()])
            .collect();
        let mut looked_at = 0;
        for width_px in [3, 300] {
            let query = TimelineQuery {
                view: span,
                width_px,
                rows: rows.clone(),
                ..TimelineQuery::default()
            };
            let reply = session.ask(&query);
            for (number, row) in rows.iter().enumerate() {
                for mark in reply.row_marks(number) {
                    let at = |relative: f64| Nanos((span.start().0 as f64 + relative) as u64);
                    let query = DetailsQuery {
                        row: *row,
                        span: Interval::new(at(mark.start), at(mark.end)),
                        many: mark.count > 1,
                    };
                    let facts = session.ask(&query);
                    let one = mark.kind == model::marks::MarkKind::One;
                    if facts.is_empty() && one {
                        return Err(format!("nothing is known of {query:?}"));
                    }
                    looked_at += facts.len();
                    for (_, row, span) in facts.into_iter().filter_map(|fact| fact.item()) {
                        let query = DetailsQuery {
                            row,
                            span,
                            many: false,
                        };
                        if session.ask(&query).is_empty() {
                            return Err(format!("{query:?} leads nowhere"));
                        }
                    }
                }
            }
        }
        Ok(looked_at)
    });
}
