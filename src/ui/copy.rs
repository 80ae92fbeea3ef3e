//! A button that copies a text.

use gloo_timers::callback::Timeout;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use yew::prelude::*;

/// For so long the button says what has come of it.
const SAID_MS: u32 = 2500;

#[derive(Properties, PartialEq)]
pub(super) struct CopyProps {
    pub(super) label: AttrValue,
    /// Makes the text.
    pub(super) text: Callback<(), Option<String>>,
}

/// The button.
#[component]
pub(super) fn Copy(props: &CopyProps) -> Html {
    let said = use_state(|| None::<&'static str>);
    let timer = use_mut_ref(|| None::<Timeout>);
    let onclick = {
        let (said, text) = (said.setter(), props.text.clone());
        move |_: MouseEvent| {
            let (said, text, timer) = (said.clone(), text.emit(()), timer.clone());
            spawn_local(async move {
                let clipboard = gloo_utils::window().navigator().clipboard();
                let copied = match text {
                    Some(text) => JsFuture::from(clipboard.write_text(&text)).await.is_ok(),
                    None => false,
                };
                said.set(Some(if copied { "Copied" } else { "Not copied" }));
                *timer.borrow_mut() = Some(Timeout::new(SAID_MS, move || said.set(None)));
            });
        }
    };
    html! {
        <>
            <button class="copy" {onclick}>{ said.map_or_else(|| props.label.clone(), AttrValue::from) }</button>
            <span class="visually-hidden" role="status">{ said.unwrap_or_default() }</span>
        </>
    }
}
