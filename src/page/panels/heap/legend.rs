//! Legend of the chart: the bands in their order, with color, number and actions.

use std::rc::Rc;

use yew::prelude::*;

use super::about::AboutBand;
use crate::panel::{Source, edited};
use crate::theme;
use analysis::heap::Breakdown;
use scene::format;
use session::heap::chart::{Chart, ChartBand};
use session::heap::colors::color;
use views::heap::chart::hit::HitTarget;
use views::heap::chart::paint::number;
use views::heap::chart::words;
use views::heap::settings::HeapView;

#[derive(Properties, PartialEq)]
pub(super) struct LegendProps {
    pub(super) chart: Rc<Option<Chart>>,
    pub(super) source: Source,
    pub(super) breakdown: Breakdown,
    pub(super) view: HeapView,
    /// The pointed band and census of the chart.
    pub(super) pointed: Option<HitTarget>,
    /// Incremented whenever the colors change.
    pub(super) color_generation: u32,
    pub(super) on_view: Callback<HeapView>,
    /// Receives the band pointed at in the legend.
    pub(super) on_point: Callback<Option<usize>>,
}

impl LegendProps {
    fn change(&self, edit: impl Fn(&mut HeapView) + 'static) -> Callback<MouseEvent> {
        edited(&self.view, &self.on_view, move |view, _| edit(view))
    }
}

#[component]
pub(super) fn Legend(props: &LegendProps) -> Html {
    let Some(chart) = &*props.chart else {
        return html! {};
    };
    let band = |(place, band): (usize, &ChartBand)| row(props, chart, place, band);
    let hidden = |(key, name): &(String, String)| {
        let key = key.clone();
        let show = props.change(move |view| view.hide(&key));
        html! {
            <li class="hidden-band"><span class="name">{ name }</span>
                <button class="quiet" onclick={show} aria-label={format!("Show {name} again")}>{ "show" }</button></li>
        }
    };
    let on_leave = props.on_point.reform(|_: PointerEvent| None);
    html! {
        <div class="heap-legend" onpointerleave={on_leave}>
            <p class="faint">{ empty_reason(chart).map_or_else(|| words::bands_words(chart), str::to_owned) }</p>
            <ol aria-label="Bands of the chart">{ for chart.bands.iter().enumerate().map(band) }</ol>
            if !chart.hidden.is_empty() {
                <p class="faint">{ "Hidden" }</p>
                <ul>{ for chart.hidden.iter().map(hidden) }</ul>
            }
        </div>
    }
}

/// Returns the reason if there are no bands.
fn empty_reason(chart: &Chart) -> Option<&'static str> {
    if !chart.bands.is_empty() {
        None
    } else if chart.censuses_in_range == 0 {
        Some("No census in the selected range")
    } else {
        Some("No bands to show: change the filter or show all bands")
    }
}

fn row(props: &LegendProps, chart: &Chart, place: usize, band: &ChartBand) -> Html {
    let pointed = props
        .pointed
        .is_some_and(|pointed| pointed.band == Some(place));
    let fill = color(band.slot, theme::current().dark).css();
    let value = match props.pointed {
        Some(pointed) => format::bytes(chart.stacks.value(place, pointed.stack).round() as u64),
        None if chart.sum_in_range > 0.0 => format::fraction(band.sum / chart.sum_in_range),
        None => String::new(),
    };
    let name = if band.is_single() {
        band.name.clone()
    } else {
        words::others_words(chart)
    };
    let enter = props.on_point.reform(move |_: PointerEvent| Some(place));
    let sentence = words::biography(&band.name).filter(|_| props.breakdown == Breakdown::Biography);
    let label = html! {
        <>
            <svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="2" {fill} /></svg>
            <span class="number">{ number(chart, place) }</span>
            <span class="name">{ name.clone() }</span>
            <span class="number value">{ value }</span>
        </>
    };
    html! {
        <li key={band.key.clone()} class={classes!(pointed.then_some("pointed"), band.pinned.then_some("pinned"))} onpointerenter={enter}>
            if band.is_single() {
                <button class="band" aria-pressed={band.pinned.to_string()} onclick={pin(props, band)}
                    title={format!("{name}: click to highlight this band in all views")}>{ label }</button>
                { actions(props, band) }
            } else {
                <span class="band">{ label }</span>
            }
            if band.pinned {
                <AboutBand source={props.source.clone()} profile={props.view.choice.profile} band={band.key.clone()} />
            } else if let Some(sentence) = sentence {
                <p class="faint">{ sentence }</p>
            }
        </li>
    }
}

fn pin(props: &LegendProps, band: &ChartBand) -> Callback<MouseEvent> {
    let key = band.key.clone();
    props.change(move |view| view.pin(&key))
}

fn actions(props: &LegendProps, band: &ChartBand) -> Html {
    let (hidden, alone) = (band.key.clone(), band.key.clone());
    let is_alone = props.view.choice.alone.as_deref() == Some(&band.key);
    let name = &band.name;
    html! {
        <span class="band-actions">
            <button class="quiet" onclick={props.change(move |view| view.hide(&hidden))} aria-label={format!("Hide {name}")} title="Hide">{ "hide" }</button>
            <button class="quiet" onclick={props.change(move |view| view.alone(&alone))} aria-pressed={is_alone.to_string()}
                aria-label={format!("Show {name} alone")} title="Show alone">{ "only" }</button>
        </span>
    }
}
