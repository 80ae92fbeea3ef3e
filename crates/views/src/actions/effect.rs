//! What actions do.

use crate::control::{Control, Told};
use crate::view::panel::PanelName;
use crate::view::{Context, Room, View};

/// What an action does.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// Shows the log otherwise.
    View(fn(View, &Context<'_>) -> View),
    /// Looks elsewhere on the timeline, to the part of a pixel; the view
    /// follows when that has settled.
    Timeline(fn(&mut Control) -> Vec<Told>),
    /// Shows a panel.
    Panel(PanelName),
    /// What only the page can do.
    Page(Command),
}

/// What only the page can do: it concerns more than the view of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Goes to the view before.
    Back,
    /// Goes to the view that was left by going back.
    Forward,
    /// Drops one thing: what is dragged, the selection, the loading of a log.
    Escape,
    /// Puts the focus into the filter of the tracks.
    FilterTracks,
    /// Copies the details of the item.
    CopyDetails,
    /// Shows the first page; the log stays open.
    Home,
    /// Reads the log again, as its file is now.
    ReadAgain,
    /// Reads on in a log whenever its file has grown, pauses that, or goes on.
    Follow,
    /// Has the view go along with the end of a log that is followed, or not any more.
    StickToEnd,
    /// Follows the log no more.
    StopFollowing,
    /// Saves the notes as a file.
    SaveNotes,
    /// Adds a note and asks for its name.
    AddNote,
    /// Goes to the next note.
    NextNote,
    /// Goes to the note before.
    PreviousNote,
    /// Asks for a log to open.
    Open,
    /// Asks for a log to compare with the open one.
    Compare,
    /// Asks how logs are to be merged.
    Merge,
    /// Saves the file of the log.
    SaveLog,
    /// What was before counts as after, and the other way round.
    SwapRoles,
    /// Has the panels be about the other of two logs.
    OtherLog,
    /// Closes the log that the panels are not about.
    CloseOther,
    /// Copies the link.
    Share,
    /// Saves the timeline as PNG.
    ExportPng,
    /// Saves the timeline as SVG.
    ExportSvg,
    /// Saves a report of the log.
    SaveReport,
    /// Goes to the next theme.
    Theme,
    /// Goes to the other contrast.
    Contrast,
    /// Opens the palette.
    Palette,
    /// Opens the help.
    Help,
    /// Opens the help where it says what the marks mean.
    Legend,
    /// Begins the tour.
    Tour,
    /// Opens the guide.
    Guide,
}

pub(super) fn select_item_range(view: View, at: &Context<'_>) -> View {
    let selection = at.item.or(view.selection);
    View { selection, ..view }
}

pub(super) fn toggle_panel(view: View, _: &Context<'_>) -> View {
    let room = view.room.toggled(Room::Timeline);
    View { room, ..view }
}

pub(super) fn maximise_panel(view: View, _: &Context<'_>) -> View {
    let room = view.room.toggled(Room::Panel);
    View { room, ..view }
}
