//! Painting on a canvas, at the resolution of the screen: here alone is known that a canvas has two
//! sizes, the one of its place on the page in CSS pixels and the one of its picture in pixels of the screen.

use wasm_bindgen::closure::Closure;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{Blob, CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::dom::set_style;
use eventlog::hash::SeededMap;
use scene::painter::{Align, Face, Paint, Painter, Rect};
use scene::raster::{Batch, Pixels, Shapes};

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

/// A canvas that can be painted on. Widths of texts are measured once, and
/// many small rectangles in a row are painted as pixels that are made here.
pub(super) struct CanvasPainter {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    /// Width and height in CSS pixels, and how many pixels one of them has.
    size: (f64, f64),
    ratio: f64,
    face: Option<Face>,
    fill: Option<Paint>,
    widths: SeededMap<(Face, String), f64>,
    /// What is to be painted before anything else is.
    batch: Batch,
    pixels: Pixels,
    /// Where pixels come from: as they are put on a canvas they would replace
    /// what is there, also outside of a clip.
    source: Option<(HtmlCanvasElement, CanvasRenderingContext2d)>,
    /// What may be painted on, innermost last.
    clips: Vec<Rect>,
}

/// How many pixels of the screen stand beside each other in a CSS pixel; one where there are fewer,
/// so that a page that is zoomed out is painted as if it were not. No whole number on many screens.
pub(super) fn screen_pixels_per_css_pixel() -> f64 {
    gloo_utils::window().device_pixel_ratio().max(1.0)
}

/// How many widths are remembered.
const WIDTHS_KEPT: usize = 20_000;

fn context_of(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// A canvas that is in no document.
fn hidden_canvas() -> Option<HtmlCanvasElement> {
    let element = gloo_utils::document().create_element("canvas").ok()?;
    element.dyn_into().ok()
}

impl CanvasPainter {
    pub(super) fn new(canvas: &HtmlCanvasElement) -> Option<Self> {
        Some(Self {
            canvas: canvas.clone(),
            context: context_of(canvas)?,
            size: (0.0, 0.0),
            ratio: 1.0,
            face: None,
            fill: None,
            widths: SeededMap::default(),
            batch: Batch::default(),
            pixels: Pixels::default(),
            source: None,
            clips: Vec::new(),
        })
    }

    /// A painter of a layer, which no document shows.
    pub(super) fn layer() -> Option<Self> {
        Self::new(&hidden_canvas()?)
    }

    /// Paints a picture of a size in CSS pixels, in place of what was there. The canvas takes just
    /// that size on the page.
    pub(super) fn picture(&mut self, size: (f64, f64), paint: impl FnOnce(&mut Self)) {
        self.begin(size);
        paint(self);
        self.flush();
    }

    /// What is painted as a PNG file, handed to `done`.
    pub(super) fn png(&self, done: impl FnOnce(Blob) + 'static) {
        let done = Closure::once_into_js(move |blob: Option<Blob>| {
            if let Some(blob) = blob {
                done(blob);
            }
        });
        // Fails only for a canvas without pixels, of which there is no picture.
        let _ = self.canvas.to_blob(done.unchecked_ref());
    }

    fn begin(&mut self, size: (f64, f64)) {
        let ratio = screen_pixels_per_css_pixel();
        if self.size != size {
            for (name, length) in [("width", size.0), ("height", size.1)] {
                set_style(&self.canvas, name, &format!("{length}px"));
            }
        }
        let pixels = |length: f64| (length * ratio).round().max(1.0) as u32;
        let (width, height) = (pixels(size.0), pixels(size.1));
        if self.canvas.width() != width || self.canvas.height() != height {
            self.canvas.set_width(width);
            self.canvas.set_height(height);
        }
        (self.size, self.ratio) = (size, ratio);
        self.scale();
        self.context.clear_rect(0.0, 0.0, size.0, size.1);
        self.context.set_text_baseline("middle");
        self.face = None;
        self.fill = None;
        self.batch.clear();
        self.clips.clear();
    }

    /// One is a CSS pixel.
    fn scale(&self) {
        let ratio = self.ratio;
        // A reset of the transformation cannot fail.
        let _ = self.context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
    }

    /// One is a pixel of the canvas, while something is done.
    fn unscaled(&self, paint: impl FnOnce(&CanvasRenderingContext2d)) {
        // A reset of the transformation cannot fail.
        let _ = self.context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
        paint(&self.context);
        self.scale();
    }

    /// Paints all of a layer of the same size.
    pub(super) fn paint_layer(&mut self, layer: &Self) {
        self.flush();
        self.unscaled(|context| {
            // Fails only for a canvas without pixels.
            let _ = context.draw_image_with_html_canvas_element(&layer.canvas, 0.0, 0.0);
        });
    }

    /// Paints what has waited for more of the like.
    fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let mut batch = std::mem::take(&mut self.batch);
        let whole = Rect::new(0.0, 0.0, self.size.0, self.size.1);
        let clip = self.clips.last().copied().unwrap_or(whole);
        let made = batch.rasterise(clip, self.ratio, &mut self.pixels);
        if !(made && self.put_pixels().is_some()) {
            batch.each(self);
        }
        batch.clear();
        self.batch = batch;
    }

    /// Paints the pixels at hand; `None` where the browser does not take them.
    fn put_pixels(&mut self) -> Option<()> {
        let (width, height) = self.pixels.size();
        let (left, top) = self.pixels.origin();
        if width == 0 || height == 0 {
            return Some(());
        }
        if self.source.is_none() {
            let canvas = hidden_canvas()?;
            let context = context_of(&canvas)?;
            self.source = Some((canvas, context));
        }
        let (canvas, context) = self.source.as_ref()?;
        let (w, h) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
        if canvas.width() < w {
            canvas.set_width(w);
        }
        if canvas.height() < h {
            canvas.set_height(h);
        }
        let bytes = Clamped(self.pixels.bytes());
        let image = ImageData::new_with_u8_clamped_array_and_sh(bytes, w, h).ok()?;
        context.put_image_data(&image, 0.0, 0.0).ok()?;
        let (w, h) = (f64::from(w), f64::from(h));
        self.unscaled(|context| {
            // Fails only for a canvas without pixels.
            let _ = context
                .draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
                    canvas, 0.0, 0.0, w, h, left, top, w, h,
                );
        });
        Some(())
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
        self.flush();
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

/// What the canvas paints itself.
impl Shapes for CanvasPainter {
    fn fill(&mut self, rect: Rect, paint: Paint) {
        self.set_fill(paint);
        self.context.fill_rect(rect.x, rect.y, rect.w, rect.h);
    }

    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint) {
        self.set_fill(paint);
        self.path(points);
        self.context.fill();
    }
}

impl Painter for CanvasPainter {
    fn fill(&mut self, rect: Rect, paint: Paint) {
        self.batch.fill(rect, paint);
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
        self.flush();
        self.set_stroke(paint);
        self.context.set_line_width(width);
        self.path(points);
        self.context.stroke();
    }

    fn dashed(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint) {
        self.flush();
        let dashes = js_sys::Array::of2(&3.into(), &3.into());
        // A list of numbers is a valid pattern.
        let _ = self.context.set_line_dash(&dashes);
        self.line(from, to, 1.0, paint);
        let _ = self.context.set_line_dash(&js_sys::Array::new());
    }

    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint) {
        if !self.batch.steps(points, paint) {
            self.flush();
            Shapes::polygon(self, points, paint);
        }
    }

    fn text(&mut self, text: &str, at: (f64, f64), face: Face, align: Align, paint: Paint) {
        self.flush();
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
        self.flush();
        let within = self.clips.last().map_or(rect, |outer| outer.common(rect));
        self.clips.push(within);
        self.context.save();
        self.context.begin_path();
        self.context.rect(rect.x, rect.y, rect.w, rect.h);
        self.context.clip();
    }

    fn unclip(&mut self) {
        self.flush();
        self.clips.pop();
        self.context.restore();
        // Restored with the rest: what was set is not known any more.
        self.face = None;
        self.fill = None;
    }
}
