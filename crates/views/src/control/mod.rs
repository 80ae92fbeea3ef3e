//! Input handling of the timeline: a state machine without browser types.
//!
//! Input is plain data: pointer presses, moves and releases, wheel turns, keyboard steps, and replies of the
//! worker. The output is a list of [`TimelineEvent`]s for the rest of the page. The page only translates browser
//! events, paints, and queries the worker.
//!
//! - [`gestures`]: mouse, pen and touch.
//! - `navigation`: the visible time: zooming, panning, navigation.
//! - [`stepping`]: items, their descriptions, and stepping between them.
//! - [`sync`]: two timelines kept in sync.
//! - `queries`: queries for the worker and their replies.

pub mod gestures;
mod navigation;
mod queries;
pub mod stepping;
pub mod sync;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::rc::Rc;

use crate::notes::Note;
use crate::timeline::highlight::Highlight;
use crate::timeline::labels_px;
use crate::timeline::layout::Layout;
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
use session::tracks::TrackId;
use session::tracks::details::{DetailField, DetailsQuery};
use session::tracks::item::{Item, Marks, Names};
use session::tracks::name::TrackName;

/// Event emitted by [`Control`] for the rest of the page.
#[derive(Clone, Debug, PartialEq)]
pub enum TimelineEvent {
    /// The description of the hovered or selected item changed; `None` if there is no such item.
    Described(Option<Rc<Description>>),
    /// The details that stay open changed, for example because an item was clicked; `None` closes them.
    Pinned(Option<Rc<Description>>),
    /// The selected range changed; `None` clears it.
    Range(Option<Interval>),
    /// The timeline was clicked at this position.
    Clicked(ClickPosition),
    /// The visible time or the selected item changed.
    ViewChanged,
    /// The marks of the visible tracks were replaced.
    MarksReplaced,
    /// The index range of the tracks in view changed.
    TracksInView(Range<usize>),
    /// A band of the heap profile track was clicked; the value is the band's key.
    BandClicked(String),
    /// The track with the keyboard focus changed.
    TrackFocused(Option<TrackName>),
    /// Request to scroll the tracks to this offset, in pixels.
    Scroll(f64),
    /// A finger went down: the page calls [`Control::long_press`] if it still rests after [`gestures::LONG_PRESS_MS`].
    Hold(gestures::Press),
}

/// Position of a click on the timeline, for other panels to follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClickPosition {
    /// Time of the click; the start of the item if one was hit.
    pub time: Nanos,
    /// Capability of the clicked item, if it has one.
    pub cap: Option<CapId>,
}

/// Navigation target on the timeline, set by a click in a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NavigationTarget {
    /// Time to show; empty for a single instant.
    pub span: Interval,
    /// Track to scroll to; its item at this time is selected.
    pub track: Option<TrackId>,
    /// Whether to zoom to the span with some context; otherwise the view pans, and only if the span is out of
    /// view.
    pub zoom: bool,
    /// Whether to open the details of the item and keep them open.
    pub details: bool,
}

impl NavigationTarget {
    /// Targets an instant.
    pub const fn time(time: Nanos) -> Self {
        Self {
            span: Interval::empty_at(time),
            track: None,
            zoom: false,
            details: false,
        }
    }

    /// Targets a note; zooms to it if it spans a range.
    pub fn note(note: &Note) -> Self {
        Self {
            zoom: !note.is_moment(),
            ..Self::zoomed(None, note.span())
        }
    }

    /// Targets an item of a track without zooming.
    pub const fn item(track: TrackId, span: Interval) -> Self {
        Self {
            span,
            track: Some(track),
            zoom: false,
            details: false,
        }
    }

    /// Targets a span, zooms to it, and scrolls to a track.
    pub const fn zoomed(track: Option<TrackId>, span: Interval) -> Self {
        Self {
            span,
            track,
            zoom: true,
            details: false,
        }
    }

    /// Targets an item of a track, zooms to it unless it is an instant, and opens its details.
    pub const fn details(track: TrackId, span: Interval) -> Self {
        Self {
            zoom: !span.is_empty(),
            details: true,
            ..Self::item(track, span)
        }
    }
}

/// Description of an item in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Track of the item.
    pub track: TrackId,
    /// Class of the item, if that class has a color.
    pub class: Option<Class>,
    /// Name, displayed prominently.
    pub name: String,
    /// Remaining description, as one phrase.
    pub text: String,
    /// Further facts; empty until the worker has replied.
    pub facts: Vec<DetailField>,
    /// For an item of a thread: whether the arrows cover all wakeups of the thread in view instead of only those
    /// of the item.
    pub all_wakeups: Option<bool>,
    /// Whether to show it as a tooltip at the pointer: the item is hovered, nothing is being dragged, and its
    /// details are not already open.
    pub tip: bool,
}

impl Description {
    /// Formats everything as text, one fact per line.
    pub fn to_text(&self) -> String {
        let mut text = format!("{} {}", self.name, self.text);
        for fact in &self.facts {
            text.push_str(&format!("\n{}: {}", fact.label, fact.text));
        }
        text
    }
}

/// Thread labels and message texts known to the page.
#[derive(Debug, Default)]
pub struct Labels {
    known: SeededMap<ThreadId, String>,
    asked: SeededSet<ThreadId>,
    messages: SeededMap<u32, String>,
    /// Source of track titles and of the functions of profiles.
    overview: Rc<Overview>,
}

impl Names for Labels {
    fn label(&self, thread: ThreadId) -> Option<&str> {
        self.known.get(&thread).map(String::as_str)
    }

    fn message(&self, number: u32) -> Option<&str> {
        self.messages.get(&number).map(String::as_str)
    }

    fn title(&self, row: TrackId) -> Option<&str> {
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

/// Keys pressed on a track before its marks arrived. They act on the item that is then selected.
#[derive(Clone, Copy, Debug, Default)]
struct StepsAhead {
    /// Steps to later items; negative if to earlier ones.
    steps: i32,
    /// Whether to toggle the details.
    details: bool,
}

/// Pointer and selection state.
#[derive(Debug, Default)]
struct Focus {
    range: Option<Interval>,
    /// Time cursor shared by the panels and the timeline.
    cursor: Option<Nanos>,
    selected: Option<Item>,
    hovered: Option<Item>,
    pointer: Option<Nanos>,
    /// Pointer position on the canvas, in CSS pixels.
    pointer_at: Option<(f64, f64)>,
    measure: Option<(Nanos, Nanos)>,
    /// Whether the second end of the measurement follows the pointer.
    measuring: bool,
    /// Track with the keyboard focus.
    track: Option<TrackName>,
    /// What to do once the marks of that track arrive, after an item of it was selected; `None` for nothing.
    awaits_marks: Option<StepsAhead>,
    /// Whether the details of the selected item stay open.
    pinned: bool,
    /// Whether arrows cover all wakeups of the item's thread in view instead of only those of the item.
    all_wakeups: bool,
}

/// State of the timeline: visible time, pointer, selection, the drag in progress, and the loaded marks.
#[derive(Debug)]
pub struct Control {
    /// Width and height of the canvas in CSS pixels.
    size: (f64, f64),
    layout: Rc<Layout>,
    /// Number of capabilities.
    caps: usize,
    scroll_px: f64,
    seen: Range<usize>,
    view: Viewport,
    /// The visible time that was restored last, with the view that shows it: rounding makes that view's own visible
    /// time differ by a few nanoseconds.
    restored: Option<(Interval, Viewport)>,
    marks: Marks,
    /// Activity of the whole log.
    minimap: Marks,
    labels: Labels,
    focus: Focus,
    drag: Option<Drag>,
    /// Whether the press has moved too far to count as a click.
    moved: bool,
    touches: Vec<Touch>,
    /// Latest details reply with its query.
    details: Option<(DetailsQuery, Vec<DetailField>)>,
    arrows: Vec<Arrow>,
    /// Highlights of the open finding.
    highlight: Vec<Highlight>,
    /// Item to select once its marks arrive.
    pending_item: Option<(TrackId, Nanos)>,
    /// Bands of the heap profile to show.
    heap: HeapChoice,
    /// Incremented whenever tracks, marks or names change.
    revision: u64,
}

/// Inputs of the focus-independent layer; equal values mean that the tracks need no repaint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepaintKey {
    revision: u64,
    size: (f64, f64),
    scroll_px: f64,
    view: Viewport,
}

/// Placeholder span before a log is loaded.
pub const NO_LOG_SPAN: Interval = Interval::new(Nanos(0), Nanos(1));

impl Default for Control {
    fn default() -> Self {
        Self {
            size: (0.0, 0.0),
            layout: Rc::default(),
            caps: 1,
            scroll_px: 0.0,
            seen: 0..0,
            view: Viewport::new(NO_LOG_SPAN, 1000.0),
            restored: None,
            marks: Marks::default(),
            minimap: Marks::default(),
            labels: Labels::default(),
            focus: Focus::default(),
            drag: None,
            moved: false,
            touches: Vec::new(),
            details: None,
            arrows: Vec::new(),
            highlight: Vec::new(),
            pending_item: None,
            heap: HeapChoice::default(),
            revision: 0,
        }
    }
}

impl Control {
    /// Sets the canvas size in CSS pixels.
    ///
    /// If the canvas became lower while details are open, the selected item is scrolled back into view: the opened
    /// details may have taken the room.
    pub fn resize(&mut self, size: (f64, f64)) -> Vec<TimelineEvent> {
        let before = std::mem::replace(&mut self.size, size);
        self.view.resize(size.0 - labels_px(size.0));
        let is_lower = size.1 < before.1 && self.focus.pinned;
        let item = self.focus.selected.as_ref().filter(|_| is_lower);
        let mut events: Vec<TimelineEvent> = item
            .and_then(|item| self.scroll_to(item.row))
            .into_iter()
            .collect();
        events.extend((size.0 != before.0).then_some(TimelineEvent::ViewChanged));
        events
    }

    /// Sets the scroll offset of the tracks, in pixels.
    pub fn scroll(&mut self, scroll_px: f64) -> Vec<TimelineEvent> {
        self.scroll_px = scroll_px;
        self.hover()
    }

    /// Resets everything except the canvas size, for another log or none.
    pub fn reset(&mut self) -> Vec<TimelineEvent> {
        *self = Self {
            size: self.size,
            scroll_px: self.scroll_px,
            view: Viewport::new(NO_LOG_SPAN, self.view.width_px()),
            revision: self.revision + 1,
            ..Self::default()
        };
        vec![TimelineEvent::Range(None), TimelineEvent::Pinned(None)]
    }

    /// Updates the span of the log, its overview and thread labels, as more of the log becomes known.
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

    /// Replaces the layout: other tracks or another order.
    pub fn set_layout(&mut self, layout: Rc<Layout>) -> Vec<TimelineEvent> {
        self.revision += 1;
        self.layout = layout;
        self.hover()
    }

    /// Sets which bands of the heap profile are shown.
    pub fn set_heap(&mut self, choice: &HeapChoice) {
        self.heap.clone_from(choice);
    }

    /// Sets the highlights of the open finding; empty if none is open.
    pub fn set_highlights(&mut self, highlight: Vec<Highlight>) {
        self.highlight = highlight;
    }

    /// Returns the inputs of the focus-independent layer, as a repaint key.
    pub const fn repaint_key(&self) -> RepaintKey {
        RepaintKey {
            revision: self.revision,
            size: self.size,
            scroll_px: self.scroll_px,
            view: self.view,
        }
    }

    /// Returns the visible part of the log, to the fraction of a nanosecond.
    pub const fn viewport(&self) -> Viewport {
        self.view
    }

    /// Returns the visible time; `None` if that is the whole log.
    pub fn visible(&self) -> Option<Interval> {
        match self.restored {
            Some((span, view)) if view == self.view => Some(span),
            _ => self.view.visible(),
        }
    }

    /// Returns the selected range.
    pub const fn range(&self) -> Option<Interval> {
        self.focus.range
    }

    /// Returns the track and the time of the selected item.
    pub fn selected(&self) -> Option<(TrackId, Interval)> {
        let item = self.focus.selected.as_ref();
        item.map(|item| (item.row, item.span))
    }

    /// Returns the track and the start of the selected item, or of the one that is selected once its marks arrive.
    pub fn selected_or_pending(&self) -> Option<(TrackId, Nanos)> {
        let selected = || self.selected().map(|(row, span)| (row, span.start()));
        self.pending_item.or_else(selected)
    }

    /// Returns the time that was last clicked or navigated to.
    pub const fn cursor(&self) -> Option<Nanos> {
        self.focus.cursor
    }

    /// Returns the reference time of keyboard commands: the pointer's, else the cursor if it is in view, else the
    /// middle of the view.
    pub fn moment(&self) -> Nanos {
        let view = self.view.span();
        let cursor = self.focus.cursor;
        let seen = cursor.filter(|time| (view.start()..=view.end()).contains(time));
        self.focus.pointer.or(seen).unwrap_or(view.middle())
    }

    /// Returns the track with the keyboard focus.
    pub const fn track(&self) -> Option<&TrackName> {
        self.focus.track.as_ref()
    }

    /// Returns whether a drag is in progress; item queries are suspended meanwhile.
    pub const fn is_dragging(&self) -> bool {
        self.drag.is_some()
    }

    /// Returns the pointer position on the canvas, in CSS pixels.
    pub const fn pointer_at(&self) -> Option<(f64, f64)> {
        self.focus.pointer_at
    }

    /// Returns the width and height of the canvas in CSS pixels.
    pub const fn size(&self) -> (f64, f64) {
        self.size
    }

    /// Returns the vertical offset of the first scrolling track head, relative to the end of the pinned tracks, in
    /// pixels.
    pub fn heads_px(&self) -> f64 {
        let first = self.seen.start.min(self.layout.tracks().len());
        self.layout.y(first, self.scroll_px) - self.layout.pinned_px()
    }

    /// Returns the height of the pinned tracks, in pixels.
    pub fn pinned_px(&self) -> f64 {
        self.layout.pinned_px()
    }

    /// Returns the width of the track labels, in pixels.
    pub const fn labels_px(&self) -> f64 {
        labels_px(self.size.0)
    }
}
