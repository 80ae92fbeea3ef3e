//! Section about one number: charts with their tables.

use super::groups;
use super::html::{Cell, Html, headings};
use super::text::{amount, help, label_word, run_name, size, title};
use super::{FleetPage, charts};
use insight::fleet::{NumberAnalysis, RunIndex};
use scene::format;
use scene::markup::escape;

/// Number of outliers that are listed.
const OUTLIERS: usize = 12;

/// Writes the section about a number.
pub(super) fn article(page: &FleetPage<'_>, index: usize, number: &NumberAnalysis) -> Html {
    let mut html = Html::default();
    let mut heading = Html::text(title(number));
    heading.add_text(" ");
    heading.append(&Html::leaf("code", "", &number.name));
    html.add("h3", &format!("id=\"number-{index}\""), &heading);
    let (all, runs) = (number.distribution, page.fleet.runs.len());
    let missing = runs - all.count;
    let missing = if missing > 0 {
        format!(
            " {} without this number.",
            format::pluralize(missing as u64, "run")
        )
    } else {
        String::new()
    };
    let [p5, p50, p95, max] =
        [all.p5, all.p50, all.p95, all.max].map(|value| amount(number, value));
    html.paragraph(
        "",
        format!("{} Half of the runs have less than {p50}, nine of ten between {p5} and {p95}; the maximum is {max}.{missing}", help(&number.name)),
    );
    let mut charts = Html::default();
    charts.add(
        "figure",
        "class=\"over-time\"",
        &charts::over_time(page, index, number),
    );
    charts.add("figure", "class=\"histogram\"", &charts::histogram(number));
    html.add("div", "class=\"charts\"", &charts);
    html.append(&changes(page, number));
    html.append(&outliers(page, number));
    for label in &number.labels {
        html.append(&groups::table(number, label));
    }
    Html::element(
        "article",
        &format!("aria-labelledby=\"number-{index}\""),
        &html,
    )
}

fn changes(page: &FleetPage<'_>, number: &NumberAnalysis) -> Html {
    let mut html = Html::default();
    let rows: Vec<Vec<Cell>> = number
        .changes
        .iter()
        .map(|change| {
            let labels = change.labels.iter().map(|label| {
                format!(
                    "{} {} → {}",
                    label_word(&label.key),
                    label.before,
                    label.after
                )
            });
            let labels: Vec<String> = labels.collect();
            vec![
                Cell::Markup(run(page, change.after_run)),
                Cell::Text(labels.join(", ")),
                Cell::Number(size(number, &change.effect)),
                Cell::Number(amount(number, change.effect.from)),
                Cell::Number(amount(number, change.effect.to)),
                Cell::Number(format!("{} + {}", change.counts.0, change.counts.1)),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let head = headings("First run after|Differing labels|#Change|#Median before|#After|#Runs");
        html.table(("changes", "Changes in time"), &head, &rows);
    }
    html
}

fn outliers(page: &FleetPage<'_>, number: &NumberAnalysis) -> Html {
    let mut html = Html::default();
    let rows = number.outliers.iter().take(OUTLIERS).map(|outlier| {
        vec![
            Cell::Markup(run(page, outlier.run)),
            Cell::Number(amount(number, outlier.effect.to)),
            Cell::Number(amount(number, outlier.effect.from)),
            Cell::Number(size(number, &outlier.effect)),
            Cell::Text(run_labels(page, outlier.run)),
            Cell::Text(run_path(page, outlier.run)),
        ]
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    if !rows.is_empty() {
        let head = headings("Run|#Value|#Comparable runs|#Difference|Labels|Log");
        let caption = if number.outlier_count > OUTLIERS {
            format!(
                "Outliers, the farthest {OUTLIERS} of {}",
                format::count(number.outlier_count as u64)
            )
        } else {
            "Outliers".to_owned()
        };
        html.table(("outliers", &caption), &head, &rows);
    }
    html
}

/// Writes a reference to the section about a number, which the script shows in the explorer.
pub(super) fn reference(title: &str, index: usize) -> Html {
    let attributes = format!("href=\"#number-{index}\" data-number=\"{index}\"");
    Html::leaf("a", &attributes, title)
}

/// Writes the name of a run, as a link to its log if there is an address.
pub(super) fn run(page: &FleetPage<'_>, run: RunIndex) -> Html {
    let (fleet, place) = (page.fleet, run as usize);
    let path = escape(&run_path(page, run));
    let address = page.link.and_then(|link| link.address(fleet, place));
    let (element, kind) = match address {
        Some(address) => {
            let address = escape(&address);
            (
                "a",
                format!("href=\"{address}\" rel=\"noopener noreferrer\""),
            )
        }
        None => ("span", "class=\"run\"".to_owned()),
    };
    let attributes = format!("{kind} data-run=\"{run}\" title=\"{path}\"");
    Html::leaf(element, &attributes, run_name(fleet, place))
}

/// Returns the path of a run's log, or else of its digest.
pub(super) fn run_path(page: &FleetPage<'_>, run: RunIndex) -> String {
    let run = page.fleet.runs.get(run as usize);
    run.map_or_else(String::new, |run| {
        run.log.clone().unwrap_or_else(|| run.path.clone())
    })
}

/// Returns the labels of a run that divide the fleet.
pub(super) fn run_labels(page: &FleetPage<'_>, run: RunIndex) -> String {
    let labels = page.fleet.dividing_labels();
    let labels = labels.filter_map(|(_, label)| {
        Some(format!(
            "{} {}",
            label_word(&label.key),
            label.value(run as usize)?
        ))
    });
    labels.collect::<Vec<String>>().join(", ")
}
