//! A capability: its runs with the threads that ran, and its collections.

use super::{Scene, class_colour};
use crate::ids::ThreadId;
use crate::scene::format;
use crate::scene::item::Names;
use crate::scene::painter::{Align, Face, Painter, Rect};
use crate::timeline::class::Class;
use crate::timeline::reply::{MarkKind, MarkView};
use crate::timeline::row::Row;

impl<N: Names> Scene<'_, N> {
    pub(super) fn paint_cap(&self, row: Row, area: Rect, painter: &mut impl Painter) {
        let (y, h) = (area.y + 5.0, area.h - 10.0);
        for (mark, span) in self.marks.of(row) {
            let rect = self.rect(span, y, h);
            let colour = class_colour(self.palette, mark.class);
            match mark.kind {
                MarkKind::Many => self.paint_share(rect, mark.class, mark.shares, painter),
                _ => {
                    painter.fill(rect, colour.into());
                    if mark.class == Class::Open || (self.patterns && mark.class == Class::Gc) {
                        painter.hatch(rect, self.palette.page.alpha(0.5));
                    }
                    self.paint_name(&mark, rect, painter);
                }
            }
        }
    }

    /// Several spans in a bucket: the bar is as high as their share of it, so
    /// that a thin one does not look like a full one. Something is always seen.
    /// Running stands on the ground and collecting hangs from the top: they
    /// share the bucket and do not cover each other.
    fn paint_share(&self, rect: Rect, class: Class, shares: &[f32], painter: &mut impl Painter) {
        let share: f64 = shares.iter().map(|&share| f64::from(share)).sum();
        let h = (rect.h * share.min(1.0)).max(2.0);
        let y = if class == Class::Gc {
            rect.y
        } else {
            rect.y + rect.h - h
        };
        let bar = Rect::new(rect.x, y, rect.w, h);
        painter.fill(bar, class_colour(self.palette, class).into());
    }

    fn paint_name(&self, mark: &MarkView<'_>, rect: Rect, painter: &mut impl Painter) {
        let left = rect.x.max(self.labels_px());
        let room = rect.x + rect.w - left - 8.0;
        if room < 18.0 {
            return;
        }
        let name = match (mark.class, mark.detail) {
            (Class::Gc, _) => "GC".to_owned(),
            (_, Some(thread)) => {
                let label = self.names.label(ThreadId(thread)).map(str::to_owned);
                label.unwrap_or_else(|| format!("thread {thread}"))
            }
            (_, None) => return,
        };
        let name = format::truncate_middle(&name, room, |text| painter.measure(text, Face::Label));
        let at = (left + 4.0, rect.y + rect.h / 2.0 + 0.5);
        let ink = class_colour(self.palette, mark.class).text_on();
        painter.text(&name, at, Face::Label, Align::Left, ink.into());
    }
}
