//! Saving data as a file from within the page; nothing is sent anywhere.

use gloo_timers::callback::Timeout;
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlElement, Url};

/// Delay until the object URL is revoked: by then, the browser has saved the file.
const REVOKE_DELAY_MS: u32 = 60_000;

/// Saves texts and blobs, concatenated, as a file.
///
/// # Errors
/// If the browser lacks memory.
pub(super) fn save(name: &str, kind: &str, parts: &Array) -> Result<(), JsValue> {
    let properties = BlobPropertyBag::new();
    properties.set_type(kind);
    let blob = Blob::new_with_str_sequence_and_options(parts, &properties)?;
    save_blob(name, &blob)
}

/// Saves a blob as a file.
///
/// # Errors
/// If the browser lacks memory.
pub(super) fn save_blob(name: &str, blob: &Blob) -> Result<(), JsValue> {
    let url = Url::create_object_url_with_blob(blob)?;
    let link = gloo_utils::document().create_element("a")?;
    link.set_attribute("href", &url)?;
    link.set_attribute("download", name)?;
    link.unchecked_into::<HtmlElement>().click();
    Timeout::new(REVOKE_DELAY_MS, move || {
        // A failure only leaks memory.
        let _ = Url::revoke_object_url(&url);
    })
    .forget();
    Ok(())
}
