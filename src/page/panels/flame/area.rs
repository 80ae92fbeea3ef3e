//! The bytes of a box of the heap's flame graph over time: below the axis of
//! the timeline, with the range and what is compared, and a census to go to or
//! to compare.

use std::rc::Rc;

use yew::prelude::*;

use crate::chart::use_width;
use crate::panel::{Source, use_answer};
use crate::viewer::Goto;
use eventlog::ids::Nanos;
use model::profile::source::Source as StackSource;
use model::time::Interval;
use scene::format;
use scene::viewport::Viewport;
use session::flame::area::{FlameArea, FlameAreaQuery};
use session::flame::query::View;
use views::flame::AreaPlot;
use views::view::flame::FlameView;

/// The height of the picture, which the style sheet knows too.
const HEIGHT_PX: f64 = 64.0;
/// So many censuses are drawn at most.
const MOST: u32 = 2_000;
/// So many rows has the table for those who do not see the picture.
const ROWS: usize = 40;
/// So many censuses a page goes.
const PAGE: usize = 10;

#[derive(Properties, PartialEq)]
pub(super) struct AreaProps {
    pub(super) source: Source,
    /// Where the stacks come from.
    pub(super) stacks: StackSource,
    /// What the box is called.
    pub(super) title: AttrValue,
    /// The view that the box is in.
    pub(super) of: View,
    /// The stack of the box; `None` for all that is in the view.
    pub(super) stack: Option<u32>,
    /// What the timeline shows.
    pub(super) axis: Option<Viewport>,
    /// All of the log.
    pub(super) log: Interval,
    pub(super) range: Option<Interval>,
    pub(super) view: FlameView,
    pub(super) on_view: Callback<FlameView>,
    pub(super) on_goto: Callback<Goto>,
}

/// An end of what is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    From,
    To,
}

impl End {
    const fn key(self) -> &'static str {
        match self {
            Self::From => "[",
            Self::To => "]",
        }
    }
}

/// The area, with its numbers beside it.
#[component]
pub(super) fn Area(props: &AreaProps) -> Html {
    let (node, width) = use_width();
    let pointed = use_state_eq(|| None::<usize>);
    let chosen = use_state_eq(|| None::<Nanos>);
    let question = FlameAreaQuery {
        source: props.stacks,
        steps: props.view.steps.clone(),
        view: props.of.clone(),
        stack: props.stack,
        span: props.axis.and_then(|axis| axis.visible()),
        around: true,
        most: MOST,
    };
    let area = use_answer(&props.source, question).unwrap_or_default();
    let shown = Shown::new(area, props, width);
    let plot = shown.plot();
    let current = chosen.and_then(|time| plot.nearest(plot.x(time)));
    let choose = {
        let (chosen, on_goto, shown) = (chosen.setter(), props.on_goto.clone(), shown.clone());
        Callback::from(move |index: usize| {
            if let Some(time) = shown.plot().time(index) {
                chosen.set(Some(time));
                if shown.area.timed {
                    on_goto.emit(Goto::time(time));
                }
            }
        })
    };
    let onpointermove = {
        let (pointed, shown) = (pointed.setter(), shown.clone());
        move |event: PointerEvent| pointed.set(shown.plot().nearest(f64::from(event.offset_x())))
    };
    let onpointerleave = {
        let pointed = pointed.setter();
        move |_: PointerEvent| pointed.set(None)
    };
    let onclick = {
        let (choose, shown) = (choose.clone(), shown.clone());
        move |event: MouseEvent| {
            let index = shown.plot().nearest(f64::from(event.offset_x()));
            index.into_iter().for_each(|index| choose.emit(index));
        }
    };
    let compare = compare(props, &shown, current.and_then(|index| plot.time(index)));
    let onkeydown = keys(current, plot.len(), choose, compare.clone());
    let label = format!(
        "{} over time. Arrow keys go from census to census; [ and ] compare from one and to one.",
        props.title
    );
    let text = current.map_or_else(|| "no census chosen".to_owned(), |index| shown.words(index));
    let at = pointed.or(current);
    html! {
        <div class="flame-area">
            { beside(props, &shown, at, compare.as_ref()) }
            <div class="flame-area-plot" ref={node} role="slider" tabindex="0" aria-label={label}
                aria-valuemin="0" aria-valuemax={plot.len().to_string()}
                aria-valuenow={current.map_or(0, |index| index + 1).to_string()} aria-valuetext={text}
                {onkeydown} {onpointermove} {onpointerleave} {onclick}>
                if !plot.is_empty() && width > 0.0 {
                    { picture(&shown, props, at) }
                }
            </div>
            <Table area={Rc::clone(&shown.area)} title={props.title.clone()} />
        </div>
    }
}

/// An answer and where it is drawn.
#[derive(Clone)]
struct Shown {
    area: Rc<FlameArea>,
    view: Viewport,
}

/// What is shown from left to right, as on the timeline.
fn viewport(props: &AreaProps, width_px: f64) -> Viewport {
    let mut view = props
        .axis
        .unwrap_or_else(|| Viewport::new(props.log, width_px));
    view.resize(width_px);
    view
}

impl Shown {
    fn new(area: Rc<FlameArea>, props: &AreaProps, width_px: f64) -> Self {
        let censuses = area.time.len() as u64;
        // Without times the numbers of the censuses are the axis.
        let view = match area.timed || censuses == 0 {
            true => viewport(props, width_px),
            false => Viewport::new(Interval::new(Nanos(0), Nanos(censuses)), width_px),
        };
        Self { area, view }
    }

    fn plot(&self) -> AreaPlot<'_> {
        AreaPlot::new(&self.area, self.view, HEIGHT_PX)
    }

    /// A census as people call it: by its time, or its number.
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

/// What compares the chosen census with another one.
fn compare(props: &AreaProps, shown: &Shown, chosen: Option<Nanos>) -> Option<Callback<End>> {
    let chosen = chosen?;
    let plot = shown.plot();
    let (first, last) = (plot.time(0)?, plot.time(plot.len().checked_sub(1)?)?);
    let (view, on_view) = (props.view.clone(), props.on_view.clone());
    Some(Callback::from(move |end: End| {
        let moments = view.moments;
        let pair = match end {
            End::From => (chosen, moments.map_or(last, |moments| moments.end())),
            End::To => (moments.map_or(first, |moments| moments.start()), chosen),
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
    compare: Option<Callback<End>>,
) -> Callback<KeyboardEvent> {
    Callback::from(move |event: KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() || len == 0 {
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
                let end = [End::From, End::To]
                    .into_iter()
                    .find(|end| end.key() == key);
                let (Some(end), Some(compare)) = (end, &compare) else {
                    return;
                };
                event.prevent_default();
                event.stop_propagation();
                return compare.emit(end);
            }
        };
        event.prevent_default();
        event.stop_propagation();
        choose.emit(to.min(len - 1));
    })
}

/// What the box is, its bytes at one census, and what can be done with that.
fn beside(
    props: &AreaProps,
    shown: &Shown,
    at: Option<usize>,
    compare: Option<&Callback<End>>,
) -> Html {
    let words = at.and_then(|index| Some((index, shown.plot().time(index)?)));
    let button = |end: End, text: &'static str, title: &'static str| {
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
                <span>{ shown.plot().words(index) }</span>
                <span class="faint">{ shown.name(time) }</span>
            } else {
                <span class="faint">{ many(&shown.area) }</span>
                if !shown.area.timed && shown.area.censuses > 0 {
                    <span class="faint" title="A biographical profile is written at the end of the run, without the times of its censuses">{ "by number: no times" }</span>
                }
            }
            <span class="tools">
                { button(End::From, "From here", "Compare from the chosen census on: what grew and shrank since") }
                { button(End::To, "To here", "Compare up to the chosen census: what had grown and shrunk") }
            </span>
        </div>
    }
}

/// How many censuses are in view.
fn many(area: &FlameArea) -> String {
    match area.censuses {
        0 => "no census in view".to_owned(),
        1 => "1 census in view".to_owned(),
        many => format!("{} censuses in view", format::count(many.into())),
    }
}

fn picture(shown: &Shown, props: &AreaProps, at: Option<usize>) -> Html {
    let plot = shown.plot();
    let line = |time: Nanos, class: &'static str| {
        let x = format!("{:.1}", plot.x(time));
        html! { <line {class} x1={x.clone()} x2={x} y1="0" y2={HEIGHT_PX.to_string()} /> }
    };
    let range = props.range.filter(|_| shown.area.timed);
    let range = range.and_then(|range| range.intersection(shown.view.span())).map(|range| {
        let (left, right) = (plot.x(range.start()), plot.x(range.end()));
        html! {
            <rect class="range" x={format!("{left:.1}")} width={format!("{:.1}", (right - left).max(1.0))} y="0" height={HEIGHT_PX.to_string()} />
        }
    });
    let in_view = |time: &Nanos| (0.0..=shown.view.width_px()).contains(&plot.x(*time));
    let ends = props
        .view
        .moments
        .map(|moments| [(moments.start(), "A"), (moments.end(), "B")]);
    let ends = ends.into_iter().flatten().filter(|(time, _)| in_view(time));
    let end = |(time, name): (Nanos, &'static str)| {
        // The letters stand between both lines.
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
        <svg width={shown.view.width_px().to_string()} height={HEIGHT_PX.to_string()} aria-hidden="true">
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

/// The numbers for those who do not see the picture: some of the censuses,
/// evenly. Arrow keys on the picture tell all of them.
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
            <thead><tr><th scope="col">{ "Census" }</th><th scope="col">{ "With all it called" }</th><th scope="col">{ "Itself" }</th></tr></thead>
            <tbody>{ for (0..len).step_by(every).map(row) }</tbody>
        </table>
    }
}
