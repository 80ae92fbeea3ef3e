//! Color theme and contrast: as the system, unless the user overrides it.

use super::dom::set_root_attribute;
use super::preferences::{load_preference, store_preference};
use scene::palette::Palette;

/// Color scheme chosen by the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Choice {
    /// Follow the system.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

/// Contrast chosen by the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Contrast {
    /// Follow the system.
    #[default]
    System,
    /// Always high contrast, with patterns in addition to colors.
    More,
}

/// Theme that results from the user's choices and the system settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    pub(super) palette: &'static Palette,
    pub(super) dark: bool,
    /// Whether patterns distinguish marks in addition to colors.
    pub(super) patterns: bool,
}

// `www/first.js` applies the stored choices before the program has loaded.
const KEY: &str = "theme";
const CONTRAST_KEY: &str = "contrast";

/// Returns whether a media query currently matches.
pub(super) fn media_matches(query: &str) -> bool {
    let list = gloo_utils::window().match_media(query).ok().flatten();
    list.is_some_and(|list| list.matches())
}

/// Returns the stored color scheme.
pub(super) fn choice() -> Choice {
    match load_preference(KEY).as_deref() {
        Some("light") => Choice::Light,
        Some("dark") => Choice::Dark,
        _ => Choice::System,
    }
}

/// Returns the stored contrast.
pub(super) fn contrast() -> Contrast {
    match load_preference(CONTRAST_KEY).as_deref() {
        Some("more") => Contrast::More,
        _ => Contrast::System,
    }
}

/// Returns the effective theme.
pub(super) fn current() -> Theme {
    let dark = match choice() {
        Choice::System => media_matches("(prefers-color-scheme: dark)"),
        Choice::Light => false,
        Choice::Dark => true,
    };
    let contrast = contrast() == Contrast::More || media_matches("(prefers-contrast: more)");
    Theme {
        palette: Palette::select(dark, contrast),
        dark,
        patterns: contrast || media_matches("(forced-colors: active)"),
    }
}

/// Applies and stores the choices.
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

/// Sets an attribute of the root element and stores it.
fn set(key: &str, attribute: &str, value: Option<&str>) {
    set_root_attribute(attribute, value);
    store_preference(key, value);
}

/// Returns the next color scheme in the cycle; the first step away from the system setting always changes the
/// appearance.
pub(super) fn next_choice(choice: Choice) -> Choice {
    let system_dark = media_matches("(prefers-color-scheme: dark)");
    match (choice, system_dark) {
        (Choice::System, true) | (Choice::Dark, false) => Choice::Light,
        (Choice::System, false) | (Choice::Light, true) => Choice::Dark,
        (Choice::Light, false) | (Choice::Dark, true) => Choice::System,
    }
}

/// Returns the other contrast setting.
pub(super) const fn other_contrast(contrast: Contrast) -> Contrast {
    match contrast {
        Contrast::System => Contrast::More,
        Contrast::More => Contrast::System,
    }
}
