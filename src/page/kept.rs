//! What the browser keeps of the reader's choices, each by its name, all on this computer.

fn storage() -> Option<web_sys::Storage> {
    gloo_utils::window().local_storage().ok().flatten()
}

/// What was kept under a name.
pub(super) fn kept(name: &str) -> Option<String> {
    storage()?.get_item(&key(name)).ok()?
}

/// Keeps a text under a name, or nothing. Where nothing can be kept, it is forgotten with the
/// page.
pub(super) fn keep(name: &str, text: Option<&str>) {
    if let Some(storage) = storage() {
        let _ = match text {
            Some(text) => storage.set_item(&key(name), text),
            None => storage.remove_item(&key(name)),
        };
    }
}

// `www/first.js` and `www/guide.js` spell it too.
fn key(name: &str) -> String {
    format!("eventscope-{name}")
}
