//! Painting of the minimap: the activity of the whole log, and the part of it in view.

use super::Scene;
use eventlog::ids::Nanos;
use scene::painter::{Painter, Rect};
use session::tracks::activity::{Stack, outline};

/// Height of the minimap, in pixels.
pub(crate) const MINIMAP_PX: f64 = 32.0;

impl Scene<'_> {
    /// Returns the position of a time on the minimap, in pixels.
    fn minimap_x(&self, time: Nanos) -> f64 {
        self.minimap_x_of_ns(time.0 as f64)
    }

    pub(super) fn minimap_x_of_ns(&self, time_ns: f64) -> f64 {
        let body = self.body();
        body.x + self.view.part_of_all(time_ns) * body.w
    }

    pub(super) fn paint_minimap(&self, painter: &mut dyn Painter) {
        let (width, labels) = (self.size.0, self.labels_px());
        let panel = Rect::new(0.0, 0.0, width, MINIMAP_PX);
        painter.fill(panel, self.palette.panel.into());
        painter.clip(Rect::new(labels, 0.0, self.body().w, MINIMAP_PX));
        self.paint_minimap_activity(painter);
        self.paint_minimap_outside_log(painter);
        painter.unclip();
    }

    /// Paints the selected range on the minimap, and the window in view.
    pub(super) fn paint_minimap_window(&self, painter: &mut dyn Painter) {
        let (width, labels) = (self.size.0, self.labels_px());
        painter.clip(Rect::new(labels, 0.0, self.body().w, MINIMAP_PX));
        if let Some(range) = self.focus.range {
            let (from, to) = (self.minimap_x(range.start()), self.minimap_x(range.end()));
            let area = Rect::new(from, 0.0, (to - from).max(1.0), MINIMAP_PX);
            painter.fill(area, self.palette.accent.alpha(0.25));
        }
        self.paint_window(painter);
        painter.unclip();
        let line = Rect::new(0.0, MINIMAP_PX - 1.0, width, 1.0);
        painter.fill(line, self.palette.line.into());
        let line = Rect::new(labels - 1.0, 0.0, 1.0, MINIMAP_PX);
        painter.fill(line, self.palette.line.into());
    }

    fn paint_minimap_activity(&self, painter: &mut dyn Painter) {
        let (bottom, scale) = (
            MINIMAP_PX - 3.0,
            (MINIMAP_PX - 8.0) / self.caps.max(1) as f64,
        );
        let stack = Stack::from_marks(self.overview, |time| self.minimap_x(time), self.body());
        stack.paint_unread((bottom, scale), self.palette, painter);
        let collecting = outline(&stack.collecting, bottom, scale);
        painter.polygon(&collecting, self.palette.gc.alpha(0.8));
        let running = stack.running.last().map_or(&[][..], Vec::as_slice);
        let running = outline(running, bottom, scale);
        painter.polygon(&running, self.palette.running.alpha(0.8));
    }

    /// Dims everything outside of the view and frames the view.
    fn paint_window(&self, painter: &mut dyn Painter) {
        let body = self.body();
        let (start_ns, end_ns) = self.view.edges_ns();
        let from = self.minimap_x_of_ns(start_ns).max(body.x);
        let to = self.minimap_x_of_ns(end_ns).min(body.x + body.w);
        // A narrower window would be invisible.
        let (from, to) = if to - from < 4.0 {
            (from - 2.0, from + 2.0)
        } else {
            (from, to)
        };
        let dim = self.palette.page.alpha(0.6);
        painter.fill(Rect::new(body.x, 0.0, from - body.x, MINIMAP_PX), dim);
        painter.fill(Rect::new(to, 0.0, body.x + body.w - to, MINIMAP_PX), dim);
        let accent = self.palette.accent;
        for x in [from, to - 1.5] {
            painter.fill(Rect::new(x, 0.0, 1.5, MINIMAP_PX - 1.0), accent.into());
        }
        painter.fill(Rect::new(from, 0.0, to - from, 1.5), accent.into());
    }
}
