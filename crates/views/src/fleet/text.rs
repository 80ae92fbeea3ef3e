//! Texts about fleets.

use std::fmt::Write as _;

use super::FleetPage;
use crate::words::capitalized;
use insight::compare::Trend;
use insight::fleet::{
    Analysis, Claim, ClaimSubject, ClaimedNumber, Effect, Fleet, LabelColumn, NumberAnalysis,
    TimeOrder, headline,
};
use insight::metrics::{Unit, metric_by_name};
use scene::format::{self, NBSP};

/// Formats a value of a number.
pub(super) fn amount(number: &NumberAnalysis, value: f64) -> String {
    let is_bytes_per_second = number.unit == Unit::PerSecond && number.name.starts_with("alloc.");
    match number.unit {
        _ if value == 0.0 => "0".to_owned(),
        _ if is_bytes_per_second => format!("{}/s", format::bytes(value.max(0.0).round() as u64)),
        Unit::Count if value.fract() != 0.0 && value < 100.0 => format!("{value:.1}"),
        unit => crate::comparison::amount(unit, value),
    }
}

/// Formats the size of an effect: `+25 %`, `6.0×`, `−2.1 points`.
pub(super) fn size(number: &NumberAnalysis, effect: &Effect) -> String {
    if let Some(ratio) = effect.ratio {
        return match ratio {
            ratio if ratio >= 10.0 => format!("{ratio:.0}×"),
            ratio if ratio >= 2.0 => format!("{ratio:.1}×"),
            ratio if ratio < 0.2 => format!("{ratio:.2}×"),
            ratio if ratio < 1.0 => format!("−{:.0}{NBSP}%", (1.0 - ratio) * 100.0),
            ratio => format!("+{:.0}{NBSP}%", (ratio - 1.0) * 100.0),
        };
    }
    let difference = effect.difference.unwrap_or(0.0);
    let sign = if difference < 0.0 { '−' } else { '+' };
    match number.unit {
        Unit::Share => format!("{sign}{:.1}{NBSP}points", difference.abs() * 100.0),
        _ => format!("{sign}{}", amount(number, difference.abs())),
    }
}

/// Returns the word for a trend, with a mark whose shape differs.
pub(super) const fn trend(trend: Trend) -> (&'static str, &'static str) {
    match trend {
        Trend::Worse => ("worse", "▲ worse"),
        Trend::Better => ("better", "▼ better"),
        Trend::Neutral => ("changed", "changed"),
    }
}

/// Returns the title of a number for people.
pub(super) fn title(number: &NumberAnalysis) -> String {
    headline(&number.name).map_or_else(
        || number.name.clone(),
        |(_, headline)| headline.title.to_owned(),
    )
}

/// Returns one sentence about a number.
pub(super) fn help(name: &str) -> &'static str {
    let metric = metric_by_name(name).or_else(|| {
        name.rsplit_once('.')
            .and_then(|(metric, _)| metric_by_name(metric))
    });
    metric.map_or("", |metric| metric.help)
}

/// Returns the word for a label key.
pub(super) fn label_word(key: &str) -> &str {
    match key {
        "app" => "program",
        "ghc" => "GHC",
        key => key,
    }
}

/// Returns the name of a run; empty if there is no such run.
pub(super) fn run_name(fleet: &Fleet, run: usize) -> &str {
    fleet.runs.get(run).map_or("", |run| run.name.as_str())
}

/// Returns the program of a claim as the beginning of a sentence; empty for a claim about all programs.
pub(super) fn claimed_program(claim: &Claim) -> String {
    let app = claim.app.as_ref();
    app.map_or_else(String::new, |app| format!("{app}: "))
}

/// Returns the claims of a kind.
pub(super) fn claims_of_kind(analysis: &Analysis, kind: usize) -> Vec<&Claim> {
    let claims = analysis.claims.iter();
    claims
        .filter(|claim| claim.subject.kind() == kind)
        .collect()
}

/// Describes the subject of a claim.
pub(super) fn subject(fleet: &Fleet, claim: &Claim) -> String {
    let app = claimed_program(claim);
    match &claim.subject {
        ClaimSubject::Change {
            labels, after_run, ..
        } => {
            let mut what: Vec<String> = Vec::new();
            let mut day = None;
            for change in labels {
                if change.key == "day" {
                    day = Some(change.after.as_str());
                } else {
                    let word = label_word(&change.key);
                    what.push(format!("{word} {} → {}", change.before, change.after));
                }
            }
            let day = day.or_else(|| {
                fleet
                    .label("day")
                    .and_then(|label| label.value(*after_run as usize))
            });
            let when = match day {
                Some(day) => format!("from {day} on"),
                None => format!("from run {} on", after_run + 1),
            };
            if what.is_empty() {
                format!("{app}{}", capitalized(&when))
            } else {
                format!("{app}{}, {when}", capitalized(&what.join(", ")))
            }
        }
        ClaimSubject::Label { key, value, runs } => {
            let runs = format::pluralize(*runs as u64, "run");
            format!(
                "{app}{} {value}, unlike all others ({runs})",
                capitalized(label_word(key))
            )
        }
        ClaimSubject::Run { run } => {
            format!("{app}Run {}", run_name(fleet, *run as usize))
        }
    }
}

/// Describes a number of a claim: its title, the size of the effect, and the values behind it.
pub(super) fn claimed(
    numbers: &[NumberAnalysis],
    subject: &ClaimSubject,
    claimed: &ClaimedNumber,
) -> [String; 3] {
    let Some(number) = numbers.get(claimed.number) else {
        return Default::default();
    };
    let [from, to] = [claimed.effect.from, claimed.effect.to].map(|value| amount(number, value));
    let values = match subject {
        ClaimSubject::Change { .. } => format!("{from} → {to}"),
        ClaimSubject::Label { .. } => format!("{to}, others {from}"),
        ClaimSubject::Run { .. } => format!("{to} instead of {from}"),
    };
    [title(number), size(number, &claimed.effect), values]
}

/// Returns the numbers of a claim that are worth a line: the headline numbers, or else the largest effects.
pub(super) fn main_numbers<'a>(
    numbers: &[NumberAnalysis],
    claim: &'a Claim,
) -> (&'a [ClaimedNumber], &'a [ClaimedNumber]) {
    const FEWEST: usize = 2;
    let is_headline = |claimed: &&ClaimedNumber| {
        numbers
            .get(claimed.number)
            .is_some_and(|number| number.is_headline)
    };
    let headlines = claim.numbers.iter().take_while(is_headline).count();
    claim
        .numbers
        .split_at(headlines.max(FEWEST.min(claim.numbers.len())))
}

/// Lists the numbers of a claim that have no line.
pub(super) fn other_numbers(
    numbers: &[NumberAnalysis],
    others: &[ClaimedNumber],
) -> Option<String> {
    const MOST: usize = 6;
    let names = others
        .iter()
        .take(MOST)
        .filter_map(|claimed| Some(numbers.get(claimed.number)?.name.as_str()));
    let names: Vec<&str> = names.collect();
    let more = match others.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| format!("Also {}{more}.", names.join(", ")))
}

/// Describes the values of a label: `12 hosts`, `shop`, `5 versions (1.8 to 1.12)`.
pub(super) fn label_values(label: &LabelColumn) -> String {
    match label.values.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first, second] => format!("{first}, {second}"),
        [first, .., last] => format!(
            "{} ({first} to {last})",
            format::count(label.values.len() as u64)
        ),
    }
}

/// Describes the order of runs.
pub(super) const fn order(order: TimeOrder) -> &'static str {
    match order {
        TimeOrder::Start => {
            "by the wall-clock time at which each log starts (runs without one come first)"
        }
        TimeOrder::Day => "by the label day, within a day by name (runs without one come first)",
        TimeOrder::Name => {
            "by name: the logs have no wall-clock time and no day, so changes in time are not tested"
        }
    }
}

/// Maximum number of claims of a kind in a summary.
const MAX_CLAIMS: usize = 10;

/// Summarizes a page as plain text, for a terminal.
pub fn summary(page: &FleetPage<'_>) -> String {
    let FleetPage {
        fleet, analysis, ..
    } = page;
    let mut out = String::new();
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{text}");
    };
    line(format!(
        "{}, in order {}",
        format::pluralize(fleet.runs.len() as u64, "run"),
        order(fleet.order)
    ));
    for label in &fleet.labels {
        line(format!(
            "  {:<13} {}",
            label_word(&label.key),
            label_values(label)
        ));
    }
    line(String::new());
    if analysis.claims.is_empty() {
        line(nothing(fleet));
    }
    for (kind, heading) in KINDS.iter().enumerate() {
        let claims = claims_of_kind(analysis, kind);
        if !claims.is_empty() {
            line((*heading).to_owned());
        }
        for claim in claims.iter().take(MAX_CLAIMS) {
            line(format!("  {}", subject(fleet, claim)));
            let (main, others) = main_numbers(&analysis.numbers, claim);
            for number in main {
                let [title, size, values] = claimed(&analysis.numbers, &claim.subject, number);
                let (_, trend) = trend(number.effect.trend);
                line(format!("    {title}: {size} ({values}), {trend}"));
            }
            if let Some(others) = other_numbers(&analysis.numbers, others) {
                line(format!("    {others}"));
            }
        }
        if claims.len() > MAX_CLAIMS {
            line(format!("  and {} more", claims.len() - MAX_CLAIMS));
        }
    }
    line(String::new());
    line(format!(
        "{:<30} {:>12} {:>12} {:>12} {:>12}",
        "", "5 %", "median", "95 %", "max"
    ));
    for number in analysis.numbers.iter().filter(|number| number.is_headline) {
        let all = number.distribution;
        let [p5, p50, p95, max] =
            [all.p5, all.p50, all.p95, all.max].map(|value| amount(number, value));
        line(format!(
            "{:<30} {p5:>12} {p50:>12} {p95:>12} {max:>12}",
            title(number)
        ));
    }
    if !analysis.findings.is_empty() {
        line(String::new());
        line("Findings, by cost over all runs".to_owned());
    }
    for finding in analysis.findings.iter().take(MAX_CLAIMS) {
        let share = format::percent(finding.runs as u64, fleet.runs.len() as u64);
        let title = finding
            .worst
            .first()
            .map_or("", |worst| worst.title.as_str());
        line(format!(
            "  {share:>7} of runs  {:<22} highest cost: {title}",
            finding.rule
        ));
    }
    out
}

/// Number of runs below which hardly anything can be claimed.
const FEW_RUNS: usize = 20;

/// Returns the text of a fleet without claims.
pub(super) fn nothing(fleet: &Fleet) -> String {
    if fleet.runs.len() < FEW_RUNS {
        return "With so few runs, most differences cannot be distinguished from chance. The charts show each run. To compare two sets of runs, use eventscope compare.".to_owned();
    }
    "No significant differences: no change in time, host, other label or single run differs by more than chance explains.".to_owned()
}

/// Headings of the kinds of claims.
pub(super) const KINDS: [&str; 3] = [
    "Changes in time",
    "Labels with different runs",
    "Runs that differ from comparable ones",
];
