//! A growing log gives the same answers at each length as a complete log of that length.

use crate::common;
use crate::common::asking;

use asking::assert_equal_answers;
use common::build::LogBuilder;
use common::{cases, session_of};
use eventlog::ids::Nanos;
use eventlog::{Need, SlicingRule, Step};
use session::Session;

/// Reads a session to its end. Returns the number of analyzed slices; `None` if the bytes are not an eventlog.
fn read(session: &mut Session, bytes: &[u8]) -> Option<usize> {
    let mut slices = 0;
    loop {
        match session.advance(usize::MAX).ok()? {
            Step::Need(needs) => {
                for Need(range) in needs {
                    let piece = &bytes[range.start as usize..range.end as usize];
                    session.supply(range.start, piece);
                }
            }
            Step::Indexed => slices = session.waiting_jobs(),
            Step::More => {}
            Step::Done => return Some(slices),
        }
    }
}

/// Grows a log to each of `lens`, comparing it with a session that reads the same bytes at once. Returns the
/// numbers of analyzed slices: incrementally, and in the complete readings.
fn grow(name: &str, bytes: &[u8], lens: &[usize], slicing_rule: &SlicingRule) -> (usize, usize) {
    let (mut analyzed, mut all) = (0, 0);
    let mut known: Option<Session> = None;
    for &len in lens {
        let now = &bytes[..len];
        let fresh = || {
            let session = Session::new(len as u64);
            let session = session.with_slicing_rule(slicing_rule.clone());
            session.with_following()
        };
        let mut session = known.map_or_else(fresh, |known| known.reopen_grown(len as u64));
        let Some(slices) = read(&mut session, now) else {
            assert!(session_of(now).is_err(), "{name}, {len} bytes");
            known = None;
            continue;
        };
        let mut whole = fresh();
        all += read(&mut whole, now).expect("a log");
        analyzed += slices;
        let choices: Vec<u8> = (0..2000_u32).map(|i| (i * i / 7 + i * 31) as u8).collect();
        let how = format!("{name}, {len} bytes");
        assert_equal_answers(&whole, &session, now, &choices, &how);
        known = Some(session);
    }
    (analyzed, all)
}

/// Divides a log at `parts - 1` equidistant times.
fn cuts(bytes: &[u8], parts: u64) -> SlicingRule {
    let span = session_of(bytes).ok().and_then(|log| log.overview().span);
    SlicingRule::At(span.map_or_else(Vec::new, |span| {
        let part_ns = span.duration().0 / parts;
        let cuts = (1..parts).map(|part| Nanos(span.start().0 + part * part_ns));
        cuts.collect()
    }))
}

#[test]
fn a_log_that_grows_says_what_it_says_at_that_length() {
    for case in cases() {
        let bytes = case.bytes();
        if bytes.len() > 300_000 {
            continue;
        }
        let lens: Vec<usize> = (1..=7).map(|part| bytes.len() * part / 7).collect();
        grow(&case.name, &bytes, &lens, &cuts(&bytes, 6));
        grow(&case.name, &bytes, &lens, &SlicingRule::Bytes(1));
    }
}

/// A log that is flushed often is not read again from its start.
#[test]
fn what_is_known_is_gone_on_from() {
    let mut build = LogBuilder::new();
    let mut lens = Vec::new();
    for begin in (0..60).map(|number| 1000 * number) {
        for cap in 0..2 {
            build.block(Some(cap), (begin, begin + 1000), |mut log| {
                for at in (begin..begin + 1000).step_by(20) {
                    let thread = 5 + u32::from(cap) + (at / 200) as u32;
                    log = log.run(at + 2, thread).stop(at + 9, thread, 3);
                }
                log
            });
            lens.extend([build.bytes.len() - 100, build.bytes.len()]);
        }
    }
    let (analyzed, all) = grow("flushed", &build.bytes, &lens, &SlicingRule::Bytes(1));
    assert!(8 * analyzed < all, "{analyzed} of {all}");
}

/// A capability with few events writes its buffer late.
#[test]
fn a_block_that_comes_late_is_put_where_it_belongs() {
    let mut build = LogBuilder::new();
    build.block(Some(0), (10, 100), |log| log.run(20, 5).stop(90, 5, 3));
    build.block(Some(0), (100, 200), |log| log.run(110, 5).stop(190, 5, 3));
    build.block(Some(0), (200, 300), |log| log.run(210, 5).stop(290, 5, 3));
    let early = build.bytes.len();
    build.block(Some(1), (10, 250), |log| log.run(30, 6).stop(240, 6, 3));
    let late = build.bytes.len();
    build.block(Some(0), (300, 400), |log| log.run(310, 6).stop(390, 6, 3));
    build.block(Some(1), (310, 400), |log| log.run(320, 5).stop(390, 5, 3));
    build.end();
    let bytes = build.bytes.clone();
    let lens = [early - 30, early, late, late + 50, bytes.len()];
    for cut in [100, 150, 200, 250, 300] {
        for cuts in [vec![Nanos(cut)], vec![Nanos(50), Nanos(cut), Nanos(310)]] {
            grow("late", &bytes, &lens, &SlicingRule::At(cuts));
        }
    }
}

/// The end of a log that is still being written is not damage, unless the log is not followed.
#[test]
fn a_log_that_is_followed_is_not_called_damaged() {
    let case = cases().into_iter().find(|case| case.name.contains("fib"));
    let bytes = case.expect("a log").bytes();
    let part = &bytes[..bytes.len() * 2 / 3];
    let about_the_end = |session: Session| {
        let mut session = session;
        read(&mut session, part).expect("a log");
        let report = common::findings_of(&session, None);
        let found = report.findings.into_iter();
        found
            .filter(|finding| finding.rule == "log-damaged")
            .map(|finding| finding.title)
            .collect::<Vec<_>>()
    };
    let session = || Session::new(part.len() as u64);
    assert_eq!(about_the_end(session().with_following()), [""; 0]);
    assert_eq!(
        about_the_end(session()),
        ["The log ends before the program did"]
    );
}
