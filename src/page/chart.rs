//! Shared parts of charts (frame, axes, bands, patterns and legends) and two kinds of charts: histogram and values
//! over time.

use std::ops::Range;

use web_sys::HtmlElement;
use yew::prelude::*;

use super::dom::{consume, state_callback};
use super::timeline::Observer;
use eventlog::ids::{Duration, Nanos};
use model::time::Interval;
use scene::chart::{count_ticks, short, steps, value_ticks};
use scene::format;
use scene::ruler;

/// Height of every chart, repeated in the style sheet.
const HEIGHT_PX: f64 = 150.0;
const LEFT_PX: f64 = 52.0;
const RIGHT_PX: f64 = 14.0;
const TOP_PX: f64 = 16.0;
const BOTTOM_PX: f64 = 22.0;
/// Estimated width of a character of a label.
const CHAR_PX: f64 = 6.2;

/// Data series with a palette color and a pattern that distinguishes it without color.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) name: AttrValue,
    pub(super) class: &'static str,
    pub(super) pattern: usize,
}

/// SVG paths of the patterns; pattern 0 is a plain surface.
const PATTERNS: [&str; 4] = [
    "M-1 1 1-1M0 6 6 0M5 7 7 5",
    "M1.5 1.5h1.5v1.5h-1.5zM4.5 4.5h1.5v1.5h-1.5z",
    "M0 3H6",
    "M3 0V6",
];

/// Renders the SVG pattern definitions; a page with charts needs them once.
pub(super) fn patterns() -> Html {
    let pattern = |(i, path): (usize, &&'static str)| {
        html! {
            <pattern id={format!("pattern-{}", i + 1)} width="6" height="6" patternUnits="userSpaceOnUse">
                <path class="pattern" d={*path} />
            </pattern>
        }
    };
    html! {
        <svg class="visually-hidden" aria-hidden="true" width="0" height="0">
            <defs>{ for PATTERNS.iter().enumerate().map(pattern) }</defs>
        </svg>
    }
}

impl Series {
    /// Renders a filled path in color and pattern.
    fn surface(&self, path: String) -> Html {
        let over = (self.pattern > 0).then(|| {
            let fill = format!("url(#pattern-{})", self.pattern.min(PATTERNS.len()));
            html! { <path d={path.clone()} {fill} /> }
        });
        html! { <><path class={self.class} d={path} />{ over }</> }
    }
}

/// Renders a small swatch of a series, to precede its name.
pub(super) fn sample(series: &Series) -> Html {
    html! {
        <svg class="sample" width="12" height="12" aria-hidden="true">{ series.surface("M0 0H12V12H0Z".into()) }</svg>
    }
}

/// Renders a legend of the series, with a number after each name where `values` has one.
pub(super) fn legend(series: &[Series], values: &[String]) -> Html {
    let entry = |(i, series): (usize, &Series)| {
        html! {
            <li>
                { sample(series) }{ " " }{ series.name.clone() }
                if let Some(value) = values.get(i) { <span class="number">{ " " }{ value }</span> }
            </li>
        }
    };
    html! { <ul class="legend">{ for series.iter().enumerate().map(entry) }</ul> }
}

/// Returns the width of an element in pixels, 0 before it is known.
#[hook]
pub(super) fn use_width() -> (NodeRef, f64) {
    let node = use_node_ref();
    let width = use_size(&node, |element| f64::from(element.client_width()));
    (node, width)
}

/// Measures an element now and whenever its size changes; returns the default before it is known.
#[hook]
pub(super) fn use_size<T: Copy + Default + PartialEq + 'static>(
    node: &NodeRef,
    measure: fn(&HtmlElement) -> T,
) -> T {
    let size = use_state_eq(T::default);
    {
        let (node, size) = (node.clone(), size.setter());
        use_effect_with((), move |()| {
            let observer = node.cast::<HtmlElement>().and_then(|element| {
                let measured = element.clone();
                let update = move || size.set(measure(&measured));
                update();
                Observer::new(&element, update)
            });
            move || drop(observer)
        });
    }
    *size
}

/// Mapping from values to pixels in a chart of a given width.
#[derive(Clone, Copy)]
struct Plot {
    width: f64,
    max: f64,
}

impl Plot {
    fn x(self, part: f64) -> f64 {
        LEFT_PX + part.clamp(0.0, 1.0) * (self.width - LEFT_PX - RIGHT_PX).max(0.0)
    }

    fn y(self, value: f64) -> f64 {
        let height = HEIGHT_PX - TOP_PX - BOTTOM_PX;
        HEIGHT_PX - BOTTOM_PX - (value / self.max).clamp(0.0, 1.0) * height
    }

    /// Renders grid lines and labels of the value axis.
    fn value_axis(self, ticks: &[f64]) -> Html {
        let right = self.x(1.0).to_string();
        let tick = |&value: &f64| {
            let y = self.y(value);
            html! {
                <>
                    <line class="grid-line" x1={LEFT_PX.to_string()} x2={right.clone()} y1={y.to_string()} y2={y.to_string()} />
                    <text x={(LEFT_PX - 6.0).to_string()} y={(y + 4.0).to_string()} text-anchor="end">{ short(value) }</text>
                </>
            }
        };
        html! { <g class="axis">{ for ticks.iter().map(tick) }</g> }
    }

    /// Renders a tick and label below the time axis; the label is kept within the chart.
    fn x_label(self, x: f64, text: String) -> Html {
        let half = text.chars().count() as f64 * CHAR_PX / 2.0;
        let middle = x.min(self.width - half - 1.0).max(half + 1.0);
        html! {
            <g class="axis">
                <line class="tick" x1={x.to_string()} x2={x.to_string()} y1={self.y(0.0).to_string()} y2={(self.y(0.0) + 4.0).to_string()} />
                <text x={middle.to_string()} y={(HEIGHT_PX - 5.0).to_string()} text-anchor="middle">{ text }</text>
            </g>
        }
    }
}

/// Renders a title and the chart in a box whose size is independent of the chart.
fn figure(title: &str, unit: &str, node: NodeRef, body: Html) -> Html {
    html! {
        <figure class="chart">
            <figcaption><strong>{ title }</strong>{ " " }<span class="faint">{ unit }</span></figcaption>
            <div class="chart-box" ref={node}>{ body }</div>
        </figure>
    }
}

/// Histogram bin: counts of items whose duration lies in a range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bin {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// Count per series.
    pub(super) counts: Vec<u64>,
    /// Total duration of all items in the bin, if known.
    pub(super) total_ns: Option<u64>,
}

impl Bin {
    fn total_duration(&self) -> Option<String> {
        let ns = self.total_ns?;
        Some(format::duration_ns(ns))
    }

    fn total(&self) -> u64 {
        self.counts.iter().copied().fold(0, u64::saturating_add)
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct HistogramProps {
    pub(super) title: AttrValue,
    /// Unit of the counted items, for the axis.
    pub(super) unit: AttrValue,
    pub(super) series: Vec<Series>,
    pub(super) bins: Vec<Bin>,
    /// Duration range of the selected bar, in nanoseconds.
    pub(super) chosen: Option<Range<u64>>,
    /// Called with the range of the clicked bar; `None` if that bar was already selected.
    pub(super) on_choose: Callback<Option<Range<u64>>>,
}

/// Formats a range of durations briefly: `1 ms to 2 ms`.
pub(super) fn lengths(of: &Range<u64>) -> String {
    format!("{} to {}", bound(of.start), bound(of.end))
}

/// Formats the bound of a bin briefly: 1.024 ms becomes `1 ms`.
fn bound(ns: u64) -> String {
    let step = 10_u64.pow(ns.checked_ilog10().unwrap_or(0));
    format::axis_label(Nanos(ns), Duration(step), None)
}

/// Histogram of durations: adjacent bars of equal width, each a button.
#[component]
pub(super) fn Histogram(props: &HistogramProps) -> Html {
    let (node, width) = use_width();
    let HistogramProps { series, bins, .. } = props;
    let most = bins.iter().map(Bin::total).max().unwrap_or(0);
    let ticks = count_ticks(most, 4);
    let plot = Plot {
        width,
        max: ticks.last().copied().unwrap_or(1.0),
    };
    let label = format!(
        "{}: each bar is a button that shows its contents; the table after it has the numbers",
        props.title
    );
    let body = html! {
        if width > 0.0 {
            <svg width={width.to_string()} height={HEIGHT_PX.to_string()} role="group" aria-label={label}>
                { plot.value_axis(&ticks) }
                { bars(plot, props) }
                { bounds(plot, bins) }
            </svg>
        }
    };
    html! {
        <div>
            { figure(&props.title, &props.unit, node, body) }
            if series.len() > 1 { { legend(series, &[]) } }
            { table(props) }
        </div>
    }
}

fn bars(plot: Plot, props: &HistogramProps) -> Html {
    /// Minimum height, so that non-empty bins are visible.
    const MIN_BAR_PX: f64 = 2.0;
    let len = props.bins.len().max(1) as f64;
    let bar = |(i, bin): (usize, &Bin)| {
        let (left, right) = (plot.x(i as f64 / len), plot.x((i + 1) as f64 / len));
        let (from, to) = (left + 1.0, (right - 1.0).max(left + 2.0));
        let mut bottom = plot.y(0.0);
        let mut parts = Vec::new();
        for (series, &count) in props.series.iter().zip(&bin.counts) {
            if count > 0 {
                let height = (plot.y(0.0) - plot.y(count as f64)).max(MIN_BAR_PX);
                let top = bottom - height;
                parts.push(series.surface(format!(
                    "M{from:.1} {bottom:.1}H{to:.1}V{top:.1}H{from:.1}Z"
                )));
                bottom = top;
            }
        }
        let text = format::count(bin.total());
        let fits = text.len() as f64 * CHAR_PX <= right - left + 2.0;
        let middle = f64::midpoint(left, right);
        let of = bin.from_ns..bin.to_ns;
        let total = bin.total_duration();
        let total = total.map_or_else(String::new, |time| format!(" each, {time} in total"));
        let label = format!("{text} of {}{total}", lengths(&of));
        let pressed = props.chosen.as_ref() == Some(&of);
        let on_choose = props
            .on_choose
            .reform(move |()| (!pressed).then(|| of.clone()));
        let onclick = on_choose.reform(|_: MouseEvent| ());
        let onkeydown = Callback::from(move |event: KeyboardEvent| {
            if matches!(event.key().as_str(), "Enter" | " ") {
                consume(&event);
                on_choose.emit(());
            }
        });
        if bin.total() == 0 {
            return html! { <g><title>{ label }</title></g> };
        }
        // The full height is clickable, because the lowest bars are only two pixels high.
        let all = format!(
            "M{from:.1} {:.1}H{to:.1}V{TOP_PX:.1}H{from:.1}Z",
            plot.y(0.0)
        );
        html! {
            <g class="bar-button" role="button" tabindex="0" aria-label={label.clone()} aria-pressed={pressed.to_string()} {onclick} {onkeydown}>
                <title>{ label }</title>
                <path class="bar-room" d={all} />
                { for parts }
                if fits && bin.total() > 0 {
                    <text class="bar-number" x={middle.to_string()} y={(bottom - 3.0).to_string()} text-anchor="middle">{ text }</text>
                }
            </g>
        }
    };
    html! { <>{ for props.bins.iter().enumerate().map(bar) }</> }
}

/// Renders the bounds of the bins below the axis, thinned out to fit.
fn bounds(plot: Plot, bins: &[Bin]) -> Html {
    const MIN_DISTANCE_PX: f64 = 46.0;
    let len = bins.len().max(1);
    let bin_px = (plot.x(1.0) - plot.x(0.0)) / len as f64;
    let every = (1..=len)
        .find(|&every| every as f64 * bin_px >= MIN_DISTANCE_PX)
        .unwrap_or(len);
    let ends = bins.iter().map(|bin| bin.from_ns);
    let ends = ends.chain(bins.last().map(|bin| bin.to_ns)).enumerate();
    let label = |(i, ns): (usize, u64)| plot.x_label(plot.x(i as f64 / len as f64), bound(ns));
    html! { <>{ for ends.filter(|(i, _)| i % every == 0).map(label) }</> }
}

/// Renders the counts of the bars as a table for screen readers.
fn table(props: &HistogramProps) -> Html {
    let row = |bin: &Bin| {
        html! {
            <tr>
                <th scope="row">{ format!("{} to {}", bound(bin.from_ns), bound(bin.to_ns)) }</th>
                { for bin.counts.iter().map(|&count| html! { <td>{ format::count(count) }</td> }) }
                if let Some(total) = bin.total_duration() { <td>{ total }</td> }
            </tr>
        }
    };
    html! {
        <table class="visually-hidden">
            <caption>{ props.title.clone() }</caption>
            <thead>
                <tr><th scope="col">{ "Duration" }</th>{ for props.series.iter().map(|series| html! { <th scope="col">{ series.name.clone() }</th> }) }
                    if props.bins.iter().any(|bin| bin.total_ns.is_some()) { <th scope="col">{ "Total" }</th> }
                </tr>
            </thead>
            <tbody>{ for props.bins.iter().map(row) }</tbody>
        </table>
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct OverTimeProps {
    pub(super) title: AttrValue,
    /// Unit of the values, for the axis.
    pub(super) unit: AttrValue,
    /// Time range of the chart; the values divide it evenly.
    pub(super) range: Interval,
    /// Whether the values are integers, so that the axis has no fractional ticks.
    #[prop_or_default]
    pub(super) whole: bool,
    /// Series of the bands, from bottom to top.
    pub(super) series: Vec<Series>,
    /// For each series, the lower and upper bound of its band in each time slice.
    pub(super) bands: Vec<Vec<(f64, f64)>>,
    /// Optional line over the bands, one value per time slice.
    #[prop_or_default]
    pub(super) line: Vec<f64>,
    /// Returns the legend texts of all series for the time slice under the pointer.
    pub(super) values: Callback<usize, Vec<String>>,
    /// One-sentence summary for screen readers.
    pub(super) summary: AttrValue,
}

/// Chart of stacked bands over a time range.
#[component]
pub(super) fn OverTime(props: &OverTimeProps) -> Html {
    let (node, width) = use_width();
    let hovered_slice = use_state_eq(|| None::<usize>);
    let most = props
        .bands
        .iter()
        .flatten()
        .map(|band| band.1)
        .chain(props.line.iter().copied())
        .fold(0.0, f64::max);
    let ticks = if props.whole {
        count_ticks(most.ceil() as u64, 4)
    } else {
        value_ticks(most, 4)
    };
    let plot = Plot {
        width,
        max: ticks.last().copied().unwrap_or(1.0),
    };
    let slices = props.bands.first().map_or(0, Vec::len);
    let onpointermove = {
        let hovered_slice = hovered_slice.setter();
        move |event: PointerEvent| {
            let x = f64::from(event.offset_x());
            let part = (x - plot.x(0.0)) / (plot.x(1.0) - plot.x(0.0)).max(1.0);
            let inside = (0.0..1.0).contains(&part);
            hovered_slice.set(inside.then_some((part * slices as f64) as usize));
        }
    };
    let onpointerleave = state_callback(&hovered_slice).reform(|_: PointerEvent| None);
    let body = html! {
        if width > 0.0 {
            <svg width={width.to_string()} height={HEIGHT_PX.to_string()} role="img" aria-label={props.summary.clone()}
                {onpointermove} {onpointerleave}>
                { plot.value_axis(&ticks) }
                { bands(plot, props) }
                { times(plot, props.range) }
                if let Some(slice) = *hovered_slice { { pointer(plot, (slice as f64 + 0.5) / slices.max(1) as f64) } }
            </svg>
        }
    };
    let values = hovered_slice.map(|slice| props.values.emit(slice));
    let at = hovered_slice.map(|slice| {
        let ns = props.range.duration().0 as f64 * slice as f64 / slices.max(1) as f64;
        let time = Nanos(props.range.start().0.saturating_add(ns as u64));
        format!("{} at {}", props.unit, format::time(time))
    });
    html! {
        <div>
            { figure(&props.title, at.as_deref().unwrap_or(&props.unit), node, body) }
            { legend(&props.series, &values.unwrap_or_default()) }
        </div>
    }
}

fn pointer(plot: Plot, part: f64) -> Html {
    let x = plot.x(part).to_string();
    html! { <line class="pointer" x1={x.clone()} x2={x} y1={TOP_PX.to_string()} y2={plot.y(0.0).to_string()} /> }
}

fn bands(plot: Plot, props: &OverTimeProps) -> Html {
    let slices = props.bands.first().map_or(0, Vec::len);
    let edges: Vec<f64> = (0..=slices)
        .map(|i| plot.x(i as f64 / slices.max(1) as f64))
        .collect();
    let y = |values: &mut dyn Iterator<Item = f64>| values.map(|value| plot.y(value)).collect();
    let band = |(series, band): (&Series, &Vec<(f64, f64)>)| {
        let lower: Vec<f64> = y(&mut band.iter().map(|band| band.0));
        let upper: Vec<f64> = y(&mut band.iter().map(|band| band.1));
        series.surface(steps(&edges, &lower, &upper))
    };
    let line = (!props.line.is_empty()).then(|| {
        let line: Vec<f64> = y(&mut props.line.iter().copied());
        html! { <path class="line" d={steps(&edges, &line, &line)} /> }
    });
    html! { <>{ for props.series.iter().zip(&props.bands).map(band) }{ line }</> }
}

fn times(plot: Plot, range: Interval) -> Html {
    const MIN_DISTANCE_PX: f64 = 70.0;
    let ticks = ruler::ticks(range, plot.x(1.0) - plot.x(0.0), MIN_DISTANCE_PX);
    let duration = range.duration().0.max(1) as f64;
    let tick = |tick: ruler::Tick| {
        let part = tick.time.since(range.start()).0 as f64 / duration;
        plot.x_label(plot.x(part), tick.label)
    };
    html! { <>{ for ticks.into_iter().filter(|tick| tick.major).map(tick) }</> }
}
