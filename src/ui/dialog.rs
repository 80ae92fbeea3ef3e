//! The help: keys, gestures, and what every mark means.

use web_sys::{Element, HtmlDialogElement};
use yew::prelude::*;

use crate::actions::{Binding, GESTURES, Section, of_section};
use crate::timeline::Class;

/// Shows a dialog, before everything else.
pub(super) fn open_modal(node: &NodeRef) {
    if let Some(dialog) = node.cast::<HtmlDialogElement>() {
        // Fails only for a dialog that is open already.
        let _ = dialog.show_modal();
    }
}

/// Closes it: what had the focus before gets it again.
pub(super) fn close_modal(node: &NodeRef) {
    if let Some(dialog) = node.cast::<HtmlDialogElement>() {
        dialog.close();
    }
}

/// The style class of a class of state: its colour.
pub(super) const fn swatch(class: Class) -> &'static str {
    match class {
        Class::Running => "swatch running",
        Class::Gc => "swatch gc",
        Class::GcSync => "swatch gc-sync line",
        Class::GcStart | Class::GcIdle | Class::GcDone => "swatch gc part",
        Class::Ready => "swatch ready line",
        Class::Blocked => "swatch blocked line",
        Class::Foreign => "swatch foreign line",
        Class::Io | Class::Other => "swatch io line",
        Class::Open => "swatch running open",
    }
}

/// What a class of state means, in a sentence.
const fn meaning(class: Class) -> &'static str {
    match class {
        Class::Running => {
            "Haskell code runs (the mutator): a full green bar, in the row of the capability and of the thread."
        }
        Class::Gc => "The capability collects garbage; no thread runs on it meanwhile.",
        Class::Ready => {
            "The thread could run, but no capability runs it: what blocked it is over, it yielded, its heap block was used up, its stack grows, or it is new."
        }
        Class::Blocked => {
            "The thread waits for a Haskell object: an MVar, a value that another thread computes (black hole), an STM retry, throwTo."
        }
        Class::Foreign => {
            "The thread is in a safe foreign call; the capability does other work. A wait for a capability after the call is part of this: the log does not say when the call returned."
        }
        Class::Io => {
            "The thread waits for a file, a socket or a delay, or the log gives no reason."
        }
        Class::Open => "It was still running when the log ended.",
        Class::GcSync => "A collection is wanted; the capability waits until all have stopped.",
        Class::GcStart => "The collection has begun; the capability has no work in it yet.",
        Class::GcIdle => "The capability waits in the collection for the others, who have work.",
        Class::GcDone => "The capability has done its part of the collection.",
        Class::Other => "Anything else that takes time.",
    }
}

/// An action with its keys.
fn view_keys(binding: &Binding) -> Html {
    let keys = binding
        .shown_keys()
        .into_iter()
        .map(|key| html! { <><kbd>{ key }</kbd>{ " " }</> });
    html! {
        <>
            <dt>{ for keys }</dt>
            <dd>
                { binding.title }
                if !binding.help.is_empty() {
                    <span class="more">{ format!(". {}", binding.help) }</span>
                }
            </dd>
        </>
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct HelpProps {
    /// Whether to begin with what the marks mean.
    pub(super) legend: bool,
    pub(super) on_close: Callback<()>,
}

/// The help as a dialog.
#[component]
pub(super) fn Help(props: &HelpProps) -> Html {
    let (node, marks) = (use_node_ref(), use_node_ref());
    {
        let (node, marks, legend) = (node.clone(), marks.clone(), props.legend);
        use_effect_with((), move |()| {
            open_modal(&node);
            if let Some(marks) = marks.cast::<Element>().filter(|_| legend) {
                marks.scroll_into_view();
            }
        });
    }
    let close = {
        let node = node.clone();
        move |_: MouseEvent| close_modal(&node)
    };
    let on_close = props.on_close.reform(|_: Event| ());
    let sections = Section::ALL.iter().map(|&section| {
        html! {
            <section>
                <h3>{ section.name() }</h3>
                <dl>{ for of_section(section).filter(|binding| !binding.keys.is_empty()).map(view_keys) }</dl>
            </section>
        }
    });
    let gestures = GESTURES.iter().map(|(gesture, help)| {
        html! { <><dt>{ *gesture }</dt><dd>{ *help }</dd></> }
    });
    let classes = Class::ALL.iter().map(|class| {
        html! { <><dt><span class={swatch(*class)} aria-hidden="true" />{ " " }{ class.name() }</dt><dd>{ meaning(*class) }</dd></> }
    });
    html! {
        <dialog ref={node} class="help" aria-labelledby="help-title" onclose={on_close}>
            <header>
                <h2 id="help-title">{ "Keys, gestures, colours" }</h2>
                <button class="quiet" onclick={close} aria-label="Close the help">{ "✕" }</button>
            </header>
            <p class="note">{ "Letters are found by their place on the keyboard. Arrows, Enter, Space, Home, End, point and comma count while the timeline has the focus." }</p>
            <div class="help-columns">
                { for sections }
                <section>
                    <h3>{ "Mouse, touchpad, touch" }</h3>
                    <dl class="wide">{ for gestures }</dl>
                </section>
            </div>
            <h3 ref={marks}>{ "What the marks mean" }</h3>
            <dl class="legend">{ for classes }</dl>
            <p class="note">{ "Where several spans share a pixel, a bar is as high as their share of its time. A running thread is a full bar; one that does not run is a thin line in the colour of its reason." }</p>
        </dialog>
    }
}
