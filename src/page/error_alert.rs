//! Error alerts: message, error code, and a report that can be copied.

use yew::prelude::*;

use super::copy::CopyButton;
use views::page_error::{ErrorContext, PageError};

#[derive(Properties, PartialEq)]
pub(super) struct ErrorAlertProps {
    pub(super) heading: AttrValue,
    pub(super) error: AttrValue,
    pub(super) code: AttrValue,
    /// Produces the report.
    pub(super) on_report: Callback<(), Option<String>>,
    /// Dismisses the alert; `None` if it cannot be dismissed.
    #[prop_or_default]
    pub(super) on_dismiss: Option<Callback<()>>,
}

/// Alert for an error.
#[component]
pub(super) fn ErrorAlert(props: &ErrorAlertProps) -> Html {
    let dismiss = props
        .on_dismiss
        .as_ref()
        .map(|it| it.reform(|_: MouseEvent| ()));
    html! {
        <div class="alert" role="alert">
            <strong>{ &props.heading }{ " " }</strong>{ &props.error }
            <p class="report">
                <code title="Error code, explained in docs/errors.md">{ &props.code }</code>
                <CopyButton label="Copy report" what="of the error" text={props.on_report.clone()} />
                <span class="faint">{ "Contains no log data." }</span>
                if let Some(onclick) = dismiss {
                    <button class="quiet" {onclick} aria-label="Dismiss">{ "✕" }</button>
                }
            </p>
        </div>
    }
}

/// Returns the report, with details about the browser.
pub(super) fn report(error: &PageError, numbers: Vec<(&'static str, Option<u64>)>) -> String {
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
    let about = ErrorContext {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: build.unwrap_or_default(),
        browser: navigator.user_agent().unwrap_or_default(),
        numbers,
    };
    views::page_error::report(error, &about)
}
