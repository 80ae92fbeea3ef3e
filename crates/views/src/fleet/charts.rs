//! Charts as SVG without a fixed width: horizontal positions are shares of the width, and areas are stretched, so
//! that texts, points and lines keep their size on any screen.

use std::fmt::Write as _;

use super::FleetPage;
use super::axis::{Domain, run_share, run_ticks};
use super::html::Html;
use super::number::{run_labels, run_path};
use super::text::{amount, run_name, size, title};
use insight::fleet::{Distribution, Fleet, NumberAnalysis, NumberColumn, RunIndex};
use scene::chart::steps;
use scene::format;
use scene::markup::escape;

/// Height of the chart over time, and top and bottom of its values, in pixels.
const HEIGHT: f64 = 224.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 198.0;
/// Width of the coordinate system of stretched areas.
const WIDTH: f64 = 1000.0;
/// Number of runs up to which each is a point.
const MAX_POINTS: usize = 400;
/// Number of columns in which more runs are summarized.
const COLUMNS: usize = 120;
/// Maximum number of outliers drawn.
const MAX_OUTLIERS: usize = 60;

/// Draws the values of all runs in the order of time, with changes and outliers.
pub(super) fn over_time(page: &FleetPage<'_>, index: usize, number: &NumberAnalysis) -> Html {
    let (fleet, domain) = (page.fleet, Domain::of(&number.histogram));
    let y = |value: f64| BOTTOM - (BOTTOM - TOP) * domain.share(value);
    let Some(column) = column_of(fleet, number) else {
        return Html::default();
    };
    let mut svg = String::new();
    for tick in domain.ticks(number.unit, 4) {
        let (at, text) = (y(tick), escape(&amount(number, tick)));
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
        );
        let _ = writeln!(
            svg,
            "<text class=\"tick\" x=\"0\" y=\"{:.1}\">{text}</text>",
            at - 3.0
        );
    }
    for (index, (share, text)) in run_ticks(fleet, 6).into_iter().enumerate() {
        // On a narrow screen, every second text has no room.
        let (at, spare) = (share * 100.0, if index % 2 == 1 { " spare" } else { "" });
        let _ = write!(
            svg,
            "<line class=\"grid{spare}\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"{BOTTOM}\" y2=\"{:.0}\"/>",
            BOTTOM + 5.0
        );
        let _ = writeln!(
            svg,
            "<text class=\"tick{spare}\" x=\"{at:.2}%\" dx=\"3\" y=\"{:.0}\">{}</text>",
            BOTTOM + 18.0,
            escape(&text)
        );
    }
    let values = &column.values;
    if values.len() <= MAX_POINTS {
        let shown = (0..values.len()).filter(|run| values[*run].is_finite());
        for run in shown {
            point(&mut svg, page, number, (run, values[run]), y(values[run]));
        }
    } else {
        bands(&mut svg, values, COLUMNS, &y);
    }
    for outlier in number.outliers.iter().take(MAX_OUTLIERS) {
        let (run, value) = (outlier.run as usize, outlier.effect.to);
        let expected = amount(number, outlier.effect.from);
        let text = format!(
            "{}; comparable runs: {expected}",
            point_text(page, number, (run, value))
        );
        let (at, up) = (run_share(fleet, run) * 100.0, y(value));
        let path = match () {
            () if domain.contains(value) => "M0-5.5 5.5 0 0 5.5-5.5 0Z",
            () if value > domain.high => "M0-7 5 2H-5Z",
            () => "M0 7 5-2H-5Z",
        };
        let mark = format!(
            "<svg class=\"mark\" x=\"{at:.2}%\" y=\"{up:.1}\"><path class=\"outlier\" d=\"{path}\"/></svg>"
        );
        linked(&mut svg, page, run, &text, &mark);
    }
    changes(&mut svg, fleet, number);
    let (low, high) = (amount(number, domain.low), amount(number, domain.high));
    let label = escape(&format!(
        "{} of all runs in the order of time, from {low} to {high}; the tables have the numbers",
        title(number)
    ));
    let attributes = format!(
        "class=\"chart\" width=\"100%\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{label}\" data-chart=\"{index}\""
    );
    let mut chart = Html::default();
    chart.add("svg", &attributes, &Html::markup(svg));
    chart.add("figcaption", "", &Html::text(legend(values.len(), number)));
    chart
}

/// Returns the values of a number.
fn column_of<'a>(fleet: &'a Fleet, number: &NumberAnalysis) -> Option<&'a NumberColumn> {
    let mut columns = fleet.numbers.iter();
    columns.find(|column| column.name == number.name && column.group == number.group)
}

/// Explains the marks of the chart over time.
fn legend(runs: usize, number: &NumberAnalysis) -> String {
    let mut legend = if runs <= MAX_POINTS {
        "Each point is a run".to_owned()
    } else {
        "Line: median of neighboring runs; dark band: half of them; light band: nine of ten"
            .to_owned()
    };
    if !number.outliers.is_empty() {
        legend += "; diamond: outlier, a triangle if it is beyond the scale";
    }
    if !number.changes.is_empty() {
        legend += "; upright line: change";
    }
    legend + "."
}

fn changes(svg: &mut String, fleet: &Fleet, number: &NumberAnalysis) {
    for change in &number.changes {
        let share =
            run_share(fleet, change.after_run as usize) - 0.5 / fleet.runs.len().max(1) as f64;
        let text = size(number, &change.effect);
        marker(svg, "change", share * 100.0, share > 0.8, &text);
    }
}

/// Draws an upright line at a percentage of the width, with a text on its left or right.
fn marker(svg: &mut String, class: &str, at: f64, is_left: bool, text: &str) {
    let text = escape(text);
    let (anchor, shift) = if is_left { ("end", -4) } else { ("start", 4) };
    let _ = write!(
        svg,
        "<line class=\"{class}\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"4\" y2=\"{BOTTOM}\"/>"
    );
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{at:.2}%\" dx=\"{shift}\" y=\"14\" text-anchor=\"{anchor}\">{text}</text>"
    );
}

fn point_text(page: &FleetPage<'_>, number: &NumberAnalysis, (run, value): (usize, f64)) -> String {
    let name = run_name(page.fleet, run);
    let (labels, path) = (
        run_labels(page, run as RunIndex),
        run_path(page, run as RunIndex),
    );
    format!("{}: {name}, {labels}, {path}", amount(number, value))
}

fn point(
    svg: &mut String,
    page: &FleetPage<'_>,
    number: &NumberAnalysis,
    (run, value): (usize, f64),
    y: f64,
) {
    let at = run_share(page.fleet, run) * 100.0;
    let text = point_text(page, number, (run, value));
    let mark = format!("<circle class=\"point\" cx=\"{at:.2}%\" cy=\"{y:.1}\" r=\"2.6\"/>");
    linked(svg, page, run, &text, &mark);
}

/// Writes a mark with a text, as a link if the run has an address.
fn linked(svg: &mut String, page: &FleetPage<'_>, run: usize, text: &str, mark: &str) {
    let text = escape(text);
    let _ = match page.link.and_then(|link| link.address(page.fleet, run)) {
        Some(address) => {
            let address = escape(&address);
            writeln!(
                svg,
                "<a href=\"{address}\" tabindex=\"-1\"><title>{text}</title>{mark}</a>"
            )
        }
        None => writeln!(svg, "<g><title>{text}</title>{mark}</g>"),
    };
}

/// Draws quantiles of neighboring runs: a light band of nine of ten, a dark one of half of them, the median.
fn bands(svg: &mut String, values: &[f64], columns: usize, y: &dyn Fn(f64) -> f64) {
    let columns: Vec<(f64, f64, Distribution)> = summarized(values, columns);
    let _ = write!(
        svg,
        "<svg width=\"100%\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\">"
    );
    // Columns without a value interrupt the bands.
    for run in columns.chunk_by(|a, b| (a.1 - b.0).abs() < 1e-9) {
        let mut edges: Vec<f64> = run.iter().map(|(from, ..)| from * WIDTH).collect();
        edges.extend(run.last().map(|(_, to, _)| to * WIDTH));
        let of = |value: fn(&Distribution) -> f64| {
            run.iter()
                .map(|(.., all)| y(value(all)))
                .collect::<Vec<f64>>()
        };
        let outer = steps(&edges, &of(|all| all.p5), &of(|all| all.p95));
        let inner = steps(&edges, &of(|all| all.p25), &of(|all| all.p75));
        let median = line(&edges, &of(|all| all.p50));
        let _ = write!(
            svg,
            "<path class=\"outer\" d=\"{outer}\"/><path class=\"inner\" d=\"{inner}\"/><path class=\"median\" d=\"{median}\"/>"
        );
    }
    svg.push_str("</svg>\n");
}

/// Returns the path of a stepped line.
fn line(edges: &[f64], heights: &[f64]) -> String {
    let mut path = String::new();
    for (edge, y) in edges.windows(2).zip(heights) {
        let letter = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{:.1} {y:.1}H{:.1}", edge[0], edge[1]);
    }
    path
}

/// Summarizes runs in columns: their start and end as shares, and quantiles.
fn summarized(values: &[f64], columns: usize) -> Vec<(f64, f64, Distribution)> {
    let all = values.len();
    let columns = columns.min(all);
    let column = |index: usize| {
        let (from, to) = (index * all / columns, (index + 1) * all / columns);
        let own = Distribution::of(values[from..to].iter().copied())?;
        Some((from as f64 / all as f64, to as f64 / all as f64, own))
    };
    (0..columns).filter_map(column).collect()
}

/// Draws the number of runs by value.
pub(super) fn histogram(number: &NumberAnalysis) -> Html {
    let domain = histogram_domain(number);
    let mut svg = String::new();
    let most = number
        .histogram
        .counts
        .iter()
        .copied()
        .max()
        .unwrap_or(1)
        .max(1) as f64;
    let height = |count: u64| (BOTTOM - TOP) * count as f64 / most;
    let _ = writeln!(
        svg,
        "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{BOTTOM}\" y2=\"{BOTTOM}\"/>"
    );
    for (bounds, count) in number
        .histogram
        .bounds
        .windows(2)
        .zip(&number.histogram.counts)
    {
        let [from, to] = [bounds[0], bounds[1]].map(|bound| domain.share(bound) * 100.0);
        let range = format!(
            "{} – {}: {}",
            amount(number, bounds[0]),
            amount(number, bounds[1]),
            format::pluralize(*count, "run")
        );
        let (up, range) = (
            height(*count).max(if *count > 0 { 1.5 } else { 0.0 }),
            escape(&range),
        );
        let (y, width) = (BOTTOM - up, (to - from - 0.3).max(0.1));
        let _ = writeln!(
            svg,
            "<rect class=\"bar\" x=\"{from:.2}%\" y=\"{y:.1}\" width=\"{width:.2}%\" height=\"{up:.1}\"><title>{range}</title></rect>"
        );
    }
    let median = domain.share(number.distribution.p50) * 100.0;
    let text = format!("median {}", amount(number, number.distribution.p50));
    marker(&mut svg, "middle", median, median > 55.0, &text);
    for tick in domain.ticks(number.unit, 3) {
        let at = domain.share(tick) * 100.0;
        let anchor = match at {
            ..6.0 => "start",
            94.0.. => "end",
            _ => "middle",
        };
        let _ = writeln!(
            svg,
            "<text class=\"tick\" x=\"{at:.2}%\" y=\"{:.0}\" text-anchor=\"{anchor}\">{}</text>",
            BOTTOM + 18.0,
            escape(&amount(number, tick))
        );
    }
    let label = escape(&format!("Number of runs by {}", title(number)));
    let mut chart = Html::default();
    chart.add(
        "svg",
        &format!(
            "class=\"chart\" width=\"100%\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{label}\""
        ),
        &Html::markup(svg),
    );
    let (first, last) = (
        number.histogram.bounds.first(),
        number.histogram.bounds.last(),
    );
    let is_cut = first.is_some_and(|low| number.distribution.min < *low)
        || last.is_some_and(|high| number.distribution.max > *high);
    let caption = if is_cut {
        "Runs by value; those beyond the scale are in the first and the last bar."
    } else {
        "Runs by value."
    };
    chart.add("figcaption", "", &Html::text(caption));
    chart
}

fn histogram_domain(number: &NumberAnalysis) -> Domain {
    let ends = number
        .histogram
        .bounds
        .first()
        .zip(number.histogram.bounds.last());
    let (low, high) = ends.map_or((0.0, 1.0), |(low, high)| (*low, *high));
    Domain {
        low,
        high,
        is_logarithmic: number.histogram.is_logarithmic,
    }
}

/// Draws a histogram in a row of a table.
pub(super) fn small_histogram(number: &NumberAnalysis) -> Html {
    const SMALL: f64 = 26.0;
    let counts = &number.histogram.counts;
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let edges: Vec<f64> = (0..=counts.len())
        .map(|bin| bin as f64 * WIDTH / counts.len().max(1) as f64)
        .collect();
    let tops: Vec<f64> = counts
        .iter()
        .map(|count| SMALL - (SMALL - 2.0) * *count as f64 / most)
        .collect();
    let path = steps(&edges, &vec![SMALL; counts.len()], &tops);
    small(SMALL, &format!("<path class=\"bar\" d=\"{path}\"/>"))
}

/// Draws the medians of neighboring runs in a row of a table, with the changes.
pub(super) fn small_medians(fleet: &Fleet, number: &NumberAnalysis) -> Html {
    const SMALL: f64 = 26.0;
    let column = column_of(fleet, number);
    let columns = column.map_or_else(Vec::new, |column| summarized(&column.values, 48));
    let medians: Vec<f64> = columns.iter().map(|(.., all)| all.p50).collect();
    let low = medians
        .iter()
        .copied()
        .fold(number.distribution.p25, f64::min);
    let high = medians
        .iter()
        .copied()
        .fold(number.distribution.p75, f64::max);
    let domain = Domain {
        low,
        high: if high > low { high } else { low + 1.0 },
        is_logarithmic: false,
    };
    let mut path = String::new();
    for ((from, to, _), median) in columns.iter().zip(&medians) {
        let letter = if path.is_empty() { 'M' } else { 'L' };
        let (x, y) = (
            (from + to) / 2.0 * WIDTH,
            SMALL - 2.0 - (SMALL - 4.0) * domain.share(*median),
        );
        let _ = write!(path, "{letter}{x:.0} {y:.1}");
    }
    let mut inner = format!("<path class=\"median\" d=\"{path}\"/>");
    for change in &number.changes {
        let x = run_share(fleet, change.after_run as usize) * WIDTH;
        let _ = write!(inner, "<path class=\"change\" d=\"M{x:.0} 0V{SMALL}\"/>");
    }
    small(SMALL, &inner)
}

fn small(height: f64, inner: &str) -> Html {
    Html::markup(format!(
        "<svg class=\"small\" width=\"100%\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{inner}</svg>"
    ))
}

/// Draws quantiles as a strip: a line of nine of ten runs, a box of half of them, the median.
pub(super) fn strip(all: &Distribution, domain: Domain, differs: bool) -> Html {
    let at = |value: f64| domain.share(value) * 100.0;
    let [p5, p25, p50, p75, p95] = [all.p5, all.p25, all.p50, all.p75, all.p95].map(at);
    let width = (p75 - p25).max(0.4);
    let class = if differs { "strip differs" } else { "strip" };
    Html::markup(format!(
        "<svg class=\"{class}\" width=\"100%\" height=\"18\" aria-hidden=\"true\">\
         <line class=\"range\" x1=\"{p5:.2}%\" x2=\"{p95:.2}%\" y1=\"9\" y2=\"9\"/>\
         <rect class=\"box\" x=\"{p25:.2}%\" width=\"{width:.2}%\" y=\"4\" height=\"10\"/>\
         <line class=\"median\" x1=\"{p50:.2}%\" x2=\"{p50:.2}%\" y1=\"2\" y2=\"16\"/></svg>"
    ))
}
