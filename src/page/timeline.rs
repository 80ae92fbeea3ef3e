//! Timeline component: a canvas that stays in place while the tracks scroll, and the event listeners for its
//! controller.

use std::rc::Rc;

use gloo_events::EventListener;
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlCanvasElement, HtmlElement, ResizeObserver};
use yew::prelude::*;

use super::details;
use super::dom::{capture_pointer, inner_size, position, set_style, wheel_listener};
use super::finding_marks::{FindingMarks, MarksProps};
use super::heads::Heads;
use super::ptr_eq::PtrEq;
use super::track_menu::TrackMenu;
use super::viewer::{Control, Description, Press, ViewerRef, Wheel};
use session::tracks::name::TrackName;
use views::timeline::arrange::{TrackChange, TrackView};
use views::timeline::layout::Layout;

/// Observer of an element's size; dropping it stops observing.
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
    /// Suffix that names the log in accessible names; empty if only one log is open.
    pub(super) log_suffix: AttrValue,
    /// Sentences that describe where this log has no data while the other one has; may be empty.
    pub(super) beyond: AttrValue,
    /// Whether to show the track menu here.
    pub(super) has_menu: bool,
    pub(super) layout: PtrEq<Layout>,
    /// Indexes of the tracks that are scrolled into view.
    pub(super) tracks_in_view: std::ops::Range<usize>,
    /// Track with the keyboard focus.
    pub(super) current: Option<TrackName>,
    /// Display settings of the tracks.
    pub(super) view: TrackView,
    /// Names of the hidden tracks.
    pub(super) hidden: Vec<(TrackName, String)>,
    /// Item that is pointed at or selected.
    pub(super) description: Option<Rc<Description>>,
    /// Whether the log contains user messages.
    pub(super) messages: bool,
    pub(super) on_change: Callback<TrackChange>,
    pub(super) on_filter: Callback<String>,
    /// Finding marks; `None` until there is a log.
    pub(super) finding_marks: Option<MarksProps>,
}

/// Canvas, track heads, scroll box and listeners.
#[component]
pub(super) fn Timeline(props: &TimelineProps) -> Html {
    let scroll = use_node_ref();
    let (picture, canvas, tip_container) = (use_node_ref(), use_node_ref(), use_node_ref());
    {
        let nodes = Nodes {
            scroll: scroll.clone(),
            picture: picture.clone(),
            canvas: canvas.clone(),
            tip_container: tip_container.clone(),
        };
        let viewer = props.viewer.clone();
        use_effect_with((), move |()| {
            let attachments = attach(&nodes, &viewer);
            move || drop(attachments)
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
                    if let Some(marks) = &props.finding_marks { <FindingMarks ..marks.clone() /> }
                    <Heads viewer={props.viewer.clone()} label={format!("Tracks{}", props.log_suffix)} layout={props.layout.clone()} tracks_in_view={props.tracks_in_view.clone()}
                        current={props.current.clone()} on_change={props.on_change.clone()} />
                    if props.has_menu {
                        <TrackMenu view={props.view.clone()} hidden={props.hidden.clone()} layout={props.layout.clone()} messages={props.messages} on_change={props.on_change.clone()} />
                    }
                    { no_match(props) }
                </div>
            </div>
            <div ref={tip_container} class="pointed">
                if let Some(description) = tip {
                    { details::tip(description) }
                }
            </div>
        </div>
    }
}

/// Renders a notice if the filter matches no track.
fn no_match(props: &TimelineProps) -> Html {
    let filter = props.view.filter.trim();
    if filter.is_empty() || !props.layout.tracks().is_empty() {
        return Html::default();
    }
    let onclick = props.on_filter.reform(|_: MouseEvent| String::new());
    html! {
        <p class="no-match" role="status">
            { format!("No track name contains “{filter}”. ") }
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
        capture_pointer(event);
        let press = Press {
            id: event.pointer_id(),
            at: position(event),
            touch: event.pointer_type() == "touch",
            pan: event.shift_key() || event.button() == 1,
            measure: event.alt_key(),
        };
        viewer.act(|control| control.press(press));
    });
    let moved = on(|viewer, event| {
        let (x, y) = position(event);
        viewer.point(event.pointer_id(), x, y);
    });
    let up = on(|viewer, event| {
        let (x, y) = position(event);
        viewer.release(event.pointer_id(), x, y);
    });
    let cancel = on(|viewer, event| viewer.abort(event.pointer_id()));
    let leave = on(|viewer, _| viewer.act(Control::leave));
    let double_click = {
        let viewer = viewer.clone();
        Callback::from(move |event: MouseEvent| {
            let (x, y) = position(&event);
            viewer.act(|control| control.double_click(x, y));
        })
    };
    let log_suffix = &props.log_suffix;
    let beyond = Some(props.beyond.as_str()).filter(|words| !words.is_empty());
    let label = [
        format!("Timeline{log_suffix}."),
        beyond.map(|words| format!(" {words}")).unwrap_or_default(),
        format!(
            " The list Tracks{log_suffix} contains its tracks: arrow keys move among them and their items. The panel In view shows the same as a table."
        ),
    ];
    html! {
        <canvas ref={node} role="img" aria-label={label.concat()}
            onpointerdown={down} onpointermove={moved} onpointerup={up} onpointercancel={cancel}
            onpointerleave={leave} ondblclick={double_click} />
    }
}

/// Listeners that live as long as the component.
type Attachments = (Vec<EventListener>, Option<Observer>);

/// Elements that the listeners need.
struct Nodes {
    scroll: NodeRef,
    picture: NodeRef,
    canvas: NodeRef,
    tip_container: NodeRef,
}

fn attach(nodes: &Nodes, viewer: &ViewerRef) -> Option<Attachments> {
    let scroll = nodes.scroll.cast::<HtmlElement>()?;
    let picture = nodes.picture.cast::<HtmlElement>()?;
    let canvas = nodes.canvas.cast::<HtmlCanvasElement>()?;
    let tip_container = nodes.tip_container.cast::<HtmlElement>()?;
    viewer.attach(canvas.clone(), picture.clone(), tip_container);
    let resize = {
        let (viewer, scroll) = (viewer.clone(), scroll.clone());
        move || {
            let size = inner_size(&scroll);
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
        wheel_listener(&canvas, move |event| {
            // Firefox reports lines instead of pixels.
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
