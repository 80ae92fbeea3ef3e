//! Information from the blocks of a log, before and while its events are read.

use crate::common;

use std::collections::BTreeMap;

use analysis::timeline::block_lanes::size;
use common::cases;
use common::picture::{NoNames, ask, open_bytes};
use eventlog::ids::{CapId, Duration, Nanos};
use eventlog::{Need, SlicingRule, Step};
use model::class::Class;
use session::Session;
use session::tracks::activity::Activity;
use session::tracks::capability::Capability;
use session::tracks::item::Item;
use session::tracks::{TimelineQuery, TrackId};

/// Finds the blocks of a log, and reads events up to `up_to`; `None` if the log ends before.
fn read_until(bytes: &[u8], up_to: Option<Nanos>) -> Option<Session> {
    let slices = SlicingRule::At(up_to.into_iter().collect());
    let mut session = Session::new(bytes.len() as u64).with_slicing_rule(slices);
    let mut indexed = false;
    while !indexed || up_to.is_some() && session.events() == 0 {
        match session.advance(usize::from(indexed)).ok()? {
            Step::Need(needs) => {
                for Need(range) in needs {
                    let piece = &bytes[range.start as usize..range.end as usize];
                    session.supply(range.start, piece);
                }
            }
            Step::Indexed => indexed = true,
            Step::More => {}
            Step::Done => return None,
        }
    }
    Some(session)
}

/// Returns the range of the blocks' times; the end is exclusive.
fn whole(session: &Session) -> Option<(u64, u64)> {
    let span = session.overview().span?;
    Some((span.start().0, span.end().0 + 1))
}

/// Returns the unread items on the track of a capability.
fn unread(session: &Session, cap: CapId, view: (u64, u64), width_px: u32) -> Vec<Item> {
    let row = TrackId::from(Capability(cap));
    let marks = ask(session, &[row], view, width_px);
    let items = marks.items(row);
    items.filter(|item| item.class == Class::Unread).collect()
}

fn bytes_of(items: &[Item]) -> u64 {
    items.iter().map(|item| item.payload.u64_at(0)).sum()
}

/// Returns the bytes and the number of blocks of each capability.
fn blocks(session: &Session) -> BTreeMap<CapId, (u64, u32)> {
    let mut caps = BTreeMap::new();
    let sections = &session.reader().index().sections;
    for block in sections.iter().flat_map(|section| section.blocks.iter()) {
        if let Some(cap) = block.cap {
            let (bytes, count) = caps.entry(cap).or_insert((0, 0));
            *bytes += size(&block);
            *count += 1;
        }
    }
    caps
}

const ZOOMS: [u32; 4] = [1, 13, 800, 5000];

#[test]
fn before_any_event_is_read_all_blocks_are_shown() {
    let mut logs = 0;
    for case in cases() {
        let Some(session) = read_until(&case.bytes(), None) else {
            continue;
        };
        let (overview, name) = (session.overview(), &case.name);
        assert_eq!(overview.events, 0, "{name}");
        let expected = blocks(&session);
        let caps: Vec<CapId> = overview.caps.iter().map(|life| life.cap).collect();
        assert_eq!(caps, expected.keys().copied().collect::<Vec<_>>(), "{name}");
        let Some(view) = whole(&session) else {
            continue;
        };
        for (cap, (bytes, count)) in expected {
            for width_px in ZOOMS {
                let items = unread(&session, cap, view, width_px);
                let counted: u32 = items.iter().map(|item| item.count).sum();
                let what = format!("{name}, capability {cap}, {width_px} pixels");
                assert_eq!((bytes_of(&items), counted), (bytes, count), "{what}");
                assert!(items.len() as u64 <= 2 * u64::from(width_px) + 2, "{what}");
            }
        }
        logs += 1;
    }
    assert!(logs >= 30, "{logs} logs");
}

#[test]
fn what_is_read_is_no_more_said_to_be_unread() {
    let mut logs = 0;
    for case in cases() {
        let bytes = case.bytes();
        let done = open_bytes(&bytes, usize::MAX);
        let Some(log) = done.overview().span else {
            continue;
        };
        let middle = log.start() + Duration(log.duration().0 / 2);
        let Some(session) = read_until(&bytes, Some(middle)) else {
            continue;
        };
        let (Some(view), name) = (whole(&session), &case.name) else {
            continue;
        };
        let read_to = session.recording().end();
        for (cap, (bytes, _)) in blocks(&session) {
            let items = unread(&session, cap, view, 500);
            assert!(bytes_of(&items) <= bytes, "{name}, capability {cap}");
            for item in items {
                assert!(item.span.start() >= read_to, "{name}, capability {cap}");
            }
        }
        for life in &done.overview().caps {
            let items = unread(&done, life.cap, view, 500);
            assert!(items.is_empty(), "{name}, capability {}", life.cap);
        }
        logs += 1;
    }
    assert!(logs >= 30, "{logs} logs");
}

#[test]
fn it_is_said_what_is_not_read_yet() {
    let case = common::fixture("ghc-9.6.6/fib-forkio-N2-l");
    let session = read_until(&case.bytes(), None).expect("a log");
    let view = whole(&session).expect("blocks");
    let items = unread(&session, CapId(0), view, 500);
    let said = items.iter().map(|item| item.describe(&NoNames).1);
    let said: Vec<String> = said.collect();
    insta::assert_snapshot!(said.join("\n").replace('\u{a0}', " "));
    // No events have been read, but the blocks show where the log is busy.
    let row = TrackId::from(Activity);
    let marks = ask(&session, &[row], view, 500);
    let points: Vec<f64> = marks
        .points(row)
        .map(|(point, _)| point.values.last)
        .collect();
    assert!(!points.is_empty());
    let caps = session.overview().caps.len() as f64;
    assert!(points.iter().all(|&busy| 0.0 < busy && busy <= caps));
    let most = points.iter().copied().fold(0.0, f64::max);
    assert!(
        most > caps / 2.0,
        "busy is more than usual: {most} of {caps}"
    );
}

/// Every query that the page may send at this stage has an answer; other tests check its content.
#[test]
fn deep_zooms_cost_no_more_than_their_pixels() {
    let case = common::fixture("ghc-9.6.6/fib-forkio-N2-l");
    let session = read_until(&case.bytes(), None).expect("a log");
    let (from, to) = whole(&session).expect("blocks");
    for zoom in 0..40 {
        let view = (from, from + ((to - from) >> zoom).max(1));
        let query = TimelineQuery {
            view: model::time::Interval::new(Nanos(view.0), Nanos(view.1)),
            width_px: 1000,
            rows: vec![Activity.into(), Capability(CapId(0)).into()],
            ..TimelineQuery::default()
        };
        let reply = session.ask(&query);
        assert!(
            reply.len() <= 2002 && reply.points.row.len() <= 1002,
            "{zoom}"
        );
    }
}
