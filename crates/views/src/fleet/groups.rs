//! Tables of a number by the values of a label, with a strip of quantiles in each row.

use super::axis::Domain;
use super::charts;
use super::html::{Cell, Html, headings};
use super::text::{amount, label_word, size};
use crate::words::capitalized;
use insight::fleet::{LabelGroups, LabelValueSummary, NumberAnalysis};
use scene::format;

/// Number of rows that are shown; the script shows all.
const ROWS: usize = 32;

/// Number of rows up to which a table is shown at once.
const OPEN_ROWS: usize = 16;

/// Writes the table of a label. Values with an order of their own stay in it, others are sorted by median.
pub(super) fn table(number: &NumberAnalysis, label: &LabelGroups) -> Html {
    let mut values: Vec<&LabelValueSummary> = label.values.iter().collect();
    if values.len() < 2 {
        return Html::default();
    }
    let is_ordered = ["version", "day", "ghc", "capabilities"].contains(&label.key.as_str());
    if !is_ordered || values.len() > ROWS {
        values.sort_by(|a, b| b.distribution.p50.total_cmp(&a.distribution.p50));
    }
    let all = values.len() + label.left_out;
    values.truncate(ROWS);
    let domain = domain(&values, number);
    let rows: Vec<Vec<Cell>> = values
        .iter()
        .map(|value| row(number, (&label.key, domain), value))
        .collect();
    let word = label_word(&label.key);
    let ends = [domain.low, domain.high].map(|value| amount(number, value));
    let mut scale = Html::leaf("span", "", &ends[0]);
    scale.append(&Html::leaf("span", "", &ends[1]));
    let scale = Html::element("span", "class=\"scale\"", &scale);
    let mut head = vec![Cell::Text(capitalized(word)), Cell::Markup(scale)];
    head.extend(headings("#Runs|#5 %|#Median|#95 %|#Max|Differs"));
    let caption = if all > rows.len() {
        format!(
            "By {word}: the {ROWS} largest medians of {}",
            format::count(all as u64)
        )
    } else {
        format!("By {word}")
    };
    let mut html = Html::default();
    if rows.len() <= OPEN_ROWS {
        html.table(("groups", &caption), &head, &rows);
        return html;
    }
    let values = format::pluralize(rows.len() as u64, "row");
    let mut details = Html::leaf("summary", "", format!("By {word}: {values}"));
    details.table(("groups", &caption), &head, &rows);
    html.add("details", "", &details);
    html
}

fn row(
    number: &NumberAnalysis,
    (key, domain): (&str, Domain),
    value: &LabelValueSummary,
) -> Vec<Cell> {
    let all = value.distribution;
    let mut differences = number.differences.iter();
    let difference =
        differences.find(|difference| difference.key == key && difference.value == value.value);
    let mut cells = vec![
        Cell::Text(value.value.clone()),
        Cell::Markup(charts::strip(&all, domain, difference.is_some())),
        Cell::Number(format::count(all.count as u64)),
    ];
    cells.extend(
        [all.p5, all.p50, all.p95, all.max].map(|value| Cell::Number(amount(number, value))),
    );
    cells.push(Cell::Text(
        difference.map_or_else(String::new, |difference| size(number, &difference.effect)),
    ));
    cells
}

/// Returns the range from the least 5th to the greatest 95th percentile.
fn domain(values: &[&LabelValueSummary], number: &NumberAnalysis) -> Domain {
    let low = values
        .iter()
        .map(|value| value.distribution.p5)
        .fold(f64::INFINITY, f64::min);
    let high = values
        .iter()
        .map(|value| value.distribution.p95)
        .fold(f64::NEG_INFINITY, f64::max);
    let all = Domain::of(&number.histogram);
    let is_logarithmic = low > 0.0 && all.is_logarithmic;
    // A few outliers in a small group are beyond the scale, as in the chart.
    let (low, high) = (low.max(all.low), high.min(all.high));
    Domain::new(low, high, is_logarithmic)
}
