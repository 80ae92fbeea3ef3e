//! A flame graph on a canvas: queries for the visible part, pointing, keyboard navigation, zooming, and above it a
//! minimap or the ruler of the shared time axis.

mod axis;
mod boxes;
mod listen;
mod paint;

use analysis::flamegraph::sources;
use std::rc::Rc;

use gloo_events::EventListener;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::pick::{Pick, Reveal, SearchMatch};
use crate::canvas::CanvasPainter;
use crate::client::LogClient;
use crate::dom::{capture_pointer, consume, has_modifier, inner_size, position};
use crate::panel::{Axis, slow_notice};
use crate::timeline::Observer;
use analysis::flamegraph::source_info::SourceInfo;
use scene::viewport::ViewPosition;
use session::flame::query::{FlameQuery, View};
use views::actions::flame::FlameAction;
use views::drag::Drag;
use views::flame::{Graph, Window};

/// Figures of an answer about the whole graph.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct GraphFigures {
    /// Share of the whole that matches the search, from 0 to 1.
    pub(super) share: f64,
    /// Number of stacks that were inverted without their outermost frames.
    pub(super) shortened: u64,
}

#[derive(Properties, PartialEq)]
pub(super) struct CanvasProps {
    pub(super) client: LogClient,
    /// Query of the graph; the canvas sets its window itself.
    pub(super) query: FlameQuery,
    /// Source of the stacks, with the names of its tracks.
    pub(super) source: Rc<SourceInfo>,
    /// Label for screen readers.
    pub(super) label: AttrValue,
    /// Whether the graph grows upward.
    #[prop_or_default]
    pub(super) upwards: bool,
    /// Whether a minimap is shown above.
    #[prop_or(true)]
    pub(super) minimap: bool,
    /// Time axis of the timeline, shared by graphs in time order.
    #[prop_or_default]
    pub(super) axis: Option<Axis>,
    /// Moves the visible time of the timeline.
    #[prop_or_default]
    pub(super) on_axis_change: Callback<ViewPosition>,
    /// Incremented whenever the colors change.
    pub(super) color_generation: u32,
    /// Incremented whenever symbol names of addresses change.
    pub(super) names: u32,
    /// Request to show a place in the graph.
    #[prop_or_default]
    pub(super) reveal: Option<Reveal>,
    /// Search match to show.
    #[prop_or_default]
    pub(super) found: Option<SearchMatch>,
    /// Receives the box that is selected or pointed at.
    pub(super) on_pick: Callback<Option<Pick>>,
    /// Receives actions that keys trigger on the selected box.
    pub(super) on_act: Callback<(FlameAction, Pick)>,
    /// Receives the figures of each answer about the whole graph.
    #[prop_or_default]
    pub(super) on_figures: Callback<GraphFigures>,
}

pub(super) enum Msg {
    Resized,
    Scrolled,
    Answered(u32, Option<Graph>),
    Small(u32, Option<Graph>),
    Wheel {
        x: f64,
        dx: f64,
        dy: f64,
        shift: bool,
    },
    /// A pointer moved to a position, or left.
    Pointed(i32, Option<(f64, f64)>),
    Pressed {
        pointer: i32,
        x: f64,
    },
    Released {
        pointer: i32,
        x: f64,
        y: f64,
    },
    DoubleClicked {
        x: f64,
        y: f64,
    },
    Key(KeyboardEvent),
    DragEnded,
    /// A pointer was pressed on the minimap, or moved on it.
    SmallAt {
        pointer: i32,
        x: f64,
        is_press: bool,
    },
}

/// Identity of the selected box, stable across repeated queries.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BoxIdentity {
    stack: u32,
    /// Center of the box, from 0 to 1 of the graph's width.
    at: f64,
}

/// Height of the minimap, in CSS pixels.
const SMALL_PX: f64 = 28.0;

#[derive(Default)]
pub(super) struct FlameCanvas {
    scroller: NodeRef,
    spacer: NodeRef,
    canvas: NodeRef,
    small_canvas: NodeRef,
    small_window: NodeRef,
    painter: Option<CanvasPainter>,
    small_painter: Option<CanvasPainter>,
    graph: Option<Graph>,
    small: Option<Graph>,
    /// Width and color generation of the last painted minimap.
    small_painted: Option<(f64, u32)>,
    window: Window,
    asked: Option<FlameQuery>,
    asked_small: Option<FlameQuery>,
    number: u32,
    in_flight: bool,
    hovered: Option<usize>,
    selected_box: Option<BoxIdentity>,
    selected: Option<usize>,
    revealed: u32,
    /// Key of the last shown search match.
    found: Option<(String, usize)>,
    drag: Drag,
    listeners: Vec<EventListener>,
    observer: Option<Observer>,
}

impl FlameCanvas {
    /// Returns the visible size of the canvas, in CSS pixels.
    fn size(&self) -> (f64, f64) {
        let scroller = self.scroller.cast::<HtmlElement>();
        scroller.map_or((0.0, 0.0), |scroller| inner_size(&scroller))
    }

    fn scroll_px(&self) -> f64 {
        let scroller = self.scroller.cast::<HtmlElement>();
        scroller.map_or(0.0, |scroller| f64::from(scroller.scroll_top()))
    }

    /// Returns the range of visible levels; `None` (all) while a target is to be shown, as it may be at any level.
    fn levels(&self, props: &CanvasProps) -> Option<(u16, u16)> {
        let revealing = props
            .reveal
            .is_some_and(|reveal| reveal.serial != self.revealed)
            || self.unshown_match(props).is_some();
        let graph = self.graph.as_ref().filter(|_| !revealing)?;
        Some(graph.levels_in_view(self.scroll_px(), self.size().1, props.upwards))
    }

    /// Queries the boxes of the current window, unless a request is in flight.
    fn ask(&mut self, ctx: &Context<Self>) {
        let props = ctx.props();
        let query = FlameQuery {
            levels: self.levels(props),
            ..self.query(props, self.window)
        };
        if self.in_flight || self.size().0 < 1.0 {
            return;
        }
        if self.asked.as_ref() != Some(&query) {
            self.asked = Some(query.clone());
            self.send(ctx, query, Msg::Answered);
        } else if props.minimap && props.axis_of_time().is_none() {
            // The minimap has lower priority.
            let all = self.query(props, Window::ALL);
            if self.asked_small.as_ref() != Some(&all) {
                self.asked_small = Some(all.clone());
                self.send(ctx, all, Msg::Small);
            }
        }
    }

    fn send(
        &mut self,
        ctx: &Context<Self>,
        query: FlameQuery,
        then: fn(u32, Option<Graph>) -> Msg,
    ) {
        self.in_flight = true;
        self.number += 1;
        let (number, link) = (self.number, ctx.link().clone());
        let source = Rc::clone(&ctx.props().source);
        let (unit, measure) = (
            sources::description(query.choice.source).unit,
            query.measure,
        );
        ctx.props().client.ask(query, move |answer| {
            let graph = answer.ok().flatten().map(|(head, boxes)| {
                let bands = head.bands.iter();
                let names = source.titles(bands.map(|(track, _)| *track));
                Graph::new(head, boxes, unit, measure, names)
            });
            link.send_message(then(number, graph));
        });
    }

    fn key(&mut self, props: &CanvasProps, event: &KeyboardEvent) -> bool {
        if has_modifier(event) {
            return false;
        }
        let key = event.key();
        match key.as_str() {
            "ArrowLeft" | "ArrowRight" if event.shift_key() => {
                let by = if key == "ArrowLeft" { -0.25 } else { 0.25 };
                self.move_by(props, by);
            }
            "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown" => self.walk(props, &key),
            "+" | "=" => self.zoom(props, 1.5, self.zoom_center()),
            "-" => self.zoom(props, 1.0 / 1.5, self.zoom_center()),
            "Enter" => {
                if let Some(index) = self.selected {
                    self.show_box(props, index);
                }
            }
            "Escape" if !self.is_all(props) => self.show_all(props),
            "Escape" if self.selected.is_some() => self.select(None),
            key => {
                let pick = self.selected.and_then(|index| self.pick(props, index));
                let (Some(act), Some(pick)) = (FlameAction::from_key(key), pick) else {
                    return false;
                };
                props.on_act.emit((act, pick));
            }
        }
        consume(event);
        true
    }

    /// Returns the center of keyboard zoom, from 0 to 1 of the window: the selected box if visible.
    fn zoom_center(&self) -> f64 {
        let at = self
            .selected_box
            .map(|selected_box| (selected_box.at - self.window.left) / self.window.width);
        at.filter(|at| (0.0..=1.0).contains(at)).unwrap_or(0.5)
    }

    fn answered(&mut self, props: &CanvasProps, graph: Option<Graph>) {
        self.in_flight = false;
        let Some(graph) = graph else { return };
        props.on_figures.emit(GraphFigures {
            share: graph.head.found_share,
            shortened: graph.head.shortened,
        });
        self.hovered = None;
        self.selected = self
            .selected_box
            .and_then(|selected_box| graph.box_of_stack(selected_box.stack, selected_box.at));
        self.graph = Some(graph);
        self.show_match(props);
        self.reveal(props);
        self.emit_pick(props);
    }
}

/// Returns whether stack numbers mean the same in both queries. Stacks of waiting threads are numbered for each query,
/// those of a comparison for both logs.
fn is_same_tree(a: &FlameQuery, b: &FlameQuery) -> bool {
    let (choice, other) = (&a.choice, &b.choice);
    let are_numbered_alike = match choice.source {
        sources::WAITING => choice == other,
        source => source == other.source && choice.other == other.other,
    };
    are_numbered_alike && a.steps == b.steps && a.view == b.view
}

/// Returns the message about a pointer on the minimap.
fn small_at(event: &PointerEvent, is_press: bool) -> Msg {
    Msg::SmallAt {
        pointer: event.pointer_id(),
        x: f64::from(event.offset_x()),
        is_press,
    }
}

impl Component for FlameCanvas {
    type Message = Msg;
    type Properties = CanvasProps;

    fn create(_: &Context<Self>) -> Self {
        Self::default()
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &CanvasProps) -> bool {
        let (old_source, old_names) = (&old.source, old.names);
        let old_has_axis = old.axis_of_time().is_some();
        let (new, old) = (&ctx.props().query, &old.query);
        if ctx.props().source != *old_source || ctx.props().names != old_names {
            // Another log or other names change the answer to the same query.
            self.asked = None;
            self.asked_small = None;
        }
        if !is_same_tree(new, old) {
            self.select(None);
            self.hovered = None;
        }
        // In time order, positions are relative to the range.
        let moved = new.view == View::Time && new.choice.range != old.choice.range;
        if moved || !is_same_tree(new, old) || new.choice.tracks != old.choice.tracks {
            self.window = Window::ALL;
        }
        if ctx.props().axis_of_time().is_some() != old_has_axis {
            // Ruler and minimap are different elements.
            self.small_painter = None;
            self.small_painted = None;
        }
        self.follow_axis(ctx.props());
        self.show_match(ctx.props());
        self.reveal(ctx.props());
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        let props = ctx.props();
        match msg {
            Msg::Resized | Msg::Scrolled => {}
            Msg::Answered(number, graph) if number == self.number => self.answered(props, graph),
            Msg::Small(number, graph) if number == self.number => {
                self.in_flight = false;
                self.small = graph.or(self.small.take());
                self.small_painted = None;
            }
            Msg::Answered(..) | Msg::Small(..) => return false,
            Msg::Wheel { x, dx, dy, shift } => {
                let (left, right) = self.across(props);
                let width = (right - left).max(1.0);
                if dx.abs() > dy.abs() || shift {
                    self.move_by(props, (dx + if shift { dy } else { 0.0 }) / width);
                } else {
                    self.zoom(props, (-dy * 0.005).exp(), (x - left) / width);
                }
            }
            Msg::Pressed { pointer, x } => self.drag.press(pointer, x),
            Msg::Pointed(pointer, at) => {
                if let Some((x, _)) = at
                    && let Some(from) = self.drag.move_to(pointer, x)
                {
                    let (left, right) = self.across(props);
                    self.move_by(props, (from - x) / (right - left).max(1.0));
                    self.drag.drag_from(x);
                }
                let hovered = at.and_then(|(x, y)| self.hit(props, x, y));
                if hovered == self.hovered && !self.drag.is_pressed() {
                    return false;
                }
                self.hovered = hovered;
                self.emit_pick(props);
            }
            Msg::Released { pointer, x, y } => {
                if self.drag.release(pointer) {
                    let hit = self.hit(props, x, y);
                    self.select(hit);
                    self.emit_pick(props);
                }
            }
            Msg::DoubleClicked { x, y } => match self.hit(props, x, y) {
                Some(index) => self.show_box(props, index),
                None => self.show_all(props),
            },
            Msg::Key(event) => {
                if !self.key(props, &event) {
                    return false;
                }
                self.emit_pick(props);
            }
            Msg::DragEnded => self.drag.cancel(),
            Msg::SmallAt {
                pointer,
                x,
                is_press,
            } => {
                if is_press {
                    self.drag.press(pointer, x);
                }
                let is_pressed = is_press && self.drag.is_pressed();
                if !is_pressed && self.drag.move_to(pointer, x).is_none() {
                    return false;
                }
                let at = x / self.size().0.max(1.0);
                let middle = self.window.left + self.window.width / 2.0;
                self.move_by(props, (at - middle) / self.window.width);
            }
        }
        self.ask(ctx);
        true
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if first {
            self.listen(ctx);
            self.follow_axis(ctx.props());
        }
        self.ask(ctx);
        self.paint(ctx.props());
        self.paint_small(ctx.props());
        self.paint_ruler(ctx.props());
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        let link = ctx.link();
        let ended = link.callback(|_: PointerEvent| Msg::DragEnded);
        let pick = self
            .hovered
            .or(self.selected)
            .and_then(|index| self.pick(props, index));
        let label = match pick {
            Some(pick) => format!("{}. {}: {}", props.label, pick.title, pick.text),
            None => format!(
                "{}. Arrow keys select boxes, Enter zooms to one, Escape shows all.",
                props.label
            ),
        };
        html! {
            <div class="flame-graph">
                if props.axis_of_time().is_some() {
                    { self.ruler(ctx) }
                } else if props.minimap {
                    <div key="small" class="flame-small" aria-hidden="true"
                        onpointerdown={link.callback(|event: PointerEvent| {
                            capture_pointer(&event);
                            small_at(&event, true)
                        })}
                        onpointermove={link.batch_callback(|event: PointerEvent| {
                            (event.buttons() & 1 == 1).then(|| small_at(&event, false))
                        })}
                        onpointerup={ended.clone()} onpointercancel={ended.clone()}>
                        <canvas ref={self.small_canvas.clone()} />
                        <div class="flame-window" ref={self.small_window.clone()} />
                    </div>
                }
                if self.graph.is_none() && self.in_flight {
                    { slow_notice() }
                }
                <div class="flame-canvas" ref={self.scroller.clone()}>
                    <div ref={self.spacer.clone()}>
                        <canvas ref={self.canvas.clone()} tabindex="0" role="application" aria-label={label}
                            onpointerdown={link.batch_callback(|event: PointerEvent| {
                                capture_pointer(&event);
                                let (pointer, (x, _)) = (event.pointer_id(), position(&event));
                                (event.button() == 0).then_some(Msg::Pressed { pointer, x })
                            })}
                            onpointercancel={ended}
                            onpointermove={link.callback(|event: PointerEvent| Msg::Pointed(event.pointer_id(), Some(position(&event))))}
                            onpointerleave={link.callback(|event: PointerEvent| Msg::Pointed(event.pointer_id(), None))}
                            onpointerup={link.callback(|event: PointerEvent| {
                                let (pointer, (x, y)) = (event.pointer_id(), position(&event));
                                Msg::Released { pointer, x, y }
                            })}
                            ondblclick={link.callback(|event: MouseEvent| Msg::DoubleClicked { x: f64::from(event.offset_x()), y: f64::from(event.offset_y()) })}
                            onkeydown={link.callback(Msg::Key)} />
                    </div>
                </div>
            </div>
        }
    }
}
