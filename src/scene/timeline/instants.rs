//! Events at points in time: messages and markers, and what happened on a capability.

use super::Scene;
use crate::scene::item::Names;
use crate::scene::painter::{Painter, Rect};
use crate::timeline::reply::MarkKind;
use crate::timeline::row::Row;

impl<N: Names> Scene<'_, N> {
    pub(super) fn paint_messages(&self, area: Rect, painter: &mut impl Painter) {
        let middle = area.y + area.h / 2.0;
        for (mark, span) in self.marks.of(Row::Messages) {
            let x = self.x(span.start);
            let marker = mark.kind == MarkKind::Marker;
            let colour = if marker {
                self.palette.accent
            } else {
                self.palette.ink2
            };
            painter.fill(
                Rect::new(x - 0.5, area.y + 3.0, 1.0, area.h - 7.0),
                colour.into(),
            );
            if marker {
                let flag = [
                    (x, area.y + 3.0),
                    (x + 7.0, area.y + 6.0),
                    (x, area.y + 9.0),
                ];
                painter.polygon(&flag, colour.into());
            } else {
                let dot = [
                    (x - 3.0, middle),
                    (x, middle - 3.0),
                    (x + 3.0, middle),
                    (x, middle + 3.0),
                ];
                painter.polygon(&dot, colour.into());
            }
        }
    }

    /// What happened on a capability at points in time.
    pub(super) fn paint_instants(&self, _row: Row, _area: Rect, _painter: &mut impl Painter) {}
}
