//! Canvas of the heap chart: painting, pointing, keyboard navigation, range selection, zooming.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{HtmlCanvasElement, HtmlElement};
use yew::prelude::*;

use crate::canvas::CanvasPainter;
use crate::chart::use_size;
use crate::dom::{capture_pointer, consume, has_modifier, position, set_style, wheel_listener};
use crate::theme;
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::painter::Rect;
use scene::viewport::{ViewPosition, Viewport};
use session::heap::chart::Chart;
use views::drag::Drag;
use views::heap::chart::hit::HitTarget;
use views::heap::chart::paint::Scene;
use views::heap::chart::words::describe;
use views::heap::settings::{Form, HeapView};

/// Number of censuses that Page Up and Page Down move by.
const PAGE: usize = 10;

#[derive(Clone, Properties, PartialEq)]
pub(super) struct CanvasProps {
    pub(super) chart: Rc<Option<Chart>>,
    pub(super) form: Form,
    pub(super) one_scale: bool,
    /// Visible time range, and the width of the canvas.
    pub(super) viewport: Viewport,
    pub(super) range: Option<Interval>,
    pub(super) pointed: Option<HitTarget>,
    /// Incremented whenever the colors change.
    pub(super) color_generation: u32,
    pub(super) view: HeapView,
    pub(super) on_view: Callback<HeapView>,
    /// Receives the width of the canvas, in CSS pixels.
    pub(super) on_width: Callback<f64>,
    pub(super) on_point: Callback<Option<HitTarget>>,
    /// Moves the visible time range.
    pub(super) on_axis_change: Callback<ViewPosition>,
    /// Selects a range; `None` clears it.
    pub(super) on_range: Callback<Option<Interval>>,
}

impl CanvasProps {
    fn scene<'a>(&self, chart: &'a Chart, size: (f64, f64)) -> Scene<'a> {
        Scene {
            chart,
            form: self.form,
            one_scale: self.one_scale,
            view: self.viewport,
            area: Rect::new(0.0, 0.0, size.0, size.1),
            palette: theme::current().palette,
            range: self.range,
            pointed: self.pointed,
        }
    }

    /// Returns whether the chart has a time axis.
    fn is_timed(&self) -> bool {
        (*self.chart).as_ref().is_some_and(|chart| chart.timed)
    }

    /// Moves the visible time range; charts without a time axis ignore it.
    fn move_axis(&self, change: impl FnOnce(&mut Viewport)) {
        if self.is_timed() {
            let mut viewport = self.viewport;
            change(&mut viewport);
            self.on_axis_change.emit(viewport.position());
        }
    }

    fn change(&self, edit: impl FnOnce(&mut HeapView)) {
        let mut view = self.view.clone();
        edit(&mut view);
        self.on_view.emit(view);
    }

    /// Returns the key of the pointed band, unless it combines several.
    fn band_key(&self, pointed: Option<HitTarget>) -> Option<String> {
        let chart = (*self.chart).as_ref()?;
        let band = chart.bands.get(pointed?.band?)?;
        band.is_single().then(|| band.key.clone())
    }
}

/// Returns the width at which the time axis aligns with that of the timeline, which may have a scroll bar.
fn width_of(element: &HtmlElement) -> f64 {
    let timeline = gloo_utils::document().query_selector(".timeline");
    let timeline = timeline
        .ok()
        .flatten()
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    let bar = timeline.map_or(0, |it| it.offset_width() - it.client_width());
    f64::from(element.client_width() - bar.clamp(0, 40))
}

/// Renders the canvas with its tooltip.
#[component]
pub(super) fn ChartCanvas(props: &CanvasProps) -> Html {
    let (frame, canvas) = (use_node_ref(), use_node_ref());
    let size = use_size(&frame, |element| {
        (width_of(element), f64::from(element.client_height()))
    });
    let painter = use_mut_ref(|| None::<CanvasPainter>);
    let drag = use_mut_ref(Drag::default);
    {
        let on_width = props.on_width.clone();
        use_effect_with(size.0, move |width| on_width.emit(*width));
    }
    {
        let (props, canvas) = (props.clone(), canvas.clone());
        use_effect_with((props, size), move |(props, size)| {
            let Some(element) = canvas.cast::<HtmlCanvasElement>() else {
                return;
            };
            let chart = props.chart.as_ref().as_ref();
            let scene = chart.map(|chart| props.scene(chart, *size));
            CanvasPainter::repaint(&mut painter.borrow_mut(), &element, *size, |painter| {
                if let Some(scene) = &scene {
                    scene.paint(painter);
                }
            });
            if let Some(scene) = &scene {
                // The tooltip is positioned by this property.
                if let (Some(pointed), Some(frame)) = (props.pointed, element.parent_element())
                    && let Ok(frame) = frame.dyn_into::<HtmlElement>()
                {
                    set_style(
                        &frame,
                        "--pointer-x",
                        &format!("{}px", scene.center_of(pointed).0),
                    );
                }
            }
        });
    }
    use_wheel(&canvas, props);
    let chart = props.chart.as_ref().as_ref();
    let said = chart
        .zip(props.pointed)
        .map(|(chart, pointed)| describe(chart, pointed));
    let label = match &said {
        Some(said) => format!("Chart of the heap. {}", said.sentence()),
        None => "Chart of the heap. Left and right move between censuses, up and down between bands; Enter highlights a band, H hides it, O shows it alone. The table after it has its numbers.".to_owned(),
    };
    let hit = {
        let (chart, props) = (Rc::clone(&props.chart), props.clone());
        move |event: &PointerEvent| {
            let (x, y) = position(event);
            chart
                .as_ref()
                .as_ref()
                .and_then(|chart| props.scene(chart, size).hit(x, y))
        }
    };
    let time_at = {
        let viewport = props.viewport;
        move |x: f64| viewport.time_at(x)
    };
    let onpointerdown = {
        let drag = Rc::clone(&drag);
        move |event: PointerEvent| {
            if event.button() == 0 {
                capture_pointer(&event);
                let x = f64::from(event.offset_x());
                drag.borrow_mut().press(event.pointer_id(), x);
            }
        }
    };
    let onpointermove = {
        let (drag, props, hit) = (Rc::clone(&drag), props.clone(), hit.clone());
        move |event: PointerEvent| {
            let x = f64::from(event.offset_x());
            let from = drag.borrow_mut().move_to(event.pointer_id(), x);
            match from {
                Some(from) if event.shift_key() => {
                    drag.borrow_mut().drag_from(x);
                    props.move_axis(|view| view.pan(from - x));
                }
                Some(from) if props.is_timed() => {
                    let (a, b) = (time_at(from), time_at(x));
                    props.on_range.emit(Some(Interval::new(a.min(b), a.max(b))));
                }
                Some(_) => {}
                None => props.on_point.emit(hit(&event)),
            }
        }
    };
    let onpointerup = {
        let (drag, props) = (Rc::clone(&drag), props.clone());
        move |event: PointerEvent| {
            let is_click = drag.borrow_mut().release(event.pointer_id());
            if !is_click {
                return;
            }
            match props.band_key(hit(&event)) {
                Some(key) => props.change(|view| view.pin(&key)),
                None if props.range.is_some() => props.on_range.emit(None),
                None => {}
            }
        }
    };
    let onpointercancel = {
        let drag = Rc::clone(&drag);
        move |_: PointerEvent| drag.borrow_mut().cancel()
    };
    let onpointerleave = props.on_point.reform(|_: PointerEvent| None);
    let ondblclick = {
        let props = props.clone();
        move |_: MouseEvent| props.move_axis(Viewport::fit)
    };
    let onkeydown = {
        let props = props.clone();
        move |event: KeyboardEvent| {
            if key(&props, &event) {
                consume(&event);
            }
        }
    };
    html! {
        <div class="heap-canvas" ref={frame}>
            <canvas ref={canvas} tabindex="0" role="application" aria-label={label}
                {onpointerdown} {onpointermove} {onpointerup} {onpointercancel} {onpointerleave} {ondblclick} {onkeydown} />
            { tip(props, size) }
            <p class="visually-hidden" aria-live="polite">{ said.map(|said| said.sentence()) }</p>
        </div>
    }
}

/// Handles the wheel as the timeline does: zooming and panning.
#[hook]
fn use_wheel(canvas: &NodeRef, props: &CanvasProps) {
    let canvas = canvas.clone();
    let latest = props.clone();
    use_effect_with((props.viewport, props.chart.clone()), move |_| {
        let listener = canvas.cast::<HtmlElement>().map(|element| {
            wheel_listener(&element, move |event| {
                event.prevent_default();
                let (dx, dy, (x, _)) = (event.delta_x(), event.delta_y(), position(event));
                let speed = if event.ctrl_key() { 0.01 } else { 0.0022 };
                latest.move_axis(|view| {
                    if dx.abs() > dy.abs() {
                        view.pan(dx);
                    } else if event.shift_key() {
                        view.pan(dy);
                    } else {
                        view.zoom((-dy * speed).exp(), x);
                    }
                });
            })
        });
        move || drop(listener)
    });
}

/// Handles a key; returns false if it is not for the chart.
fn key(props: &CanvasProps, event: &KeyboardEvent) -> bool {
    let Some(chart) = props.chart.as_ref() else {
        return false;
    };
    if has_modifier(event) || chart.stacks.is_empty() {
        return false;
    }
    let last = chart.stacks.len() - 1;
    let at = props.pointed.filter(|pointed| pointed.stack <= last);
    let stack = |to: usize| {
        let band = at.and_then(|pointed| pointed.band).or(Some(0));
        props.on_point.emit(Some(HitTarget {
            stack: to.min(last),
            band,
        }));
    };
    let band = |up: bool| {
        let bands = chart.bands.len().max(1);
        let step = |band: usize| (band + if up { 1 } else { bands - 1 }) % bands;
        let now = at.and_then(|pointed| pointed.band);
        let to = HitTarget {
            stack: at.map_or(last, |pointed| pointed.stack),
            band: Some(now.map_or(0, step)),
        };
        props.on_point.emit(Some(to));
    };
    let middle = at.and_then(|pointed| chart.stacks.at.get(pointed.stack).copied());
    let here = at.map_or(last, |pointed| pointed.stack);
    let zoom = |factor: f64| {
        props.move_axis(|view| {
            let x = middle.map_or(view.width_px() / 2.0, |at| view.x_of(Nanos(at as u64)));
            view.zoom(factor, x.clamp(0.0, view.width_px()));
        });
    };
    let key = event.key();
    match key.as_str() {
        "ArrowLeft" => stack(if at.is_some() {
            here.saturating_sub(1)
        } else {
            last
        }),
        "ArrowRight" => stack(if at.is_some() { here + 1 } else { 0 }),
        "PageUp" => stack(here + PAGE),
        "PageDown" => stack(here.saturating_sub(PAGE)),
        "Home" => stack(0),
        "End" => stack(last),
        "ArrowUp" => band(true),
        "ArrowDown" => band(false),
        "+" | "=" => zoom(1.5),
        "-" => zoom(1.0 / 1.5),
        "Escape" if at.is_some() => props.on_point.emit(None),
        "Enter" | " " | "h" | "H" | "o" | "O" => {
            let Some(name) = props.band_key(at) else {
                return false;
            };
            props.change(|view| match key.as_str() {
                "h" | "H" => view.hide(&name),
                "o" | "O" => view.alone(&name),
                _ => view.pin(&name),
            });
        }
        _ => return false,
    }
    true
}

/// Renders the tooltip next to the line through the pointed census, on the side with more room: below the pointer in
/// the upper half, above it in the lower half.
fn tip(props: &CanvasProps, size: (f64, f64)) -> Html {
    let Some((chart, pointed)) = props.chart.as_ref().as_ref().zip(props.pointed) else {
        return html! {};
    };
    if pointed.stack >= chart.stacks.len() {
        return html! {};
    }
    let (x, y) = props.scene(chart, size).center_of(pointed);
    let said = describe(chart, pointed);
    let side = (x > size.0 / 2.0).then_some("to-left");
    let height = (y < size.1 / 2.0).then_some("low");
    let fact = |(what, text): &(&str, String)| html! { <><dt>{ *what }</dt><dd>{ text }</dd></> };
    html! {
        <div class={classes!("tip", side, height)} aria-hidden="true">
            <strong>{ said.title.clone() }</strong>
            <dl>{ for said.facts.iter().map(fact) }</dl>
        </div>
    }
}
