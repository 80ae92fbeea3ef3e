//! A button that copies a text.

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use yew::prelude::*;

/// How long the button says that it has copied.
const SAID_MS: u32 = 2500;

#[derive(Properties, PartialEq)]
pub(super) struct CopyButtonProps {
    pub(super) text: AttrValue,
    /// What is copied, for screen readers: `the command line`.
    pub(super) what: &'static str,
}

/// What the button last came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Copied,
    Refused,
}

/// The button.
#[component]
pub(super) fn CopyButton(props: &CopyButtonProps) -> Html {
    let outcome = use_state_eq(|| None);
    let saying = use_mut_ref(|| None::<Timeout>);
    let onclick = {
        let (text, outcome) = (props.text.clone(), outcome.setter());
        Callback::from(move |_: MouseEvent| {
            let clipboard = gloo_utils::window().navigator().clipboard();
            // Browsers have no clipboard for pages that came without encryption.
            if AsRef::<JsValue>::as_ref(&clipboard).is_undefined() {
                outcome.set(Some(Outcome::Refused));
                return;
            }
            let copying = JsFuture::from(clipboard.write_text(&text));
            let (outcome, saying) = (outcome.clone(), saying.clone());
            spawn_local(async move {
                let copied = copying.await.is_ok();
                outcome.set(Some(if copied {
                    Outcome::Copied
                } else {
                    Outcome::Refused
                }));
                let over = Timeout::new(SAID_MS, move || outcome.set(None));
                *saying.borrow_mut() = Some(over);
            });
        })
    };
    let (label, said) = match *outcome {
        None => ("Copy", String::new()),
        Some(Outcome::Copied) => ("Copied", format!("Copied {}", props.what)),
        Some(Outcome::Refused) => (
            "Not copied",
            "The browser does not allow copying: select the text and copy it yourself.".to_owned(),
        ),
    };
    html! {
        <>
            <button class="small" {onclick} aria-label={format!("{label} {}", props.what)} title={said.clone()}>{ label }</button>
            <span class="visually-hidden" role="status">{ said }</span>
        </>
    }
}
