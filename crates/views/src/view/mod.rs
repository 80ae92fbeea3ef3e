//! The view: everything that determines what is shown of a log, as one value.
//!
//! A link encodes a view, the history records views, and an action turns a view into another one.
//!
//! - [`compare`], [`flame`], [`events`], [`findings`], [`threads`], [`ticky`]: view state of single panels.
//! - [`panel`]: metadata of a panel, and its settings.
//! - [`store`]: the current view and its history.
//! - [`session::link_text`]: encoding of texts, numbers and ranges in links.
//! - [`tracks`]: encoding of the tracks in links.

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

/// What is shown of a log, and how. The default is the view of a freshly opened log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Visible time; the whole log if `None`.
    pub visible: Option<Interval>,
    /// Selected time range.
    pub selection: Option<Interval>,
    /// Selected item.
    pub selected: Option<Selected>,
    /// Open panel.
    pub panel: PanelName,
    /// Division of the window below the header.
    pub room: PanelLayout,
    /// Track settings: filter, order, folding, pinning.
    pub tracks: TrackView,
    /// Settings of the panels.
    pub settings: Settings,
    /// Notes of the reader.
    pub notes: Rc<Notes>,
}

/// Division of the window below the header between timeline and panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PanelLayout {
    /// Timeline and panel share the window.
    #[default]
    Both,
    /// The panel is hidden.
    Timeline,
    /// The panel is maximized: the timeline is hidden.
    Panel,
}

impl PanelLayout {
    /// Gives the window to `one`, or to both if `one` has it already.
    #[must_use]
    pub fn toggled(self, one: Self) -> Self {
        if self == one { Self::Both } else { one }
    }

    /// Makes room for a part that is hidden in the state `other`; other states are unchanged.
    #[must_use]
    pub fn shown_with(self, other: Self) -> Self {
        if self == other { Self::Both } else { self }
    }
}

/// Selected item, identified by track and time rather than by a number that another version of the program might
/// assign differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// Start of the item.
    pub time: Nanos,
    /// Track of the item.
    pub track: TrackName,
}

/// Input of an action in addition to the view.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Current layout of the tracks.
    pub layout: &'a Layout,
    /// Track with the keyboard focus.
    pub track: Option<&'a TrackName>,
    /// Time of the selected item.
    pub item: Option<Interval>,
}

impl View {
    /// Returns the view with this panel open and visible.
    #[must_use]
    pub fn with_panel(self, panel: PanelName) -> Self {
        Self {
            panel,
            room: self.room.shown_with(PanelLayout::Timeline),
            ..self
        }
    }

    /// Returns the view with the settings of a panel replaced.
    #[must_use]
    pub fn with_settings<T: PanelSettings>(mut self, settings: T) -> Self {
        self.settings.set(settings);
        self
    }

    /// Returns the view with the notes replaced.
    #[must_use]
    pub fn with_notes(self, notes: Notes) -> Self {
        let notes = Rc::new(notes);
        Self { notes, ..self }
    }

    /// Returns the view with a change applied to its tracks.
    #[must_use]
    pub(crate) fn with_tracks(mut self, change: TrackChange, context: &Context<'_>) -> Self {
        self.tracks.change(change, context.layout);
        self
    }

    /// Returns the view with a change to the track with the keyboard focus; unchanged if there is none.
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

    /// Returns the view without anything that refers to times of the log: visible time, selection, selected item,
    /// notes. It can be shown while the log is still being read.
    #[must_use]
    pub fn without_times(self) -> Self {
        Self {
            visible: None,
            selection: None,
            selected: None,
            notes: Rc::default(),
            ..self
        }
    }

    /// Returns the view with its missing places (visible time, selection, selected item, notes) taken from another
    /// view.
    #[must_use]
    pub fn or_times_of(self, other: &Self) -> Self {
        let has_notes = !self.notes.is_empty();
        Self {
            visible: self.visible.or(other.visible),
            selection: self.selection.or(other.selection),
            selected: self.selected.or_else(|| other.selected.clone()),
            notes: Rc::clone(if has_notes { &self.notes } else { &other.notes }),
            ..self
        }
    }

    /// Returns the view restricted to a log: times outside of it are dropped.
    #[must_use]
    pub fn inside(mut self, log: Interval) -> Self {
        // The visible time may extend slightly beyond the log; a range may not.
        self.visible = self.visible.filter(|span| span.overlaps(log));
        self.selection = self.selection.and_then(|span| span.intersection(log));
        Rc::make_mut(&mut self.notes).keep_in(log);
        self
    }
}

/// Change of the view: a boxed function from view to view.
pub struct Change(Box<ViewFn>);

/// Function from view to view.
type ViewFn = dyn FnOnce(&View, &Context<'_>) -> View;

impl Change {
    /// Wraps a function from view to view.
    pub fn new(change: impl FnOnce(View, &Context<'_>) -> View + 'static) -> Self {
        Self(Box::new(move |view, context| change(view.clone(), context)))
    }

    /// Opens another panel.
    pub fn panel(panel: PanelName) -> Self {
        Self::new(move |view, _| view.with_panel(panel))
    }

    /// Replaces the settings of a panel.
    pub fn settings<T: PanelSettings>(settings: T) -> Self {
        Self::new(move |view, _| view.with_settings(settings))
    }

    /// Applies a change to the tracks.
    pub fn tracks(change: TrackChange) -> Self {
        Self::new(move |view, context| view.with_tracks(change, context))
    }

    /// Replaces the notes.
    pub fn notes(notes: Notes) -> Self {
        Self::new(move |view, _| view.with_notes(notes))
    }

    /// Returns the changed view.
    pub fn apply(self, view: &View, context: &Context<'_>) -> View {
        self.0(view, context)
    }
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Change")
    }
}
