//! Canvas painting at device resolution. Only this module distinguishes the two sizes of a canvas: its layout size
//! in CSS pixels and its bitmap size in device pixels.

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

/// Painter for a canvas. It caches text widths, and rasterizes runs of many small shapes in software.
pub(super) struct CanvasPainter {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    /// Width and height in CSS pixels, and device pixels per CSS pixel.
    size: (f64, f64),
    ratio: f64,
    face: Option<Face>,
    fill: Option<Paint>,
    widths: SeededMap<(Face, String), f64>,
    /// Shapes to be painted before anything else.
    batch: Batch,
    pixels: Pixels,
    /// Intermediate canvas for rasterized pixels: putting pixels directly on the target would replace its contents
    /// and ignore the clip.
    source: Option<(HtmlCanvasElement, CanvasRenderingContext2d)>,
    /// Stack of clip rectangles, innermost last.
    clips: Vec<Rect>,
}

/// Returns the device pixels per CSS pixel, which often is a fraction. Values below one are raised to one, so that
/// a zoomed-out page is painted as if it were not.
pub(super) fn screen_pixels_per_css_pixel() -> f64 {
    gloo_utils::window().device_pixel_ratio().max(1.0)
}

/// Maximum number of cached text widths.
const MAX_CACHED_WIDTHS: usize = 20_000;

fn context_of(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// Creates a canvas outside the document.
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

    /// Creates a painter for an off-screen layer.
    pub(super) fn layer() -> Option<Self> {
        Self::new(&hidden_canvas()?)
    }

    /// Replaces the contents with a picture of a size in CSS pixels. The canvas element takes exactly this size in
    /// the layout.
    pub(super) fn picture(&mut self, size: (f64, f64), paint: impl FnOnce(&mut Self)) {
        self.begin(size);
        paint(self);
        self.flush();
    }

    /// Replaces the contents of a canvas with a picture by its painter, which is created if there is none yet.
    pub(super) fn repaint(
        painter: &mut Option<Self>,
        canvas: &HtmlCanvasElement,
        size: (f64, f64),
        paint: impl FnOnce(&mut Self),
    ) {
        if painter.is_none() {
            *painter = Self::new(canvas);
        }
        if let Some(painter) = painter {
            painter.picture(size, paint);
        }
    }

    /// Encodes the canvas as a PNG file and passes it to `done`.
    pub(super) fn png(&self, done: impl FnOnce(Blob) + 'static) {
        let done = Closure::once_into_js(move |blob: Option<Blob>| {
            if let Some(blob) = blob {
                done(blob);
            }
        });
        // Fails only for a canvas without pixels, which has no picture.
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

    /// Makes one unit a CSS pixel.
    fn scale(&self) {
        let ratio = self.ratio;
        // Setting the transformation cannot fail.
        let _ = self.context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
    }

    /// Calls `paint` with one unit equal to a device pixel.
    fn unscaled(&self, paint: impl FnOnce(&CanvasRenderingContext2d)) {
        // Setting the transformation cannot fail.
        let _ = self.context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
        paint(&self.context);
        self.scale();
    }

    /// Paints the whole of a layer of the same size.
    pub(super) fn paint_layer(&mut self, layer: &Self) {
        self.flush();
        self.unscaled(|context| {
            // Fails only for a canvas without pixels.
            let _ = context.draw_image_with_html_canvas_element(&layer.canvas, 0.0, 0.0);
        });
    }

    /// Paints the batched shapes.
    fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let mut batch = std::mem::take(&mut self.batch);
        let whole = Rect::new(0.0, 0.0, self.size.0, self.size.1);
        let clip = self.clips.last().copied().unwrap_or(whole);
        let made = batch.rasterize(clip, self.ratio, &mut self.pixels);
        if !(made && self.put_pixels().is_some()) {
            batch.replay(self);
        }
        batch.clear();
        self.batch = batch;
    }

    /// Paints the rasterized pixels; `None` if the browser rejects them.
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

    /// Sets the fill style, unless it is set already: formatting a color for each of many fills would be slow.
    fn set_fill(&mut self, paint: Paint) {
        if self.fill == Some(paint) {
            return;
        }
        self.fill = Some(paint);
        if paint.alpha >= 1.0 {
            self.context.set_fill_style_str(&paint.color.css());
        } else {
            let css = paint.color.css_with_alpha(paint.alpha);
            self.context.set_fill_style_str(&css);
        }
    }

    fn set_stroke(&self, paint: Paint) {
        self.context
            .set_stroke_style_str(&paint.color.css_with_alpha(paint.alpha));
    }

    fn set_face(&mut self, face: Face) {
        if self.face != Some(face) {
            self.context.set_font(&font(face));
            self.face = Some(face);
        }
    }

    /// Paints diagonal stripes clipped to `rect`, each rising or falling from `from_y` to `to_y`.
    fn stripes(&mut self, rect: Rect, (from_y, to_y): (f64, f64), paint: Paint) {
        const STEP: f64 = 6.0;
        self.flush();
        self.clip(rect);
        self.set_stroke(paint);
        self.context.set_line_width(1.5);
        self.context.begin_path();
        let from = (rect.x / STEP).floor() * STEP - rect.h;
        // Upper bound only: the scene has already clipped spans far wider than the screen.
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

/// Shapes that the canvas paints directly, without the batch.
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
        // An array of numbers is a valid dash pattern.
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
            Align::Center => "center",
            Align::Right => "right",
        });
        // Fails only for coordinates that are not numbers.
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
        if self.widths.len() >= MAX_CACHED_WIDTHS {
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
        // `restore` also resets font and fill style, so their cached values are invalid.
        self.face = None;
        self.fill = None;
    }
}
