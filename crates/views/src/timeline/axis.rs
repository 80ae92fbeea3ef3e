//! Painting of the time axis and its grid lines.

use super::{MINIMAP_PX, RULER_PX, Scene, TOP_PX};
use scene::painter::{Painter, Rect};
use scene::ruler::{Ruler, TICK_PX, ticks};

impl Scene<'_> {
    /// Paints faint lines through the tracks below the labeled times.
    pub(super) fn paint_time_lines(&self, painter: &mut dyn Painter) {
        let body = self.body();
        for tick in ticks(self.view.span(), self.view.width_px(), TICK_PX) {
            let x = self.x(tick.time).round();
            if tick.major && x >= body.x {
                let line = Rect::new(x, body.y, 1.0, body.h);
                painter.fill(line, self.palette.faint_line.into());
            }
        }
    }

    pub(super) fn paint_ruler(&self, painter: &mut dyn Painter) {
        let (width, labels) = (self.size.0, self.labels_px());
        painter.fill(
            Rect::new(0.0, MINIMAP_PX, width, RULER_PX),
            self.palette.panel.into(),
        );
        let ruler = Ruler {
            view: self.view,
            area: Rect::new(labels, MINIMAP_PX, self.body().w, RULER_PX),
            palette: self.palette,
        };
        ruler.paint(painter);
        painter.fill(
            Rect::new(0.0, TOP_PX - 1.0, width, 1.0),
            self.palette.line.into(),
        );
        painter.fill(
            Rect::new(labels - 1.0, MINIMAP_PX, 1.0, RULER_PX),
            self.palette.line.into(),
        );
    }
}
