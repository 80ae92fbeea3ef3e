//! Help dialog (keys, gestures, meaning of all marks), and helpers for modal dialogs.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlDialogElement};
use yew::prelude::*;

use super::guide::guide;
use super::legend::Legend;
use model::class::Class;
use views::actions::flame::flame_keys;
use views::actions::{Binding, GESTURES, Section, section_bindings};
use views::panels::PANELS;

/// Opens a dialog as modal.
pub(super) fn open_modal(node: &NodeRef) {
    if let Some(dialog) = node.cast::<HtmlDialogElement>() {
        // Fails only for a dialog that is already open.
        let _ = dialog.show_modal();
        // Fails only for a name that is no attribute.
        let _ = dialog.set_attribute(SHOWN, "");
    }
}

/// Attribute of dialogs that have been opened.
const SHOWN: &str = "data-shown";

/// Returns whether the browser has closed a dialog, and the event about it has not arrived yet: the next key is for
/// the page again.
pub(super) fn is_dialog_closing() -> bool {
    let closed = format!("dialog[{SHOWN}]:not([open])");
    let found = gloo_utils::document().query_selector(&closed);
    found.is_ok_and(|dialog| dialog.is_some())
}

/// Closes a dialog; the browser restores the previous focus.
pub(super) fn close_modal(node: &NodeRef) {
    if let Some(dialog) = node.cast::<HtmlDialogElement>() {
        dialog.close();
    }
}

/// Closes the dialog in which a button was clicked; the browser restores the previous focus.
pub(super) fn close_dialog(event: MouseEvent) {
    let button: Element = event.target_unchecked_into();
    let dialog = button.closest("dialog").ok().flatten();
    if let Some(dialog) = dialog.and_then(|it| it.dyn_into::<HtmlDialogElement>().ok()) {
        dialog.close();
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct ModalProps {
    pub(super) class: &'static str,
    /// Identifier of the title in the document.
    pub(super) id: &'static str,
    pub(super) title: AttrValue,
    /// Accessible name of the button that closes the dialog.
    #[prop_or("Close")]
    pub(super) close: &'static str,
    /// Element to scroll to after opening.
    #[prop_or_default]
    pub(super) scroll_to: NodeRef,
    pub(super) on_close: Callback<()>,
    pub(super) children: Html,
}

/// Modal dialog with a title.
#[component]
pub(super) fn Modal(props: &ModalProps) -> Html {
    let node = use_node_ref();
    {
        let (node, scroll_to) = (node.clone(), props.scroll_to.clone());
        use_effect_with((), move |()| {
            open_modal(&node);
            if let Some(element) = scroll_to.cast::<Element>() {
                element.scroll_into_view();
            }
        });
    }
    html! {
        <dialog ref={node} class={props.class} aria-labelledby={props.id} onclose={props.on_close.reform(|_: Event| ())}>
            <header>
                <h2 id={props.id}>{ props.title.clone() }</h2>
                <button class="quiet" onclick={close_dialog} aria-label={props.close}>{ "✕" }</button>
            </header>
            { props.children.clone() }
        </dialog>
    }
}

/// Returns the CSS class for the color of a state class.
pub(super) const fn color_class(class: Class) -> &'static str {
    match class {
        Class::Running | Class::Open => "running",
        Class::Gc | Class::GcStart | Class::GcIdle | Class::GcDone | Class::RunnableDuringGc => {
            "gc"
        }
        Class::GcSync => "gc-sync",
        Class::Census => "census",
        Class::Returning => "returning",
        Class::CapIdleWorkAvailable | Class::Ready | Class::ThreadRunnableCapIdle => "ready",
        Class::Unknown => "unknown",
        Class::Mvar => "mvar",
        Class::BlackHole => "black-hole",
        Class::Stm => "stm",
        Class::ThrowTo => "throw-to",
        Class::Foreign => "foreign",
        Class::Sleeping => "sleeping",
        Class::Io | Class::Other | Class::Unread => "io",
    }
}

/// Returns the CSS classes for a swatch of a state class: color and shape.
pub(super) fn swatch(class: Class) -> Classes {
    let form = match class {
        Class::GcStart | Class::GcIdle | Class::GcDone => "part",
        Class::Open => "open",
        Class::Running
        | Class::Gc
        | Class::Census
        | Class::CapIdleWorkAvailable
        | Class::ThreadRunnableCapIdle
        | Class::Unknown
        | Class::Unread => "",
        _ => "line",
    };
    classes!("swatch", color_class(class), form)
}

/// Renders the keys and the description of an action.
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

/// Returns the name, version and license of the program.
fn about() -> String {
    let (version, licence) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_LICENSE"));
    format!("Eventscope {version} · license {licence}")
}

#[derive(Properties, PartialEq)]
pub(super) struct HelpProps {
    /// Whether to open the dialog scrolled to the meaning of the marks.
    pub(super) legend: bool,
    /// Incremented when the theme changes.
    pub(super) color_generation: u32,
    pub(super) on_close: Callback<()>,
}

/// Modal dialog with all keys, gestures and marks.
#[component]
pub(super) fn Help(props: &HelpProps) -> Html {
    let marks = use_node_ref();
    let scroll_to = if props.legend {
        marks.clone()
    } else {
        NodeRef::default()
    };
    let sections = Section::ALL.iter().map(|&section| {
        html! {
            <section>
                <h3>{ section.name() }</h3>
                <dl>{ for section_bindings(section, PANELS).filter(|binding| !binding.keys.is_empty()).map(|binding| view_keys(&binding)) }</dl>
            </section>
        }
    });
    let row = |(key, help): (&'static str, &'static str)| html! { <><dt>{ key }</dt><dd>{ help }</dd></> };
    let gestures = GESTURES.iter().copied().map(row);
    html! {
        <Modal class="help" id="help-title" title="Keys, gestures, colors" close="Close the help" {scroll_to} on_close={props.on_close.clone()}>
            <p class="note">{ "Letter keys are positions on a QWERTY keyboard, whatever the layout. Arrows, Enter, Space, Home, End, period and comma need focus on the timeline." }</p>
            <p class="note">{ guide("", "Guide: terms, colors, numbers, how to record a log") }</p>
            <div class="help-columns">
                { for sections }
                <section>
                    <h3>{ "Mouse, touchpad, touch" }</h3>
                    <dl class="wide">{ for gestures }</dl>
                </section>
                <section>
                    <h3>{ "Flame graph" }</h3>
                    <dl class="wide">{ for flame_keys().map(row) }</dl>
                </section>
            </div>
            <h3 ref={marks} id="marks">{ "Legend of marks" }</h3>
            <Legend color_generation={props.color_generation} />
            <footer class="note">{ about() }</footer>
        </Modal>
    }
}
