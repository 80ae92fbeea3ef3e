//! Light, dark and high contrast: what the system says, unless the user says
//! otherwise.

use crate::scene::palette::Palette;

/// What the user chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Choice {
    /// As the system.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

/// The theme in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    pub(super) palette: &'static Palette,
    pub(super) dark: bool,
    /// Whether meaning is shown by patterns too.
    pub(super) patterns: bool,
}

const KEY: &str = "eventscope-theme";

fn prefers(query: &str) -> bool {
    let list = gloo_utils::window().match_media(query).ok().flatten();
    list.is_some_and(|list| list.matches())
}

fn storage() -> Option<web_sys::Storage> {
    gloo_utils::window().local_storage().ok().flatten()
}

/// What the user chose before.
pub(super) fn choice() -> Choice {
    let stored = storage().and_then(|storage| storage.get_item(KEY).ok().flatten());
    match stored.as_deref() {
        Some("light") => Choice::Light,
        Some("dark") => Choice::Dark,
        _ => Choice::System,
    }
}

/// The theme in force.
pub(super) fn current() -> Theme {
    let dark = match choice() {
        Choice::System => prefers("(prefers-color-scheme: dark)"),
        Choice::Light => false,
        Choice::Dark => true,
    };
    let contrast = prefers("(prefers-contrast: more)");
    Theme {
        palette: Palette::of(dark, contrast),
        dark,
        patterns: contrast || prefers("(forced-colors: active)"),
    }
}

/// Puts the choice into force.
pub(super) fn apply(choice: Choice) {
    let name = match choice {
        Choice::System => None,
        Choice::Light => Some("light"),
        Choice::Dark => Some("dark"),
    };
    // Where nothing can be stored or set, the system's theme stays.
    if let Some(root) = gloo_utils::document().document_element() {
        let _ = match name {
            Some(name) => root.set_attribute("data-theme", name),
            None => root.remove_attribute("data-theme"),
        };
    }
    if let Some(storage) = storage() {
        let _ = match name {
            Some(name) => storage.set_item(KEY, name),
            None => storage.remove_item(KEY),
        };
    }
}

/// The next choice: the first one always changes something.
pub(super) fn next(choice: Choice) -> Choice {
    let system_dark = prefers("(prefers-color-scheme: dark)");
    match (choice, system_dark) {
        (Choice::System, true) | (Choice::Dark, false) => Choice::Light,
        (Choice::System, false) | (Choice::Light, true) => Choice::Dark,
        (Choice::Light, false) | (Choice::Dark, true) => Choice::System,
    }
}
