//! What went wrong: what is said of it, its code, and a report that can be copied.

use yew::prelude::*;

use super::copy::CopyButton;
use views::trouble::{Circumstances, Trouble};

#[derive(Properties, PartialEq)]
pub(super) struct TroubleProps {
    pub(super) heading: AttrValue,
    pub(super) trouble: AttrValue,
    pub(super) code: AttrValue,
    /// Makes the report.
    pub(super) on_report: Callback<(), Option<String>>,
    /// Takes it away, where it stands above a log.
    #[prop_or_default]
    pub(super) on_dismiss: Option<Callback<()>>,
}

/// The alert.
#[component]
pub(super) fn TroubleAlert(props: &TroubleProps) -> Html {
    let dismiss = props
        .on_dismiss
        .as_ref()
        .map(|it| it.reform(|_: MouseEvent| ()));
    html! {
        <div class="alert" role="alert">
            <strong>{ &props.heading }{ " " }</strong>{ &props.trouble }
            <p class="report">
                <code title="What docs/errors.md says more of">{ &props.code }</code>
                <CopyButton label="Copy report" what="of what went wrong" text={props.on_report.clone()} />
                <span class="faint">{ "Contains no log data." }</span>
                if let Some(onclick) = dismiss {
                    <button class="quiet" {onclick} aria-label="Dismiss">{ "✕" }</button>
                }
            </p>
        </div>
    }
}

/// The report, with what the browser says of itself.
pub(super) fn report(trouble: &Trouble, numbers: Vec<(&'static str, Option<u64>)>) -> String {
    let window = gloo_utils::window();
    let navigator = window.navigator();
    let build = gloo_utils::document()
        .query_selector("meta[name=eventscope-build]")
        .ok()
        .flatten()
        .and_then(|meta| meta.get_attribute("content"));
    let number = |of: &wasm_bindgen::JsValue, name: &str| {
        let value = js_sys::Reflect::get(of, &name.into()).ok()?.as_f64()?;
        Some(value as u64)
    };
    let mut numbers = numbers;
    numbers.push(("cores", number(&navigator, "hardwareConcurrency")));
    numbers.push((
        "memory of the device in GiB",
        number(&navigator, "deviceMemory"),
    ));
    let about = Circumstances {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: build.unwrap_or_default(),
        browser: navigator.user_agent().unwrap_or_default(),
        numbers,
    };
    views::trouble::report(trouble, &about)
}
