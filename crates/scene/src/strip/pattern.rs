//! Patterns in addition to colors, for users who ask for more contrast or cannot rely on colors: dashed lines and
//! stripes.

use super::Strip;
use crate::color::Rgb;
use crate::painter::{Paint, Painter, Rect};
use model::class::Class;

/// Distance from stripe to stripe and width of a stripe, in pixels.
const STRIPE_PX: (f64, f64) = (5.0, 1.5);

/// Returns the dash pattern of the line for a wait: each dash with the gap after it, in pixels. Empty for a solid
/// line, as for runnable threads.
const fn dashes(class: Class) -> &'static [(f64, f64)] {
    match class {
        Class::Mvar => &[(9.0, 4.0)],
        Class::BlackHole => &[(1.5, 2.5)],
        Class::Stm => &[(6.0, 2.0), (2.0, 2.0), (2.0, 2.0)],
        Class::ThrowTo => &[(18.0, 3.0)],
        Class::Foreign | Class::GcSync => &[(3.0, 3.0)],
        Class::Io => &[(9.0, 3.0), (3.0, 3.0)],
        Class::Sleeping => &[(1.5, 6.0)],
        _ => &[],
    }
}

/// Returns the paint for stripes on a bar of that color. They contrast more with its text than the bar does, so
/// the text stays readable.
pub fn stripes_on(color: Rgb) -> Paint {
    let (black, white) = (Rgb::hex(0x00_00_00), Rgb::hex(0xff_ff_ff));
    let stripes = if color.text_on() == black {
        white
    } else {
        black
    };
    stripes.alpha(0.5)
}

impl Strip<'_> {
    /// Paints the line of a wait that began at pixel `origin`; if patterns are on, dashed by the reason of the
    /// wait.
    pub fn paint_wait_line(
        &self,
        class: Class,
        (line, origin): (Rect, f64),
        paint: Paint,
        painter: &mut dyn Painter,
    ) {
        let dashes = dashes(class);
        if !self.patterns || dashes.is_empty() {
            return painter.fill(line, paint);
        }
        let period: f64 = dashes.iter().map(|(dash, gap)| dash + gap).sum();
        let end = line.x + line.w;
        let mut at = line.x - (line.x - origin).rem_euclid(period);
        while at < end {
            for (dash, gap) in dashes {
                let (left, right) = (at.max(line.x), (at + dash).min(end));
                if right > left {
                    painter.fill(Rect::new(left, line.y, right - left, line.h), paint);
                }
                at += dash + gap;
            }
        }
    }

    /// Paints vertical stripes in the page color if patterns are on. They are much cheaper than diagonal ones
    /// where a picture has one rectangle per pixel.
    pub fn paint_stripes(&self, rect: Rect, painter: &mut dyn Painter) {
        if !self.patterns {
            return;
        }
        let (step, width) = STRIPE_PX;
        let (left, right) = (rect.x.max(self.area.x), rect.x + rect.w);
        let right = right.min(self.right());
        let mut x = (left / step).ceil() * step;
        while x < right {
            let stripe = Rect::new(x, rect.y, width.min(right - x), rect.h);
            painter.fill(stripe, self.palette.page.alpha(0.7));
            x += step;
        }
    }
}
