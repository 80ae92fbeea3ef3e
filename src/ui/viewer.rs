//! The timeline's controller. It lives outside of Yew: gestures change it,
//! one animation frame paints it, and only what has settled is told to the
//! rest of the page.

mod model;

use std::cell::RefCell;
use std::rc::Rc;

use gloo_render::{AnimationFrame, request_animation_frame};
use rustc_hash::{FxHashMap, FxHashSet};
use web_sys::HtmlCanvasElement;

use super::canvas::CanvasPainter;
use super::client::Client;
use crate::automata::Span;
use crate::ids::{CapId, Nanos, ThreadId};
use crate::notes::Notes;
use crate::protocol::{Answer, Question};
use crate::scene::item::{Item, Marks, Names};
use crate::scene::timeline::{RULER_PX, Track, labels_px, placed, total_height};
use crate::scene::viewport::Viewport;
use crate::timeline::class::Class;
use crate::timeline::query::{Row, TimelineQuery};
use crate::wire;

/// What the rest of the page is told.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ViewerEvent {
    /// The pointer is on something, or the keyboard has selected it: a
    /// colour, a name, and the rest in words. `None`: on nothing.
    Described(Option<Description>),
    /// A range was selected, or no more.
    Range(Option<Span>),
    /// A place was clicked.
    Clicked(Place),
    /// The view or the selected item changed.
    Changed,
    /// The tracks have another height.
    Height(f64),
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
}

/// An item in words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Description {
    pub(super) class: Option<Class>,
    pub(super) name: String,
    pub(super) text: String,
}

/// Labels of threads and texts of messages that are known on the page.
#[derive(Default)]
struct Labels {
    known: FxHashMap<ThreadId, String>,
    asked: FxHashSet<ThreadId>,
    messages: FxHashMap<u32, String>,
    asked_message: Option<u32>,
}

impl Names for Labels {
    fn label(&self, thread: ThreadId) -> Option<&str> {
        self.known.get(&thread).map(String::as_str)
    }

    fn message(&self, number: u32) -> Option<&str> {
        self.messages.get(&number).map(String::as_str)
    }
}

/// What a drag does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Drag {
    /// Selects from that time on.
    Select { from: Nanos, x: f64 },
    /// Moves the view.
    Pan { x: f64 },
    /// Moves one edge of the range; the other stays.
    Edge { fixed: Nanos },
}

/// The timeline.
pub(super) struct Viewer {
    client: Client,
    emit: Rc<dyn Fn(ViewerEvent)>,
    canvas: Option<(HtmlCanvasElement, CanvasPainter)>,
    size: (f64, f64),
    tracks: Vec<Track>,
    scroll_px: f64,
    view: Viewport,
    marks: Marks,
    labels: Labels,
    range: Option<Span>,
    notes: Rc<Notes>,
    /// The moment that panels and timeline have in common.
    cursor: Option<Nanos>,
    selected: Option<Item>,
    hovered: Option<Item>,
    pointer: Option<Nanos>,
    /// Where the pointer is on the canvas, in CSS pixels.
    pointer_at: Option<(f64, f64)>,
    drag: Option<Drag>,
    moved: bool,
    frame: Option<AnimationFrame>,
    in_flight: bool,
    asked: Option<TimelineQuery>,
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

/// How far a press may move and still be a click, in pixels.
const CLICK_PX: f64 = 4.0;
/// How near an edge of the range can be taken, in pixels.
const EDGE_PX: f64 = 5.0;
/// How near a mark is hit, in pixels.
const HIT_PX: f64 = 2.5;
/// The same for messages, whose marks are wider than their time.
const MESSAGE_HIT_PX: f64 = 5.0;

impl ViewerRef {
    pub(super) fn new(client: Client, emit: impl Fn(ViewerEvent) + 'static) -> Self {
        let nothing = Span::new(Nanos(0), Nanos(1));
        Self(Rc::new(RefCell::new(Viewer {
            client,
            emit: Rc::new(emit),
            canvas: None,
            size: (0.0, 0.0),
            tracks: Vec::new(),
            scroll_px: 0.0,
            view: Viewport::new(nothing, 1000.0),
            marks: Marks::default(),
            labels: Labels::default(),
            range: None,
            notes: Rc::default(),
            cursor: None,
            selected: None,
            hovered: None,
            pointer: None,
            pointer_at: None,
            drag: None,
            moved: false,
            frame: None,
            in_flight: false,
            asked: None,
            generation: 0,
        })))
    }

    /// Changes the viewer, then paints and tells.
    fn update<T>(&self, change: impl FnOnce(&mut Viewer) -> (T, Vec<ViewerEvent>)) -> T {
        let (result, events, emit) = {
            let mut viewer = self.0.borrow_mut();
            let (result, events) = change(&mut viewer);
            (result, events, Rc::clone(&viewer.emit))
        };
        self.redraw();
        events.into_iter().for_each(|event| emit(event));
        self.ask_message();
        result
    }

    /// Asks for the text of the message that is pointed at or selected.
    fn ask_message(&self) {
        let (client, number) = {
            let mut viewer = self.0.borrow_mut();
            let Some(number) = viewer.unknown_message() else {
                return;
            };
            viewer.labels.asked_message = Some(number);
            (viewer.client.clone(), number)
        };
        let this = self.clone();
        client.ask(Question::Message(number), move |answer, _| {
            if let Answer::Message(Some(message)) = answer {
                this.update(|viewer| {
                    viewer.labels.messages.insert(number, message.text);
                    ((), vec![ViewerEvent::Described(viewer.description())])
                });
            }
        });
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
    }

    /// Asks for the marks in view, unless they are there or an answer is on
    /// its way: then the next frame asks.
    fn ask_marks(&self) {
        let (client, query, generation) = {
            let mut viewer = self.0.borrow_mut();
            let query = viewer.query();
            if viewer.in_flight || query.rows.is_empty() || viewer.asked.as_ref() == Some(&query) {
                return;
            }
            viewer.in_flight = true;
            viewer.asked = Some(query.clone());
            (viewer.client.clone(), query, viewer.generation)
        };
        let this = self.clone();
        let asked = query.clone();
        client.ask(Question::Timeline(query), move |answer, columns| {
            {
                let mut viewer = this.0.borrow_mut();
                if viewer.generation != generation {
                    return;
                }
                viewer.in_flight = false;
                let reply = columns.as_ref().and_then(wire::timeline_reply);
                if let (Answer::Timeline, Some(reply)) = (answer, reply) {
                    viewer.marks = Marks {
                        view: Some(asked.view),
                        rows: asked.rows,
                        reply,
                    };
                }
            }
            this.ask_labels();
            // Something else may be under the pointer now.
            this.update(|viewer| ((), viewer.hover()));
        });
    }

    /// Asks for the labels of threads whose runs are wide enough to be named.
    fn ask_labels(&self) {
        let (client, unknown) = {
            let mut viewer = self.0.borrow_mut();
            let unknown = viewer.unknown_threads();
            if unknown.is_empty() {
                return;
            }
            viewer.labels.asked.extend(&unknown);
            (viewer.client.clone(), unknown)
        };
        let this = self.clone();
        client.ask(Question::Labels(unknown), move |answer, _| {
            if let Answer::Labels(labels) = answer {
                this.0.borrow_mut().labels.known.extend(labels);
                this.redraw();
            }
        });
    }

    /// Gives the timeline a canvas.
    pub(super) fn attach(&self, canvas: HtmlCanvasElement) {
        let painter = CanvasPainter::new(&canvas);
        self.0.borrow_mut().canvas = painter.map(|painter| (canvas, painter));
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
            ((), Vec::new())
        });
    }

    /// Another log, or none.
    pub(super) fn reset(&self) {
        self.update(|viewer| {
            viewer.generation += 1;
            viewer.in_flight = false;
            viewer.asked = None;
            viewer.marks = Marks::default();
            viewer.labels = Labels::default();
            viewer.tracks.clear();
            viewer.range = None;
            viewer.cursor = None;
            viewer.selected = None;
            viewer.hovered = None;
            let width = viewer.view.width_px();
            viewer.view = Viewport::new(Span::new(Nanos(0), Nanos(1)), width);
            ((), vec![ViewerEvent::Range(None)])
        });
    }

    /// More is known of the log: its span, its tracks, labels of threads.
    pub(super) fn set_log(&self, span: Span, tracks: Vec<Track>, labels: Vec<(ThreadId, String)>) {
        self.update(|viewer| {
            viewer.view.set_log(span);
            let height = RULER_PX + total_height(&tracks);
            viewer.tracks = tracks;
            viewer.labels.known.extend(labels);
            // What was asked before may have another answer now.
            viewer.asked = None;
            ((), vec![ViewerEvent::Height(height)])
        });
    }

    /// The time in view; `None` if that is all of the log.
    pub(super) fn visible(&self) -> Option<Span> {
        let viewer = self.0.borrow();
        (!viewer.view.is_fit()).then(|| viewer.view.span())
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
        self.0.borrow().cursor
    }

    /// The moment that is meant: the pointer's, or else the cursor if it is in
    /// view, or else the middle of the view.
    pub(super) fn moment(&self) -> Nanos {
        let viewer = self.0.borrow();
        let view = viewer.view.span();
        let cursor = viewer.cursor;
        let seen = cursor.filter(|time| (view.start..=view.end).contains(time));
        let middle = Nanos(view.start.0 + view.duration().0 / 2);
        viewer.pointer.or(seen).unwrap_or(middle)
    }

    /// The selected range.
    pub(super) fn range(&self) -> Option<Span> {
        self.0.borrow().range
    }

    /// The selected item.
    pub(super) fn selected(&self) -> Option<(Row, Nanos)> {
        let viewer = self.0.borrow();
        viewer
            .selected
            .as_ref()
            .map(|item| (item.row, item.span.start))
    }

    /// Restores what a link says.
    pub(super) fn restore(
        &self,
        visible: Option<Span>,
        range: Option<Span>,
        selected: Option<(Row, Nanos)>,
    ) {
        self.update(|viewer| {
            match visible {
                Some(span) => viewer.view.show_exactly(span),
                None => viewer.view.fit(),
            }
            viewer.range = range;
            ((), vec![ViewerEvent::Range(range), ViewerEvent::Changed])
        });
        if let Some((row, time)) = selected {
            self.select_when_known(row, time, 20);
        }
    }

    /// Selects an item as soon as the marks that it is among have come.
    fn select_when_known(&self, row: Row, time: Nanos, tries: u32) {
        let found = self.0.borrow().marks.hit(row, time, Nanos(0));
        if let Some(item) = found {
            self.update(|viewer| ((), viewer.select(Some(item))));
        } else if tries > 0 {
            let this = self.clone();
            gloo_timers::callback::Timeout::new(100, move || {
                this.select_when_known(row, time, tries - 1);
            })
            .forget();
        }
    }

    /// Shows what was clicked in a panel.
    pub(super) fn goto(&self, goto: Goto) {
        let Goto { span, row, zoom } = goto;
        self.update(|viewer| {
            viewer.show(span, zoom);
            viewer.cursor = Some(span.start);
            ((), vec![ViewerEvent::Changed])
        });
        if let Some(row) = row {
            self.scroll_to(row);
            let view = self.0.borrow().view.span();
            let time = span.start.max(view.start).min(span.end);
            self.select_when_known(row, time, 20);
        }
    }

    /// Scrolls a track into view.
    fn scroll_to(&self, row: Row) {
        let viewer = self.0.borrow();
        let track = placed(&viewer.tracks).find(|(_, track)| track.row == Some(row));
        let (Some((top, track)), Some((canvas, _))) = (track, &viewer.canvas) else {
            return;
        };
        let (scroll_px, bottom) = (viewer.scroll_px, viewer.size.1 - RULER_PX);
        let scroller = canvas.closest(".timeline").ok().flatten();
        let hidden = top < scroll_px || top + track.height() > scroll_px + bottom;
        drop(viewer);
        if let Some(scroller) = scroller.filter(|_| hidden) {
            scroller.set_scroll_top((top - bottom / 3.0).max(0.0) as i32);
        }
    }

    /// Shows all of the log.
    pub(super) fn fit(&self) {
        self.gesture(Viewport::fit);
    }

    /// Shows the selected range or item.
    pub(super) fn show_selection(&self) {
        let viewer = self.0.borrow();
        let span = viewer
            .range
            .or(viewer.selected.as_ref().map(|item| item.span));
        drop(viewer);
        if let Some(span) = span {
            self.gesture(|view| view.show(span));
        }
    }

    /// Zooms around the pointer, or the middle.
    pub(super) fn zoom(&self, factor: f64) {
        let viewer = self.0.borrow();
        let middle = viewer.view.width_px() / 2.0;
        let x = viewer.pointer.map_or(middle, |time| viewer.view.x_of(time));
        let x = if (0.0..=viewer.view.width_px()).contains(&x) {
            x
        } else {
            middle
        };
        drop(viewer);
        self.gesture(|view| view.zoom(factor, x));
    }

    /// Moves the view by a part of its width.
    pub(super) fn pan(&self, part: f64) {
        self.gesture(|view| view.pan(part * view.width_px()));
    }

    fn gesture(&self, change: impl FnOnce(&mut Viewport)) {
        self.update(|viewer| {
            change(&mut viewer.view);
            if let Some((x, _)) = viewer.pointer_at {
                let labels = labels_px(viewer.size.0);
                viewer.pointer = (x >= labels).then(|| viewer.view.time_at(x - labels));
            }
            let mut events = viewer.hover();
            events.push(ViewerEvent::Changed);
            ((), events)
        });
    }

    /// A turn of the wheel at a place of the canvas; false if it is not for
    /// the timeline but scrolls the tracks.
    pub(super) fn wheel(&self, x: f64, dx: f64, dy: f64, shift: bool, ctrl: bool) -> bool {
        let labels = labels_px(self.0.borrow().size.0);
        if x < labels || (shift && !ctrl && dx == 0.0) {
            return false;
        }
        if dx.abs() > dy.abs() {
            self.gesture(|view| view.pan(dx));
        } else {
            let speed = if ctrl { 0.01 } else { 0.0022 };
            self.gesture(|view| view.zoom((-dy * speed).exp(), x - labels));
        }
        true
    }

    /// A button or finger goes down. `pan` if a drag shall move the view.
    pub(super) fn press(&self, x: f64, y: f64, pan: bool) {
        self.update(|viewer| {
            let labels = labels_px(viewer.size.0);
            let time = viewer.view.time_at(x - labels);
            viewer.moved = false;
            viewer.drag = if x < labels {
                None
            } else if pan || y < RULER_PX {
                Some(Drag::Pan { x })
            } else if let Some(fixed) = viewer.opposite_edge(x) {
                Some(Drag::Edge { fixed })
            } else {
                Some(Drag::Select { from: time, x })
            };
            ((), Vec::new())
        });
    }

    /// The pointer moves.
    pub(super) fn point(&self, x: f64, y: f64) {
        self.update(|viewer| ((), viewer.moved_to(x, y)));
    }

    /// The pointer leaves.
    pub(super) fn leave(&self) {
        self.update(|viewer| {
            viewer.pointer = None;
            viewer.pointer_at = None;
            viewer.hovered = None;
            ((), vec![ViewerEvent::Described(viewer.description())])
        });
    }

    /// The button or finger goes up.
    pub(super) fn release(&self, x: f64, y: f64) {
        self.update(|viewer| {
            let drag = viewer.drag.take();
            let click = drag.is_some() && !viewer.moved;
            let mut events = vec![ViewerEvent::Changed];
            if click {
                events.extend(viewer.place_at(x, y).map(ViewerEvent::Clicked));
                let item = viewer.item_at(x, y);
                if item.is_none() && viewer.range.take().is_some() {
                    events.push(ViewerEvent::Range(None));
                }
                events.extend(viewer.select(item));
            }
            ((), events)
        });
    }

    /// Zooms to what was clicked twice, or shows all.
    pub(super) fn double_click(&self, x: f64, y: f64) {
        let item = self.0.borrow().item_at(x, y);
        match item {
            Some(item) => self.gesture(|view| view.show(item.span)),
            None => self.fit(),
        }
    }

    /// Undoes one thing: a drag, the selected item, the range. False if there
    /// was nothing.
    pub(super) fn escape(&self) -> bool {
        self.update(|viewer| {
            if viewer.drag.take().is_some() {
                return (true, Vec::new());
            }
            if viewer.selected.is_some() {
                return (true, viewer.select(None));
            }
            if viewer.range.take().is_some() {
                return (true, vec![ViewerEvent::Range(None), ViewerEvent::Changed]);
            }
            (false, Vec::new())
        })
    }

    /// Drops the range.
    pub(super) fn clear_range(&self) {
        self.update(|viewer| {
            viewer.range = None;
            ((), vec![ViewerEvent::Range(None), ViewerEvent::Changed])
        });
    }

    /// Selects the range of the selected item.
    pub(super) fn select_item_range(&self) {
        self.update(|viewer| {
            let range = viewer.selected.as_ref().map(|item| item.span);
            viewer.range = range.or(viewer.range);
            (
                (),
                vec![ViewerEvent::Range(viewer.range), ViewerEvent::Changed],
            )
        });
    }

    /// Goes to the next (or previous) item of the selected item's track.
    pub(super) fn step(&self, forward: bool) {
        self.update(|viewer| ((), viewer.step(forward)));
    }

    /// Goes to the track below (or above) the selected item's; the result is
    /// how far down the track stands.
    pub(super) fn step_track(&self, down: bool) {
        self.update(|viewer| ((), viewer.step_track(down)));
    }
}
