//! The flame graph: its controls and its canvas.

use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlCanvasElement, HtmlInputElement, HtmlSelectElement, WheelEvent};
use yew::prelude::*;

use super::canvas::CanvasPainter;
use super::client::Client;
use super::panel::Marked;
use super::{summary, theme};
use crate::automata::Span;
use crate::flamegraph::query::{FlameQuery, Measure, View};
use crate::flamegraph::{Choice, Source, TrackInfo, TrackSource};
use crate::protocol::{Answer, Question};
use crate::scene::flame::{FlameScene, Graph, Window};
use crate::scene::format;
use crate::share::{FlameOrder, FlameView, TrackName};
use crate::timeline::scope::Scope;
use crate::wire;

#[derive(Properties, PartialEq)]
pub(super) struct FlameProps {
    pub(super) client: Client,
    pub(super) tracks: Rc<Vec<TrackInfo>>,
    pub(super) range: Option<Span>,
    /// The selected tracks: of all capabilities, only theirs.
    pub(super) marked: Rc<Marked>,
    pub(super) view: FlameView,
    /// Goes up whenever the colours change.
    pub(super) colours: u32,
    pub(super) on_view: Callback<FlameView>,
}

pub(super) enum Msg {
    Resized,
    Answered(u32, Option<Graph>),
    Wheel {
        x: f64,
        dx: f64,
        dy: f64,
        shift: bool,
    },
    Pointed(Option<(f64, f64)>),
    Pressed(f64),
    Released {
        x: f64,
        y: f64,
    },
    DoubleClicked {
        x: f64,
        y: f64,
    },
    Key(KeyboardEvent),
}

/// What the pointer is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Drag {
    x: f64,
    moved: bool,
}

/// The flame graph.
pub(super) struct Flame {
    canvas: NodeRef,
    painter: Option<CanvasPainter>,
    graph: Option<Graph>,
    window: Window,
    asked: Option<FlameQuery>,
    number: u32,
    in_flight: bool,
    hovered: Option<usize>,
    selected: Option<usize>,
    drag: Option<Drag>,
    listeners: Vec<EventListener>,
    observer: Option<super::timeline::Observer>,
}

/// The name of a track in links.
fn track_name(source: TrackSource) -> TrackName {
    TrackName::new(source.name()).unwrap_or_else(TrackName::all)
}

/// All capabilities, by which cost-centre samples are shown together.
const CAPS: &str = "all";
/// All OS threads.
const THREADS: &str = "threads";

/// Whether the capabilities of the selected tracks limit what is drawn.
fn limits(tracks: &[TrackInfo], name: &TrackName, scope: &Scope) -> bool {
    let is_theirs = |track: &TrackInfo| match track.source {
        TrackSource::Capability(cap) => scope.has_cap(cap),
        _ => false,
    };
    name.as_str() == CAPS && tracks.iter().any(is_theirs)
}

/// The numbers of the tracks that a name stands for.
fn chosen(tracks: &[TrackInfo], name: &TrackName, scope: &Scope) -> Vec<u32> {
    let numbered = (0u32..).zip(tracks);
    let is_cap = |track: &TrackInfo| matches!(track.source, TrackSource::Capability(_));
    let has_caps = tracks.iter().any(is_cap);
    let limited = limits(tracks, name, scope);
    numbered
        .filter(|(_, track)| match (name.as_str(), track.source) {
            (CAPS, TrackSource::Capability(cap)) => !limited || scope.has_cap(cap),
            (CAPS, _) => !has_caps,
            (THREADS, _) => !is_cap(track),
            (_, source) => track_name(source) == *name,
        })
        .map(|(number, _)| number)
        .collect()
}

impl Flame {
    fn size(&self) -> (f64, f64) {
        let parent = self
            .canvas
            .cast::<HtmlCanvasElement>()
            .and_then(|canvas| canvas.parent_element());
        parent.map_or((0.0, 0.0), |parent| {
            (
                f64::from(parent.client_width()),
                f64::from(parent.client_height()),
            )
        })
    }

    /// The picture is as high as the graph, but fills its place.
    fn picture_size(&self) -> (f64, f64) {
        let (width, height) = self.size();
        let graph = self.graph.as_ref().map_or(0.0, Graph::height);
        (width, graph.max(height))
    }

    fn query(&self, props: &FlameProps) -> FlameQuery {
        let chosen = chosen(&props.tracks, &props.view.source, &props.marked.scope);
        let tracks = chosen.iter().filter_map(|&place| {
            let track = props.tracks.get(place as usize);
            track.map(|track| track.source)
        });
        FlameQuery {
            choice: Choice {
                source: Source::CostCentres,
                tracks: tracks.collect(),
                range: props.range,
                before: None,
            },
            steps: Vec::new(),
            view: match props.view.order {
                FlameOrder::Time => View::Time,
                FlameOrder::LeftHeavy => View::LeftHeavy,
            },
            measure: Measure::Amount,
            window: (self.window.left, self.window.width),
            width_px: self.size().0.max(1.0) as u32,
            search: props.view.search.clone(),
        }
    }

    /// Asks for the boxes of this view, unless an answer is on its way.
    fn ask(&mut self, ctx: &Context<Self>) {
        let query = self.query(ctx.props());
        if self.in_flight || self.asked.as_ref() == Some(&query) || query.choice.tracks.is_empty() {
            return;
        }
        self.in_flight = true;
        self.asked = Some(query.clone());
        self.number += 1;
        let (number, link) = (self.number, ctx.link().clone());
        let names = query.choice.tracks.iter();
        let names: Vec<String> = names.map(|track| track.to_string()).collect();
        ctx.props()
            .client
            .ask(Question::Flame(query), move |answer, columns| {
                let boxes = columns.as_ref().and_then(wire::flame_boxes);
                let graph = match (answer, boxes) {
                    (Answer::Flame(head), Some(boxes)) => Some(Graph::new(head, boxes, names)),
                    _ => None,
                };
                link.send_message(Msg::Answered(number, graph));
            });
    }

    fn scene<'a>(&self, graph: &'a Graph, searching: bool) -> FlameScene<'a> {
        let theme = theme::current();
        FlameScene {
            graph,
            window: self.window,
            scroll_px: 0.0,
            size: self.picture_size(),
            palette: theme.palette,
            dark: theme.dark,
            hovered: self.hovered,
            selected: self.selected,
            searching,
        }
    }

    fn paint(&mut self, searching: bool) {
        let Some(canvas) = self.canvas.cast::<HtmlCanvasElement>() else {
            return;
        };
        let size = self.picture_size();
        if size.0 < 1.0 {
            return;
        }
        // A length is always a valid height.
        let _ = canvas
            .style()
            .set_property("height", &format!("{}px", size.1));
        let Some(mut painter) = self.painter.take().or_else(|| CanvasPainter::new(&canvas)) else {
            return;
        };
        painter.begin(&canvas, size);
        if let Some(graph) = &self.graph {
            self.scene(graph, searching).paint(&mut painter);
        }
        self.painter = Some(painter);
    }

    fn hit(&self, x: f64, y: f64) -> Option<usize> {
        let graph = self.graph.as_ref()?;
        self.scene(graph, false).hit(x, y)
    }

    fn show_box(&mut self, index: usize) {
        if let Some(graph) = &self.graph
            && let (Some(&left), Some(&width)) =
                (graph.boxes.left.get(index), graph.boxes.width.get(index))
        {
            let whole = Window::ALL.zoomed(1.0 / width.max(1e-9), 0.0);
            self.window = whole.moved((left - whole.left) / whole.width);
        }
    }

    fn described(&self) -> Option<(String, String)> {
        self.graph
            .as_ref()?
            .describe(self.hovered.or(self.selected)?)
    }

    /// Walks the boxes by the arrow keys.
    fn walk(&mut self, key: &str) {
        let Some(graph) = &self.graph else { return };
        let boxes = &graph.boxes;
        let at = self.selected.unwrap_or(0);
        let (Some(&depth), Some(&left), Some(&width)) =
            (boxes.depth.get(at), boxes.left.get(at), boxes.width.get(at))
        else {
            return;
        };
        let middle = left + width / 2.0;
        let level = |depth: u16| (0..boxes.len()).filter(move |&i| boxes.depth[i] == depth);
        let under =
            |i: &usize| boxes.left[*i] <= middle && middle < boxes.left[*i] + boxes.width[*i];
        self.selected = match key {
            _ if self.selected.is_none() => Some(0),
            "ArrowLeft" => level(depth).rfind(|&i| boxes.left[i] < left).or(Some(at)),
            "ArrowRight" => level(depth).find(|&i| boxes.left[i] > left).or(Some(at)),
            "ArrowUp" => depth
                .checked_sub(1)
                .and_then(|up| level(up).find(under))
                .or(Some(at)),
            _ => {
                let inside =
                    |i: &usize| boxes.left[*i] >= left - 1e-12 && boxes.left[*i] < left + width;
                level(depth + 1).find(inside).or(Some(at))
            }
        };
    }

    fn listen(&mut self, ctx: &Context<Self>) {
        let Some(canvas) = self.canvas.cast::<HtmlCanvasElement>() else {
            return;
        };
        let link = ctx.link().clone();
        let options = EventListenerOptions::enable_prevent_default();
        self.listeners.push(EventListener::new_with_options(
            &canvas,
            "wheel",
            options,
            move |event| {
                let Some(event) = event.dyn_ref::<WheelEvent>() else {
                    return;
                };
                // Without a modifier the wheel scrolls the levels.
                if event.ctrl_key()
                    || event.alt_key()
                    || event.delta_x().abs() > event.delta_y().abs()
                {
                    event.prevent_default();
                    link.send_message(Msg::Wheel {
                        x: f64::from(event.offset_x()),
                        dx: event.delta_x(),
                        dy: event.delta_y(),
                        shift: event.shift_key(),
                    });
                }
            },
        ));
        if let Some(parent) = canvas.parent_element() {
            let link = ctx.link().clone();
            self.observer =
                super::timeline::Observer::new(&parent, move || link.send_message(Msg::Resized));
        }
    }
}

impl Component for Flame {
    type Message = Msg;
    type Properties = FlameProps;

    fn create(_: &Context<Self>) -> Self {
        Self {
            canvas: NodeRef::default(),
            painter: None,
            graph: None,
            window: Window::ALL,
            asked: None,
            number: 0,
            in_flight: false,
            hovered: None,
            selected: None,
            drag: None,
            listeners: Vec::new(),
            observer: None,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &FlameProps) -> bool {
        let props = ctx.props();
        if props.tracks != old.tracks {
            self.graph = None;
            self.asked = None;
        }
        if props.range != old.range
            || props.marked != old.marked
            || props.view.order != old.view.order
            || props.view.source != old.view.source
        {
            self.window = Window::ALL;
            self.selected = None;
            self.hovered = None;
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Resized => {}
            Msg::Answered(number, graph) => {
                if number == self.number {
                    self.in_flight = false;
                    self.hovered = None;
                    self.selected = None;
                    self.graph = graph.or(self.graph.take());
                }
            }
            Msg::Wheel { x, dx, dy, shift } => {
                let width = self.size().0.max(1.0);
                self.window = if dx.abs() > dy.abs() || shift {
                    self.window
                        .moved((dx + if shift { dy } else { 0.0 }) / width)
                } else {
                    self.window.zoomed((-dy * 0.005).exp(), x / width)
                };
            }
            Msg::Pressed(x) => self.drag = Some(Drag { x, moved: false }),
            Msg::Pointed(at) => {
                if let (Some(drag), Some((x, _))) = (&mut self.drag, at) {
                    drag.moved |= (x - drag.x).abs() > 4.0;
                    if drag.moved {
                        let by = (drag.x - x) / self.picture_size().0.max(1.0);
                        self.window = self.window.moved(by);
                        self.drag = Some(Drag { x, moved: true });
                    }
                }
                let hovered = at.and_then(|(x, y)| self.hit(x, y));
                if hovered == self.hovered && self.drag.is_none() {
                    return false;
                }
                self.hovered = hovered;
            }
            Msg::Released { x, y } => {
                if self.drag.take().is_some_and(|drag| !drag.moved) {
                    self.selected = self.hit(x, y);
                }
            }
            Msg::DoubleClicked { x, y } => match self.hit(x, y) {
                Some(index) => self.show_box(index),
                None => self.window = Window::ALL,
            },
            Msg::Key(event) => match event.key().as_str() {
                key @ ("ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown") => {
                    event.prevent_default();
                    self.walk(key);
                }
                "Enter" => {
                    if let Some(index) = self.selected {
                        self.show_box(index);
                    }
                }
                "Escape" if self.window != Window::ALL => {
                    event.stop_propagation();
                    self.window = Window::ALL;
                }
                _ => return false,
            },
        }
        self.ask(ctx);
        true
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if first {
            self.listen(ctx);
        }
        self.ask(ctx);
        self.paint(!ctx.props().view.search.trim().is_empty());
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        if props.tracks.is_empty() {
            return html! {
                <div class="empty">
                    <p>{ "This log has no samples and no announced foreign calls, from which a flame graph is made." }</p>
                    <p>{ "For samples build with " }<code>{ "-prof -fprof-late" }</code>{ " and run with " }<code>{ "+RTS -p -l" }</code>{ "; foreign calls are announced by messages such as " }<code>{ "START 7 bar" }</code>{ " and " }<code>{ "STOP 7 bar" }</code>{ "." }</p>
                </div>
            };
        }
        let link = ctx.link();
        let place =
            |event: &PointerEvent| (f64::from(event.offset_x()), f64::from(event.offset_y()));
        let described = self.described();
        let label = match &described {
            Some((name, text)) => format!("Flame graph. {name}: {text}"),
            None => "Flame graph. Arrow keys walk its boxes, Enter zooms to one, Escape shows all."
                .to_owned(),
        };
        html! {
            <div class="flame">
                { self.controls(ctx) }
                <div class="flame-canvas">
                    <canvas ref={self.canvas.clone()} tabindex="0" role="application" aria-label={label}
                        onpointerdown={link.callback(move |event: PointerEvent| Msg::Pressed(place(&event).0))}
                        onpointermove={link.callback(move |event: PointerEvent| Msg::Pointed(Some(place(&event))))}
                        onpointerleave={link.callback(|_: PointerEvent| Msg::Pointed(None))}
                        onpointerup={link.callback(move |event: PointerEvent| { let (x, y) = place(&event); Msg::Released { x, y } })}
                        ondblclick={link.callback(|event: MouseEvent| Msg::DoubleClicked { x: f64::from(event.offset_x()), y: f64::from(event.offset_y()) })}
                        onkeydown={link.callback(Msg::Key)} />
                </div>
                <p class="strip" aria-live="polite">
                    if let Some((name, text)) = described {
                        <strong>{ name }</strong>{ " " }{ text }
                    } else {
                        <span class="faint">{ "Point at a box to read it · double click zooms to it · Ctrl + wheel zooms, drag moves" }</span>
                    }
                </p>
            </div>
        }
    }
}

/// For which time and tracks the graph is.
fn for_what(props: &FlameProps) -> String {
    let range = match props.range {
        Some(range) => format!("for {}", summary::span_text(range)),
        None => "for the whole log".to_owned(),
    };
    let (source, marked) = (&props.view.source, &props.marked);
    if source.as_str() != CAPS {
        // What was chosen here counts.
        range
    } else if limits(&props.tracks, source, &marked.scope) {
        marked.about(range)
    } else {
        marked.about_all(range)
    }
}

impl Flame {
    fn controls(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        let change = |edit: fn(&mut FlameView, String)| {
            let (view, on_view) = (props.view.clone(), props.on_view.clone());
            move |value: String| {
                let mut view = view.clone();
                edit(&mut view, value);
                on_view.emit(view);
            }
        };
        let source = change(|view, value| {
            if let Some(name) = TrackName::new(value) {
                view.source = name;
            }
        });
        let search = change(|view, value| view.search = value);
        let is_cap = |track: &&TrackInfo| matches!(track.source, TrackSource::Capability(_));
        let caps = props.tracks.iter().filter(is_cap).count();
        let threads = props.tracks.len() - caps;
        let option = |value: &str, text: String| {
            let selected = props.view.source.as_str() == value;
            html! { <option value={value.to_owned()} {selected}>{ text }</option> }
        };
        let all = if caps > 0 {
            "All capabilities"
        } else {
            "All OS threads"
        };
        let order = |order: FlameOrder, text: &str| {
            let (view, on_view) = (props.view.clone(), props.on_view.clone());
            let onclick = Callback::from(move |_: MouseEvent| {
                on_view.emit(FlameView {
                    order,
                    ..view.clone()
                })
            });
            let pressed = props.view.order == order;
            html! { <button aria-pressed={pressed.to_string()} {onclick}>{ text }</button> }
        };
        let found = self
            .graph
            .as_ref()
            .map_or(0.0, |graph| graph.head.found_share);
        html! {
            <div class="controls">
                <label>
                    <span class="visually-hidden">{ "Whose time" }</span>
                    <select onchange={Callback::from(move |event: Event| source(event.target_unchecked_into::<HtmlSelectElement>().value()))}>
                        { option(CAPS, all.to_owned()) }
                        if caps > 0 && threads > 1 { { option(THREADS, "All OS threads".to_owned()) } }
                        { for props.tracks.iter().map(|track| {
                            let calls = if matches!(track.source, TrackSource::Capability(_)) { "samples" } else { "calls" };
                            option(track_name(track.source).as_str(), format!("{} · {} {calls}", track.source, format::count(track.samples)))
                        }) }
                    </select>
                </label>
                <span class="segments" role="group" aria-label="Order">
                    { order(FlameOrder::Time, "Time order") }
                    { order(FlameOrder::LeftHeavy, "Left heavy") }
                </span>
                <label class="search">
                    <span class="visually-hidden">{ "Search frames" }</span>
                    <input type="search" placeholder="Search frames" value={props.view.search.clone()}
                        oninput={Callback::from(move |event: InputEvent| search(event.target_unchecked_into::<HtmlInputElement>().value()))} />
                </label>
                if !props.view.search.trim().is_empty() {
                    <span class="found" role="status">{ format!("{} of the time", format::fraction(found)) }</span>
                }
                <span class="for">{ for_what(props) }</span>
            </div>
        }
    }
}
