//! Table of all actions of the page. It drives the keys, the palette, the help and `docs/keys.md`, so that they
//! agree.

pub mod effect;
pub mod flame;
pub mod matching;

use std::fmt::Write as _;

use crate::control::Control;
use crate::key::{Chord, Key, KeyPress, by_character, by_position};
use crate::timeline::arrange::{Direction, TrackChange};
use crate::view::panel::{Panel, PanelName, find};
use analysis::timeline::thread_lane::ThreadOrder;
use effect::{Command, Effect};
use session::tracks::details::LinkRelation;

/// Condition under which an action is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// At any time.
    Always,
    /// While a log is open.
    Open,
    /// While two logs are open.
    Two,
    /// While a log is open; its keys only work while the timeline has the focus, because other parts of the page
    /// use them differently.
    Timeline,
}

/// Table entry of an action: its keys, texts and effect.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Identifier of the action.
    pub action: Action,
    /// Section of the help that lists the action.
    pub section: Section,
    /// Availability of the action.
    pub availability: Availability,
    /// Key chords, the primary one first; empty if the action is only in the palette.
    pub keys: &'static [Chord],
    /// Title in the imperative.
    pub title: &'static str,
    /// Details beyond the title; may be empty.
    pub help: &'static str,
    /// Effect of the action.
    pub effect: Effect,
}

impl Binding {
    /// Returns the display names of the keys, without duplicates.
    pub fn shown_keys(&self) -> Vec<String> {
        let mut shown: Vec<String> = Vec::new();
        for chord in self.keys {
            let name = chord.display_text();
            if !shown.contains(&name) {
                shown.push(name);
            }
        }
        shown
    }
}

/// Zoom factor per key press.
const ZOOM: f64 = 1.5;
/// Pan distance per key press, as a fraction of the view.
const PAN: f64 = 0.12;

/// Effect that changes the order of the threads.
macro_rules! order {
    ($order:ident) => {
        Effect::View(|view, at| view.with_tracks(TrackChange::Order(ThreadOrder::$order), at))
    };
}

macro_rules! actions {
    ($($section:ident, $name:literal: { $(
        $action:ident, $when:ident, [$($key:expr),*], $title:literal, $help:literal, $does:expr;
    )* })*) => {
        /// Action of the page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(
                #[doc = $title]
                $action,
            )*)*
            /// Show a panel
            Panel(PanelName),
        }

        /// Sections of the help that group the actions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Section {
            $(
                #[doc = $name]
                $section,
            )*
        }

        impl Section {
            /// All sections, in the order of the help.
            pub const ALL: &[Self] = &[$(Self::$section),*];

            /// Returns the heading of the section.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$section => $name,)*
                }
            }
        }

        /// All actions except those of the panels.
        const TABLE: &[Binding] = &[$($(Binding {
            action: Action::$action,
            section: Section::$section,
            availability: Availability::$when,
            keys: &[$($key),*],
            title: $title,
            help: $help,
            effect: $does,
        },)*)*];
    };
}

actions! {
    View, "View": {
        ZoomIn, Open, [by_position("KeyW"), by_character("+"), by_character("=")], "Zoom in", "At the pointer, or in the middle.",
            Effect::Timeline(|control| control.zoom(ZOOM));
        ZoomOut, Open, [by_position("KeyS"), by_character("-")], "Zoom out", "",
            Effect::Timeline(|control| control.zoom(1.0 / ZOOM));
        PanLeft, Open, [by_position("KeyA")], "Move left", "",
            Effect::Timeline(|control| control.pan(-PAN));
        PanRight, Open, [by_position("KeyD")], "Move right", "",
            Effect::Timeline(|control| control.pan(PAN));
        Fit, Open, [by_character("0")], "Show the whole log", "",
            Effect::Timeline(Control::fit);
        ShowSelection, Open, [by_position("KeyF")], "Zoom to the selection", "To the selected range, or else the selected item.",
            Effect::Timeline(Control::show_selection);
        CenterOnCursor, Open, [by_position("KeyC")], "Center on the cursor", "The cursor is the instant that was clicked last.",
            Effect::Timeline(Control::centre);
        JumpToStart, Timeline, [by_character("Home")], "Jump to the start", "Keeps the zoom.",
            Effect::Timeline(|control| control.jump(false));
        JumpToEnd, Timeline, [by_character("End")], "Jump to the end", "Keeps the zoom.",
            Effect::Timeline(|control| control.jump(true));
        Back, Open, [by_character("["), by_position("BracketLeft"), by_character("z").ctrl(), by_position("KeyZ").ctrl()], "Go back", "Undoes the last change.",
            Effect::Page(Command::Back);
        Forward, Open, [by_character("]"), by_position("BracketRight"), by_character("z").ctrl().shift(), by_character("y").ctrl(), by_position("KeyZ").ctrl().shift()], "Go forward", "Redoes the change that was undone last.",
            Effect::Page(Command::Forward);
    }
    Selection, "Selection": {
        SelectItemRange, Timeline, [by_character("Enter")], "Select the time of the item", "As the range of all panels.",
            Effect::View(effect::select_item_range);
        ToggleTrackSelected, Open, [by_position("KeyX")], "Select this track", "Or the track of the selected item: limits the range and the panels to selected tracks. Press again to undo.",
            Effect::View(|view, at| view.with_track(TrackChange::Select, at));
        Measure, Open, [by_position("KeyM")], "Measure", "Sets the first end of a measurement at the pointer or the cursor, then the second.",
            Effect::Timeline(Control::measure);
        Escape, Open, [by_character("Escape")], "Clear the selection", "One at a time: the drag, the measurement, the item, the range, the tracks.",
            Effect::Page(Command::Escape);
    }
    Items, "Items": {
        NextItem, Timeline, [by_character("ArrowRight"), by_character(".")], "Go to the next item", "On the same track.",
            Effect::Timeline(|control| control.step(true));
        PreviousItem, Timeline, [by_character("ArrowLeft"), by_character(",")], "Go to the previous item", "",
            Effect::Timeline(|control| control.step(false));
        GotoWaker, Open, [by_position("KeyU")], "Go to the waker", "The run that woke the selected thread.",
            Effect::Timeline(|control| control.follow(LinkRelation::Waker));
        NextOnCapability, Open, [by_position("KeyN")], "Go to the next run here", "The next run on the capability of the selected item.",
            Effect::Timeline(|control| control.follow(LinkRelation::Next));
        AllWakeups, Open, [by_position("KeyJ")], "Show all wakeups of this thread", "As arrows, all in view instead of those of the selected item; press again to undo.",
            Effect::Timeline(Control::show_all_wakeups);
        CopyDetails, Open, [by_position("KeyY")], "Copy the details", "All details of the item, as text.",
            Effect::Page(Command::CopyDetails);
        PinDetails, Open, [by_position("KeyI")], "Keep the details open", "Details of the selected item; press again to undo.",
            Effect::Timeline(Control::pin_details);
    }
    Tracks, "Tracks": {
        TrackDown, Timeline, [by_character("ArrowDown")], "Go to the track below", "",
            Effect::Timeline(|control| control.step_track(true));
        TrackUp, Timeline, [by_character("ArrowUp")], "Go to the track above", "",
            Effect::Timeline(|control| control.step_track(false));
        FoldGroup, Timeline, [by_character(" ")], "Fold the group", "Collapses or expands the tracks of this group.",
            Effect::View(|view, at| view.with_track(TrackChange::Fold, at));
        PinTrack, Open, [by_position("KeyP")], "Pin the track", "Keeps it in view above the others; press again to undo.",
            Effect::View(|view, at| view.with_track(TrackChange::Pin, at));
        HideTrack, Open, [by_position("KeyH")], "Hide the track", "",
            Effect::View(|view, at| view.with_track(TrackChange::Hide, at));
        ShowAllTracks, Open, [by_position("KeyH").shift()], "Show all tracks", "Including hidden ones.",
            Effect::View(|view, at| view.with_tracks(TrackChange::ShowAll, at));
        MoveTrackUp, Timeline, [by_character("ArrowUp").alt()], "Move the track up", "",
            Effect::View(|view, at| view.with_track(|name| TrackChange::Shift(name, Direction::Up), at));
        MoveTrackDown, Timeline, [by_character("ArrowDown").alt()], "Move the track down", "",
            Effect::View(|view, at| view.with_track(|name| TrackChange::Shift(name, Direction::Down), at));
        FilterTracks, Open, [by_character("/")], "Filter the tracks", "By name; threads by label or number.",
            Effect::Page(Command::FilterTracks);
        ThreadsByActivity, Open, [], "Sort threads by activity", "Longest running time first.",
            order!(Activity);
        ThreadsByFirstRun, Open, [], "Sort threads by their first run", "",
            order!(FirstRun);
        ThreadsById, Open, [], "Sort threads by number", "",
            order!(Id);
        ThreadsByLabel, Open, [], "Sort threads by label", "",
            order!(Label);
        GroupThreads, Open, [], "Group threads by label", "Press again to undo.",
            Effect::View(|view, at| view.with_tracks(TrackChange::GroupThreads, at));
        ResetTracks, Open, [], "Reset the tracks", "Resets order, pins, folds and hidden tracks.",
            Effect::View(|view, at| view.with_tracks(TrackChange::Reset, at));
    }
    Notes, "Notes": {
        AddNote, Open, [by_position("KeyB")], "Add a note", "At the selected range, or else at the pointer or the cursor.",
            Effect::Page(Command::AddNote);
        NextNote, Open, [by_character(">")], "Go to the next note", "",
            Effect::Page(Command::NextNote);
        PreviousNote, Open, [by_character("<")], "Go to the previous note", "",
            Effect::Page(Command::PreviousNote);
        SaveNotes, Open, [], "Save the notes", "As a file that the Notes panel can load.",
            Effect::Page(Command::SaveNotes);
    }
    Panels, "Panels": {
        TogglePanel, Open, [by_position("Backslash"), by_character("\\")], "Hide or show the panel", "The panel below the timeline.",
            Effect::View(effect::toggle_panel);
        MaximisePanel, Open, [by_position("Backslash").shift()], "Maximize the panel", "Fills the window below the header; press again to undo.",
            Effect::View(effect::maximise_panel);
    }
    Log, "Log": {
        Open, Always, [by_position("KeyO")], "Open a log", "",
            Effect::Page(Command::Open);
        ReadAgain, Open, [by_position("KeyR")], "Read the log again", "Reloads the file; the view stays.",
            Effect::Page(Command::ReadAgain);
        Follow, Open, [by_position("KeyG")], "Follow the log as it grows", "While the program writes it. Press again to pause or resume.",
            Effect::Page(Command::Follow);
        StickToEnd, Open, [by_position("KeyG").shift()], "Stick to the end", "Keeps the end of a followed log in view until you move away; press again to undo.",
            Effect::Page(Command::StickToEnd);
        StopFollowing, Open, [], "Stop following the log", "Keeps the part that was read.",
            Effect::Page(Command::StopFollowing);
        Home, Open, [], "Go to the start page", "The log stays open.",
            Effect::Page(Command::Home);
        Compare, Open, [by_position("KeyV")], "Compare with another log", "Shows both logs at the same zoom.",
            Effect::Page(Command::Compare);
        Merge, Open, [], "Merge logs into one timeline", "Merges the two compared logs, or the open log with others; realigns a merged log.",
            Effect::Page(Command::Merge);
        SwapRoles, Two, [], "Swap before and after", "Of the two compared logs.",
            Effect::Page(Command::SwapRoles);
        OtherLog, Two, [by_position("KeyE")], "Show the panels of the other log", "Of the two compared logs.",
            Effect::Page(Command::OtherLog);
        CloseOther, Two, [], "Close the other log", "The log that the panels do not show.",
            Effect::Page(Command::CloseOther);
        Share, Open, [by_position("KeyL")], "Copy the link to this view", "Contains settings and notes only, not the log.",
            Effect::Page(Command::Share);
        ExportPng, Open, [], "Save the timeline as PNG", "As on the screen; with two logs, one below the other.",
            Effect::Page(Command::ExportPng);
        ExportSvg, Open, [], "Save the timeline as SVG", "As on the screen; with two logs, one below the other.",
            Effect::Page(Command::ExportSvg);
        SaveReport, Open, [], "Save a report", "Numbers, findings, timeline, collections, heap and threads of the selected range, or else of the whole log, in one HTML file.",
            Effect::Page(Command::SaveReport);
        SaveLog, Open, [], "Save the log as a file", "Saves the merged log.",
            Effect::Page(Command::SaveLog);
        Theme, Always, [by_position("KeyT")], "Change the theme", "System, light, dark.",
            Effect::Page(Command::Theme);
        Contrast, Always, [], "Change the contrast", "System setting, or higher, with patterns in addition to colors.",
            Effect::Page(Command::Contrast);
        Palette, Always, [by_character("k").ctrl(), by_position("KeyK").ctrl()], "Find an action", "Finds any action, thread, track or note by name.",
            Effect::Page(Command::Palette);
        Help, Always, [by_character("?")], "Show the help", "",
            Effect::Page(Command::Help);
        Legend, Always, [], "Show the legend of marks", "",
            Effect::Page(Command::Legend);
        Tour, Always, [], "Take the tour", "Eight views of a sample, in about five minutes.",
            Effect::Page(Command::Tour);
        Guide, Always, [], "Read the guide", "Terms, colors, numbers, and how to record a log; in a new tab.",
            Effect::Page(Command::Guide);
    }
}

/// Returns the action that opens a panel.
fn panel_binding(panel: &'static Panel) -> Binding {
    Binding {
        action: Action::Panel(panel.name),
        section: Section::Panels,
        availability: Availability::Open,
        keys: panel.keys,
        title: panel.title,
        help: panel.help,
        effect: Effect::Panel(panel.name),
    }
}

/// Returns all actions by section, including those of `panels`.
pub fn bindings(panels: &'static [Panel]) -> impl Iterator<Item = Binding> {
    let sections = Section::ALL.iter();
    sections.flat_map(move |&section| section_bindings(section, panels))
}

/// Returns the actions of a section, including those of `panels`.
pub fn section_bindings(
    section: Section,
    panels: &'static [Panel],
) -> impl Iterator<Item = Binding> {
    let all = panels
        .iter()
        .map(panel_binding)
        .chain(TABLE.iter().copied());
    all.filter(move |binding| binding.section == section)
}

impl Action {
    /// Returns the table entry; `None` for a panel that is not among `panels`.
    pub fn binding(self, panels: &'static [Panel]) -> Option<Binding> {
        match self {
            Self::Panel(name) => find(panels, name.0).map(panel_binding),
            action => {
                let found = TABLE.iter().find(|binding| binding.action == action);
                found.copied()
            }
        }
    }

    /// Returns whether holding the key down repeats the action.
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

/// Finds the action for a key press. The character that a key types takes precedence over its position: on a
/// French keyboard, `-` is where other layouts have 6. `panels` contributes the keys that open panels.
pub fn action(press: &KeyPress<'_>, on_timeline: bool, panels: &'static [Panel]) -> Option<Action> {
    let pressed = |wanted: fn(Key) -> bool| {
        bindings(panels)
            .filter(|binding| on_timeline || binding.availability != Availability::Timeline)
            .find(|binding| {
                let mut keys = binding.keys.iter();
                keys.any(|chord| wanted(chord.key) && chord.matches(press))
            })
    };
    let binding = pressed(|key| matches!(key, Key::Text(_)))
        .or_else(|| pressed(|key| matches!(key, Key::Place(_))))?;
    Some(binding.action)
}

/// Gestures of mouse, touchpad and fingers on the timeline, with their effects.
pub const GESTURES: &[(&str, &str)] = &[
    ("Wheel", "zoom at the pointer; sideways: move"),
    (
        "Drag",
        "select a range of time; drag its edges, which snap to the ends of spans",
    ),
    ("Alt + drag", "measure the time between two points"),
    (
        "Shift + drag, or drag the time axis",
        "move; on the minimap: move through the whole log",
    ),
    (
        "Click",
        "select an item and keep its details open; on empty space: clear the range",
    ),
    (
        "Double click",
        "zoom to the item; on empty space: show the whole log",
    ),
    (
        "Drag the name of a track",
        "move the track; drag a heading to move its group",
    ),
    ("Wheel over the names, Shift + wheel", "scroll the tracks"),
    (
        "Drag a heading of a list, or its edge",
        "move the column; resize it, with arrow keys too. The menu next to the headings hides and moves columns",
    ),
    ("Touchpad: two fingers", "move sideways, zoom up and down"),
    ("Touchpad: pinch", "zoom at the pointer"),
    ("Touch: drag", "move; up and down: scroll the tracks"),
    ("Touch: hold, then drag", "select a range of time"),
    ("Touch: pinch", "zoom between the fingers"),
    ("Touch: tap", "select an item"),
];

/// Returns the documentation page of keys and gestures, in Markdown.
pub fn keys_page(panels: &'static [Panel]) -> String {
    let mut page = String::from(
        "# Keys and gestures\n\n\
         Generated from the tables of actions and panels; `UPDATE_DOCS=1 cargo test keys_page` updates it.\n\n\
         Letter keys are positions on a QWERTY keyboard: W, A, S and D are neighbors on every layout.\n\
         On a Mac, Ctrl is Cmd. The palette (Ctrl+K) lists all actions, including those without a key.\n\
         Keys with a * work while the timeline or nothing has the focus.\n",
    );
    for &section in Section::ALL {
        let _ = write!(
            page,
            "\n## {}\n\n| key | action | |\n|---|---|---|\n",
            section.name()
        );
        for binding in section_bindings(section, panels) {
            let mark = if binding.availability == Availability::Timeline {
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
    page.push_str("\n## Mouse, touchpad, touch\n\n| gesture | effect |\n|---|---|\n");
    for (gesture, help) in GESTURES {
        let _ = writeln!(page, "| {gesture} | {help} |");
    }
    page.push_str("\n## Flame graph\n\n| key or gesture | effect |\n|---|---|\n");
    for (key, help) in flame::flame_keys() {
        let _ = writeln!(page, "| {key} | {help} |");
    }
    page
}

/// Formats a key for a Markdown table.
fn code(key: &str) -> String {
    format!("`{}`", key.replace('|', "\\|"))
}

#[cfg(test)]
mod tests;
