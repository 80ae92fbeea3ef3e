//! Controls around the timelines of two compared logs: captions, alignment and the divider; also the prompt shown
//! when a second log arrives.

use web_sys::HtmlElement;
use yew::prelude::*;

use super::dom::{focus, set_style, state_callback};
use super::file_name::file_name;
use super::menu::Menu;
use super::splitter::Splitter;
use scene::format::pluralize;
use session::alignment::{Alignment, Role};

/// Action chosen for a log that arrives while another one is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecondLogAnswer {
    /// Show it next to the open log, for comparison.
    Compare,
    /// Merge it with the open log.
    Merge,
    /// Replace the open log.
    Open,
    /// Discard the new log.
    Discard,
}

#[derive(Properties, PartialEq)]
pub(super) struct SecondLogPromptProps {
    /// File name of the new log.
    pub(super) name: AttrValue,
    /// File name of the open log.
    pub(super) open: AttrValue,
    /// Number of unsaved notes on the open log.
    pub(super) notes: usize,
    pub(super) on_save: Callback<()>,
    pub(super) on_answer: Callback<SecondLogAnswer>,
}

/// Prompt that asks what to do with a new log while another one is open.
#[component]
pub(super) fn SecondLogPrompt(props: &SecondLogPromptProps) -> Html {
    let first = use_node_ref();
    {
        let first = first.clone();
        use_effect_with(props.name.clone(), move |_| {
            let active = gloo_utils::document().active_element();
            let nowhere = active.is_none_or(|at| at.tag_name() == "BODY");
            if let Some(first) = first.cast::<HtmlElement>().filter(|_| nowhere) {
                focus(&first);
            }
        });
    }
    let answer_with = |answer| props.on_answer.reform(move |_: MouseEvent| answer);
    html! {
        <div class="notice offer" role="status">
            <span>
                { format!("“{}” is already open. Open ", props.open) }<strong>{ props.name.clone() }</strong>{ " as well?" }
                if props.notes > 0 {
                    { format!(" You have not saved {} on it.", pluralize(props.notes as u64, "note")) }
                }
            </span>
            <span class="tools">
                if props.notes > 0 {
                    <button onclick={props.on_save.reform(|_: MouseEvent| ())}>{ "Save the notes" }</button>
                }
                <button ref={first} onclick={answer_with(SecondLogAnswer::Compare)}>{ "Compare with the open one" }</button>
                <button onclick={answer_with(SecondLogAnswer::Merge)}>{ "Merge into one timeline" }</button>
                <button onclick={answer_with(SecondLogAnswer::Open)}>{ "Open instead" }</button>
                <button class="quiet" onclick={answer_with(SecondLogAnswer::Discard)} aria-label="Cancel">{ "✕" }</button>
            </span>
        </div>
    }
}

/// Renders the header above a timeline, with the name and facts of its log and `more` controls. If the panels do not
/// show this log, there is `on_show`.
pub(super) fn caption(
    (role, name, facts): (Role, &str, String),
    on_show: Option<Callback<MouseEvent>>,
    on_close: &Callback<Role>,
    more: Html,
) -> Html {
    let name = AttrValue::from(name.to_owned());
    let on_close = on_close.reform(move |_: MouseEvent| role);
    html! {
        <header key="caption" class="caption">
            <span class="role">{ role.title() }</span>
            <h2 class="file" title={name.clone()} aria-label={name.clone()}>{ file_name(&name) }</h2>
            <span class="facts">{ facts }</span>
            { more }
            <button class="small" aria-pressed={on_show.is_none().to_string()} onclick={on_show}
                title={format!("The panels below show the log {}", role.name())}>{ "Panels" }</button>
            <button class="quiet" onclick={on_close} aria-label={format!("Close the log {}", role.name())}>{ "✕" }</button>
        </header>
    }
}

/// Renders the controls that concern both logs: the menu of alignments, which are the start of both logs and
/// `others`, and buttons that merge and swap the logs.
pub(super) fn alignment_controls(
    current: &Alignment,
    others: &[Alignment],
    on_align: &Callback<Alignment>,
    on_swap: Callback<MouseEvent>,
    on_merge: Callback<MouseEvent>,
) -> Html {
    let choice = |at: &Alignment| {
        let (pressed, at, words) = (at == current, at.clone(), at.words());
        let onclick = on_align.reform(move |_: MouseEvent| at.clone());
        html! { <li><button class="choice" aria-pressed={pressed.to_string()} {onclick}>{ words }</button></li> }
    };
    let label = match current {
        Alignment::Start => "Aligned: start".to_owned(),
        Alignment::Marker(name) | Alignment::Span(name) => format!("Aligned: {name}"),
    };
    html! {
        <>
            <Menu id="align-menu" {label} title="Alignment: event at the same position in both logs"
                class={classes!("align-menu")} small=true>
                <ul>
                    { choice(&Alignment::Start) }
                    { for others.iter().map(choice) }
                </ul>
                if others.is_empty() {
                    <p class="faint">{ "The logs have no marker (traceMarker) or span of the program (START name) in common." }</p>
                }
            </Menu>
            <button class="small" onclick={on_merge} title="Merge both logs into one timeline">{ "Merge…" }</button>
            <button class="small" onclick={on_swap} title="Swap before and after" aria-label="Swap before and after">{ "⇅" }</button>
        </>
    }
}

/// Share of the total height that the upper timeline takes: initial, minimum and maximum.
const DEFAULT_SHARE: f64 = 0.5;
const MIN_SHARE: f64 = 0.15;
const MAX_SHARE: f64 = 0.85;
/// Share by which an arrow key moves the divider.
const KEY_STEP_SHARE: f64 = 0.05;

#[derive(Properties, PartialEq)]
pub(super) struct SplitTimelinesProps {
    /// One or two timelines, each with a key.
    pub(super) sections: Vec<Html>,
}

/// One timeline, or two with a movable divider between them.
#[component]
pub(super) fn SplitTimelines(props: &SplitTimelinesProps) -> Html {
    let node = use_node_ref();
    let share = use_state_eq(|| DEFAULT_SHARE);
    {
        let node = node.clone();
        use_effect_with(*share, move |share| {
            if let Some(node) = node.cast::<HtmlElement>() {
                set_style(&node, "--upper", &format!("{:.1}%", share * 100.0));
            }
        });
    }
    let mut sections = props.sections.iter().cloned();
    let mut children = vec![sections.next().unwrap_or_default()];
    if let Some(lower) = sections.next() {
        children.extend([edge(&node, &share), lower]);
    }
    html! { <div ref={node} class="timelines">{ for children }</div> }
}

fn edge(node: &NodeRef, share: &UseStateHandle<f64>) -> Html {
    let now = **share;
    let set = state_callback(share).reform(|to: f64| to.clamp(MIN_SHARE, MAX_SHARE));
    let on_step = set.reform(move |step: f64| now + step * KEY_STEP_SHARE);
    let node = node.clone();
    let on_drag = Callback::from(move |y: f64| {
        if let Some(both) = node.cast::<HtmlElement>() {
            let area = both.get_bounding_client_rect();
            set.emit((y - area.top()) / area.height().max(1.0));
        }
    });
    html! {
        <Splitter key="edge" class="divider" label="Height of the upper timeline" now={now * 100.0} min="15" max="85"
            {on_drag} {on_step} />
    }
}
