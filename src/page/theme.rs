//! Light, dark and high contrast: what the system says, unless the user says
//! otherwise.

use super::kept::{keep, kept};
use scene::palette::Palette;

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

/// How much contrast the user chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Contrast {
    /// As the system asks for.
    #[default]
    System,
    /// More, with patterns beside the colours, whatever the system asks for.
    More,
}

/// The theme in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    pub(super) palette: &'static Palette,
    pub(super) dark: bool,
    /// Whether meaning is shown by patterns too.
    pub(super) patterns: bool,
}

// The page puts what is kept into force before the program is there: `www/first.js`.
const KEY: &str = "theme";
const CONTRAST_KEY: &str = "contrast";

/// Whether a media query holds now.
pub(super) fn holds(query: &str) -> bool {
    let list = gloo_utils::window().match_media(query).ok().flatten();
    list.is_some_and(|list| list.matches())
}

/// What the user chose before.
pub(super) fn choice() -> Choice {
    match kept(KEY).as_deref() {
        Some("light") => Choice::Light,
        Some("dark") => Choice::Dark,
        _ => Choice::System,
    }
}

/// How much contrast the user chose before.
pub(super) fn contrast() -> Contrast {
    match kept(CONTRAST_KEY).as_deref() {
        Some("more") => Contrast::More,
        _ => Contrast::System,
    }
}

/// The theme in force.
pub(super) fn current() -> Theme {
    let dark = match choice() {
        Choice::System => holds("(prefers-color-scheme: dark)"),
        Choice::Light => false,
        Choice::Dark => true,
    };
    let contrast = contrast() == Contrast::More || holds("(prefers-contrast: more)");
    Theme {
        palette: Palette::of(dark, contrast),
        dark,
        patterns: contrast || holds("(forced-colors: active)"),
    }
}

/// Puts the choices into force.
pub(super) fn apply(choice: Choice, contrast: Contrast) {
    let theme = match choice {
        Choice::System => None,
        Choice::Light => Some("light"),
        Choice::Dark => Some("dark"),
    };
    let contrast = match contrast {
        Contrast::System => None,
        Contrast::More => Some("more"),
    };
    set(KEY, "data-theme", theme);
    set(CONTRAST_KEY, "data-contrast", contrast);
}

/// Where nothing can be kept or set, it stays as the system has it.
fn set(key: &str, attribute: &str, value: Option<&str>) {
    if let Some(root) = gloo_utils::document().document_element() {
        let _ = match value {
            Some(value) => root.set_attribute(attribute, value),
            None => root.remove_attribute(attribute),
        };
    }
    keep(key, value);
}

/// The next choice: the first one always changes something.
pub(super) fn next(choice: Choice) -> Choice {
    let system_dark = holds("(prefers-color-scheme: dark)");
    match (choice, system_dark) {
        (Choice::System, true) | (Choice::Dark, false) => Choice::Light,
        (Choice::System, false) | (Choice::Light, true) => Choice::Dark,
        (Choice::Light, false) | (Choice::Dark, true) => Choice::System,
    }
}

/// The other choice of contrast.
pub(super) const fn other(contrast: Contrast) -> Contrast {
    match contrast {
        Contrast::System => Contrast::More,
        Contrast::More => Contrast::System,
    }
}
