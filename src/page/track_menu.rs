//! Track menu in the corner above the track names: visible groups, hidden tracks, thread order, and the message
//! prefixes of user spans.

use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use super::field::Field;
use super::menu::{Menu, focus_button};
use super::ptr_eq::PtrEq;
use analysis::timeline::thread_lane::ThreadOrder;
use analysis::timeline::user_spans::SpanPrefixes;
use session::tracks::group::TrackGroup;
use session::tracks::name::TrackName;
use views::timeline::arrange::{TrackChange, TrackView};
use views::timeline::layout::Layout;

/// Thread orders with their labels.
const ORDERS: [(&str, ThreadOrder); 4] = [
    ("the busiest first", ThreadOrder::Activity),
    ("by their first run", ThreadOrder::FirstRun),
    ("by number", ThreadOrder::Id),
    ("by label", ThreadOrder::Label),
];

#[derive(Properties, PartialEq)]
pub(super) struct TrackMenuProps {
    pub(super) view: TrackView,
    /// Names of the hidden tracks.
    pub(super) hidden: Vec<(TrackName, String)>,
    pub(super) layout: PtrEq<Layout>,
    /// Whether the log contains user messages, which may mark spans.
    pub(super) messages: bool,
    pub(super) on_change: Callback<TrackChange>,
}

/// Button and, while open, the track menu.
#[component]
pub(super) fn TrackMenu(props: &TrackMenuProps) -> Html {
    let node = use_node_ref();
    let label = match props.view.hidden.len() {
        0 => "Tracks".to_owned(),
        hidden => format!("Tracks · {hidden} hidden"),
    };
    html! {
        <Menu id="track-menu" {label} title="Tracks" class={classes!("track-menu")} small=true node={node.clone()}>
            { menu(props, &node) }
        </Menu>
    }
}

fn menu(props: &TrackMenuProps, node: &NodeRef) -> Html {
    let emit = |change: TrackChange| {
        let on_change = props.on_change.clone();
        Callback::from(move |_: MouseEvent| on_change.emit(change.clone()))
    };
    html! {
        <>
            { groups(props) }
            { threads(props) }
            if props.messages { { prefixes(props) } }
            { hidden(props, node) }
            <p class="tools">
                <button class="small" onclick={emit(TrackChange::Reset)}>{ "Reset" }</button>
            </p>
        </>
    }
}

/// Renders a check box for each group that the log has data for.
fn groups(props: &TrackMenuProps) -> Html {
    let present = |group: &TrackGroup| {
        let tracks = props.layout.tracks().iter();
        let shown = tracks.clone().any(|track| track.group == *group);
        let name = TrackName::new(group.name())?;
        let hidden = props.view.hidden.contains(&name);
        (shown || hidden).then_some((*group, name, hidden))
    };
    let group = |(group, name, hidden): (TrackGroup, TrackName, bool)| {
        let on_change = props.on_change.clone();
        let onchange = Callback::from(move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            let name = name.clone();
            on_change.emit(if input.checked() {
                TrackChange::Show(name)
            } else {
                TrackChange::Hide(name)
            });
        });
        html! {
            <label><input type="checkbox" checked={!hidden} {onchange} />{ " " }{ group.title() }</label>
        }
    };
    html! {
        <fieldset>
            <legend>{ "Groups" }</legend>
            { for TrackGroup::ALL.iter().filter_map(present).map(group) }
        </fieldset>
    }
}

fn threads(props: &TrackMenuProps) -> Html {
    let on_order = props.on_change.reform(|event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        let order = usize::try_from(select.selected_index()).ok();
        let order = order.and_then(|order| ORDERS.get(order));
        TrackChange::Order(order.map_or(ThreadOrder::Activity, |(_, order)| *order))
    });
    let on_group = props.on_change.reform(|_: Event| TrackChange::GroupThreads);
    let order = |(name, order): &(&'static str, ThreadOrder)| {
        html! { <option selected={props.view.threads == *order}>{ *name }</option> }
    };
    html! {
        <fieldset>
            <legend>{ "Threads" }</legend>
            <label>{ "Order " }<select onchange={on_order}>{ for ORDERS.iter().map(order) }</select></label>
            <label><input type="checkbox" checked={props.view.by_label} onchange={on_group} />{ " Group threads with the same label" }</label>
        </fieldset>
    }
}

/// Renders two fields for the message prefixes that begin and end user spans.
fn prefixes(props: &TrackMenuProps) -> Html {
    let SpanPrefixes { start, stop } = &props.view.prefixes;
    let (start, stop) = (start.join(", "), stop.join(", "));
    let field = |name: &'static str, value: &str, of: fn(&str, &str, &str) -> SpanPrefixes| {
        let (start, stop) = (start.clone(), stop.clone());
        let on_change = props
            .on_change
            .reform(move |typed: String| TrackChange::Prefixes(of(&start, &stop, &typed)));
        html! {
            <label class="words">{ name }<Field kind="text" value={value.to_owned()} {on_change} /></label>
        }
    };
    html! {
        <fieldset>
            <legend>{ "Spans of the program" }</legend>
            <p class="faint">{ "Message prefixes, comma-separated:" }</p>
            { field("Begins with", &start, |_, stop, typed| SpanPrefixes::of_lists(typed, stop)) }
            { field("Ends with", &stop, |start, _, typed| SpanPrefixes::of_lists(start, typed)) }
        </fieldset>
    }
}

/// Renders the individually hidden tracks, each with a button that shows it again.
fn hidden(props: &TrackMenuProps, node: &NodeRef) -> Html {
    if props.hidden.is_empty() {
        return Html::default();
    }
    let row = |(id, name): &(TrackName, String)| {
        let (on_change, id, node) = (props.on_change.clone(), id.clone(), node.clone());
        let onclick = Callback::from(move |_: MouseEvent| {
            // The button disappears with its row, so the focus moves first.
            focus_button(&node);
            on_change.emit(TrackChange::Show(id.clone()));
        });
        html! { <li><button class="small" {onclick}>{ format!("Show {name}") }</button></li> }
    };
    html! {
        <fieldset>
            <legend>{ "Hidden" }</legend>
            <ul>{ for props.hidden.iter().map(row) }</ul>
        </fieldset>
    }
}
