//! Painting of the timeline on the canvas and to image files.

use super::{Control, Elements, Viewer, ViewerRef};
use crate::canvas::{CanvasPainter, screen_pixels_per_css_pixel};
use crate::dom::set_style;
use crate::theme;
use scene::palette::Palette;
use scene::svg::SvgPainter;
use views::control::RepaintKey;
use views::timeline::Scene;
use views::timeline::picture::{Caption, Picture};
use web_sys::HtmlElement;

/// Timeline with its caption in an image file.
pub(crate) type Side<'a> = (Caption, &'a ViewerRef);

/// Renders timelines to a PNG file, one below the other, and passes it to `done`.
pub(crate) fn png(sides: &[Side<'_>], done: impl FnOnce(web_sys::Blob) + 'static) {
    if let Some(mut painter) = CanvasPainter::layer() {
        with_picture(sides, |picture| {
            painter.picture(picture.size(), |painter| picture.paint(painter));
        });
        painter.png(done);
    }
}

/// Renders timelines as SVG, one below the other.
pub(crate) fn svg(sides: &[Side<'_>]) -> String {
    with_picture(sides, |picture| {
        let mut painter = SvgPainter::new(picture.size());
        picture.paint(&mut painter);
        painter.finish()
    })
}

/// Builds the picture of timelines and passes it to `paint`.
fn with_picture<T>(sides: &[Side<'_>], paint: impl FnOnce(&Picture<'_>) -> T) -> T {
    let viewers: Vec<_> = sides.iter().map(|(_, viewer)| viewer.0.borrow()).collect();
    let scenes = sides.iter().zip(&viewers);
    let scenes = scenes.map(|((caption, _), viewer)| (caption.clone(), viewer.scene()));
    paint(&Picture::new(scenes.collect()))
}

/// Inputs that the tracks were painted from.
#[derive(Clone, Copy)]
struct PaintKey {
    still: RepaintKey,
    palette: &'static Palette,
    patterns: bool,
    /// Device pixels per CSS pixel.
    ratio: f64,
}

impl PartialEq for PaintKey {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.palette, other.palette)
            && (self.still, self.patterns, self.ratio) == (other.still, other.patterns, other.ratio)
    }
}

/// Cache of the painted tracks, reused while only the pointer and the selection change.
#[derive(Default)]
pub(super) struct TrackLayer {
    /// Inputs of the previous frame.
    last_key: Option<PaintKey>,
    /// Inputs of the cached layer.
    layer_key: Option<PaintKey>,
    layer: Option<CanvasPainter>,
}

impl TrackLayer {
    /// Returns the cached layer of the tracks. `None` while every frame has different tracks; caching would then
    /// not pay off.
    fn layer(
        &mut self,
        now: PaintKey,
        size: (f64, f64),
        paint: impl FnOnce(&mut CanvasPainter),
    ) -> Option<&CanvasPainter> {
        if self.last_key.replace(now) != Some(now) {
            return None;
        }
        if self.layer.is_none() {
            self.layer = CanvasPainter::layer();
        }
        let layer = self.layer.as_mut()?;
        if self.layer_key != Some(now) {
            layer.picture(size, paint);
            self.layer_key = Some(now);
        }
        Some(layer)
    }
}

impl Viewer {
    /// Returns the complete scene.
    fn scene(&self) -> Scene<'_> {
        let theme = theme::current();
        self.control
            .scene(theme.palette, theme.patterns, &self.notes)
    }

    pub(super) fn paint(&mut self) {
        let (Some(elements), control) = (&mut self.elements, &self.control) else {
            return;
        };
        let theme = theme::current();
        let scene = control.scene(theme.palette, theme.patterns, &self.notes);
        let now = PaintKey {
            still: control.repaint_key(),
            palette: theme.palette,
            patterns: theme.patterns,
            ratio: screen_pixels_per_css_pixel(),
        };
        let size = control.size();
        let layer = elements
            .track_layer
            .layer(now, size, |painter| scene.paint_base(painter));
        elements.painter.picture(size, |painter| {
            scene.paint_ground(painter);
            match layer {
                Some(layer) => painter.paint_layer(layer),
                None => scene.paint_base(painter),
            }
            scene.paint_focus(painter);
        });
        elements.place(control);
    }
}

/// Sets lengths in an element's style if they differ from the `known` ones, because each change invalidates the
/// layout of the element's contents.
fn set_lengths<const N: usize>(
    element: &HtmlElement,
    lengths: [(&str, f64); N],
    known: &mut Option<[f64; N]>,
) {
    let now = lengths.map(|(_, px)| px);
    if known.replace(now) != Some(now) {
        for (name, px) in lengths {
            set_style(element, name, &format!("{px:.1}px"));
        }
    }
}

impl Elements {
    /// Updates the positions of the elements over the canvas.
    fn place(&mut self, control: &Control) {
        let picture = [
            ("--labels", control.labels_px()),
            ("--pinned", control.pinned_px()),
            ("--heads", control.heads_px()),
        ];
        set_lengths(&self.picture, picture, &mut self.picture_px);
        let Some(pointer) = control.pointer_at() else {
            return;
        };
        if self.tip_placed_at.replace(pointer) != Some(pointer) {
            self.place_tip(pointer);
        }
    }

    /// Places the tip near the pointer, relative to the window, because the picture may be too small for it.
    fn place_tip(&self, (x, y): (f64, f64)) {
        let picture = self.picture.get_bounding_client_rect();
        let (x, y) = (picture.left() + x, picture.top() + y);
        set_style(&self.tip_container, "--pointer-x", &format!("{x:.1}px"));
        set_style(&self.tip_container, "--pointer-y", &format!("{y:.1}px"));
        let height = gloo_utils::document_element().client_height();
        let _ = self
            .tip_container
            .toggle_attribute_with_force("data-low", y > f64::from(height) / 2.0);
    }
}
