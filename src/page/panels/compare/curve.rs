//! Cumulative distributions of pause lengths, or of the lengths of user spans of one name, before and after.

use std::rc::Rc;

use yew::prelude::*;

use crate::chart::use_width;
use crate::data_table::{DataTable, TableCell, TableColumn, TableRow};
use crate::dom::value_of;
use crate::panel::edited;
use eventlog::ids::{Duration, Nanos};
use insight::digest::{Curve, NumberGroup};
use scene::format;
use views::view::compare::CompareView;

const HEIGHT_PX: f64 = 150.0;
const LEFT_PX: f64 = 44.0;
const RIGHT_PX: f64 = 12.0;
const TOP_PX: f64 = 8.0;
const BOTTOM_PX: f64 = 22.0;
/// Quantiles in the table.
const PARTS: [(&str, f64); 6] = [
    ("least", 0.0),
    ("half", 0.5),
    ("75 %", 0.75),
    ("90 %", 0.9),
    ("99 %", 0.99),
    ("all", 1.0),
];

#[derive(Properties, PartialEq)]
pub(super) struct CurvesProps {
    /// Curves of the log before and of the log after.
    pub(super) curves: [Rc<Vec<Curve>>; 2],
    pub(super) view: CompareView,
    pub(super) on_view: Callback<CompareView>,
}

/// Returns the quantile at `part` (0 to 1).
fn quantile(curve: &Curve, part: f64) -> f64 {
    let last = curve.points.len().saturating_sub(1);
    let place = (part * last as f64).ceil() as usize;
    curve.points.get(place.min(last)).copied().unwrap_or(0.0)
}

fn is_same(curve: &Curve, other: &Curve) -> bool {
    (curve.group, &curve.name) == (other.group, &other.name)
}

/// Returns the curve selected in the view: the pauses or a span name; falls back to the first.
fn chosen_of<'a>(curves: &[&'a Curve], view: &CompareView) -> Option<&'a Curve> {
    let is_chosen = |curve: &&&Curve| match curve.group {
        NumberGroup::Program => view.curve.is_empty(),
        _ => curve.name == view.curve,
    };
    curves.iter().find(is_chosen).or(curves.first()).copied()
}

/// Renders the curves and the table of quantiles.
#[component]
pub(super) fn Curves(props: &CurvesProps) -> Html {
    let (node, width) = use_width();
    let CurvesProps {
        curves: [before, after],
        view,
        on_view,
    } = props;
    let mut names: Vec<&Curve> = before.iter().collect();
    let is_new = |curve: &&Curve| !before.iter().any(|it| is_same(it, curve));
    names.extend(after.iter().filter(is_new));
    let Some(shown) = chosen_of(&names, view) else {
        return Html::default();
    };
    let find = |side: &Rc<Vec<Curve>>| side.iter().find(|it| is_same(it, shown)).cloned();
    let chosen = [find(before), find(after)];
    let on_choose = edited(view, on_view, |view, event: Event| {
        view.curve = value_of(event);
    });
    let option = |curve: &&Curve| {
        let (value, words) = match curve.group {
            NumberGroup::Program => (String::new(), "Pauses of collections".to_owned()),
            _ => (curve.name.clone(), format!("Spans “{}”", curve.name)),
        };
        html! { <option {value} selected={is_same(curve, shown)}>{ words }</option> }
    };
    html! {
        <section aria-labelledby="compare-curve">
            <h3 id="compare-curve">{ "Durations" }</h3>
            <p class="tools">
                <select aria-label="Measured time" onchange={on_choose}>{ for names.iter().map(option) }</select>
                <span class="legend-before">{ "before" }</span><span class="legend-after">{ "after" }</span>
            </p>
            <div ref={node} class="compare-curve">
                if width > 0.0 { { chart(&chosen, width) } }
            </div>
            { table(&chosen) }
        </section>
    }
}

/// Renders the cumulative distribution; on a logarithmic scale if lengths differ by a factor of 20 or more.
fn chart(curves: &[Option<Curve>; 2], width: f64) -> Html {
    let points = || {
        curves
            .iter()
            .flatten()
            .flat_map(|curve| curve.points.iter().copied())
    };
    let most = points().fold(1.0, f64::max);
    let least = points().filter(|ns| *ns > 0.0).fold(most, f64::min);
    let is_log = most / least >= 20.0;
    let (from, to) = if is_log {
        (least.log10(), most.log10())
    } else {
        (0.0, most)
    };
    let x = move |ns: f64| {
        let value = if is_log { ns.max(least).log10() } else { ns };
        let part = if to > from {
            (value - from) / (to - from)
        } else {
            1.0
        };
        LEFT_PX + part * (width - LEFT_PX - RIGHT_PX).max(0.0)
    };
    let y = |part: f64| HEIGHT_PX - BOTTOM_PX - part * (HEIGHT_PX - TOP_PX - BOTTOM_PX);
    let path = |curve: &Curve| {
        let last = curve.points.len().saturating_sub(1).max(1) as f64;
        let mut path = format!(
            "M{:.1} {:.1}",
            x(curve.points.first().copied().unwrap_or(0.0)),
            y(0.0)
        );
        for (place, ns) in curve.points.iter().enumerate() {
            path += &format!("H{:.1}V{:.1}", x(*ns), y(place as f64 / last));
        }
        path + &format!("V{:.1}H{:.1}", y(1.0), width - RIGHT_PX)
    };
    let rule = |part: f64| {
        html! {
            <>
                <line class="rule" x1={LEFT_PX.to_string()} x2={(width - RIGHT_PX).to_string()} y1={y(part).to_string()} y2={y(part).to_string()} />
                <text x={(LEFT_PX - 6.0).to_string()} y={(y(part) + 4.0).to_string()} text-anchor="end">{ format!("{:.0} %", part * 100.0) }</text>
            </>
        }
    };
    let ticks: Vec<f64> = if is_log {
        (from.ceil() as i32..=to.floor() as i32)
            .map(|power| 10_f64.powi(power))
            .collect()
    } else {
        [0.0, 0.5, 1.0].map(|part| part * most).to_vec()
    };
    let tick = |ns: &f64| {
        let step = Duration(10_u64.pow((*ns as u64).checked_ilog10().unwrap_or(0)));
        // A label at the right edge would be clipped.
        let anchor = if x(*ns) + 2.0 * RIGHT_PX > width {
            "end"
        } else {
            "middle"
        };
        html! { <text x={x(*ns).to_string()} y={(HEIGHT_PX - 6.0).to_string()} text-anchor={anchor}>{ format::axis_label(Nanos(*ns as u64), step, None) }</text> }
    };
    let line = |curve: &Option<Curve>, class: &'static str| {
        curve
            .as_ref()
            .map(|curve| html! { <path {class} d={path(curve)} /> })
    };
    html! {
        <svg width={width.to_string()} height={HEIGHT_PX.to_string()} role="img"
            aria-label="Share that took at most this long, before and after; numbers in the table below">
            { for [0.0, 0.5, 1.0].map(rule) }
            { for ticks.iter().map(tick) }
            { line(&curves[0], "before") }
            { line(&curves[1], "after") }
        </svg>
    }
}

fn table(curves: &[Option<Curve>; 2]) -> Html {
    let cell = |curve: &Option<Curve>, part: f64| {
        let ns = curve
            .as_ref()
            .map(|curve| quantile(curve, part).max(0.0) as u64);
        let text = ns.map_or_else(|| format::NO_VALUE.to_owned(), format::duration_ns);
        TableCell::number(ns, text)
    };
    let row = |(words, part): (&'static str, f64)| {
        let cells = curves.iter().map(|curve| cell(curve, part));
        TableRow::new(TableCell::heading(words), cells)
    };
    let count = |curve: &Option<Curve>| {
        let count = curve.as_ref().map_or(0, |curve| curve.count);
        TableCell::text(format::count(count))
    };
    let mut rows: Vec<TableRow> = PARTS.into_iter().map(row).collect();
    let counts = curves.iter().map(count);
    rows.push(TableRow::new(TableCell::heading("how many"), counts));
    let columns = vec![
        TableColumn::plain("Share", "share"),
        TableColumn::plain("Before", "before_ns"),
        TableColumn::plain("After", "after_ns"),
    ];
    let caption = html! { <caption class="visually-hidden">{ "Share that took at most this long" }</caption> };
    html! { <DataTable name="how-long" {caption} {columns} {rows} /> }
}
