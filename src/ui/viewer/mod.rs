//! The timeline's controller. It lives outside of Yew: gestures change it,
//! one animation frame paints it, and only what has settled is told to the
//! rest of the page.

mod ask;
mod gestures;
mod look;
mod picture;
mod walk;

pub(super) use gestures::Press;
pub(super) use walk::VisibleItem;

use std::cell::RefCell;
use std::rc::Rc;

use gloo_render::{AnimationFrame, request_animation_frame};
use gloo_timers::callback::Timeout;
use rustc_hash::{FxHashMap, FxHashSet};
use web_sys::{HtmlCanvasElement, HtmlElement};

use super::canvas::CanvasPainter;
use super::client::Client;
use crate::automata::Span;
use crate::flamegraph::Frame;
use crate::ids::{CapId, Nanos, ThreadId};
use crate::notes::Notes;
use crate::scene::history::History;
use crate::scene::item::{Item, Marks, Names};
use crate::scene::timeline::labels_px;
use crate::scene::track::Layout;
use crate::scene::viewport::Viewport;
use crate::session::Overview;
use crate::share::TrackName;
use crate::timeline::class::Class;
use crate::timeline::details::{DetailsQuery, Fact};
use crate::timeline::flow::{Arrow, FlowQuery};
use crate::timeline::query::TimelineQuery;
use crate::timeline::row::Row;
use crate::ui::same::Same;
use gestures::{Drag, Touch};

/// What the rest of the page is told.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ViewerEvent {
    /// The pointer is on something, or the keyboard has selected it.
    /// `None`: on nothing.
    Described(Option<Rc<Description>>),
    /// An item was clicked: its details stay open; `None`: no more.
    Pinned(Option<Rc<Description>>),
    /// A range was selected, or no more.
    Range(Option<Span>),
    /// A place was clicked.
    Clicked(Place),
    /// The view or the selected item changed.
    Changed,
    /// Other marks than before are at hand.
    Marks,
    /// Other tracks than before are seen.
    Seen(std::ops::Range<usize>),
    /// The keyboard is on another track.
    Current(Option<TrackName>),
}

/// A place on the timeline, for the other panels to go to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) time: Nanos,
    pub(super) cap: Option<CapId>,
}

/// What the timeline shall show, because it was clicked in a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Goto {
    pub(super) span: Span,
    /// The track to scroll to; its item at that time is selected.
    pub(super) row: Option<Row>,
    /// Whether the view is zoomed so that the span is well seen, or only
    /// moved if the span is outside of it.
    pub(super) zoom: bool,
}

impl Goto {
    /// A moment.
    pub(super) const fn time(time: Nanos) -> Self {
        Self {
            span: Span::new(time, time),
            row: None,
            zoom: false,
        }
    }

    /// An item of a track.
    pub(super) const fn item(row: Row, span: Span) -> Self {
        Self {
            span,
            row: Some(row),
            zoom: false,
        }
    }
}

/// An item in words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Description {
    pub(super) row: Row,
    pub(super) class: Option<Class>,
    /// A name to stand out.
    pub(super) name: String,
    /// The rest, in a sentence.
    pub(super) text: String,
    /// What else is known, as soon as the worker has told it.
    pub(super) facts: Vec<Fact>,
    /// Whether the pointer is on it, so that a tip beside the pointer says it;
    /// not if its details stay open anyway.
    pub(super) tip: bool,
}

impl Description {
    /// All of it as text, a fact a line.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{} {}", self.name, self.text);
        for fact in &self.facts {
            text.push_str(&format!("\n{}: {}", fact.label, fact.text));
        }
        text
    }
}

/// Labels of threads and texts of messages that are known on the page.
#[derive(Default)]
struct Labels {
    known: FxHashMap<ThreadId, String>,
    asked: FxHashSet<ThreadId>,
    messages: FxHashMap<u32, String>,
    /// The names of spans of the program, and of the functions of a profile.
    overview: Rc<Overview>,
    asked_message: Option<u32>,
}

impl Names for Labels {
    fn label(&self, thread: ThreadId) -> Option<&str> {
        self.known.get(&thread).map(String::as_str)
    }

    fn message(&self, number: u32) -> Option<&str> {
        self.messages.get(&number).map(String::as_str)
    }

    fn span(&self, number: u32) -> Option<&str> {
        let span = self.overview.contents.spans.get(number as usize);
        span.map(|span| span.name.as_str())
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

/// A question whose answer is kept: one is in flight at a time.
struct Asked<Q, A> {
    in_flight: bool,
    about: Option<Q>,
    answer: A,
}

impl<Q, A: Default> Default for Asked<Q, A> {
    fn default() -> Self {
        Self {
            in_flight: false,
            about: None,
            answer: A::default(),
        }
    }
}

/// What the user points at and has chosen.
#[derive(Default)]
struct Focus {
    range: Option<Span>,
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
    /// Whether they stand at the left, because the item is at the right.
    card_left: bool,
}

/// The elements that the controller moves itself.
struct Elements {
    canvas: HtmlCanvasElement,
    painter: CanvasPainter,
    /// What holds the canvas and stays while the tracks scroll.
    picture: HtmlElement,
}

/// The timeline.
pub(super) struct Viewer {
    client: Client,
    emit: Rc<dyn Fn(ViewerEvent)>,
    elements: Option<Elements>,
    size: (f64, f64),
    layout: Same<Layout>,
    /// How many capabilities there are.
    caps: usize,
    scroll_px: f64,
    seen: std::ops::Range<usize>,
    view: Viewport,
    history: History<Span>,
    marks: Marks,
    overview: Marks,
    labels: Labels,
    notes: Rc<Notes>,
    focus: Focus,
    drag: Option<Drag>,
    moved: bool,
    touches: Vec<Touch>,
    long_press: Option<Timeout>,
    frame: Option<AnimationFrame>,
    timeline: Asked<TimelineQuery, ()>,
    minimap: Asked<TimelineQuery, ()>,
    details: Asked<DetailsQuery, Vec<Fact>>,
    flow: Asked<FlowQuery, Vec<Arrow>>,
    /// Goes up with each log, so that late answers are known.
    generation: u32,
}

/// A shared handle: listeners, frames and answers come back to it.
#[derive(Clone)]
pub(super) struct ViewerRef(Rc<RefCell<Viewer>>);

impl PartialEq for ViewerRef {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// Before anything is known of a log.
const NOTHING: Span = Span::new(Nanos(0), Nanos(1));

impl ViewerRef {
    pub(super) fn new(client: Client, emit: impl Fn(ViewerEvent) + 'static) -> Self {
        Self(Rc::new(RefCell::new(Viewer {
            client,
            emit: Rc::new(emit),
            elements: None,
            size: (0.0, 0.0),
            layout: Same::default(),
            caps: 1,
            scroll_px: 0.0,
            seen: 0..0,
            view: Viewport::new(NOTHING, 1000.0),
            history: History::default(),
            marks: Marks::default(),
            overview: Marks::default(),
            labels: Labels::default(),
            notes: Rc::default(),
            focus: Focus::default(),
            drag: None,
            moved: false,
            touches: Vec::new(),
            long_press: None,
            frame: None,
            timeline: Asked::default(),
            minimap: Asked::default(),
            details: Asked::default(),
            flow: Asked::default(),
            generation: 0,
        })))
    }

    /// Changes the viewer, then paints and tells.
    fn update<T>(&self, change: impl FnOnce(&mut Viewer) -> (T, Vec<ViewerEvent>)) -> T {
        let (result, events, emit) = {
            let mut viewer = self.0.borrow_mut();
            let (result, mut events) = change(&mut viewer);
            events.extend(viewer.seen_changed());
            (result, events, Rc::clone(&viewer.emit))
        };
        self.redraw();
        events.into_iter().for_each(|event| emit(event));
        self.ask_about_item();
        result
    }

    /// Paints with the next frame.
    pub(super) fn redraw(&self) {
        let mut viewer = self.0.borrow_mut();
        if viewer.frame.is_none() {
            let this = self.clone();
            viewer.frame = Some(request_animation_frame(move |_| this.draw()));
        }
    }

    fn draw(&self) {
        let mut viewer = self.0.borrow_mut();
        viewer.frame = None;
        viewer.paint();
        drop(viewer);
        self.ask_marks();
        self.ask_minimap();
    }

    /// Gives the timeline a canvas, and the element around it.
    pub(super) fn attach(&self, canvas: HtmlCanvasElement, picture: HtmlElement) {
        let painter = CanvasPainter::new(&canvas);
        self.0.borrow_mut().elements = painter.map(|painter| Elements {
            canvas,
            painter,
            picture,
        });
        self.redraw();
    }

    /// The canvas has another size, in CSS pixels.
    pub(super) fn resize(&self, size: (f64, f64)) {
        self.update(|viewer| {
            viewer.size = size;
            viewer.view.resize(size.0 - labels_px(size.0));
            ((), Vec::new())
        });
    }

    /// The tracks were scrolled.
    pub(super) fn scroll(&self, scroll_px: f64) {
        self.update(|viewer| {
            viewer.scroll_px = scroll_px;
            let events = viewer.hover();
            ((), events)
        });
    }

    /// Another log, or none.
    pub(super) fn reset(&self) {
        self.update(|viewer| {
            viewer.generation += 1;
            viewer.timeline = Asked::default();
            viewer.minimap = Asked::default();
            viewer.details = Asked::default();
            viewer.flow = Asked::default();
            viewer.marks = Marks::default();
            viewer.overview = Marks::default();
            viewer.labels = Labels::default();
            viewer.layout = Same::default();
            viewer.focus = Focus::default();
            viewer.history = History::default();
            let width = viewer.view.width_px();
            viewer.view = Viewport::new(NOTHING, width);
            (
                (),
                vec![ViewerEvent::Range(None), ViewerEvent::Pinned(None)],
            )
        });
    }

    /// More is known of the log: its span, its capabilities, labels of threads.
    pub(super) fn set_log(
        &self,
        span: Span,
        overview: Rc<Overview>,
        labels: Vec<(ThreadId, String)>,
    ) {
        self.update(|viewer| {
            viewer.view.set_log(span);
            viewer.caps = overview.caps.len();
            viewer.labels.known.extend(labels);
            viewer.labels.overview = overview;
            // What was asked before may have another answer now.
            viewer.timeline.about = None;
            viewer.minimap.about = None;
            ((), Vec::new())
        });
    }

    /// Other tracks, or in another order.
    pub(super) fn set_layout(&self, layout: Same<Layout>) {
        self.update(|viewer| {
            viewer.layout = layout;
            let events = viewer.hover();
            ((), events)
        });
    }

    /// The time in view; `None` if that is all of the log.
    pub(super) fn visible(&self) -> Option<Span> {
        let viewer = self.0.borrow();
        (!viewer.view.is_fit()).then(|| viewer.view.span())
    }

    /// The selected range.
    pub(super) fn range(&self) -> Option<Span> {
        self.0.borrow().focus.range
    }

    /// The selected item.
    pub(super) fn selected(&self) -> Option<(Row, Nanos)> {
        let viewer = self.0.borrow();
        let item = viewer.focus.selected.as_ref();
        item.map(|item| (item.row, item.span.start))
    }

    /// The notes that are shown.
    pub(super) fn set_notes(&self, notes: Rc<Notes>) {
        let changed = std::mem::replace(&mut self.0.borrow_mut().notes, Rc::clone(&notes)) != notes;
        if changed {
            self.redraw();
        }
    }

    /// The moment that was clicked or gone to last.
    pub(super) fn cursor(&self) -> Option<Nanos> {
        self.0.borrow().focus.cursor
    }

    /// The moment that is meant: the pointer's, or else the cursor if it is in
    /// view, or else the middle of the view.
    pub(super) fn moment(&self) -> Nanos {
        let viewer = self.0.borrow();
        let view = viewer.view.span();
        let cursor = viewer.focus.cursor;
        let seen = cursor.filter(|time| (view.start..=view.end).contains(time));
        let middle = Nanos(view.start.0 + view.duration().0 / 2);
        viewer.focus.pointer.or(seen).unwrap_or(middle)
    }

    /// The track that the keyboard is on.
    pub(super) fn track(&self) -> Option<TrackName> {
        self.0.borrow().focus.track.clone()
    }

    /// The description of the item that is pointed at or selected.
    pub(super) fn description(&self) -> Option<Rc<Description>> {
        self.0.borrow().description()
    }
}
