//! Invariants of the findings of any log: no time is claimed twice, and each rule reports its result.

use crate::common;

use std::collections::BTreeSet;

use analysis::account::report::CapTimes;
use analysis::yielder::block_on;
use common::build::{LogBuilder, TYPES};
use common::{
    expected_coverage, finding_log, finding_session, findings_of, fixture, for_all_spans, logs_in,
    session_at, session_of, span, stdout,
};
use eventlog::ids::Nanos;
use insight::LostTime;
use insight::busiest::BusyThread;
use insight::context::RuleContext;
use insight::finding::{Axis, Finding, Value};
use insight::lost_time::Cause;
use insight::report::{Report, RunLimits};
use insight::rules::RULES;
use model::time::Interval;
use session::Session;
use session::queries::TimeQuery;
use tempfile::TempDir;
use views::words::insight as words;

/// Each rule either has findings, is clear, or cannot tell.
fn answers(report: &Report) -> Result<(), String> {
    let found: BTreeSet<&str> = report
        .findings
        .iter()
        .map(|finding| &*finding.rule)
        .collect();
    let passed = report.clear.iter().chain(&report.cannot_tell);
    let mut all: Vec<&str> = found.into_iter().collect();
    all.extend(passed.map(|passed| &*passed.rule));
    all.sort_unstable();
    let mut rules: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    rules.sort_unstable();
    if all == rules {
        return Ok(());
    }
    Err(format!("{all:?} answered"))
}

/// A finding claims no more than it costs, if that is a time, nor more than the range has, and its evidence lies in the
/// range.
fn is_sound(finding: &Finding, range: Interval) -> Result<(), String> {
    let all = range.duration().0;
    let within = |time: Nanos| time >= range.start() && time <= range.end();
    let cost_ns = match finding.cost {
        Value::Ns(ns) => ns,
        _ => all,
    };
    let checks = [
        (
            "claims",
            finding.claimed_ns <= cost_ns && finding.claimed_ns <= all,
        ),
        (
            "what costs no time is no finding of time",
            finding.axis != Axis::Time || finding.cost != Value::Ns(0),
        ),
        (
            "only time is claimed, or what recording the log took of it",
            finding.axis == Axis::Time
                || finding.rule == "census-pauses"
                || finding.claimed_ns == 0,
        ),
        (
            "share",
            (0.0..=1.0).contains(&finding.share) || finding.axis == Axis::Latency,
        ),
        (
            "words",
            !finding.title.is_empty()
                && !finding.meaning.is_empty()
                && !finding.distrust.is_empty(),
        ),
        ("tries", finding.tries.len() <= 3),
        ("places", finding.evidence.len() as u64 <= finding.places),
        (
            "bare counts",
            { finding.evidence.iter() }.all(|place| {
                !matches!(place.amount, Value::Count(_)) || !finding.counted.is_empty()
            }),
        ),
        (
            "order",
            finding
                .evidence
                .is_sorted_by(|a, b| a.amount.size() >= b.amount.size()),
        ),
        (
            "within",
            finding
                .evidence
                .iter()
                .all(|place| within(place.range.start()) || within(place.range.end())),
        ),
    ];
    match checks.iter().find(|(_, holds)| !holds) {
        None => Ok(()),
        Some((what, _)) => Err(format!("{what} of {finding:?}")),
    }
}

/// Claimed plus unexplained time equals the lost time in the account.
fn adds_up(session: &Session, report: &Report) -> Result<(), String> {
    let times = session.ask(&TimeQuery(Some(report.range)));
    let all = times.all_caps();
    let caps = times.caps.iter().filter(|(_, times)| times.life_ns > 0);
    let caps = (caps.count() as u64).max(1);
    // Findings also claim running time that was wasted.
    let running = report
        .lost_time
        .iter()
        .filter(|row| row.cause == Cause::Running);
    let in_vain: u64 = running.map(|row| row.claimed_cap_ns).sum();
    let lost = all.life_ns - all.running_ns - all.unknown_ns + in_vain;
    let claimed: u64 = report
        .findings
        .iter()
        .map(|finding| finding.claimed_ns)
        .sum();
    let told = claimed + report.unexplained_ns;
    // Each claim is rounded down to a nanosecond of the program.
    let slack = report.findings.len() as u64 + 1;
    let is_all = told <= lost / caps && lost / caps - told <= slack;
    if is_all {
        return Ok(());
    }
    Err(format!("{told} of {lost} ns on {caps} capabilities"))
}

#[test]
fn no_time_is_claimed_twice_on_any_log() {
    for_all_spans(expected_coverage([0, 0], [0, 0]), |session, span| {
        let length = span.duration().0;
        let part = |from: u64, to: u64| {
            let at = |eighths: u64| Nanos(span.start().0 + length / 8 * eighths);
            Some(Interval::new(at(from), at(to)))
        };
        let mut findings = 0;
        for range in [None, part(0, 8), part(1, 4), part(6, 7)] {
            findings += is_a_sound_report(session, range)?.findings.len();
        }
        Ok(findings)
    });
}

/// Returns the report of a range after checking all invariants.
fn is_a_sound_report(session: &Session, range: Option<Interval>) -> Result<Report, String> {
    let report = findings_of(session, range);
    let whole = session.recording().whole_range();
    if range.is_some_and(|range| range.clip(whole) != report.range) {
        return Err(format!("{:?} was looked at", report.range));
    }
    answers(&report)?;
    for finding in &report.findings {
        is_sound(finding, report.range)?;
    }
    adds_up(session, &report)?;
    costs_what_there_is(session, &report)?;
    lost_time_is_the_account(session, &report)?;
    busiest_fit_into_the_account(session, &report)?;
    Ok(report)
}

/// Returns the time of capabilities that a rule is about, by its classes; `None` if it is about something else.
fn class_of(rule: &str, all: &CapTimes) -> Option<u64> {
    let collecting = all.in_collections_ns() + all.returning_ns;
    Some(match rule {
        "gc-sync-straggler" | "gc-sync-idle-caps" => all.stopping_ns,
        "idle-gc" | "forced-gc" | "par-gc-unbalanced" | "remembered-set" | "nursery-too-small"
        | "major-gc-heavy" | "costly-flags" => collecting,
        "bound-main" | "ready-while-idle" | "hand-overs" | "foreign-calls-block" => {
            all.idle_work_available_ns + all.returning_ns
        }
        "census-pauses" => collecting + all.census_ns,
        "short-of-cores" => {
            all.idle_work_available_ns + all.stopping_ns + all.waiting_ns + all.returning_ns
        }
        "lock-convoy"
        | "lockstep"
        | "mutual-thunks"
        | "shared-thunk"
        | "capabilities-unused"
        | "tiny-threads"
        | "short-foreign-calls" => all.all_idle_ns() + all.returning_ns,
        "serial-section" | "deadlock-found" | "small-pool" | "blocked-together"
        | "one-at-a-time" | "throwto-wait" => all.idle_ns + all.returning_ns,
        "one-worker" | "uneven-parts" => all.idle_ns + all.returning_ns,
        "stm-herd" | "yield-spin" | "finalizers" | "many-messages" | "race-losers" => {
            all.running_ns
        }
        "sparks" | "spark-tiny" | "timer-storm" | "large-objects" | "hot-cost-centre"
        | "one-capability" => return None,
        other => panic!("which time {other} is about is to be said here"),
    })
}

/// The busiest threads are in order, ran no longer than all capabilities, and each ran and waited no longer than the range.
fn busiest_fit_into_the_account(session: &Session, report: &Report) -> Result<(), String> {
    let busiest = &report.busiest;
    let ran_ns: u64 = busiest.iter().map(|busy| busy.ran_ns).sum();
    let all_ns = session
        .ask(&TimeQuery(Some(report.range)))
        .all_caps()
        .running_ns;
    let is_possible = |busy: &BusyThread| {
        let waited_ns = busy.longest_wait.as_ref().map_or(0, |wait| wait.ns);
        busy.ran_ns + waited_ns <= report.range.duration().0
    };
    let is_sorted = busiest.is_sorted_by(|one, next| one.ran_ns >= next.ran_ns);
    match is_sorted && ran_ns <= all_ns && busiest.iter().all(is_possible) {
        true => Ok(()),
        false => Err(format!("all ran for {all_ns} ns, but {busiest:?}")),
    }
}

/// A finding costs no more than its classes have in the account, and all claims together are at most the length of
/// the range.
fn costs_what_there_is(session: &Session, report: &Report) -> Result<(), String> {
    let times = session.ask(&TimeQuery(Some(report.range)));
    let all = times.all_caps();
    let caps = times.caps.iter().filter(|(_, times)| times.life_ns > 0);
    let caps = (caps.count() as u64).max(1);
    for finding in report.findings_on_axis(Axis::Time) {
        if let (Value::Ns(cost), Some(class)) = (finding.cost, class_of(&finding.rule, &all))
            && cost > class / caps
        {
            return Err(format!("{class} ns on {caps} capabilities for {finding:?}"));
        }
    }
    let claimed: u64 = report
        .findings
        .iter()
        .map(|finding| finding.claimed_ns)
        .sum();
    if claimed <= report.range.duration().0 {
        return Ok(());
    }
    Err(format!("{claimed} ns are claimed of {:?}", report.range))
}

/// The rows of lost time add up to the number of capabilities times the length of the range, and each class of the
/// account is divided completely.
fn lost_time_is_the_account(session: &Session, report: &Report) -> Result<(), String> {
    if session.recording().info.processes.are_several() {
        return match report.lost_time.is_empty() {
            true => Ok(()),
            false => Err("several processes have one account".to_owned()),
        };
    }
    let all = session.ask(&TimeQuery(Some(report.range))).all_caps();
    let of = |causes: &[Cause]| -> u64 {
        let rows = report.lost_time.iter();
        let rows = rows.filter(|row| causes.contains(&row.cause));
        rows.map(|row| row.cap_ns).sum()
    };
    let ready = [Cause::ReadyLong, Cause::HandOver];
    let nobody = [Cause::Sleeping, Cause::Outside, Cause::EachOther];
    let idle = [
        &[Cause::Serial, Cause::FewThreads, Cause::StartEnd][..],
        &nobody,
        &ready,
    ]
    .concat();
    let claimed = |row: &LostTime| row.claimed_cap_ns + row.unexplained_cap_ns == row.cap_ns;
    let laws = [
        (
            "all",
            of(&Cause::ALL),
            report.caps * report.range.duration().0,
        ),
        ("running", of(&[Cause::Running]), all.running_ns),
        ("stopping", of(&[Cause::GcSync]), all.stopping_ns),
        // A capability that resumes with nothing to run is idle.
        (
            "idle, and in collections",
            of(&idle) + of(&[Cause::GcWaiting, Cause::Collecting]),
            all.all_idle_ns() + all.collecting_ns + all.waiting_ns + all.returning_ns,
        ),
        (
            "resuming without work",
            of(&idle).saturating_sub(all.all_idle_ns() + all.returning_ns),
            0,
        ),
        (
            "claims",
            report.lost_time.iter().filter(|row| !claimed(row)).count() as u64,
            0,
        ),
    ];
    match laws.iter().find(|(_, is, should)| is != should) {
        None => Ok(()),
        Some(wrong) => Err(format!("{wrong:?} of {:#?}", report.lost_time)),
    }
}

#[test]
fn what_is_looked_at_without_a_range_is_a_range() {
    for_all_spans(expected_coverage([0, 0], [0, 0]), |session, _| {
        let whole = findings_of(session, None);
        let same = findings_of(session, Some(whole.range));
        if whole == same {
            return Ok(whole.findings.len());
        }
        Err(format!(
            "{:#?}\nis not\n{:#?}",
            whole.findings, same.findings
        ))
    });
}

#[test]
fn any_range_has_a_sound_report() {
    for_all_spans(expected_coverage([0, 0], [0, 0]), |session, span| {
        let (start, end) = (span.start().0, span.end().0);
        let length = end - start;
        let range = |from: u64, to: u64| Interval::new(Nanos(from), Nanos(to));
        // Empty, one nanosecond, beyond both ends, and arbitrary ranges.
        let mut ranges = vec![
            range(start, start),
            range(start + length / 2, start + length / 2 + 1),
            range(0, end.saturating_add(length)),
            range(end, end.saturating_add(1_000_000_000)),
        ];
        let mut state = length | 1;
        let mut any = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            start + ((u128::from(state >> 11) * u128::from(length)) >> 53) as u64
        };
        for _ in 0..6 {
            let (one, other) = (any(), any());
            ranges.push(range(one.min(other), one.max(other)));
        }
        for range in &ranges {
            is_a_sound_report(session, Some(*range))
                .map_err(|wrong| format!("{range:?}: {wrong}"))?;
        }
        // Without an end, a range ends with the log.
        let from = start + length / 3;
        let [open, same] = [u64::MAX, end].map(|to| findings_of(session, Some(range(from, to))));
        if open.findings != same.findings || open.lost_time != same.lost_time {
            return Err(format!("{open:#?}\nis not\n{same:#?}"));
        }
        Ok(ranges.len())
    });
}

/// A cut log has threads made before its range, but not what ran then: it does not show whether they are bound.
#[test]
fn a_cut_log_has_the_advice_of_its_range() {
    let log = finding_log("hand-overs-found");
    let folder = TempDir::new().expect("a folder");
    let cut = folder.path().join("cut.eventlog");
    let cut = cut.to_str().expect("UTF-8");
    let range = ["--from", "62583207", "--to", "90187617"];
    stdout(&[&["cut", log.as_str(), "-o", cut][..], &range].concat());
    let told = |path: &str, range| {
        let found = findings_of(&session_at(path), range).findings.into_iter();
        found
            .map(|found| (found.title, found.tries))
            .collect::<Vec<_>>()
    };
    let of_range = told(&log, Some(span(62_583_207, 90_187_617)));
    assert!(of_range.len() == 1 && !of_range[0].0.contains("bound ones"));
    assert_eq!(told(cut, None), of_range);
}

/// Only the whole log has the bytes of messages: their share is not told as that of the messages of a range.
#[test]
fn the_share_of_messages_is_that_of_the_whole_log() {
    let session = finding_session("many-messages-found");
    let told = |range| {
        let report = findings_of(&session, range);
        let found = report.findings.into_iter();
        let found = found.map(|found| (found.rule.to_string(), found.title));
        let clear = report.clear.into_iter().map(|one| (one.rule, one.why));
        let mut all = found.chain(clear);
        let of_rule = all.find(|(rule, _)| rule == "many-messages");
        of_rule.expect("an answer").1
    };
    let share = |text: String| {
        let share = text.split("; messages are ").nth(1).map(str::to_owned);
        share.and_then(|share| Some(share.split_once(" of the whole log")?.0.to_owned()))
    };
    let [nothing, part] =
        [(250_000, 260_000), (1_000_000, 4_000_000)].map(|(from, to)| Some(span(from, to)));
    assert!(told(nothing).starts_with("0 messages of the program, one "));
    let whole = share(told(None));
    assert!(whole.is_some());
    assert_eq!(
        [share(told(nothing)), share(told(part))],
        [whole.clone(), whole]
    );
    let has_bytes = |range| {
        let found = findings_of(&session, range).findings.into_iter();
        let mut found = found.filter(|found| found.rule == "many-messages");
        let numbers = found.next().expect("it is found").numbers;
        numbers.iter().any(|(name, _)| name == "bytes")
    };
    assert_eq!([None, part].map(has_bytes), [true, false]);
}

/// Renumbers the capabilities of a log with `number`.
fn renumbered(log: &[u8], number: impl Fn(u16) -> u16) -> Vec<u8> {
    let mut log = log.to_vec();
    let word = |log: &[u8], at: usize| u16::from_be_bytes([log[at], log[at + 1]]);
    let long =
        |log: &[u8], at: usize| u32::from_be_bytes(log[at..at + 4].try_into().expect("four bytes"));
    // Read the size of each type from the header.
    let mut sizes = std::collections::BTreeMap::new();
    let mut at = 8;
    while &log[at..at + 4] == b"etb\0" {
        sizes.insert(word(&log, at + 4), word(&log, at + 6));
        let description = long(&log, at + 8) as usize;
        let extra = long(&log, at + 12 + description) as usize;
        at += 12 + description + 4 + extra + 4;
    }
    at += 4 + 4 + 4;
    // Payload offsets of capability numbers by event type.
    let places = |kind: u16| -> &[usize] {
        match kind {
            18 => &[12],
            4 | 8 | 27 | 28 => &[4],
            39 | 45..=48 => &[0],
            55 => &[8],
            56 => &[8, 10],
            _ => &[],
        }
    };
    loop {
        let kind = word(&log, at);
        if kind == 0xFFFF {
            return log;
        }
        at += 10;
        let size = match sizes[&kind] {
            0xFFFF => 2 + usize::from(word(&log, at)),
            size => usize::from(size),
        };
        for place in places(kind) {
            let cap = word(&log, at + place);
            if cap != 0xFFFF {
                log[at + place..at + place + 2].copy_from_slice(&number(cap).to_be_bytes());
            }
        }
        at += size;
    }
}

/// The number of a capability has no influence on findings.
#[test]
fn other_numbers_of_capabilities_cost_the_same() {
    let mut looked_at = 0;
    for (name, packed) in logs_in("findings") {
        let mut log = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*packed), &mut log)
            .expect("gzip");
        let session = session_of(&log).expect("a log");
        let caps = session.ask(&TimeQuery(None)).caps.len() as u16;
        // A truncated log has no end marker, at which the walk stops.
        if caps < 2 || name == "log-damaged-found" {
            continue;
        }
        let other = session_of(&renumbered(&log, |cap| (cap + 1) % caps)).expect("a log");
        let costs = |session: &Session| {
            let report = findings_of(session, None);
            let cost = |found: &Finding| {
                (
                    found.rule.to_string(),
                    found.claimed_ns,
                    found.cost.to_string(),
                    found.severity,
                )
            };
            let mut costs: Vec<_> = report.findings.iter().map(cost).collect();
            costs.sort();
            (costs, report.unexplained_ns)
        };
        assert_eq!(costs(&session), costs(&other), "{name}");
        looked_at += 1;
    }
    assert!(looked_at > 20, "{looked_at} logs");
}

#[test]
fn of_very_many_runs_a_sample_in_the_middle_is_looked_at_and_told() {
    let limits = |most, sample| RunLimits { most, sample };
    let mut sampled = 0;
    for (name, bytes) in logs_in("findings") {
        let Ok(session) = session_of(&bytes) else {
            continue;
        };
        let scope = RuleContext::for_rules(session.recording(), None);
        let runs = scope.runs();
        if runs < 400 {
            continue;
        }
        sampled += 1;
        let report = |limits| block_on(Report::evaluate_with_progress(&scope, limits, |_| ()));
        let (whole, part) = (report(limits(runs, 1)), report(limits(runs - 1, runs / 4)));
        assert_eq!(whole.sample, None);
        let sample = part.sample.expect("more runs than may be looked at");
        assert_eq!(sample.of_runs, runs);
        let within = RuleContext::for_rules(session.recording(), Some(sample.range)).runs();
        assert!(within.abs_diff(runs / 4) <= 4, "{name}: {within} of {runs}");
        let before = Interval::new(scope.range.start(), sample.range.start());
        let before = RuleContext::for_rules(session.recording(), Some(before)).runs();
        assert!(
            before.abs_diff(runs - within - before) <= 8,
            "{name}: {before} runs before {within} of {runs}"
        );
        assert_eq!(answers(&part), Ok(()), "{name}");
        // All time is accounted for as before, and claims do not exceed it.
        let all = |report: &Report| -> Vec<(Cause, u64)> {
            let rows = report.lost_time.iter();
            rows.map(|row| (row.cause, row.cap_ns)).collect()
        };
        assert_eq!(all(&part), all(&whole), "{name}");
        for row in &part.lost_time {
            assert_eq!(row.claimed_cap_ns + row.unexplained_cap_ns, row.cap_ns);
        }
        // If a problem occurs all the time, the sample explains about the same share.
        if name == "hand-overs-found" {
            let claimed = |report: &Report| {
                let mut rows = report.lost_time.iter();
                let row = rows.find(|row| row.cause == Cause::HandOver);
                row.map_or(0.0, |row| row.claimed_cap_ns as f64)
            };
            let ratio = claimed(&part) / claimed(&whole);
            assert!((0.8..=1.25).contains(&ratio), "{ratio}");
        }
        assert!(words::sampled(&part).is_some() && words::sampled(&whole).is_none());
    }
    assert!(sampled > 10);
}

/// A program that calls `setNumCapabilities` is told to call it with another number: -N has no effect.
#[test]
fn who_sets_the_number_of_capabilities_is_not_told_to_use_the_option() {
    const MVAR: u16 = 7;
    const FINISHED: u16 = 5;
    let ms = |ms: u64| ms * 1_000_000;
    let mut types = TYPES.to_vec();
    types.push((47, Some(2), "Disable capability"));
    let advice = |sets: bool| -> Vec<(String, String)> {
        let mut log = LogBuilder::with_types(&types);
        log.block(Some(0), (0, ms(700)), |log| {
            log.run(0, 50).stop(ms(700), 50, FINISHED)
        });
        for (cap, thread) in [(1, 51), (2, 52)] {
            log.block(Some(cap), (0, ms(700)), |log| {
                log.run(0, thread)
                    .stop(ms(10), thread, MVAR)
                    .run(ms(690), thread)
                    .stop(ms(700), thread, FINISHED)
            });
        }
        if sets {
            log.block(None, (ms(695), ms(695)), |log| {
                log.event(47, ms(695), &2_u16.to_be_bytes())
            });
        }
        let report = findings_of(&session_of(&log.end().bytes).expect("a log"), None);
        let tries = report.findings.into_iter().flat_map(|found| found.tries);
        let texts = tries.map(|one| {
            let flag = one.flag.unwrap_or_default();
            (flag.into_owned(), one.text.into_owned())
        });
        texts.collect()
    };
    let (option, own) = (advice(false), advice(true));
    let names_option = |all: &[(String, String)]| all.iter().any(|(flag, _)| flag == "-N1");
    assert!(names_option(&option), "{option:?}");
    assert!(!names_option(&own), "{own:?}");
    let told = |text: &str| text.starts_with("Call setNumCapabilities with 1: ");
    assert!(own.iter().any(|(_, text)| told(text)), "{own:?}");
    for (name, sets) in [
        ("ghc-9.10.3/caps-N2-la", true),
        ("ghc-9.6.6/fib-forkio-N2-l", false),
    ] {
        let session = session_of(&fixture(name).bytes()).expect("a log");
        let context = RuleContext::new(session.recording(), None);
        assert_eq!(context.sets_capabilities(), sets, "{name}");
    }
}

/// A thread sleeps twice, and then waits as long for another thread: sleep is claimed, not the other wait.
#[test]
fn a_finding_about_sleep_claims_sleep() {
    const DELAY: u16 = 11;
    const MVAR: u16 = 7;
    let ms = |ms: u64| ms * 1_000_000;
    let mut log = LogBuilder::new();
    log.block(Some(0), (0, ms(700)), |log| {
        log.event(0, 0, &50_u32.to_be_bytes())
            .run(0, 50)
            .stop(ms(50), 50, DELAY)
            .run(ms(200), 50)
            .stop(ms(210), 50, DELAY)
            .run(ms(360), 50)
            .stop(ms(370), 50, MVAR)
            .run(ms(670), 50)
            .stop(ms(700), 50, 5)
    });
    let report = findings_of(&session_of(&log.bytes).expect("a log"), None);
    let mut found = report.findings.iter();
    let found = found.find(|found| found.rule == "one-at-a-time");
    let found = found.expect("the sleeps are found");
    assert!(found.title.contains("2 sleeps"), "{}", found.title);
    assert_eq!(found.claimed_ns, ms(300));
    let claimed = |cause: Cause| {
        let mut rows = report.lost_time.iter();
        let row = rows.find(|row| row.cause == cause).expect("a row");
        (row.cap_ns, row.claimed_cap_ns)
    };
    assert_eq!(claimed(Cause::Sleeping), (ms(300), ms(300)));
    assert_eq!(claimed(Cause::EachOther), (ms(300), 0));
}

#[test]
fn what_costs_no_time_is_no_finding() {
    // 1,500 threads of 1 µs, each of which begins when the previous one ends.
    let mut log = LogBuilder::new();
    log.block(Some(0), (0, 1_500_000), |log| {
        (0..1500_u32).fold(log, |log, thread| {
            let from = u64::from(thread) * 1000;
            log.event(0, from, &(thread + 1).to_be_bytes())
                .run(from, thread + 1)
                .stop(from + 1000, thread + 1, 5)
        })
    });
    let report = findings_of(&session_of(&log.bytes).expect("a log"), None);
    let mut clear = report.clear.iter();
    let tiny = clear.find(|passed| passed.rule == "tiny-threads");
    let tiny = tiny.expect("nothing is lost between the threads");
    assert_eq!(tiny.why, "it is so, but costs no time");
}
