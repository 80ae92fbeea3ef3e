//! Key chords and matching of key presses.

/// Key, identified by its position or by the character it types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// `KeyboardEvent.code`: the same position on every layout, as for WASD.
    Place(&'static str),
    /// `KeyboardEvent.key`: for characters whose position depends on the layout.
    Text(&'static str),
}

/// Key with modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    /// Main key.
    pub key: Key,
    /// Whether Ctrl, or Cmd on a Mac, is held.
    pub ctrl: bool,
    /// Whether Alt is held.
    pub alt: bool,
    /// Whether Shift is held. Ignored for characters other than letters, which already reflect Shift.
    pub shift: bool,
}

/// Creates a chord from a key position.
pub const fn by_position(code: &'static str) -> Chord {
    let key = Key::Place(code);
    Chord {
        key,
        ctrl: false,
        alt: false,
        shift: false,
    }
}

/// Creates a chord from the character or name of a key.
pub const fn by_character(text: &'static str) -> Chord {
    Chord {
        key: Key::Text(text),
        ..by_position("")
    }
}

impl Chord {
    /// Adds Ctrl, or Cmd on a Mac.
    #[must_use]
    pub const fn ctrl(self) -> Self {
        Self { ctrl: true, ..self }
    }

    /// Adds Alt.
    #[must_use]
    pub const fn alt(self) -> Self {
        Self { alt: true, ..self }
    }

    /// Adds Shift.
    #[must_use]
    pub const fn shift(self) -> Self {
        Self {
            shift: true,
            ..self
        }
    }

    /// Returns the display name: `W`, `Shift+H`, `→`.
    pub fn display_text(self) -> String {
        let name = match self.key {
            Key::Text("ArrowLeft") => "←",
            Key::Text("ArrowRight") => "→",
            Key::Text("ArrowUp") => "↑",
            Key::Text("ArrowDown") => "↓",
            Key::Text("Escape") => "Esc",
            Key::Text(" ") => "Space",
            Key::Text("k") => "K",
            Key::Text("y") => "Y",
            Key::Text("z") => "Z",
            Key::Text(text) => text,
            Key::Place("Backslash") => "\\",
            Key::Place("BracketLeft") => "[",
            Key::Place("BracketRight") => "]",
            Key::Place(code) => code
                .strip_prefix("Key")
                .or_else(|| code.strip_prefix("Digit"))
                .unwrap_or(code),
        };
        let mut shown = String::new();
        for (held, modifier) in [
            (self.ctrl, "Ctrl+"),
            (self.alt, "Alt+"),
            (self.shift, "Shift+"),
        ] {
            if held {
                shown.push_str(modifier);
            }
        }
        shown + name
    }

    /// Returns whether a key press matches the chord.
    pub fn matches(self, press: &KeyPress<'_>) -> bool {
        let same = match self.key {
            // With Ctrl the typed letter counts, as users expect of Ctrl+K. The position only counts on layouts
            // without Latin letters.
            Key::Place(code) => {
                code == press.code
                    && self.shift == press.shift
                    && !(self.ctrl && press.key.is_ascii())
            }
            // Caps Lock inverts the case of letters, so case is ignored and Shift is compared.
            Key::Text(text) if is_letter(text) => {
                text.eq_ignore_ascii_case(press.key) && self.shift == press.shift
            }
            Key::Text(text) => text == press.key,
        };
        same && self.ctrl == press.ctrl && self.alt == press.alt
    }
}

/// Returns whether the text is a letter, not another character or the name of a key.
fn is_letter(text: &str) -> bool {
    text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Key press as reported by the browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyPress<'a> {
    /// `KeyboardEvent.code`: position of the key.
    pub code: &'a str,
    /// `KeyboardEvent.key`: typed character, or name of the key.
    pub key: &'a str,
    /// Whether Ctrl, or Cmd on a Mac, is held.
    pub ctrl: bool,
    /// Whether Alt is held.
    pub alt: bool,
    /// Whether Shift is held.
    pub shift: bool,
}
