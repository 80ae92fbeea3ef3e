//! The timeline outside of Yew: events of the browser change its controller,
//! one animation frame paints it, the worker is asked what it needs, and only
//! what has settled is told to the rest of the page.

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
use ask::Asked;
use eventlog::ids::ThreadId;
use model::time::Interval;
use pair::Partner;
use picture::Tracks;
use session::Overview;
use session::tracks::TimelineQuery;
use session::tracks::details::DetailsQuery;
use session::tracks::name::TrackName;
use views::control::gestures::LONG_PRESS_MS;
pub(super) use views::control::gestures::{Press, Wheel};
pub(super) use views::control::walk::VisibleItem;
pub(super) use views::control::{Control, Description, Goto, Place, TimelineEvent};
use views::notes::Notes;
use views::timeline::TOP_PX;
use views::timeline::layout::Layout;

/// The elements that the timeline moves itself.
struct Elements {
    canvas: HtmlCanvasElement,
    painter: CanvasPainter,
    tracks: Tracks,
    /// What holds the canvas and stays while the tracks scroll, and the lengths
    /// that it was told.
    picture: HtmlElement,
    picture_px: Option<[f64; 3]>,
    /// What holds the tip, and where on the picture the pointer was when it was placed.
    pointed: HtmlElement,
    pointed_at: Option<(f64, f64)>,
}

/// The timeline.
struct Viewer {
    /// Tells it from another one on the page.
    number: ViewerNumber,
    client: LogClient,
    emit: Rc<dyn Fn(ViewerNumber, TimelineEvent)>,
    /// What shows the same as it.
    partner: Option<Partner>,
    control: Control,
    notes: Rc<Notes>,
    elements: Option<Elements>,
    /// Runs while a finger rests.
    long_press: Option<Timeout>,
    frame: Option<AnimationFrame>,
    timeline: Asked<TimelineQuery>,
    minimap: Asked<TimelineQuery>,
    details: Asked<DetailsQuery>,
    flow: Asked<FlowQuery>,
}

/// Tells the timelines of a page from each other; the first has 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ViewerNumber(pub(super) u32);

impl ViewerNumber {
    /// The id of an element of it, which another timeline has as well.
    pub(super) fn id(self, name: &str) -> String {
        match self.0 {
            0 => name.to_owned(),
            number => format!("{name}-of-{number}"),
        }
    }
}

/// A shared handle: listeners, frames and answers come back to it.
#[derive(Clone)]
pub(super) struct ViewerRef(Rc<RefCell<Viewer>>);

impl PartialEq for ViewerRef {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl ViewerRef {
    pub(super) fn new(
        number: ViewerNumber,
        client: LogClient,
        emit: impl Fn(ViewerNumber, TimelineEvent) + 'static,
    ) -> Self {
        Self(Rc::new(RefCell::new(Viewer {
            number,
            client,
            emit: Rc::new(emit),
            partner: None,
            control: Control::default(),
            notes: Rc::default(),
            elements: None,
            long_press: None,
            frame: None,
            timeline: Asked::default(),
            minimap: Asked::default(),
            details: Asked::default(),
            flow: Asked::default(),
        })))
    }

    /// Tells it from another one on the page.
    pub(super) fn number(&self) -> ViewerNumber {
        self.0.borrow().number
    }

    /// Reads something of the controller.
    pub(super) fn read<T>(&self, what: impl FnOnce(&Control) -> T) -> T {
        what(&self.0.borrow().control)
    }

    /// Has the controller do something, then paints, tells and asks; a partner shows the
    /// same.
    pub(super) fn act<I>(&self, what: impl FnOnce(&mut Control) -> I)
    where
        I: IntoIterator<Item = TimelineEvent>,
    {
        self.act_alone(what);
        self.lead();
    }

    fn act_alone<I>(&self, what: impl FnOnce(&mut Control) -> I)
    where
        I: IntoIterator<Item = TimelineEvent>,
    {
        let (told, emit, number) = {
            let mut viewer = self.0.borrow_mut();
            let mut told: Vec<TimelineEvent> = what(&mut viewer.control).into_iter().collect();
            told.extend(viewer.control.seen_changed());
            (told, Rc::clone(&viewer.emit), viewer.number)
        };
        self.redraw();
        for one in told {
            match one {
                TimelineEvent::Scroll(px) => self.scroll_tracks(px),
                TimelineEvent::Hold(press) => self.wait_for_long_press(press),
                one => emit(number, one),
            }
        }
        self.ask_about_item();
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

    /// Gives the timeline a canvas, the element around it, and the one around
    /// the tip.
    pub(super) fn attach(
        &self,
        canvas: HtmlCanvasElement,
        picture: HtmlElement,
        pointed: HtmlElement,
    ) {
        let painter = CanvasPainter::new(&canvas);
        self.0.borrow_mut().elements = painter.map(|painter| Elements {
            canvas,
            painter,
            tracks: Tracks::default(),
            picture,
            picture_px: None,
            pointed,
            pointed_at: None,
        });
        self.fit_scroller();
        self.redraw();
    }

    /// Makes what scrolls as high as all tracks, before anything is scrolled to one of them: the
    /// browser scrolls no further than that.
    fn fit_scroller(&self) {
        let viewer = self.0.borrow();
        let picture = viewer.elements.as_ref().map(|elements| &elements.picture);
        let spacer = picture.and_then(|picture| picture.parent_element());
        if let Some(spacer) = spacer.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
            let height = TOP_PX + viewer.control.tracks_px();
            set_style(&spacer, "height", &format!("{height}px"));
        }
    }

    /// Another log, or none.
    pub(super) fn reset(&self, client: LogClient) {
        {
            let mut viewer = self.0.borrow_mut();
            viewer.client = client;
            viewer.timeline = Asked::default();
            viewer.minimap = Asked::default();
            viewer.details = Asked::default();
            viewer.flow = Asked::default();
        }
        self.act(Control::reset);
    }

    /// More is known of the log: its span, its capabilities, labels of threads.
    pub(super) fn set_log(
        &self,
        span: Interval,
        overview: Rc<Overview>,
        labels: Vec<(ThreadId, String)>,
    ) {
        {
            let mut viewer = self.0.borrow_mut();
            // What was asked before may have another answer now.
            viewer.timeline.forget();
            viewer.minimap.forget();
        }
        self.act(|control| {
            control.set_log(span, overview, labels);
            None
        });
    }

    /// Other tracks, or in another order.
    pub(super) fn set_layout(&self, layout: &PtrEq<Layout>) {
        self.act(|control| control.set_layout(layout.shared()));
        self.fit_scroller();
    }

    /// The notes that are shown.
    pub(super) fn set_notes(&self, notes: &Rc<Notes>) {
        self.0.borrow_mut().notes = Rc::clone(notes);
        self.redraw();
    }

    /// The keyboard is on that track now.
    pub(super) fn set_track(&self, name: &TrackName) {
        self.act(|control| control.set_track(name));
    }

    /// The pointer or a finger moves.
    pub(super) fn point(&self, id: i32, x: f64, y: f64) {
        self.act(|control| control.point(id, x, y));
        let viewer = self.0.borrow();
        if let Some(elements) = &viewer.elements {
            let shape = viewer.control.pointer_shape(x, y);
            set_style(&elements.canvas, "cursor", shape);
        }
    }

    /// The button or finger goes up.
    pub(super) fn release(&self, id: i32, x: f64, y: f64) {
        self.0.borrow_mut().long_press = None;
        self.act(|control| control.release(id, x, y));
    }

    /// The browser took the finger's movement over: it scrolls.
    pub(super) fn abort(&self, id: i32) {
        self.0.borrow_mut().long_press = None;
        self.act(|control| {
            control.abort(id);
            None
        });
    }

    /// A finger that rests selects a range.
    fn wait_for_long_press(&self, press: Press) {
        let this = self.clone();
        let timeout = Timeout::new(LONG_PRESS_MS, move || {
            this.act(|control| {
                control.held(press);
                None
            });
        });
        self.0.borrow_mut().long_press = Some(timeout);
    }

    /// A turn of the wheel; false if it is not for the timeline.
    pub(super) fn wheel(&self, wheel: Wheel) -> bool {
        let told = self.0.borrow_mut().control.wheel(wheel);
        let taken = told.is_some();
        self.act(|_| told.unwrap_or_default());
        taken
    }

    /// The track at a height of the window.
    pub(super) fn track_at_client(&self, client_y: f64) -> Option<usize> {
        let viewer = self.0.borrow();
        let elements = viewer.elements.as_ref()?;
        let top = elements.picture.get_bounding_client_rect().top();
        viewer.control.track_at(client_y - top)
    }

    /// Scrolls the tracks.
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
