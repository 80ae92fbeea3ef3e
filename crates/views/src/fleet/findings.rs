//! Section of findings by cost and frequency.

use super::html::{Cell, Html, headings};
use super::text::label_word;
use super::{FleetPage, number};
use crate::words::capitalized;
use insight::finding::Axis;
use insight::fleet::FindingFrequency;
use scene::format;
use scene::markup::escape;

/// Number of worst runs shown.
const WORST: usize = 5;
/// Number of values of a label shown.
const VALUES: usize = 24;

pub(super) fn section(page: &FleetPage<'_>) -> Html {
    let mut html = Html::default();
    let (findings, runs) = (&page.analysis.findings, page.fleet.runs.len());
    if findings.is_empty() {
        html.paragraph("", "No run has a significant finding.");
        return html;
    }
    html.paragraph("note", "Ordered by mean cost over all runs. The cost is a share of each run’s time, or of its heap’s peak; findings of a run overlap.");
    let head = headings("Finding|Runs|#High|#Medium|#Low|#Mean cost|#Over all runs|Highest cost");
    let rows: Vec<Vec<Cell>> = findings
        .iter()
        .map(|finding| row(page, finding, runs))
        .collect();
    html.table(("findings", "Findings by cost"), &head, &rows);
    for finding in findings {
        html.append(&details(page, finding, runs));
    }
    html
}

fn row(page: &FleetPage<'_>, finding: &FindingFrequency, runs: usize) -> Vec<Cell> {
    let [low, medium, high] = finding.by_severity.map(|count| {
        if count == 0 {
            "–".to_owned()
        } else {
            format::count(count as u64)
        }
    });
    let share = |share: f64| {
        if finding.axis == Axis::Log || share == 0.0 {
            "–".to_owned()
        } else {
            format::fraction(share)
        }
    };
    let percent = finding.runs as f64 * 100.0 / runs.max(1) as f64;
    let mut bar = Html::markup(format!(
        "<svg class=\"share\" width=\"100%\" height=\"14\" aria-hidden=\"true\"><rect class=\"rest\" width=\"100%\" height=\"14\"/><rect class=\"bar\" width=\"{percent:.1}%\" height=\"14\"/></svg>"
    ));
    let share_of_runs = format::percent(finding.runs as u64, runs as u64);
    bar.append(&Html::leaf("span", "", share_of_runs));
    let mut worst = Html::default();
    if let Some(first) = finding.worst.first() {
        worst.append(&number::run(page, first.run));
        worst.add_text(format!(": {}", first.title));
    }
    vec![
        Cell::Markup(Html::leaf("code", "", &finding.rule)),
        Cell::Markup(Html::element("span", "class=\"share\"", &bar)),
        Cell::Number(high),
        Cell::Number(medium),
        Cell::Number(low),
        Cell::Number(share(finding.mean_share)),
        Cell::Number(share(finding.expected_share)),
        Cell::Markup(worst),
    ]
}

fn details(page: &FleetPage<'_>, finding: &FindingFrequency, runs: usize) -> Html {
    let share = format::percent(finding.runs as u64, runs as u64);
    let summary = format!(
        "{}: {share} of runs, the worst ones and by label",
        finding.rule
    );
    let mut html = Html::leaf("summary", "", summary);
    let head = headings("Run|Finding|#Cost|Severity|Log");
    let rows = finding.worst.iter().take(WORST).map(|worst| {
        vec![
            Cell::Markup(number::run(page, worst.run)),
            Cell::Text(worst.title.clone()),
            Cell::Number(worst.cost.to_string()),
            Cell::Text(worst.severity.name().to_owned()),
            Cell::Text(number::run_path(page, worst.run)),
        ]
    });
    html.table(("worst", "Worst runs"), &head, &rows.collect::<Vec<_>>());
    for label in &finding.labels {
        let mut values: Vec<&(String, usize, usize)> = label.values.iter().collect();
        let is_cut = values.len() > VALUES;
        if is_cut {
            values.sort_by(|a, b| (b.1 * a.2.max(1)).cmp(&(a.1 * b.2.max(1))));
            values.truncate(VALUES);
        }
        let rows = values.iter().map(|(value, found, all)| {
            vec![
                Cell::Text(value.clone()),
                Cell::Number(format::percent(*found as u64, *all as u64)),
                Cell::Number(format::count(*found as u64)),
                Cell::Number(format::count(*all as u64)),
            ]
        });
        let mut head = vec![Cell::Text(capitalized(label_word(&label.key)))];
        head.extend(headings("#Share|#With the finding|#All runs"));
        let caption = if is_cut {
            format!("By {}: the {VALUES} largest shares", label_word(&label.key))
        } else {
            format!("By {}", label_word(&label.key))
        };
        html.table(("frequency", &caption), &head, &rows.collect::<Vec<_>>());
    }
    let mut all = Html::default();
    all.add(
        "details",
        &format!("data-rule=\"{}\"", escape(&finding.rule)),
        &html,
    );
    all
}
