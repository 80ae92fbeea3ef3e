//! Dialog for sharing the link to the view: it lists the contents of the link, and can leave out names and notes.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::copy::copy;
use super::dialog::Modal;
use super::link;
use views::panels::PANELS;
use views::share::Link;
use views::share::contents::{LinkEntry, link_entries, redacted};

#[derive(Properties, PartialEq)]
pub(super) struct ShareProps {
    /// Complete link, including names and notes.
    pub(super) link: Rc<Link>,
    /// Whether the complete link was copied when the dialog opened; `None` while that is pending.
    pub(super) copied: Option<bool>,
    pub(super) on_close: Callback<()>,
}

/// Link that was copied last.
#[derive(Clone, Copy, PartialEq)]
enum Copied {
    Complete,
    WithoutNames,
    Failed,
}

/// Returns the status message for the displayed link.
fn status_text(copied: Option<Copied>, without_names: bool) -> &'static str {
    match (copied, without_names) {
        (None, _) => "",
        (Some(Copied::Failed), _) => {
            "Not copied: the browser does not allow it. Select the link and copy it yourself."
        }
        (Some(Copied::Complete), false) | (Some(Copied::WithoutNames), true) => "Copied.",
        (Some(Copied::Complete), true) => {
            "The clipboard still has the link with names: press Copy for this one."
        }
        (Some(Copied::WithoutNames), false) => {
            "The clipboard still has the link without names: press Copy for this one."
        }
    }
}

/// Modal dialog with the link and a list of its contents.
#[component]
pub(super) fn Share(props: &ShareProps) -> Html {
    let without_names = use_state_eq(|| false);
    let copied = use_state_eq(|| None);
    let link = if *without_names {
        Rc::new(redacted(&props.link, PANELS))
    } else {
        Rc::clone(&props.link)
    };
    let href = link::href(&link).unwrap_or_default();
    let at_first = props.copied.map(|copied| {
        if copied {
            Copied::Complete
        } else {
            Copied::Failed
        }
    });
    let on_copy = {
        let (href, copied, without_names) = (href.clone(), copied.setter(), *without_names);
        Callback::from(move |_: MouseEvent| {
            let (href, copied) = (href.clone(), copied.clone());
            spawn_local(async move {
                copied.set(Some(match (copy(&href).await, without_names) {
                    (false, _) => Copied::Failed,
                    (true, false) => Copied::Complete,
                    (true, true) => Copied::WithoutNames,
                }));
            });
        })
    };
    let on_without_names = {
        let without_names = without_names.setter();
        Callback::from(move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            without_names.set(input.checked());
        })
    };
    let select = |event: FocusEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        input.select();
    };
    html! {
        <Modal class="help share" id="share-title" title="Link to this view" on_close={props.on_close.clone()}>
            <p class="said" role="status">{ status_text((*copied).or(at_first), *without_names) }</p>
            <div class="address">
                <input type="text" readonly=true aria-label="The link" value={href} onfocus={select} />
                <button class="primary" autofocus=true onclick={on_copy}>{ "Copy" }</button>
            </div>
            <label class="choice"><input type="checkbox" checked={*without_names} onchange={on_without_names} />{ " Leave out names and notes" }</label>
            <h3>{ "Contents of this link" }</h3>
            { view_contents(&link_entries(&link, PANELS)) }
            <p class="note">{ "The link does not contain the log. To open the link, one needs the log" }
                if link.url.is_some() { { ", which is downloaded from its address" } }
                { ". The address of this page contains the same as the whole link." }</p>
        </Modal>
    }
}

fn view_contents(held: &[LinkEntry]) -> Html {
    if held.is_empty() {
        return html! { <p>{ "Only the address of this page." }</p> };
    }
    let row = |held: &LinkEntry| {
        html! {
            <>
                <dt>{ &held.label }</dt>
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
