//! What the flame graph is about and how it is laid out.

use std::rc::Rc;

use yew::prelude::*;

use super::export::Export;
use crate::client::LogClient;
use crate::dom::value_of;
use crate::field::Field;
use crate::menu::Menu;
use crate::panel::span_text;
use analysis::flamegraph::choosing::{ALL, CAPS, THREADS};
use analysis::flamegraph::source_info::{SourceInfo, TrackInfo};
use analysis::flamegraph::sources;
use model::profile::source::{Source, Unit};
use model::profile::weights::Measure;
use model::time::Interval;
use scene::format;
use session::alignment::Role;
use session::flame::query::{FlameMatches, FlameQuery};
use session::flame::step::Step;
use session::tracks::name::TrackName;
use views::view::flame::{FlameOrder, FlameView, TwoLogs};

#[derive(Properties, PartialEq)]
pub(super) struct ControlsProps {
    pub(super) client: LogClient,
    pub(super) sources: Rc<Vec<SourceInfo>>,
    pub(super) source: Rc<SourceInfo>,
    pub(super) view: FlameView,
    /// What the other of two logs is to this one, if there is one.
    pub(super) other: Option<Role>,
    pub(super) range: Option<Interval>,
    /// All of the log.
    pub(super) log: Option<Interval>,
    /// The share of the whole that the search found, from 0 to 1.
    pub(super) found: f64,
    /// The frames that it found, and which of them is shown.
    pub(super) matches: Option<Rc<FlameMatches>>,
    pub(super) at: usize,
    /// Goes to the next match, or the one before.
    pub(super) on_match: Callback<bool>,
    /// What is saved.
    pub(super) query: FlameQuery,
    /// Zooms to the selected range, where that is a small part of what is in view.
    pub(super) on_zoom: Option<Callback<()>>,
    /// For which time and tracks it is.
    pub(super) about: AttrValue,
    pub(super) on_view: Callback<FlameView>,
    /// Shows the panel of the heap.
    pub(super) on_heap: Callback<()>,
}

impl ControlsProps {
    /// A callback that changes the view.
    fn change<T: 'static>(&self, edit: impl Fn(&mut FlameView, T) + 'static) -> Callback<T> {
        let (view, on_view) = (self.view.clone(), self.on_view.clone());
        Callback::from(move |value| {
            let mut view = view.clone();
            edit(&mut view, value);
            on_view.emit(view);
        })
    }
}

/// The row above the graph.
#[component]
pub(super) fn Controls(props: &ControlsProps) -> Html {
    let search = props.change(|view, text: String| view.search = text);
    let share = match sources::of(props.source.source).unit() {
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
                    <button class="small" title="As the timeline does (F)" onclick={zoom.reform(|_: MouseEvent| ())}>{ "Zoom to the range" }</button>
                }
                <span class="for">{ props.about.clone() }</span>
                <Export client={props.client.clone()} query={props.query.clone()} source={Rc::clone(&props.source)} />
            </span>
        </div>
    }
}

/// How many frames were found, which of them is shown, and the ways to the others.
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
        let in_bytes = source.is_some_and(|source| sources::of(source).unit() == Unit::Bytes);
        if in_bytes && view.order == FlameOrder::Time {
            view.order = FlameOrder::LeftHeavy;
        }
    });
    let onchange = change.reform(|event: Event| sources::named(&value_of(event)));
    let option = |info: &SourceInfo| {
        let selected = info.source == props.source.source;
        let source = sources::of(info.source);
        html! {
            <option value={source.name()} {selected} title={source.help()}>{ source.title() }</option>
        }
    };
    html! {
        <label>
            <span class="visually-hidden">{ "What it is about" }</span>
            <select {onchange} title={sources::of(props.source.source).help()}>{ for props.sources.iter().map(option) }</select>
        </label>
    }
}

/// How many tracks are listed.
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
        sources::of(info.source).everything()
    };
    let option = |value: String, text: String| {
        let selected = props.view.tracks.as_str() == value;
        html! { <option {value} {selected}>{ text }</option> }
    };
    let track = |track: &TrackInfo| {
        let samples = format::count(track.samples);
        let counted = sources::of(info.source).counted(track.source);
        let title = info.title(track.source);
        option(
            track.source.name(),
            format!("{title} · {samples} {counted}"),
        )
    };
    html! {
        <label>
            <span class="visually-hidden">{ "Whose" }</span>
            <select class="flame-tracks" {onchange}>
                { option(ALL.to_owned(), everything.to_owned()) }
                if caps > 0 && threads > 0 { { option(CAPS.to_owned(), "All capabilities".to_owned()) } }
                if caps > 0 && threads > 1 { { option(THREADS.to_owned(), "All OS threads".to_owned()) } }
                { for info.tracks.iter().take(TRACKS_LISTED).map(track) }
            </select>
        </label>
    }
}

/// Buttons of which one is pressed.
fn segments<T: PartialEq + Copy + 'static>(
    label: &'static str,
    current: T,
    choices: &[(T, &'static str, &'static str)],
    change: &Callback<T>,
) -> Html {
    let button = |&(choice, text, title): &(T, &'static str, &'static str)| {
        let onclick = change.reform(move |_: MouseEvent| choice);
        let pressed = (choice == current).to_string();
        html! { <button aria-pressed={pressed} {title} {onclick}>{ text }</button> }
    };
    html! {
        <span class="segments" role="group" aria-label={label}>{ for choices.iter().map(button) }</span>
    }
}

fn orders(props: &ControlsProps) -> Html {
    let time = (
        FlameOrder::Time,
        "Time order",
        "In order of time, one track below the other",
    );
    let rest = [
        (
            FlameOrder::LeftHeavy,
            "Left heavy",
            "Equal stacks are merged, the heaviest on the left",
        ),
        (
            FlameOrder::Sandwich,
            "Sandwich",
            "A table of all functions, with the callers and callees of one",
        ),
    ];
    let of_heap = sources::of(props.source.source).unit() == Unit::Bytes;
    let beside = props.other.is_some() && props.view.two != TwoLogs::Apart;
    let has_time = !of_heap && props.view.before.is_none() && !beside;
    let choices: Vec<_> = has_time.then_some(time).into_iter().chain(rest).collect();
    let change = props.change(|view, order| view.order = order);
    // Without an order of time, what would be one is by weight.
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

/// What was alive has no order of time: one box is shown over time, and all
/// bands are in the panel of the heap.
fn over_time(props: &ControlsProps) -> Html {
    let onclick = props.change(|view, _: MouseEvent| view.area = !view.area);
    let pressed = props.view.area.to_string();
    let on_heap = props.on_heap.reform(|_: MouseEvent| ());
    html! {
        <>
            <button aria-pressed={pressed} title="The bytes of the selected box over time, below the timeline" {onclick}>{ "Over time" }</button>
            <button title="All stacks on each other over time: the panel Heap" onclick={on_heap}>{ "All in Heap" }</button>
        </>
    }
}

fn measures(props: &ControlsProps) -> Html {
    let by_time = props.view.order == FlameOrder::Time;
    let source = sources::of(props.source.source);
    if by_time || source.unit() == Unit::Bytes {
        return html! {};
    }
    let count = source.counts();
    let choices = [
        (Measure::Amount, "Time", "Boxes are as wide as their time"),
        (Measure::Count, count, "Boxes are as wide as their count"),
    ];
    let change = props.change(|view, measure| view.measure = measure);
    segments("Width", props.view.measure, &choices, &change)
}

fn changes(props: &ControlsProps) -> Html {
    let toggle = |step: Step, text: &'static str| {
        let checked = props.view.steps.contains(&step);
        let onchange = props.change(move |view, _: Event| {
            if view.steps.contains(&step) {
                view.steps.retain(|other| *other != step);
            } else {
                view.steps.push(step.clone());
            }
        });
        html! { <label class="check"><input type="checkbox" {checked} {onchange} />{ text }</label> }
    };
    html! {
        <>
            { toggle(Step::HideIdle, "Hide idle time") }
            { toggle(Step::CollapseRecursion, "Collapse recursion") }
            { toggle(Step::MergeModules, "Merge the functions of a module") }
            { toggle(Step::Invert, "Invert: innermost functions outside") }
            <p class="hint">{ "To focus on a function, leave it out or merge it into its callers, select its box." }</p>
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
    let beside = props.other.is_some() && props.view.two != TwoLogs::Apart;
    let earlier = props.range.zip(props.log).and_then(|(range, log)| {
        let (from, to) = (log.start(), range.start());
        (from < to).then(|| Interval::new(from, to))
    });
    html! {
        <>
            if let Some(role) = props.other { { with_other(props, role) } }
            if !beside {
                if sources::of(props.source.source).unit() == Unit::Bytes { { moments(props) } }
                <p class="hint">{ "Select a range on the timeline and keep it, then select another: boxes show what became more and what became less." }</p>
                <p class="tools">{ button("Keep the selection as “before”", props.range.map(Some)) }</p>
                <p class="tools">{ button("Compare with all before the selection", earlier.map(Some)) }</p>
                if let Some(before) = props.view.before {
                    <p>{ format!("“Before” is {}.", span_text(before)) }</p>
                    <p class="tools">{ button("Stop comparing", Some(None)) }</p>
                }
            }
        </>
    }
}

/// Comparing with the other of two logs: stacks are matched by their names.
fn with_other(props: &ControlsProps, role: Role) -> Html {
    let choices = [
        (TwoLogs::Apart, "Apart", "The stacks of this log alone"),
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

/// Comparing two censuses: what grew and shrank from one moment to another.
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
            <p class="hint">{ "Bytes gained and lost from one census to another. Or choose both in the area over time." }</p>
            { button("First census with the last", props.log) }
            { button("Begin of the selection with its end", props.range) }
            if props.view.moments.is_some() {
                <p class="tools"><button class="small" onclick={compare.reform(|_: MouseEvent| None)}>{ "Stop comparing" }</button></p>
            }
        </>
    }
}
