//! The strip of a picture that one track has, and how spans, moments and graphs
//! are painted into it, whatever they are about.

mod bars;
mod density;
mod graph;
mod pattern;
pub mod plot;

use super::painter::{Painter, Rect};
use super::palette::Palette;
use super::viewport::Viewport;
use eventlog::ids::Nanos;
use model::marks::MarkView;
use model::time::Interval;

pub use bars::{Bar, YOUNG, standing};
pub use density::{Column, SIGN_PX};
pub use pattern::stripes_on;

/// How opaque a bar is for what is not read yet.
const UNREAD_ALPHA: f64 = 0.25;

/// A bar for what is not read yet: pale, with a thin edge at the top that is seen well.
pub fn paint_unread(palette: &Palette, bar: Rect, painter: &mut dyn Painter) {
    painter.fill(bar, palette.ink3.alpha(UNREAD_ALPHA));
    painter.fill(Rect { h: 1.0, ..bar }, palette.ink3.into());
}

/// A strip of a picture, and what it takes to paint there.
#[derive(Clone, Copy, Debug)]
pub struct Strip<'a> {
    /// Where it is.
    pub area: Rect,
    /// The time in view, from its left to its right.
    pub view: Viewport,
    /// The colours.
    pub palette: &'a Palette,
    /// Whether meaning is shown by patterns too.
    pub patterns: bool,
}

impl Strip<'_> {
    /// Where it ends.
    pub fn right(&self) -> f64 {
        self.area.x + self.area.w
    }

    /// Where a time stands in the picture.
    pub fn x(&self, time: Nanos) -> f64 {
        self.area.x + self.view.x_of(time)
    }

    /// The rectangle of a span, at least a pixel wide.
    pub fn rect(&self, span: Interval, y: f64, h: f64) -> Rect {
        let left = self.x(span.start()).max(self.area.x - 2.0);
        let right = self.x(span.end()).min(self.right() + 2.0);
        Rect::new(left, y, (right - left).max(1.0), h)
    }

    /// A line at a time, nearly as high as the strip.
    pub fn tick(&self, time: Nanos) -> Rect {
        Rect::new(
            self.x(time) - 0.5,
            self.area.y + 3.0,
            1.0,
            self.area.h - 7.0,
        )
    }

    /// A line for each mark.
    pub fn paint_ticks<'m>(
        &self,
        marks: impl Iterator<Item = (MarkView<'m>, Interval)>,
        painter: &mut dyn Painter,
    ) {
        for (_, span) in marks {
            painter.fill(self.tick(span.start()), self.palette.ink2.into());
        }
    }
}
