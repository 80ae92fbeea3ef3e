//! Rows of spans that stand for themselves: collections of the program, phases
//! of the concurrent collector, tasks, blocks, spans that the program announced.

use super::Scene;
use super::pattern::stripes_on;
use crate::scene::colour::Rgb;
use crate::scene::format;
use crate::scene::item::Names;
use crate::scene::painter::{Align, Face, Painter, Rect};
use analysis::timeline::collections::CollectionCode;
use analysis::timeline::nonmoving::Phase;
use analysis::timeline::row::Row;
use analysis::timeline::user_spans;
use eventlog::ids::Nanos;
use model::class::Class;
use model::marks::{MarkKind, MarkView};

/// A text needs as much room.
const LEAST_HEIGHT_PX: f64 = 10.0;
/// How high a collection of the youngest generation is, and a phase in which
/// the program runs: just high enough for a text.
const YOUNG: f64 = 0.72;

impl<N: Names> Scene<'_, N> {
    pub(super) fn paint_spans(&self, row: Row, area: Rect, painter: &mut impl Painter) {
        let (y, h) = (area.y + 3.0, area.h - 7.0);
        for (mark, span) in self.marks.of(row) {
            let rect = self.rect(span, y, h);
            match (mark.kind, row) {
                (MarkKind::Instant, _) => {
                    let tick = Rect::new(rect.x - 1.0, area.y + 2.0, rect.w.max(2.0), 4.0);
                    painter.fill(tick, self.palette.ink3.into());
                }
                (_, Row::Collections) => self.paint_collection(&mark, rect, painter),
                (_, Row::Nonmoving) => self.paint_phase(&mark, rect, painter),
                _ => self.paint_other(row, &mark, rect, painter),
            }
        }
    }

    /// A collection stands on the ground: the oldest generation is as high as
    /// the row, younger ones are lower. A parallel one has a line through it.
    /// The wait before it is a thin line.
    fn paint_collection(&self, mark: &MarkView<'_>, rect: Rect, painter: &mut impl Painter) {
        if mark.kind == MarkKind::Many {
            let share = |class: Class| {
                let share = mark.shares.get(class as usize).copied().unwrap_or(0.0);
                f64::from(share)
            };
            self.paint_wait(rect, painter);
            let gc: f64 = Class::ALL
                .into_iter()
                .filter(|c| c.is_gc())
                .map(share)
                .sum();
            if gc > 0.0 {
                let bar = standing(rect, gc);
                painter.fill(bar, self.palette.gc.into());
                self.paint_stripes(bar, painter);
            }
            return;
        }
        if mark.class == Class::GcSync {
            return self.paint_wait(rect, painter);
        }
        let code = CollectionCode::read(mark.code);
        let height = match code.generation {
            _ if code.oldest || !code.known => 1.0,
            0 => YOUNG,
            _ => (1.0 + YOUNG) / 2.0,
        };
        let bar = standing(rect, height);
        painter.fill(bar, self.palette.gc.into());
        if self.patterns {
            painter.hatch_falling(bar, stripes_on(self.palette.gc));
        }
        if code.known && code.parallel {
            let line = Rect::new(bar.x, bar.y + 1.5, bar.w, 1.0);
            painter.fill(line, self.palette.page.into());
        }
        if code.known {
            let text = format!("gen {}", code.generation);
            self.paint_inside(&text, bar, self.palette.gc, painter);
        }
    }

    fn paint_wait(&self, rect: Rect, painter: &mut impl Painter) {
        let line = Rect::new(rect.x, rect.y + rect.h - 2.0, rect.w, 2.0);
        painter.fill(line, self.palette.gc_sync.into());
    }

    /// The program stands still in a sync, which is as high as the row;
    /// marking is a bar in its middle, sweeping a striped one on the ground.
    fn paint_phase(&self, mark: &MarkView<'_>, rect: Rect, painter: &mut impl Painter) {
        let phase = Phase::read(mark.code);
        let share = match mark.kind {
            MarkKind::Many => mark.shares.iter().map(|&share| f64::from(share)).sum(),
            _ => 1.0,
        };
        let (colour, bar) = match phase {
            Phase::Sync => (self.palette.gc_sync, standing(rect, share)),
            Phase::Mark => {
                let h = (rect.h * YOUNG * f64::min(share, 1.0)).max(2.0);
                let bar = Rect::new(rect.x, rect.y + (rect.h - h) / 2.0, rect.w, h);
                (self.palette.gc, bar)
            }
            Phase::Sweep => (
                self.palette.gc,
                standing(rect, YOUNG * f64::min(share, 1.0)),
            ),
        };
        painter.fill(bar, colour.into());
        if phase == Phase::Sweep || Phase::is_open(mark.code) {
            painter.hatch(bar, self.palette.page.alpha(0.5));
        }
        if self.patterns && phase == Phase::Sync {
            match mark.kind {
                MarkKind::Many => self.paint_stripes(bar, painter),
                _ => painter.hatch_falling(bar, stripes_on(colour)),
            }
        }
        if mark.kind == MarkKind::One {
            self.paint_inside(phase.name(), bar, colour, painter);
        }
    }

    /// A task, a block, a span of the program.
    fn paint_other(&self, row: Row, mark: &MarkView<'_>, rect: Rect, painter: &mut impl Painter) {
        let colour = self.palette.io;
        if mark.kind == MarkKind::Many {
            let share: f64 = mark.shares.iter().map(|&share| f64::from(share)).sum();
            return painter.fill(standing(rect, share), colour.into());
        }
        // A gap tells spans apart that follow each other at once.
        let gap = if rect.w > 3.0 { 1.0 } else { 0.0 };
        let bar = Rect::new(rect.x, rect.y, rect.w - gap, rect.h);
        painter.fill(bar, colour.into());
        let text = match (row, mark.detail) {
            (Row::Task(_), Some(cap)) => format!("cap {cap}"),
            (Row::Blocks(_), Some(bytes)) => format::bytes(bytes.into()),
            _ => {
                if mark.code == user_spans::OPEN {
                    painter.hatch(bar, self.palette.page.alpha(0.5));
                }
                format::duration(Nanos((mark.end - mark.start).max(0.0) as u64))
            }
        };
        self.paint_inside(&text, bar, colour, painter);
    }

    /// A text inside of a bar, if there is room for all of it: half of a
    /// number would be another number. False if there is none.
    pub(super) fn paint_inside(
        &self,
        text: &str,
        bar: Rect,
        colour: Rgb,
        painter: &mut impl Painter,
    ) -> bool {
        let left = bar.x.max(self.labels_px());
        let right = (bar.x + bar.w).min(self.size.0);
        let room = right - left - 8.0;
        if bar.h < LEAST_HEIGHT_PX || painter.measure(text, Face::Label) > room {
            return false;
        }
        let at = (left + 4.0, bar.y + bar.h / 2.0 + 0.5);
        let ink = colour.text_on().into();
        painter.text(text, at, Face::Label, Align::Left, ink);
        true
    }
}

/// A bar on the ground of a row, as high as a share of it; something is
/// always seen.
pub(super) fn standing(rect: Rect, share: f64) -> Rect {
    let h = (rect.h * share.min(1.0)).max(2.0);
    Rect::new(rect.x, rect.y + rect.h - h, rect.w, h)
}
