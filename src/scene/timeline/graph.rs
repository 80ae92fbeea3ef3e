//! Graphs: how many capabilities are busy, memory, sparks, counters.

use super::Scene;
use crate::scene::item::Names;
use crate::scene::painter::{Paint, Painter, Rect};
use crate::timeline::class::Class;
use crate::timeline::row::Row;

impl<N: Names> Scene<'_, N> {
    /// Lines and areas of a graph.
    pub(super) fn paint_graph(&self, _row: Row, _area: Rect, _painter: &mut impl Painter) {}

    /// How many capabilities run Haskell code, and on top how many collect.
    pub(super) fn paint_activity(&self, area: Rect, painter: &mut impl Painter) {
        let (bottom, scale) = (
            area.y + area.h - 4.0,
            (area.h - 12.0) / self.caps.max(1) as f64,
        );
        let mut running = Outline::new(bottom);
        let mut both = Outline::new(bottom);
        for (mark, span) in self.marks.of(Row::Activity) {
            let share =
                |class: Class| f64::from(mark.shares.get(class as usize).copied().unwrap_or(0.0));
            let (left, right) = (self.x(span.start), self.x(span.end));
            let run = share(Class::Running) * scale;
            running.step(left, right, run);
            both.step(left, right, run + share(Class::Gc) * scale);
        }
        for k in 1..=self.caps.min(8) as u32 {
            let y = bottom - scale * f64::from(k);
            painter.fill(
                Rect::new(area.x, y, area.w, 1.0),
                self.palette.faint_line.into(),
            );
        }
        painter.polygon(&both.finish(), self.palette.gc.into());
        painter.polygon(&running.finish(), Paint::from(self.palette.running));
    }
}

/// The outline of an area that rises in steps from a bottom line.
pub(super) struct Outline {
    bottom: f64,
    points: Vec<(f64, f64)>,
}

impl Outline {
    pub(super) const fn new(bottom: f64) -> Self {
        Self {
            bottom,
            points: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, left: f64, right: f64, height: f64) {
        let y = self.bottom - height;
        match self.points.last_mut() {
            Some(last) if (last.0 - left).abs() < 0.5 => {
                // As high as the step before: that one is longer.
                if last.1 == y {
                    last.0 = right;
                    return;
                }
            }
            Some(&mut (x, _)) => self.points.extend([(x, self.bottom), (left, self.bottom)]),
            None => self.points.push((left, self.bottom)),
        }
        self.points.extend([(left, y), (right, y)]);
    }

    pub(super) fn finish(mut self) -> Vec<(f64, f64)> {
        if let Some(&(x, _)) = self.points.last() {
            self.points.push((x, self.bottom));
        }
        self.points
    }
}
