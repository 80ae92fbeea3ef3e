//! Controls of the flame graph: source, tracks, layout, search, comparison.

use std::rc::Rc;

use yew::prelude::*;

use super::export::Export;
use crate::client::LogClient;
use crate::dom::value_of;
use crate::field::Field;
use crate::menu::Menu;
use crate::panel::{edited, segments, span_text};
use analysis::flamegraph::source_info::{SourceInfo, TrackInfo};
use analysis::flamegraph::sources;
use analysis::flamegraph::track_names::{ALL, CAPS, THREADS};
use model::profile::source::{Source, Unit};
use model::profile::weights::Measure;
use model::time::Interval;
use scene::format;
use session::alignment::Role;
use session::flame::query::{FlameMatches, FlameQuery};
use session::flame::transform::Transform;
use session::tracks::name::TrackName;
use views::view::flame::{FlameOrder, FlameView, TwoLogs};
use views::view::panel::toggle_item;

#[derive(Properties, PartialEq)]
pub(super) struct ControlsProps {
    pub(super) client: LogClient,
    pub(super) sources: Rc<Vec<SourceInfo>>,
    pub(super) source: Rc<SourceInfo>,
    pub(super) view: FlameView,
    /// Role of the second log, if two are open.
    pub(super) other: Option<Role>,
    pub(super) range: Option<Interval>,
    /// Span of the whole log.
    pub(super) log: Option<Interval>,
    /// Share of the whole that matches the search, from 0 to 1.
    pub(super) found: f64,
    /// Matching frames; `at` is the index of the shown one.
    pub(super) matches: Option<Rc<FlameMatches>>,
    pub(super) at: usize,
    /// Goes to the next match (true) or the previous one.
    pub(super) on_match: Callback<bool>,
    /// Query of the exported graph.
    pub(super) query: FlameQuery,
    /// Zooms to the selected range; `None` unless that is a small part of the visible time.
    pub(super) on_zoom: Option<Callback<()>>,
    /// Description of the range and tracks.
    pub(super) about: AttrValue,
    pub(super) on_view: Callback<FlameView>,
    /// Opens the heap panel.
    pub(super) on_heap: Callback<()>,
}

impl ControlsProps {
    /// Returns a callback that edits the view.
    fn change<T: 'static>(&self, edit: impl Fn(&mut FlameView, T) + 'static) -> Callback<T> {
        edited(&self.view, &self.on_view, edit)
    }
}

#[component]
pub(super) fn Controls(props: &ControlsProps) -> Html {
    let search = props.change(|view, text: String| view.search = text);
    let share = match sources::description(props.source.source).unit {
        Unit::Time => format!("{} of the time", format::fraction(props.found)),
        Unit::Bytes => format!("{} of the bytes", format::fraction(props.found)),
    };
    let onkeydown = {
        let on_match = props.on_match.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Enter" {
                event.prevent_default();
                on_match.emit(!event.shift_key());
            }
        })
    };
    html! {
        <div class="controls">
            { sources(props) }
            { tracks(props) }
            { orders(props) }
            { measures(props) }
            <Menu id="flame-steps" label="Change" title="Change the stacks">{ changes(props) }</Menu>
            <Menu id="flame-compare" label="Compare" title="Compare two times of this log, or two logs">{ comparing(props) }</Menu>
            <label class="search">
                <span class="visually-hidden">{ "Search frames" }</span>
                <Field kind="search" placeholder="Search frames" value={props.view.search.clone()} on_input={search} {onkeydown} />
            </label>
            if !props.view.search.trim().is_empty() {
                { found(props, share) }
            }
            <span class="end">
                if let Some(zoom) = &props.on_zoom {
                    <button class="small" title="As in the timeline (F)" onclick={zoom.reform(|_: MouseEvent| ())}>{ "Zoom to the range" }</button>
                }
                <span class="for">{ props.about.clone() }</span>
                <Export client={props.client.clone()} query={props.query.clone()} source={Rc::clone(&props.source)} />
            </span>
        </div>
    }
}

/// Renders the number of matches, the current one, and the buttons for stepping.
fn found(props: &ControlsProps, share: String) -> Html {
    let Some(matches) = props.matches.as_deref() else {
        return html! { <span class="found" role="status">{ share }</span> };
    };
    let step = |sign: &'static str, what: &'static str, forward: bool| {
        let onclick = props.on_match.reform(move |_: MouseEvent| forward);
        html! { <button class="quiet" aria-label={what} title={what} disabled={matches.count < 2} {onclick}>{ sign }</button> }
    };
    let words = match matches.count {
        0 => "no match".to_owned(),
        count => format!("{} of {} · {share}", props.at + 1, format::count(count)),
    };
    html! {
        <span class="found">
            { step("‹", "Previous match (Shift+Enter)", false) }
            { step("›", "Next match (Enter), from the widest to the narrowest", true) }
            <span role="status">{ words }</span>
        </span>
    }
}

fn sources(props: &ControlsProps) -> Html {
    if props.sources.len() < 2 {
        return html! {};
    }
    let change = props.change(|view, source: Option<Source>| {
        view.source = source;
        view.tracks = TrackName::all();
        view.measure = Measure::default();
        view.frame = String::new();
        let in_bytes =
            source.is_some_and(|source| sources::description(source).unit == Unit::Bytes);
        if in_bytes && view.order == FlameOrder::Time {
            view.order = FlameOrder::LeftHeavy;
        }
    });
    let onchange = change.reform(|event: Event| sources::by_name(&value_of(event)));
    let option = |info: &SourceInfo| {
        let selected = info.source == props.source.source;
        let source = sources::description(info.source);
        html! {
            <option value={source.name} {selected} title={source.help}>{ source.title }</option>
        }
    };
    html! {
        <label>
            <span class="visually-hidden">{ "Source" }</span>
            <select {onchange} title={sources::description(props.source.source).help}>{ for props.sources.iter().map(option) }</select>
        </label>
    }
}

/// Maximum number of tracks listed.
const TRACKS_LISTED: usize = 500;

fn tracks(props: &ControlsProps) -> Html {
    let info = &props.source;
    if info.tracks.len() < 2 {
        return html! {};
    }
    let change = props.change(|view, name: Option<TrackName>| {
        view.tracks = name.unwrap_or_else(TrackName::all);
    });
    let onchange = change.reform(|event: Event| TrackName::new(value_of(event)));
    let (caps, threads) = (info.caps(), info.os_threads());
    let everything = if threads == 0 && caps > 0 {
        "All capabilities"
    } else if threads > 0 && caps == 0 {
        "All OS threads"
    } else {
        sources::description(info.source).all_tracks_label
    };
    let option = |value: String, text: String| {
        let selected = props.view.tracks.as_str() == value;
        html! { <option {value} {selected}>{ text }</option> }
    };
    let track = |track: &TrackInfo| {
        let samples = format::count(track.samples);
        let counted = (sources::description(info.source).sample_noun)(track.source);
        let title = info.title(track.source);
        option(
            track.source.name(),
            format!("{title} · {samples} {counted}"),
        )
    };
    html! {
        <label>
            <span class="visually-hidden">{ "Tracks" }</span>
            <select class="flame-tracks" {onchange}>
                { option(ALL.to_owned(), everything.to_owned()) }
                if caps > 0 && threads > 0 { { option(CAPS.to_owned(), "All capabilities".to_owned()) } }
                if caps > 0 && threads > 1 { { option(THREADS.to_owned(), "All OS threads".to_owned()) } }
                { for info.tracks.iter().take(TRACKS_LISTED).map(track) }
            </select>
        </label>
    }
}

fn orders(props: &ControlsProps) -> Html {
    let time = (
        FlameOrder::Time,
        "Time order",
        "In time order, one track below the other",
    );
    let rest = [
        (
            FlameOrder::LeftHeavy,
            "Left heavy",
            "Equal stacks merged, heaviest on the left",
        ),
        (
            FlameOrder::Sandwich,
            "Sandwich",
            "Table of all functions, with the callers and callees of one",
        ),
    ];
    let of_heap = sources::description(props.source.source).unit == Unit::Bytes;
    let is_compared = props.other.is_some() && props.view.two != TwoLogs::Apart;
    let has_time = !of_heap && props.view.before.is_none() && !is_compared;
    let choices: Vec<_> = has_time.then_some(time).into_iter().chain(rest).collect();
    let change = props.change(|view, order| view.order = order);
    // Sources without a time order fall back to the order by weight.
    let current = match props.view.order {
        FlameOrder::Time if !has_time => FlameOrder::LeftHeavy,
        order => order,
    };
    html! {
        <>
            { segments("Order", current, &choices, &change) }
            if of_heap { { over_time(props) } }
        </>
    }
}

/// Renders the replacements for time order, which heap samples lack: the area of one box, and the heap panel with all
/// bands.
fn over_time(props: &ControlsProps) -> Html {
    let onclick = props.change(|view, _: MouseEvent| view.area = !view.area);
    let pressed = props.view.area.to_string();
    let on_heap = props.on_heap.reform(|_: MouseEvent| ());
    html! {
        <>
            <button aria-pressed={pressed} title="Bytes of the selected box over time, below the timeline" {onclick}>{ "Over time" }</button>
            <button title="All stacks over time, stacked: the panel Heap" onclick={on_heap}>{ "All in Heap" }</button>
        </>
    }
}

fn measures(props: &ControlsProps) -> Html {
    let by_time = props.view.order == FlameOrder::Time;
    let source = sources::description(props.source.source);
    if by_time || source.unit == Unit::Bytes {
        return html! {};
    }
    let count = source.count_label;
    let choices = [
        (Measure::Amount, "Time", "Box width is time"),
        (Measure::Count, count, "Box width is the count"),
    ];
    let change = props.change(|view, measure| view.measure = measure);
    segments("Width", props.view.measure, &choices, &change)
}

fn changes(props: &ControlsProps) -> Html {
    let toggle = |step: Transform, text: &'static str| {
        let checked = props.view.steps.contains(&step);
        let onchange =
            props.change(move |view, _: Event| toggle_item(&mut view.steps, step.clone()));
        html! { <label class="check"><input type="checkbox" {checked} {onchange} />{ text }</label> }
    };
    html! {
        <>
            { toggle(Transform::HideIdle, "Hide idle time") }
            { toggle(Transform::CollapseRecursion, "Collapse recursion") }
            { toggle(Transform::MergeModules, "Merge the functions of a module") }
            { toggle(Transform::Invert, "Invert: innermost functions at the root") }
            <p class="hint">{ "Select a box to focus on its function, leave it out, or merge it into its callers." }</p>
        </>
    }
}

fn comparing(props: &ControlsProps) -> Html {
    let compare = props.change(|view, before: Option<Interval>| {
        view.before = before;
        view.moments = None;
        if before.is_some() && view.order == FlameOrder::Time {
            view.order = FlameOrder::LeftHeavy;
        }
    });
    let button = |text: &'static str, before: Option<Option<Interval>>| {
        let onclick = compare.reform(move |_: MouseEvent| before.flatten());
        html! { <button class="small" disabled={before.is_none()} {onclick}>{ text }</button> }
    };
    let is_compared = props.other.is_some() && props.view.two != TwoLogs::Apart;
    let earlier = props.range.zip(props.log).and_then(|(range, log)| {
        let (from, to) = (log.start(), range.start());
        (from < to).then(|| Interval::new(from, to))
    });
    html! {
        <>
            if let Some(role) = props.other { { with_other(props, role) } }
            if !is_compared {
                if sources::description(props.source.source).unit == Unit::Bytes { { moments(props) } }
                <p class="hint">{ "Select a range on the timeline and keep it, then select another: boxes show increases and decreases." }</p>
                <p class="tools">{ button("Keep the selection as “before”", props.range.map(Some)) }</p>
                <p class="tools">{ button("Compare with everything before the selection", earlier.map(Some)) }</p>
                if let Some(before) = props.view.before {
                    <p>{ format!("“Before” is {}.", span_text(before)) }</p>
                    <p class="tools">{ button("Stop comparing", Some(None)) }</p>
                }
            }
        </>
    }
}

/// Renders the comparison with the second log; stacks are matched by name.
fn with_other(props: &ControlsProps, role: Role) -> Html {
    let choices = [
        (TwoLogs::Apart, "Separate", "The stacks of this log alone"),
        (TwoLogs::Amounts, "Amounts", "Compares the measured amounts"),
        (
            TwoLogs::Shares,
            "Shares",
            "Compares shares of each log's total",
        ),
    ];
    let change = props.change(|view, two| {
        view.two = two;
        view.before = None;
        view.moments = None;
        if two != TwoLogs::Apart && view.order == FlameOrder::Time {
            view.order = FlameOrder::LeftHeavy;
        }
    });
    let name = match role {
        Role::Before => "With the log before",
        Role::After => "With the log after",
    };
    html! {
        <>
            <p class="hint">{ format!("{name}: stacks are matched by module and label.") }</p>
            <p class="tools">{ segments(name, props.view.two, &choices, &change) }</p>
        </>
    }
}

/// Renders the comparison of two censuses.
fn moments(props: &ControlsProps) -> Html {
    let compare = props.change(|view, moments: Option<Interval>| {
        view.moments = moments;
        view.before = None;
    });
    let button = |text: &'static str, moments: Option<Interval>| {
        let onclick = compare.reform(move |_: MouseEvent| moments);
        html! { <p class="tools"><button class="small" disabled={moments.is_none()} {onclick}>{ text }</button></p> }
    };
    html! {
        <>
            <p class="hint">{ "Bytes gained and lost between two censuses. Or select both in the chart over time." }</p>
            { button("First and last census", props.log) }
            { button("Start and end of the selection", props.range) }
            if props.view.moments.is_some() {
                <p class="tools"><button class="small" onclick={compare.reform(|_: MouseEvent| None)}>{ "Stop comparing" }</button></p>
            }
        </>
    }
}
