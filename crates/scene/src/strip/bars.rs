//! Lanes of spans that stand for themselves: a bar for each, with a text where
//! there is room; several in a pixel are one bar as high as their share.

use super::{Strip, stripes_on};
use crate::colour::Rgb;
use crate::painter::{Align, Face, Painter, Rect};
use crate::palette::class_colour;
use model::class::Class;
use model::marks::{MarkKind, MarkView};
use model::time::Interval;

/// A text needs as much room.
const LEAST_HEIGHT_PX: f64 = 10.0;
/// How high a collection of the youngest generation is, and a phase in which
/// the program runs: just high enough for a text.
pub const YOUNG: f64 = 0.72;

/// What is seen of a span beside its place.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// Texts for its inside, of which the first that fits is written.
    texts: Vec<String>,
    /// Whether the log ended before the span did: it has stripes.
    open: bool,
}

impl Bar {
    /// A bar with a text.
    pub fn text(text: String) -> Self {
        let texts = vec![text];
        Self { texts, open: false }
    }

    /// With a name before its text or, without room for both, alone.
    pub fn named(self, name: &str) -> Self {
        let whole = self.texts.iter().map(|text| format!("{name} · {text}"));
        let texts = whole.chain([name.to_owned()]).collect();
        Self { texts, ..self }
    }

    /// It may not be over when the log ended.
    pub fn open(self, open: bool) -> Self {
        Self { open, ..self }
    }
}

impl Strip<'_> {
    /// Bars in the colour of a class; `bar` says what is seen of a span.
    pub fn paint_bars<'m>(
        &self,
        marks: impl Iterator<Item = (MarkView<'m>, Interval)>,
        class: Class,
        bar: impl Fn(&MarkView<'_>) -> Bar,
        painter: &mut dyn Painter,
    ) {
        let (y, h) = (self.area.y + 3.0, self.area.h - 7.0);
        let colour = class_colour(self.palette, class);
        for (mark, span) in marks {
            let rect = self.rect(span, y, h);
            if mark.kind == MarkKind::Many {
                painter.fill(standing(rect, mark.share_of_all()), colour.into());
                continue;
            }
            // A gap tells spans apart that follow each other at once.
            let gap = if rect.w > 3.0 { 1.0 } else { 0.0 };
            let rect = Rect::new(rect.x, rect.y, rect.w - gap, rect.h);
            painter.fill(rect, colour.into());
            let bar = bar(&mark);
            if bar.open {
                painter.hatch(rect, stripes_on(colour));
            }
            let fits = |text: &String| self.paint_inside(text, rect, colour, painter);
            let _ = bar.texts.iter().any(fits);
        }
    }

    /// A text inside of a bar, if there is room for all of it: half of a
    /// number would be another number. False if there is none.
    pub fn paint_inside(
        &self,
        text: &str,
        bar: Rect,
        colour: Rgb,
        painter: &mut dyn Painter,
    ) -> bool {
        let left = bar.x.max(self.area.x);
        let right = (bar.x + bar.w).min(self.right());
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
pub fn standing(rect: Rect, share: f64) -> Rect {
    let h = (rect.h * share.min(1.0)).max(2.0);
    Rect::new(rect.x, rect.y + rect.h - h, rect.w, h)
}
