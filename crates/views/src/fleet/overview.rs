//! Table of all headline numbers.

use super::html::{Cell, Html, headings};
use super::text::{amount, title};
use super::{FleetPage, charts, number};
use insight::fleet::NumberAnalysis;
use scene::format;

pub(super) fn section(page: &FleetPage<'_>) -> Html {
    let mut html = Html::default();
    let head =
        headings("Number|Distribution|Medians over time|#5 %|#Median|#95 %|#99 %|#Max|Differences");
    let numbers = page.analysis.numbers.iter().enumerate();
    let rows: Vec<Vec<Cell>> = numbers
        .filter(|(_, number)| number.is_headline)
        .map(|(index, number)| row(page, index, number))
        .collect();
    html.table(("overview", "Quantiles over all runs"), &head, &rows);
    html
}

fn row(page: &FleetPage<'_>, index: usize, number: &NumberAnalysis) -> Vec<Cell> {
    let all = number.distribution;
    let mut name = Html::element(
        "span",
        "class=\"title\"",
        &number::reference(&title(number), index),
    );
    name.append(&Html::leaf("code", "", &number.name));
    let mut cells = vec![
        Cell::Markup(name),
        Cell::Markup(charts::small_histogram(number)),
        Cell::Markup(charts::small_medians(page.fleet, number)),
    ];
    cells.extend(
        [all.p5, all.p50, all.p95, all.p99, all.max]
            .map(|value| Cell::Number(amount(number, value))),
    );
    cells.push(Cell::Text(marks(number)));
    cells
}

/// Describes how much stands out.
fn marks(number: &NumberAnalysis) -> String {
    let counts = [
        (number.changes.len(), "change"),
        (number.differences.len(), "label"),
        (number.outlier_count, "run"),
    ];
    let told = counts.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told
        .map(|(count, what)| format::pluralize(*count as u64, what))
        .collect();
    if told.is_empty() {
        "–".to_owned()
    } else {
        told.join(", ")
    }
}
