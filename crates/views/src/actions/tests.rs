//! Tests of the action table, and of matching keys on various keyboards.

use std::collections::HashSet;

use super::{action as action_with, bindings as bindings_with, *};
use crate::view::panel::Codec;

const fn panel(name: &'static str, title: &'static str, keys: &'static [Chord]) -> Panel {
    Panel {
        name: PanelName(name),
        title,
        help: "Something.",
        keys,
        codec: Codec::for_settings::<()>(),
    }
}

static PANELS: [Panel; 2] = [
    panel(
        "summary",
        "Summary",
        &[by_position("Digit1"), by_character("1")],
    ),
    panel(
        "events",
        "Events",
        &[by_position("Digit2"), by_character("2")],
    ),
];

fn action(press: &KeyPress<'_>, on_timeline: bool) -> Option<Action> {
    action_with(press, on_timeline, &PANELS)
}

fn bindings() -> impl Iterator<Item = Binding> {
    bindings_with(&PANELS)
}

fn press<'a>(code: &'a str, key: &'a str) -> KeyPress<'a> {
    KeyPress {
        code,
        key,
        ..KeyPress::default()
    }
}

#[test]
fn every_action_is_there_once() {
    let actions: Vec<Action> = bindings().map(|binding| binding.action).collect();
    let different: HashSet<Action> = actions.iter().copied().collect();
    assert_eq!(actions.len(), different.len());
    assert_eq!(actions.len(), TABLE.len() + PANELS.len());
    for binding in bindings() {
        let found = binding.action.binding(&PANELS).map(|found| found.title);
        assert_eq!(found, Some(binding.title));
    }
    let titles: HashSet<&str> = bindings().map(|binding| binding.title).collect();
    assert_eq!(titles.len(), actions.len(), "two have one title");
}

#[test]
fn no_key_means_two_things() {
    let mut seen = HashSet::new();
    for chord in bindings().flat_map(|binding| binding.keys) {
        assert!(seen.insert(*chord), "{chord:?}");
    }
}

#[test]
fn help_is_in_sentences() {
    for binding in bindings() {
        let help = binding.help;
        assert!(help.is_empty() || help.ends_with('.'), "{help}");
        assert!(!binding.title.ends_with('.'), "{}", binding.title);
        assert!(
            !binding.title.contains('|') && !help.contains('|'),
            "{help}"
        );
    }
}

#[test]
fn keys() {
    let plain = press;
    let shift = |code, key| KeyPress {
        shift: true,
        ..press(code, key)
    };
    let ctrl = |code, key| KeyPress {
        ctrl: true,
        ..press(code, key)
    };
    let alt = |code, key| KeyPress {
        alt: true,
        ..press(code, key)
    };
    let cases = [
        (plain("KeyW", "w"), Some(Action::ZoomIn)),
        // French, Greek and Dvorak: the position counts.
        (plain("KeyW", "z"), Some(Action::ZoomIn)),
        (plain("KeyA", "α"), Some(Action::PanLeft)),
        (plain("KeyD", "e"), Some(Action::PanRight)),
        (plain("KeyZ", "w"), None),
        (shift("Equal", "+"), Some(Action::ZoomIn)),
        (plain("NumpadAdd", "+"), Some(Action::ZoomIn)),
        (plain("KeyH", "h"), Some(Action::HideTrack)),
        (shift("KeyH", "H"), Some(Action::ShowAllTracks)),
        // Caps Lock is not Shift.
        (plain("KeyH", "H"), Some(Action::HideTrack)),
        (shift("Period", ">"), Some(Action::NextNote)),
        // German: > is left of Y.
        (shift("IntlBackslash", ">"), Some(Action::NextNote)),
        (plain("Period", "."), Some(Action::NextItem)),
        (plain("BracketLeft", "ü"), Some(Action::Back)),
        (plain("Digit1", "1"), Some(Action::Panel(PANELS[0].name))),
        (plain("Digit7", "7"), None),
        (plain("Numpad2", "2"), Some(Action::Panel(PANELS[1].name))),
        // French: digits need Shift, other characters do not.
        (shift("Digit2", "2"), Some(Action::Panel(PANELS[1].name))),
        (plain("Digit2", "é"), Some(Action::Panel(PANELS[1].name))),
        (plain("Digit6", "-"), Some(Action::ZoomOut)),
        (shift("Slash", "?"), Some(Action::Help)),
        (shift("Minus", "?"), Some(Action::Help)),
        (ctrl("KeyK", "k"), Some(Action::Palette)),
        // Dvorak has K elsewhere, and another letter in its position.
        (ctrl("KeyV", "k"), Some(Action::Palette)),
        (ctrl("KeyK", "t"), None),
        (ctrl("KeyZ", "z"), Some(Action::Back)),
        // German: Z and Y are swapped.
        (ctrl("KeyY", "z"), Some(Action::Back)),
        (ctrl("KeyZ", "я"), Some(Action::Back)),
        // With Caps Lock.
        (ctrl("KeyZ", "Z"), Some(Action::Back)),
        (
            KeyPress {
                shift: true,
                ..ctrl("KeyZ", "z")
            },
            Some(Action::Forward),
        ),
        (ctrl("KeyK", "л"), Some(Action::Palette)),
        (plain("KeyK", "k"), None),
        // Shortcuts of the browser.
        (ctrl("KeyW", "w"), None),
        (ctrl("KeyL", "l"), None),
        (alt("KeyD", "d"), None),
        (alt("ArrowUp", "ArrowUp"), Some(Action::MoveTrackUp)),
        (plain("ArrowUp", "ArrowUp"), Some(Action::TrackUp)),
        (plain("Space", " "), Some(Action::FoldGroup)),
        (plain("", ""), None),
    ];
    for (press, wanted) in cases {
        assert_eq!(action(&press, true), wanted, "{press:?}");
    }
}

#[test]
fn arrows_are_the_timelines_own() {
    for key in ["ArrowUp", "ArrowRight", "Enter", " ", "Home", "."] {
        assert!(action(&press("", key), true).is_some(), "{key}");
        assert_eq!(action(&press("", key), false), None, "{key}");
    }
    assert_eq!(action(&press("KeyW", "w"), false), Some(Action::ZoomIn));
}

#[test]
fn names_of_keys() {
    let shown = |action: Action| {
        let binding = action.binding(&PANELS).expect("it is in the table");
        binding.shown_keys().join(" ")
    };
    assert_eq!(shown(Action::ZoomIn), "W + =");
    assert_eq!(shown(Action::ShowAllTracks), "Shift+H");
    assert_eq!(shown(Action::MoveTrackUp), "Alt+↑");
    assert_eq!(shown(Action::Palette), "Ctrl+K");
    assert_eq!(shown(Action::FoldGroup), "Space");
    assert_eq!(shown(Action::Back), "[ Ctrl+Z");
    assert_eq!(shown(Action::Forward), "] Ctrl+Shift+Z Ctrl+Y");
    assert_eq!(shown(Action::Panel(PANELS[1].name)), "2");
    assert_eq!(shown(Action::ResetTracks), "");
}
