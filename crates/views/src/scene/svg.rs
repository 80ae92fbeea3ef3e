//! Painting into SVG: the picture as a file that can be printed and edited.

use std::fmt::Write as _;

use super::painter::{Align, Face, Paint, Painter, Rect};

/// Writes what is painted as SVG 1.1.
#[derive(Clone, Debug)]
pub struct SvgPainter {
    out: String,
    clips: usize,
    hatches: usize,
}

/// Text with the characters that XML reserves written as it wants them, and
/// without those that it does not know.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn fill(paint: Paint) -> String {
    let colour = paint.colour.css();
    if paint.alpha >= 1.0 {
        format!("fill=\"{colour}\"")
    } else {
        format!("fill=\"{colour}\" fill-opacity=\"{:.3}\"", paint.alpha)
    }
}

fn stroke(paint: Paint, width: f64) -> String {
    let colour = paint.colour.css();
    let alpha = paint.alpha.clamp(0.0, 1.0);
    format!(
        "fill=\"none\" stroke=\"{colour}\" stroke-opacity=\"{alpha:.3}\" stroke-width=\"{width}\""
    )
}

impl SvgPainter {
    /// An empty picture of that width and height in CSS pixels.
    #[must_use]
    pub fn new((width, height): (f64, f64)) -> Self {
        let out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n"
        );
        Self {
            out,
            clips: 0,
            hatches: 0,
        }
    }

    /// The whole file.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    fn rect(rect: Rect) -> String {
        let Rect { x, y, w, h } = rect;
        let (w, h) = (w.max(0.0), h.max(0.0));
        format!("x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\"")
    }

    /// A rectangle with stripes, turned so far to the right, in degrees.
    fn stripes(&mut self, turned: i32, rect: Rect, paint: Paint) {
        self.hatches += 1;
        let id = self.hatches;
        let _ = writeln!(
            self.out,
            "<pattern id=\"h{id}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate({turned})\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" {}/></pattern>\n\
             <rect {} fill=\"url(#h{id})\"/>",
            stroke(paint, 3.0),
            Self::rect(rect)
        );
    }

    fn points(points: &[(f64, f64)]) -> String {
        let points = points.iter().map(|(x, y)| format!("{x:.2},{y:.2}"));
        points.collect::<Vec<_>>().join(" ")
    }
}

impl Painter for SvgPainter {
    fn fill(&mut self, rect: Rect, paint: Paint) {
        let _ = writeln!(self.out, "<rect {} {}/>", Self::rect(rect), fill(paint));
    }

    fn hatch(&mut self, rect: Rect, paint: Paint) {
        self.stripes(45, rect, paint);
    }

    fn hatch_falling(&mut self, rect: Rect, paint: Paint) {
        self.stripes(-45, rect, paint);
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, paint: Paint) {
        self.polyline(&[from, to], width, paint);
    }

    fn polyline(&mut self, points: &[(f64, f64)], width: f64, paint: Paint) {
        let points = Self::points(points);
        let _ = writeln!(
            self.out,
            "<polyline points=\"{points}\" {}/>",
            stroke(paint, width)
        );
    }

    fn dashed(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint) {
        let points = Self::points(&[from, to]);
        let stroke = stroke(paint, 1.0);
        let _ = writeln!(
            self.out,
            "<polyline points=\"{points}\" stroke-dasharray=\"3 3\" {stroke}/>"
        );
    }

    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint) {
        let points = Self::points(points);
        let _ = writeln!(self.out, "<polygon points=\"{points}\" {}/>", fill(paint));
    }

    fn text(&mut self, text: &str, (x, y): (f64, f64), face: Face, align: Align, paint: Paint) {
        let (size, weight, family) = match face {
            Face::Body => (13, 400, "sans-serif"),
            Face::Strong => (13, 600, "sans-serif"),
            Face::Label => (11, 400, "sans-serif"),
            Face::Heading => (11, 600, "sans-serif"),
            Face::Mono => (11, 400, "monospace"),
        };
        let anchor = match align {
            Align::Left => "start",
            Align::Centre => "middle",
            Align::Right => "end",
        };
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.2}\" y=\"{y:.2}\" font-family=\"{family}\" font-size=\"{size}\" \
             font-weight=\"{weight}\" text-anchor=\"{anchor}\" dominant-baseline=\"central\" {}>{}</text>",
            fill(paint),
            escape(text)
        );
    }

    /// Without fonts at hand: about as wide as common ones set it.
    fn measure(&mut self, text: &str, face: Face) -> f64 {
        let em = match face {
            Face::Body => 6.6,
            Face::Strong => 7.0,
            Face::Label => 5.6,
            Face::Heading => 6.2,
            Face::Mono => 6.7,
        };
        text.chars().count() as f64 * em
    }

    fn clip(&mut self, rect: Rect) {
        self.clips += 1;
        let id = self.clips;
        let _ = writeln!(
            self.out,
            "<clipPath id=\"c{id}\"><rect {}/></clipPath>\n<g clip-path=\"url(#c{id})\">",
            Self::rect(rect)
        );
    }

    fn unclip(&mut self) {
        self.out.push_str("</g>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::super::palette::Palette;
    use super::*;

    #[test]
    fn is_well_formed() {
        let mut painter = SvgPainter::new((100.0, 50.0));
        let ink = Palette::LIGHT.ink;
        painter.clip(Rect::new(0.0, 0.0, 50.0, 50.0));
        painter.fill(Rect::new(1.0, 2.0, -3.0, 4.0), ink.alpha(0.5));
        painter.hatch(Rect::new(0.0, 0.0, 9.0, 9.0), ink.into());
        painter.text(
            "a<b & \"c\"\u{1}",
            (1.0, 2.0),
            Face::Body,
            Align::Left,
            ink.into(),
        );
        painter.unclip();
        let svg = painter.finish();
        assert!(svg.contains("a&lt;b &amp; &quot;c&quot; </text>"), "{svg}");
        assert!(svg.contains("width=\"0.00\""), "{svg}");
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        assert!(svg.ends_with("</svg>\n"));
    }
}
