//! The time axis.

use super::{MINIMAP_PX, RULER_PX, Scene, TOP_PX};
use crate::scene::painter::{Align, Face, Painter, Rect};
use crate::scene::ruler::ticks;
use crate::tracks::item::Names;

/// How far named times are apart at least, in pixels.
const TICK_PX: f64 = 90.0;

impl<N: Names> Scene<'_, N> {
    /// Faint lines through the tracks below the times that are named.
    pub(super) fn paint_time_lines(&self, painter: &mut impl Painter) {
        let body = self.body();
        for tick in ticks(self.view.span(), self.view.width_px(), TICK_PX) {
            let x = self.x(tick.time).round();
            if tick.major && x >= body.x {
                let line = Rect::new(x, body.y, 1.0, body.h);
                painter.fill(line, self.palette.faint_line.into());
            }
        }
    }

    pub(super) fn paint_ruler(&self, painter: &mut impl Painter) {
        let (width, labels) = (self.size.0, self.labels_px());
        painter.fill(
            Rect::new(0.0, MINIMAP_PX, width, RULER_PX),
            self.palette.panel.into(),
        );
        painter.clip(Rect::new(
            labels,
            MINIMAP_PX,
            (width - labels).max(0.0),
            RULER_PX,
        ));
        for tick in ticks(self.view.span(), self.view.width_px(), TICK_PX) {
            let x = self.x(tick.time);
            let line = if tick.major {
                self.palette.line
            } else {
                self.palette.faint_line
            };
            painter.fill(Rect::new(x, TOP_PX - 5.0, 1.0, 5.0), line.into());
            if tick.major {
                painter.text(
                    &tick.label,
                    (x + 4.0, MINIMAP_PX + RULER_PX / 2.0),
                    Face::Mono,
                    Align::Left,
                    self.palette.ink2.into(),
                );
            }
        }
        painter.unclip();
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
