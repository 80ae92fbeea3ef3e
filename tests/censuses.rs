//! Censuses of heap profiles on the timeline, and their cost, on every log.

use crate::common;

use std::collections::BTreeSet;
use std::fs;

use analysis::recording::Recording;
use common::picture::{ask, whole};
use common::{Case, expected_coverage, fixture, for_all};
use eventlog::ids::Nanos;
use model::marks::MarkKind;
use model::time::Interval;
use session::Session;
use session::queries::{CensusCostQuery, TimeQuery};
use session::tracks::censuses::{Census, Censuses};
use session::tracks::details::DetailsQuery;

/// Opens a log as a session and as the recording of its analyses.
fn open(bytes: &[u8]) -> Option<(Session, Recording)> {
    let session = common::session_of(bytes).ok()?;
    let recording = common::session_of(bytes).ok()?.into_recording();
    Some((session, recording))
}

/// Checks that every census is in one mark of its track, with its number and its bytes.
fn check_marks(session: &Session, recording: &Recording) -> Result<usize, String> {
    let mut count = 0;
    for (number, profile) in (0..).zip(recording.heap().iter()) {
        let row = Censuses(number).into();
        let listed = session.contents().find(row).is_some();
        if listed != profile.is_timed() {
            return Err(format!("profile {number} is listed: {listed}"));
        }
        if !listed {
            continue;
        }
        let marks = ask(session, &[row], whole(session), 3000);
        let mut place = 0;
        for item in marks.items(row) {
            let mark: Census = item.read();
            let time = profile.censuses.times()[place];
            let bytes = profile.censuses.totals()[place];
            let expected = Census {
                place: place as u32,
                bytes,
            };
            // Dense marks are merged into a column; its span is that of the column, not of one census.
            let is_there = match item.kind {
                MarkKind::Column => item.span.start() <= time && time <= item.span.end(),
                _ => item.span.start() == time,
            };
            if mark != expected || !is_there {
                return Err(format!("{mark:?} at {time:?}, not {expected:?}"));
            }
            place += item.count as usize;
        }
        if place != profile.censuses.len() {
            return Err(format!("{place} of {} censuses", profile.censuses.len()));
        }
        count += place;
    }
    Ok(count)
}

/// Compares the cost of censuses with a sum over single pauses and with the account of time.
fn check_costs(
    session: &Session,
    recording: &Recording,
    range: Option<Interval>,
) -> Result<usize, String> {
    let log = session.overview().span.unwrap_or_default();
    let (mut all_counting_ns, mut count) = (0, 0);
    let mut seen = BTreeSet::new();
    for profile in recording.heap().iter() {
        let Some(costs) = recording.census_costs(profile, range) else {
            continue;
        };
        let within = range.unwrap_or(log);
        let places = profile.censuses_in(range, log.end());
        let times = places.filter_map(|place| profile.time(place));
        let pauses: Vec<_> = times.filter_map(|at| recording.census_pause(at)).collect();
        let distinct: BTreeSet<Interval> = pauses.iter().map(|pause| pause.stopped).collect();
        let inside = |pause: &Interval| pause.clip(within).duration().0;
        let stopped: u64 = distinct.iter().map(inside).sum();
        if (costs.with_pause, costs.stopped_ns) != (pauses.len() as u64, stopped) {
            return Err(format!("{costs:?}: {} {stopped}", pauses.len()));
        }
        let order = [costs.counting_ns, costs.stopped_ns, costs.range_ns];
        if !order.is_sorted() || costs.with_pause > costs.censuses {
            return Err(format!("{costs:?}"));
        }
        all_counting_ns += costs.counting_ns;
        count += pauses.len();
        seen.extend(distinct);
    }
    // All census time of the account lies in the pauses of censuses.
    let times = session.ask(&TimeQuery(range));
    if let ([(_, cap)], None) = (&times.caps[..], range)
        && recording.heap().iter().all(|profile| profile.is_timed())
        && cap.census_ns != all_counting_ns
    {
        return Err(format!("{} counted, {all_counting_ns} told", cap.census_ns));
    }
    Ok(count)
}

#[test]
fn every_census_is_on_its_track() {
    for_all(expected_coverage([6, 190], [25, 1000]), |case: &Case| {
        open(&case.bytes()).map_or(Ok(0), |(session, recording)| {
            check_marks(&session, &recording)
        })
    });
}

#[test]
fn a_census_costs_the_pause_that_it_lies_in() {
    for_all(expected_coverage([0, 0], [5, 100]), |case: &Case| {
        let Some((session, recording)) = open(&case.bytes()) else {
            return Ok(0);
        };
        check_ranges(&session, &recording)
    });
}

/// Checks the costs of the whole log and of parts of it.
fn check_ranges(session: &Session, recording: &Recording) -> Result<usize, String> {
    let log = session.overview().span.unwrap_or_default();
    for (from, to) in [(0, 3), (1, 2), (2, 3)] {
        let at = |part: u64| Nanos(log.start().0 + log.duration().0 / 3 * part);
        check_costs(session, recording, Some(Interval::new(at(from), at(to))))?;
    }
    check_costs(session, recording, None)
}

/// The sample logs of the start page have censuses and collections.
#[test]
fn censuses_of_the_samples() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/www/demo");
    let mut costs = 0;
    for entry in fs::read_dir(folder).expect("samples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let bytes = fs::read(&path).expect("a sample");
            let (session, recording) = open(&bytes).expect("a log");
            let checked =
                check_marks(&session, &recording).and_then(|_| check_ranges(&session, &recording));
            costs += checked.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        }
    }
    assert!(costs >= 50, "{costs} censuses have a pause");
}

/// Renders the words for a census and for the cost of all of them.
fn describe(name: &str, session: &Session) -> String {
    let row = Censuses(0).into();
    let mut text = format!("# {name}\n");
    let cost = CensusCostQuery::default();
    text += &format!("{}\n", session.ask(&cost).unwrap_or_default());
    let marks = ask(session, &[row], whole(session), 100_000);
    if let Some(item) = marks.items(row).nth(3) {
        let (name, words) = item.describe(&common::picture::NoNames);
        text += &format!("{name}: {words}\n");
        let many = false;
        let query = DetailsQuery {
            row,
            span: item.span,
            many,
        };
        for fact in session.ask(&query) {
            text += &format!("  {}: {}\n", fact.label, fact.text);
        }
    }
    let span = session.overview().span.unwrap_or_default();
    let query = DetailsQuery {
        row,
        span,
        many: true,
    };
    for fact in session.ask(&query).iter().skip(10) {
        text += &format!("  {}: {}\n", fact.label, fact.text);
    }
    text.replace('\u{a0}', " ")
}

#[test]
fn sentences() {
    let names = [
        "ghc-9.6.6/heap-N2-hT-l-au",
        "ghc-9.6.6/prof-heap-N1-hb-l-au",
        "ghc-9.10.3/prof-heap-N1-he-l-au",
    ];
    let text = names.map(|name| describe(name, &fixture(name).session()));
    insta::assert_snapshot!(text.join("\n"));
}
