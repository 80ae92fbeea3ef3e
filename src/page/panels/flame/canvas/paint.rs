//! Painting of the graph and of the minimap.

use web_sys::{HtmlCanvasElement, HtmlElement};

use super::{CanvasProps, FlameCanvas, SMALL_PX};
use crate::canvas::CanvasPainter;
use crate::dom::{parent_width, set_style};
use crate::theme;
use views::flame::{FlameScene, Graph, Minimap};

impl FlameCanvas {
    pub(super) fn scene<'a>(&self, graph: &'a Graph, props: &CanvasProps) -> FlameScene<'a> {
        let theme = theme::current();
        FlameScene {
            graph,
            window: self.window,
            scroll_px: self.scroll_px(),
            size: self.size(),
            across: self.across(props),
            upwards: props.upwards,
            palette: theme.palette,
            dark: theme.dark,
            hovered: self.hovered,
            selected: self.selected,
            searching: !props.query.search.trim().is_empty(),
        }
    }

    pub(super) fn paint(&mut self, props: &CanvasProps) {
        let size = self.size();
        let Some(canvas) = self.canvas.cast::<HtmlCanvasElement>() else {
            return;
        };
        if size.0 < 1.0 {
            return;
        }
        self.set_height(props);
        let mut painter = self.painter.take();
        CanvasPainter::repaint(&mut painter, &canvas, size, |painter| {
            if let Some(graph) = &self.graph {
                self.scene(graph, props).paint(painter);
            }
        });
        self.painter = painter;
        self.show_window();
    }

    /// Marks the visible part in the minimap.
    pub(super) fn show_window(&self) {
        let Some(part) = self.small_window.cast::<HtmlElement>() else {
            return;
        };
        for (name, value) in [("left", self.window.left), ("width", self.window.width)] {
            set_style(&part, name, &format!("{}%", value * 100.0));
        }
    }

    pub(super) fn paint_small(&mut self, props: &CanvasProps) {
        let canvas = self.small_canvas.cast::<HtmlCanvasElement>();
        let Some(canvas) = canvas.filter(|_| props.axis_of_time().is_none()) else {
            return;
        };
        let width = parent_width(&canvas);
        let painted = Some((width, props.color_generation));
        if self.small_painted == painted {
            return;
        }
        self.small_painted = painted;
        let size = (width, SMALL_PX);
        CanvasPainter::repaint(&mut self.small_painter, &canvas, size, |painter| {
            if let Some(graph) = &self.small {
                let theme = theme::current();
                let minimap = Minimap {
                    graph,
                    size,
                    palette: theme.palette,
                    dark: theme.dark,
                };
                minimap.paint(painter);
            }
        });
    }

    /// Sets the height of the spacer to that of the graph; a graph that grows upward is scrolled to its foot.
    pub(super) fn set_height(&self, props: &CanvasProps) {
        let (Some(graph), Some(spacer), Some(scroller)) = (
            &self.graph,
            self.spacer.cast::<HtmlElement>(),
            self.scroller.cast::<HtmlElement>(),
        ) else {
            return;
        };
        let height = format!("{}px", graph.height_px().max(self.size().1));
        if spacer.style().get_property_value("height").as_deref() == Ok(&height) {
            return;
        }
        set_style(&spacer, "height", &height);
        if props.upwards {
            scroller.set_scroll_top(scroller.scroll_height());
        }
    }
}
