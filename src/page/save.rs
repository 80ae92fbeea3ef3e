//! Saving a text as a file, made in the page: nothing is sent.

use gloo_timers::callback::Timeout;
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlElement, Url};

/// After so long the browser has taken the file.
const TAKEN_MS: u32 = 60_000;

/// Saves texts and blobs, one after the other, as a file of that name.
///
/// # Errors
/// If the browser has no memory for it.
pub(super) fn save(name: &str, kind: &str, parts: &Array) -> Result<(), JsValue> {
    let properties = BlobPropertyBag::new();
    properties.set_type(kind);
    let blob = Blob::new_with_str_sequence_and_options(parts, &properties)?;
    save_blob(name, &blob)
}

/// Saves bytes as a file of that name.
///
/// # Errors
/// If the browser has no memory for it.
pub(super) fn save_blob(name: &str, blob: &Blob) -> Result<(), JsValue> {
    let url = Url::create_object_url_with_blob(blob)?;
    let link = gloo_utils::document().create_element("a")?;
    link.set_attribute("href", &url)?;
    link.set_attribute("download", name)?;
    link.unchecked_into::<HtmlElement>().click();
    Timeout::new(TAKEN_MS, move || {
        // Only memory is lost if this fails.
        let _ = Url::revoke_object_url(&url);
    })
    .forget();
    Ok(())
}
