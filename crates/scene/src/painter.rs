//! Painting interface. Scenes paint through this trait, independent of a canvas; an implementation that records
//! text makes every picture testable.

use super::color::Rgb;

/// A rectangle in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width in CSS pixels.
    pub w: f64,
    /// Height in CSS pixels.
    pub h: f64,
}

impl Rect {
    /// Creates a rectangle from its top left corner and its size.
    pub const fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w, h }
    }

    /// Returns the intersection of two rectangles; if they are disjoint, a rectangle of zero size.
    pub fn common(&self, other: Self) -> Self {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let right = (self.x + self.w).min(other.x + other.w);
        let bottom = (self.y + self.h).min(other.y + other.h);
        Self::new(x, y, (right - x).max(0.0), (bottom - y).max(0.0))
    }

    /// Returns whether a point is inside; the right and bottom edges are outside.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        self.x <= x && x < self.x + self.w && self.y <= y && y < self.y + self.h
    }
}

/// A color with an opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    /// The color without opacity.
    pub color: Rgb,
    /// Opacity, 0 to 1.
    pub alpha: f64,
}

impl From<Rgb> for Paint {
    fn from(color: Rgb) -> Self {
        Self { color, alpha: 1.0 }
    }
}

impl Rgb {
    /// Returns this color with an opacity from 0 to 1.
    pub const fn alpha(self, alpha: f64) -> Paint {
        Paint { color: self, alpha }
    }
}

/// Font of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Face {
    /// 13 px, regular.
    Body,
    /// 13 px, bold.
    Strong,
    /// 11 px, regular.
    Label,
    /// 11 px, bold, for headings.
    Heading,
    /// 11 px, with digits of equal width.
    Mono,
}

/// Horizontal alignment of a text to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Starts at the position.
    Left,
    /// Centered at the position.
    Center,
    /// Ends at the position.
    Right,
}

/// A drawing surface. Positions are in CSS pixels from the top left corner; the `y` of a text is the middle of
/// its line.
pub trait Painter {
    /// Fills a rectangle.
    fn fill(&mut self, rect: Rect, paint: Paint);
    /// Fills a rectangle with diagonal stripes that rise to the right.
    fn hatch(&mut self, rect: Rect, paint: Paint);
    /// Fills a rectangle with diagonal stripes that fall to the right.
    fn hatch_falling(&mut self, rect: Rect, paint: Paint);
    /// Draws a straight line; `width` is in CSS pixels.
    fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, paint: Paint);
    /// Draws a line through several points.
    fn polyline(&mut self, points: &[(f64, f64)], width: f64, paint: Paint);
    /// Draws a dashed line.
    fn dashed(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint);
    /// Fills a polygon.
    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint);
    /// Draws a text.
    fn text(&mut self, text: &str, at: (f64, f64), face: Face, align: Align, paint: Paint);
    /// Returns the width of a text in CSS pixels.
    fn measure(&mut self, text: &str, face: Face) -> f64;
    /// Clips painting to a rectangle until [`unclip`](Self::unclip). Calls nest.
    fn clip(&mut self, rect: Rect);
    /// Ends the innermost [`clip`](Self::clip).
    fn unclip(&mut self);
}

/// Records painting operations as text, one line each.
#[derive(Clone, Debug, Default)]
pub struct TextPainter {
    /// Recorded operations in order.
    pub lines: Vec<String>,
}

impl TextPainter {
    /// Returns the recording.
    pub fn finish(self) -> String {
        self.lines.join("\n")
    }

    fn rect(rect: Rect) -> String {
        format!("{:.1},{:.1} {:.1}×{:.1}", rect.x, rect.y, rect.w, rect.h)
    }

    fn points(points: &[(f64, f64)]) -> String {
        let points = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
        points.collect::<Vec<_>>().join(" ")
    }

    fn paint(paint: Paint) -> String {
        if paint.alpha >= 1.0 {
            paint.color.css()
        } else {
            format!("{}/{:.2}", paint.color.css(), paint.alpha)
        }
    }
}

impl Painter for TextPainter {
    fn fill(&mut self, rect: Rect, paint: Paint) {
        self.lines
            .push(format!("fill {} {}", Self::rect(rect), Self::paint(paint)));
    }
    fn hatch(&mut self, rect: Rect, paint: Paint) {
        self.lines
            .push(format!("hatch {} {}", Self::rect(rect), Self::paint(paint)));
    }
    fn hatch_falling(&mut self, rect: Rect, paint: Paint) {
        self.lines.push(format!(
            "falling hatch {} {}",
            Self::rect(rect),
            Self::paint(paint)
        ));
    }
    fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, paint: Paint) {
        self.lines.push(format!(
            "line {:.1},{:.1} – {:.1},{:.1} {width} {}",
            from.0,
            from.1,
            to.0,
            to.1,
            Self::paint(paint)
        ));
    }
    fn polyline(&mut self, points: &[(f64, f64)], width: f64, paint: Paint) {
        self.lines.push(format!(
            "polyline {} {width} {}",
            Self::points(points),
            Self::paint(paint)
        ));
    }
    fn dashed(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint) {
        self.lines.push(format!(
            "dashed {:.1},{:.1} – {:.1},{:.1} {}",
            from.0,
            from.1,
            to.0,
            to.1,
            Self::paint(paint)
        ));
    }
    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint) {
        self.lines.push(format!(
            "polygon {} {}",
            Self::points(points),
            Self::paint(paint)
        ));
    }
    fn text(&mut self, text: &str, at: (f64, f64), face: Face, align: Align, paint: Paint) {
        self.lines.push(format!(
            "text “{text}” {:.1},{:.1} {face:?} {align:?} {}",
            at.0,
            at.1,
            Self::paint(paint)
        ));
    }
    fn measure(&mut self, text: &str, face: Face) -> f64 {
        let em = if matches!(face, Face::Body | Face::Strong) {
            7.0
        } else {
            6.0
        };
        text.chars().count() as f64 * em
    }
    fn clip(&mut self, rect: Rect) {
        self.lines.push(format!("clip {}", Self::rect(rect)));
    }
    fn unclip(&mut self) {
        self.lines.push("unclip".to_owned());
    }
}
