//! Term with a tooltip that explains it on hover, focus or touch.

use std::cell::Cell;

use web_sys::HtmlElement;
use yew::prelude::*;

use super::dom::set_style;

/// Minimum distance of the tooltip from the window edges, in pixels.
const MARGIN_PX: f64 = 8.0;

#[derive(Properties, PartialEq)]
pub(super) struct TermProps {
    /// The term.
    pub(super) name: AttrValue,
    /// Explanation of the term.
    pub(super) help: AttrValue,
}

/// Returns a number that is unique on the page, for element ids.
#[hook]
pub(super) fn use_number() -> u32 {
    thread_local! {
        static NEXT: Cell<u32> = const { Cell::new(0) };
    }
    *use_memo((), |()| NEXT.replace(NEXT.get().wrapping_add(1)))
}

/// Term with its tooltip.
#[component]
pub(super) fn Term(props: &TermProps) -> Html {
    let number = use_number();
    let id = format!("help-{number}");
    let open = use_state_eq(|| false);
    let (word, tip) = (use_node_ref(), use_node_ref());
    {
        let (word, tip) = (word.clone(), tip.clone());
        use_effect_with(*open, move |open| {
            if *open {
                place_tooltip(&word, &tip);
            }
        });
    }
    let show = |to: bool| {
        let open = open.setter();
        move || open.set(to)
    };
    let (enter, leave) = (show(true), show(false));
    let (focus, blur, click, escape) = (show(true), show(false), show(true), show(false));
    let onkeydown = {
        let open = *open;
        move |event: KeyboardEvent| {
            if open && event.key() == "Escape" {
                event.stop_propagation();
                escape();
            }
        }
    };
    html! {
        <span class="term" onmouseenter={move |_| enter()} onmouseleave={move |_| leave()}>
            <button ref={word} aria-describedby={id.clone()} {onkeydown} onclick={move |_| click()}
                onfocus={move |_| focus()} onblur={move |_| blur()}>{ props.name.clone() }</button>
            <span class="tip" role="tooltip" {id} ref={tip} hidden={!*open}>{ props.help.clone() }</span>
        </span>
    }
}

/// Renders a column heading with an explanation.
pub(super) fn heading(name: &'static str, help: &'static str) -> Html {
    html! { <th scope="col"><Term {name} {help} /></th> }
}

/// Renders a table from the names and explanations of its columns, and its rows.
pub(super) fn plain_table(columns: &[(&'static str, &'static str)], rows: Html) -> Html {
    html! {
        <table class="plain-table">
            <thead><tr>{ for columns.iter().map(|(name, help)| heading(name, help)) }</tr></thead>
            <tbody>{ rows }</tbody>
        </table>
    }
}

/// Places the tooltip below the term, or above it if there is no room.
fn place_tooltip(word: &NodeRef, tip: &NodeRef) -> Option<()> {
    let (word, tip) = (word.cast::<HtmlElement>()?, tip.cast::<HtmlElement>()?);
    let window = gloo_utils::window();
    let (width, height) = (window.inner_width().ok()?, window.inner_height().ok()?);
    let (width, height) = (width.as_f64()?, height.as_f64()?);
    let (at, size) = (
        word.get_bounding_client_rect(),
        tip.get_bounding_client_rect(),
    );
    let left = at.left().min(width - size.width() - MARGIN_PX);
    let below = at.bottom() + size.height() + MARGIN_PX <= height;
    let top = if below {
        at.bottom()
    } else {
        at.top() - size.height()
    };
    for (property, px) in [("left", left.max(MARGIN_PX)), ("top", top)] {
        set_style(&tip, property, &format!("{px:.0}px"));
    }
    Some(())
}
