//! The timeline's place in the page: a canvas that stays while the tracks
//! scroll, and the listeners that feed its controller.

use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlCanvasElement, HtmlElement, ResizeObserver, WheelEvent};
use yew::prelude::*;

use super::details;
use super::dom::set_style;
use super::finding_marks::{FindingMarks, MarksProps};
use super::heads::Heads;
use super::ptr_eq::PtrEq;
use super::track_menu::TrackMenu;
use super::viewer::{Control, Description, Press, ViewerRef, Wheel};
use session::tracks::name::TrackName;
use views::timeline::arrange::{TrackChange, TrackView};
use views::timeline::layout::Layout;

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
    /// Which log it is of, behind the names of its parts; empty if there is but one.
    pub(super) of: AttrValue,
    /// Where it has nothing while the log beside it goes on, in sentences.
    pub(super) beyond: AttrValue,
    /// Whether the menu of the tracks stands here.
    pub(super) has_menu: bool,
    pub(super) layout: PtrEq<Layout>,
    /// The tracks that are scrolled into view, by their places.
    pub(super) seen: std::ops::Range<usize>,
    /// The track that the keyboard is on.
    pub(super) current: Option<TrackName>,
    /// How the tracks are shown.
    pub(super) view: TrackView,
    /// What the hidden ones are called.
    pub(super) hidden: Vec<(TrackName, String)>,
    /// What is pointed at or selected.
    pub(super) description: Option<Rc<Description>>,
    /// Whether the program wrote messages.
    pub(super) messages: bool,
    pub(super) on_change: Callback<TrackChange>,
    pub(super) on_filter: Callback<String>,
    /// Findings, once there is a log.
    pub(super) found: Option<MarksProps>,
}

/// Where a pointer is on the canvas.
fn place(event: &PointerEvent) -> (f64, f64) {
    (f64::from(event.offset_x()), f64::from(event.offset_y()))
}

/// Canvas, heads of tracks, scroll box and listeners.
#[component]
pub(super) fn Timeline(props: &TimelineProps) -> Html {
    let scroll = use_node_ref();
    let (picture, canvas, pointed) = (use_node_ref(), use_node_ref(), use_node_ref());
    {
        let nodes = Nodes {
            scroll: scroll.clone(),
            picture: picture.clone(),
            canvas: canvas.clone(),
            pointed: pointed.clone(),
        };
        let viewer = props.viewer.clone();
        use_effect_with((), move |()| {
            let kept = attach(&nodes, &viewer);
            move || drop(kept)
        });
    }
    let tip = props
        .description
        .as_ref()
        .filter(|description| description.tip);
    html! {
        <div ref={scroll} class="timeline" tabindex="-1" data-viewer={props.viewer.number().0.to_string()}>
            <div class="spacer">
                <div ref={picture} class="picture">
                    { canvas_with_gestures(props, canvas) }
                    if let Some(found) = &props.found { <FindingMarks ..found.clone() /> }
                    <Heads viewer={props.viewer.clone()} label={format!("Tracks{}", props.of)} layout={props.layout.clone()} seen={props.seen.clone()}
                        current={props.current.clone()} on_change={props.on_change.clone()} />
                    if props.has_menu {
                        <TrackMenu view={props.view.clone()} hidden={props.hidden.clone()} layout={props.layout.clone()} messages={props.messages} on_change={props.on_change.clone()} />
                    }
                    { no_match(props) }
                </div>
            </div>
            <div ref={pointed} class="pointed">
                if let Some(description) = tip {
                    { details::tip(description) }
                }
            </div>
        </div>
    }
}

/// Said where the filter leaves no track.
fn no_match(props: &TimelineProps) -> Html {
    let filter = props.view.filter.trim();
    if filter.is_empty() || !props.layout.tracks().is_empty() {
        return Html::default();
    }
    let onclick = props.on_filter.reform(|_: MouseEvent| String::new());
    html! {
        <p class="no-match" role="status">
            { format!("No track has “{filter}” in its name. ") }
            <button class="small" {onclick}>{ "Clear the filter" }</button>
        </p>
    }
}

fn canvas_with_gestures(props: &TimelineProps, node: NodeRef) -> Html {
    let viewer = &props.viewer;
    let on = |act: fn(&ViewerRef, &PointerEvent)| {
        let viewer = viewer.clone();
        Callback::from(move |event: PointerEvent| act(&viewer, &event))
    };
    let down = on(|viewer, event| {
        if event.button() > 1 {
            return;
        }
        let canvas: HtmlCanvasElement = event.target_unchecked_into();
        // Without capture a drag ends at the edge of the canvas.
        let _ = canvas.set_pointer_capture(event.pointer_id());
        let press = Press {
            id: event.pointer_id(),
            at: place(event),
            touch: event.pointer_type() == "touch",
            pan: event.shift_key() || event.button() == 1,
            measure: event.alt_key(),
        };
        viewer.act(|control| control.press(press));
    });
    let moved = on(|viewer, event| {
        let (x, y) = place(event);
        viewer.point(event.pointer_id(), x, y);
    });
    let up = on(|viewer, event| {
        let (x, y) = place(event);
        viewer.release(event.pointer_id(), x, y);
    });
    let cancel = on(|viewer, event| viewer.abort(event.pointer_id()));
    let leave = on(|viewer, _| viewer.act(Control::leave));
    let twice = {
        let viewer = viewer.clone();
        Callback::from(move |event: MouseEvent| {
            let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
            viewer.act(|control| control.double_click(x, y));
        })
    };
    let of = &props.of;
    let beyond = Some(props.beyond.as_str()).filter(|words| !words.is_empty());
    let label = [
        format!("Timeline{of}."),
        beyond.map(|words| format!(" {words}")).unwrap_or_default(),
        format!(
            " Its tracks are in the list Tracks{of}: arrow keys walk them and their items. The panel In view has the same as a table."
        ),
    ];
    html! {
        <canvas ref={node} role="img" aria-label={label.concat()}
            onpointerdown={down} onpointermove={moved} onpointerup={up} onpointercancel={cancel}
            onpointerleave={leave} ondblclick={twice} />
    }
}

/// What has to be kept as long as the timeline is in the page.
type Kept = (Vec<EventListener>, Option<Observer>);

/// The elements that the listeners are about.
struct Nodes {
    scroll: NodeRef,
    picture: NodeRef,
    canvas: NodeRef,
    pointed: NodeRef,
}

fn attach(nodes: &Nodes, viewer: &ViewerRef) -> Option<Kept> {
    let scroll = nodes.scroll.cast::<HtmlElement>()?;
    let picture = nodes.picture.cast::<HtmlElement>()?;
    let canvas = nodes.canvas.cast::<HtmlCanvasElement>()?;
    let pointed = nodes.pointed.cast::<HtmlElement>()?;
    viewer.attach(canvas.clone(), picture.clone(), pointed);
    let resize = {
        let (viewer, scroll) = (viewer.clone(), scroll.clone());
        move || {
            let size = (
                f64::from(scroll.client_width()),
                f64::from(scroll.client_height()),
            );
            for (name, px) in [("width", size.0), ("height", size.1)] {
                set_style(&picture, name, &format!("{px}px"));
            }
            viewer.act(|control| control.resize(size));
        }
    };
    resize();
    let observer = Observer::new(&scroll, resize);
    let scrolled = {
        let (viewer, scroll) = (viewer.clone(), scroll.clone());
        EventListener::new(&scroll.clone(), "scroll", move |_| {
            let px = f64::from(scroll.scroll_top());
            viewer.act(|control| control.scroll(px));
        })
    };
    let wheel = {
        let viewer = viewer.clone();
        let options = EventListenerOptions::enable_prevent_default();
        EventListener::new_with_options(&canvas, "wheel", options, move |event| {
            let Some(event) = event.dyn_ref::<WheelEvent>() else {
                return;
            };
            // Lines (Firefox) instead of pixels.
            let unit = if event.delta_mode() == 1 { 18.0 } else { 1.0 };
            let wheel = Wheel {
                x: f64::from(event.offset_x()),
                dx: event.delta_x() * unit,
                dy: event.delta_y() * unit,
                shift: event.shift_key(),
                ctrl: event.ctrl_key(),
            };
            if viewer.wheel(wheel) {
                event.prevent_default();
            }
        })
    };
    Some((vec![scrolled, wheel], observer))
}
