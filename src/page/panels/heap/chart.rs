//! The chart tab: controls, canvas and legend.

use std::rc::Rc;

use yew::prelude::*;

use super::canvas::ChartCanvas;
use super::legend::Legend;
use crate::dom::state_callback;
use crate::field::Field;
use crate::menu::Menu;
use crate::panel::{PanelProps, edited, segments, use_answer};
use model::time::Interval;
use scene::viewport::Viewport;
use session::heap::chart::{Chart, ChartQuery, OverlayKind};
use session::heap::profiles::ProfilesQuery;
use views::heap::chart::words;
use views::heap::settings::{Form, HeapView};
use views::view::Change;

/// Up to this number of censuses, bars are clearer than an area.
const FEW: u32 = 4;

#[component]
pub(super) fn ChartTab(props: &PanelProps) -> Html {
    let (view, on_view) = props.settings::<HeapView>();
    let width_px = use_state_eq(|| 0.0);
    let pointed = use_state_eq(|| None);
    let profiles = use_answer(&props.source, ProfilesQuery);
    let log = props.overview.span.unwrap_or_default();
    let axis = props.axis.filter(|_| !view.whole).map(|axis| axis.view);
    let viewport = viewport(log, axis, *width_px);
    let query = ChartQuery {
        choice: view.choice.clone(),
        range: props.range,
        view: Some(viewport.span()),
        width_px: *width_px as u32,
        over: view.over.clone(),
        include: view.include.clone(),
        exclude: view.exclude.clone(),
    };
    let chart = use_answer(&props.source, query);
    let on_width = state_callback(&width_px);
    let on_point = state_callback(&pointed);
    let nothing = || Rc::new(None::<Chart>);
    let chart = chart.unwrap_or_else(nothing);
    let profile = profiles
        .as_ref()
        .and_then(|all| all.get(view.choice.profile as usize));
    let breakdown = profile.map(|profile| profile.breakdown).unwrap_or_default();
    let on_legend = {
        let pointed = pointed.clone();
        let last = chart
            .as_ref()
            .as_ref()
            .map_or(0, |chart| chart.stacks.len().saturating_sub(1));
        Callback::from(move |band: Option<usize>| {
            let stack = pointed.map_or(last, |pointed: views::heap::chart::hit::HitTarget| {
                pointed.stack
            });
            let to = band.map(|band| views::heap::chart::hit::HitTarget {
                stack,
                band: Some(band),
            });
            pointed.set(to);
        })
    };
    let on_range = props.on_change.reform(|selection: Option<Interval>| {
        Change::new(move |view, _| views::view::View { selection, ..view })
    });
    let form = shown_form(&view, chart.as_ref().as_ref());
    html! {
        <div class="heap-chart">
            { controls(&view, &on_view, chart.as_ref().as_ref()) }
            <Legend chart={Rc::clone(&chart)} source={props.source.clone()} {breakdown} view={view.clone()} pointed={*pointed}
                color_generation={props.color_generation} on_view={on_view.clone()} on_point={on_legend} />
            <ChartCanvas chart={Rc::clone(&chart)} {form} one_scale={view.one_scale} {viewport} range={props.range}
                pointed={*pointed} color_generation={props.color_generation} {on_width} {on_point} on_axis_change={props.on_axis_change.clone()} {on_range}
                view={view.clone()} {on_view} />
            { table(chart.as_ref().as_ref()) }
        </div>
    }
}

/// Returns the visible time of the chart, which follows the timeline if it shares the axis.
fn viewport(log: Interval, axis: Option<Viewport>, width_px: f64) -> Viewport {
    let mut viewport = axis.unwrap_or_else(|| Viewport::new(log, width_px));
    viewport.resize(width_px);
    viewport
}

/// Returns the displayed form: bars instead of an area if there are few censuses.
fn shown_form(view: &HeapView, chart: Option<&Chart>) -> Form {
    let few = chart.is_some_and(|chart| chart.censuses <= FEW);
    match view.form {
        Form::Area if few => Form::Bars,
        form => form,
    }
}

fn controls(view: &HeapView, on_view: &Callback<HeapView>, chart: Option<&Chart>) -> Html {
    let forms = Form::ALL.map(|form| (form, form.title(), form.help()));
    let on_form = edited(view, on_view, |view, form| view.form = form);
    let remarks = chart.map(|chart| {
        format!(
            "{}{}",
            words::untimed_words(chart),
            words::merged_words(chart)
        )
    });
    html! {
        <div class="chart-controls">
            { segments("Form of the chart", view.form, &forms, &on_form) }
            if view.form == Form::Lines {
                <label class="check"><input type="checkbox" checked={view.one_scale}
                    onchange={edited(view, on_view, |view, _: Event| view.one_scale = !view.one_scale)} />{ "One scale" }</label>
            }
            if chart.is_none_or(|chart| chart.timed) {
                <Menu id="heap-over" label="Overlay" title="Overlays of the chart">{ over(view, on_view) }</Menu>
                <label class="check" title="Instead of the visible range of the timeline"><input type="checkbox" checked={view.whole}
                    onchange={edited(view, on_view, |view, _: Event| view.whole = !view.whole)} />{ "Whole log" }</label>
            }
            <span class="faint words">{ remarks }</span>
        </div>
    }
}

/// Renders the controls of overlays.
fn over(view: &HeapView, on_view: &Callback<HeapView>) -> Html {
    let toggle = |&over: &OverlayKind| {
        let onchange = edited(view, on_view, move |view, _: Event| view.toggle(over));
        html! {
            <label class="check" title={over.help()}>
                <input type="checkbox" checked={view.over.contains(&over)} {onchange} />{ over.title() }
            </label>
        }
    };
    let include = edited(view, on_view, |view, text| view.include = text);
    let exclude = edited(view, on_view, |view, text| view.exclude = text);
    html! {
        <>
            { for OverlayKind::ALL.iter().map(toggle) }
            if view.over.contains(&OverlayKind::Messages) {
                <label class="words">{ "With " }<Field kind="text" placeholder="any text" value={view.include.clone()} on_input={include} /></label>
                <label class="words">{ "Without " }<Field kind="text" placeholder="nothing" value={view.exclude.clone()} on_input={exclude} /></label>
            }
            <p class="hint">{ "Sizes are drawn over areas and bars, on the same scale." }</p>
        </>
    }
}

/// Renders the chart as a visually hidden table, for screen readers.
fn table(chart: Option<&Chart>) -> Html {
    let Some(chart) = chart else {
        return html! {};
    };
    let row = |(place, band)| {
        let [first, last, most, share] = words::row(chart, band);
        html! { <tr><th scope="row">{ words::title(chart, place) }</th><td>{ first }</td><td>{ last }</td><td>{ most }</td><td>{ share }</td></tr> }
    };
    html! {
        <table class="visually-hidden">
            <caption>{ "Bands of the chart, in the range" }</caption>
            <thead><tr><th scope="col">{ "Band" }</th><th scope="col">{ "First census" }</th><th scope="col">{ "Last census" }</th>
                <th scope="col">{ "Maximum" }</th><th scope="col">{ "Share" }</th></tr></thead>
            <tbody>{ for chart.bands.iter().enumerate().map(row) }</tbody>
        </table>
    }
}
