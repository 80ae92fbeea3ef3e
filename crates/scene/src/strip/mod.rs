//! The strip of one track in a picture, and painting of spans, events and graphs into it.

mod bars;
mod density;
mod graph;
mod pattern;
pub mod plot;

use super::painter::{Painter, Rect};
use super::palette::Palette;
use super::viewport::Viewport;
use eventlog::ids::Nanos;
use model::time::Interval;

pub use bars::{Bar, YOUNG, bottom_aligned};
pub use density::{Column, SIGN_PX};
pub use pattern::stripes_on;

/// Opacity of bars for parts of the log that are not read yet.
const UNREAD_ALPHA: f64 = 0.25;

/// Paints a bar for a part of the log that is not read yet: pale, with a thin distinct line at the top.
pub fn paint_unread(palette: &Palette, bar: Rect, painter: &mut dyn Painter) {
    painter.fill(bar, palette.ink3.alpha(UNREAD_ALPHA));
    painter.fill(Rect { h: 1.0, ..bar }, palette.ink3.into());
}

/// A strip of a picture, with what is needed to paint into it.
#[derive(Clone, Copy, Debug)]
pub struct Strip<'a> {
    /// Rectangle in the picture.
    pub area: Rect,
    /// The visible time, which spans the width of the area.
    pub view: Viewport,
    /// Colors of the current theme.
    pub palette: &'a Palette,
    /// Whether to use patterns in addition to colors.
    pub patterns: bool,
}

impl Strip<'_> {
    /// Returns the right edge in pixels.
    pub fn right(&self) -> f64 {
        self.area.x + self.area.w
    }

    /// Returns the horizontal position of a time in the picture.
    pub fn x(&self, time: Nanos) -> f64 {
        self.area.x + self.view.x_of(time)
    }

    /// Returns the rectangle of a span, at least one pixel wide.
    pub fn rect(&self, span: Interval, y: f64, h: f64) -> Rect {
        let left = self.x(span.start()).max(self.area.x - 2.0);
        let right = self.x(span.end()).min(self.right() + 2.0);
        Rect::new(left, y, (right - left).max(1.0), h)
    }

    /// Returns a one-pixel line at a time, nearly as high as the strip.
    pub fn tick(&self, time: Nanos) -> Rect {
        Rect::new(
            self.x(time) - 0.5,
            self.area.y + 3.0,
            1.0,
            self.area.h - 7.0,
        )
    }
}
