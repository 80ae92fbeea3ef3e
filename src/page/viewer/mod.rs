//! Timeline outside Yew: browser events update its controller, an animation frame paints it, and the worker
//! answers its queries. Only settled changes are passed to the rest of the page.

mod ask;
mod pair;
pub(super) mod picture;

use std::cell::RefCell;
use std::rc::Rc;

use gloo_render::{AnimationFrame, request_animation_frame};
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{HtmlCanvasElement, HtmlElement};

use super::canvas::CanvasPainter;
use super::client::LogClient;
use super::dom::set_style;
use crate::ptr_eq::PtrEq;
use analysis::timeline::flow::FlowQuery;
use ask::QueryState;
use eventlog::ids::ThreadId;
use model::time::Interval;
use pair::Partner;
use picture::TrackLayer;
use session::Overview;
use session::tracks::TimelineQuery;
use session::tracks::details::DetailsQuery;
use session::tracks::name::TrackName;
use views::control::gestures::LONG_PRESS_MS;
pub(super) use views::control::gestures::{Press, Wheel};
pub(super) use views::control::stepping::VisibleItem;
pub(super) use views::control::{
    ClickPosition, Control, Description, NavigationTarget, TimelineEvent,
};
use views::notes::Notes;
use views::timeline::TOP_PX;
use views::timeline::layout::Layout;

/// DOM elements that the timeline updates directly.
struct Elements {
    canvas: HtmlCanvasElement,
    painter: CanvasPainter,
    track_layer: TrackLayer,
    /// Container of the canvas, which stays in place while the tracks scroll, and the lengths last set on it.
    picture: HtmlElement,
    picture_px: Option<[f64; 3]>,
    /// Container of the tip, and the pointer position for which it was last placed.
    tip_container: HtmlElement,
    tip_placed_at: Option<(f64, f64)>,
}

/// State of one timeline.
struct Viewer {
    /// Identifies the timeline among those on the page.
    number: ViewerNumber,
    client: LogClient,
    emit: Rc<dyn Fn(ViewerNumber, TimelineEvent)>,
    /// Timeline that is synchronized with this one.
    partner: Option<Partner>,
    control: Control,
    notes: Rc<Notes>,
    elements: Option<Elements>,
    /// Timeout that detects a long press.
    long_press: Option<Timeout>,
    frame: Option<AnimationFrame>,
    timeline: QueryState<TimelineQuery>,
    minimap: QueryState<TimelineQuery>,
    details: QueryState<DetailsQuery>,
    flow: QueryState<FlowQuery>,
}

/// Identifies a timeline among those on the page; the first has 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ViewerNumber(pub(super) u32);

impl ViewerNumber {
    /// Returns the id of an element that each timeline has.
    pub(super) fn id(self, name: &str) -> String {
        match self.0 {
            0 => name.to_owned(),
            number => format!("{name}-of-{number}"),
        }
    }
}

/// Shared handle on a timeline, held by listeners, frame callbacks and pending answers.
#[derive(Clone, PartialEq)]
pub(super) struct ViewerRef(PtrEq<RefCell<Viewer>>);

impl ViewerRef {
    pub(super) fn new(
        number: ViewerNumber,
        client: LogClient,
        emit: impl Fn(ViewerNumber, TimelineEvent) + 'static,
    ) -> Self {
        Self(PtrEq::new(RefCell::new(Viewer {
            number,
            client,
            emit: Rc::new(emit),
            partner: None,
            control: Control::default(),
            notes: Rc::default(),
            elements: None,
            long_press: None,
            frame: None,
            timeline: QueryState::default(),
            minimap: QueryState::default(),
            details: QueryState::default(),
            flow: QueryState::default(),
        })))
    }

    /// Identifies the timeline among those on the page.
    pub(super) fn number(&self) -> ViewerNumber {
        self.0.borrow().number
    }

    /// Reads from the controller.
    pub(super) fn read<T>(&self, what: impl FnOnce(&Control) -> T) -> T {
        what(&self.0.borrow().control)
    }

    /// Updates the controller, then repaints, emits events and sends queries; the partner follows.
    pub(super) fn act<I>(&self, what: impl FnOnce(&mut Control) -> I)
    where
        I: IntoIterator<Item = TimelineEvent>,
    {
        self.act_alone(what);
        self.sync_partner();
    }

    /// Like [`act`](Self::act), for an update that emits no events.
    pub(super) fn edit(&self, what: impl FnOnce(&mut Control)) {
        self.act(|control| {
            what(control);
            None
        });
    }

    fn act_alone<I>(&self, what: impl FnOnce(&mut Control) -> I)
    where
        I: IntoIterator<Item = TimelineEvent>,
    {
        let (events, emit, number) = {
            let mut viewer = self.0.borrow_mut();
            let mut events: Vec<TimelineEvent> = what(&mut viewer.control).into_iter().collect();
            events.extend(viewer.control.seen_changed());
            (events, Rc::clone(&viewer.emit), viewer.number)
        };
        self.redraw();
        for event in events {
            match event {
                TimelineEvent::Scroll(px) => self.scroll_tracks(px),
                TimelineEvent::Hold(press) => self.wait_for_long_press(press),
                event => emit(number, event),
            }
        }
        self.ask_about_item();
    }

    /// Requests a repaint in the next animation frame.
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

    /// Attaches the canvas, its container and the container of the tip.
    pub(super) fn attach(
        &self,
        canvas: HtmlCanvasElement,
        picture: HtmlElement,
        tip_container: HtmlElement,
    ) {
        let painter = CanvasPainter::new(&canvas);
        self.0.borrow_mut().elements = painter.map(|painter| Elements {
            canvas,
            painter,
            track_layer: TrackLayer::default(),
            picture,
            picture_px: None,
            tip_container,
            tip_placed_at: None,
        });
        self.fit_scroller();
        self.redraw();
    }

    /// Sets the height of the scrollable element to that of all tracks. This must precede scrolling to a track,
    /// because the browser limits scrolling to that height.
    fn fit_scroller(&self) {
        let viewer = self.0.borrow();
        let picture = viewer.elements.as_ref().map(|elements| &elements.picture);
        let spacer = picture.and_then(|picture| picture.parent_element());
        if let Some(spacer) = spacer.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
            let height = TOP_PX + viewer.control.tracks_px();
            set_style(&spacer, "height", &format!("{height}px"));
        }
    }

    /// Replaces the log, or removes it.
    pub(super) fn reset(&self, client: LogClient) {
        {
            let mut viewer = self.0.borrow_mut();
            viewer.client = client;
            viewer.timeline = QueryState::default();
            viewer.minimap = QueryState::default();
            viewer.details = QueryState::default();
            viewer.flow = QueryState::default();
        }
        self.act(Control::reset);
    }

    /// Updates the data about the log: span, overview and thread labels.
    pub(super) fn set_log(
        &self,
        span: Interval,
        overview: Rc<Overview>,
        labels: Vec<(ThreadId, String)>,
    ) {
        {
            let mut viewer = self.0.borrow_mut();
            // Earlier queries may have new answers now.
            viewer.timeline.forget();
            viewer.minimap.forget();
            viewer.details.forget();
            viewer.flow.forget();
        }
        self.edit(|control| control.set_log(span, overview, labels));
    }

    /// Replaces the track layout.
    pub(super) fn set_layout(&self, layout: &PtrEq<Layout>) {
        self.act(|control| control.set_layout(layout.shared()));
        self.fit_scroller();
    }

    /// Replaces the displayed notes.
    pub(super) fn set_notes(&self, notes: &Rc<Notes>) {
        self.0.borrow_mut().notes = Rc::clone(notes);
        self.redraw();
    }

    /// Moves the keyboard focus to a track.
    pub(super) fn set_track(&self, name: &TrackName) {
        self.act(|control| control.set_track(name));
    }

    /// Handles a move of the pointer or a finger.
    pub(super) fn point(&self, id: i32, x: f64, y: f64) {
        self.act(|control| control.point(id, x, y));
        let viewer = self.0.borrow();
        if let Some(elements) = &viewer.elements {
            let shape = viewer.control.pointer_shape(x, y);
            set_style(&elements.canvas, "cursor", shape);
        }
    }

    /// Handles the release of a button or finger.
    pub(super) fn release(&self, id: i32, x: f64, y: f64) {
        self.0.borrow_mut().long_press = None;
        self.act(|control| control.release(id, x, y));
    }

    /// Handles a canceled touch: the browser scrolls instead.
    pub(super) fn abort(&self, id: i32) {
        self.0.borrow_mut().long_press = None;
        self.edit(|control| control.abort(id));
    }

    /// Starts the timeout after which a resting finger selects a range.
    fn wait_for_long_press(&self, press: Press) {
        let this = self.clone();
        let timeout = Timeout::new(LONG_PRESS_MS, move || {
            this.edit(|control| control.long_press(press));
        });
        self.0.borrow_mut().long_press = Some(timeout);
    }

    /// Handles a wheel event; returns false if the timeline does not use it.
    pub(super) fn wheel(&self, wheel: Wheel) -> bool {
        let events = self.0.borrow_mut().control.wheel(wheel);
        let taken = events.is_some();
        self.act(|_| events.unwrap_or_default());
        taken
    }

    /// Returns the track at a vertical window coordinate.
    pub(super) fn track_at_client(&self, client_y: f64) -> Option<usize> {
        let viewer = self.0.borrow();
        let elements = viewer.elements.as_ref()?;
        let top = elements.picture.get_bounding_client_rect().top();
        viewer.control.track_at(client_y - top)
    }

    /// Scrolls the tracks to a vertical position.
    fn scroll_tracks(&self, to: f64) {
        let viewer = self.0.borrow();
        let canvas = viewer.elements.as_ref().map(|elements| &elements.canvas);
        let scroller = canvas.and_then(|canvas| canvas.closest(".timeline").ok().flatten());
        drop(viewer);
        if let Some(scroller) = scroller {
            scroller.set_scroll_top(to as i32);
        }
    }
}
