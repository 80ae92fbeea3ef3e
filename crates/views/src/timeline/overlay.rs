//! Painting of the layers below and above the tracks: selected range, outlines, measurement, cursor and pointer.

use super::{RULER_PX, Scene, TOP_PX};
use crate::timeline::MINIMAP_PX;
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::format;
use scene::painter::{Align, Face, Painter, Rect};
use session::tracks::item::Item;

impl Scene<'_> {
    /// Paints the selected range. It lies below the marks, so that their colors are unchanged; if it is limited to
    /// some tracks, only those are painted.
    pub(super) fn paint_range(&self, painter: &mut dyn Painter) {
        let Some(range) = self.focus.range else {
            return;
        };
        let (left, right) = self.range_edges(range);
        let width = (right - left).max(1.0);
        if !self.layout.is_limited() {
            let area = Rect::new(left, TOP_PX, width, self.size.1);
            painter.fill(area, self.palette.accent.alpha(0.13));
            return;
        }
        for index in self.layout.visible_tracks(self.scroll_px, self.body().h) {
            let tracks = self.layout.tracks();
            if let Some(track) = tracks.get(index).filter(|track| track.selected) {
                let area = Rect::new(left, self.y(index), width, track.height());
                painter.fill(area, self.palette.accent.alpha(0.18));
            }
        }
    }

    fn range_edges(&self, range: Interval) -> (f64, f64) {
        let labels = self.labels_px();
        (
            self.x(range.start()).max(labels),
            self.x(range.end()).min(self.size.0).max(labels),
        )
    }

    pub(super) fn paint_overlay(&self, painter: &mut dyn Painter) {
        let height = self.size.1;
        let body = self.body();
        let top = MINIMAP_PX;
        painter.clip(Rect::new(body.x, top, body.w, (height - top).max(0.0)));
        self.paint_highlights(painter);
        self.paint_range_edges(painter);
        for (item, alpha) in [(self.focus.selected, 1.0), (self.focus.hovered, 0.6)] {
            if let Some(item) = item.filter(|item| !item.row.is_graph()) {
                self.outline(item, alpha, painter);
            }
        }
        self.paint_arrows(painter);
        if let Some(time) = self.focus.cursor {
            let x = self.x(time);
            let paint = self.palette.ink2.into();
            painter.fill(Rect::new(x - 0.5, TOP_PX - 6.0, 1.0, height), paint);
            painter.fill(Rect::new(x - 3.0, TOP_PX - 9.0, 6.0, 6.0), paint);
        }
        if let Some(measure) = self.focus.measure {
            self.paint_measure(measure, painter);
        }
        if let Some(time) = self.focus.pointer {
            let x = self.x(time).round() + 0.5;
            painter.dashed((x, TOP_PX), (x, height), self.palette.ink3.into());
        }
        painter.unclip();
    }

    /// Paints the edges of the range, and its duration on the time axis.
    fn paint_range_edges(&self, painter: &mut dyn Painter) {
        let Some(range) = self.focus.range else {
            return;
        };
        let accent = self.palette.accent;
        for x in [self.x(range.start()), self.x(range.end())] {
            let edge = Rect::new(x - 0.75, MINIMAP_PX, 1.5, self.size.1);
            painter.fill(edge, accent.into());
        }
        let (from, to) = self.range_edges(range);
        let bar = Rect::new(from, MINIMAP_PX, (to - from).max(0.0), 3.0);
        painter.fill(bar, accent.into());
        let length = format::duration(range.duration());
        self.paint_badge(&length, f64::midpoint(from, to), MINIMAP_PX + 13.0, painter);
    }

    /// Paints a short text on the accent color, centered.
    fn paint_badge(&self, text: &str, middle: f64, y: f64, painter: &mut dyn Painter) {
        let width = painter.measure(text, Face::Mono) + 10.0;
        let back = Rect::new(middle - width / 2.0, y - 8.0, width, 16.0);
        painter.fill(back, self.palette.accent.into());
        let ink = self.palette.on_accent.into();
        painter.text(text, (middle, y), Face::Mono, Align::Center, ink);
    }

    /// Paints the ends of a measurement and the time between them.
    fn paint_measure(&self, (from, to): (Nanos, Nanos), painter: &mut dyn Painter) {
        let (left, right) = (self.x(from.min(to)), self.x(from.max(to)));
        let y = TOP_PX + 14.0;
        let ink = self.palette.ink;
        for x in [left, right] {
            painter.line((x, TOP_PX), (x, self.size.1), 1.0, ink.into());
        }
        painter.line((left, y), (right, y), 1.0, ink.into());
        for (x, back) in [(left, 5.0), (right, -5.0)] {
            let head = [(x, y), (x + back, y - 3.5), (x + back, y + 3.5)];
            painter.polygon(&head, ink.into());
        }
        let length = format::duration(to.max(from).since(from.min(to)));
        self.paint_badge(
            &length,
            f64::midpoint(left, right),
            y + RULER_PX / 2.0,
            painter,
        );
    }

    fn outline(&self, item: &Item, alpha: f64, painter: &mut dyn Painter) {
        let Some(index) = self.layout.find(item.row) else {
            return;
        };
        let Some(track) = self.layout.tracks().get(index) else {
            return;
        };
        let y = self.y(index);
        let top = self.visible_top(track);
        if y + track.height() <= top || y < top - track.height() {
            return;
        }
        let body = self.body();
        let strip = self.strip(Rect::new(body.x, y, body.w, track.height()));
        let rect = strip.rect(item.span, y + 2.0, track.height() - 5.0);
        let around = Rect::new(rect.x - 1.0, rect.y, rect.w + 2.0, rect.h);
        Self::paint_frame(around, 1.5, self.palette.ink.alpha(alpha), painter);
    }
}
