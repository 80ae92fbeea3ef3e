//! User preferences, stored by name in the browser's local storage.

fn storage() -> Option<web_sys::Storage> {
    gloo_utils::window().local_storage().ok().flatten()
}

/// Returns the stored text of a name.
pub(super) fn load_preference(name: &str) -> Option<String> {
    storage()?.get_item(&key(name)).ok()?
}

/// Stores a text under a name; `None` removes it. Without local storage, the preference is lost with the page.
pub(super) fn store_preference(name: &str, text: Option<&str>) {
    if let Some(storage) = storage() {
        let _ = match text {
            Some(text) => storage.set_item(&key(name), text),
            None => storage.remove_item(&key(name)),
        };
    }
}

// `www/first.js` and `www/guide.js` use the same prefix.
fn key(name: &str) -> String {
    format!("eventscope-{name}")
}
