//! Moments: a tick for each mark, for tracks without a sign of their own.

use super::Scene;
use crate::scene::painter::{Painter, Rect};
use crate::tracks::Row;
use crate::tracks::item::Names;

impl<N: Names> Scene<'_, N> {
    pub(crate) fn paint_moments(&self, row: Row, area: Rect, painter: &mut impl Painter) {
        for (_, span) in self.marks.of(row) {
            let x = self.x(span.start());
            let tick = Rect::new(x - 0.5, area.y + 3.0, 1.0, area.h - 7.0);
            painter.fill(tick, self.palette.ink2.into());
        }
    }
}
