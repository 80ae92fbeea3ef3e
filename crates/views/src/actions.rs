//! What can be done in the page, in one table: it drives the keys, the
//! palette, the help and `docs/keys.md`, so that they cannot disagree.

pub mod flame;
pub mod matching;

use std::fmt::Write as _;

use crate::share::Panel;

/// When an action can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At any time.
    Always,
    /// While a log is open.
    Open,
    /// While a log is open; its keys count only while the timeline has the
    /// focus, as other parts of the page have their own use for them.
    Timeline,
}

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
    /// With Shift. Means nothing for a [`Key::Text`], which says already what
    /// Shift makes of the key.
    pub shift: bool,
}

/// A key at that place.
const fn at(code: &'static str) -> Chord {
    let key = Key::Place(code);
    Chord {
        key,
        ctrl: false,
        alt: false,
        shift: false,
    }
}

/// The key that writes that.
const fn text(text: &'static str) -> Chord {
    Chord {
        key: Key::Text(text),
        ..at("")
    }
}

impl Chord {
    const fn ctrl(self) -> Self {
        Self { ctrl: true, ..self }
    }

    const fn alt(self) -> Self {
        Self { alt: true, ..self }
    }

    const fn shift(self) -> Self {
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

    fn is(self, press: &KeyPress<'_>) -> bool {
        let same = match self.key {
            // With Ctrl the letter counts: Ctrl+K is where K is. Its place
            // counts only where the layout has no Latin letters.
            Key::Place(code) => {
                code == press.code
                    && self.shift == press.shift
                    && !(self.ctrl && press.key.is_ascii())
            }
            Key::Text(text) => text == press.key,
        };
        same && self.ctrl == press.ctrl && self.alt == press.alt
    }
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

/// An action in words and keys.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The action.
    pub action: Action,
    /// Which part of the page it is about.
    pub section: Section,
    /// When it can be asked for.
    pub when: When,
    /// Its keys, the usual one first; none if it is in the palette only.
    pub keys: &'static [Chord],
    /// What it is called, as an instruction.
    pub title: &'static str,
    /// What it does, where the title does not say it all; may be empty.
    pub help: &'static str,
}

impl Binding {
    /// Its keys in words, each once.
    #[must_use]
    pub fn shown_keys(&self) -> Vec<String> {
        let mut shown: Vec<String> = Vec::new();
        for chord in self.keys {
            let name = chord.shown();
            if !shown.contains(&name) {
                shown.push(name);
            }
        }
        shown
    }
}

macro_rules! actions {
    ($($section:ident, $name:literal: { $(
        $action:ident, $when:ident, [$($key:expr),*], $title:literal, $help:literal;
    )* })*) => {
        /// What can be done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(
                #[doc = $title]
                $action,
            )*)*
            /// Show a panel
            Panel(Panel),
        }

        /// Parts of the page that actions are about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Section {
            $(
                #[doc = $name]
                $section,
            )*
        }

        impl Section {
            /// All of them, in the order in which they are listed.
            pub const ALL: &[Self] = &[$(Self::$section),*];

            /// Its heading.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$section => $name,)*
                }
            }
        }

        /// All actions but the panels'.
        const TABLE: &[Binding] = &[$($(Binding {
            action: Action::$action,
            section: Section::$section,
            when: When::$when,
            keys: &[$($key),*],
            title: $title,
            help: $help,
        },)*)*];
    };
}

actions! {
    View, "View": {
        ZoomIn, Open, [at("KeyW"), text("+"), text("=")], "Zoom in", "At the pointer, or in the middle.";
        ZoomOut, Open, [at("KeyS"), text("-")], "Zoom out", "";
        PanLeft, Open, [at("KeyA")], "Move left", "";
        PanRight, Open, [at("KeyD")], "Move right", "";
        Fit, Open, [text("0")], "Show the whole log", "";
        ShowSelection, Open, [at("KeyF")], "Zoom to the selection", "To the selected range, or else the selected item.";
        CentreOnCursor, Open, [at("KeyC")], "Centre on the cursor", "The cursor is the moment that was clicked last.";
        JumpToStart, Timeline, [text("Home")], "Jump to the start", "As near as now, at the start of the log.";
        JumpToEnd, Timeline, [text("End")], "Jump to the end", "As near as now, at the end of the log.";
        Back, Open, [text("["), at("BracketLeft")], "Go back", "To the view before.";
        Forward, Open, [text("]"), at("BracketRight")], "Go forward", "To the view that was left by going back.";
    }
    Selection, "Selection": {
        SelectItemRange, Timeline, [text("Enter")], "Select the time of the item", "As the range that all panels are about.";
        ToggleTrackSelected, Open, [at("KeyX")], "Select this track", "Or that of the selected item: the range and the panels keep to selected tracks. Once more: no longer.";
        Measure, Open, [at("KeyM")], "Measure", "Sets one end of a measure at the pointer or the cursor, then the other.";
        Escape, Open, [text("Escape")], "Drop the selection", "One thing at a time: what is dragged, the measure, the item, the range, the tracks.";
    }
    Items, "Items": {
        NextItem, Timeline, [text("ArrowRight"), text(".")], "Go to the next item", "On the same track.";
        PreviousItem, Timeline, [text("ArrowLeft"), text(",")], "Go to the previous item", "";
        GotoWaker, Open, [at("KeyU")], "Go to what woke this thread", "The run that made the selected thread able to run again.";
        NextOnCapability, Open, [at("KeyN")], "Go to what ran here next", "The next run on the capability of the selected item.";
        CopyDetails, Open, [at("KeyY")], "Copy the details", "All that is said of the item, as text.";
        PinDetails, Open, [at("KeyI")], "Keep the details open", "Those of the selected item; once more: no longer.";
    }
    Tracks, "Tracks": {
        TrackDown, Timeline, [text("ArrowDown")], "Go to the track below", "";
        TrackUp, Timeline, [text("ArrowUp")], "Go to the track above", "";
        FoldGroup, Timeline, [text(" ")], "Fold the group", "Hides the tracks of this group behind its name, or shows them.";
        PinTrack, Open, [at("KeyP")], "Pin the track", "It stays in view above the others; once more: no longer.";
        HideTrack, Open, [at("KeyH")], "Hide the track", "";
        ShowAllTracks, Open, [at("KeyH").shift()], "Show all tracks", "Also those that were hidden.";
        MoveTrackUp, Timeline, [text("ArrowUp").alt()], "Move the track up", "";
        MoveTrackDown, Timeline, [text("ArrowDown").alt()], "Move the track down", "";
        FilterTracks, Open, [text("/")], "Filter the tracks", "By name; threads by label or number.";
        ThreadsByActivity, Open, [], "Sort threads by activity", "Those that ran longest first.";
        ThreadsByFirstRun, Open, [], "Sort threads by their first run", "";
        ThreadsById, Open, [], "Sort threads by number", "";
        ThreadsByLabel, Open, [], "Sort threads by label", "";
        GroupThreads, Open, [], "Group threads by label", "Once more: no longer.";
        ResetTracks, Open, [], "Reset the tracks", "Order, pins, folds and hidden tracks become as they were at first.";
    }
    Notes, "Notes": {
        AddNote, Open, [at("KeyB")], "Add a note", "At the selected range, or else at the pointer or the cursor.";
        NextNote, Open, [text(">")], "Go to the next note", "";
        PreviousNote, Open, [text("<")], "Go to the previous note", "";
    }
    Panels, "Panels": {
        TogglePanel, Open, [at("Backslash"), text("\\")], "Hide or show the panel", "The one below the timeline.";
    }
    Log, "Log": {
        Open, Always, [at("KeyO")], "Open a log", "";
        Share, Open, [at("KeyL")], "Copy the link to this view", "It holds settings and notes only, not the log.";
        ExportPng, Open, [], "Save the timeline as PNG", "As it is on the screen.";
        ExportSvg, Open, [], "Save the timeline as SVG", "As it is on the screen.";
        Theme, Always, [at("KeyT")], "Change the theme", "As the system has it, light, dark.";
        Contrast, Always, [], "Change the contrast", "As the system asks for, or more, with patterns beside the colours.";
        Palette, Always, [text("k").ctrl(), at("KeyK").ctrl()], "Find an action", "Any action, thread, track or note, by its name.";
        Help, Always, [text("?")], "Show the help", "";
        Legend, Always, [], "Show what the marks mean", "";
    }
}

/// The digits are the panels', in the order of their tabs.
const PANEL_KEYS: [[Chord; 2]; 9] = [
    [at("Digit1"), text("1")],
    [at("Digit2"), text("2")],
    [at("Digit3"), text("3")],
    [at("Digit4"), text("4")],
    [at("Digit5"), text("5")],
    [at("Digit6"), text("6")],
    [at("Digit7"), text("7")],
    [at("Digit8"), text("8")],
    [at("Digit9"), text("9")],
];

/// The panels.
const PANELS: [Binding; Panel::ALL.len()] = {
    let mut panels = [TABLE[0]; Panel::ALL.len()];
    let mut i = 0;
    while i < panels.len() {
        let panel = Panel::ALL[i];
        panels[i] = Binding {
            action: Action::Panel(panel),
            section: Section::Panels,
            when: When::Open,
            keys: &PANEL_KEYS[i],
            title: panel.title(),
            help: "",
        };
        i += 1;
    }
    panels
};

/// All actions, by section.
pub fn bindings() -> impl Iterator<Item = &'static Binding> {
    Section::ALL.iter().flat_map(|&section| of_section(section))
}

/// The actions of a section.
pub fn of_section(section: Section) -> impl Iterator<Item = &'static Binding> {
    let all = PANELS.iter().chain(TABLE);
    all.filter(move |binding| binding.section == section)
}

impl Action {
    /// Its place in the table.
    #[must_use]
    pub fn binding(self) -> &'static Binding {
        // Every action has one: the same macro makes both.
        bindings()
            .find(|binding| binding.action == self)
            .unwrap_or(&TABLE[0])
    }

    /// Whether a key that is held down does it again and again.
    #[must_use]
    pub const fn repeats(self) -> bool {
        matches!(
            self,
            Self::ZoomIn
                | Self::ZoomOut
                | Self::PanLeft
                | Self::PanRight
                | Self::Back
                | Self::Forward
                | Self::NextItem
                | Self::PreviousItem
                | Self::GotoWaker
                | Self::NextOnCapability
                | Self::TrackDown
                | Self::TrackUp
                | Self::MoveTrackUp
                | Self::MoveTrackDown
                | Self::NextNote
                | Self::PreviousNote
        )
    }
}

/// The action of a key press. What a key writes counts before where it is: on
/// a French keyboard `-` stands where others have 6.
#[must_use]
pub fn action(press: &KeyPress<'_>, on_timeline: bool) -> Option<Action> {
    let pressed = |wanted: fn(Key) -> bool| {
        bindings()
            .filter(|binding| on_timeline || binding.when != When::Timeline)
            .find(|binding| {
                let mut keys = binding.keys.iter();
                keys.any(|chord| wanted(chord.key) && chord.is(press))
            })
    };
    let binding = pressed(|key| matches!(key, Key::Text(_)))
        .or_else(|| pressed(|key| matches!(key, Key::Place(_))))?;
    Some(binding.action)
}

/// What mouse, touchpad and fingers do on the timeline.
pub const GESTURES: &[(&str, &str)] = &[
    ("Wheel", "zoom at the pointer; sideways: move"),
    (
        "Drag",
        "select a range of time; its edges can be dragged, and catch the ends of spans",
    ),
    ("Alt + drag", "measure the time between two points"),
    (
        "Shift + drag, or drag the time axis",
        "move; on the strip above it: move through the whole log",
    ),
    (
        "Click",
        "select an item and keep its details open; beside all items: drop the range",
    ),
    (
        "Double click",
        "zoom to the item; beside all items: show the whole log",
    ),
    (
        "Drag the name of a track",
        "move the track; a group by its heading",
    ),
    ("Wheel over the names, Shift + wheel", "scroll the tracks"),
    ("Touchpad: two fingers", "move sideways, zoom up and down"),
    ("Touchpad: pinch", "zoom at the pointer"),
    ("Touch: drag", "move; up and down: scroll the tracks"),
    ("Touch: hold, then drag", "select a range of time"),
    ("Touch: pinch", "zoom between the fingers"),
    ("Touch: tap", "select an item"),
];

/// The page of the documentation about all this, in Markdown.
#[must_use]
pub fn keys_page() -> String {
    let mut page = String::from(
        "# Keys and gestures\n\n\
         Written by `src/actions.rs`; `UPDATE_DOCS=1 cargo test --lib actions` writes it anew.\n\n\
         Letters are found by their place on the keyboard: W, A, S and D are beside each other on every layout.\n\
         On a Mac, Ctrl is Cmd. Actions without a key are in the palette (Ctrl+K), as all others are.\n\
         Keys with a * count while the timeline has the focus, or nothing has.\n",
    );
    for &section in Section::ALL {
        let _ = write!(
            page,
            "\n## {}\n\n| key | action | |\n|---|---|---|\n",
            section.name()
        );
        for binding in of_section(section) {
            let mark = if binding.when == When::Timeline {
                " *"
            } else {
                ""
            };
            let keys: Vec<String> = binding.shown_keys().iter().map(|key| code(key)).collect();
            let keys = match keys.len() {
                0 => String::new(),
                _ => keys.join(", ") + mark,
            };
            let _ = writeln!(page, "| {keys} | {} | {} |", binding.title, binding.help);
        }
    }
    page.push_str("\n## Mouse, touchpad, touch\n\n| gesture | what it does |\n|---|---|\n");
    for (gesture, help) in GESTURES {
        let _ = writeln!(page, "| {gesture} | {help} |");
    }
    page.push_str("\n## Flame graph\n\n| key or gesture | what it does |\n|---|---|\n");
    for (key, help) in flame::flame_keys() {
        let _ = writeln!(page, "| {key} | {help} |");
    }
    page
}

/// A key in Markdown, inside of a table.
fn code(key: &str) -> String {
    format!("`{}`", key.replace('|', "\\|"))
}

#[cfg(test)]
mod tests;
