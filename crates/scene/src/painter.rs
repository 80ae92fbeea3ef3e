//! What can be painted. Scenes paint through this trait and know nothing of
//! canvases; a twin that records text makes every picture testable.

use super::colour::Rgb;

/// A rectangle in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// A rectangle from its left top corner and its size.
    #[must_use]
    pub const fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w, h }
    }

    /// What both have in common; without any, a rectangle without a size.
    #[must_use]
    pub fn common(&self, other: Self) -> Self {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let right = (self.x + self.w).min(other.x + other.w);
        let bottom = (self.y + self.h).min(other.y + other.h);
        Self::new(x, y, (right - x).max(0.0), (bottom - y).max(0.0))
    }

    /// Whether a point lies in it.
    #[must_use]
    pub fn contains(&self, x: f64, y: f64) -> bool {
        self.x <= x && x < self.x + self.w && self.y <= y && y < self.y + self.h
    }
}

/// A colour with its opacity, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    /// The colour.
    pub colour: Rgb,
    /// How opaque.
    pub alpha: f64,
}

impl From<Rgb> for Paint {
    fn from(colour: Rgb) -> Self {
        Self { colour, alpha: 1.0 }
    }
}

impl Rgb {
    /// This colour, partly transparent.
    #[must_use]
    pub const fn alpha(self, alpha: f64) -> Paint {
        Paint {
            colour: self,
            alpha,
        }
    }
}

/// How a text is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Face {
    /// 13 px.
    Body,
    /// 13 px, bold.
    Strong,
    /// 11 px.
    Label,
    /// 11 px, bold, for headings.
    Heading,
    /// 11 px, digits of equal width.
    Mono,
}

/// Where a text stands from its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// It begins there.
    Left,
    /// It is centred there.
    Centre,
    /// It ends there.
    Right,
}

/// Something to paint on. Positions are CSS pixels from the left top corner;
/// a text's `y` is the middle of its line.
pub trait Painter {
    /// Fills a rectangle.
    fn fill(&mut self, rect: Rect, paint: Paint);
    /// Fills a rectangle with diagonal stripes that rise to the right.
    fn hatch(&mut self, rect: Rect, paint: Paint);
    /// Fills a rectangle with diagonal stripes that fall to the right.
    fn hatch_falling(&mut self, rect: Rect, paint: Paint);
    /// Draws a straight line.
    fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, paint: Paint);
    /// Draws a line through several points.
    fn polyline(&mut self, points: &[(f64, f64)], width: f64, paint: Paint);
    /// Draws a dashed line.
    fn dashed(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint);
    /// Fills a polygon.
    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint);
    /// Sets a text.
    fn text(&mut self, text: &str, at: (f64, f64), face: Face, align: Align, paint: Paint);
    /// How wide a text would be.
    fn measure(&mut self, text: &str, face: Face) -> f64;
    /// Paints only inside a rectangle until [`unclip`](Self::unclip).
    fn clip(&mut self, rect: Rect);
    /// Ends the last [`clip`](Self::clip).
    fn unclip(&mut self);
}

/// Records what is painted as text, one line each.
#[derive(Clone, Debug, Default)]
pub struct TextPainter {
    /// The lines.
    pub lines: Vec<String>,
}

impl TextPainter {
    /// The recording.
    #[must_use]
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
            paint.colour.css()
        } else {
            format!("{}/{:.2}", paint.colour.css(), paint.alpha)
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
