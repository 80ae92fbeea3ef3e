//! Keys, with their modifiers, and key presses.

/// A key: where it is on the keyboard, or what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// `KeyboardEvent.code`: the same place on every layout, as for WASD.
    Place(&'static str),
    /// `KeyboardEvent.key`: for signs, which every layout has elsewhere.
    Text(&'static str),
}

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    /// The key.
    pub key: Key,
    /// With Ctrl, or Cmd on a Mac.
    pub ctrl: bool,
    /// With Alt.
    pub alt: bool,
    /// With Shift. Means nothing for a sign, which says already what Shift makes
    /// of its key.
    pub shift: bool,
}

/// A key at that place.
#[must_use]
pub const fn at(code: &'static str) -> Chord {
    let key = Key::Place(code);
    Chord {
        key,
        ctrl: false,
        alt: false,
        shift: false,
    }
}

/// The key that writes that.
#[must_use]
pub const fn text(text: &'static str) -> Chord {
    Chord {
        key: Key::Text(text),
        ..at("")
    }
}

impl Chord {
    /// That key with Ctrl, or Cmd on a Mac.
    #[must_use]
    pub const fn ctrl(self) -> Self {
        Self { ctrl: true, ..self }
    }

    /// That key with Alt.
    #[must_use]
    pub const fn alt(self) -> Self {
        Self { alt: true, ..self }
    }

    /// That key with Shift.
    #[must_use]
    pub const fn shift(self) -> Self {
        Self {
            shift: true,
            ..self
        }
    }

    /// How the key is called: `W`, `Shift+H`, `→`.
    #[must_use]
    pub fn shown(self) -> String {
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

    /// Whether that was pressed.
    #[must_use]
    pub fn is(self, press: &KeyPress<'_>) -> bool {
        let same = match self.key {
            // With Ctrl the letter counts: Ctrl+K is where K is. Its place
            // counts only where the layout has no Latin letters.
            Key::Place(code) => {
                code == press.code
                    && self.shift == press.shift
                    && !(self.ctrl && press.key.is_ascii())
            }
            // Caps Lock turns Shift round; Shift itself is told.
            Key::Text(text) if is_letter(text) => {
                text.eq_ignore_ascii_case(press.key) && self.shift == press.shift
            }
            Key::Text(text) => text == press.key,
        };
        same && self.ctrl == press.ctrl && self.alt == press.alt
    }
}

/// Whether that is the text of a letter and not a sign or the name of a key.
fn is_letter(text: &str) -> bool {
    text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// A key that was pressed, as the browser tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyPress<'a> {
    /// `KeyboardEvent.code`.
    pub code: &'a str,
    /// `KeyboardEvent.key`.
    pub key: &'a str,
    /// Ctrl, or Cmd on a Mac.
    pub ctrl: bool,
    /// Alt.
    pub alt: bool,
    /// Shift.
    pub shift: bool,
}
