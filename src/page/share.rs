//! The dialog of the link: what it holds, in words, and the same without names.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::copy::copy;
use super::dialog::{close_modal, open_modal};
use super::link;
use views::panels::PANELS;
use views::share::Link;
use views::share::held::{Held, held, without_texts};

#[derive(Properties, PartialEq)]
pub(super) struct ShareProps {
    /// The whole link.
    pub(super) link: Rc<Link>,
    /// Whether it could be copied; `None` until that is known.
    pub(super) copied: Option<bool>,
    pub(super) on_close: Callback<()>,
}

/// Which link was copied last, if that worked.
#[derive(Clone, Copy, PartialEq)]
enum Copied {
    Whole,
    Bare,
    Not,
}

/// What became of the link that is shown.
fn said(copied: Option<Copied>, is_bare: bool) -> &'static str {
    match (copied, is_bare) {
        (None, _) => "",
        (Some(Copied::Not), _) => {
            "Not copied: the browser does not allow it. Select the link and copy it yourself."
        }
        (Some(Copied::Whole), false) | (Some(Copied::Bare), true) => "Copied.",
        (Some(Copied::Whole), true) => {
            "The link with names is still what was copied: press Copy for this one."
        }
        (Some(Copied::Bare), false) => {
            "The link without names is still what was copied: press Copy for this one."
        }
    }
}

/// The dialog.
#[component]
pub(super) fn Share(props: &ShareProps) -> Html {
    let node = use_node_ref();
    let is_bare = use_state_eq(|| false);
    let copied = use_state_eq(|| None);
    {
        let node = node.clone();
        use_effect_with((), move |()| open_modal(&node));
    }
    let link = if *is_bare {
        Rc::new(without_texts(&props.link, PANELS))
    } else {
        Rc::clone(&props.link)
    };
    let href = link::href(&link).unwrap_or_default();
    let at_first = props
        .copied
        .map(|copied| if copied { Copied::Whole } else { Copied::Not });
    let on_copy = {
        let (href, copied, is_bare) = (href.clone(), copied.setter(), *is_bare);
        Callback::from(move |_: MouseEvent| {
            let (href, copied) = (href.clone(), copied.clone());
            spawn_local(async move {
                copied.set(Some(match (copy(&href).await, is_bare) {
                    (false, _) => Copied::Not,
                    (true, false) => Copied::Whole,
                    (true, true) => Copied::Bare,
                }));
            });
        })
    };
    let on_bare = {
        let is_bare = is_bare.setter();
        Callback::from(move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            is_bare.set(input.checked());
        })
    };
    let close = {
        let node = node.clone();
        move |_: MouseEvent| close_modal(&node)
    };
    let select = |event: FocusEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        input.select();
    };
    html! {
        <dialog ref={node} class="help share" aria-labelledby="share-title" onclose={props.on_close.reform(|_: Event| ())}>
            <header>
                <h2 id="share-title">{ "Link to this view" }</h2>
                <button class="quiet" onclick={close} aria-label="Close">{ "✕" }</button>
            </header>
            <p class="said" role="status">{ said((*copied).or(at_first), *is_bare) }</p>
            <div class="address">
                <input type="text" readonly=true aria-label="The link" value={href} onfocus={select} />
                <button class="primary" autofocus=true onclick={on_copy}>{ "Copy" }</button>
            </div>
            <label class="choice"><input type="checkbox" checked={*is_bare} onchange={on_bare} />{ " Leave out names and notes" }</label>
            <h3>{ "What this link contains" }</h3>
            { view_held(&held(&link, PANELS)) }
            <p class="note">{ "The log itself is not in it. Whoever opens the link needs the log" }
                if link.url.is_some() { { ", which is fetched from where it is" } }
                { ". The address of this page says the same as the whole link." }</p>
        </dialog>
    }
}

fn view_held(held: &[Held]) -> Html {
    if held.is_empty() {
        return html! { <p>{ "Nothing but the address of this page." }</p> };
    }
    let row = |held: &Held| {
        html! {
            <>
                <dt>{ &held.what }</dt>
                <dd>
                    { &held.value }
                    if held.is_text {
                        <span class="tag">{ "name or text" }</span>
                    }
                </dd>
            </>
        }
    };
    html! { <dl class="held">{ for held.iter().map(row) }</dl> }
}
