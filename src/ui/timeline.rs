//! The timeline's place in the page: a canvas that stays while the tracks
//! scroll, and the listeners that feed its controller.

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlCanvasElement, HtmlElement, ResizeObserver, WheelEvent};
use yew::prelude::*;

use super::viewer::ViewerRef;

/// Watches the size of an element as long as it lives.
pub(super) struct Observer {
    observer: ResizeObserver,
    _closure: Closure<dyn FnMut()>,
}

impl Observer {
    pub(super) fn new(element: &Element, on_resize: impl FnMut() + 'static) -> Option<Self> {
        let closure = Closure::<dyn FnMut()>::new(on_resize);
        let observer = ResizeObserver::new(closure.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self {
            observer,
            _closure: closure,
        })
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct TimelineProps {
    pub(super) viewer: ViewerRef,
    /// The height of all tracks with the ruler, in pixels.
    pub(super) height: f64,
    /// What is pointed at or selected, for screen readers.
    pub(super) label: AttrValue,
    pub(super) node: NodeRef,
}

/// Canvas, scroll box and listeners.
#[component]
pub(super) fn Timeline(props: &TimelineProps) -> Html {
    let scroll = use_node_ref();
    let spacer = use_node_ref();
    {
        let (scroll, canvas, viewer) = (scroll.clone(), props.node.clone(), props.viewer.clone());
        use_effect_with((), move |()| {
            let kept = attach(&scroll, &canvas, &viewer);
            move || drop(kept)
        });
    }
    {
        let spacer = spacer.clone();
        use_effect_with(props.height, move |height| {
            if let Some(spacer) = spacer.cast::<HtmlElement>() {
                // A length is always a valid height.
                let _ = spacer
                    .style()
                    .set_property("height", &format!("{height}px"));
            }
        });
    }
    let viewer = || props.viewer.clone();
    let place = |event: &PointerEvent| (f64::from(event.offset_x()), f64::from(event.offset_y()));
    let down = {
        let viewer = viewer();
        Callback::from(move |event: PointerEvent| {
            if event.button() > 1 {
                return;
            }
            let canvas: HtmlCanvasElement = event.target_unchecked_into();
            // Without capture a drag ends at the edge of the canvas.
            let _ = canvas.set_pointer_capture(event.pointer_id());
            let (x, y) = place(&event);
            let pan = event.shift_key() || event.button() == 1 || event.pointer_type() == "touch";
            viewer.press(x, y, pan);
        })
    };
    let moved = {
        let viewer = viewer();
        Callback::from(move |event: PointerEvent| {
            let (x, y) = place(&event);
            viewer.point(x, y);
        })
    };
    let up = {
        let viewer = viewer();
        Callback::from(move |event: PointerEvent| {
            let (x, y) = place(&event);
            viewer.release(x, y);
        })
    };
    let leave = {
        let viewer = viewer();
        Callback::from(move |_: PointerEvent| viewer.leave())
    };
    let twice = {
        let viewer = viewer();
        Callback::from(move |event: MouseEvent| {
            viewer.double_click(f64::from(event.offset_x()), f64::from(event.offset_y()));
        })
    };
    html! {
        <div ref={scroll} class="timeline" tabindex="-1">
            <div ref={spacer} class="spacer">
                <canvas ref={props.node.clone()} tabindex="0" role="application" aria-roledescription="timeline"
                    aria-label={props.label.clone()}
                    onpointerdown={down} onpointermove={moved} onpointerup={up.clone()} onpointercancel={up}
                    onpointerleave={leave} ondblclick={twice} />
            </div>
        </div>
    }
}

/// What has to be kept as long as the timeline is in the page.
type Kept = (Vec<EventListener>, Option<Observer>);

fn attach(scroll: &NodeRef, canvas: &NodeRef, viewer: &ViewerRef) -> Option<Kept> {
    let scroll = scroll.cast::<HtmlElement>()?;
    let canvas = canvas.cast::<HtmlCanvasElement>()?;
    viewer.attach(canvas.clone());
    let resize = {
        let (viewer, scroll, canvas) = (viewer.clone(), scroll.clone(), canvas.clone());
        move || {
            let size = (
                f64::from(scroll.client_width()),
                f64::from(scroll.client_height()),
            );
            // Lengths are always valid.
            let _ = canvas
                .style()
                .set_property("width", &format!("{}px", size.0));
            let _ = canvas
                .style()
                .set_property("height", &format!("{}px", size.1));
            viewer.resize(size);
        }
    };
    resize();
    let observer = Observer::new(&scroll, resize);
    let scrolled = {
        let (viewer, scroll) = (viewer.clone(), scroll.clone());
        EventListener::new(&scroll.clone(), "scroll", move |_| {
            viewer.scroll(f64::from(scroll.scroll_top()))
        })
    };
    let wheel = {
        let viewer = viewer.clone();
        let options = EventListenerOptions::enable_prevent_default();
        EventListener::new_with_options(&canvas, "wheel", options, move |event| {
            let Some(event) = event.dyn_ref::<WheelEvent>() else {
                return;
            };
            let x = f64::from(event.offset_x());
            // Lines (Firefox) instead of pixels.
            let unit = if event.delta_mode() == 1 { 18.0 } else { 1.0 };
            let (dx, dy) = (event.delta_x() * unit, event.delta_y() * unit);
            if viewer.wheel(x, dx, dy, event.shift_key(), event.ctrl_key()) {
                event.prevent_default();
            }
        })
    };
    Some((vec![scrolled, wheel], observer))
}
