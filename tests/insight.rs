//! What holds of the findings of any log: nothing is claimed twice, and each rule says
//! what it did.

mod common;

use std::collections::BTreeSet;

use common::{findings_of, for_all_spans, known};
use eventlog::ids::Nanos;
use insight::finding::{Axis, Finding, Value};
use insight::report::Report;
use insight::rules::RULES;
use model::time::Interval;
use views::session::Session;
use views::session::questions::TimeQuery;

/// Each rule has one answer.
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

/// A finding claims no more than it costs, nor than there is, and is seen where it says.
fn is_sound(finding: &Finding, range: Interval) -> Result<(), String> {
    let all = range.duration().0;
    let within = |time: Nanos| time >= range.start() && time <= range.end();
    let cost_ns = match finding.cost {
        Value::Ns(ns) => ns,
        _ => 0,
    };
    let checks = [
        (
            "claims",
            finding.claimed_ns <= cost_ns.max(finding.claimed_ns / 2) && finding.claimed_ns <= all,
        ),
        (
            "only time is claimed",
            finding.axis == Axis::Time || finding.claimed_ns == 0,
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

/// What is claimed, and what nobody claims, is what was lost by the account of time.
fn adds_up(session: &Session, report: &Report) -> Result<(), String> {
    let times = session.ask(&TimeQuery(Some(report.range)));
    let all = times.all_caps();
    let caps = times.caps.iter().filter(|(_, times)| times.life_ns > 0);
    let caps = (caps.count() as u64).max(1);
    let lost = all.life_ns - all.running_ns - all.unknown_ns;
    let claimed: u64 = report
        .findings
        .iter()
        .map(|finding| finding.claimed_ns)
        .sum();
    let told = claimed + report.unexplained_ns;
    // Each is rounded down to a nanosecond of the program.
    let slack = report.findings.len() as u64 + 1;
    let is_all = told <= lost / caps && lost / caps - told <= slack;
    if is_all {
        return Ok(());
    }
    Err(format!("{told} of {lost} ns on {caps} capabilities"))
}

#[test]
fn no_time_is_claimed_twice_on_any_log() {
    for_all_spans(known([0, 0], [0, 0]), |session, span| {
        let length = span.duration().0;
        let part = |from: u64, to: u64| {
            let at = |eighths: u64| Nanos(span.start().0 + length / 8 * eighths);
            Some(Interval::new(at(from), at(to)))
        };
        let mut findings = 0;
        for range in [None, part(0, 8), part(1, 4), part(6, 7)] {
            let report = findings_of(session, range);
            if range.is_some_and(|range| range != report.range) {
                return Err(format!("{:?} was looked at", report.range));
            }
            answers(&report)?;
            for finding in &report.findings {
                is_sound(finding, report.range)?;
            }
            adds_up(session, &report)?;
            findings += report.findings.len();
        }
        Ok(findings)
    });
}
