//! The keys, in one table: what they do and what the help says of them.

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    ZoomIn,
    ZoomOut,
    Left,
    Right,
    Fit,
    ShowSelection,
    Undo,
    Search,
    Help,
    Open,
    Previous,
    Next,
    TrackUp,
    TrackDown,
    SelectItemRange,
}

/// A key: where it is on the keyboard (`KeyboardEvent.code`), so that WASD is
/// in the same place on every layout, or what it writes (`KeyboardEvent.key`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Code(&'static str),
    Text(&'static str),
}

/// An action with its keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    pub(super) action: Action,
    pub(super) keys: &'static [Key],
    /// Whether the keys count only while the timeline has the focus.
    pub(super) on_timeline: bool,
    pub(super) shown: &'static str,
    pub(super) help: &'static str,
}

impl Binding {
    const fn global(
        action: Action,
        keys: &'static [Key],
        shown: &'static str,
        help: &'static str,
    ) -> Self {
        Self {
            action,
            keys,
            on_timeline: false,
            shown,
            help,
        }
    }

    const fn focused(
        action: Action,
        keys: &'static [Key],
        shown: &'static str,
        help: &'static str,
    ) -> Self {
        Self {
            on_timeline: true,
            ..Self::global(action, keys, shown, help)
        }
    }
}

/// All of them.
pub(super) const BINDINGS: &[Binding] = &[
    Binding::global(
        Action::ZoomIn,
        &[Key::Code("KeyW"), Key::Text("+"), Key::Text("=")],
        "W",
        "zoom in at the pointer",
    ),
    Binding::global(
        Action::ZoomOut,
        &[Key::Code("KeyS"), Key::Text("-")],
        "S",
        "zoom out",
    ),
    Binding::global(Action::Left, &[Key::Code("KeyA")], "A", "move left"),
    Binding::global(Action::Right, &[Key::Code("KeyD")], "D", "move right"),
    Binding::global(Action::Fit, &[Key::Text("0")], "0", "show the whole log"),
    Binding::global(
        Action::ShowSelection,
        &[Key::Code("KeyF")],
        "F",
        "zoom to the selected range or item",
    ),
    Binding::global(
        Action::Undo,
        &[Key::Text("Escape")],
        "Esc",
        "drop the selected item, then the range",
    ),
    Binding::global(Action::Search, &[Key::Text("/")], "/", "filter the threads"),
    Binding::global(Action::Open, &[Key::Code("KeyO")], "O", "open another log"),
    Binding::global(Action::Help, &[Key::Text("?")], "?", "this help"),
    Binding::focused(
        Action::Next,
        &[Key::Text("ArrowRight"), Key::Text(".")],
        "→",
        "next item of the track (timeline focused)",
    ),
    Binding::focused(
        Action::Previous,
        &[Key::Text("ArrowLeft"), Key::Text(",")],
        "←",
        "previous item",
    ),
    Binding::focused(
        Action::TrackDown,
        &[Key::Text("ArrowDown")],
        "↓",
        "the track below",
    ),
    Binding::focused(
        Action::TrackUp,
        &[Key::Text("ArrowUp")],
        "↑",
        "the track above",
    ),
    Binding::focused(
        Action::SelectItemRange,
        &[Key::Text("Enter")],
        "Enter",
        "select the time of the item as range",
    ),
];

/// What the mouse does, for the help.
pub(super) const GESTURES: &[(&str, &str)] = &[
    ("Wheel", "zoom at the pointer; sideways: move"),
    ("Drag", "select a range of time; its edges can be dragged"),
    ("Shift + drag, or drag the ruler", "move"),
    ("Click", "select an item; beside all items: drop the range"),
    (
        "Double click",
        "zoom to the item; beside all items: show the whole log",
    ),
    ("Wheel over the names, Shift + wheel", "scroll the tracks"),
];

/// The action of a key press.
pub(super) fn action(code: &str, key: &str, on_timeline: bool) -> Option<Action> {
    let matches = |binding: &&Binding| {
        (on_timeline || !binding.on_timeline)
            && binding.keys.iter().any(|wanted| match wanted {
                Key::Code(wanted) => *wanted == code,
                Key::Text(wanted) => *wanted == key,
            })
    };
    BINDINGS.iter().find(matches).map(|binding| binding.action)
}
