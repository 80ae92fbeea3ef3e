//! Events at points in time: messages and markers, and what happened on a capability.

use super::Scene;
use crate::scene::colour::Rgb;
use crate::scene::item::Names;
use crate::scene::painter::{Align, Face, Painter, Rect};
use analysis::timeline::instants::{Family, InstantKind};
use analysis::timeline::row::Row;
use model::marks::MarkKind;

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

    /// What happened on a capability at points in time: a tick with a glyph
    /// whose shape says what it is about, and how many they are where there
    /// is room for that.
    pub(super) fn paint_instants(&self, row: Row, area: Rect, painter: &mut impl Painter) {
        let middle = area.y + area.h / 2.0;
        let mut marks = self.marks.of(row).peekable();
        while let Some((mark, span)) = marks.next() {
            let Some(kind) = InstantKind::from_number(mark.code.0) else {
                continue;
            };
            let x = self.x(span.start);
            let colour = self.instant_colour(kind);
            let tick = Rect::new(x - 0.5, area.y + 3.0, 1.0, area.h - 7.0);
            painter.fill(tick, colour.alpha(0.7));
            for polygon in glyph(kind.family(), (x, middle - 0.5)) {
                painter.polygon(&polygon, colour.into());
            }
            if mark.count > 1 {
                let next = marks.peek().map(|(_, next)| self.x(next.start));
                let room = next.unwrap_or(self.size.0) - GLYPH_PX - x - 6.0;
                let text = short_count(mark.count);
                if painter.measure(&text, Face::Label) <= room {
                    let at = (x + 6.0, middle - 0.5);
                    let ink = self.palette.ink2.into();
                    painter.text(&text, at, Face::Label, Align::Left, ink);
                }
            }
        }
    }

    /// The shape says what an event is about; the colour tells those apart
    /// that are about the same.
    const fn instant_colour(&self, kind: InstantKind) -> Rgb {
        let palette = self.palette;
        match kind {
            InstantKind::Shutdown | InstantKind::CapDeleted | InstantKind::CapDisabled => {
                palette.ink
            }
            InstantKind::Marker => palette.accent,
            InstantKind::Message | InstantKind::CapCreated | InstantKind::CapEnabled => {
                palette.ink2
            }
            InstantKind::SeqGcRequested | InstantKind::ParGcRequested => palette.gc,
            InstantKind::Migrated => palette.blocked,
            InstantKind::Woken | InstantKind::Runnable => palette.ready,
            InstantKind::ThreadCreated
            | InstantKind::SparkThreadCreated
            | InstantKind::SparkRun
            | InstantKind::SparkCreated => palette.running,
            InstantKind::SparkStolen | InstantKind::PerfTracepoint | InstantKind::PerfCounter => {
                palette.foreign
            }
            InstantKind::SparkOverflowed => palette.gc_sync,
            InstantKind::SparkFizzled | InstantKind::SparkDud => palette.io,
            InstantKind::SparkCollected => palette.gc,
        }
    }
}

/// Half the width of a glyph.
const GLYPH_PX: f64 = 4.0;

/// A number for little room: `12`, `999`, `1k`, `25M`.
fn short_count(count: u32) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}

/// The outline of a glyph around a point, as polygons.
fn glyph(family: Family, (x, y): (f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let r = GLYPH_PX;
    let at = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points
            .iter()
            .map(|(dx, dy)| (x + r * dx, y + r * dy))
            .collect()
    };
    match family {
        // A cross of two strokes.
        Family::Capability => vec![
            at(&[(-1.0, -0.7), (-0.7, -1.0), (1.0, 0.7), (0.7, 1.0)]),
            at(&[(0.7, -1.0), (1.0, -0.7), (-0.7, 1.0), (-1.0, 0.7)]),
        ],
        Family::Message => vec![at(&[(-0.9, 0.0), (0.0, -0.9), (0.9, 0.0), (0.0, 0.9)])],
        Family::Collection => vec![at(&[(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)])],
        // As round as it has to be at that size.
        Family::Creation => {
            let corner = |i: u32| {
                let angle = f64::from(i) * std::f64::consts::TAU / 12.0;
                (0.85 * angle.cos(), 0.85 * angle.sin())
            };
            vec![at(&(0..12).map(corner).collect::<Vec<_>>())]
        }
        Family::Wakeup => vec![at(&[(-0.95, 0.8), (0.0, -0.95), (0.95, 0.8)])],
        Family::Migration => vec![at(&[(-0.8, -0.95), (0.95, 0.0), (-0.8, 0.95)])],
        Family::Spark => vec![at(&[(-0.95, -0.8), (0.95, -0.8), (0.0, 0.95)])],
        // A plus sign.
        Family::Perf => vec![
            at(&[(-1.0, -0.25), (1.0, -0.25), (1.0, 0.25), (-1.0, 0.25)]),
            at(&[(-0.25, -1.0), (0.25, -1.0), (0.25, 1.0), (-0.25, 1.0)]),
        ],
    }
}
