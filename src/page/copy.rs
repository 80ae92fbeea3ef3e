//! Button that copies a text to the clipboard.

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use yew::prelude::*;

/// How long a button shows the result, in milliseconds.
pub(super) const STATUS_MS: u32 = 2500;

#[derive(Properties, PartialEq)]
pub(super) struct CopyButtonProps {
    #[prop_or("Copy".into())]
    pub(super) label: AttrValue,
    /// Description of the copied text for screen readers: `the command line`.
    pub(super) what: AttrValue,
    /// Produces the text to copy; `None` if there is none.
    pub(super) text: Callback<(), Option<String>>,
}

/// Copy button, which briefly shows whether copying succeeded.
#[component]
pub(super) fn CopyButton(props: &CopyButtonProps) -> Html {
    let copied = use_state_eq(|| None);
    let reset_timer = use_mut_ref(|| None::<Timeout>);
    let onclick = {
        let (text, copied) = (props.text.clone(), copied.setter());
        Callback::from(move |_: MouseEvent| {
            let (text, copied, reset_timer) = (text.emit(()), copied.clone(), reset_timer.clone());
            spawn_local(async move {
                copied.set(Some(match text {
                    Some(text) => copy(&text).await,
                    None => false,
                }));
                let over = Timeout::new(STATUS_MS, move || copied.set(None));
                *reset_timer.borrow_mut() = Some(over);
            });
        })
    };
    let (label, said) = match *copied {
        None => (props.label.clone(), String::new()),
        Some(true) => ("Copied".into(), format!("Copied {}", props.what)),
        Some(false) => (
            "Not copied".into(),
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

/// Copies a text and returns whether that succeeded. Browsers offer no clipboard to pages served without
/// encryption.
pub(super) async fn copy(text: &str) -> bool {
    let clipboard = gloo_utils::window().navigator().clipboard();
    let there_is_one = !AsRef::<JsValue>::as_ref(&clipboard).is_undefined();
    there_is_one && JsFuture::from(clipboard.write_text(text)).await.is_ok()
}
