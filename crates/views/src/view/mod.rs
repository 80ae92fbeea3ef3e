//! The view: what is shown of a log, and how, as one value. It is what a link
//! holds, what going back and forward walks through, and what an action turns
//! into another one.
//!
//! - [`compare`], [`flame`], [`events`], [`findings`], [`threads`], [`ticky`]: what single panels keep in it.
//! - [`panel`]: what there is to know of a panel, and its settings.
//! - [`store`]: the view of now, and those before it.
//! - [`session::link_text`]: how links spell texts, numbers and ranges.
//! - [`tracks`]: the tracks in a link.

pub mod compare;
pub mod events;
pub mod findings;
pub mod flame;
pub mod history;
pub mod panel;
pub mod store;
pub mod threads;
pub mod ticky;
pub mod tracks;

use std::fmt;
use std::rc::Rc;

use crate::notes::Notes;
use crate::timeline::arrange::{TrackChange, TrackView};
use crate::timeline::layout::Layout;
use eventlog::ids::Nanos;
use model::time::Interval;
use panel::{PanelName, PanelSettings, Settings};
use session::tracks::name::TrackName;

/// What is shown of a log, and how. The default is the view of a log that was
/// just opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The stretch of time in view; the whole log if `None`.
    pub visible: Option<Interval>,
    /// The selected stretch of time.
    pub selection: Option<Interval>,
    /// The selected item.
    pub selected: Option<Selected>,
    /// The open panel.
    pub panel: PanelName,
    /// Who has the window below the header.
    pub room: Room,
    /// Which tracks are shown, and how.
    pub tracks: TrackView,
    /// What panels keep.
    pub settings: Settings,
    /// What the reader noted.
    pub notes: Rc<Notes>,
}

/// Who has the window below the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Room {
    /// Timeline and panel share it.
    #[default]
    Both,
    /// The panel is hidden.
    Timeline,
    /// The panel is maximised: the timeline is hidden.
    Panel,
}

impl Room {
    /// All of it for one, or for both if that one has it already.
    #[must_use]
    pub fn toggled(self, one: Self) -> Self {
        if self == one { Self::Both } else { one }
    }

    /// The same, but that this one has room too, who would have none beside `other`.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        if self == other { Self::Both } else { self }
    }
}

/// An item, named by what it is and not by a number that another version of
/// the program might give to something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// When it begins.
    pub time: Nanos,
    /// The track that it is on.
    pub track: TrackName,
}

/// What an action may know beside the view: what there is, and where the
/// reader is.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The tracks as they stand now.
    pub layout: &'a Layout,
    /// The track that the keyboard is on.
    pub track: Option<&'a TrackName>,
    /// The time of the selected item.
    pub item: Option<Interval>,
}

impl View {
    /// The view with that panel open.
    #[must_use]
    pub fn with_panel(self, panel: PanelName) -> Self {
        Self {
            panel,
            room: self.room.beside(Room::Timeline),
            ..self
        }
    }

    /// The view with other settings of a panel.
    #[must_use]
    pub fn with_settings<T: PanelSettings>(mut self, settings: T) -> Self {
        self.settings.set(settings);
        self
    }

    /// The view with other notes.
    #[must_use]
    pub fn with_notes(self, notes: Notes) -> Self {
        let notes = Rc::new(notes);
        Self { notes, ..self }
    }

    /// The view with its tracks shown otherwise.
    #[must_use]
    pub(crate) fn with_tracks(mut self, change: TrackChange, context: &Context<'_>) -> Self {
        self.tracks.change(change, context.layout);
        self
    }

    /// The view with a change to the track that the keyboard is on.
    #[must_use]
    pub(crate) fn with_track(
        self,
        change: impl FnOnce(TrackName) -> TrackChange,
        context: &Context<'_>,
    ) -> Self {
        match context.track {
            Some(track) => self.with_tracks(change(track.clone()), context),
            None => self,
        }
    }

    /// The view without what only the whole log can tell the place of: stretches of time, the selected
    /// item, notes. It can be shown while the log is being read.
    #[must_use]
    pub fn without_places(self) -> Self {
        Self {
            visible: None,
            selection: None,
            selected: None,
            notes: Rc::default(),
            ..self
        }
    }

    /// The view with the places of another one, where it has none of its own.
    #[must_use]
    pub fn or_places_of(self, other: &Self) -> Self {
        let has_notes = !self.notes.is_empty();
        Self {
            visible: self.visible.or(other.visible),
            selection: self.selection.or(other.selection),
            selected: self.selected.or_else(|| other.selected.clone()),
            notes: Rc::clone(if has_notes { &self.notes } else { &other.notes }),
            ..self
        }
    }

    /// The view as far as it fits a log: times outside of it are dropped.
    #[must_use]
    pub fn inside(mut self, log: Interval) -> Self {
        // What is in view may reach a little beyond the log; a range may not.
        self.visible = self.visible.filter(|span| span.overlaps(log));
        self.selection = self.selection.and_then(|span| span.intersection(log));
        Rc::make_mut(&mut self.notes).keep_in(log);
        self
    }
}

/// A change of the view: a function from view to view.
pub struct Change(Box<Turn>);

/// A function from view to view.
type Turn = dyn FnOnce(&View, &Context<'_>) -> View;

impl Change {
    /// That change.
    pub fn new(change: impl FnOnce(View, &Context<'_>) -> View + 'static) -> Self {
        Self(Box::new(move |view, context| change(view.clone(), context)))
    }

    /// Shows another panel.
    #[must_use]
    pub fn panel(panel: PanelName) -> Self {
        Self::new(move |view, _| view.with_panel(panel))
    }

    /// Other settings of a panel.
    pub fn settings<T: PanelSettings>(settings: T) -> Self {
        Self::new(move |view, _| view.with_settings(settings))
    }

    /// Shows the tracks otherwise.
    #[must_use]
    pub fn tracks(change: TrackChange) -> Self {
        Self::new(move |view, context| view.with_tracks(change, context))
    }

    /// Other notes.
    #[must_use]
    pub fn notes(notes: Notes) -> Self {
        Self::new(move |view, _| view.with_notes(notes))
    }

    /// The view after it.
    #[must_use]
    pub fn apply(self, view: &View, context: &Context<'_>) -> View {
        self.0(view, context)
    }
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Change")
    }
}
