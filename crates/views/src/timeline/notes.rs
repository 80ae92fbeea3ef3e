//! Painting of notes: a flag with the name on the time axis and a line through the tracks; a range has a bar
//! between two lines.

use super::{MINIMAP_PX, RULER_PX, Scene, TOP_PX};
use scene::format;
use scene::painter::{Align, Face, Painter, Rect};

/// Maximum width of a note's name, in pixels.
const NAME_PX: f64 = 110.0;

impl Scene<'_> {
    pub(super) fn paint_notes(&self, painter: &mut dyn Painter) {
        let body = self.body();
        let height = (self.size.1 - MINIMAP_PX).max(0.0);
        painter.clip(Rect::new(body.x, MINIMAP_PX, body.w, height));
        // Names do not overlap: a note without room for its name is reduced to a flag.
        let mut free_from = f64::NEG_INFINITY;
        for note in self.notes.iter() {
            let span = note.span();
            let (from, to) = (self.x(span.start()), self.x(span.end()));
            if to < body.x || from > body.x + body.w {
                continue;
            }
            self.paint_note_lines(from, to, painter);
            let named = from >= free_from;
            let end = self.paint_flag(from, note.name(), named, painter);
            if named {
                free_from = end;
            }
        }
        painter.unclip();
    }

    fn paint_note_lines(&self, from: f64, to: f64, painter: &mut dyn Painter) {
        let paint = self.palette.gc_sync.alpha(0.8);
        painter.line((from, TOP_PX), (from, self.size.1), 1.0, paint);
        if to > from {
            painter.line((to, TOP_PX), (to, self.size.1), 1.0, paint);
            let bar = Rect::new(from, TOP_PX - 3.0, to - from, 3.0);
            painter.fill(bar, self.palette.gc_sync.into());
        }
    }

    /// Paints the flag with the name, and returns its right edge in pixels.
    fn paint_flag(&self, x: f64, name: &str, named: bool, painter: &mut dyn Painter) -> f64 {
        let top = TOP_PX - RULER_PX + 3.0;
        let color = self.palette.gc_sync;
        if !named || name.is_empty() {
            let flag = [(x, top), (x + 7.0, top + 4.0), (x, top + 8.0)];
            painter.polygon(&flag, color.into());
            painter.line((x, top), (x, TOP_PX), 1.0, color.into());
            return x + 10.0;
        }
        let name =
            format::truncate_middle(name, NAME_PX, |text| painter.measure(text, Face::Label));
        let width = painter.measure(&name, Face::Label) + 9.0;
        painter.fill(Rect::new(x, top, width, 15.0), color.into());
        painter.line((x, top), (x, TOP_PX), 1.0, color.into());
        let at = (x + 4.5, top + 8.0);
        painter.text(&name, at, Face::Label, Align::Left, color.text_on().into());
        x + width + 4.0
    }
}
