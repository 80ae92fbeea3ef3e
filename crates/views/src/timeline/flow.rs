//! Arrows that show what woke the hovered or selected thread, and where it migrated.

use super::Scene;
use crate::timeline::layout::Track;
use analysis::timeline::flow::{Arrow, ArrowKind};
use scene::painter::{Paint, Painter, Rect};
use session::tracks::TrackId;
use session::tracks::capability::Capability;
use session::tracks::thread::Thread;

/// Number of line segments per curve.
const LINES: u32 = 24;
/// Minimum horizontal distance of the control points from the ends of a curve, in pixels.
const MIN_BEND_PX: f64 = 14.0;
/// Maximum distance of a curve's end from the picture, in pixels.
const BEYOND_PX: f64 = 200.0;

type Point = (f64, f64);

impl Scene<'_> {
    /// Paints a solid curve for each wakeup and a dashed one for each migration.
    pub(super) fn paint_arrows(&self, painter: &mut dyn Painter) {
        if self.focus.arrows.is_empty() {
            return;
        }
        painter.clip(self.body());
        for arrow in self.focus.arrows {
            let (from, targets) = self.arrow_rows(arrow);
            for to in targets {
                let start = self.arrow_end(arrow.from, from.unwrap_or(to));
                let end = self.arrow_end(arrow.to, to);
                if let (Some(start), Some(end)) = (start, end) {
                    self.paint_arrow(arrow.kind, start, end, painter);
                }
            }
        }
        painter.unclip();
    }

    /// Returns the start row of an arrow, if visible, and its end row: that of the thread or, if that is not
    /// visible, of the capability.
    fn arrow_rows(&self, arrow: &Arrow) -> (Option<TrackId>, Vec<TrackId>) {
        let seen = |row: TrackId| Some(row).filter(|row| self.is_seen(*row));
        let thread_row = |thread| seen(Thread(thread).into());
        let cap_row = |cap| seen(Capability(cap).into());
        let is_wakeup = arrow.kind == ArrowKind::Wakeup;
        let waker = arrow.from_thread.filter(|_| is_wakeup);
        let from = waker
            .and_then(thread_row)
            .or_else(|| arrow.from_cap.and_then(cap_row));
        let to = thread_row(arrow.thread).or_else(|| arrow.to_cap.and_then(cap_row));
        (from, to.into_iter().collect())
    }

    /// Returns whether a row is in the picture and not scrolled out of view.
    fn is_seen(&self, row: TrackId) -> bool {
        self.layout.find(row).is_some_and(|index| {
            let height = self.layout.tracks().get(index).map_or(0.0, Track::height);
            let (y, pinned) = (self.y(index), index < self.layout.pinned());
            pinned || (y + height > self.scrolled_top() && y < self.size.1)
        })
    }

    /// Returns the position of an arrow's end: the middle of the row, clamped to the edge of the picture if the
    /// row is scrolled out of view.
    fn arrow_end(&self, time: eventlog::ids::Nanos, row: TrackId) -> Option<Point> {
        let index = self.layout.find(row)?;
        let track = self.layout.tracks().get(index)?;
        let middle = self.y(index) + track.height() / 2.0;
        let (width, height) = self.size;
        let top = self.visible_top(track);
        let x = self.x(time);
        let x = x.max(self.labels_px() - BEYOND_PX).min(width + BEYOND_PX);
        Some((x, middle.max(top).min(height.max(top))))
    }

    fn paint_arrow(&self, kind: ArrowKind, from: Point, to: Point, painter: &mut dyn Painter) {
        let bend = ((to.0 - from.0).abs() / 2.0).max(MIN_BEND_PX);
        let bend = if from.1 == to.1 { 0.0 } else { bend };
        let controls = [from, (from.0 + bend, from.1), (to.0 - bend, to.1), to];
        let points: Vec<Point> = (0..=LINES)
            .map(|i| on_curve(controls, f64::from(i) / f64::from(LINES)))
            .collect();
        let head = [to, (to.0 - 7.0, to.1 - 4.0), (to.0 - 7.0, to.1 + 4.0)];
        // An outline in the page color separates the arrow from the bars below.
        let strokes: [(f64, Paint); 2] = [
            (4.0, self.palette.page.alpha(0.7)),
            (1.5, self.palette.ink.alpha(0.85)),
        ];
        for (width, paint) in strokes {
            for (i, line) in points.windows(2).enumerate() {
                let gap = kind == ArrowKind::Migration && i % 2 == 1;
                if let (false, [a, b]) = (gap, line) {
                    painter.line(*a, *b, width, paint);
                }
            }
        }
        painter.polygon(&head, self.palette.ink.alpha(0.85));
        let foot = Rect::new(from.0 - 2.0, from.1 - 2.0, 4.0, 4.0);
        painter.fill(foot, self.palette.ink.alpha(0.85));
    }
}

/// Evaluates a cubic Bézier curve at `part` between 0 and 1.
fn on_curve(controls: [Point; 4], part: f64) -> Point {
    let rest = 1.0 - part;
    let weights = [
        rest * rest * rest,
        3.0 * rest * rest * part,
        3.0 * rest * part * part,
        part * part * part,
    ];
    let sum = |of: fn(&Point) -> f64| -> f64 {
        let parts = controls.iter().zip(weights);
        parts.map(|(point, weight)| of(point) * weight).sum()
    };
    (sum(|point| point.0), sum(|point| point.1))
}
