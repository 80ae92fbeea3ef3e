//! Button that opens a menu of further controls.

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::dom::{focus, state_callback};

#[derive(Properties, PartialEq)]
pub(super) struct MenuProps {
    /// Id of the menu.
    pub(super) id: &'static str,
    /// Text of the button.
    pub(super) label: AttrValue,
    /// Icon instead of the text, as an SVG path in a square of 12 units.
    #[prop_or_default]
    pub(super) icon: Option<&'static str>,
    /// Accessible name and tooltip of the menu.
    pub(super) title: AttrValue,
    /// CSS classes of the enclosing element.
    #[prop_or(classes!("menu-button"))]
    pub(super) class: Classes,
    /// Whether to use the small button style.
    #[prop_or_default]
    pub(super) small: bool,
    /// Enclosing element, for [`focus_button`].
    #[prop_or_default]
    pub(super) node: NodeRef,
    /// Whether choosing an entry closes the menu.
    #[prop_or_default]
    pub(super) closes: bool,
    pub(super) children: Html,
}

/// Button and, while open, the menu.
#[component]
pub(super) fn Menu(props: &MenuProps) -> Html {
    let open = use_state_eq(|| false);
    let node = props.node.clone();
    let is_open = *open;
    let toggle = state_callback(&open).reform(move |_: MouseEvent| !is_open);
    let onkeydown = {
        let (open, node) = (open.clone(), node.clone());
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Escape" && *open {
                event.stop_propagation();
                open.set(false);
                focus_button(&node);
            }
        })
    };
    let onfocusout = {
        let (open, node) = (open.clone(), node.clone());
        Callback::from(move |event: FocusEvent| {
            let to = event
                .related_target()
                .and_then(|to| to.dyn_into::<web_sys::Node>().ok());
            let inside = node.get().is_some_and(|node| node.contains(to.as_ref()));
            // A click on an element that cannot be focused does not close the menu.
            if to.is_some() && !inside {
                open.set(false);
            }
        })
    };
    let on_choice = props.closes.then(|| {
        let (open, node) = (open.clone(), node.clone());
        Callback::from(move |_: MouseEvent| {
            open.set(false);
            // Focus the button first: what the choice opens may then take the focus.
            focus_button(&node);
        })
    });
    html! {
        <div ref={node} class={props.class.clone()} {onkeydown} {onfocusout}>
            <button class={classes!(props.small.then_some("small"))} aria-expanded={open.to_string()} aria-controls={props.id}
                title={props.title.clone()} aria-label={props.icon.map(|_| props.label.clone())} onclick={toggle}>
                if let Some(path) = props.icon {
                    <svg viewBox="0 0 12 12" aria-hidden="true"><path d={path} /></svg>
                } else {
                    { props.label.clone() }{ " ▾" }
                }
            </button>
            if *open {
                <div id={props.id} class="menu" role="group" aria-label={props.title.clone()} onclick={on_choice}>
                    { props.children.clone() }
                </div>
            }
        </div>
    }
}

/// Focuses the button of a menu.
pub(super) fn focus_button(node: &NodeRef) {
    let button = node.cast::<HtmlElement>();
    let button = button.and_then(|node| node.query_selector("button").ok().flatten());
    if let Some(button) = button.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        focus(&button);
    }
}
