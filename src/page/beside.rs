//! What stands around the timelines of two logs: which is which, where they are aligned, the
//! edge between them; and the question what with a second log.

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::dom::{focus, set_style};
use super::file_name::file_name;
use super::menu::Menu;
use scene::format::many;
use session::alignment::{Alignment, Role};

/// What to do with a log that comes while another one is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is shown beside the open one.
    Compare,
    /// It is merged with the open one.
    Merge,
    /// It is opened in place of what is open.
    Open,
    /// Nothing.
    Neither,
}

#[derive(Properties, PartialEq)]
pub(super) struct OfferProps {
    /// What the log is called that came.
    pub(super) name: AttrValue,
    /// What the open one is called.
    pub(super) open: AttrValue,
    /// How many notes on the open one are not saved.
    pub(super) notes: usize,
    pub(super) on_save: Callback<()>,
    pub(super) on_answer: Callback<Answer>,
}

/// Asks what to do with a log that came while another one is open.
#[component]
pub(super) fn Offer(props: &OfferProps) -> Html {
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
    let says = |answer| props.on_answer.reform(move |_: MouseEvent| answer);
    html! {
        <div class="notice offer" role="status">
            <span>
                { format!("“{}” is already open. Open ", props.open) }<strong>{ props.name.clone() }</strong>{ " as well?" }
                if props.notes > 0 {
                    { format!(" You have not saved {} on it.", many(props.notes as u64, "note")) }
                }
            </span>
            <span class="tools">
                if props.notes > 0 {
                    <button onclick={props.on_save.reform(|_: MouseEvent| ())}>{ "Save the notes" }</button>
                }
                <button ref={first} onclick={says(Answer::Compare)}>{ "Compare with the open one" }</button>
                <button onclick={says(Answer::Merge)}>{ "Merge into one timeline" }</button>
                <button onclick={says(Answer::Open)}>{ "Open instead" }</button>
                <button class="quiet" onclick={says(Answer::Neither)} aria-label="Neither">{ "✕" }</button>
            </span>
        </div>
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct CaptionProps {
    pub(super) role: Role,
    pub(super) name: AttrValue,
    /// What is known of the log, in a few words.
    pub(super) facts: AttrValue,
    /// Whether the panels are about it.
    pub(super) is_shown: bool,
    pub(super) on_show: Callback<()>,
    pub(super) on_close: Callback<Role>,
    /// What is about both logs.
    #[prop_or_default]
    pub(super) children: Html,
}

/// Above a timeline: which log it is of.
#[component]
pub(super) fn Caption(props: &CaptionProps) -> Html {
    let role = props.role;
    let on_show = {
        let (on_show, is_shown) = (props.on_show.clone(), props.is_shown);
        Callback::from(move |_: MouseEvent| {
            if !is_shown {
                on_show.emit(());
            }
        })
    };
    let on_close = props.on_close.reform(move |_: MouseEvent| role);
    html! {
        <header class="caption">
            <span class="role">{ role.name() }</span>
            <h2 class="file" title={props.name.clone()} aria-label={props.name.clone()}>{ file_name(&props.name) }</h2>
            <span class="facts">{ props.facts.clone() }</span>
            { props.children.clone() }
            <button class="small" aria-pressed={props.is_shown.to_string()} onclick={on_show}
                title={format!("The panels below are about the log {}", role.word())}>{ "Panels" }</button>
            <button class="quiet" onclick={on_close} aria-label={format!("Close the log {}", role.word())}>{ "✕" }</button>
        </header>
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct AlignProps {
    /// Where the logs are aligned.
    pub(super) at: Alignment,
    /// Where they may be, beside their starts.
    pub(super) others: Vec<Alignment>,
    pub(super) on_align: Callback<Alignment>,
    pub(super) on_swap: Callback<()>,
    pub(super) on_merge: Callback<()>,
}

/// What is about both logs: where they are aligned, and the button that swaps them.
#[component]
pub(super) fn Align(props: &AlignProps) -> Html {
    let choice = |at: &Alignment| {
        let pressed = *at == props.at;
        let (on_align, at) = (props.on_align.clone(), at.clone());
        let words = at.words();
        let onclick = Callback::from(move |_: MouseEvent| on_align.emit(at.clone()));
        html! { <li><button class="choice" aria-pressed={pressed.to_string()} {onclick}>{ words }</button></li> }
    };
    let on_swap = props.on_swap.reform(|_: MouseEvent| ());
    let label = match &props.at {
        Alignment::Start => "Aligned: start".to_owned(),
        Alignment::Marker(name) | Alignment::Span(name) => format!("Aligned: {name}"),
    };
    html! {
        <>
            <Menu id="align-menu" {label} title="What stands at the same place in both logs"
                class={classes!("align-menu")} small=true>
                <ul>
                    { choice(&Alignment::Start) }
                    { for props.others.iter().map(choice) }
                </ul>
                if props.others.is_empty() {
                    <p class="faint">{ "No marker (traceMarker) and no span of the program (START name) is in both logs." }</p>
                }
            </Menu>
            <button class="small" onclick={props.on_merge.reform(|_: MouseEvent| ())} title="Merge both logs into one timeline">{ "Merge…" }</button>
            <button class="small" onclick={on_swap} title="Swap before and after" aria-label="Swap before and after">{ "⇅" }</button>
        </>
    }
}

/// How high the upper timeline is at first, at least and at most, in parts of both.
const USUAL_PART: f64 = 0.5;
const LEAST_PART: f64 = 0.15;
const MOST_PART: f64 = 0.85;
/// How far an arrow key moves the edge.
const STEP_PART: f64 = 0.05;

#[derive(Properties, PartialEq)]
pub(super) struct DividedProps {
    /// One or two, each with a key.
    pub(super) sections: Vec<Html>,
}

/// One timeline, or two with an edge between them that can be moved.
#[component]
pub(super) fn Divided(props: &DividedProps) -> Html {
    let node = use_node_ref();
    let part = use_state_eq(|| USUAL_PART);
    {
        let node = node.clone();
        use_effect_with(*part, move |part| {
            if let Some(node) = node.cast::<HtmlElement>() {
                set_style(&node, "--upper", &format!("{:.1}%", part * 100.0));
            }
        });
    }
    let mut sections = props.sections.iter().cloned();
    let mut children = vec![sections.next().unwrap_or_default()];
    if let Some(lower) = sections.next() {
        children.extend([edge(&node, &part), lower]);
    }
    html! { <div ref={node} class="timelines">{ for children }</div> }
}

fn edge(node: &NodeRef, part: &UseStateHandle<f64>) -> Html {
    let set = {
        let part = part.setter();
        move |to: f64| part.set(to.clamp(LEAST_PART, MOST_PART))
    };
    let down = Callback::from(|event: PointerEvent| {
        let edge: HtmlElement = event.target_unchecked_into();
        // Without capture a drag ends at the edge.
        let _ = edge.set_pointer_capture(event.pointer_id());
    });
    let moved = {
        let (set, node) = (set.clone(), node.clone());
        Callback::from(move |event: PointerEvent| {
            let both = node
                .get()
                .and_then(|node| node.dyn_into::<HtmlElement>().ok());
            if let Some(both) = both.filter(|_| event.buttons() & 1 == 1) {
                let area = both.get_bounding_client_rect();
                let y = f64::from(event.client_y()) - area.top();
                set(y / area.height().max(1.0));
            }
        })
    };
    let now = **part;
    let key = Callback::from(move |event: KeyboardEvent| {
        let by = match event.key().as_str() {
            "ArrowUp" => -STEP_PART,
            "ArrowDown" => STEP_PART,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        set(now + by);
    });
    html! {
        <div key="edge" class="divider" role="separator" aria-orientation="horizontal" aria-label="Height of the upper timeline"
            tabindex="0" aria-valuenow={format!("{:.0}", now * 100.0)} aria-valuemin="15" aria-valuemax="85"
            onpointerdown={down} onpointermove={moved} onkeydown={key} />
    }
}
