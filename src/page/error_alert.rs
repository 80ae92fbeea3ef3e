//! Error alerts: message, error code, and a report that can be copied.

use yew::prelude::*;

use super::copy::CopyButton;
use super::dom::meta;
use views::page_error::{ErrorContext, PageError};

/// Renders an alert for an error; `figures` are part of its report. It can be dismissed if there is `on_dismiss`.
pub(super) fn error_alert(
    error: &PageError,
    figures: Vec<(&'static str, Option<u64>)>,
    on_dismiss: Option<Callback<MouseEvent>>,
) -> Html {
    let own = error.clone();
    let on_report = Callback::from(move |()| Some(report(&own, figures.clone())));
    html! {
        <div class="alert" role="alert">
            <strong>{ error.heading() }{ " " }</strong>{ &error.message }
            <p class="report">
                <code title="Error code, explained in docs/errors.md">{ error.code.to_string() }</code>
                <CopyButton label="Copy report" what="of the error" text={on_report} />
                <span class="faint">{ "Contains no log data." }</span>
                if let Some(onclick) = on_dismiss {
                    <button class="quiet" {onclick} aria-label="Dismiss">{ "✕" }</button>
                }
            </p>
        </div>
    }
}

/// Returns the report, with details about the browser.
fn report(error: &PageError, mut numbers: Vec<(&'static str, Option<u64>)>) -> String {
    let window = gloo_utils::window();
    let navigator = window.navigator();
    let number = |of: &wasm_bindgen::JsValue, name: &str| {
        let value = js_sys::Reflect::get(of, &name.into()).ok()?.as_f64()?;
        Some(value as u64)
    };
    for (what, name) in [
        ("cores", "hardwareConcurrency"),
        ("memory of the device in GiB", "deviceMemory"),
    ] {
        numbers.push((what, number(&navigator, name)));
    }
    let about = ErrorContext {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: meta("build").unwrap_or_default(),
        browser: navigator.user_agent().unwrap_or_default(),
        numbers,
    };
    views::page_error::report(error, &about)
}
