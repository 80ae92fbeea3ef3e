//! Areas outside of the log while a second log is shown on the same axis.
//!
//! They are hatched and labeled with the end of the log, to distinguish them from idle time.

use super::{MINIMAP_PX, Scene, TOP_PX};
use scene::painter::{Align, Face, Painter, Rect};
use scene::viewport::LogEnd;

/// Distance of the label from the end of the log, in pixels.
const WORDS_PX: f64 = 10.0;
/// Height of the label background, in pixels.
const GROUND_PX: f64 = 18.0;

/// Returns the label for an end of the log, depending on whether that end is in view.
const fn end_words(end: LogEnd, is_in_view: bool) -> &'static str {
    match (end, is_in_view) {
        (LogEnd::First, true) => "Log begins here",
        (LogEnd::First, false) => "Log begins later",
        (LogEnd::Last, true) => "Log ends here",
        (LogEnd::Last, false) => "Log ended before",
    }
}

impl Scene<'_> {
    /// Returns the part of `area` outside of the log, between `times_ns`.
    fn outside_log_area(
        &self,
        area: Rect,
        times_ns: (f64, f64),
        x_of_ns: impl Fn(f64) -> f64,
    ) -> Rect {
        let (from, to) = (x_of_ns(times_ns.0), x_of_ns(times_ns.1));
        Rect::new(from, area.y, to - from, area.h).common(area)
    }

    /// Paints the areas on the tracks, with labels where there is room.
    pub(super) fn paint_outside_log(&self, painter: &mut dyn Painter) {
        let body = self.body();
        let (start_ns, _) = self.view.edges_ns();
        let x_of_ns = |ns: f64| body.x + (ns - start_ns) / self.view.ns_per_px();
        for (end, from_ns, to_ns) in self.view.beyond_ns() {
            let area = self.outside_log_area(body, (from_ns, to_ns), x_of_ns);
            if area.w <= 0.0 {
                continue;
            }
            self.paint_outside(area, painter);
            let (edge, align) = match end {
                LogEnd::First => (x_of_ns(to_ns), Align::Right),
                LogEnd::Last => (x_of_ns(from_ns), Align::Left),
            };
            let is_in_view = (body.x..body.x + body.w).contains(&edge);
            if is_in_view {
                let line = Rect::new(edge - 0.75, body.y, 1.5, body.h);
                painter.fill(line, self.palette.ink3.into());
            }
            let words = end_words(end, is_in_view);
            let width = painter.measure(words, Face::Label) + WORDS_PX;
            if width + WORDS_PX / 2.0 > area.w {
                continue;
            }
            let left = match align {
                _ if !is_in_view => area.x + (area.w - width) / 2.0,
                Align::Right => edge - WORDS_PX / 2.0 - width,
                _ => edge + WORDS_PX / 2.0,
            };
            let top = TOP_PX + WORDS_PX;
            let ground = Rect::new(left, top, width, GROUND_PX);
            painter.fill(ground, self.palette.panel.into());
            let at = (left + width / 2.0, top + GROUND_PX / 2.0);
            let ink = self.palette.ink2.into();
            painter.text(words, at, Face::Label, Align::Center, ink);
        }
    }

    /// Paints the areas on the minimap.
    pub(super) fn paint_minimap_outside_log(&self, painter: &mut dyn Painter) {
        let body = self.body();
        let area = Rect::new(body.x, 0.0, body.w, MINIMAP_PX);
        for (_, from_ns, to_ns) in self.view.beyond_ns() {
            let x_of_ns = |ns: f64| self.minimap_x_of_ns(ns);
            self.paint_outside(
                self.outside_log_area(area, (from_ns, to_ns), x_of_ns),
                painter,
            );
        }
    }

    fn paint_outside(&self, area: Rect, painter: &mut dyn Painter) {
        if area.w > 0.0 {
            painter.fill(area, self.palette.line.alpha(0.35));
            painter.hatch(area, self.palette.ink3.alpha(0.18));
        }
    }
}
