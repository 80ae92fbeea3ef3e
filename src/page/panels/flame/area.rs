//! Bytes of a box of the heap flame graph over time, on the axis of the timeline, with the range, the compared
//! censuses and a cursor to go to a census or to compare it.

use std::rc::Rc;

use yew::prelude::*;

use crate::chart::use_width;
use crate::dom::{consume, has_modifier, position, state_callback};
use crate::panel::{Source, use_answer};
use crate::viewer::NavigationTarget;
use eventlog::ids::Nanos;
use model::profile::source::Source as StackSource;
use model::time::Interval;
use scene::format;
use scene::viewport::Viewport;
use session::flame::area::{FlameArea, FlameAreaQuery};
use session::flame::query::View;
use views::flame::AreaPlot;
use views::view::flame::FlameView;

/// Height of the picture, in CSS pixels; must match the style sheet.
const HEIGHT_PX: f64 = 64.0;
/// Maximum number of censuses drawn.
const MOST: u32 = 2_000;
/// Maximum number of rows in the table for screen readers.
const ROWS: usize = 40;
/// Number of censuses that Page Up and Page Down move by.
const PAGE: usize = 10;

#[derive(Properties, PartialEq)]
pub(super) struct AreaProps {
    pub(super) source: Source,
    /// Source of the stacks.
    pub(super) stacks: StackSource,
    /// Display name of the box.
    pub(super) title: AttrValue,
    /// Graph view that contains the box.
    pub(super) of: View,
    /// Stack of the box; `None` means everything in the view.
    pub(super) stack: Option<u32>,
    /// Time axis of the timeline, if shared.
    pub(super) axis: Option<Viewport>,
    /// Span of the whole log.
    pub(super) log: Interval,
    pub(super) range: Option<Interval>,
    pub(super) view: FlameView,
    pub(super) on_view: Callback<FlameView>,
    pub(super) on_goto: Callback<NavigationTarget>,
}

/// One of the two compared censuses.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RangeEnd {
    From,
    To,
}

impl RangeEnd {
    const fn key(self) -> &'static str {
        match self {
            Self::From => "[",
            Self::To => "]",
        }
    }
}

/// Renders the area with its numbers at the side.
#[component]
pub(super) fn Area(props: &AreaProps) -> Html {
    let (node, width) = use_width();
    let pointed = use_state_eq(|| None::<usize>);
    let chosen = use_state_eq(|| None::<Nanos>);
    let query = FlameAreaQuery {
        source: props.stacks,
        steps: props.view.steps.clone(),
        view: props.of.clone(),
        stack: props.stack,
        span: props.axis.and_then(|axis| axis.visible()),
        around: true,
        most: MOST,
    };
    let area = use_answer(&props.source, query).unwrap_or_default();
    let chart = AreaChart::new(area, props, width);
    let plot = chart.plot();
    let current = chosen.and_then(|time| plot.nearest(plot.x(time)));
    let choose = {
        let (chosen, on_goto, chart) = (chosen.setter(), props.on_goto.clone(), chart.clone());
        Callback::from(move |index: usize| {
            if let Some(time) = chart.plot().time(index) {
                chosen.set(Some(time));
                if chart.area.timed {
                    on_goto.emit(NavigationTarget::time(time));
                }
            }
        })
    };
    let nearest = {
        let chart = chart.clone();
        move |event: &MouseEvent| chart.plot().nearest(position(event).0)
    };
    let on_point = state_callback(&pointed);
    let onpointerleave = on_point.reform(|_: PointerEvent| None);
    let onpointermove = {
        let nearest = nearest.clone();
        on_point.reform(move |event: PointerEvent| nearest(&event))
    };
    let onclick = {
        let choose = choose.clone();
        move |event: MouseEvent| {
            nearest(&event)
                .into_iter()
                .for_each(|index| choose.emit(index));
        }
    };
    let compare = compare(props, &chart, current.and_then(|index| plot.time(index)));
    let onkeydown = keys(current, plot.len(), choose, compare.clone());
    let label = format!(
        "{} over time. Arrow keys move between censuses; [ and ] set the start and end of a comparison.",
        props.title
    );
    let text = current.map_or_else(|| "no census chosen".to_owned(), |index| chart.words(index));
    let at = pointed.or(current);
    html! {
        <div class="flame-area">
            { side_panel(props, &chart, at, compare.as_ref()) }
            <div class="flame-area-plot" ref={node} role="slider" tabindex="0" aria-label={label}
                aria-valuemin="0" aria-valuemax={plot.len().to_string()}
                aria-valuenow={current.map_or(0, |index| index + 1).to_string()} aria-valuetext={text}
                {onkeydown} {onpointermove} {onpointerleave} {onclick}>
                if !plot.is_empty() && width > 0.0 {
                    { picture(&chart, props, at) }
                }
            </div>
            <Table area={Rc::clone(&chart.area)} title={props.title.clone()} />
        </div>
    }
}

/// An answer with the viewport in which it is drawn.
#[derive(Clone)]
struct AreaChart {
    area: Rc<FlameArea>,
    view: Viewport,
}

/// Returns the visible time, that of the timeline if the axis is shared.
fn viewport(props: &AreaProps, width_px: f64) -> Viewport {
    let mut view = props
        .axis
        .unwrap_or_else(|| Viewport::new(props.log, width_px));
    view.resize(width_px);
    view
}

impl AreaChart {
    fn new(area: Rc<FlameArea>, props: &AreaProps, width_px: f64) -> Self {
        let censuses = area.time.len() as u64;
        // For censuses without times, their index serves as the axis.
        let view = match area.timed || censuses == 0 {
            true => viewport(props, width_px),
            false => Viewport::new(Interval::new(Nanos(0), Nanos(censuses)), width_px),
        };
        Self { area, view }
    }

    fn plot(&self) -> AreaPlot<'_> {
        AreaPlot::new(&self.area, self.view, HEIGHT_PX)
    }

    /// Formats a census by its time or, without times, its number.
    fn name(&self, time: Nanos) -> String {
        match self.area.timed {
            true => format!("census at {}", format::time(time)),
            false => format!("census {}", time.0 + 1),
        }
    }

    fn words(&self, index: usize) -> String {
        let plot = self.plot();
        let words = plot.words(index).unwrap_or_default();
        let name = plot.time(index).map(|time| self.name(time));
        format!("{words}, {}", name.unwrap_or_default())
    }
}

/// Returns the callback that makes the chosen census an end of the comparison; the other end defaults to the first or
/// last census.
fn compare(
    props: &AreaProps,
    chart: &AreaChart,
    chosen: Option<Nanos>,
) -> Option<Callback<RangeEnd>> {
    let chosen = chosen?;
    let plot = chart.plot();
    let (first, last) = (plot.time(0)?, plot.time(plot.len().checked_sub(1)?)?);
    let (view, on_view) = (props.view.clone(), props.on_view.clone());
    Some(Callback::from(move |end: RangeEnd| {
        let moments = view.moments;
        let pair = match end {
            RangeEnd::From => (chosen, moments.map_or(last, |moments| moments.end())),
            RangeEnd::To => (moments.map_or(first, |moments| moments.start()), chosen),
        };
        on_view.emit(FlameView {
            moments: Some(Interval::between(pair.0, pair.1)),
            before: None,
            ..view.clone()
        });
    }))
}

fn keys(
    current: Option<usize>,
    len: usize,
    choose: Callback<usize>,
    compare: Option<Callback<RangeEnd>>,
) -> Callback<KeyboardEvent> {
    Callback::from(move |event: KeyboardEvent| {
        if has_modifier(&event) || len == 0 {
            return;
        }
        let key = event.key();
        let here = current.unwrap_or(0);
        let to = match key.as_str() {
            "ArrowRight" | "ArrowUp" if current.is_none() => here,
            "ArrowRight" | "ArrowUp" => here + 1,
            "ArrowLeft" | "ArrowDown" => here.saturating_sub(1),
            "PageUp" => here + PAGE,
            "PageDown" => here.saturating_sub(PAGE),
            "Home" => 0,
            "End" => len - 1,
            key => {
                let end = [RangeEnd::From, RangeEnd::To]
                    .into_iter()
                    .find(|end| end.key() == key);
                let (Some(end), Some(compare)) = (end, &compare) else {
                    return;
                };
                consume(&event);
                return compare.emit(end);
            }
        };
        consume(&event);
        choose.emit(to.min(len - 1));
    })
}

/// Renders the name of the box, its bytes at one census, and the actions on it.
fn side_panel(
    props: &AreaProps,
    chart: &AreaChart,
    at: Option<usize>,
    compare: Option<&Callback<RangeEnd>>,
) -> Html {
    let words = at.and_then(|index| Some((index, chart.plot().time(index)?)));
    let button = |end: RangeEnd, text: &'static str, title: &'static str| {
        let compare = compare.cloned();
        let disabled = compare.is_none();
        let title = format!("{title} ({})", end.key());
        let onclick = Callback::from(move |_: MouseEvent| {
            compare.iter().for_each(|compare| compare.emit(end));
        });
        html! { <button class="small" {disabled} {title} {onclick}>{ text }</button> }
    };
    html! {
        <div class="flame-area-words">
            <strong title={props.title.clone()}>{ props.title.clone() }</strong>
            if let Some((index, time)) = words {
                <span>{ chart.plot().words(index) }</span>
                <span class="faint">{ chart.name(time) }</span>
            } else {
                <span class="faint">{ many(&chart.area) }</span>
                if !chart.area.timed && chart.area.censuses > 0 {
                    <span class="faint" title="Biographical profiles are logged at the end of the run, without census times">{ "by number: no times" }</span>
                }
            }
            <span class="tools">
                { button(RangeEnd::From, "From here", "Compare later censuses with the selected one") }
                { button(RangeEnd::To, "To here", "Compare the selected census with earlier ones") }
            </span>
        </div>
    }
}

/// Formats the number of visible censuses.
fn many(area: &FlameArea) -> String {
    match area.censuses {
        0 => "no census in view".to_owned(),
        1 => "1 census in view".to_owned(),
        many => format!("{} censuses in view", format::count(many.into())),
    }
}

fn picture(chart: &AreaChart, props: &AreaProps, at: Option<usize>) -> Html {
    let plot = chart.plot();
    let line = |time: Nanos, class: &'static str| {
        let x = format!("{:.1}", plot.x(time));
        html! { <line {class} x1={x.clone()} x2={x} y1="0" y2={HEIGHT_PX.to_string()} /> }
    };
    let range = props.range.filter(|_| chart.area.timed);
    let range = range.and_then(|range| range.intersection(chart.view.span())).map(|range| {
        let (left, right) = (plot.x(range.start()), plot.x(range.end()));
        html! {
            <rect class="range" x={format!("{left:.1}")} width={format!("{:.1}", (right - left).max(1.0))} y="0" height={HEIGHT_PX.to_string()} />
        }
    });
    let in_view = |time: &Nanos| (0.0..=chart.view.width_px()).contains(&plot.x(*time));
    let ends = props
        .view
        .moments
        .map(|moments| [(moments.start(), "A"), (moments.end(), "B")]);
    let ends = ends.into_iter().flatten().filter(|(time, _)| in_view(time));
    let end = |(time, name): (Nanos, &'static str)| {
        // Both letters are placed between the two lines.
        let (dx, anchor) = if name == "A" {
            (4.0, "start")
        } else {
            (-4.0, "end")
        };
        html! {
            <>
                { line(time, "moment") }
                <text class="moment" x={format!("{:.1}", plot.x(time) + dx)} y="24" text-anchor={anchor}>{ name }</text>
            </>
        }
    };
    html! {
        <svg width={chart.view.width_px().to_string()} height={HEIGHT_PX.to_string()} aria-hidden="true">
            <defs>
                <pattern id="flame-area-own" width="6" height="6" patternUnits="userSpaceOnUse">
                    <path d="M-1 1 1-1M0 6 6 0M5 7 7 5" />
                </pattern>
            </defs>
            { for range }
            <path class="total" d={plot.total()} />
            <path class="own" d={plot.own()} />
            <path fill="url(#flame-area-own)" d={plot.own()} />
            <text class="max" x="4" y="11">{ plot.max_text() }</text>
            { for ends.map(end) }
            { for at.and_then(|index| plot.time(index)).map(|time| line(time, "pointer")) }
        </svg>
    }
}

#[derive(Properties, PartialEq)]
struct TableProps {
    area: Rc<FlameArea>,
    title: AttrValue,
}

/// Renders an evenly spaced sample of censuses as a table for screen readers. Arrow keys on the picture reach every
/// census.
#[component]
fn Table(props: &TableProps) -> Html {
    let area = &props.area;
    let len = area.time.len();
    let every = len.div_ceil(ROWS).max(1);
    let row = |index: usize| {
        let text = |column: &[f64]| column.get(index).map(|&bytes| format::bytes(bytes as u64));
        let time = area.time.get(index).map_or(0, |&time| time as u64);
        let name = match area.timed {
            true => format::time(Nanos(time)),
            false => (time + 1).to_string(),
        };
        html! {
            <tr><th scope="row">{ name }</th><td>{ text(&area.total) }</td><td>{ text(&area.own) }</td></tr>
        }
    };
    html! {
        <table class="visually-hidden">
            <caption>{ format!("{} over time: {}", props.title, many(area)) }</caption>
            <thead><tr><th scope="col">{ "Census" }</th><th scope="col">{ "Total" }</th><th scope="col">{ "Self" }</th></tr></thead>
            <tbody>{ for (0..len).step_by(every).map(row) }</tbody>
        </table>
    }
}
