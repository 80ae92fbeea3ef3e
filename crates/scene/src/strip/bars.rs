//! Bars of lanes: one bar per span, labeled where there is room; several spans within a pixel are one bar whose
//! height is their share.

use super::{Strip, stripes_on};
use crate::color::Rgb;
use crate::painter::{Align, Face, Painter, Rect};
use crate::palette::class_color;
use model::class::Class;
use model::marks::{MarkKind, MarkView};
use model::time::Interval;

/// Minimum bar height for a label.
const MIN_HEIGHT_PX: f64 = 10.0;
/// Relative height of collections of the youngest generation and of phases in which the program runs: just high
/// enough for a label.
pub const YOUNG: f64 = 0.72;

/// Appearance of a span besides its position.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// Alternative labels; the first one that fits is drawn.
    texts: Vec<String>,
    /// Whether the log ended before the span did; such bars are striped.
    open: bool,
}

impl Bar {
    /// Creates a bar with a label.
    pub fn text(text: String) -> Self {
        let texts = vec![text];
        Self { texts, open: false }
    }

    /// Puts a name before each label; the name alone is a further alternative if there is no room for both.
    pub fn with_name(self, name: &str) -> Self {
        let whole = self.texts.iter().map(|text| format!("{name} · {text}"));
        let texts = whole.chain([name.to_owned()]).collect();
        Self { texts, ..self }
    }

    /// Sets whether the span is cut off by the end of the log.
    pub fn open(self, open: bool) -> Self {
        Self { open, ..self }
    }
}

impl Strip<'_> {
    /// Paints bars in the color of a class; `bar` returns the appearance of a span.
    pub fn paint_bars<'m>(
        &self,
        marks: impl Iterator<Item = (MarkView<'m>, Interval)>,
        class: Class,
        bar: impl Fn(&MarkView<'_>) -> Bar,
        painter: &mut dyn Painter,
    ) {
        let (y, h) = (self.area.y + 3.0, self.area.h - 7.0);
        let color = class_color(self.palette, class);
        for (mark, span) in marks {
            let rect = self.rect(span, y, h);
            if mark.kind == MarkKind::Many {
                painter.fill(bottom_aligned(rect, mark.share_of_all()), color.into());
                continue;
            }
            // A gap separates spans that directly follow each other.
            let gap = if rect.w > 3.0 { 1.0 } else { 0.0 };
            let rect = Rect::new(rect.x, rect.y, rect.w - gap, rect.h);
            painter.fill(rect, color.into());
            let bar = bar(&mark);
            if bar.open {
                painter.hatch(rect, stripes_on(color));
            }
            let fits = |text: &String| self.paint_inside(text, rect, color, painter);
            let _ = bar.texts.iter().any(fits);
        }
    }

    /// Paints a label inside a bar if all of it fits, as part of a number would be another number. Returns
    /// whether it fits.
    pub fn paint_inside(
        &self,
        text: &str,
        bar: Rect,
        color: Rgb,
        painter: &mut dyn Painter,
    ) -> bool {
        let left = bar.x.max(self.area.x);
        let right = (bar.x + bar.w).min(self.right());
        let room = right - left - 8.0;
        if bar.h < MIN_HEIGHT_PX || painter.measure(text, Face::Label) > room {
            return false;
        }
        let at = (left + 4.0, bar.y + bar.h / 2.0 + 0.5);
        let ink = color.text_on().into();
        painter.text(text, at, Face::Label, Align::Left, ink);
        true
    }
}

/// Returns the bottom-aligned bar whose height is a share of `rect`, but at least 2 px, so that it is visible.
pub fn bottom_aligned(rect: Rect, share: f64) -> Rect {
    let h = (rect.h * share.min(1.0)).max(2.0);
    Rect::new(rect.x, rect.y + rect.h - h, rect.w, h)
}
