//! SVG output, for pictures that can be printed and edited.

use std::fmt::Write as _;

use super::markup::escape;
use super::painter::{Align, Face, Paint, Painter, Rect};
use super::palette::Palette;
use eventlog::hash::SeededMap;
use model::sorting::CompactSort;

/// A painter that writes SVG 1.1.
#[derive(Clone, Debug)]
pub struct SvgPainter {
    out: String,
    /// Prefix of the element ids, which must be unique within an embedding document.
    id: String,
    clips: usize,
    hatches: usize,
    color_mode: ColorMode,
}

/// Handling of colors.
#[derive(Clone, Debug)]
enum ColorMode {
    /// Written as they are.
    Plain,
    /// Recorded in painting order; nothing is written.
    Recorded(Vec<Paint>),
    /// Written as CSS variables, each for a pair of colors on a light and on a dark page.
    Paired {
        /// The colors on a dark page, in painting order.
        dark: std::vec::IntoIter<Paint>,
        names: SeededMap<(String, String), usize>,
    },
}

/// Returns a color with its opacity in CSS syntax.
fn css(paint: Paint) -> String {
    match paint.alpha {
        alpha if alpha >= 1.0 => paint.color.css(),
        alpha => paint.color.css_with_alpha(alpha),
    }
}

impl SvgPainter {
    /// Creates an empty picture of the given width and height in CSS pixels.
    pub fn new(size: (f64, f64)) -> Self {
        Self::with_color_mode(size, "", ColorMode::Plain)
    }

    fn with_color_mode((width, height): (f64, f64), id: &str, color_mode: ColorMode) -> Self {
        let out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n"
        );
        Self {
            out,
            id: id.to_owned(),
            clips: 0,
            hatches: 0,
            color_mode,
        }
    }

    /// Completes the file and returns it.
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    /// Creates a picture that follows the reader's light or dark theme, and is light on paper.
    ///
    /// It is painted twice, once per palette, but written once, with CSS variables for its colors. `id` is their
    /// prefix, `about` the text for screen readers.
    pub fn themed(
        size: (f64, f64),
        (id, about): (&str, &str),
        paint: impl Fn(&'static Palette, &mut Self),
    ) -> String {
        let mut noting = Self::with_color_mode(size, id, ColorMode::Recorded(Vec::new()));
        paint(Palette::select(true, false), &mut noting);
        let ColorMode::Recorded(dark) = noting.color_mode else {
            return String::new();
        };
        let color_mode = ColorMode::Paired {
            dark: dark.into_iter(),
            names: SeededMap::default(),
        };
        let mut painter = Self::with_color_mode(size, id, color_mode);
        let _ = writeln!(painter.out, "<title>{}</title>", escape(about));
        paint(Palette::select(false, false), &mut painter);
        painter.write_colors();
        let svg = painter.finish();
        svg.replacen("<svg ", "<svg role=\"img\" ", 1)
    }

    /// Writes the values of the color variables for both themes.
    fn write_colors(&mut self) {
        let ColorMode::Paired { names, .. } = &self.color_mode else {
            return;
        };
        let mut pairs: Vec<_> = names.iter().map(|(pair, name)| (*name, pair)).collect();
        pairs.sort_small();
        let id = &self.id;
        let list = |of: fn(&(String, String)) -> &String| -> String {
            let one =
                |(name, pair): &(usize, &(String, String))| format!("--{id}{name}:{};", of(pair));
            pairs.iter().map(one).collect()
        };
        let (light, dark) = (list(|pair| &pair.0), list(|pair| &pair.1));
        let _ = writeln!(
            self.out,
            "<style>:root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"
        );
    }

    /// Returns a color for the file, and its opacity if that needs a separate attribute.
    fn color(&mut self, paint: Paint) -> (String, Option<f64>) {
        match &mut self.color_mode {
            ColorMode::Plain => {
                let alpha = paint.alpha.clamp(0.0, 1.0);
                (paint.color.css(), (alpha < 1.0).then_some(alpha))
            }
            ColorMode::Recorded(noted) => {
                noted.push(paint);
                (String::new(), None)
            }
            ColorMode::Paired { dark, names } => {
                let pair = (css(paint), css(dark.next().unwrap_or(paint)));
                let next = names.len();
                let name = *names.entry(pair).or_insert(next);
                (format!("var(--{}{name})", self.id), None)
            }
        }
    }

    fn fill_of(&mut self, paint: Paint) -> String {
        match self.color(paint) {
            (ink, Some(alpha)) => format!("fill=\"{ink}\" fill-opacity=\"{alpha:.3}\""),
            (ink, None) => format!("fill=\"{ink}\""),
        }
    }

    fn stroke_of(&mut self, paint: Paint, width: f64) -> String {
        let (ink, alpha) = self.color(paint);
        let alpha = alpha.map(|alpha| format!(" stroke-opacity=\"{alpha:.3}\""));
        let alpha = alpha.unwrap_or_default();
        format!("fill=\"none\" stroke=\"{ink}\"{alpha} stroke-width=\"{width}\"")
    }

    fn rect(rect: Rect) -> String {
        let Rect { x, y, w, h } = rect;
        let (w, h) = (w.max(0.0), h.max(0.0));
        format!("x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\"")
    }

    /// Fills a rectangle with stripes, rotated clockwise by `turned` degrees.
    fn stripes(&mut self, turned: i32, rect: Rect, paint: Paint) {
        self.hatches += 1;
        let id = format!("{}h{}", self.id, self.hatches);
        let stroke = self.stroke_of(paint, 3.0);
        let _ = writeln!(
            self.out,
            "<pattern id=\"{id}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate({turned})\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" {stroke}/></pattern>\n\
             <rect {} fill=\"url(#{id})\"/>",
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
        let fill = self.fill_of(paint);
        let _ = writeln!(self.out, "<rect {} {fill}/>", Self::rect(rect));
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
        let (points, stroke) = (Self::points(points), self.stroke_of(paint, width));
        let _ = writeln!(self.out, "<polyline points=\"{points}\" {stroke}/>");
    }

    fn dashed(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint) {
        let points = Self::points(&[from, to]);
        let stroke = self.stroke_of(paint, 1.0);
        let _ = writeln!(
            self.out,
            "<polyline points=\"{points}\" stroke-dasharray=\"3 3\" {stroke}/>"
        );
    }

    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint) {
        let (points, fill) = (Self::points(points), self.fill_of(paint));
        let _ = writeln!(self.out, "<polygon points=\"{points}\" {fill}/>");
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
            Align::Center => "middle",
            Align::Right => "end",
        };
        let fill = self.fill_of(paint);
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.2}\" y=\"{y:.2}\" font-family=\"{family}\" font-size=\"{size}\" \
             font-weight=\"{weight}\" text-anchor=\"{anchor}\" dominant-baseline=\"central\" {fill}>{}</text>",
            escape(text)
        );
    }

    /// Estimates the width from typical fonts, as none are available.
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
        let id = format!("{}c{}", self.id, self.clips);
        let _ = writeln!(
            self.out,
            "<clipPath id=\"{id}\"><rect {}/></clipPath>\n<g clip-path=\"url(#{id})\">",
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

    #[test]
    fn a_themed_picture_names_its_colors() {
        let svg = SvgPainter::themed((9.0, 9.0), ("t", "a < b"), |palette, painter| {
            painter.fill(Rect::default(), palette.ink.into());
            painter.hatch(Rect::default(), palette.ink.alpha(0.5));
            painter.fill(Rect::default(), palette.ink.into());
        });
        let (light, dark) = (Palette::LIGHT.ink, Palette::DARK.ink);
        assert!(svg.contains("<title>a &lt; b</title>"), "{svg}");
        assert_eq!(svg.matches("fill=\"var(--t0)\"").count(), 2, "{svg}");
        let colors = |ink: super::super::color::Rgb| format!("--t0:{ink};--t1:{ink}80;");
        assert!(
            svg.contains(&format!(":root{{{}}}\n", colors(light))),
            "{svg}"
        );
        assert!(svg.contains(&colors(dark)), "{svg}");
        assert!(
            svg.contains("id=\"th1\"") && svg.contains("url(#th1)"),
            "{svg}"
        );
    }
}
