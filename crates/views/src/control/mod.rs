//! What the reader does on the timeline, as a state machine without a browser.
//!
//! Plain events go in: a pointer is pressed, moved, released, a wheel turns, a
//! key asks for the next item, an answer of the worker comes. [`Told`] comes
//! out: what the rest of the page has to know or to do. The page only
//! translates the browser's events, paints and asks the worker.
//!
//! - [`gestures`]: mouse, pen and fingers.
//! - `look`: what is in view; zooming, moving, going to things.
//! - [`walk`]: items; what is said of them, and walking from one to the next.
//! - [`pair`]: two timelines that show the same.
//! - `need`: what has to be asked of the worker.

pub mod gestures;
mod look;
mod need;
pub mod pair;
pub mod walk;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::rc::Rc;

use crate::notes::Note;
use crate::timeline::labels_px;
use crate::timeline::layout::Layout;
use crate::timeline::lit::Lit;
use analysis::timeline::flow::Arrow;
use eventlog::hash::{SeededMap, SeededSet};
use eventlog::ids::{CapId, Nanos, ThreadId};
use gestures::{Drag, Touch};
use model::class::Class;
use model::profile::frames::Frame;
use model::time::Interval;
use scene::viewport::Viewport;
use session::Overview;
use session::heap::choice::HeapChoice;
use session::tracks::Row;
use session::tracks::details::{DetailsQuery, Fact};
use session::tracks::item::{Item, Marks, Names};
use session::tracks::name::TrackName;

/// What the rest of the page is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The pointer is on something, or the keyboard has selected it.
    /// `None`: on nothing.
    Described(Option<Rc<Description>>),
    /// An item was clicked: its details stay open; `None`: no more.
    Pinned(Option<Rc<Description>>),
    /// A range was selected, or no more.
    Range(Option<Interval>),
    /// A place was clicked.
    Clicked(Place),
    /// The time in view or the selected item changed.
    Changed,
    /// Other marks than before are at hand.
    Marks,
    /// Other tracks than before are seen.
    Seen(Range<usize>),
    /// The band of that key was clicked, on the track of a heap profile.
    Band(String),
    /// The keyboard is on another track.
    Current(Option<TrackName>),
    /// The tracks have to be scrolled to that many pixels.
    Scroll(f64),
    /// A finger went down: [`Control::held`] is to be called if it still
    /// rests after [`gestures::LONG_PRESS_MS`].
    Hold(gestures::Press),
}

/// A place on the timeline, for the other panels to go to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The time that was clicked.
    pub time: Nanos,
    /// The capability of what was clicked, if it has one.
    pub cap: Option<CapId>,
}

/// What the timeline shall show, because it was clicked in a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goto {
    /// The time; it may be a moment.
    pub span: Interval,
    /// The track to scroll to; its item at that time is selected.
    pub row: Option<Row>,
    /// Whether the view is zoomed so that the span is well seen, or only
    /// moved if the span is outside of it.
    pub zoom: bool,
    /// Whether the details of the item open, and stay open.
    pub details: bool,
}

impl Goto {
    /// A moment.
    #[must_use]
    pub const fn time(time: Nanos) -> Self {
        Self {
            span: Interval::at(time),
            row: None,
            zoom: false,
            details: false,
        }
    }

    /// A note: a range so that it is well seen.
    #[must_use]
    pub fn note(note: &Note) -> Self {
        Self {
            span: note.span(),
            row: None,
            zoom: !note.is_moment(),
            details: false,
        }
    }

    /// An item of a track.
    #[must_use]
    pub const fn item(row: Row, span: Interval) -> Self {
        Self {
            span,
            row: Some(row),
            zoom: false,
            details: false,
        }
    }

    /// An item of a track with all that is known of it, well seen.
    #[must_use]
    pub const fn details(row: Row, span: Interval) -> Self {
        Self {
            span,
            row: Some(row),
            zoom: !span.is_empty(),
            details: true,
        }
    }
}

/// An item in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The track that it is on.
    pub row: Row,
    /// Its class, where that has a colour.
    pub class: Option<Class>,
    /// A name to stand out.
    pub name: String,
    /// The rest, in a sentence.
    pub text: String,
    /// What else is known, as soon as the worker has told it.
    pub facts: Vec<Fact>,
    /// Of an item of a thread: whether all wakeups of the thread in view are shown, not only
    /// those of the item.
    pub all_wakeups: Option<bool>,
    /// Whether the pointer is on it, so that a tip beside the pointer says it;
    /// not if its details stay open anyway.
    pub tip: bool,
}

impl Description {
    /// All of it as text, a fact a line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{} {}", self.name, self.text);
        for fact in &self.facts {
            text.push_str(&format!("\n{}: {}", fact.label, fact.text));
        }
        text
    }
}

/// Labels of threads and texts of messages that are known on the page.
#[derive(Debug, Default)]
pub struct Labels {
    known: SeededMap<ThreadId, String>,
    asked: SeededSet<ThreadId>,
    messages: SeededMap<u32, String>,
    /// The titles of tracks, and the functions of a profile.
    overview: Rc<Overview>,
}

impl Names for Labels {
    fn label(&self, thread: ThreadId) -> Option<&str> {
        self.known.get(&thread).map(String::as_str)
    }

    fn message(&self, number: u32) -> Option<&str> {
        self.messages.get(&number).map(String::as_str)
    }

    fn title(&self, row: Row) -> Option<&str> {
        let track = self.overview.contents.find(row);
        track.map(|track| track.title.as_str())
    }

    fn foreign_function(&self, number: u32) -> Option<&Frame> {
        let functions = &self.overview.contents.foreign_functions;
        functions.get(number as usize)
    }

    fn sampled_function(&self, number: u32) -> Option<&Frame> {
        let functions = &self.overview.contents.sampled_functions;
        functions.get(number as usize)
    }
}

/// What the reader points at and has chosen.
#[derive(Debug, Default)]
struct Focus {
    range: Option<Interval>,
    /// The moment that panels and timeline have in common.
    cursor: Option<Nanos>,
    selected: Option<Item>,
    hovered: Option<Item>,
    pointer: Option<Nanos>,
    /// Where the pointer is on the canvas, in CSS pixels.
    pointer_at: Option<(f64, f64)>,
    measure: Option<(Nanos, Nanos)>,
    /// Whether the second end of the measure follows the pointer.
    measuring: bool,
    /// The track that the keyboard is on.
    track: Option<TrackName>,
    /// Whether an item of that track is to be selected as soon as its marks
    /// have come.
    awaited: bool,
    /// Whether the details of the selected item stay open.
    pinned: bool,
    /// Whether all wakeups in view of the thread of the item have arrows, not only its own.
    all_wakeups: bool,
}

/// The state of the timeline: what is in view, what is pointed at, what is
/// being dragged, and the marks that are at hand.
#[derive(Debug)]
pub struct Control {
    /// Width and height of the canvas in CSS pixels.
    size: (f64, f64),
    layout: Rc<Layout>,
    /// How many capabilities there are.
    caps: usize,
    scroll_px: f64,
    seen: Range<usize>,
    view: Viewport,
    marks: Marks,
    /// The activity of the whole log.
    minimap: Marks,
    labels: Labels,
    focus: Focus,
    drag: Option<Drag>,
    /// Whether what is pressed has moved so far that it is no click.
    moved: bool,
    touches: Vec<Touch>,
    /// What the worker told of an item.
    details: Option<(DetailsQuery, Vec<Fact>)>,
    arrows: Vec<Arrow>,
    /// What the open finding is about.
    lit: Vec<Lit>,
    /// The item that is to be selected as soon as its marks have come.
    wanted: Option<(Row, Nanos)>,
    /// Which bands of a heap profile are shown.
    heap: HeapChoice,
    /// Goes up whenever tracks, marks or names are others.
    revision: u64,
}

/// What the tracks of a picture depend on: while it is the same, so are they.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Still {
    revision: u64,
    size: (f64, f64),
    scroll_px: f64,
    view: Viewport,
}

/// Before anything is known of a log.
pub const NOTHING: Interval = Interval::new(Nanos(0), Nanos(1));

impl Default for Control {
    fn default() -> Self {
        Self {
            size: (0.0, 0.0),
            layout: Rc::default(),
            caps: 1,
            scroll_px: 0.0,
            seen: 0..0,
            view: Viewport::new(NOTHING, 1000.0),
            marks: Marks::default(),
            minimap: Marks::default(),
            labels: Labels::default(),
            focus: Focus::default(),
            drag: None,
            moved: false,
            touches: Vec::new(),
            details: None,
            arrows: Vec::new(),
            lit: Vec::new(),
            wanted: None,
            heap: HeapChoice::default(),
            revision: 0,
        }
    }
}

impl Control {
    /// The canvas has another size, in CSS pixels. The item whose details are open, which may
    /// have taken the room, stays in view.
    pub fn resize(&mut self, size: (f64, f64)) -> Vec<Told> {
        let before = std::mem::replace(&mut self.size, size);
        self.view.resize(size.0 - labels_px(size.0));
        let is_lower = size.1 < before.1 && self.focus.pinned;
        let item = self.focus.selected.as_ref().filter(|_| is_lower);
        let mut told: Vec<Told> = item
            .and_then(|item| self.scroll_to(item.row))
            .into_iter()
            .collect();
        // What else has this axis follows.
        told.extend((size.0 != before.0).then_some(Told::Changed));
        told
    }

    /// The tracks were scrolled.
    pub fn scroll(&mut self, scroll_px: f64) -> Vec<Told> {
        self.scroll_px = scroll_px;
        self.hover()
    }

    /// Another log, or none: everything but the window is forgotten.
    pub fn reset(&mut self) -> Vec<Told> {
        *self = Self {
            size: self.size,
            scroll_px: self.scroll_px,
            view: Viewport::new(NOTHING, self.view.width_px()),
            revision: self.revision + 1,
            ..Self::default()
        };
        vec![Told::Range(None), Told::Pinned(None)]
    }

    /// More is known of the log: its span, its capabilities, labels of threads.
    pub fn set_log(
        &mut self,
        span: Interval,
        overview: Rc<Overview>,
        labels: impl IntoIterator<Item = (ThreadId, String)>,
    ) {
        self.revision += 1;
        self.view.set_log(span);
        self.caps = overview.caps.len();
        self.labels.known.extend(labels);
        self.labels.overview = overview;
    }

    /// Other tracks, or in another order.
    pub fn set_layout(&mut self, layout: Rc<Layout>) -> Vec<Told> {
        self.revision += 1;
        self.layout = layout;
        self.hover()
    }

    /// Other bands of a heap profile are shown.
    pub fn set_heap(&mut self, choice: &HeapChoice) {
        self.heap.clone_from(choice);
    }

    /// Another finding is open, or none: what it is about.
    pub fn set_lit(&mut self, lit: Vec<Lit>) {
        self.lit = lit;
    }

    /// What the tracks of the picture depend on.
    #[must_use]
    pub const fn still(&self) -> Still {
        Still {
            revision: self.revision,
            size: self.size,
            scroll_px: self.scroll_px,
            view: self.view,
        }
    }

    /// Which part of the log is in view, to the fraction of a nanosecond.
    #[must_use]
    pub const fn viewport(&self) -> Viewport {
        self.view
    }

    /// The time in view; `None` if that is all of the log.
    #[must_use]
    pub fn visible(&self) -> Option<Interval> {
        self.view.visible()
    }

    /// The selected range.
    #[must_use]
    pub const fn range(&self) -> Option<Interval> {
        self.focus.range
    }

    /// The selected item: its track, and its time.
    #[must_use]
    pub fn selected(&self) -> Option<(Row, Interval)> {
        let item = self.focus.selected.as_ref();
        item.map(|item| (item.row, item.span))
    }

    /// The moment that was clicked or gone to last.
    #[must_use]
    pub const fn cursor(&self) -> Option<Nanos> {
        self.focus.cursor
    }

    /// The moment that is meant: the pointer's, or else the cursor if it is in
    /// view, or else the middle of the view.
    #[must_use]
    pub fn moment(&self) -> Nanos {
        let view = self.view.span();
        let cursor = self.focus.cursor;
        let seen = cursor.filter(|time| (view.start()..=view.end()).contains(time));
        self.focus.pointer.or(seen).unwrap_or(view.middle())
    }

    /// The track that the keyboard is on.
    #[must_use]
    pub const fn track(&self) -> Option<&TrackName> {
        self.focus.track.as_ref()
    }

    /// Whether something is being dragged: then nothing is asked about items.
    #[must_use]
    pub const fn is_dragging(&self) -> bool {
        self.drag.is_some()
    }

    /// Where the pointer is on the canvas, in CSS pixels.
    #[must_use]
    pub const fn pointer_at(&self) -> Option<(f64, f64)> {
        self.focus.pointer_at
    }

    /// Width and height of the canvas in CSS pixels.
    #[must_use]
    pub const fn size(&self) -> (f64, f64) {
        self.size
    }

    /// Where the heads of the tracks that scroll begin, below the pinned ones.
    #[must_use]
    pub fn heads_px(&self) -> f64 {
        let first = self.seen.start.min(self.layout.tracks().len());
        self.layout.y(first, self.scroll_px) - self.layout.pinned_px()
    }

    /// How high the pinned tracks are.
    #[must_use]
    pub fn pinned_px(&self) -> f64 {
        self.layout.pinned_px()
    }

    /// How wide the labels of the tracks are.
    #[must_use]
    pub const fn labels_px(&self) -> f64 {
        labels_px(self.size.0)
    }
}
