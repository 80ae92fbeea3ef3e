//! Effects of actions.

use crate::control::{Control, TimelineEvent};
use crate::view::panel::PanelName;
use crate::view::{Context, PanelLayout, View};

/// Effect of an action.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// Changes the view.
    View(fn(View, &Context<'_>) -> View),
    /// Moves the timeline with subpixel precision; the view follows once the movement has settled.
    Timeline(fn(&mut Control) -> Vec<TimelineEvent>),
    /// Opens a panel.
    Panel(PanelName),
    /// Runs a command of the page.
    Page(Command),
}

/// Command that only the page can run because it concerns more than the view of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Goes back to the previous view.
    Back,
    /// Returns to the view that going back left.
    Forward,
    /// Cancels one thing: a drag, the selection, or the loading of a log.
    Escape,
    /// Focuses the filter of the tracks.
    FilterTracks,
    /// Copies the details of the item.
    CopyDetails,
    /// Goes to the start page; the log stays open.
    Home,
    /// Reads the current content of the log's file again.
    ReadAgain,
    /// Starts, pauses or resumes following the log: reading on whenever its file has grown.
    Follow,
    /// Toggles whether the view sticks to the end of a followed log.
    StickToEnd,
    /// Stops following the log.
    StopFollowing,
    /// Saves the notes as a file.
    SaveNotes,
    /// Adds a note and asks for its name.
    AddNote,
    /// Goes to the next note.
    NextNote,
    /// Goes to the previous note.
    PreviousNote,
    /// Asks for a log to open.
    Open,
    /// Asks for a log to compare with the open one.
    Compare,
    /// Asks how to merge logs.
    Merge,
    /// Saves the log as a file.
    SaveLog,
    /// Swaps the before and after roles of two logs.
    SwapRoles,
    /// Switches the panels to the other of two logs.
    OtherLog,
    /// Closes the log that the panels do not show.
    CloseOther,
    /// Copies the link to the view.
    Share,
    /// Saves the timeline as PNG.
    ExportPng,
    /// Saves the timeline as SVG.
    ExportSvg,
    /// Saves a report of the log.
    SaveReport,
    /// Switches to the next theme.
    Theme,
    /// Switches to the other contrast.
    Contrast,
    /// Opens the command palette.
    Palette,
    /// Opens the help dialog.
    Help,
    /// Opens the help at the legend of marks.
    Legend,
    /// Starts the guided tour.
    Tour,
    /// Opens the guide in a new tab.
    Guide,
}

pub(super) fn select_item_range(view: View, at: &Context<'_>) -> View {
    let selection = at.item.or(view.selection);
    View { selection, ..view }
}

pub(super) fn toggle_panel(view: View, _: &Context<'_>) -> View {
    let room = view.room.toggled(PanelLayout::Timeline);
    View { room, ..view }
}

pub(super) fn maximise_panel(view: View, _: &Context<'_>) -> View {
    let room = view.room.toggled(PanelLayout::Panel);
    View { room, ..view }
}
