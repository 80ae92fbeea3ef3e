//! Report section about findings: their costs, explanations and suggestions.

use super::html::{Column, Html, Table};
use super::{ReportSubject, Section};
use crate::words::insight as words;
use insight::Report;
use insight::finding::{Advice, Evidence, Finding};
use insight::report::RuleWithoutFinding;
use scene::format;
use session::Overview;
use session::queries::FindingsQuery;
use session::query::Answers;

/// Maximum number of places listed per finding.
const PLACES: usize = 5;

pub(super) async fn section(
    log: &impl Answers,
    overview: &Overview,
    subject: &ReportSubject,
) -> Option<Section> {
    let mut section = Section::new("findings", "Findings");
    let html = &mut section.body;
    let Some(report) = log.ask(FindingsQuery(subject.range)).await? else {
        html.paragraph("Findings are available once the log is read.");
        return Some(section);
    };
    html.paragraph(&format!("{}.", words::checked(&report)));
    let texts = [words::sampled(&report), words::what_is_left_open(&report)];
    for text in texts.into_iter().flatten() {
        html.paragraph(&text);
    }
    let grave = report.significant_findings();
    if grave.is_empty() {
        html.paragraph(&words::nothing_found(&report));
    }
    let told = words::program_time(overview.caps.len());
    if let Some(told) = told.filter(|_| !grave.is_empty()) {
        html.note(&told);
    }
    for found in grave {
        finding(html, &report, found);
    }
    if let Some(command) = &report.try_command {
        html.note(&format!("{}: {command}", words::MEASURE));
    }
    lost_time(html, &report);
    let minor = report
        .findings
        .iter()
        .filter(|finding| !finding.is_significant());
    let minor: Vec<&str> = minor.map(|finding| finding.title.as_str()).collect();
    if !minor.is_empty() {
        html.heading("Minor findings");
        html.list(minor);
    }
    passed(html, "Undecided", "Missing data", &report.cannot_tell);
    passed(html, "Clear", "Reason", &report.clear);
    Some(section)
}

/// Writes the lost time by cause, including the unexplained remainder.
fn lost_time(html: &mut Html, report: &Report) {
    if report.lost_time.is_empty() {
        return;
    }
    html.heading(words::LOST_TIME);
    let rows = report.lost_time.iter();
    let rows = rows.map(|row| words::lost_time(row, report.caps).to_vec());
    let [cause, numbers @ ..] = words::LOST_TIME_COLUMNS;
    let columns = std::iter::once(Column::Text(cause));
    let columns = columns.chain(numbers.map(Column::Number)).collect();
    html.table(&Table::new(words::unexplained(report), columns, rows));
}

fn finding(html: &mut Html, report: &Report, finding: &Finding) {
    html.heading(&finding.title);
    let cost = words::cost(finding);
    let cost = if cost.is_empty() {
        cost
    } else {
        format!(" · {cost}")
    };
    html.note(&format!(
        "{} · {}{cost} · rule {}",
        words::severity(finding.severity),
        words::confidence(finding.confidence).0,
        finding.rule
    ));
    html.paragraph(&finding.meaning);
    if let Some(cause) = report.cause_title(finding) {
        html.paragraph(&words::explained_by(cause));
    }
    if let Some(explained) = words::cost_explained(finding) {
        html.paragraph(&explained);
    }
    html.list(finding.tries.iter().map(attempt));
    html.note(&format!("{}: {}", words::CAVEAT, finding.distrust));
    let places = finding.evidence.iter().take(PLACES);
    let more = match finding.places {
        places if places > PLACES as u64 => {
            format!(", the worst {PLACES} of {}", format::count(places))
        }
        _ => String::new(),
    };
    html.table(&Table::new(
        format!("Evidence{more}"),
        Column::parse("#From|#To|About|#Cost there"),
        places.map(|place| place_cells(report, finding, place)),
    ));
}

fn attempt(attempt: &Advice) -> String {
    let flag = attempt.flag.as_ref();
    let flag = flag.map(|flag| format!("Try {flag}: "));
    let price = attempt.price.as_ref();
    let price = price.map(|price| format!(" (price: {price})"));
    let [flag, price] = [flag, price].map(Option::unwrap_or_default);
    format!("{flag}{}{price}", attempt.text)
}

fn place_cells(report: &Report, finding: &Finding, place: &Evidence) -> Vec<String> {
    let subjects = place
        .subjects
        .iter()
        .map(|subject| report.subject_name(*subject));
    vec![
        format::time(place.range.start()),
        format::time(place.range.end()),
        subjects.collect::<Vec<_>>().join(", "),
        finding.amount_text(place),
    ]
}

/// Writes the rules without findings.
fn passed(html: &mut Html, title: &str, why: &'static str, rules: &[RuleWithoutFinding]) {
    if rules.is_empty() {
        return;
    }
    html.heading(title);
    let row = |rule: &RuleWithoutFinding| vec![rule.question.clone(), words::sentence(&rule.why)];
    html.table(&Table::new(
        format::pluralize(rules.len() as u64, "rule"),
        vec![Column::Text("Question"), Column::Text(why)],
        rules.iter().map(row),
    ));
}
