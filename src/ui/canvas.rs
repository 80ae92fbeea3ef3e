//! Painting on a canvas, at the resolution of the screen.

use rustc_hash::FxHashMap;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use views::scene::painter::{Align, Face, Paint, Painter, Rect};

const SANS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const MONO: &str = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

fn font(face: Face) -> String {
    match face {
        Face::Body => format!("13px {SANS}"),
        Face::Strong => format!("600 13px {SANS}"),
        Face::Label => format!("11px {SANS}"),
        Face::Heading => format!("600 11px {SANS}"),
        Face::Mono => format!("11px {MONO}"),
    }
}

/// A canvas that can be painted on. Widths of texts are measured once.
pub(super) struct CanvasPainter {
    context: CanvasRenderingContext2d,
    face: Option<Face>,
    fill: Option<Paint>,
    widths: FxHashMap<(Face, String), f64>,
}

/// How many widths are remembered.
const WIDTHS_KEPT: usize = 20_000;

impl CanvasPainter {
    pub(super) fn new(canvas: &HtmlCanvasElement) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self {
            context,
            face: None,
            fill: None,
            widths: FxHashMap::default(),
        })
    }

    /// Gives the canvas a size in CSS pixels and begins a picture.
    pub(super) fn begin(&mut self, canvas: &HtmlCanvasElement, size: (f64, f64)) {
        let ratio = gloo_utils::window().device_pixel_ratio().max(1.0);
        let pixels = |length: f64| (length * ratio).round().max(1.0) as u32;
        let (width, height) = (pixels(size.0), pixels(size.1));
        if canvas.width() != width || canvas.height() != height {
            canvas.set_width(width);
            canvas.set_height(height);
        }
        // A reset of the transformation cannot fail.
        let _ = self.context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
        self.context.set_text_baseline("middle");
        self.face = None;
        self.fill = None;
    }

    /// Many fills in a row have one colour: it is put into words only if it
    /// changes.
    fn set_fill(&mut self, paint: Paint) {
        if self.fill == Some(paint) {
            return;
        }
        self.fill = Some(paint);
        if paint.alpha >= 1.0 {
            self.context.set_fill_style_str(&paint.colour.css());
        } else {
            let css = paint.colour.css_with_alpha(paint.alpha);
            self.context.set_fill_style_str(&css);
        }
    }

    fn set_stroke(&self, paint: Paint) {
        self.context
            .set_stroke_style_str(&paint.colour.css_with_alpha(paint.alpha));
    }

    fn set_face(&mut self, face: Face) {
        if self.face != Some(face) {
            self.context.set_font(&font(face));
            self.face = Some(face);
        }
    }

    /// Stripes in a rectangle, each from one height to the other.
    fn stripes(&mut self, rect: Rect, (from_y, to_y): (f64, f64), paint: Paint) {
        const STEP: f64 = 6.0;
        self.clip(rect);
        self.set_stroke(paint);
        self.context.set_line_width(1.5);
        self.context.begin_path();
        let from = (rect.x / STEP).floor() * STEP - rect.h;
        // Spans far wider than the screen were clipped by the scene.
        let stripes = ((rect.w + 2.0 * rect.h) / STEP).ceil().min(4000.0) as u32;
        for i in 0..stripes {
            let x = from + f64::from(i) * STEP;
            self.context.move_to(x, from_y);
            self.context.line_to(x + rect.h, to_y);
        }
        self.context.stroke();
        self.unclip();
    }

    fn path(&self, points: &[(f64, f64)]) {
        self.context.begin_path();
        for (i, &(x, y)) in points.iter().enumerate() {
            if i == 0 {
                self.context.move_to(x, y);
            } else {
                self.context.line_to(x, y);
            }
        }
    }
}

impl Painter for CanvasPainter {
    fn fill(&mut self, rect: Rect, paint: Paint) {
        self.set_fill(paint);
        self.context.fill_rect(rect.x, rect.y, rect.w, rect.h);
    }

    fn hatch(&mut self, rect: Rect, paint: Paint) {
        self.stripes(rect, (rect.y + rect.h, rect.y), paint);
    }

    fn hatch_falling(&mut self, rect: Rect, paint: Paint) {
        self.stripes(rect, (rect.y, rect.y + rect.h), paint);
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, paint: Paint) {
        self.polyline(&[from, to], width, paint);
    }

    fn polyline(&mut self, points: &[(f64, f64)], width: f64, paint: Paint) {
        self.set_stroke(paint);
        self.context.set_line_width(width);
        self.path(points);
        self.context.stroke();
    }

    fn dashed(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint) {
        let dashes = js_sys::Array::of2(&3.into(), &3.into());
        // A list of numbers is a valid pattern.
        let _ = self.context.set_line_dash(&dashes);
        self.line(from, to, 1.0, paint);
        let _ = self.context.set_line_dash(&js_sys::Array::new());
    }

    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint) {
        self.set_fill(paint);
        self.path(points);
        self.context.fill();
    }

    fn text(&mut self, text: &str, at: (f64, f64), face: Face, align: Align, paint: Paint) {
        self.set_face(face);
        self.set_fill(paint);
        self.context.set_text_align(match align {
            Align::Left => "left",
            Align::Centre => "center",
            Align::Right => "right",
        });
        // Fails only for positions that are no numbers.
        let _ = self.context.fill_text(text, at.0, at.1);
    }

    fn measure(&mut self, text: &str, face: Face) -> f64 {
        if let Some(&width) = self.widths.get(&(face, text.to_owned())) {
            return width;
        }
        self.set_face(face);
        let width = self
            .context
            .measure_text(text)
            .map_or(0.0, |metrics| metrics.width());
        if self.widths.len() >= WIDTHS_KEPT {
            self.widths.clear();
        }
        self.widths.insert((face, text.to_owned()), width);
        width
    }

    fn clip(&mut self, rect: Rect) {
        self.context.save();
        self.context.begin_path();
        self.context.rect(rect.x, rect.y, rect.w, rect.h);
        self.context.clip();
    }

    fn unclip(&mut self) {
        self.context.restore();
        // Restored with the rest: what was set is not known any more.
        self.face = None;
        self.fill = None;
    }
}
