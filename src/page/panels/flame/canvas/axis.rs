//! The visible part of the graph. In time order it is that of the timeline, on a shared axis: zooming or panning one
//! moves the other. In other orders the graph has its own window.

use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use super::{CanvasProps, FlameCanvas, Msg};
use crate::canvas::CanvasPainter;
use crate::dom::{capture_pointer, parent_width};
use crate::theme;
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::painter::{Painter, Rect};
use scene::ruler::Ruler;
use scene::viewport::Viewport;
use session::flame::query::{FlameQuery, View};
use views::flame::Window;

impl CanvasProps {
    /// Returns the axis shared with the timeline: viewport, left edge in pixels, and the time covered by the whole
    /// graph.
    pub(super) fn axis_of_time(&self) -> Option<(Viewport, f64, Interval)> {
        let range = self.query.choice.range?;
        let axis = self.axis.filter(|_| self.query.view == View::Time)?;
        Some((axis.view, axis.left_px, range))
    }
}

impl FlameCanvas {
    /// Returns the left and right edge of the window on the canvas, in pixels.
    pub(super) fn across(&self, props: &CanvasProps) -> (f64, f64) {
        match props.axis_of_time() {
            Some((view, left, _)) => (left, left + view.width_px()),
            None => (0.0, self.size().0),
        }
    }

    /// Moves the window to the visible time of the timeline, if the axis is shared.
    pub(super) fn follow_axis(&mut self, props: &CanvasProps) {
        if let Some((view, _, range)) = props.axis_of_time() {
            self.window = Window::on_axis(view, range);
        }
    }

    /// Changes the visible part: on the shared axis, or else in the own window.
    fn change(
        &mut self,
        props: &CanvasProps,
        axis: impl FnOnce(&mut Viewport, Interval),
        window: impl FnOnce(Window) -> Window,
    ) {
        let Some((mut view, _, range)) = props.axis_of_time() else {
            self.window = window(self.window);
            return;
        };
        axis(&mut view, range);
        self.window = Window::on_axis(view, range);
        props.on_axis_change.emit(view.position());
    }

    /// Zooms at a position of the window, from 0 to 1.
    pub(super) fn zoom(&mut self, props: &CanvasProps, factor: f64, at: f64) {
        self.change(
            props,
            |view, _| view.zoom(factor, at * view.width_px()),
            |window| window.zoomed(factor, at),
        );
    }

    /// Pans by a share of the window's width.
    pub(super) fn move_by(&mut self, props: &CanvasProps, part: f64) {
        self.change(
            props,
            |view, _| view.pan(part * view.width_px()),
            |window| window.shifted(part),
        );
    }

    /// Shows a part of the graph, given from 0 to 1 of its width.
    pub(super) fn show_part(&mut self, props: &CanvasProps, left: f64, width: f64) {
        let time = |range: Interval, part: f64| {
            let ns = part.clamp(0.0, 1.0) * range.duration().0 as f64;
            Nanos(range.start().0.saturating_add(ns as u64))
        };
        self.change(
            props,
            |view, range| {
                let (from, to) = (time(range, left), time(range, left + width));
                view.show_exactly(Interval::new(from, to.max(from)));
            },
            |_| Window::around(left, width),
        );
    }

    /// Shows the whole graph.
    pub(super) fn show_all(&mut self, props: &CanvasProps) {
        self.change(props, |view, _| view.fit(), |_| Window::ALL);
    }

    /// Returns whether the whole graph is visible.
    pub(super) fn is_all(&self, props: &CanvasProps) -> bool {
        match props.axis_of_time() {
            Some((view, ..)) => view.visible().is_none(),
            None => self.window == Window::ALL,
        }
    }

    /// Returns the query for a window, limited to the part that has contents.
    pub(super) fn query(&self, props: &CanvasProps, window: Window) -> FlameQuery {
        let (first, last) = self.across(props);
        let left = window.left.clamp(0.0, 1.0);
        let right = (window.left + window.width).clamp(left, 1.0);
        let px = (last - first) * (right - left) / window.width;
        FlameQuery {
            window: (left, (right - left).max(f64::MIN_POSITIVE)),
            width_px: px.max(1.0) as u32,
            ..props.query.clone()
        }
    }

    /// Renders the ruler above the graph, which can be dragged like that of the timeline.
    pub(super) fn ruler(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let down = link.callback(|event: PointerEvent| {
            capture_pointer(&event);
            Msg::Pressed {
                pointer: event.pointer_id(),
                x: f64::from(event.offset_x()),
            }
        });
        let moved = link.batch_callback(|event: PointerEvent| {
            let x = f64::from(event.offset_x());
            let moved = Msg::Pointed(event.pointer_id(), Some((x, -1.0)));
            (event.buttons() & 1 == 1).then_some(moved)
        });
        let up = link.callback(|_: PointerEvent| Msg::DragEnded);
        html! {
            <div key="ruler" class="flame-ruler" aria-hidden="true" onpointerdown={down} onpointermove={moved}
                onpointerup={up.clone()} onpointercancel={up}>
                <canvas ref={self.small_canvas.clone()} />
            </div>
        }
    }

    /// Paints the ruler, if the axis is shared.
    pub(super) fn paint_ruler(&mut self, props: &CanvasProps) {
        let Some((view, left, _)) = props.axis_of_time() else {
            return;
        };
        let Some(canvas) = self.small_canvas.cast::<HtmlCanvasElement>() else {
            return;
        };
        let width = parent_width(&canvas);
        let palette = theme::current().palette;
        let size = (width, RULER_PX);
        CanvasPainter::repaint(&mut self.small_painter, &canvas, size, |painter| {
            painter.fill(Rect::new(0.0, 0.0, width, RULER_PX), palette.panel.into());
            let ruler = Ruler {
                view,
                area: Rect::new(left, 0.0, view.width_px(), RULER_PX),
                palette,
            };
            ruler.paint(painter);
            painter.fill(
                Rect::new(left - 1.0, 0.0, 1.0, RULER_PX),
                palette.line.into(),
            );
        });
    }
}

/// Height of the ruler, in CSS pixels.
const RULER_PX: f64 = 24.0;
